/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rules_pipes.c: is the synchronisation of a trace of pipes consistent, and do the producer's
 * stated figures match the slices?
 */
#include "analysis/check/check_internal.h"
#include "analysis/pipes/pipes.h"
#include "analysis/producer_tables.h"
#include "base/mem.h"
#include "isa/ascend.h"

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
	f = check_add(c, has_tables ? "no-timeline" : "empty-shell",
		has_tables ? SEVERITY_INFO : SEVERITY_ERROR,
		has_tables ? VERDICT_OK : VERDICT_UNUSABLE);
	if (has_tables) {
		finding_say(c, f, "tables only, no instruction timeline: nothing to check");
		finding_advise(c, f, "for a timeline collect with msprof op simulator");
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
	f = check_add(c, "sync-bound", SEVERITY_WARNING, VERDICT_OK);
	finding_say(c, f,
		"sync-bound: every compute pipe waits for at least 90 %% of the span; most: %s for %s, %llu cycles",
		top ? top->consumer : "-", top && top->producer ? top->producer : "nobody known",
		(unsigned long long)(top ? top->cyc : 0));
	finding_advise(c, f, "look at what the producer does: incore hot --by producer");
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
	f = check_add(c, "no-flag-events", SEVERITY_INFO, VERDICT_OK);
	finding_say(c, f,
		"no flag event at all though %u pipes worked together: no wait can be attributed",
		n);
	finding_advise(c, f, "collected with PipeUtilization only? use the default metrics");
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
	f = check_add(c, "sub-block-collision", SEVERITY_WARNING, VERDICT_SUSPECT);
	if (same)
		finding_say(c, f, "%llu vector %s the name of another: sub-block ids collide",
			(unsigned long long)same, same == 1 ? "core carries" : "cores carry");
	else
		finding_say(c, f,
			"%u core%s of a mixed kernel with one vector core only, first core%u: the other is missing or was overwritten",
			lone, plural(lone), c->trace->tracks[first].coord[0]);
	finding_advise(c, f, "read the raw dumps: they keep the physical names");
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
		f = check_add(c, n->code, SEVERITY_WARNING, VERDICT_SUSPECT);
		finding_say(c, f, "%s", n->message);
		finding_advise(
			c, f, "mend the kernel: on the device this may hang or compute garbage");
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
		f = check_add(c, "unmatched-flags", SEVERITY_WARNING, VERDICT_OK);
		finding_say(c, f,
			"%llu wait%s without a set, %llu set%s without a wait: their producers are not known",
			(unsigned long long)p->n_unmatched, plural(p->n_unmatched),
			(unsigned long long)p->n_unmatched_sets, plural(p->n_unmatched_sets));
		finding_advise(c, f, "the notes of the import name them");
		fact_int(f, "waits", (int64_t)p->n_unmatched);
		fact_int(f, "sets", (int64_t)p->n_unmatched_sets);
	}
	if (p->n_reused) {
		f = check_add(c, "reused-flags", SEVERITY_WARNING, VERDICT_OK);
		finding_say(c, f, "%llu %s in more than one pair of set and wait",
			(unsigned long long)p->n_reused,
			p->n_reused == 1 ? "flag stands" : "flags stand");
		finding_advise(c, f, "pairing may be off: compare with the raw dumps");
		fact_int(f, "flags", (int64_t)p->n_reused);
	}
}

void rule_sim_time(struct check *c)
{
	const struct trace_meta *m = &c->trace->meta;
	bool is_ticks;
	struct finding *f;

	if (check_notes(c, "quantised") || check_notes(c, "float-time")) {
		f = check_add(c, "quantised-time", SEVERITY_INFO, VERDICT_OK);
		finding_say(c, f,
			check_notes(c, "quantised")
				? "the producer rounded times to 1 ns: starts and ends are right to a cycle or two"
				: "late times are floats of 32 bits, whose step is more than a cycle there");
		finding_advise(c, f, "raw dumps have exact cycles");
		fact_int(f, "notes",
			(int64_t)(check_notes(c, "quantised") + check_notes(c, "float-time")));
	}
	if (m->clock_hz_den && !check_notes(c, "clock-unknown"))
		return;
	is_ticks = !m->is_from_us;
	f = check_add(c, "clock-unknown", is_ticks ? SEVERITY_INFO : SEVERITY_WARNING, VERDICT_OK);
	finding_say(c, f,
		is_ticks
			? "nothing states the clock: microseconds rest on %.0f MHz (%s), cycles are the simulator's"
			: "nothing states the clock: cycles rest on %.0f MHz (%s)",
		trace_clock_mhz(c->trace), m->clock_source ? m->clock_source : "unknown");
	finding_advise(c, f, "give the SoC or the clock");
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
	f = check_add(c, "inconsistent-totals", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(
		c, f, "%u of %u instructions have other executions or cycles than stated", n, of);
	finding_advise(c, f, "the timeline is a part of the run, or of another one");
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
	f = x.n ? check_add(c, "inconsistent-busy", SEVERITY_WARNING, VERDICT_SUSPECT) : NULL;
	if (f) {
		finding_say(c, f,
			"%u of %u pipes are busy for other cycles than the core summary log states: %s",
			x.n, x.of, check_text(c, &x.worst));
		finding_advise(c, f, "the timeline is a part of the run, or of another one");
		fact_int(f, "pipes", x.n);
		fact_int(f, "of_pipes", x.of);
	}
	sb_free(&x.worst);
}
