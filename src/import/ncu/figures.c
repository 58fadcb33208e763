/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c: the report's values by instruction: executions, samples, and all others. */
#include "base/search.h"
#include "import/ncu/code.h"

#define STALLED "smsp__pcsamp_warps_issue_stalled_"
#define NOT_ISSUED "_not_issued"
/* Limit of one row: seconds of all schedulers of a GPU. More is damage, and sums could overflow. */
#define MOST_OF_ROW (UINT64_C(1) << 44)
#define MAX_REASONS 64u	  /* the hardware has about twenty */
#define MAX_FIGURES 4096u /* by row */

struct counting { /* sums of a metric by row */
	struct code_build *c;
	uint64_t *v;
	uint64_t n_unmapped;
};

static bool add_count(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct counting *n = ctx;
	code_idx row = id->kind == NCU_UINT ? sass_row_at(&n->c->s, id->uint) : NO_CODE;

	if (value->kind == NCU_UINT && value->uint > MOST_OF_ROW)
		n->c->b->n_absurd++;
	else if (row == NO_CODE)
		n->n_unmapped += value->kind == NCU_UINT ? value->uint : 1;
	else
		n->v[row] += value->kind == NCU_UINT ? value->uint : 0;
	return true;
}

static bool count_rows(struct code_build *c, const struct ncu_metric *k, struct counting *n,
	struct incore_error *e)
{
	n->c = c;
	memset(n->v, 0, (c->s.rows.n + 1) * sizeof(*n->v));
	return ncu_instances(c->b->result, k, add_count, n, e);
}

static bool read_hits(struct code_build *c, struct counting *n, struct incore_error *e)
{
	const struct ncu_metric *k = ncu_find(c->b->result, "inst_executed");

	if (!k || !k->n_instances)
		return true;
	if (!count_rows(c, k, n, e))
		return false;
	for (uint32_t i = 0; i < c->b->t->n_code; i++)
		c->b->t->code[i].stated.hit = n->v[i];
	c->b->t->has_stated_totals = true;
	c->b->n_unmapped += n->n_unmapped;
	return true;
}

/* The stall reason that a metric counts, without "_not_issued"; empty: another kind of metric. */
static struct str reason_of(struct str name, bool *is_not_issued)
{
	struct str r = {0};

	*is_not_issued = false;
	if (!str_starts(name, STALLED))
		return r;
	r = str_sub(name, strlen(STALLED), name.n);
	if (str_ends(r, NOT_ISSUED)) {
		*is_not_issued = true;
		r.n -= strlen(NOT_ISSUED);
	}
	return r;
}

/* Lists the distinct reasons in the order of the metrics; "selected" means issued. */
static bool name_reasons(struct code_build *c, uint32_t *n, const char ***out)
{
	const struct ncu_result *x = c->b->result;
	const char **v = arena_zalloc(&c->b->t->arena, MAX_REASONS, sizeof(*v));

	*n = 0;
	for (size_t i = 0; v && i < x->metrics.n && *n < MAX_REASONS; i++) {
		bool is_not_issued, is_known = false;
		struct str r = reason_of(x->metrics.v[i].name, &is_not_issued);

		for (uint32_t k = 0; k < *n; k++)
			is_known |= str_is(r, v[k]);
		if (!r.n || is_known || is_not_issued || str_is(r, "selected"))
			continue;
		v[*n] = arena_strndup(&c->b->t->arena, r.p, r.n);
		if (!v[(*n)++])
			return false;
	}
	*out = v;
	return v != NULL;
}

static void take_reason(
	struct code_build *c, struct str reason, bool is_not_issued, const struct counting *n)
{
	struct trace *t = c->b->t;
	uint32_t k = 0;

	while (k < t->n_reasons && !str_is(reason, t->reasons[k]))
		k++;
	for (uint32_t i = 0; i < t->n_code; i++) {
		struct reason_count *to = &t->reason_counts[(size_t)i * t->n_reasons + k];

		if (str_is(reason, "selected"))
			t->samples[i].issued += is_not_issued ? 0 : n->v[i];
		else if (k < t->n_reasons)
			*(is_not_issued ? &to->not_issued : &to->all) += n->v[i];
	}
}

/* Sums over rows; a part that exceeds its total is clamped, so that no difference wraps. */
static void sum_samples(struct code_build *c)
{
	struct trace *t = c->b->t;

	for (uint32_t i = 0; i < t->n_code; i++)
		for (uint32_t k = 0; k < t->n_reasons; k++) {
			struct reason_count *r = &t->reason_counts[(size_t)i * t->n_reasons + k];

			t->samples[i].stalled += r->all;
			c->b->n_absurd += r->not_issued > r->all;
			r->not_issued = r->not_issued < r->all ? r->not_issued : r->all;
		}
}

static bool read_samples(struct code_build *c, struct counting *n, struct incore_error *e)
{
	const struct ncu_result *x = c->b->result;
	const struct ncu_metric *all = ncu_find(x, "smsp__pcsamp_sample_count");
	struct trace *t = c->b->t;
	const char **reasons;
	uint32_t n_reasons, n_read = 0;
	bool any = false;
	int64_t v;

	if (!name_reasons(c, &n_reasons, &reasons))
		return err_nomem(e);
	if (!n_reasons)
		return true;
	if (!trace_make_samples(t, reasons, n_reasons))
		return err_nomem(e);
	for (size_t i = 0; i < x->metrics.n; i++) {
		bool is_not_issued;
		struct str r = reason_of(x->metrics.v[i].name, &is_not_issued);

		if (!r.n || ++n_read > 3 * MAX_REASONS)
			continue;
		if (!count_rows(c, &x->metrics.v[i], n, e))
			return false;
		take_reason(c, r, is_not_issued, n);
		any |= x->metrics.v[i].n_instances > 0;
		t->sampling.has_not_issued |= is_not_issued;
	}
	if (!any) { /* the metrics exist but nothing was sampled */
		t->samples = NULL;
		t->n_reasons = 0;
		return true;
	}
	sum_samples(c);
	n->n_unmapped = 0;
	if (all && !count_rows(c, all, n, e))
		return false;
	c->b->n_unmapped += n->n_unmapped;
	v = ncu_whole(x, "smsp__pcsamp_interval_cycles");
	t->sampling.period_cyc = v == NO_VALUE ? 0 : (uint64_t)v;
	v = ncu_whole(x, "smsp__pcsamp_dropped_bytes");
	t->sampling.n_dropped = v == NO_VALUE ? 0 : (uint64_t)v;
	return true;
}

/* --- other figures --- */

struct cell {
	code_idx row;
	struct ncu_value value;
};
struct cells {
	struct code_build *c;
	VEC(struct cell) v;
	uint64_t n_unmapped;
	bool is_real;
};
ORDER(by_row, struct cell, UP(row))

static bool add_cell(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct cells *x = ctx;
	code_idx row = id->kind == NCU_UINT ? sass_row_at(&x->c->s, id->uint) : NO_CODE;

	x->n_unmapped += row == NO_CODE;
	if (row == NO_CODE || (value->kind != NCU_UINT && value->kind != NCU_REAL))
		return true;
	x->is_real |= value->kind == NCU_REAL;
	return VEC_PUSH(&x->v, (struct cell){row, *value});
}

static bool keep_metric(struct code_build *c, const struct ncu_metric *k, struct cells *x)
{
	struct arena *a = &c->b->t->arena;
	struct code_metric *m = &c->b->t->metrics[c->b->t->n_metrics];
	code_idx *rows = arena_zalloc(a, x->v.n + 1, sizeof(*rows));
	uint64_t *values = arena_zalloc(a, x->v.n + 1, sizeof(*values));

	*m = (struct code_metric){
		arena_strndup(a, k->name.p, k->name.n), 0, rows, values, x->is_real};
	if (!rows || !values || !m->name)
		return false;
	SORT(x->v.v, x->v.n, by_row);
	for (size_t i = 0; i < x->v.n; i++) {
		const struct cell *y = &x->v.v[i];
		double real = ncu_number(&y->value);

		if (m->n && rows[m->n - 1] == y->row)
			continue; /* of several at one address, the first was used */
		rows[m->n] = y->row;
		values[m->n] = y->value.uint;
		if (x->is_real)
			memcpy(&values[m->n], &real, sizeof(real));
		m->n++;
	}
	c->b->t->n_metrics++;
	return true;
}

/* Samples and hits have fields of their own. */
static bool is_taken(struct str name)
{
	bool is_not_issued;

	return reason_of(name, &is_not_issued).n || str_is(name, "inst_executed") ||
	       str_is(name, "smsp__pcsamp_sample_count");
}

static bool read_metrics(struct code_build *c, struct incore_error *e)
{
	const struct ncu_result *x = c->b->result;
	struct trace *t = c->b->t;
	bool ok = true;

	t->metrics = arena_zalloc(&t->arena, MAX_FIGURES, sizeof(*t->metrics));
	if (!t->metrics)
		return err_nomem(e);
	for (size_t i = 0; ok && i < x->metrics.n; i++) {
		struct cells cells = {.c = c};

		if (!c->b->is_by_row[i] || is_taken(x->metrics.v[i].name) ||
			t->n_metrics == MAX_FIGURES)
			continue;
		ok = ncu_instances(x, &x->metrics.v[i], add_cell, &cells, e);
		if (ok && cells.v.n && !keep_metric(c, &x->metrics.v[i], &cells))
			ok = err_nomem(e);
		c->b->is_by_row[i] = cells.v.n > 0;
		VEC_FREE(&cells.v);
	}
	return ok;
}

bool ncu_read_figures(struct code_build *c, struct incore_error *e)
{
	struct counting n = {.v = mem_zalloc(c->s.rows.n + 1, sizeof(*n.v))};
	bool ok = n.v ? read_hits(c, &n, e) && read_samples(c, &n, e) && read_metrics(c, e)
		      : err_nomem(e);

	mem_free(n.v);
	return ok;
}
