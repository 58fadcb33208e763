/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.c: answers all questions in two walks and makes the tables of the page. Divisions: what
 * lies behind; the verdict; the summary.
 */
#include "analysis/summary/summary.h"

#include <math.h>
#include <string.h>

#include "analysis/code/samples.h"
#include "analysis/place.h"
#include "analysis/producer_tables.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "trace/kind.h"

/* --- what lies behind ------------------------------------------------------------------------- */

/*
 * What lies behind the row named by a verdict on samples: what it waits for, how
 * well the producer's accesses are laid out, how many lanes work, how many warps fit on an SM.
 */

#define EXCESS 1.5     /* times what the best layout needs; below that nothing is said */
#define FEW_LANES 24   /* active lanes on average */
#define BUSY_ISSUE 0.6 /* share of a scheduler's cycles */
#define FEW_WARPS 0.5  /* share of the warps an SM can hold */

static const struct code_metric *metric_named(const struct trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_metrics; i++)
		if (!t->metrics[i].is_real && strcmp(t->metrics[i].name, name) == 0)
			return &t->metrics[i];
	return NULL;
}

static uint64_t summary_figure_of(const struct trace *t, const char *name, code_idx row)
{
	const struct code_metric *m = metric_named(t, name);
	uint32_t lo = 0, hi = m ? m->n : 0;

	BISECT(lo, hi, i, m->row[i] < row);
	return m && lo < m->n && m->row[lo] == row ? m->value[lo] : 0;
}

/* The row with the largest figure among those of a class, or NO_CODE. */
static code_idx largest_of(const struct trace *t, const char *name, enum inst_class k)
{
	const struct code_metric *m = metric_named(t, name);
	code_idx best = NO_CODE;
	uint64_t most = 0;

	for (uint32_t i = 0; m && i < m->n; i++)
		if (t->code[m->row[i]].inst_class == k && m->value[i] > most) {
			most = m->value[i];
			best = m->row[i];
		}
	return best;
}

/* Of the rows linked by the code for samples of this kind, the most executed one: a row after a
 * loop can also be reached from before the loop. */
static code_idx most_executed_of(const struct trace *t, enum cause_kind kind, code_idx row)
{
	uint32_t n;
	const struct code_link *l = trace_links_of(t, row, &n);
	code_idx best = NO_CODE;

	for (uint32_t i = 0; i < n; i++)
		if (l[i].reason != NO_REASON &&
			sample_cause_of(t->reasons[l[i].reason])->kind == kind &&
			(best == NO_CODE || t->code[l[i].to].stated.hit > t->code[best].stated.hit))
			best = l[i].to;
	return best;
}

/* The row that `row` waits for, or NO_CODE; and what lies behind a verdict on
 * samples. */
static code_idx summary_producer_of(const struct summary *s, const struct cause *x, code_idx row)
{
	const struct trace *t = s->trace;
	bool is_sampled = s->is_sampled;

	/* edges are sorted by cycles; those of samples mix all reasons of the row */
	for (size_t i = 0; x->kind == CAUSE_WAIT && i < s->producers->edges.n; i++) {
		const struct producer_edge *e = &s->producers->edges.v[i];

		if (e->wait == row &&
			(!is_sampled || t->code[e->producer].inst_class == x->inst_class))
			return e->producer;
	}
	if (!is_sampled)
		return NO_CODE;
	if (x->kind == CAUSE_DRAIN) /* outstanding stores that delay the end of a warp */
		return largest_of(t, SUMMARY_SECTORS, CLASS_VMEM_STORE);
	return most_executed_of(t, x->kind, row);
}

double summary_excess(const struct trace *t, const char *name, code_idx row)
{
	const bool is_sectors = strcmp(name, SUMMARY_SECTORS) == 0;
	double least = (double)summary_figure_of(
		t, is_sectors ? SUMMARY_SECTORS "_ideal" : SUMMARY_WAVEFRONTS "_ideal", row);
	double got = (double)summary_figure_of(t, name, row);

	return least > 0 && got >= EXCESS * least ? got / least : 0;
}

/* Says what the layout of the row's accesses costs. */
static void summary_put_access(const struct trace *t, code_idx row, struct strbuf *out)
{
	double sectors = summary_excess(t, SUMMARY_SECTORS, row);
	double wavefronts = summary_excess(t, SUMMARY_WAVEFRONTS, row);
	const char *opcode = t->opcodes[t->code[row].opcode];

	if (wavefronts > 0)
		sb_printf(out,
			"; bank conflicts: it takes %.1f x the passes through shared memory that it must",
			wavefronts);
	if (sectors > 0)
		sb_printf(out, "; uncoalesced: it moves %.1f x the sectors that it must", sectors);
	if (!strcmp(opcode, "LDL") || !strcmp(opcode, "STL"))
		sb_puts(out, "; local memory: spilled registers, or an array that is indexed");
}

double summary_few_lanes(const struct trace *t, code_idx *split)
{
	const struct code_metric *m = metric_named(t, "thread_inst_executed");
	double lanes = 0, hits = 0;

	for (uint32_t i = 0; m && i < m->n; i++) {
		lanes += (double)m->value[i];
		hits += (double)t->code[m->row[i]].stated.hit;
	}
	*split = largest_of(t, "smsp__branch_targets_threads_divergent", CLASS_BRANCH);
	return hits <= 0 || lanes <= 0 || lanes >= FEW_LANES * hits ? 0 : lanes / hits;
}

uint32_t summary_few_lanes_rows(const struct trace *t, code_idx *rows, uint32_t most)
{
	const struct code_metric *m = metric_named(t, "thread_inst_executed");
	uint32_t n = 0;

	for (uint32_t i = 0; m && i < m->n && n < most; i++) {
		double hits = (double)t->code[m->row[i]].stated.hit;

		if (hits > 0 && (double)m->value[i] < FEW_LANES * hits)
			rows[n++] = m->row[i];
	}
	return n;
}

static void summary_put_lanes(const struct summary *s, struct strbuf *out)
{
	code_idx split;
	double lanes = summary_few_lanes(s->trace, &split);

	if (lanes <= 0)
		return;
	sb_printf(out, "; on average %.1f of %d lanes are on", lanes, SUMMARY_LANES);
	if (split != NO_CODE) {
		sb_puts(out, ", they part most at ");
		place_put(s->trace, split, out);
		sb_printf(out, ": `%s`", s->trace->code[split].text);
	}
}

/* If nearly every cycle issues, waits are not what makes the kernel long. */
static void put_issue(const struct summary *s, struct strbuf *out)
{
	double busy = table_metric(s->trace, "smsp__issue_active.avg.per_cycle_active");

	if (busy >= BUSY_ISSUE && busy <= 1)
		sb_printf(out,
			"; schedulers issue in %.0f %% of their cycles: fewer instructions would count for more",
			100 * busy);
}

static void put_warps(const struct summary *s, struct strbuf *out)
{
	const struct block_limits *b = &s->limits.blocks;

	if (!s->limits.is_by_block || b->warps <= 0 ||
		(double)(b->per_sm * b->warps) > FEW_WARPS * (double)b->max_warps)
		return;
	sb_puts(out, "; ");
	blocks_put_limit(b, out);
}

static void summary_put_why(const struct summary *s, struct strbuf *out)
{
	const struct trace *t = s->trace;
	const struct bound *b = &s->bound;
	const struct cause *x = &s->causes->v[b->cause];
	uint32_t reason = samples_main_reason(t, trace_reasons_of(t, b->where));
	const char *word = reason != NO_REASON ? t->reasons[reason] : "";

	if (!strcmp(word, "no_instructions"))
		sb_puts(out, ": its code was not there: a miss of the instruction cache");
	if (!strcmp(word, "imc_miss"))
		sb_puts(out, ": a miss of the constant cache");
	if (b->producer != NO_CODE || x->kind == CAUSE_PIPE_STALL)
		summary_put_access(t, b->producer != NO_CODE ? b->producer : b->where, out);
	put_issue(s, out);
	summary_put_lanes(s, out);
	put_warps(s, out);
}

/* --- the verdict ------------------------------------------------------------------------------ */

static uint64_t exposed(const struct family_sum *f)
{
	return f->cyc - f->hidden_cyc;
}

static double summary_share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

uint64_t summary_line_key(const struct trace *t, code_idx code)
{
	const struct code_row *r = &t->code[code];
	const struct frame *f = r->n_frames ? &t->frames[r->first_frame] : NULL;

	return f && f->source < t->n_sources ? (uint64_t)f->source << 32 | f->line : 0;
}

struct row_cost { /* rows of a cause, for sums by line */
	uint64_t line, cyc;
	code_idx code;
};
ORDER(by_line, struct row_cost, UP(line) DOWN(cyc) UP(code))

/*
 * An unrolled loop spreads the cost of one line over many rows, none of which need be the
 * costliest: for samples the costliest line is taken, then its costliest row. A row without a line
 * counts as a line of its own.
 */
static code_idx costliest_by_line(struct row_cost *v, size_t n, uint64_t *exposed_cyc)
{
	code_idx best = NO_CODE;
	uint64_t most = 0;

	SORT(v, n, by_line);
	for (size_t i = 0, k; i < n; i = k) {
		uint64_t sum = 0;

		for (k = i; k < n && (k == i || (v[i].line && v[k].line == v[i].line)); k++)
			sum += v[k].cyc;
		if (sum <= most)
			continue;
		most = sum;
		best = v[i].code;
		*exposed_cyc = v[i].cyc;
	}
	return best;
}

/* The row with most exposed cycles of a cause, or NO_CODE. */
static bool summary_find_row(
	const struct summary *s, uint32_t cause, struct bound *b, struct incore_error *e)
{
	const struct causes *c = s->causes;
	bool is_by_line = s->is_sampled, ok = true;
	VEC(struct row_cost) rows = {0};
	struct row_cost best = {.code = NO_CODE};

	for (uint32_t i = 0; i < c->n_cells && ok; i++) {
		const struct cause_cell *k = &c->cells[i];
		struct row_cost r = {0, k->cyc - k->hidden_cyc, k->code};

		if (k->cause != cause || k->code == NO_CODE || !r.cyc)
			continue;
		if (r.cyc > best.cyc)
			best = r;
		r.line = is_by_line ? summary_line_key(s->trace, r.code) : 0;
		ok = !is_by_line || VEC_PUSH(&rows, r);
	}
	if (ok && is_by_line)
		best.code = costliest_by_line(rows.v, rows.n, &best.cyc);
	VEC_FREE(&rows);
	b->where = best.code;
	b->where_exposed_cyc = best.cyc;
	return ok || err_nomem(e);
}

const struct producer_edge *summary_edge_of(const struct summary *s, code_idx wait)
{
	const struct producers *p = s->producers;

	/* edges are sorted by cycles: the first that ends here is the costliest */
	for (size_t i = 0; i < p->edges.n; i++)
		if (p->edges.v[i].wait == wait)
			return &p->edges.v[i];
	return NULL;
}

/* Error of this capture's shares: the largest difference to a repeat. */
static double measured_noise(const struct summary *s, const struct summary_options *o)
{
	double worst = 0;

	for (uint32_t i = 0; i < o->n_repeats; i++) {
		for (unsigned f = 0; f < FAMILY_COUNT; f++) {
			double mine =
				summary_share_of(exposed(&s->causes->family[f]), s->duration_cyc);

			if (f != FAMILY_USEFUL && fabs(mine - o->repeats[i][f]) > worst)
				worst = fabs(mine - o->repeats[i][f]);
		}
	}
	return worst;
}

static void rank_families(struct bound *b, const struct causes *c)
{
	b->family = b->second = FAMILY_USEFUL;
	for (unsigned f = FAMILY_USEFUL + 1; f < FAMILY_COUNT; f++) {
		uint64_t x = exposed(&c->family[f]);

		if (b->family == FAMILY_USEFUL || x > b->exposed_cyc) {
			b->second = b->family;
			b->second_exposed_cyc = b->exposed_cyc;
			b->family = f;
			b->exposed_cyc = x;
		} else if (b->second == FAMILY_USEFUL || x > b->second_exposed_cyc) {
			b->second = f;
			b->second_exposed_cyc = x;
		}
	}
	b->hidden_cyc = c->family[b->family].hidden_cyc;
}

static bool find_where(struct summary *s, struct bound *b, struct incore_error *e)
{
	const struct causes *c = s->causes;
	uint64_t most = 0;

	b->where = b->producer = NO_CODE;
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t x = c->v[i].cyc - c->v[i].hidden_cyc;

		if (c->v[i].family == b->family && x > most) {
			most = x;
			b->cause = i;
		}
	}
	if (most && !summary_find_row(s, b->cause, b, e))
		return false;
	if (b->where != NO_CODE)
		b->producer = summary_producer_of(s, &c->v[b->cause], b->where);
	return true;
}

/* Why no bound can be named, or NULL. */
static const char *refusal(struct summary *s)
{
	const enum trace_kind kind = trace_kind(s->trace);
	struct arena *a = &s->arena;

	if (s->check->verdict == VERDICT_UNUSABLE && s->check->n_findings)
		return arena_printf(
			a, "the capture is unusable: %s", s->check->findings[0].note.message);
	if (kind == KIND_TOTALS && !s->trace->samples && vendor_row(s->trace)->no_samples)
		return vendor_row(s->trace)->no_samples;
	if (kind_table[kind].no_verdict)
		return kind_table[kind].no_verdict;
	if (s->duration_cyc == 0)
		return "no wave lies in the selection";
	if (check_find(s->check, "no-code"))
		return "the code that ran is not known, so waits cannot be told from work";
	return NULL;
}

static void summary_put_text(struct strbuf *out, const char *text)
{
	struct str t = str_of(text);

	sb_printf(out, "`%.*s%s`", (int)(t.n > 48 ? 47 : t.n), t.p, t.n > 48 ? "..." : "");
}

static void put_producer(const struct summary *s, struct strbuf *out)
{
	static const char *const words[CAUSE_KINDS] = {[CAUSE_WAIT] = " waits for ",
		[CAUSE_BARRIER] = " stands behind ",
		[CAUSE_NOP_PADDING] = " right after ",
		[CAUSE_DRAIN] = " waits for the stores, most of them by "};
	const struct bound *b = &s->bound;
	const char *word = words[s->causes->v[b->cause].kind];

	if (b->producer == NO_CODE || !word)
		return;
	if (b->producer == b->where) {
		sb_puts(out, " waits for itself: each needs the one before");
		return;
	}
	sb_puts(out, word);
	summary_put_text(out, s->trace->code[b->producer].text);
	sb_printf(out, " of row %lld", (long long)s->trace->code[b->producer].number);
	if (s->is_sampled)
		place_put_line(s->trace, &s->trace->code[b->producer], " at ", out);
}

static void summary_put_where(const struct summary *s, struct strbuf *out)
{
	const struct bound *b = &s->bound;

	sb_printf(out, ", most in %s", s->causes->v[b->cause].name);
	if (b->where == NO_CODE)
		return;
	sb_puts(out, " at ");
	place_put(s->trace, b->where, out);
	sb_puts(out, ": ");
	summary_put_text(out, s->trace->code[b->where].text);
	put_producer(s, out);
	if (s->is_sampled)
		summary_put_why(s, out);
}

static void summary_put_occupancy(const struct summary *s, struct strbuf *out)
{
	if (!s->occupancy.peak_per_simd)
		return;
	sb_printf(out, "; at most %llu wave%s per SIMD",
		(unsigned long long)s->occupancy.peak_per_simd, plural(s->occupancy.peak_per_simd));
	if (s->limits.is_known)
		sb_printf(out, " (limit %llu by %s)", (unsigned long long)s->limits.predicted,
			limit_name(s->limits.limiter));
}

static void put_verdict(const struct summary *s, struct strbuf *out)
{
	const struct bound *b = &s->bound;
	uint64_t all = b->exposed_cyc + b->hidden_cyc;
	const char *whose = kind_row(s->trace)->cycles_of;

	if (b->is_mixed)
		sb_printf(out, "Mixed: %s (%.1f %%) and %s (%.1f %%) lose about as many %s cycles",
			family_name(b->family), 100 * b->share, family_name(b->second),
			100 * summary_share_of(b->second_exposed_cyc, s->duration_cyc), whose);
	else
		sb_printf(out, "Lost to %s and exposed: %.1f %% of %s cycles",
			family_name(b->family), 100 * b->share, whose);
	summary_put_where(s, out);
	sb_printf(out, "; other %s hide %.1f %% of the %s loss", s->is_sampled ? "warps" : "waves",
		100 * summary_share_of(b->hidden_cyc, all), family_name(b->family));
	summary_put_occupancy(s, out);
	sb_printf(out, "; health: %s.", s->health);
}

static bool summary_find_bound(
	struct summary *s, const struct summary_options *o, struct incore_error *e)
{
	struct bound *b = &s->bound;
	struct strbuf text = {0};

	*b = (struct bound){.where = NO_CODE, .producer = NO_CODE, .n_repeats = o->n_repeats};
	b->noise = o->n_repeats ? measured_noise(s, o) : SUMMARY_ASSUMED_NOISE;
	b->reason = refusal(s);
	b->has_verdict = !b->reason;
	if (s->duration_cyc) {
		rank_families(b, s->causes);
		if (!find_where(s, b, e))
			return false;
		b->share = summary_share_of(b->exposed_cyc, s->duration_cyc);
		b->is_mixed = b->share - summary_share_of(b->second_exposed_cyc, s->duration_cyc) <
			      b->noise;
	}
	if (b->reason)
		sb_printf(&text, "No bound verdict: %s.", b->reason);
	else
		put_verdict(s, &text);
	s->sentence = text.failed ? NULL : arena_strdup(&s->arena, text.p);
	sb_free(&text);
	return s->sentence || err_nomem(e);
}

/* --- the summary ------------------------------------------------------------------------------ */

#define MAX_COLLECTORS 13

void summary_free(struct summary *s)
{
	if (!s)
		return;
	check_free(s->check);
	matrix_free(s->matrix);
	costs_free(s->costs);
	loops_free(s->loops);
	if (s->has_cfg)
		cfg_deinit(&s->cfg);
	hot_free(s->hot);
	producers_free(s->producers);
	utilization_free(s->utilization);
	causes_free(s->causes);
	hidden_free(s->hidden);
	waves_free(s->waves);
	busy_free(s->busy);
	if (s->has_occupancy)
		occupancy_deinit(&s->occupancy);
	if (s->has_lines)
		source_lines_deinit(&s->lines);
	walk_result_deinit(&s->walk);
	arena_deinit(&s->arena);
	mem_free(s);
}

/* Prepares questions that need no walk, or are needed before it. */
static bool summary_make_questions(struct summary *s, struct incore_error *e)
{
	const struct trace *t = s->trace;

	s->busy = busy_new(t, e);
	s->waves = s->busy ? waves_new(t, 0, e) : NULL;
	s->hidden = s->waves ? hidden_new(s->busy, e) : NULL;
	s->causes = s->hidden ? causes_new(t, s->busy, CAUSES_ROWS, e) : NULL;
	s->utilization = s->causes ? utilization_new(s->busy, e) : NULL;
	s->producers = s->utilization ? producers_new(t, PRODUCERS_EDGES, e) : NULL;
	if (!s->producers || !cfg_build(&s->cfg, t, e))
		return false;
	s->has_cfg = true;
	s->hot = hot_new(t);
	s->loops = loops_new(&s->cfg);
	s->matrix = matrix_new(t);
	if (costs_apply(t) && !(s->costs = costs_new(t, e)))
		return false;
	return (s->hot && s->loops && s->matrix) || err_nomem(e);
}

/* Samples replace the walk: they state themselves what others hid. */
static bool summary_take_samples(struct summary *s, struct incore_error *e)
{
	if (!samples_fill_causes(s->causes, e) || !samples_fill_producers(s->producers, e))
		return false;
	EACH (const struct cause, c, s->causes->v, s->causes->n) {
		s->hidden->bucket[c->bucket].cyc += c->cyc;
		s->hidden->bucket[c->bucket].hidden_cyc += c->hidden_cyc;
	}
	return true;
}

static bool second_walk(
	struct summary *s, const struct walk_options *o, bool with_check, struct incore_error *e)
{
	struct collector made[MAX_COLLECTORS];
	const struct collector *list[MAX_COLLECTORS];
	size_t n = 0;

	/* goes first: it resolves waits in the viewer's model, too, which later collectors can
	 * use */
	if (with_check)
		made[n++] = check_collector(s->check);
	made[n++] = waves_collector(s->waves);
	made[n++] = states_collector(s->waves->states);
	made[n++] = clusters_collector(s->waves->clusters);
	made[n++] = barriers_collector(s->waves->barriers);
	made[n++] = hidden_collector(s->hidden);
	made[n++] = causes_collector(s->causes);
	made[n++] = utilization_collector(s->utilization);
	made[n++] = producers_collector(s->producers);
	made[n++] = hot_collector(s->hot);
	made[n++] = loops_collector(s->loops);
	made[n++] = matrix_collector(s->matrix);
	if (s->costs)
		made[n++] = costs_collector(s->costs);
	for (size_t i = 0; i < n; i++)
		list[i] = &made[i];
	if (!walk_tracks(s->trace, o, list, n, &s->walk, e))
		return false;
	if (s->trace->n_tracks == 0)
		hot_take_stated(s->hot);
	if (!waves_finish(s->waves, e) || !utilization_finish(s->utilization, e) ||
		!loops_finish(s->loops, e) || !matrix_finish(s->matrix, e) ||
		(s->costs && !costs_finish(s->costs, e)))
		return false;
	if (s->is_sampled)
		return summary_take_samples(s, e);
	return causes_finish(s->causes, e) && producers_finish(s->producers, e);
}

/* Health is checked on the whole capture, whatever part is selected. */
static bool run_check(
	struct summary *s, const struct summary_options *o, bool is_walked, struct incore_error *e)
{
	struct walk_options all = {.pool = o->walk->pool, .progress = o->walk->progress};
	struct walk_result r;

	if (is_walked)
		return check_finish(s->check, &s->walk, e);
	check_free(s->check);
	s->check = check_run(s->trace, o->check, &all, &r, e);
	if (!s->check)
		return false;
	walk_result_deinit(&r);
	return true;
}

ORDER(compare_rows, struct summary_row, DOWN(exposed_cyc) DOWN(cycles) UP(code))

static struct summary_row summary_row_of(const struct summary *s, code_idx i)
{
	const struct hot_sums *h = &s->hot->rows[i];
	const struct hidden_sum *l = &s->hidden->rows[i];
	const struct code_samples *p = s->trace->samples ? &s->trace->samples[i] : NULL;

	if (s->is_sampled)
		return (struct summary_row){.code = i,
			.line = UINT32_MAX,
			.hits = h->totals.hit,
			.cycles = hot_cycles(h),
			.lost_cyc = hot_cycles(h) - h->bucket[BUCKET_ISSUE],
			.exposed_cyc = h->exposed_samples * s->trace->sampling.period_cyc};
	if (p && s->trace->n_tracks == 0)
		return (struct summary_row){.code = i,
			.line = UINT32_MAX,
			.hits = p->issued + p->stalled,
			.cycles = p->issued + p->stalled,
			.lost_cyc = p->stalled,
			.exposed_cyc = p->stalled};
	return (struct summary_row){.code = i,
		.line = UINT32_MAX,
		.hits = h->totals.hit,
		.cycles = s->hot->is_stated ? h->totals.latency : hot_cycles(h),
		.lost_cyc = s->hot->is_stated ? h->totals.stall : l->cyc,
		.exposed_cyc = s->hot->is_stated ? h->totals.stall : l->cyc - l->hidden_cyc};
}

static void summary_add_to_line(struct summary_row *to, const struct summary_row *r, uint64_t *most)
{
	to->hits += r->hits;
	to->cycles += r->cycles;
	to->lost_cyc += r->lost_cyc;
	to->exposed_cyc += r->exposed_cyc;
	if (to->code == NO_CODE || r->exposed_cyc > *most) {
		to->code = r->code;
		*most = r->exposed_cyc;
	}
}

/* Makes the rows of instructions and, by their innermost frame, of source lines. */
static bool make_rows(struct summary *s)
{
	const struct trace *t = s->trace;
	uint32_t n_lines = s->lines.n_lines;
	uint64_t *most = mem_zalloc((size_t)n_lines + 1, sizeof(*most));

	s->rows = arena_zalloc(&s->arena, (size_t)t->n_code + 1, sizeof(*s->rows));
	s->line_rows = arena_zalloc(&s->arena, (size_t)n_lines + 1, sizeof(*s->line_rows));
	if (!most || !s->rows || !s->line_rows) {
		mem_free(most);
		return false;
	}
	for (uint32_t k = 0; k < n_lines; k++)
		s->line_rows[k] = (struct summary_row){.code = NO_CODE, .line = k};
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct code_row *c = &t->code[i];
		struct summary_row r = summary_row_of(s, i);
		const struct frame *f = c->n_frames ? &t->frames[c->first_frame] : NULL;
		uint32_t k =
			source_lines_find(&s->lines, f ? f->source : NO_SOURCE, f ? f->line : 0);

		if (!r.cycles && !r.lost_cyc)
			continue;
		s->rows[s->n_rows++] = r;
		if (k < n_lines)
			summary_add_to_line(&s->line_rows[k], &r, &most[k]);
	}
	mem_free(most);
	SORT(s->rows, s->n_rows, compare_rows);
	for (uint32_t k = 0; k < n_lines; k++)
		if (s->line_rows[k].code != NO_CODE)
			s->line_rows[s->n_line_rows++] = s->line_rows[k];
	SORT(s->line_rows, s->n_line_rows, compare_rows);
	return true;
}

static bool make_tables(struct summary *s, const struct summary_options *o, struct incore_error *e)
{
	const struct trace *t = s->trace;
	struct occupancy_options oo = {.selection = o->walk->selection};
	struct code_totals *totals =
		arena_zalloc(&s->arena, (size_t)t->n_code + 1, sizeof(*totals));
	enum region_kind kind = s->cfg.n_loops ? REGION_LOOP : REGION_BLOCK;

	if (!totals)
		return err_nomem(e);
	for (code_idx i = 0; i < t->n_code; i++)
		totals[i] = s->hot->rows[i].totals;
	if (!source_lines_compute(&s->lines, t, totals, e))
		return false;
	s->has_lines = true;
	if (s->lines.collapse != COLLAPSE_NO &&
		!regions_build(&s->cfg, kind, totals, &s->arena, &s->regions, &s->n_regions, e))
		return false;
	if (!occupancy_compute(&s->occupancy, t, &oo, e))
		return false;
	s->has_occupancy = true;
	limits_compute(t, &s->limits);
	return make_rows(s) || err_nomem(e);
}

static bool summary_make_lines(struct summary *s, struct incore_error *e)
{
	struct strbuf b = {0};

	if (occupancy_put_coverage(&s->occupancy, &b))
		s->coverage = arena_strdup(&s->arena, b.p ? b.p : "");
	sb_reset(&b);
	if (check_health(s->check, &b))
		s->health = arena_strdup(&s->arena, b.p ? b.p : "");
	sb_free(&b);
	return (s->coverage && s->health) || err_nomem(e);
}

struct summary *summary_new(
	const struct trace *t, const struct summary_options *o, struct incore_error *e)
{
	struct summary *s = mem_zalloc(1, sizeof(*s));
	bool is_all = !o->walk->selection || selection_is_all(o->walk->selection);

	if (!s)
		return err_nomem_null(e);
	arena_init(&s->arena);
	s->trace = t;
	s->is_sampled = trace_kind(t) == KIND_SAMPLES;
	s->check = check_new(t, o->check, e);
	if (s->check && summary_make_questions(s, e) && busy_walk(s->busy, o->walk, e) &&
		second_walk(s, o->walk, is_all, e) && run_check(s, o, is_all, e)) {
		s->duration_cyc = s->causes->duration_cyc;
		if (make_tables(s, o, e) && summary_make_lines(s, e) && summary_find_bound(s, o, e))
			return s;
	}
	summary_free(s);
	return NULL;
}

double summary_per_execution(const struct hot *h)
{
	const struct code_totals *x = &h->all.totals;

	return x->hit ? (double)x->latency / (double)x->hit : NAN;
}

bool summary_repeat(const struct trace *t, const struct walk_options *o, double share[FAMILY_COUNT],
	double *per_execution, struct incore_error *e)
{
	struct hot *h = hot_new(t);
	struct busy *b = busy_new(t, e);
	struct causes *c = h && b && busy_walk(b, o, e) ? causes_new(t, b, 0, e) : NULL;
	struct collector made[2];
	const struct collector *list[] = {&made[0], &made[1]};
	struct walk_result r;
	bool ok = false;

	if (!c)
		goto out;
	made[0] = causes_collector(c);
	made[1] = hot_collector(h);
	if (!walk_tracks(t, o, list, 2, &r, e))
		goto out;
	walk_result_deinit(&r);
	ok = causes_finish(c, e);
	*per_execution = summary_per_execution(h);
	for (unsigned f = 0; ok && f < FAMILY_COUNT; f++) {
		uint64_t x = c->family[f].cyc - c->family[f].hidden_cyc;

		share[f] = c->duration_cyc ? (double)x / (double)c->duration_cyc : 0;
	}
out:
	causes_free(c);
	busy_free(b);
	hot_free(h);
	return ok;
}
