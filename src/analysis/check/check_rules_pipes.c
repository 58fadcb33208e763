/* SPDX-License-Identifier: Apache-2.0 */
/*
 * * check_rules_pipes.c: is the synchronisation of a trace of pipes consistent, and do the
 * producer's stated figures match the slices?. Divisions: what a run of pipes holds; samples;
 * synchronisation.
 */
#include "analysis/check/check_internal.h"
#include "analysis/code/samples.h"
#include "analysis/pipes/pipes.h"
#include "analysis/producer_tables.h"
#include "base/mem.h"
#include "isa/ascend.h"

/* --- what a run of pipes holds ---------------------------------------------------------------- */

/*
 * Can a simulator's trace represent the kernel? Did the core's main engine do
 * any work, did loops run, is the tail there? Only work counts, never synchronisation.
 */

#define NEAR_EMPTY_CYC 1000u
#define MAX_NAMED 4u /* cores named in a message */

/* Facts about one core. */
struct core_facts {
	uint64_t compute_n, compute_cyc; /* instructions and busy cycles of its engines */
	uint64_t move_n, move_cyc;	 /* instructions of its transfer engines; cycles of the
					    busiest one */
	uint64_t load_n;		 /* instructions of MTE1 and MTE2 */
	uint64_t span_cyc;
	enum ascend_core kind;
};

enum core_state { CORE_WORKS, CORE_MOVES, CORE_NEAR_EMPTY, CORE_NO_COMPUTE };

/* Is this pipe a main engine of the core? */
static bool is_engine(enum ascend_core kind, enum pipe_role role, unsigned pipe)
{
	if (role != ROLE_COMPUTE)
		return false;
	return kind == ASCEND_PLAIN || (kind == ASCEND_CUBE) == (pipe == PIPE_CUBE);
}

/* Kind of a core whose name does not show it: taken from the producer's label of the kernel. */
static enum ascend_core labelled_kind(const struct trace *t)
{
	const struct named_table *k = trace_find_table(t, ASCEND_TABLE_LABELS);

	for (uint32_t i = 0; k && i < k->n_rows; i++) {
		const char *key = named_table_cell(k, i, "key");
		const char *value = named_table_cell(k, i, "value");

		if (!key || !value || strcmp(key, "pto.kernel_kind") != 0)
			continue;
		/* "cube", or the attribute as written in the source: "#pto.kernel_kind<cube>" */
		if (strstr(value, "cube"))
			return ASCEND_CUBE;
		return strstr(value, "vec") ? ASCEND_VEC : ASCEND_PLAIN;
	}
	return ASCEND_PLAIN;
}

static struct core_facts facts_of(const struct check *c, const struct pipe_core *core)
{
	const struct trace *t = c->trace;
	struct core_facts f = {.compute_cyc = core->compute_cyc};
	struct ascend_unit unit;

	if (ascend_unit_of(pipe_core_name(&t->tracks[core->first]), &unit))
		f.kind = unit.kind;
	if (f.kind == ASCEND_PLAIN)
		f.kind = labelled_kind(t);
	if (core->end_cyc > core->begin_cyc)
		f.span_cyc = core->end_cyc - core->begin_cyc;
	for (track_idx i = core->first; i < core->first + core->n; i++) {
		const struct pipe_row *r = &c->pipes->rows[i];
		unsigned pipe = t->tracks[i].coord[2];

		if (is_engine(f.kind, r->role, pipe))
			f.compute_n += r->n_work - r->n_config;
		if (r->role != ROLE_MOVE)
			continue;
		f.move_n += r->n_work - r->n_config;
		if (r->busy_cyc > f.move_cyc)
			f.move_cyc = r->busy_cyc;
		if (pipe == PIPE_MTE1 || pipe == PIPE_MTE2)
			f.load_n += r->n_work - r->n_config;
	}
	return f;
}

static enum core_state pipes_state_of(const struct core_facts *f)
{
	if (!f->compute_n)
		return f->move_n && 2 * f->move_cyc >= f->span_cyc ? CORE_MOVES : CORE_NO_COMPUTE;
	if (f->compute_cyc < NEAR_EMPTY_CYC && 100 * f->compute_cyc < f->span_cyc && f->load_n)
		return CORE_NEAR_EMPTY;
	return CORE_WORKS;
}

static const char *engine_name(enum ascend_core kind)
{
	return kind == ASCEND_CUBE ? "CUBE" : kind == ASCEND_VEC ? "VECTOR" : "CUBE or VECTOR";
}

/* Counts the cores in a state and names the first few. */
static uint32_t count_cores(const struct check *c, enum core_state state, struct strbuf *names,
	struct core_facts *first)
{
	uint32_t n = 0;

	EACH (const struct pipe_core, core, c->pipes->cores, c->pipes->n_cores) {
		struct core_facts f = facts_of(c, core);

		if (pipes_state_of(&f) != state)
			continue;
		if (n == 0)
			*first = f;
		if (n < MAX_NAMED) {
			sb_puts(names, n ? ", " : "");
			sb_str(names, pipe_core_name(&c->trace->tracks[core->first]));
		}
		n++;
	}
	if (n > MAX_NAMED)
		sb_printf(names, " and %u more", n - MAX_NAMED);
	return n;
}

void rule_no_compute(struct check *c)
{
	static const enum core_state states[] = {CORE_NO_COMPUTE, CORE_MOVES};

	for (unsigned i = 0; i < 2; i++) {
		bool is_moving = states[i] == CORE_MOVES;
		struct strbuf names = {0};
		struct core_facts first;
		uint32_t n = count_cores(c, states[i], &names, &first);
		struct finding *f =
			n ? check_add(c, is_moving ? "data-movement-only" : "no-compute") : NULL;

		if (f) {
			finding_say(c, f,
				is_moving ? "%s only moves data: nothing ran on %s"
					  : "no compute on %s: nothing ran on %s",
				check_text(c, &names), engine_name(first.kind));
			fact_int(f, "cores", n);
			fact_int(f, "of_cores", c->pipes->n_cores);
			fact_int(f, "span_cycles", (int64_t)first.span_cyc);
			fact_int(f, "moves", (int64_t)first.move_n);
			fact_int(f, "move_busy_cycles", (int64_t)first.move_cyc);
		}
		sb_free(&names);
	}
}

void rule_near_empty(struct check *c)
{
	struct strbuf names = {0};
	struct core_facts first;
	uint32_t n = count_cores(c, CORE_NEAR_EMPTY, &names, &first);
	struct finding *f = n ? check_add(c, "near-empty") : NULL;

	if (f) {
		finding_say(c, f,
			"near-empty: %s computed for %llu of %llu cycles, with loads present",
			check_text(c, &names), (unsigned long long)first.compute_cyc,
			(unsigned long long)first.span_cyc);
		fact_int(f, "cores", n);
		fact_int(f, "compute_busy_cycles", (int64_t)first.compute_cyc);
		fact_int(f, "span_cycles", (int64_t)first.span_cyc);
		fact_int(f, "loads", (int64_t)first.load_n);
	}
	sb_free(&names);
}

void rule_labels(struct check *c)
{
	static const struct {
		const char *key, *code, *text;
	} MARKS[] = {
		{"made_up_control", "made-up-control",
			"values that decide how much the kernel does were made up: "},
		{"degenerate", "degenerate-run", "the kernel did less than its source says: "},
	};
	const struct named_table *k = trace_find_table(c->trace, ASCEND_TABLE_LABELS);

	for (uint32_t i = 0; k && i < k->n_rows; i++) {
		const char *key = named_table_cell(k, i, "key");
		const char *value = named_table_cell(k, i, "value");

		for (size_t m = 0; key && value && m < sizeof(MARKS) / sizeof(*MARKS); m++)
			if (strcmp(key, MARKS[m].key) == 0)
				finding_say(c, check_add(c, MARKS[m].code), "%s%s", MARKS[m].text,
					value);
	}
}

/* Counts the cores of a kind; *good: how many of them work or move data. */
static uint32_t count_side(const struct check *c, enum ascend_core kind, uint32_t *good)
{
	uint32_t n = 0;

	*good = 0;
	for (uint32_t i = 0; i < c->pipes->n_cores; i++) {
		struct core_facts f = facts_of(c, &c->pipes->cores[i]);

		if (f.kind != kind)
			continue;
		n++;
		*good += pipes_state_of(&f) <= CORE_MOVES;
	}
	return n;
}

void rule_one_side(struct check *c)
{
	uint32_t cube_good, vec_good;
	uint32_t n_cube = count_side(c, ASCEND_CUBE, &cube_good);
	uint32_t n_vec = count_side(c, ASCEND_VEC, &vec_good);
	struct finding *f;

	if (!n_cube || !n_vec || !cube_good == !vec_good)
		return;
	f = check_add(c, "one-side-empty");
	finding_say(c, f, "a mixed kernel whose %s side did not work: %u of %u %s cores compute",
		cube_good ? "vector" : "cube", cube_good ? vec_good : cube_good,
		cube_good ? n_vec : n_cube, cube_good ? "vector" : "cube");
	fact_int(f, "cube_cores", n_cube);
	fact_int(f, "cube_cores_working", cube_good);
	fact_int(f, "vector_cores", n_vec);
	fact_int(f, "vector_cores_working", vec_good);
}

void rule_no_loop(struct check *c)
{
	uint64_t most = 0, n = 0;
	struct finding *f;

	EACH (const struct pipe_row, r, c->pipes->rows, c->trace->n_tracks) {
		if (r->role != ROLE_COMPUTE)
			continue;
		n += r->n_work - r->n_config;
		if (r->row_hits_max > most)
			most = r->row_hits_max;
	}
	if (!n || most > 1)
		return;
	f = check_add(c, "no-loop");
	finding_say(c, f,
		"no loop ran: no compute instruction was executed more than once on a pipe; dynamic dimensions may be 1");
	fact_int(f, "compute_instructions", (int64_t)n);
}

/* --- the tail ------------------------------------------------------------------------------- */

struct tail_facts {
	uint32_t no_end;     /* cores whose last flow-control slice is not END */
	uint32_t cube_after; /* cores with cube work after the last FIXP slice */
	uint32_t last_waits; /* pipes whose last slice is a wait that nobody ended */
	uint64_t mmad, fixp; /* instructions on CUBE and FIXP */
	uint64_t one_sided;  /* starts without ends, as the import noted */
	const char *first;   /* core it was seen on */
};

static bool is_end(const struct trace *t, code_idx i)
{
	return i < t->n_code && str_starts(str_of(t->opcodes[t->code[i].opcode]), "END");
}

static void look_at_tail(const struct check *c, const struct pipe_core *core, struct tail_facts *f)
{
	const struct trace *t = c->trace;
	uint64_t cube_last = 0, fixp_last = 0;
	bool is_bad = false;

	for (track_idx i = core->first; i < core->first + core->n; i++) {
		const struct pipe_row *r = &c->pipes->rows[i];
		unsigned pipe = t->tracks[i].coord[2];

		if (pipe == PIPE_CUBE) {
			cube_last = r->n_work - r->n_config ? r->last_cyc : 0;
			f->mmad += r->n_work - r->n_config;
		} else if (pipe == PIPE_FIXP) {
			fixp_last = r->last_cyc;
			f->fixp += r->n_work - r->n_config;
		} else if (pipe == PIPE_FLOWCTRL && r->is_seen && !is_end(t, r->last_code)) {
			f->no_end++;
			is_bad = true;
		}
		f->last_waits += r->is_last_unmatched;
		is_bad |= r->is_last_unmatched;
	}
	/* a core with a single lane shows whole kernels, not instructions */
	if (cube_last > fixp_last && core->n > 1) {
		f->cube_after++;
		is_bad = true;
	}
	if (is_bad && !f->first)
		f->first = t->tracks[core->first].name;
}

void rule_cut_tail(struct check *c)
{
	struct tail_facts x = {.one_sided = check_notes(c, "start-without-end")};
	struct strbuf why = {0};
	struct finding *f;

	for (uint32_t i = 0; i < c->pipes->n_cores; i++)
		look_at_tail(c, &c->pipes->cores[i], &x);
	if (!x.no_end && !x.cube_after && !x.last_waits && !x.one_sided)
		return;
	if (x.no_end)
		sb_puts(&why, ", the last flow-control instruction is not END");
	if (x.cube_after)
		sb_printf(&why,
			", the cube worked after the last FIXP instruction (%llu MMAD, %llu FIXP)",
			(unsigned long long)x.mmad, (unsigned long long)x.fixp);
	if (x.last_waits)
		sb_puts(&why, ", a pipe ends in a wait that no flag ended");
	if (x.one_sided)
		sb_puts(&why, ", instructions started and never ended");
	f = check_add(c, "truncated");
	finding_say(c, f, "truncated tail: %s", check_text(c, &why) + (why.n > 2 ? 2 : 0));
	finding_advise(c, f,
		"a timeout (it is in minutes) or a cut of the simulator: raise it, or collect again");
	fact_int(f, "cores_without_end", x.no_end);
	fact_int(f, "cores_with_cube_after_fixp", x.cube_after);
	fact_int(f, "mmad", (int64_t)x.mmad);
	fact_int(f, "fixp", (int64_t)x.fixp);
	fact_int(f, "pipes_ending_in_wait", x.last_waits);
	fact_int(f, "starts_without_end", (int64_t)x.one_sided);
	sb_free(&why);
}

/* --- bytes ---------------------------------------------------------------------------------- */

static bool has_a5_lanes(const struct trace *t)
{
	for (track_idx i = 0; i < t->n_tracks; i++)
		if (ascend_lane(t->tracks[i].coord[2])->is_a5)
			return true;
	return false;
}

/* Does the trace state bytes? A5 never does, and raw dumps do not hold them. */
static bool states_bytes(const struct trace *t)
{
	const struct ascend_soc *soc = t->meta.arch ? ascend_soc_find(str_of(t->meta.arch)) : NULL;

	if (has_a5_lanes(t) || (soc && soc->family != ASCEND_A2A3))
		return false;
	if (trace_find_table(t, ASCEND_TABLE_INSTR))
		return true;
	return soc && t->meta.is_from_us;
}

void rule_zero_bytes(struct check *c)
{
	const struct trace *t = c->trace;
	uint64_t bytes = 0, moves = 0;
	struct finding *f;

	if (!states_bytes(t))
		return;
	for (code_idx i = 0; i < t->n_code; i++) {
		if (t->code[i].inst_class != CLASS_MTE || c->pipes->kinds[i] != KIND_WORK)
			continue;
		moves += c->pipes->row_totals[i].hit;
		bytes += t->code[i].bytes;
	}
	if (!moves || bytes)
		return;
	f = check_add(c, "zero-byte-moves");
	finding_say(c, f, "moves of zero bytes: %llu transfer%s, none states a byte",
		(unsigned long long)moves, plural(moves));
	fact_int(f, "transfers", (int64_t)moves);
}

/* --- samples ---------------------------------------------------------------------------------- */

/*
 * Can the samples of a profiler be trusted? Too few, lost, from a kernel
 * shorter than a few sampling periods, from passes at different clocks, without lines.
 */

#define FEW_SAMPLES 1000u    /* with these the hottest tenth is known to 10 % */
#define TOO_FEW_SAMPLES 100u /* with fewer no row is known well */
#define CLOCK_TOLERANCE 1.05 /* equal passes were seen to differ by up to 1.02 */
#define SHORT_PERIODS 20u    /* sampling periods of an SM within the kernel */

static uint64_t all_samples(const struct trace *t)
{
	uint64_t n = 0;

	for (code_idx i = 0; t->samples && i < t->n_code; i++)
		n += t->samples[i].issued + t->samples[i].stalled;
	return n;
}

void rule_few_samples(struct check *c)
{
	uint64_t n = all_samples(c->trace);
	bool is_hopeless = n < TOO_FEW_SAMPLES;
	struct finding *f;

	if (n >= FEW_SAMPLES)
		return;
	f = check_add_as(c, n ? "few-samples" : "no-samples",
		is_hopeless ? WEIGHT_WARNING : WEIGHT_INFO,
		is_hopeless ? VERDICT_SUSPECT : VERDICT_OK);
	if (n)
		finding_say(c, f,
			"%llu samples in all: a row with a tenth of them is off by %.0f %%",
			(unsigned long long)n, samples_error_pct(n / 10 ? n / 10 : 1));
	else
		finding_say(c, f,
			"no instruction was sampled: there are figures of the whole kernel alone");
	fact_int(f, "samples", (int64_t)n);
}

void rule_dropped_samples(struct check *c)
{
	struct finding *f;

	if (!c->trace->sampling.n_dropped)
		return;
	f = check_add(c, "dropped-samples");
	finding_say(c, f, "the sampler lost %llu bytes of samples: shares of rows may be wrong",
		(unsigned long long)c->trace->sampling.n_dropped);
	fact_int(f, "dropped_bytes", (int64_t)c->trace->sampling.n_dropped);
}

void rule_short_sampled(struct check *c)
{
	const struct trace *t = c->trace;
	const struct trace_launch *l = &t->meta.launch;
	double mhz = trace_clock_mhz(t), cycles;
	struct finding *f;

	if (!t->sampling.period_cyc || mhz <= 0 || l->end_ns == NO_VALUE)
		return;
	cycles = (double)(l->end_ns - l->start_ns) * mhz / 1000;
	if (cycles >= (double)t->sampling.period_cyc * SHORT_PERIODS)
		return;
	f = check_add(c, "short-kernel");
	finding_say(c, f,
		"the kernel lives for %.1f periods of the sampler: what it does at its start and end is mostly missed",
		cycles / (double)t->sampling.period_cyc);
	fact_real(f, "kernel_cycles", cycles, 0);
	fact_int(f, "period_cycles", (int64_t)t->sampling.period_cyc);
}

void rule_clock_locked(struct check *c)
{
	struct finding *f;

	if (!check_notes(c, "clock-not-locked"))
		return;
	f = check_add(c, "clock-not-locked");
	finding_say(c, f,
		"the clock was not locked: figures of different passes may be of different clocks");
}

/* Compares units of one clock whose cycles were counted in different passes. */
void rule_pass_clocks(struct check *c)
{
	static const char *const names[] = {"gpc__cycles_elapsed.avg.per_second",
		"sm__cycles_elapsed.avg.per_second", "l1tex__cycles_elapsed.avg.per_second"};
	double low = 0, high = 0;
	struct finding *f;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		double hz = table_metric(c->trace, names[i]);

		if (!(hz > 0))
			continue;
		low = low > 0 && low < hz ? low : hz;
		high = high > hz ? high : hz;
	}
	if (high <= low * CLOCK_TOLERANCE)
		return;
	f = check_add(c, "different-clocks");
	finding_say(c, f,
		"passes ran at different clocks, %.0f to %.0f MHz: figures of one pass do not fit those of another",
		low / 1e6, high / 1e6);
	fact_real(f, "slowest_mhz", low / 1e6, 1);
	fact_real(f, "fastest_mhz", high / 1e6, 1);
}

/* Kernels are replayed for each group of counters: caches are in the state left by the profiler. */
void rule_replay(struct check *c)
{
	double passes = table_metric(c->trace, "profiler__replayer_passes");
	struct finding *f;

	if (!(passes >= 2))
		return;
	f = check_add(c, "replayed");
	finding_say(c, f,
		"the kernel was run %lld times, for one group of counters each: unless told otherwise the profiler flushes the caches before every pass",
		(long long)passes);
	fact_int(f, "passes", (int64_t)passes);
}

void rule_no_lines(struct check *c)
{
	const struct trace *t = c->trace;
	struct finding *f;

	for (code_idx i = 0; i < t->n_code; i++)
		if (t->code[i].n_frames)
			return;
	if (!t->n_code)
		return;
	f = check_add(c, "no-line-info");
	finding_say(
		c, f, "the code has no line table: no instruction can be shown with its source");
}

void rule_cut_report(struct check *c)
{
	const struct trace *t = c->trace;
	struct finding *f;

	for (uint32_t i = 0; i < t->n_notes; i++) {
		if (t->notes[i].kind != NOTE_TRUNCATED || !t->notes[i].message)
			continue;
		f = check_add(c, "truncated");
		finding_say(c, f, "%s: everything after it is missing", t->notes[i].message);
		finding_advise(c, f, "copy the report again, or profile again");
		return;
	}
}

void rule_unmapped(struct check *c)
{
	uint64_t n = check_notes(c, "unmapped-addresses");
	struct finding *f;

	if (!n)
		return;
	f = check_add(c, "unmapped-addresses");
	finding_say(c, f, "%llu counts are at addresses that no function of the report holds",
		(unsigned long long)n);
	fact_int(f, "counts", (int64_t)n);
}

/* --- synchronisation -------------------------------------------------------------------------- */

/* There is no timeline: only tables, or nothing at all. */
void rule_no_timeline(struct check *c)
{
	const struct trace *t = c->trace;
	bool has_tables = t->has_stated_totals;
	struct finding *f;

	if (t->n_tracks)
		return;
	for (uint32_t i = 0; i < t->n_tables; i++)
		has_tables |= table_is_detail(&t->tables[i]);
	c->is_shell = true;
	f = check_add(c, has_tables ? "no-timeline" : "empty-shell");
	if (has_tables) {
		finding_say(c, f, "tables only, no instruction timeline: nothing to check");
	} else {
		finding_say(c, f, "nothing was traced: no event on any pipe");
		finding_advise(c, f, "collect again; was the kernel launched at all?");
	}
	fact_int(f, "tables", t->n_tables);
	fact_int(f, "code_rows", t->n_code);
}

void rule_sync_bound(struct check *c)
{
	const struct pipes *p = c->pipes;
	const struct pipe_pair *top = p->pairs.n ? &p->pairs.v[0] : NULL;
	uint64_t wait = 0, span = 0;
	uint32_t n = 0;
	struct finding *f;

	EACH (const struct pipe_row, r, p->rows, c->trace->n_tracks) {
		if (r->role != ROLE_COMPUTE || !r->is_seen)
			continue;
		if (10 * r->bucket[BUCKET_WAIT] < 9 * r->duration_cyc)
			return;
		n++;
		wait += r->bucket[BUCKET_WAIT];
		span += r->duration_cyc;
	}
	if (!n || !span)
		return;
	f = check_add(c, "sync-bound");
	finding_say(c, f,
		"sync-bound: every compute pipe waits for at least 90 %% of the span; most: %s for %s, %llu cycles",
		top ? top->consumer : "-", top && top->producer ? top->producer : "nobody known",
		(unsigned long long)(top ? top->cyc : 0));
	fact_int(f, "compute_pipes", n);
	fact_int(f, "wait_cycles", (int64_t)wait);
	fact_int(f, "span_cycles", (int64_t)span);
}

/* Largest number of work pipes in a core. */
static uint32_t most_pipes(const struct pipes *p)
{
	uint32_t most = 0;

	EACH (const struct pipe_core, core, p->cores, p->n_cores) {
		uint32_t n = 0;

		for (track_idx k = core->first; k < core->first + core->n; k++)
			n += pipe_role_is_work(p->rows[k].role) && p->rows[k].n_work > 0;
		most = n > most ? n : most;
	}
	return most;
}

static uint64_t count_flags(const struct pipes *p)
{
	uint64_t n = 0;

	for (code_idx i = 0; i < p->trace->n_code; i++)
		if (p->kinds[i] == KIND_SET || p->kinds[i] == KIND_WAIT)
			n += p->row_totals[i].hit;
	return n;
}

void rule_no_flags(struct check *c)
{
	uint32_t n = most_pipes(c->pipes);
	struct finding *f;

	if (n < 2 || count_flags(c->pipes))
		return;
	f = check_add(c, "no-flag-events");
	finding_say(c, f,
		"no flag event at all though %u pipes worked together: no wait can be attributed",
		n);
	fact_int(f, "pipes", n);
}

/* Counts cores with a cube and only one vector core. */
static uint32_t count_lone_vectors(const struct check *c, track_idx *first)
{
	const struct pipes *p = c->pipes;
	const struct trace *t = c->trace;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_cores; i++) {
		const uint32_t *at = t->tracks[p->cores[i].first].coord;
		uint32_t units = 0;

		if (at[1] != 0)
			continue;
		for (uint32_t k = i + 1; k < p->n_cores; k++)
			units += t->tracks[p->cores[k].first].coord[0] == at[0];
		if (units != 1)
			continue;
		if (!n++)
			*first = p->cores[i].first;
	}
	return n;
}

void rule_sub_blocks(struct check *c)
{
	uint64_t same = check_notes(c, "core-name-collision");
	track_idx first = 0;
	uint32_t lone = count_lone_vectors(c, &first);
	struct finding *f;

	if (!same && !lone)
		return;
	f = check_add(c, "sub-block-collision");
	if (same)
		finding_say(c, f, "%llu vector %s the name of another: sub-block ids collide",
			(unsigned long long)same, same == 1 ? "core carries" : "cores carry");
	else
		finding_say(c, f,
			"%u core%s of a mixed kernel with one vector core only, first core%u: the other is missing or was overwritten",
			lone, plural(lone), c->trace->tracks[first].coord[0]);
	fact_int(f, "same_names", (int64_t)same);
	fact_int(f, "cores_with_one_vector_core", lone);
}

/* Errors that a model found in the kernel it timed: the times of such a run mean little. */
static void model_findings(struct check *c)
{
	EACH (const struct note, n, c->trace->notes, c->trace->n_notes) {
		struct finding *f;

		if (!str_starts(str_of(n->code), "model-") ||
			(n->kind != NOTE_CONTRADICTORY && n->kind != NOTE_TRUNCATED))
			continue;
		f = check_add(c, n->code);
		finding_say(c, f, "%s", n->message);
		fact_int(f, "count", (int64_t)n->count);
	}
}

void rule_flag_pairs(struct check *c)
{
	const struct pipes *p = c->pipes;
	struct finding *f;

	/* A model pairs flags itself and notes what has no pair; its cross-core flags are counters,
	 * and one set may reach two cores. */
	if (c->trace->meta.evidence == EVIDENCE_ESTIMATE) {
		model_findings(c);
		return;
	}
	if (p->n_unmatched || p->n_unmatched_sets) {
		f = check_add(c, "unmatched-flags");
		finding_say(c, f,
			"%llu wait%s without a set, %llu set%s without a wait: their producers are not known",
			(unsigned long long)p->n_unmatched, plural(p->n_unmatched),
			(unsigned long long)p->n_unmatched_sets, plural(p->n_unmatched_sets));
		fact_int(f, "waits", (int64_t)p->n_unmatched);
		fact_int(f, "sets", (int64_t)p->n_unmatched_sets);
	}
	if (p->n_reused) {
		f = check_add(c, "reused-flags");
		finding_say(c, f, "%llu %s in more than one pair of set and wait",
			(unsigned long long)p->n_reused,
			p->n_reused == 1 ? "flag stands" : "flags stand");
		fact_int(f, "flags", (int64_t)p->n_reused);
	}
}

void rule_sim_time(struct check *c)
{
	const struct trace_meta *m = &c->trace->meta;
	bool is_ticks;
	struct finding *f;

	if (check_notes(c, "quantised") || check_notes(c, "float-time")) {
		f = check_add(c, "quantised-time");
		finding_say(c, f,
			check_notes(c, "quantised")
				? "the producer rounded times to 1 ns: starts and ends are right to a cycle or two"
				: "late times are floats of 32 bits, whose step is more than a cycle there");
		fact_int(f, "notes",
			(int64_t)(check_notes(c, "quantised") + check_notes(c, "float-time")));
	}
	if (m->clock_hz_den && !check_notes(c, "clock-unknown"))
		return;
	is_ticks = !m->is_from_us;
	f = check_add_as(c, "clock-unknown", is_ticks ? WEIGHT_INFO : WEIGHT_WARNING, VERDICT_OK);
	finding_say(c, f,
		is_ticks
			? "nothing states the clock: microseconds rest on %.0f MHz (%s), cycles are the simulator's"
			: "nothing states the clock: cycles rest on %.0f MHz (%s)",
		trace_clock_mhz(c->trace), m->clock_source ? m->clock_source : "unknown");
	fact_real(f, "assumed_mhz", trace_clock_mhz(c->trace), 0);
}

/* --- what the producer states --------------------------------------------------------------- */

void rule_sim_totals(struct check *c)
{
	const struct trace *t = c->trace;
	uint64_t stated = 0, ours = 0;
	uint32_t n = 0, of = 0;
	struct finding *f;

	if (!t->has_stated_totals)
		return;
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct code_totals *a = &t->code[i].stated, *b = &c->pipes->row_totals[i];
		uint64_t off =
			a->latency > b->latency ? a->latency - b->latency : b->latency - a->latency;

		if (!a->hit || !pipe_kind_is_work((enum pipe_kind)c->pipes->kinds[i]))
			continue;
		of++;
		stated += a->latency;
		ours += b->latency;
		/* microseconds are rounded: allow a cycle per execution */
		n += a->hit != b->hit || off > a->hit;
	}
	if (!n)
		return;
	f = check_add(c, "inconsistent-totals");
	finding_say(
		c, f, "%u of %u instructions have other executions or cycles than stated", n, of);
	fact_int(f, "rows", n);
	fact_int(f, "of_rows", of);
	fact_int(f, "stated_cycles", (int64_t)stated);
	fact_int(f, "timeline_cycles", (int64_t)ours);
}

/* Our busy cycles of a pipe, by the names of its core and lane; 0 if it has no slice. */
static uint64_t busy_of(const struct check *c, const char *core, const char *pipe)
{
	for (track_idx i = 0; i < c->trace->n_tracks; i++) {
		const struct track *k = &c->trace->tracks[i];

		if (str_is(pipe_core_name(k), core) && !strcmp(pipe_lane_name(k), pipe))
			return c->pipes->rows[i].busy_cyc;
	}
	return 0;
}

struct busy_facts {
	uint32_t n, of;
	struct strbuf worst;
};

/* Compares one core's summary log with the timeline. */
static void compare_busy(const struct check *c, const struct named_table *t, struct busy_facts *f)
{
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const char *core = named_table_cell(t, i, "unit");
		const char *pipe = named_table_cell(t, i, "pipe");
		const char *cycles = named_table_cell(t, i, "cycles");
		uint64_t stated, ours, off;

		if (!core || !pipe || !cycles || !str_to_u64(str_of(cycles), &stated))
			continue;
		f->of++;
		ours = busy_of(c, core, pipe);
		off = stated > ours ? stated - ours : ours - stated;
		if (20 * off <= stated)
			continue;
		if (f->n++ < 4)
			sb_printf(&f->worst, "%s%s %llu of %llu", f->worst.n ? ", " : "", pipe,
				(unsigned long long)ours, (unsigned long long)stated);
	}
}

/* Reports busy cycles of core summary logs that differ by more than 5 %. */
void rule_sim_busy(struct check *c)
{
	struct busy_facts x = {0};
	struct finding *f;

	for (uint32_t i = 0; i < c->trace->n_tables; i++)
		if (!strcmp(c->trace->tables[i].name, ASCEND_TABLE_BUSY))
			compare_busy(c, &c->trace->tables[i], &x);
	f = x.n ? check_add(c, "inconsistent-busy") : NULL;
	if (f) {
		finding_say(c, f,
			"%u of %u pipes are busy for other cycles than the core summary log states: %s",
			x.n, x.of, check_text(c, &x.worst));
		fact_int(f, "pipes", x.n);
		fact_int(f, "of_pipes", x.of);
	}
	sb_free(&x.worst);
}
