/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.c: aggregates that SQLite lacks: median(x) and quantile(x, p), by the same rule as in
 * the verbs: sorted[min(n - 1, floor(p * n))]. Their buffers count as memory of the query.
 */
#include <math.h>

#include "base/search.h"
#include "sql/internal.h"

struct quantile {
	double *v;
	uint64_t n, cap;
	double p;
	bool is_real; /* some value is not an integer */
};

static void add_value(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct quantile *q = sqlite3_aggregate_context(ctx, sizeof(*q));
	int type = sqlite3_value_numeric_type(argv[0]);

	if (!q) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	q->p = argc > 1 ? sqlite3_value_double(argv[1]) : 0.5;
	if (!(q->p >= 0 && q->p <= 1)) {
		sqlite3_result_error(ctx, "quantile(x, p) needs p from 0 to 1", -1);
		return;
	}
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return; /* NULL is ignored, as in other aggregates */
	if (q->n == q->cap) {
		uint64_t cap = q->cap ? 2 * q->cap : 64;
		double *v = sqlite3_realloc64(q->v, cap * sizeof(*v));

		if (!v) {
			sqlite3_result_error_nomem(ctx);
			return;
		}
		q->v = v;
		q->cap = cap;
	}
	q->is_real |= type == SQLITE_FLOAT;
	q->v[q->n++] = sqlite3_value_double(argv[0]);
}

static int compare_values(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return COMPARE(*a, *b);
}

static void give_quantile(sqlite3_context *ctx)
{
	struct quantile *q = sqlite3_aggregate_context(ctx, 0);
	uint64_t at;

	if (!q)
		return;
	if (q->n) {
		SORT(q->v, q->n, compare_values);
		at = (uint64_t)floor(q->p * (double)q->n);
		at = at < q->n ? at : q->n - 1;
		if (q->is_real)
			sqlite3_result_double(ctx, q->v[at]);
		else
			sqlite3_result_int64(ctx, (int64_t)q->v[at]);
	}
	sqlite3_free(q->v);
	q->v = NULL;
}

bool sql_add_functions(struct sql *s, struct incore_error *e)
{
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

	return (sqlite3_create_function(s->db, "median", 1, flags, NULL, NULL, add_value,
			give_quantile) == SQLITE_OK &&
		       sqlite3_create_function(s->db, "quantile", 2, flags, NULL, NULL, add_value,
			       give_quantile) == SQLITE_OK) ||
	       err_nomem(e);
}
