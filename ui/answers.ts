// SPDX-License-Identifier: Apache-2.0
// answers.ts: the answers of the verbs; made by tools/answer_types.py from their schemas, not by hand.
type Evidence = 'hardware-trace' | 'hardware-sample' | 'vendor-simulator' | 'estimate' | 'synthetic' | 'instrumented' | 'unknown';
type Findings = { id: string; severity: 'error' | 'warning' | 'info'; message: string; evidence: Record<string, number | string>; advice: string };
type Notes = { code: string; kind: string; message: string; path?: string; count: number; advice: string };
type Evidence2 = { a: Evidence; b: Evidence };
type Verdict = 'no-claim' | 'within-noise' | 'beyond-noise' | 'not-comparable';
type By = 'instr' | 'line' | 'opcode' | 'class' | 'cause' | 'producer';
type Totals = {
	waves: number; rows: number; instructions: number; hit: number; latency: number; stall: number; idle: number; samples?: number; stalled_samples?: number;
	exposed_samples?: number; period?: number; from: 'computed' | 'stated';
};
type Accounting = { issue: number; stall: number; wait: number; idle: number; drain: number; duration: number; residue: number };
type Buckets = { issue: number; stall: number; wait: number; idle: number; drain: number };
type Groups = {
	key: string; rows: number; executed_rows: number; hit: number; latency: number; stall: number; idle: number; buckets: Buckets; cycles: number;
	hidden?: number; exposed?: number; cycles_per_wave?: number; samples?: number; stalled_samples?: number; stall_reasons?: Record<string, number>;
	exposed_samples?: number; error_pct?: number; exposed_reasons?: Record<string, number>;
};
type Inclusive = { hit: number; latency: number; stall: number; idle: number };
type Collapse = 'no' | 'partly' | 'collapsed' | 'no-source';
type TopLine = { source: string; latency_share: number | null; executed_row_share: number | null };
type Weight = 'rows' | 'hit' | 'latency' | 'stall' | 'hit+stall';
type Weights = { weight: Weight; total: number; mapped: number; lines: number; top1_share: number | null; top2_share: number | null; effective_lines: number | null };
type Granularity = { distinct_lines: number; collapsed: Collapse; top_line: null | TopLine; weights: Weights[] };
type Source = {
	collapse: Collapse; distinct_lines: number; mapped_rows: number; rows: number; top_line_latency_share: number | null;
	effective_lines_by_latency: number | null; granularity: Granularity;
};
type Costs = {
	kind: string; class: string; rows: number; hit: number; latency: number; stall: number; mean: number | null; mean_stall: number | null; median: number;
	p99: number;
};
type Pairs = { producer_pipe: string | null; consumer_pipe: string; is_cross_core: boolean; cycles: number; count: number; blocked: number; per_wait: number | null };
type Latency = { n: number; min: number; median: number; p95: number; max: number };
type Edges = { producer: number; wait: number; count: number; blocked: number; inexact: number; stall: number; shared: number; cycles: number; latency: null | Latency };
type Groups2 = { key: string; wait: number; waits: number; blocked: number; per_wait: number | null };
type Waits = { executed: number; free: number; blocked: number; exact: number; group: number; unresolved: number; drained: number };
type Vendor = 'amd' | 'ascend' | 'nvidia' | 'unknown';
type SourceRows = { mapped: number; total: number; distinct_lines: number };
type Occupancy = { events: number; starts: number; ends: number; cus: number; target_cu_starts: number | null };
type Machine = {
	product: string | null; xccs: number | null; ses: number | null; cus: number | null; simds: number | null; max_waves_per_simd: number | null;
	lds_bytes_per_cu: number | null; wave_size: number | null; max_clock_mhz: number | null;
};
type Launch = {
	agent: number | null; dispatch: number | null; kernel_id: number | null; launch_index: number | null; launch_count: number | null; vgprs: number | null;
	accum_vgprs: number | null; sgprs: number | null; lds_bytes: number | null; scratch_bytes: number | null; workgroup: null | [number, number, number];
	grid: null | [number, number, number]; workgroups: number | null; waves: number | null; duration_ns: number | null; is_other_run: boolean;
	command: string | null;
};
type Notes2 = { kind: string; code: string; message: string; path: string | null; offset: number | null; count: number };
type Tables = { name: string; origin: string | null; rows: number; columns: string[]; cells?: ((string | null)[])[] };
type Metrics = { name: string; value: number | null; text: string | null; instances: number };
type VendorRules = { rule: string; section: string | null; kind: string | null; message: string; speedup: string | null; speedup_pct: number | null };
type Siblings = {
	path: string; agent: number | null; dispatch: number | null; waves: number | null; rows: number | null; mapped_rows: number | null; is_empty: boolean;
	is_repeat: boolean;
};
type Info = {
	dir: string; path: string; format: string; format_version: string | null; vendor: Vendor; evidence: Evidence; kernel: string | null; arch: string | null;
	arch_source: string | null; gfxip: number | null; clock_mhz: number | null; clock_source: string | null; clock_mhz_by_se: Record<string, number | null>;
	se_offsets: Record<string, number | null>; rows: number; instructions: number; mapped_rows: number; executed_rows: number | null; source_rows: SourceRows;
	source_files: number; source_snapshots: number; stated_totals: null | Inclusive; waves: number; wave_files: number; target_cu: number | null;
	wave_coords: Record<string, number[]>; span_cycles: number | null; occupancy: Record<string, Occupancy>; dispatch_ids: Record<string, string>;
	counter_names: string[]; counter_series: number; markers: number; other_simd_records: number; dispatch_events: number; has_pc_samples: boolean;
	machine: Machine; launch: Launch; notes: Notes2[]; tables?: Tables[]; metrics?: Metrics[]; vendor_rules?: VendorRules[]; siblings: Siblings[];
	health: string | null;
};
type State = 'iterated' | 'entered-once' | 'not-reached' | 'sampled';
type Trips = { executions: number; waves: number };
type All = { iterations: number; cycles: number; issue: number; stall: number; wait: number; idle: number; drain: number };
type Causes = { cause: string; bucket: string; cycles: number };
type Loops = {
	header_row: number; header_address: number; latch_row: number; latch_address: number; latches: number; depth: number; parent_header_row: number | null;
	blocks: number; rows: number; state: State; executions: number; waves: number; visits: number; trips: Trips[]; iterations: number; min: number;
	median: number; p95: number; max: number; all: All; first: All; steady: All; last: All; exit_passes: number; exit_cycles: number; prologue_cycles: number;
	epilogue_cycles: number; drift: number | null; causes: Causes[];
};
type Limiter = 'waves' | 'vgpr' | 'lds' | 'grid' | 'blocks' | 'barriers' | 'clusters' | null;
type Waves = { state: 'known' | 'unknown' | 'none'; waves: number | null };
type By2 = { waves: Waves; vgpr: Waves; lds: Waves; grid: Waves };
type Kernel = {
	arch_vgprs: number; accum_vgprs: number; arch_vgprs_used: number; accum_vgprs_used: number; stated_vgprs: number | null;
	lds_bytes_per_workgroup: number | null; has_lds_instructions: boolean; waves_per_workgroup: number | null; launched_waves: number | null;
};
type Source2 = 'side-files' | 'assumed' | 'mixed' | null;
type Machine2 = {
	source: Source2; assumed_target: string | null; assumed_product: string | null; max_waves_per_simd: number | null; vgprs_per_simd: number | null;
	vgpr_granule: number | null; lds_bytes_per_cu: number | null; simds: number | null; simds_per_cu: number | null; wave_size: number | null;
};
type Limit = 'registers' | 'shared memory' | 'warps' | 'blocks' | 'barriers' | 'clusters' | 'grid';
type By3 = { limit: Limit; blocks: number; source: 'report' | 'computed' };
type Blocks = { per_sm: number | null; warps_per_block: number | null; achieved_pct: number | null; fills: number | null; fills_source: 'report' | 'computed'; by: By3[] };
type Limits = {
	waves_per_simd: number | null; limiter: Limiter; is_upper_bound: boolean; limiters: string[]; by: By2; sentence: string; next_step: string | null;
	kernel: Kernel; machine: Machine2; blocks?: Blocks;
};
type Cores = {
	core: string; begin: number; end: number; span: number; busy: number; compute_busy: number; busy_share: number | null; compute_share: number | null;
	pipes: string[]; overlap: number[][];
};
type Captures = {
	capture: number; time: string; kernel: string | null; arch: string | null; evidence: string; labels: string; revision: string | null; code: string;
	path: string; incore: string; duration: number | null; cycles: number | null; issue: number | null; stall: number | null; wait: number | null;
	idle: number | null; drain: number | null; per_track: number | null;
};
type Figure = 'duration' | 'cycles' | 'issue' | 'stall' | 'wait' | 'idle' | 'drain' | 'per_track';
type Accepted = {
	kernel: string | null; arch: string | null; evidence: string; labels: string; acceptance: number; time: string; who: string; because: string; figure: Figure;
	capture: number; level: number | null;
};
type Accepted2 = { acceptance: number; time: string; who: string; because: string; figure: Figure; capture: number; level: number | null };
type Rows = { row: number | null; isa: string | null; line: string | null; cause: string; waits_for: string | null; before: number; after: number; change: number };
type Arches = { name: string; count: number };
type Verdict2 = 'passed' | 'better' | 'worse' | 'standing' | 'accepted' | 'no-claim';
type Kind = 'new' | 'standing' | 'accepted' | 'over';
type Regressions = {
	kernel: string | null; arch: string | null; evidence: string; labels: string; figure: Figure; captures: number; noise: number | null;
	noise_pct: number | null; accepted: Accepted2[]; kind: Kind; now: number | null; cost: number | null; cost_pct: number | null; acceptance: number;
	capture: number; from: number; index: number; time: string; revision: string | null; state: 'confirmed' | 'unconfirmed'; is_same_code: boolean;
	before: number | null; after: number | null; change: number | null; change_pct: number | null; movers: Rows[]; command: string | null;
};
type Screen = {
	kernel: string | null; launch: string | null; bound_by: string | null; of_peak: string | null; waits: string | null; at: string | null;
	change: string | null; gain: string | null; sure: string | null; noise: string | null; other: string | null; health: string | null; missing: string | null;
};
type Where = { row: number; address: number; isa: string | null; source: string | null };
type Accounting2 = { issue: number; stall: number; wait: number; idle: number; drain: number; duration: number };
type AccountingShares = { issue: number | null; stall: number | null; wait: number | null; idle: number | null; drain: number | null };
type States = { EMPTY?: number; IDLE: number; EXEC: number; WAIT: number; STALL: number };
type Stall = { total: number; hidden: number; exposed: number; other_simd: number | null };
type Utilization = { resident: number; any: number; idle: number; VALU: number; MATRIX: number; LDS: number; VMEM: number; scalar: number; branch: number; other: number };
type UtilizationShares = {
	any: number | null; idle: number | null; VALU: number | null; MATRIX: number | null; LDS: number | null; VMEM: number | null; scalar: number | null;
	branch: number | null; other: number | null;
};
type Duration = {
	min: number; median: number; max: number; sum: number; p5: number; p25: number; p75: number; p95: number; p99: number; mean: number | null;
	deviation: number | null;
};
type Trips2 = { waves: number; instructions: number };
type Clusters = {
	waves: number; rows: number; latency: number; stall: number; instructions: number; duration: number; duration_min: number; duration_median: number;
	duration_max: number; representative: string; trips: Trips2[]; trip_variants: number; per_instruction: number | null;
};
type Widest = { skew: number; waves: number; first: string; last: string; first_arrival_aligned: number; last_arrival_aligned: number; release_aligned: number };
type Latest = { wave: string; last: number; meetings: number };
type Rows2 = {
	row: number | null; executions: number; wait: number; meetings: number; skew: null | Latency; last_wait: null | Latency; widest: null | Widest;
	latest: null | Latest;
};
type Barriers = {
	executions: number; wait: number; meetings: number; met: number; skipped: number; evidence: 'inferred'; skew: null | Latency; last_wait: null | Latency;
	rows: Rows2[];
};
type Repeats = { captures: number; least: number | null; most: number | null; spread_pct: number | null; limit_pct: number | null; is_stable: boolean; statement: string };
type Rows3 = { at: null | Where };
type Method = 'ledger' | 'replay' | 'pipes' | 'samples';
type Gain = {
	before: number; after: number; low: number; high: number; pct: number | null; least_pct: number | null; most_pct: number | null; method: Method;
	why: string | null; does_nothing: boolean;
};
type Advice = {
	rule: string; finding: string; cause: string; where: null | Where; waits_for: null | Where; rows: Rows3[]; found: number; exposed: number;
	share_pct: number | null; evidence: string; experiment: string; prediction: string; risk: string; question: string | null; gain: null | Gain;
	no_gain: string | null; confirm: string | null;
};
type Totals2 = { pipes: number; cores: number; instructions: number; sync_instructions: number; unmatched_waits: number };
type Kind2 = 'pipe' | 'sync' | 'latency' | 'none';
type Bound = {
	kind: Kind2; core: string | null; pipe: string | null; path_share: number | null; busy_share: number | null; where: null | Where; where_share: number | null;
	sentence: string | null;
};
type Pipes = { core: string; pipe: string; work: number; wait: number; stall: number; gap: number };
type Rows4 = { row: number | null; isa: string; source: string | null; cycles: number };
type CriticalPath = {
	span: number; lead: number; tail: number; work: number; wait: number; stall: number; gap: number; slices: number; hops: number; inferred: number;
	pipes: Pipes[]; rows: Rows4[];
};
type EndedBy = { wait: number; stall: number; idle: number };
type Gaps = { p50: number; p90: number; p99: number; max: number; count: number; sum: number; ended_by: EndedBy };
type Waits2 = { producer_pipe: string | null; cycles: number; count: number; blocked: number; producer_core?: string };
type Pipes2 = {
	core: string; pipe: string; busy: number; latency_sum: number; depth_max: number; gaps: Gaps; first: number; last: number; waits: Waits2[];
	accounting: Accounting2; begin: number; instructions: number; sync_instructions: number; config_only: number; exposed: number; depth_mean: number | null;
	depth: number[]; cache_miss_stall: number; critical_path: number; busy_share: number | null; wait_share: number | null; idle_share: number | null;
};
type Se = {
	se?: number; cu?: number; simd?: number; slot?: number; order?: 'first' | 'later'; phase?: 'first' | 'steady' | 'tail'; waves: number; duration: Duration;
	accounting: Accounting2; lost_share: number | null; states: States;
};
export type CheckAnswer =
	| {
		evidence: Evidence; verdict: 'ok' | 'suspect' | 'unusable'; findings: Findings[]; notes?: Notes[];
		captures?: { path: string; is_chosen: boolean; verdict: 'ok' | 'suspect' | 'unusable'; findings: Findings[]; notes?: Notes[] }[];
	};
export type DiffAnswer =
	| {
		evidence: Evidence2; by: 'instr' | 'line' | 'opcode' | 'class' | 'cause'; per: 'execution' | 'launch'; verdict: Verdict;
		alignment: {
			kind: 'row' | 'text' | 'line'; rows_a: number; rows_b: number; matched: number; latency_share: number | null; matched_latency_a: number;
			matched_latency_b: number;
		};
		hits: { a: number; b: number; ratio: number | null; is_uniform: boolean }; clocks: { a_mhz: number | null; b_mhz: number | null; is_alike: boolean };
		noise: { repeats_a: number; repeats_b: number; is_pair: boolean; factor: number | null; statement: string };
		stability: {
			verdict: 'stable' | 'not-stable' | 'not-judged'; statement: string; captures: number; is_pair: boolean; least: number | null; most: number | null;
			spread_pct: number | null; limit_pct: number | null; row_most_pct: number | null; row_limit_pct: number | null; rows_beyond: number;
			rows_total: number;
			rows: {
				row: number; key: string; source: string | null; a: number | null; b: number | null; least: number | null; most: number | null;
				spread_pct: number | null; is_beyond: boolean;
			}[];
		};
		values: {
			name: string; a: number | null; b: number | null; change: number | null; change_pct: number | null; noise: number | null; noise_pct: number | null;
			verdict: Verdict;
		}[];
		parts_total: number;
		parts: {
			key: string; key_b: string | null; row_a: number | null; row_b: number | null; source: string | null; hit_a: number; hit_b: number; cycles_a: number;
			cycles_b: number; per_hit_a: number | null; per_hit_b: number | null; stall_per_hit_a: number | null; stall_per_hit_b: number | null;
			per_launch_a: number | null; per_launch_b: number | null; change: number | null; contribution: number | null; noise: number | null; verdict: Verdict;
		}[];
		gates: {
			gate: string; metric: string; kind: 'value' | 'change' | 'change_pct'; value: number | null; limit: number | null; noise: number | null;
			is_passed: boolean; is_within_noise: boolean; message: string;
		}[];
	}
	| {
		run_a: string; run_b: string; evidence: Evidence2; kernels_a: number; kernels_b: number; cycles_a: number; cycles_b: number; change: number;
		of_same: number; of_values: number; of_new: number; of_gone: number; n_total: number;
		kernels: {
			func: string; state: 'both' | 'new' | 'gone' | 'unreadable'; by: 'run' | 'instruction' | 'nothing'; cycles_a: number | null; cycles_b: number | null;
			change: number; change_pct: number | null; share: number | null; per_hit_pct: number | null; values: string | null; where: string | null;
		}[];
	};
export type HotAnswer =
	| {
		evidence: Evidence; by: By; per?: string; totals: Totals; accounting: null | Accounting; found: number;
		rows: {
			row: number | null; address: number | null; isa: string; opcode: string; class: string; source: string | null; hit: number; latency: number;
			stall: number; idle: number; buckets: Buckets; cycles: number; hidden?: number; exposed?: number; cycles_per_wave?: number; samples?: number;
			stalled_samples?: number; stall_reasons?: Record<string, number>; exposed_samples?: number; error_pct?: number;
			exposed_reasons?: Record<string, number>; cause: string | null; cause_cycles: number;
			waits_for: null | { row: number; isa: string; cycles: number; waits: number };
		}[];
	}
	| { evidence: Evidence; by: By; per?: string; totals: Totals; accounting: null | Accounting; found: number; groups: Groups[] }
	| {
		evidence: Evidence; by: By; per?: string; totals: Totals; accounting: null | Accounting; found: number;
		groups: {
			key: string; rows: number; executed_rows: number; hit: number; latency: number; stall: number; idle: number; buckets: Buckets; cycles: number;
			hidden?: number; exposed?: number; cycles_per_wave?: number; samples?: number; stalled_samples?: number; stall_reasons?: Record<string, number>;
			exposed_samples?: number; error_pct?: number; exposed_reasons?: Record<string, number>; inclusive: Inclusive; row_share: number | null;
			hit_share: number | null; latency_share: number | null; cause: string | null; cause_share: number | null; type: string | null;
			type_share: number | null;
		}[];
		source: Source; collapsed: string | null;
	}
	| { evidence: Evidence; by: By; per?: string; totals: Totals; accounting: null | Accounting; found: number; groups: Groups[]; costs: Costs[] }
	| {
		evidence: Evidence; by: By; per?: string; totals: Totals; accounting: null | Accounting; found: number;
		groups: { key: string; bucket: string; family: string; cycles: number; hit: number; latency: number; stall: number; idle: number; cycles_per_wave?: number }[];
	}
	| { evidence: Evidence; by: By; per?: string; totals: Totals; accounting: null | Accounting; found: number; pairs: Pairs[]; edges: Edges[] }
	| {
		evidence: Evidence; by: By; per?: string; totals: Totals; accounting: null | Accounting; found: number; attribution: 'blocking' | 'class-set';
		groups: Groups2[]; wait: number; barrier: number; sleep: number; waits: Waits; edges?: Edges[];
	};
export type InfoAnswer =
	| Info
	| { captures: Info[] };
export type IsaAnswer =
	| {
		evidence: Evidence; per?: string; levels_from?: string; totals: Totals; accounting: null | Accounting; hottest_row: number | null; sources: string[];
		labels: { row: number; address: number; text: string; index: number }[];
		rows: {
			row: number | null; address: number | null; isa: string; opcode: string; class: string; source: string | null; hit: number; latency: number;
			stall: number; idle: number; buckets: Buckets; cycles: number; hidden?: number; exposed?: number; cycles_per_wave?: number; samples?: number;
			stalled_samples?: number; stall_reasons?: Record<string, number>; exposed_samples?: number; error_pct?: number;
			exposed_reasons?: Record<string, number>; loop_depth: number; index: number; code_object?: number; frames: [number, number][];
			execution: null | Latency; execution_stall?: Latency;
			waves?: { n: number; min: number | null; mean: number | null; max: number | null; deviation: number | null; slowest: string };
			levels?: { n: number; mean: number | null; deviation?: number; error?: number }; load_to_wait?: number; stated: null | Inclusive;
			live: null | { arch: number; accum: number }; cause: string | null; cause_cycles: number; block: number | null; per_hit?: number;
		}[];
		edges: {
			producer: number; wait: number; count: number; blocked: number; inexact: number; stall: number; shared: number; cycles: number;
			latency: null | Latency; dominating: boolean;
		}[];
		waits: {
			wait: number; producer: number; consumed: number; last: number; group: number; candidates: number; loop: number | null; together: null | Latency;
			in_flight: null | Latency; slack_at_most: null | Latency; iterations: null | Latency;
		}[];
		branches: { row: number; target: number; taken: number; not_taken: number }[]; loops: Loops[];
		blocks: {
			first_row: number; last_row: number; rows: number; loop: number | null; executions: number; hit: number; latency: number; samples: number;
			buckets: Buckets; cycles: number; cycles_per_wave?: number; per_execution: number | null;
		}[];
		bodies: {
			header_row: number; hit: number; latency: number; samples: number; buckets: Buckets; cycles: number; cycles_per_wave?: number;
			per_execution: number | null;
		}[];
		latency: {
			opcode: string; to_lds: boolean; counter: string; exact: number; upper_bound: number; group: number; unresolved: number; older: number;
			cycles: null | Latency; exact_cycles: null | Latency; group_high_cycles: null | Latency; distance_instructions: null | Latency;
			distance_cycles: null | Latency; in_flight: null | Latency;
		}[];
	};
export type OccupancyAnswer =
	| {
		evidence: Evidence; kernel: string | null; arch: string | null;
		coverage: {
			traced_waves: number; resident_waves: number; launched_waves: number | null; traced_share: number | null; ses: number; target_cu: number | null;
			clock_mhz: number | null; sentence: string;
		};
		launch: {
			dispatch: number | null; kernel_id: number | null; launch_index: number | null; launch_count: number | null; workgroups: number | null;
			waves: number | null;
		};
		all: {
			events: number; starts: number; ends: number; peak_waves: number; wave_cycles: number; busy_cycles: number; first_cycle: number; last_cycle: number;
			unmatched_ends: number; open: number; mean_while_busy: number | null; span: number; span_us: number | null; mean_waves: number | null;
			peak_per_simd: number; below_half_peak: number; below_half_peak_share: number | null; tail: number; starts_per_kilocycle: number | null;
			cu_balance: number | null; is_aligned: boolean; source: 'events' | 'waves';
		};
		ses: {
			se: number; events: number; starts: number; ends: number; peak_waves: number; wave_cycles: number; busy_cycles: number; first_cycle: number;
			last_cycle: number; unmatched_ends: number; open: number; mean_while_busy: number | null; cus: number; peak_per_simd: number;
			target_cu_starts: number; is_aligned: boolean;
		}[];
		cus: {
			se: number; cu: number; events: number; starts: number; ends: number; peak_waves: number; wave_cycles: number; busy_cycles: number;
			first_cycle: number; last_cycle: number; unmatched_ends: number; open: number; mean_while_busy: number | null; peak_per_simd: number;
			is_target: boolean; waves?: (number | null)[];
		}[];
		simds: {
			se: number; cu: number; simd: number; events: number; starts: number; ends: number; peak_waves: number; wave_cycles: number; busy_cycles: number;
			first_cycle: number; last_cycle: number; unmatched_ends: number; open: number; mean_while_busy: number | null; waves?: (number | null)[];
		}[];
		kernels: {
			name: string; ids: number; ids_used: number; events: number; starts: number; ends: number; peak_waves: number; wave_cycles: number;
			busy_cycles: number; first_cycle: number; last_cycle: number; unmatched_ends: number; open: number; mean_while_busy: number | null;
		}[];
		kernel_ids: { id: number; name: string | null; starts: number }[];
		dispatches: {
			cycle: number; se: number; kernel_id: number; name: string | null; vgprs: number | null; sgprs: number | null; lds_bytes: number | null;
			threads: number[];
		}[];
		hardware_events: Record<string, number>; series: { from: number; to: number; mean_waves: number | null; by_se: (number | null)[] }[]; limits: Limits;
	}
	| { evidence: Evidence; kernel: string | null; arch: string | null; cores: Cores[]; tables: Tables[] };
export type StoreAnswer =
	| { captures: { capture: number; state: 'added' | 'there'; kernel: string | null; path: string }[] }
	| { captures: Captures[]; accepted: Accepted[] }
	| { capture: Captures; accepted: Accepted2[]; rows: Rows[]; findings: { severity: string; id: string; message: string }[] }
	| { files: { capture: number; path: string; is_there: boolean }[] }
	| {
		is_passed: boolean; worse: number; standing: number; accepted: number; no_claim: number; captures: number; arches: Arches[]; labels: Arches[];
		series: {
			kernel: string | null; arch: string | null; evidence: string; labels: string; figure: Figure; captures: number; noise: number | null;
			noise_pct: number | null; accepted: Accepted2[]; verdict: Verdict2; capture: number; from: number; captures_new: number; revision: string | null;
			before: number | null; after: number | null; change_pct: number | null; limit_pct: number | null; movers: Rows[]; command: string | null;
			time: string | null; value: number | null; cost: number | null; last_pct: number | null; last_at: string | null; spark: (number | null)[];
		}[];
	}
	| {
		series: {
			kernel: string | null; arch: string | null; evidence: string; labels: string; figure: Figure; captures: number; noise: number | null;
			noise_pct: number | null; accepted: Accepted2[]; level: number | null;
			points: {
				capture: number; time: string; kernel: string | null; arch: string | null; evidence: string; labels: string; revision: string | null;
				code: string; path: string; incore: string; duration: number | null; cycles: number | null; issue: number | null; stall: number | null;
				wait: number | null; idle: number | null; drain: number | null; per_track: number | null; index: number; value: number | null;
				level: number | null; off_pct: number | null; mark: '' | 'change' | 'outlier' | 'unconfirmed';
			}[];
			levels: { index: number; captures: number; level: number | null; limit: number | null }[];
			changes: {
				capture: number; from: number; index: number; time: string; revision: string | null; state: 'confirmed' | 'unconfirmed'; is_same_code: boolean;
				before: number | null; after: number | null; change: number | null; change_pct: number | null; movers: Rows[]; command: string | null;
			}[];
		}[];
	}
	| { regressions: Regressions[] }
	| {
		is_passed: boolean; worse: number; standing: number; accepted: number; no_claim: number; regressions: Regressions[];
		series: {
			kernel: string | null; arch: string | null; evidence: string; labels: string; figure: Figure; captures: number; noise: number | null;
			noise_pct: number | null; accepted: Accepted2[]; verdict: Verdict2; capture: number; from: number; captures_new: number; revision: string | null;
			before: number | null; after: number | null; change_pct: number | null; limit_pct: number | null; movers: Rows[]; command: string | null;
		}[];
	}
	| { is_withdrawn: boolean; acceptances: Accepted[] }
	| { removed: number; captures: number; is_dry: boolean }
	| { file: string; captures: number };
export type SummaryAnswer =
	| {
		evidence: Evidence; verdict: string; screen: Screen;
		bound: {
			has_verdict: boolean; reason: string | null; family: string | null; share: number | null; exposed: number; hidden: number; of: number;
			second_family: string | null; second_exposed: number; mixed: boolean; noise_floor: number | null; noise_source: 'repeats' | 'assumed';
			repeats: number; cause: string | null; where: null | Where; where_exposed: number; producer: null | Where;
		};
		provenance: {
			path: string | null; kernel: string | null; arch: string | null; product: string | null; agent: number | null; dispatch: number | null;
			launch_index: number | null; launch_count: number | null; command: string | null; format: string | null; format_version: string | null;
		};
		health: { verdict: 'ok' | 'suspect' | 'unusable'; findings: Findings[] }; coverage: string;
		clocks: { clock_mhz: number | null; source: string | null; max_clock_mhz: number | null; domains: { id: number; aligned: boolean; offset: number }[] };
		waves: number | null; instructions: number; accounting: Accounting2; accounting_shares: AccountingShares; residue: number;
		viewer_pie: null | { idle: number; stall: number; issue: number }; states: null | States;
		hidden: { stall: Stall; wait: Stall; idle: Stall; drain: Stall; lost: Stall; recorded_stall: Stall }; utilization: null | Utilization;
		utilization_shares: null | UtilizationShares;
		utilization_by_simd: { se: number; cu: number; simd: number; cycles: Utilization; shares: UtilizationShares }[];
		matrix: null | {
			static_rows: number; executed_rows: number; hits: number; simds: number; resident_cycles: number; issue_cycles: number; issue_share: number | null;
			issue_cycles_of_records: number; stall_cycles_of_records: number;
			modelled: {
				evidence: 'modelled'; pipe_cycles: number; pipe_share: number | null; pipe_cycles_of_records: number; hits: number; unknown_hits: number;
				multiply_accumulates: number; by_simd: { se: number; cu: number; simd: number; pipe_cycles: number; pipe_share: number | null }[];
			};
		};
		classes: { class: string; hit: number; latency: number; stall: number; idle: number; buckets: Buckets }[];
		causes: {
			cause: string; bucket: 'issue' | 'stall' | 'wait' | 'idle' | 'drain'; family: string; cycles: number; hidden?: number; exposed?: number;
			hits: number; free_hits?: number; free_cycles?: number;
		}[];
		families: Record<string, { cycles: number; hidden?: number; exposed?: number; share: number | null; lifetime_share: number | null }>;
		producers: { attribution: 'blocking' | 'class-set'; groups: Groups2[]; wait: number; barrier: number; sleep: number; waits: Waits; edges: Edges[] };
		rows: { at: null | Where; hit: number; cycles: number; lost: number; exposed: number; cause: string | null }[];
		lines: { line: string; costliest: null | Where; hit: number; cycles: number; lost: number; exposed: number; cause: string | null }[]; source: Source;
		legacy_stall_by_type: Record<string, number>;
		regions: {
			first_row: number; last_row: number; first_address: number; last_address: number; rows: number; executed_rows: number; hit: number; latency: number;
			stall: number; idle: number; class: string; is_loop: boolean;
		}[] | null;
		loops: Loops[]; duration: null | Duration; clusters: Clusters[]; barriers: null | Barriers;
		occupancy: {
			peak_per_simd: number | null; peak: number | null; mean: number | null; below_half_peak: number | null; span: number | null; tail: number | null;
			cu_balance: number | null; is_from_waves: boolean; limits: Limits;
		};
		repeats: null | Repeats; costs: Costs[]; advice: Advice[];
	}
	| {
		evidence: Evidence; verdict: string; screen: Screen; health: string; totals: Totals2; accounting: Accounting2; accounting_shares: AccountingShares;
		residue: number; bound: Bound; critical_path: null | CriticalPath; pairs: Pairs[]; cores: Cores[]; pipes: Pipes2[];
		rows: {
			row: number | null; address: number | null; isa: string; opcode: string; class: string; source: string | null; hit: number; latency: number;
			stall: number; idle: number; buckets: Buckets; cycles: number; hidden?: number; exposed?: number; cycles_per_wave?: number; samples?: number;
			stalled_samples?: number; stall_reasons?: Record<string, number>; exposed_samples?: number; error_pct?: number;
			exposed_reasons?: Record<string, number>;
		}[];
		source: Source; tables: Tables[]; advice: Advice[];
	};
export type VerdictAnswer =
	| {
		evidence: Evidence; kernel: string | null; size: string | null; us: number | null; cycles: number | null;
		bound: 'unit' | 'queue' | 'latency' | 'launch' | null; unit: string | null; full_pct: number | null; exposed_pct: number | null; fill_pct: number | null;
		warps: number | null; waves: number | null; limiter: string | null; rates: string | null; rates_evidence: 'measured' | 'published' | 'derived' | null;
		missing: string | null;
		units: {
			unit: string; name: string; full_pct: number | null; peak_pct: number | null; busiest_pct: number | null; practical_pct: number | null;
			cycles: number | null;
		}[];
		waits: { reason: string; words: string; exposed_pct: number | null; queued_pct: number | null; latency: number | null; idle_latency: number | null }[];
		changes: {
			rule: string; change: string; counted: string; step: string | null; pct: number | null; least_pct: number | null; most_pct: number | null;
			after_us: number | null; low_us: number | null; high_us: number | null; no_gain: string | null; next: string | null; sure: 'high' | 'fair' | 'low';
			basis: 'cause' | 'waste' | 'parallelism' | 'replay'; found: number; where: null | Where; waits_for: null | Where;
		}[];
		repeats: null | Repeats; screen: Screen;
	};
export type WavesAnswer =
	| {
		evidence: Evidence;
		totals: { waves: number; instructions: number; latency: number; stall: number; segments: number; waves_with_states: number; not_ending_in_endpgm: number };
		duration: Duration; accounting: Accounting2; accounting_shares: AccountingShares; residue: number; states: States; states_total: number;
		state_shares: { EMPTY?: number; IDLE: number | null; EXEC: number | null; WAIT: number | null; STALL: number | null }; timeline_segments: number;
		waves_not_ending_in_s_endpgm: number; categories: Record<string, [number, number, number]>; clusters: Clusters[];
		imbalance: { se: Se[]; simd: Se[]; slot: Se[]; order: Se[]; phase: Se[] }; barriers: Barriers;
		states_explained: {
			state: 'IDLE' | 'EXEC' | 'WAIT' | 'STALL'; cycles: number; records: number; difference: number;
			parts: { part: string; bucket: string; cycles: number }[];
		}[];
		series?: { from_aligned: number; bin_cycles: number; IDLE: number[]; EXEC: number[]; WAIT: number[]; STALL: number[] };
		waves: {
			se: number; cu: number; simd: number; slot: number; wave: number; begin: number; end: number; duration: number; instructions: number;
			segments: number; begin_aligned: number; end_aligned: number; rows: number; cluster: number; latency: number; stall: number; accounting: Accounting2;
			states: States; barriers: number; barrier_cycles: number; ends_in_endpgm: boolean; file: string; phase: 'first' | 'steady' | 'tail';
		}[];
	}
	| {
		evidence: Evidence; totals: Totals2; accounting: Accounting2; accounting_shares: AccountingShares; residue: number; bound: Bound;
		critical_path: null | CriticalPath; pairs: Pairs[]; cores: Cores[]; pipes: Pipes2[];
	};
export type ViewAnswer =
	| {
		schema: 'incore.view/1'; incore: string; hash: string | null; state: 'loading' | 'ready' | 'failed'; error: string | null;
		captures: { index: number; path: string; kernel: string | null; hash: string | null; state: 'loading' | 'ready' | 'failed'; error: string | null }[];
		colors?: { light: Record<string, string>; dark: Record<string, string>; contrast: Record<string, string> }; input: Record<string, unknown> | null;
		is_estimate?: boolean; slots?: string[]; buckets?: string[]; causes?: string[]; classes?: { id: number; name: string; slot: number; letter: string }[];
		clock?: { mhz: number | null; source: string | null }; span?: { begin: number; end: number; origin: number }; levels?: string[]; has_pipes?: boolean;
		has_matrix_passes?: boolean; has_samples?: boolean; words?: { wave: string; simd: string; cus: string; workgroup: string; local_memory: string };
		counts?: Record<string, number>; sources?: { path: string; lines: number; has_text: boolean }[]; kernels?: { id: number; name: string | null }[];
		counters?: { name: string; series: number; unit: string | null }[]; markers?: number[][];
		notes?: { kind: string; code: string; message: string; path: string | null; count: number }[]; track_columns?: string[]; tracks?: unknown[][];
		next_track?: number | null;
	};
