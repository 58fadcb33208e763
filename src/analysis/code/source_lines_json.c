/* SPDX-License-Identifier: Apache-2.0 */
/* source_lines_json.c: source lines, files and their granularity as JSON. */
#include "analysis/code/source_lines.h"

static void put_sums(struct json_writer *w, const char *key, const struct source_sums *s)
{
	json_w_key(w, key);
	json_w_row_object(w);
	json_w_kv_u64(w, "rows", s->rows);
	json_w_kv_u64(w, "executed_rows", s->executed_rows);
	json_w_kv_u64(w, "hit", s->totals.hit);
	json_w_kv_u64(w, "latency", s->totals.latency);
	json_w_kv_u64(w, "stall", s->totals.stall);
	json_w_kv_u64(w, "idle", s->totals.idle);
	json_w_end(w);
}

static void put_name(
	const struct source_lines *s, const struct source_line *l, struct json_writer *w)
{
	struct strbuf sb = {0};

	json_w_key(w, "source");
	if (source_line_put(s, l, &sb))
		json_w_str(w, (struct str){sb.p, sb.n});
	else
		w->is_failed = true;
	sb_free(&sb);
}

static void put_lines(const struct source_lines *s, const struct source_line *v, uint32_t n,
	struct json_writer *w)
{
	json_w_array(w);
	for (uint32_t i = 0; i < n; i++) {
		json_w_object(w);
		put_name(s, &v[i], w);
		put_sums(w, "exclusive", &v[i].exclusive);
		put_sums(w, "inclusive", &v[i].inclusive);
		json_w_end(w);
	}
	json_w_end(w);
}

void granularity_json(const struct source_lines *s, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_u64(w, "distinct_lines", s->distinct_lines);
	json_w_kv_cstr(w, "collapsed", collapse_name(s->collapse));
	if (s->collapse_line == UINT32_MAX) {
		json_w_kv_null(w, "top_line");
	} else {
		json_w_key(w, "top_line");
		json_w_object(w);
		put_name(s, &s->lines[s->collapse_line], w);
		json_w_kv_double(w, "latency_share", s->collapse_latency_share, 6);
		json_w_kv_double(w, "executed_row_share", s->collapse_row_share, 6);
		json_w_end(w);
	}
	json_w_key(w, "weights");
	json_w_array(w);
	for (unsigned k = 0; k < WEIGHT_COUNT; k++) {
		const struct granularity *g = &s->granularity[k];

		json_w_row_object(w);
		json_w_kv_cstr(w, "weight", source_weight_name(k));
		json_w_kv_u64(w, "total", g->total);
		json_w_kv_u64(w, "mapped", g->mapped);
		json_w_kv_u64(w, "lines", g->lines);
		json_w_kv_double(w, "top1_share", g->top1_share, 16);
		json_w_kv_double(w, "top2_share", g->top2_share, 16);
		json_w_kv_double(w, "effective_lines", g->effective_lines, 15);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

void source_quality_json(const struct source_lines *s, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_cstr(w, "collapse", collapse_name(s->collapse));
	json_w_kv_u64(w, "distinct_lines", s->distinct_lines);
	json_w_kv_u64(w, "mapped_rows", s->mapped.rows);
	json_w_kv_u64(w, "rows", s->all.rows);
	json_w_kv_double(w, "top_line_latency_share", s->granularity[WEIGHT_LATENCY].top1_share, 6);
	json_w_kv_double(
		w, "effective_lines_by_latency", s->granularity[WEIGHT_LATENCY].effective_lines, 6);
	json_w_key(w, "granularity");
	granularity_json(s, w);
	json_w_end(w);
}

void source_lines_json(const struct source_lines *s, uint32_t top, struct json_writer *w)
{
	json_w_object(w);
	put_sums(w, "all", &s->all);
	put_sums(w, "mapped", &s->mapped);
	put_sums(w, "unmapped", &s->unmapped);
	json_w_key(w, "lines");
	put_lines(s, s->lines, top < s->n_lines ? top : s->n_lines, w);
	json_w_key(w, "files");
	put_lines(s, s->files, top < s->n_files ? top : s->n_files, w);
	json_w_key(w, "granularity");
	granularity_json(s, w);
	json_w_end(w);
}
