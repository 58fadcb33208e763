/* SPDX-License-Identifier: Apache-2.0 */
/* view_counters.c: a counter over time: minimum, maximum and mean of each pixel. */
#include "base/vec.h"
#include "serve/view/view.h"

#define MAX_WIDTH 8192u
#define MAX_SERIES 256u
#define MAX_CELLS (1u << 20)

static void put_f32(struct strbuf *b, float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	put_u32(b, bits);
}

static double view_counters_value_of(const struct counter_series *s, uint32_t i)
{
	return (double)s->value[i] / (s->unit && s->per_unit ? s->per_unit : 1);
}

struct view_counters_axis {
	uint64_t t0, t1;
	uint32_t width;
};

struct view_counters_cell {
	double min, max, sum;
	uint64_t n;
};

/* Samples are in time order, but nothing here depends on it. */
static bool view_counters_put_series(const struct view *v, const struct counter_series *s,
	const struct view_counters_axis *x, struct strbuf *out)
{
	struct arena a;
	struct view_counters_cell *cells;

	arena_init(&a);
	cells = arena_zalloc(&a, x->width, sizeof(*cells));
	for (uint32_t i = 0; cells && i < s->n; i++) {
		int64_t t = trace_aligned(v->trace, s->clock, s->time_cyc[i]) - v->origin_cyc;
		double value = view_counters_value_of(s, i);
		struct view_counters_cell *c;

		if (t < 0 || (uint64_t)t < x->t0 || (uint64_t)t >= x->t1)
			continue;
		c = &cells[(uint64_t)((double)((uint64_t)t - x->t0) / (double)(x->t1 - x->t0) *
				      x->width)];
		if (c >= cells + x->width)
			c = cells + x->width - 1;
		c->min = !c->n || value < c->min ? value : c->min;
		c->max = !c->n || value > c->max ? value : c->max;
		c->sum += value;
		c->n++;
	}
	for (uint32_t i = 0; cells && i < x->width; i++) {
		const struct view_counters_cell *c = &cells[i];

		put_f32(out, c->n ? (float)c->min : __builtin_nanf(""));
		put_f32(out, c->n ? (float)c->max : __builtin_nanf(""));
		put_f32(out, c->n ? (float)(c->sum / (double)c->n) : __builtin_nanf(""));
	}
	arena_deinit(&a);
	return cells != NULL;
}

static void view_counters_put_list(const struct trace *t, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_cstr(w, "schema", "incore.view.counters/1");
	json_w_kv_array(w, "series");
	EACH (const struct counter_series, s, t->counters, t->n_counters) {
		json_w_row_object(w);
		json_w_kv_cstr(w, "name", s->name);
		if (s->clock < t->n_clocks)
			json_w_kv_u64(w, "domain", t->clocks[s->clock].id);
		else
			json_w_kv_null(w, "domain");
		if (s->cu == UINT32_MAX)
			json_w_kv_null(w, "cu");
		else
			json_w_kv_u64(w, "cu", s->cu);
		json_w_kv_cstr(w, "unit", s->unit);
		json_w_kv_u64(w, "samples", s->n);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

bool view_counters(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const char *name = query_text(q, "name");
	const struct trace *t = v->trace;
	struct view_counters_axis x;
	struct json_writer w;
	uint64_t width;
	uint32_t n = 0;

	if (!name) {
		json_w_buf(&w, out, 1);
		view_counters_put_list(t, &w);
		return json_w_finish(&w, e);
	}
	if (!query_number(q, "t0", 0, INT64_MAX, &x.t0, e) ||
		!query_number(q, "t1", v->columns->end_cyc, INT64_MAX, &x.t1, e) ||
		!query_number(q, "w", 512, MAX_WIDTH, &width, e))
		return false;
	for (uint32_t i = 0; i < t->n_counters; i++)
		n += strcmp(t->counters[i].name, name) == 0;
	x.width = (uint32_t)width;
	if (n == 0)
		return err_set(e, INCORE_NO, "no-counter", "there is no counter of that name");
	if (x.t1 <= x.t0 || x.width == 0 || n > MAX_SERIES || n * x.width > MAX_CELLS)
		return err_set(e, INCORE_USAGE, "bad-query",
			"t1 must come after t0, and %u series times w stay below %u cells", n,
			MAX_CELLS);
	sb_puts(out, "ICC1");
	put_u16(out, 1);
	put_u16(out, 0);
	put_u32(out, n);
	put_u32(out, x.width);
	for (uint32_t i = 0; i < t->n_counters; i++)
		if (strcmp(t->counters[i].name, name) == 0 &&
			!view_counters_put_series(v, &t->counters[i], &x, out))
			return err_nomem(e);
	return true;
}
