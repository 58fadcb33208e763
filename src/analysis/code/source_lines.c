/* SPDX-License-Identifier: Apache-2.0 */
/* source_lines.c: what did each source line cost, and do lines distinguish instructions at all? */
#include "analysis/code/source_lines.h"

#include <math.h>

#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"

#define UNMAPPED_KEY UINT64_MAX

const char *source_weight_name(enum source_weight w)
{
	static const char *const names[] = {"rows", "hit", "latency", "stall", "hit+stall"};

	return w < WEIGHT_COUNT ? names[w] : "?";
}

const char *collapse_name(enum collapse c)
{
	static const char *const names[] = {"no", "partly", "collapsed", "no-source"};

	return c <= COLLAPSE_NO_SOURCE ? names[c] : "?";
}

static void source_lines_add(struct source_sums *s, const struct code_totals *t)
{
	s->rows++;
	s->executed_rows += t->hit > 0;
	s->totals.hit += t->hit;
	s->totals.latency += t->latency;
	s->totals.stall += t->stall;
	s->totals.idle += t->idle;
}

/* Lines or files of one computation, found by key; each remembers the last row that counted. */
struct source_lines_table {
	struct u64_map index; /* key -> position + 1 */
	VEC(struct source_line) v;
	VEC(uint32_t) last_row; /* row + 1 */
};

static void table_free(struct source_lines_table *t)
{
	u64_map_deinit(&t->index);
	VEC_FREE(&t->v);
	VEC_FREE(&t->last_row);
}

static struct source_line *table_at(
	struct source_lines_table *t, source_idx source, uint32_t line, size_t *at)
{
	uint64_t key = source == NO_SOURCE ? UNMAPPED_KEY : (uint64_t)source << 32 | line;
	uint64_t *slot = u64_map_at(&t->index, key);

	if (!slot)
		return NULL;
	if (*slot == 0) {
		if (!VEC_PUSH(&t->v, (struct source_line){.source = source, .line = line}) ||
			!VEC_PUSH(&t->last_row, 0))
			return NULL;
		*slot = t->v.n;
	}
	*at = (size_t)*slot - 1;
	return &t->v.v[*at];
}

/* Counts the row once for this key, however often its chain names it. */
static bool count_in(struct source_lines_table *t, const struct source_line *key,
	const struct code_totals *x, uint32_t row, bool is_innermost)
{
	size_t at;
	struct source_line *l = table_at(t, key->source, key->line, &at);

	if (!l)
		return false;
	if (is_innermost)
		source_lines_add(&l->exclusive, x);
	if (t->last_row.v[at] != row + 1) {
		t->last_row.v[at] = row + 1;
		source_lines_add(&l->inclusive, x);
	}
	return true;
}

static bool count_row(struct source_lines *s, struct source_lines_table *lines,
	struct source_lines_table *files, const struct code_totals *x, code_idx i)
{
	const struct trace *t = s->trace;
	const struct code_row *r = &t->code[i];
	const struct source_line unmapped = {.source = NO_SOURCE};

	source_lines_add(&s->all, x);
	source_lines_add(r->n_frames ? &s->mapped : &s->unmapped, x);
	if (r->n_frames == 0)
		return count_in(lines, &unmapped, x, i, true) &&
		       count_in(files, &unmapped, x, i, true);
	for (uint32_t k = 0; k < r->n_frames; k++) {
		const struct frame *f = &t->frames[r->first_frame + k];
		struct source_line key = {.source = f->source, .line = f->line};

		if (!count_in(lines, &key, x, i, k == 0))
			return false;
		key.line = 0;
		if (!count_in(files, &key, x, i, k == 0))
			return false;
	}
	return true;
}

static int compare_place(const struct source_line *a, const struct source_line *b)
{
	RETURN_UNLESS_EQUAL(a->source, b->source);
	return COMPARE(a->line, b->line);
}

static int compare_cost(const void *pa, const void *pb)
{
	const struct source_line *a = pa, *b = pb;
	const struct code_totals *x = &a->exclusive.totals, *y = &b->exclusive.totals;

	RETURN_UNLESS_EQUAL(y->stall, x->stall);
	RETURN_UNLESS_EQUAL(y->latency, x->latency);
	return compare_place(a, b);
}

static int compare_by_place(const void *pa, const void *pb, void *lines)
{
	const uint32_t *a = pa, *b = pb;
	const struct source_line *v = lines;

	return compare_place(&v[*a], &v[*b]);
}

static bool source_lines_keep(struct source_lines *s, struct source_lines_table *from,
	struct source_line **out, uint32_t *n)
{
	*out = arena_zalloc(&s->arena, from->v.n + 1, sizeof(**out));
	if (!*out)
		return false;
	for (size_t i = 0; i < from->v.n; i++)
		(*out)[i] = from->v.v[i];
	*n = (uint32_t)from->v.n;
	SORT(*out, *n, compare_cost);
	return true;
}

static uint64_t source_lines_weight_of(const struct source_sums *s, enum source_weight w)
{
	switch (w) {
	case WEIGHT_ROWS:
		return s->rows;
	case WEIGHT_HIT:
		return s->totals.hit;
	case WEIGHT_LATENCY:
		return s->totals.latency;
	case WEIGHT_STALL:
		return s->totals.stall;
	default:
		return s->totals.hit + s->totals.stall;
	}
}

static void source_lines_measure(
	const struct source_lines *s, enum source_weight w, struct granularity *g)
{
	uint64_t top1 = 0, top2 = 0;
	double entropy = 0;

	*g = (struct granularity){.total = source_lines_weight_of(&s->all, w),
		.mapped = source_lines_weight_of(&s->mapped, w),
		.effective_lines = 1,
		.top = UINT32_MAX};
	for (uint32_t i = 0; i < s->n_lines; i++) {
		const struct source_line *l = &s->lines[i];
		uint64_t x = l->source == NO_SOURCE ? 0 : source_lines_weight_of(&l->exclusive, w);

		if (x == 0)
			continue;
		g->lines++;
		entropy -= (double)x / (double)g->mapped * log((double)x / (double)g->mapped);
		if (x > top1 || (x == top1 && compare_place(l, &s->lines[g->top]) < 0)) {
			top2 = top1;
			top1 = x;
			g->top = i;
		} else if (x > top2) {
			top2 = x;
		}
	}
	if (g->mapped == 0)
		return;
	g->top1_share = (double)top1 / (double)g->mapped;
	g->top2_share = (double)top2 / (double)g->mapped;
	g->effective_lines = exp(entropy);
}

/* A hot line alone is no collapse: the line must also hold most of the executed rows. */
static void source_lines_judge(struct source_lines *s)
{
	const struct granularity *g = &s->granularity[WEIGHT_LATENCY];

	s->collapse_line = g->top;
	s->collapse = s->mapped.rows ? COLLAPSE_NO : COLLAPSE_NO_SOURCE;
	if (g->top == UINT32_MAX || s->mapped.executed_rows == 0)
		return;
	s->collapse_latency_share = g->top1_share;
	s->collapse_row_share =
		(double)s->lines[g->top].exclusive.executed_rows / (double)s->mapped.executed_rows;
	if (s->collapse_row_share <= 0.5 || s->collapse_latency_share <= 0.5)
		return;
	s->collapse = s->collapse_latency_share > 0.6 ? COLLAPSE_YES : COLLAPSE_PARTLY;
}

static bool index_places(struct source_lines *s)
{
	s->by_place = arena_zalloc(&s->arena, s->n_lines + 1u, sizeof(uint32_t));
	if (!s->by_place)
		return false;
	for (uint32_t i = 0; i < s->n_lines; i++) {
		s->by_place[i] = i;
		s->distinct_lines +=
			s->lines[i].source != NO_SOURCE && s->lines[i].exclusive.rows > 0;
	}
	qsort_r(s->by_place, s->n_lines, sizeof(uint32_t), compare_by_place, s->lines);
	return true;
}

bool source_lines_compute(struct source_lines *s, const struct trace *t,
	const struct code_totals *totals, struct incore_error *e)
{
	struct source_lines_table lines = {0}, files = {0};
	bool ok = false;

	*s = (struct source_lines){.trace = t};
	arena_init(&s->arena);
	for (code_idx i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label && !count_row(s, &lines, &files, &totals[i], i))
			goto out;
	ok = source_lines_keep(s, &lines, &s->lines, &s->n_lines) &&
	     source_lines_keep(s, &files, &s->files, &s->n_files) && index_places(s);
	if (!ok)
		goto out;
	for (unsigned w = 0; w < WEIGHT_COUNT; w++)
		source_lines_measure(s, w, &s->granularity[w]);
	source_lines_judge(s);
out:
	table_free(&lines);
	table_free(&files);
	if (ok)
		return true;
	source_lines_deinit(s);
	return err_nomem(e);
}

void source_lines_deinit(struct source_lines *s)
{
	arena_deinit(&s->arena);
	*s = (struct source_lines){0};
}

uint32_t source_lines_find(const struct source_lines *s, source_idx source, uint32_t line)
{
	const struct source_line key = {.source = source, .line = line};
	uint32_t lo = 0, hi = s->n_lines;

	BISECT(lo, hi, i, compare_place(&s->lines[s->by_place[i]], &key) < 0);
	if (lo == s->n_lines || compare_place(&s->lines[s->by_place[lo]], &key) != 0)
		return UINT32_MAX;
	return s->by_place[lo];
}

bool source_line_put(const struct source_lines *s, const struct source_line *l, struct strbuf *out)
{
	if (l->source == NO_SOURCE)
		return sb_puts(out, "<unknown>");
	if (l->line == 0)
		return sb_puts(out, s->trace->sources[l->source].path);
	return trace_put_frame(s->trace, &(struct frame){l->source, l->line}, out);
}
