/* SPDX-License-Identifier: Apache-2.0 */
/* regions.c: which stretch of the listing cost what, if source lines do not say? */
#include "analysis/code/regions.h"

#include <inttypes.h>
#include <string.h>

#include "base/search.h"

struct cutter {
	const struct cfg *g;
	enum region_kind kind;
	uint32_t *region_of;   /* by position in g->rows */
	uint32_t *position_of; /* by code row; duplicates share that of their first */
	uint32_t n;
};

static bool is_same_source(const struct cfg *g, uint32_t a, uint32_t b)
{
	const struct code_row *x = &g->trace->code[g->rows[a]], *y = &g->trace->code[g->rows[b]];

	return x->code_object == y->code_object &&
	       (x->source == y->source ||
		       (x->source && y->source && !strcmp(x->source, y->source)));
}

/* Does position i begin a region other than that of i - 1? */
static bool is_cut(const struct cutter *c, uint32_t i)
{
	const struct cfg *g = c->g;
	uint32_t a, b;

	if (i == 0)
		return true;
	if (c->kind == REGION_SOURCE_RUN)
		return !is_same_source(g, i - 1, i);
	a = g->block_of[g->rows[i - 1]];
	b = g->block_of[g->rows[i]];
	return c->kind == REGION_BLOCK ? a != b : g->blocks[a].loop != g->blocks[b].loop;
}

static bool cut(struct cutter *c, struct arena *a)
{
	const struct cfg *g = c->g;
	uint32_t *of_loop = arena_zalloc(a, g->n_loops + 1u, sizeof(uint32_t));

	c->region_of = arena_zalloc(a, g->n_rows + 1u, sizeof(uint32_t));
	if (!of_loop || !c->region_of)
		return false;
	for (uint32_t i = 0; i < g->n_rows; i++) {
		uint32_t loop = g->blocks[g->block_of[g->rows[i]]].loop;

		if (!is_cut(c, i)) {
			c->region_of[i] = c->region_of[i - 1];
		} else if (c->kind == REGION_LOOP && loop != NO_LOOP && of_loop[loop]) {
			c->region_of[i] =
				of_loop[loop] - 1; /* the body goes on after an inner loop */
		} else {
			c->region_of[i] = c->n++;
			if (c->kind == REGION_LOOP && loop != NO_LOOP)
				of_loop[loop] = c->n;
		}
	}
	return true;
}

static bool is_row_before(const struct code_row *a, const struct code_row *b)
{
	return a->code_object < b->code_object ||
	       (a->code_object == b->code_object && a->address < b->address);
}

/* Maps rows of the table to positions; duplicates share that of the first row at their address. */
static bool find_positions(struct cutter *c, struct arena *a)
{
	const struct cfg *g = c->g;
	const struct trace *t = g->trace;

	c->position_of = arena_zalloc(a, t->n_code + 1u, sizeof(uint32_t));
	if (!c->position_of)
		return false;
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		uint32_t lo = 0, hi = r->is_label ? 0 : g->n_rows;

		BISECT(lo, hi, k, is_row_before(&t->code[g->rows[k]], r));
		c->position_of[i] = lo;
	}
	return true;
}

static void regions_add_row(struct region *r, const struct code_totals *x)
{
	r->n_rows++;
	r->n_executed += x->hit > 0;
	r->totals.hit += x->hit;
	r->totals.latency += x->latency;
	r->totals.stall += x->stall;
	r->totals.idle += x->idle;
}

struct regions_class_sum {
	uint64_t latency, rows;
};

static void find_dominant(struct region *r, const struct regions_class_sum *sums)
{
	unsigned best = 0;

	for (unsigned c = 1; c < CLASS_COUNT; c++)
		if (sums[c].latency > sums[best].latency ||
			(sums[c].latency == sums[best].latency && sums[c].rows > sums[best].rows))
			best = c;
	r->dominant = best;
}

/* Rows of the table grouped by region (counting sort): rows[start[k] .. start[k + 1]). */
static bool regions_group_rows(
	const struct cutter *c, struct arena *a, uint32_t **start, code_idx **rows)
{
	const struct trace *t = c->g->trace;

	*start = arena_zalloc(a, c->n + 2u, sizeof(uint32_t));
	*rows = arena_zalloc(a, t->n_code + 1u, sizeof(code_idx));
	if (!*start || !*rows)
		return false;
	for (code_idx i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label)
			(*start)[c->region_of[c->position_of[i]] + 2]++;
	for (uint32_t k = 2; k < c->n + 2; k++)
		(*start)[k] += (*start)[k - 1];
	for (code_idx i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label)
			(*rows)[(*start)[c->region_of[c->position_of[i]] + 1]++] = i;
	return true;
}

static void sum_region(const struct cutter *c, const struct code_totals *totals,
	const code_idx *rows, uint32_t n, struct region *r)
{
	const struct cfg *g = c->g;
	struct regions_class_sum sums[CLASS_COUNT] = {{0, 0}};

	*r = (struct region){.first_address = UINT64_MAX, .loop = NO_LOOP};
	for (uint32_t i = 0; i < n; i++) {
		const struct code_row *row = &g->trace->code[rows[i]];

		regions_add_row(r, &totals[rows[i]]);
		sums[row->inst_class < CLASS_COUNT ? row->inst_class : 0].latency +=
			totals[rows[i]].latency;
		sums[row->inst_class < CLASS_COUNT ? row->inst_class : 0].rows++;
		if (row->address < r->first_address) {
			r->first_address = row->address;
			r->first = rows[i];
		}
		if (i == 0 || row->address > r->last_address) {
			r->last_address = row->address;
			r->last = rows[i];
		}
	}
	if (n > 0 && c->kind == REGION_LOOP)
		r->loop = g->blocks[g->block_of[rows[0]]].loop;
	find_dominant(r, sums);
}

bool regions_build(const struct cfg *g, enum region_kind kind, const struct code_totals *totals,
	struct arena *a, struct region **out, uint32_t *n, struct incore_error *e)
{
	struct cutter c = {.g = g, .kind = kind};
	uint32_t *start;
	code_idx *rows;
	struct region *v;

	if (!cut(&c, a) || !find_positions(&c, a) || !regions_group_rows(&c, a, &start, &rows))
		return err_nomem(e);
	v = arena_zalloc(a, c.n + 1u, sizeof(*v));
	if (!v)
		return err_nomem(e);
	for (uint32_t k = 0; k < c.n; k++)
		sum_region(&c, totals, rows + start[k], start[k + 1] - start[k], &v[k]);
	*out = v;
	*n = c.n;
	return true;
}

bool region_put_label(const struct region *r, struct strbuf *out)
{
	return sb_printf(out, "0x%" PRIx64 "-0x%" PRIx64 " %s", r->first_address, r->last_address,
		class_name(r->dominant));
}
