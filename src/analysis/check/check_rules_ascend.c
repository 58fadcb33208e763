/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rules_ascend.c: can a simulator's trace represent the kernel? Did the core's main engine do
 * any work, did loops run, is the tail there? Only work counts, never synchronisation.
 */
#include "analysis/check/check_internal.h"
#include "analysis/pipes/pipes.h"
#include "base/mem.h"
#include "isa/ascend.h"

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

static enum core_state state_of(const struct core_facts *f)
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

		if (state_of(&f) != state)
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
			n ? check_add(c, is_moving ? "data-movement-only" : "no-compute",
				    is_moving ? SEVERITY_INFO : SEVERITY_WARNING,
				    is_moving ? VERDICT_OK : VERDICT_SUSPECT)
			  : NULL;

		if (f) {
			finding_say(c, f,
				is_moving ? "%s only moves data: nothing ran on %s"
					  : "no compute on %s: nothing ran on %s",
				check_text(c, &names), engine_name(first.kind));
			finding_advise(c, f,
				is_moving
					? "fine for a copy kernel; else look at the arguments"
					: "look at dynamic dimensions, conditions and the launch: this engine was expected to work");
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
	struct finding *f =
		n ? check_add(c, "near-empty", SEVERITY_WARNING, VERDICT_SUSPECT) : NULL;

	if (f) {
		finding_say(c, f,
			"near-empty: %s computed for %llu of %llu cycles, with loads present",
			check_text(c, &names), (unsigned long long)first.compute_cyc,
			(unsigned long long)first.span_cyc);
		finding_advise(c, f, "simulate with dimensions of the size that matters");
		fact_int(f, "cores", n);
		fact_int(f, "compute_busy_cycles", (int64_t)first.compute_cyc);
		fact_int(f, "span_cycles", (int64_t)first.span_cyc);
		fact_int(f, "loads", (int64_t)first.load_n);
	}
	sb_free(&names);
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
		*good += state_of(&f) <= CORE_MOVES;
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
	f = check_add(c, "one-side-empty", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(c, f, "a mixed kernel whose %s side did not work: %u of %u %s cores compute",
		cube_good ? "vector" : "cube", cube_good ? vec_good : cube_good,
		cube_good ? n_vec : n_cube, cube_good ? "vector" : "cube");
	finding_advise(
		c, f, "look for a condition on the block id or a dimension of zero on that side");
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
	f = check_add(c, "no-loop", SEVERITY_INFO, VERDICT_OK);
	finding_say(c, f,
		"no loop ran: no compute instruction was executed more than once on a pipe; dynamic dimensions may be 1");
	finding_advise(c, f, "check the dimensions that the simulated arguments state");
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
	f = check_add(c, "truncated", SEVERITY_WARNING, VERDICT_SUSPECT);
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
	f = check_add(c, "zero-byte-moves", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(c, f, "moves of zero bytes: %llu transfer%s, none states a byte",
		(unsigned long long)moves, plural(moves));
	finding_advise(c, f, "look at the dimensions of the simulated arguments");
	fact_int(f, "transfers", (int64_t)moves);
}
