/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c: answers all questions in two walks and makes the tables of the page. */
#include "analysis/summary/summary.h"

#include <string.h>

#include "analysis/code/samples.h"
#include "base/mem.h"
#include "base/search.h"
#include "trace/kind.h"

#define MAX_COLLECTORS 12

void summary_free(struct summary *s)
{
	if (!s)
		return;
	check_free(s->check);
	matrix_free(s->matrix);
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
static bool make_questions(struct summary *s, struct incore_error *e)
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
	return (s->hot && s->loops && s->matrix) || err_nomem(e);
}

/* Samples replace the walk: they state themselves what others hid. */
static bool take_samples(struct summary *s, struct incore_error *e)
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
	for (size_t i = 0; i < n; i++)
		list[i] = &made[i];
	if (!walk_tracks(s->trace, o, list, n, &s->walk, e))
		return false;
	if (s->trace->n_tracks == 0)
		hot_take_stated(s->hot);
	if (!waves_finish(s->waves, e) || !utilization_finish(s->utilization, e) ||
		!loops_finish(s->loops, e) || !matrix_finish(s->matrix, e))
		return false;
	if (s->is_sampled)
		return take_samples(s, e);
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

static struct summary_row row_of(const struct summary *s, code_idx i)
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

static void add_to_line(struct summary_row *to, const struct summary_row *r, uint64_t *most)
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
		struct summary_row r = row_of(s, i);
		const struct frame *f = c->n_frames ? &t->frames[c->first_frame] : NULL;
		uint32_t k =
			source_lines_find(&s->lines, f ? f->source : NO_SOURCE, f ? f->line : 0);

		if (!r.cycles && !r.lost_cyc)
			continue;
		s->rows[s->n_rows++] = r;
		if (k < n_lines)
			add_to_line(&s->line_rows[k], &r, &most[k]);
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

static bool make_lines(struct summary *s, struct incore_error *e)
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
	if (s->check && make_questions(s, e) && busy_walk(s->busy, o->walk, e) &&
		second_walk(s, o->walk, is_all, e) && run_check(s, o, is_all, e)) {
		s->duration_cyc = s->causes->duration_cyc;
		if (make_tables(s, o, e) && make_lines(s, e) && summary_find_bound(s, o, e))
			return s;
	}
	summary_free(s);
	return NULL;
}

bool summary_repeat(const struct trace *t, const struct walk_options *o, double share[FAMILY_COUNT],
	struct incore_error *e)
{
	struct busy *b = busy_new(t, e);
	struct causes *c = b && busy_walk(b, o, e) ? causes_new(t, b, 0, e) : NULL;
	struct collector col;
	const struct collector *list[] = {&col};
	struct walk_result r;
	bool ok = false;

	if (!c)
		goto out;
	col = causes_collector(c);
	if (!walk_tracks(t, o, list, 1, &r, e))
		goto out;
	walk_result_deinit(&r);
	ok = causes_finish(c, e);
	for (unsigned f = 0; ok && f < FAMILY_COUNT; f++) {
		uint64_t x = c->family[f].cyc - c->family[f].hidden_cyc;

		share[f] = c->duration_cyc ? (double)x / (double)c->duration_cyc : 0;
	}
out:
	causes_free(c);
	busy_free(b);
	return ok;
}
