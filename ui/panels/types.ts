// SPDX-License-Identifier: Apache-2.0
// types.ts: the shapes of the verbs' JSON that the panels read. The schemas in schemas/ are the law; here stands what is shown.

export interface Buckets { issue: number; stall: number; wait: number; idle: number; drain: number }
export interface Accounting extends Buckets { duration: number; residue?: number }
export interface Distribution { n: number; min: number; median: number; p95: number; max: number }
export interface Totals { waves: number; rows: number; instructions: number; hit: number; latency: number; stall: number; idle: number; from: string; samples?: number; stalled_samples?: number; exposed_samples?: number; period?: number }
/** A part of 1, or so much for each; null where there is no whole. */
export type Ratio = number | null;

export interface CodeCost {
	row: number | null;
	address: number | null;
	isa: string;
	opcode: string;
	class: string;
	source: string | null;
	hit: number;
	latency: number;
	stall: number;
	idle: number;
	buckets: Buckets;
	/** all buckets together */
	cycles: number;
	/** of the lost ones: nothing else was issued meanwhile; where it was asked for and is known */
	exposed?: number;
	samples?: number;
	stalled_samples?: number;
	stall_reasons?: Record<string, number>;
}

export interface IsaRow extends CodeCost {
	row: number;
	address: number;
	loop_depth: number;
	index: number;
	frames: [number, number][];
	execution: Distribution | null;
	execution_stall?: Distribution;
	/** mean cycles of an execution in each wave, over the waves; absent where all agree */
	waves?: { n: number; min: number; mean: number; max: number; deviation: number; slowest: string };
	stated: { hit: number; latency: number; stall: number; idle: number } | null;
	/** vector registers still needed before the row, inferred from the text */
	live: { arch: number; accum: number } | null;
	/** what it lost most cycles to */
	cause: string | null;
	cause_cycles: number;
	/** place in blocks */
	block: number | null;
	/** cycles an execution; absent where it never ran */
	per_hit?: number;
	/** of the mean wave; absent without waves */
	cycles_per_wave?: number;
}
/** Rows of a loop's whole body, or of a block, together. */
export interface Body { header_row?: number; hit: number; latency: number; samples: number; buckets: Buckets; cycles: number; cycles_per_wave?: number; per_execution: Ratio }
export interface Block extends Body { first_row: number; last_row: number; rows: number; loop: number | null; executions: number }

export interface Edge {
	producer: number; wait: number; count: number; blocked: number; inexact: number; stall: number; shared: number; cycles: number;
	latency: Distribution | null; dominating?: boolean;
}
/** A wait row and a row whose instances it consumed; slack is an upper bound. */
export interface WaitPair {
	wait: number; producer: number; consumed: number; last: number; group: number; candidates: number; loop: number | null;
	together: Distribution | null; in_flight: Distribution | null; slack_at_most: Distribution | null; iterations: Distribution | null;
}
export interface Branch { row: number; target: number; taken: number; not_taken: number }
export interface Split extends Buckets { iterations: number; cycles: number }
export interface Loop {
	header_row: number; latch_row: number; depth: number; parent_header_row: number | null; rows: number; blocks: number; state: string;
	executions: number; waves: number; iterations: number; min: number; median: number; p95: number; max: number; all: Split; first: Split;
	steady: Split; last: Split; drift: number;
}
export interface Latency {
	opcode: string; to_lds: boolean; counter: string; exact: number; upper_bound: number; group: number; unresolved: number; older: number;
	cycles: Distribution | null; distance_instructions: Distribution | null; distance_cycles: Distribution | null; in_flight: Distribution | null;
}

export interface Isa {
	evidence: string; totals: Totals; accounting: Accounting | null; hottest_row: number | null; sources: string[];
	labels: { row: number; address: number; text: string; index: number }[];
	rows: IsaRow[]; edges: Edge[]; waits: WaitPair[]; branches: Branch[]; loops: Loop[]; blocks: Block[]; bodies: Body[]; latency: Latency[];
}

export interface HotRow extends CodeCost { cause: string | null; cause_cycles: number; waits_for: { row: number; isa: string; cycles: number; waits: number } | null }
export interface HotGroup {
	key: string; rows: number; executed_rows: number; hit: number; latency: number; stall: number; idle: number; buckets: Buckets; cycles: number; samples?: number;
	stalled_samples?: number; inclusive?: { hit: number; latency: number; stall: number; idle: number };
}
export interface HotCause { key: string; bucket: string; family: string; cycles: number; hit: number }
export interface HotProducer { key: string; wait: number; waits: number; blocked: number; per_wait: Ratio }
export interface Hot {
	by: string; totals: Totals; accounting: Accounting | null; found: number; rows?: HotRow[]; groups?: unknown[];
	edges?: Edge[]; wait?: number; barrier?: number; sleep?: number; pairs?: Pair[];
}

export interface Spread { min: number; median: number; max: number; sum: number; p5: number; p25: number; p75: number; p95: number; p99: number; mean: number; deviation: number }
export interface Wave {
	se: number; cu: number; simd: number; slot: number; wave: number; begin_aligned: number; end_aligned: number; duration: number;
	instructions: number; rows: number; cluster: number; latency: number; stall: number; accounting: Accounting;
	states: Record<string, number> | null; barriers: number; barrier_cycles: number; ends_in_endpgm: boolean; file: string; phase: string;
}
export interface Cluster {
	waves: number; rows: number; latency: number; stall: number; instructions: number; duration: number; duration_min: number;
	duration_median: number; duration_max: number; representative: string; trip_variants: number; per_instruction: Ratio;
}
export interface Balance { se?: number; cu?: number; simd?: number; slot?: number; order?: string; phase?: string; waves: number; duration: Spread; accounting: Accounting; states: Record<string, number> | null; lost_share: Ratio }
export interface BarrierRow {
	row: number | null; executions: number; wait: number; meetings: number; skew: Distribution | null; last_wait: Distribution | null;
	widest: { skew: number; waves: number; first: string; last: string; first_arrival_aligned: number; last_arrival_aligned: number; release_aligned: number } | null;
	latest: { wave: string; last: number; meetings: number } | null;
}
export interface Barriers {
	executions: number; wait: number; meetings: number; met: number; skipped: number; evidence: string; skew: Distribution | null;
	last_wait: Distribution | null; rows: BarrierRow[];
}

export interface PipeWait { producer_pipe: string | null; cycles: number; count: number; blocked: number }
export interface Pipe {
	core: string; pipe: string; busy: number; latency_sum: number; depth_max: number; depth_mean: number; first: number; last: number;
	gaps: { p50: number; p90: number; p99: number; max: number; count: number; sum: number } | null; waits: PipeWait[]; accounting: Accounting; begin: number;
	instructions: number; sync_instructions: number; exposed: number; critical_path: number; depth: number[]; busy_share: Ratio; wait_share: Ratio; idle_share: Ratio;
}
export interface Core { core: string; begin: number; end: number; span: number; busy: number; compute_busy: number; pipes: string[]; overlap: number[][]; busy_share: Ratio; compute_share: Ratio }
export interface Pair { producer_pipe: string | null; consumer_pipe: string; is_cross_core: boolean; cycles: number; count: number; blocked: number; per_wait: Ratio }
export interface Bound { kind: string; core: string | null; pipe: string | null; path_share: number; busy_share: number; sentence: string }
export interface CriticalPath {
	span: number; lead: number; tail: number; work: number; wait: number; stall: number; gap: number; slices: number; hops: number; inferred: number;
	pipes: { core: string; pipe: string; work: number; wait: number; stall: number; gap: number }[];
	rows: { row: number | null; isa: string; source: string | null; cycles: number }[];
}

export type Shares = Record<string, Ratio>;

export interface Waves {
	totals: Record<string, number>; duration?: Spread; accounting: Accounting; accounting_shares: Shares; residue: number; states?: Record<string, number>; states_total?: number; state_shares?: Shares; clusters?: Cluster[];
	imbalance?: { se: Balance[]; simd: Balance[]; slot: Balance[]; order: Balance[]; phase: Balance[] };
	states_explained?: { state: string; cycles: number; records: number; difference: number; parts: { part: string; bucket: string; cycles: number }[] }[];
	barriers?: Barriers; waves?: Wave[];
	series?: { from_aligned: number; bin_cycles: number } & Record<string, number[] | number>;
	bound?: Bound; critical_path?: CriticalPath | null; pairs?: Pair[]; cores?: Core[]; pipes?: Pipe[];
}

export interface OccupancyUnit {
	se?: number; cu?: number; simd?: number; name?: string; events: number; starts: number; ends: number; peak_waves: number; wave_cycles: number;
	busy_cycles: number; first_cycle: number; last_cycle: number; mean_while_busy: Ratio; peak_per_simd?: number; is_target?: boolean; cus?: number; ids?: number; ids_used?: number; waves?: number[];
}
export interface Limits {
	waves_per_simd: number | null; limiter: string | null; limiters: string[]; is_upper_bound: boolean; sentence: string; next_step: string | null;
	by: Record<string, { state: string; waves: number | null }>; kernel: Record<string, number | boolean | null>; machine: Record<string, number | string | null>;
}
export interface Dispatch { cycle: number; se: number; kernel_id: number; name: string | null; vgprs: number | null; sgprs: number | null; lds_bytes: number | null; threads: number[] | null }
export interface Occupancy {
	kernel: string | null; coverage?: { sentence: string }; all?: OccupancyUnit & { span: number; mean_waves: number; below_half_peak_share: number; tail: number; starts_per_kilocycle: number; cu_balance: number; source: string; is_aligned: boolean };
	launch?: Record<string, number | null>; ses?: OccupancyUnit[]; cus?: OccupancyUnit[]; simds?: OccupancyUnit[]; kernels?: OccupancyUnit[];
	kernel_ids?: { id: number; name: string; starts: number }[]; dispatches?: Dispatch[]; hardware_events?: Record<string, number>;
	series?: { from: number; to: number; mean_waves: number; by_se: number[] }[]; limits?: Limits; cores?: Core[]; tables?: NamedTable[];
}

export interface DiffPart {
	key: string; row_a: number | null; row_b: number | null; source: string | null; hit_a: number; hit_b: number; cycles_a: number; cycles_b: number;
	per_hit_a: number | null; per_hit_b: number | null; change: number | null; contribution: number | null; noise: number | null; verdict: string;
}

export interface NamedTable { name: string; origin: string; rows: number; columns: string[]; cells?: (string | null)[][] }
export interface Finding { id: string; severity: string; message: string; evidence?: Record<string, unknown>; advice: string | null }
export interface Place { row: number; address: number; isa: string; source: string | null }
export interface CauseRow { cause: string; bucket: string; family: string; cycles: number; hidden?: number; exposed?: number; hits: number; free_hits?: number }
/** The matrix pipe by the length of its passes. */
export interface Modelled { evidence: string; pipe_cycles: number; pipe_share: Ratio; unknown_hits: number; multiply_accumulates: number; by_simd?: { se: number; cu: number; simd: number; pipe_share: Ratio }[] }
export interface Summary {
	evidence: string; verdict: string; health: { verdict: string; findings: Finding[] } | string; coverage?: string; accounting: Accounting; accounting_shares: Shares; residue: number;
	bound?: Bound & Record<string, unknown>; causes?: CauseRow[]; rows?: ({ at?: Place; hit: number; cycles?: number; lost?: number; exposed?: number; cause?: string | null } & Partial<CodeCost>)[];
	lines?: { line: string; costliest: Place | null; hit: number; cycles: number; lost: number; exposed: number; cause: string | null }[];
	advice?: { rule: string; finding: string; risk: string; cause: string; where: Place | null; exposed: number; evidence: string; experiment: string; prediction: string }[];
	utilization?: Record<string, number>; utilization_shares?: Shares; utilization_by_simd?: { se: number; cu: number; simd: number; cycles: Record<string, number>; shares: Shares }[];
	matrix?: Record<string, number | null> & { modelled: Modelled }; occupancy?: { peak_per_simd: number; mean: number; limits: Limits };
	states?: Record<string, number>; viewer_pie?: Record<string, number>; source?: { collapse: string; distinct_lines: number; mapped_rows: number; rows: number; top_line_latency_share: number; effective_lines_by_latency: number };
	pipes?: Pipe[]; cores?: Core[]; pairs?: Pair[]; critical_path?: CriticalPath | null; tables?: NamedTable[]; waves?: number; instructions?: number;
	families?: Record<string, { cycles: number; hidden: number; exposed: number; share: Ratio }>; duration?: Spread; clusters?: Cluster[]; totals?: Record<string, number>;
}
