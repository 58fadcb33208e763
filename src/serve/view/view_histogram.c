/* SPDX-License-Identifier: Apache-2.0 */
/* view_histogram.c: durations of the executions of one instruction, and where the longest are. */
#include "base/mem.h"
#include "serve/view/view_index.h"

#define BINS 64u
#define OUTLIERS 20u

struct execution {
	uint32_t duration;
	track_idx track;
	uint32_t slice;
	uint64_t t;
};

struct gathered {
	uint32_t *durations;
	uint64_t n, cap;
	uint64_t sum;
	struct execution longest[OUTLIERS]; /* in descending order */
	unsigned n_longest;
};

static bool is_longer(const struct execution *a, const struct execution *b)
{
	if (a->duration != b->duration)
		return a->duration > b->duration;
	return a->t < b->t || (a->t == b->t && a->track < b->track);
}

static void keep_longest(struct gathered *g, struct execution x)
{
	unsigned i = g->n_longest;

	if (i == OUTLIERS) {
		if (!is_longer(&x, &g->longest[OUTLIERS - 1]))
			return;
		i--;
	} else {
		g->n_longest++;
	}
	for (; i > 0 && is_longer(&x, &g->longest[i - 1]); i--)
		g->longest[i] = g->longest[i - 1];
	g->longest[i] = x;
}

static void view_histogram_gather(const struct view *v, code_idx code, struct gathered *g)
{
	EACH (const struct lane, l, v->columns->lanes, v->columns->n_lanes) {
		for (uint32_t i = 0; i < l->n; i++) {
			if (l->code[i] != code || g->n == g->cap)
				continue;
			g->durations[g->n++] = l->dur[i];
			g->sum += l->dur[i];
			keep_longest(g, (struct execution){l->dur[i], l->track, l->first + i,
						lane_start(l, i)});
		}
	}
}

/* Radix sort from the lowest byte, without a library function. */
static void sort_u32(uint32_t *v, uint32_t *other, uint64_t n)
{
	uint64_t at[257];

	for (unsigned shift = 0; shift < 32; shift += 8) {
		uint32_t *t = v;

		memset(at, 0, sizeof(at));
		for (uint64_t i = 0; i < n; i++)
			at[(v[i] >> shift & 255) + 1]++;
		for (unsigned d = 0; d < 256; d++)
			at[d + 1] += at[d];
		for (uint64_t i = 0; i < n; i++)
			other[at[v[i] >> shift & 255]++] = v[i];
		v = other;
		other = t;
	}
}

static void put_bins(const struct gathered *g, struct json_writer *w)
{
	uint64_t min = g->n ? g->durations[0] : 0, max = g->n ? g->durations[g->n - 1] : 0;
	uint64_t width = (max - min) / BINS + 1, at = 0;

	json_w_kv_array(w, "bins");
	for (uint64_t from = min; g->n && from <= max; from += width) {
		uint64_t first = at;

		while (at < g->n && g->durations[at] < from + width)
			at++;
		json_w_row_object(w);
		json_w_kv_u64(w, "from", from);
		json_w_kv_u64(w, "to", from + width);
		json_w_kv_u64(w, "count", at - first);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_histogram(
	const struct view *v, code_idx code, const struct gathered *g, struct json_writer *w)
{
	const struct code_row *r = &v->trace->code[code];
	uint64_t n = g->n, last = n ? n - 1 : 0, p95 = n * 95 / 100;
	const uint32_t *d = g->durations;

	json_w_object(w);
	json_w_kv_cstr(w, "schema", "incore.view.histogram/1");
	json_w_kv_u64(w, "code", code);
	json_w_kv_str(w, "text", (struct str){r->text, r->text_len});
	json_w_kv_u64(w, "count", n);
	json_w_kv_u64(w, "min", n ? d[0] : 0);
	json_w_kv_u64(w, "median", n ? d[n / 2] : 0);
	json_w_kv_u64(w, "p95", n ? d[p95 < n ? p95 : last] : 0);
	json_w_kv_u64(w, "max", n ? d[last] : 0);
	json_w_kv_double(w, "mean", n ? (double)g->sum / (double)n : 0, 2);
	json_w_kv_u64(w, "sum", g->sum);
	put_bins(g, w);
	json_w_kv_array(w, "outliers");
	for (unsigned i = 0; i < g->n_longest; i++) {
		json_w_row_object(w);
		json_w_kv_u64(w, "track", g->longest[i].track);
		json_w_kv_u64(w, "slice", g->longest[i].slice);
		json_w_kv_u64(w, "t", g->longest[i].t);
		json_w_kv_u64(w, "duration", g->longest[i].duration);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

bool view_histogram(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct gathered g = {0};
	uint32_t *other;
	struct json_writer w;
	uint64_t code;
	bool ok;

	if (!query_number(q, "code", QUERY_NEEDED, UINT32_MAX, &code, e))
		return false;
	if (code >= v->trace->n_code)
		return err_set(e, INCORE_NO, "no-code", "there is no code row of that number");
	g.cap = v->index->code[code].hits;
	g.durations = mem_alloc((g.cap + 1) * sizeof(*g.durations));
	other = mem_alloc((g.cap + 1) * sizeof(*other));
	ok = (g.durations && other) || err_nomem(e);
	if (ok) {
		view_histogram_gather(v, (code_idx)code, &g);
		sort_u32(g.durations, other, g.n);
		json_w_buf(&w, out, 1);
		put_histogram(v, (code_idx)code, &g, &w);
		ok = json_w_finish(&w, e);
	}
	mem_free(g.durations);
	mem_free(other);
	return ok;
}
