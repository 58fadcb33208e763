/* SPDX-License-Identifier: Apache-2.0 */
/* overview.c: all series of a store in brief, and thinning of points for charts. */
#include <math.h>
#include <stdlib.h>

#include "answer/rows.h"
#include "store/answers.h"

#define MOST_NAMES 1000u /* most names in the list of labels */

struct spark_item {
	double v;
};
static const struct column spark_columns[] = {
	COLUMN(spark_item, v, UNIT_CYCLES, "value of the figure"),
};
static const struct record spark_record = RECORD_OF(spark_item, RECORD_SCALAR, spark_columns);

static const struct column line_columns[] = {
	PART(store_line, gate, &store_gate_record),
	COLUMN(store_line, time, UNIT_NONE, "time at which the newest capture was taken, UTC",
		NULLABLE),
	COLUMN(store_line, value, UNIT_CYCLES, "figure of the newest capture of the series",
		NULLABLE),
	COLUMN(store_line, cost, UNIT_CYCLES,
		"cycles of the newest captures above the level before; null: no regression",
		NULLABLE),
	COLUMN(store_line, last_pct, UNIT_PERCENT, "last change of the level", NULLABLE,
		.digits = 2),
	COLUMN(store_line, last_at, UNIT_NONE, "time of the last change, UTC", NULLABLE),
	LIST(store_line, spark, &spark_record,
		"some figures in the order of time, with lows and highs"),
};
const struct record store_line_record = RECORD_OF(store_line, RECORD_LINE, line_columns);

static const struct column overview_columns[] = {
	PART(store_overview, tally, &store_tally_record),
	COLUMN(store_overview, captures, UNIT_COUNT, "captures of all these series"),
	LIST(store_overview, arches, &name_count_record,
		"architectures with their number of series"),
	LIST(store_overview, labels, &name_count_record, "labels with their number of series"),
	LIST(store_overview, series, &store_line_record, "all series, costliest regression first"),
};
const struct record store_overview_record =
	RECORD_OF(store_overview, RECORD_BLOCK, overview_columns);

/* --- thinning --- */

/* Finds the lowest, the highest and the first marked of n points, in order; returns how many. */
static size_t thin_stretch(const struct store_point *v, size_t n, size_t keep[3])
{
	size_t low = 0, high = 0, marked = n, k = 0;

	for (size_t i = 0; i < n; i++) {
		low = v[i].value < v[low].value ? i : low;
		high = v[i].value > v[high].value ? i : high;
		marked = marked == n && *v[i].mark ? i : marked;
	}
	for (size_t i = 0; i < n; i++)
		if (i == low || i == high || i == marked)
			keep[k++] = i;
	return k;
}

bool store_thin(struct rows points, size_t most, struct arena *a, struct rows *out)
{
	const struct store_point *v = points.v;
	size_t n_stretches = most / 3, n = 0, keep[3];
	struct store_point *few;

	*out = points;
	if (points.n <= most || !n_stretches)
		return true;
	few = arena_zalloc(a, n_stretches * 3, sizeof(*few));
	if (!few)
		return false;
	for (size_t k = 0; k < n_stretches; k++) {
		size_t first = points.n * k / n_stretches, end = points.n * (k + 1) / n_stretches;
		size_t m = thin_stretch(&v[first], end - first, keep);

		for (size_t i = 0; i < m; i++)
			few[n++] = v[first + keep[i]];
	}
	*out = (struct rows){few, n};
	return true;
}

/* --- the series --- */

static double worst_cost(const struct store_gate *g)
{
	const struct store_regression *v = g->regressions.v;
	double most = NAN;

	for (size_t i = 0; i < g->regressions.n; i++)
		if (v[i].is < STORE_ACCEPTED)
			most = fmax(most, v[i].cost);
	return most;
}

static bool overview_put_line(const struct store_ask *x, const struct store_entries *entries,
	size_t at, struct store_line *out, struct incore_error *e)
{
	const struct store_point *points;
	const struct store_change *changes;
	const struct store_history *h;
	struct spark_item *spark;
	struct store_judged one;
	struct rows few;

	*out = (struct store_line){.value = NAN, .cost = NAN, .last_pct = NAN};
	if (!store_judge(x, entries, at, &one, e) || !store_explain_gate(x, &one.gate, false, e))
		return false;
	out->gate = one.gate;
	out->cost = worst_cost(&one.gate);
	h = &one.history;
	spark = arena_zalloc(x->arena, STORE_SPARK, sizeof(*spark));
	if (!spark || !store_thin(h->points, STORE_SPARK, x->arena, &few))
		return err_nomem(e);
	points = few.v;
	for (size_t i = 0; i < few.n; i++)
		spark[i].v = points[i].value;
	out->spark = (struct rows){spark, few.n};
	points = h->points.v;
	if (h->points.n) {
		out->time = points[h->points.n - 1].entry.time;
		out->value = points[h->points.n - 1].value;
	}
	changes = h->changes.v;
	if (h->changes.n) {
		out->last_pct = changes[h->changes.n - 1].change_pct;
		out->last_at = changes[h->changes.n - 1].time;
	}
	return true;
}

static double or_least(double v)
{
	return isfinite(v) ? v : -INFINITY;
}

/* Sorts worse series first, by cost, then the others by how much they changed. */
static int by_harm(const void *a, const void *b)
{
	const struct store_line *x = a, *y = b;
	double cost_x = or_least(x->cost), cost_y = or_least(y->cost);
	double change_x = or_least(x->gate.change_pct), change_y = or_least(y->gate.change_pct);
	uint64_t first = x->gate.capture, second = y->gate.capture;

	if (cost_x != cost_y)
		return cost_x < cost_y ? 1 : -1;
	if (change_x != change_y)
		return change_x < change_y ? 1 : -1;
	return (first > second) - (first < second);
}

/* --- names to choose from --- */

typedef VEC(struct str) name_list;

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool count_names(name_list *names, struct arena *a, struct rows *out)
{
	struct name_count *v = arena_zalloc(a, MOST_NAMES, sizeof(*v));
	size_t n = 0;
	bool ok = v != NULL;

	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), by_text);
	for (size_t i = 0; ok && i < names->n; i++) {
		if (n && str_is(names->v[i], v[n - 1].name)) {
			v[n - 1].count++;
		} else if (n < MOST_NAMES) {
			v[n].name = arena_strndup(a, names->v[i].p, names->v[i].n);
			ok = v[n].name != NULL;
			v[n++].count = 1;
		}
	}
	*out = (struct rows){v, n};
	VEC_FREE(names);
	return ok;
}

static bool add_labels(name_list *names, const char *labels)
{
	struct str rest = str_of(labels), part;

	while (str_cut(&rest, ",", &part))
		if (part.n && !VEC_PUSH(names, part))
			return false;
	return true;
}

static bool overview_put_names(const struct store_ask *x, struct store_overview *o)
{
	const struct store_line *v = o->series.v;
	name_list arches = {0}, labels = {0};
	bool ok = true, is_counted;

	for (size_t i = 0; ok && i < o->series.n; i++) {
		const struct store_series *s = &v[i].gate.series;

		ok = (!s->arch || VEC_PUSH(&arches, str_of(s->arch))) &&
		     add_labels(&labels, s->labels);
	}
	is_counted = count_names(&arches, x->arena, &o->arches);
	return count_names(&labels, x->arena, &o->labels) && is_counted && ok;
}

bool store_overview(const struct store_ask *x, const struct store_entries *entries,
	struct store_overview *out, struct incore_error *e)
{
	struct store_line *v = arena_zalloc(x->arena, entries->v.n + 1, sizeof(*v));
	size_t n = 0;

	*out = (struct store_overview){.tally = STORE_TALLY_PASSED, .captures = entries->v.n};
	if (!v)
		return err_nomem(e);
	for (size_t at = 0; at < entries->v.n; at += store_series(entries, at), n++) {
		if (!overview_put_line(x, entries, at, &v[n], e))
			return false;
		store_count(x, &v[n].gate, &out->tally);
	}
	qsort(v, n, sizeof(*v), by_harm);
	out->series = (struct rows){v, n};
	return overview_put_names(x, out) || err_nomem(e);
}
