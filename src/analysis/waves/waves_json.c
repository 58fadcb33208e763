/* SPDX-License-Identifier: Apache-2.0 */
/* waves_json.c: the wave table and its statistics as JSON members. */
#include "analysis/waves/waves.h"

#include <stdio.h>
#include <string.h>

#include "analysis/ratio.h"

void duration_json(const struct duration_stats *d, struct json_writer *out)
{
	json_w_row_object(out);
	json_w_kv_u64(out, "min", d->min);
	json_w_kv_u64(out, "median", d->median);
	json_w_kv_u64(out, "max", d->max);
	json_w_kv_u64(out, "sum", d->sum);
	json_w_kv_u64(out, "p5", d->p5);
	json_w_kv_u64(out, "p25", d->p25);
	json_w_kv_u64(out, "p75", d->p75);
	json_w_kv_u64(out, "p95", d->p95);
	json_w_kv_u64(out, "p99", d->p99);
	json_w_kv_double(out, "mean", d->mean, 3);
	json_w_kv_double(out, "deviation", d->deviation, 3);
	json_w_end(out);
}

void buckets_json(const uint64_t bucket[BUCKET_COUNT], uint64_t duration, struct json_writer *out)
{
	json_w_row_object(out);
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		json_w_kv_u64(out, bucket_name(b), bucket[b]);
	json_w_kv_u64(out, "duration", duration);
	json_w_end(out);
}

void bucket_shares_json(
	const uint64_t bucket[BUCKET_COUNT], uint64_t duration, struct json_writer *out)
{
	json_w_key(out, "accounting_shares");
	json_w_row_object(out);
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		ratio_json(out, bucket_name(b), bucket[b], duration);
	json_w_end(out);
}

static void put_totals(const struct waves *w, struct json_writer *out)
{
	json_w_key(out, "totals");
	json_w_row_object(out);
	json_w_kv_u64(out, "waves", w->n_waves);
	json_w_kv_u64(out, "instructions", w->n_instructions);
	json_w_kv_u64(out, "latency", w->clusters->latency);
	json_w_kv_u64(out, "stall", w->clusters->stall);
	json_w_kv_u64(out, "segments", w->states->all.segments);
	json_w_kv_u64(out, "waves_with_states", w->states->n_waves);
	json_w_kv_u64(out, "not_ending_in_endpgm", w->n_not_ended);
	json_w_end(out);
	json_w_key(out, "duration");
	duration_json(&w->duration, out);
	json_w_key(out, "accounting");
	buckets_json(w->bucket, w->duration.sum, out);
	bucket_shares_json(w->bucket, w->duration.sum, out);
	json_w_kv_i64(out, "residue", w->residue_cyc);
	json_w_key(out, "states");
	states_json(&w->states->all, out);
	json_w_kv_u64(out, "states_total", states_total(&w->states->all));
	json_w_key(out, "state_shares");
	state_shares_json(&w->states->all, out);
	json_w_kv_u64(out, "timeline_segments", w->states->all.segments);
	json_w_kv_u64(out, "waves_not_ending_in_s_endpgm", w->n_not_ended);
}

static void put_categories(const struct waves *w, struct json_writer *out)
{
	json_w_key(out, "categories");
	json_w_object(out);
	for (unsigned i = 0; i < 256; i++) {
		const struct wave_category *c = &w->categories[i];
		char key[8];

		if (!c->n)
			continue;
		snprintf(key, sizeof(key), "%u", i);
		json_w_key(out, key);
		json_w_row(out);
		json_w_u64(out, c->n);
		json_w_u64(out, c->latency);
		json_w_u64(out, c->stall);
		json_w_end(out);
	}
	json_w_end(out);
}

static void put_coords(const struct trace *t, const struct track *k, struct json_writer *out)
{
	for (unsigned i = 0; i < TRACK_LEVELS && t->levels[i]; i++)
		json_w_kv_u64(out, t->levels[i], k->coord[i]);
}

static void put_wave(const struct waves *w, track_idx i, struct json_writer *out)
{
	const struct track *k = &w->trace->tracks[i];
	const struct wave_row *r = &w->rows[i];

	json_w_row_object(out);
	put_coords(w->trace, k, out);
	json_w_kv_u64(out, "begin", k->begin_cyc);
	json_w_kv_u64(out, "end", k->end_cyc);
	json_w_kv_u64(out, "duration", r->duration_cyc);
	json_w_kv_u64(out, "instructions", r->instructions);
	json_w_kv_u64(out, "segments", w->states->waves[i].segments);
	json_w_kv_i64(out, "begin_aligned", trace_aligned(w->trace, k->clock, k->begin_cyc));
	json_w_kv_i64(out, "end_aligned", trace_aligned(w->trace, k->clock, k->end_cyc));
	json_w_kv_u64(out, "rows", w->clusters->waves[i].n_rows);
	json_w_kv_u64(out, "cluster", w->clusters->of_track[i]);
	json_w_kv_u64(out, "latency", r->latency);
	json_w_kv_u64(out, "stall", r->stall);
	json_w_key(out, "accounting");
	buckets_json(r->bucket, r->duration_cyc, out);
	json_w_key(out, "states");
	states_json(&w->states->waves[i], out);
	json_w_kv_u64(out, "barriers", r->barriers);
	json_w_kv_u64(out, "barrier_cycles", r->barrier_cyc);
	json_w_kv_bool(out, "ends_in_endpgm", r->has_end);
	json_w_kv_cstr(out, "file", k->name);
	json_w_kv_cstr(out, "phase", wave_phase_name(wave_phase_of(w->trace, i)));
	json_w_end(out);
}

/* Which coordinates name a group. */
static void put_group_place(const struct waves *w, enum wave_grouping g, const struct wave_group *x,
	struct json_writer *out)
{
	static const char *const levels[WAVES_GROUPINGS] = {"se", "se cu simd", "slot", "", ""};
	const struct track *k = &w->trace->tracks[x->first];

	for (unsigned i = 0; i < TRACK_LEVELS && w->trace->levels[i]; i++)
		if (strstr(levels[g], w->trace->levels[i]))
			json_w_kv_u64(out, w->trace->levels[i], k->coord[i]);
	if (g == WAVES_BY_ORDER)
		json_w_kv_cstr(out, "order", wave_group_is_later(w, x) ? "later" : "first");
	if (g == WAVES_BY_PHASE)
		json_w_kv_cstr(out, "phase", wave_phase_name(wave_phase_of(w->trace, x->first)));
}

static void put_groups(const struct waves *w, struct json_writer *out)
{
	json_w_key(out, "imbalance");
	json_w_object(out);
	for (unsigned g = 0; g < WAVES_GROUPINGS; g++) {
		json_w_key(out, wave_grouping_name(g));
		json_w_array(out);
		for (uint32_t i = 0; i < w->n_groups[g]; i++) {
			const struct wave_group *x = &w->groups[g][i];

			json_w_row_object(out);
			put_group_place(w, g, x, out);
			json_w_kv_u64(out, "waves", x->duration.n);
			json_w_key(out, "duration");
			duration_json(&x->duration, out);
			json_w_key(out, "accounting");
			buckets_json(x->bucket, x->duration.sum, out);
			ratio_json(out, "lost_share", x->duration.sum - x->bucket[BUCKET_ISSUE],
				x->duration.sum);
			json_w_key(out, "states");
			states_json(&x->states, out);
			json_w_end(out);
		}
		json_w_end(out);
	}
	json_w_end(out);
}

static void put_explained(const struct waves *w, struct json_writer *out)
{
	struct state_explained x[STATES_EXPLAINED];
	uint32_t n = waves_explain(w, x);

	json_w_key(out, "states_explained");
	json_w_array(out);
	for (uint32_t i = 0; i < n; i++) {
		json_w_row_object(out);
		json_w_kv_cstr(out, "state", state_name(x[i].state));
		json_w_kv_u64(out, "cycles", x[i].cyc);
		json_w_kv_u64(out, "records", x[i].records);
		json_w_kv_i64(out, "difference", (int64_t)x[i].cyc - (int64_t)x[i].records);
		json_w_key(out, "parts");
		json_w_array(out);
		for (uint32_t k = 0; k < x[i].n_parts; k++) {
			json_w_object(out);
			json_w_kv_cstr(out, "part", x[i].parts[k].name);
			json_w_kv_cstr(out, "bucket", bucket_name(x[i].parts[k].bucket));
			json_w_kv_u64(out, "cycles", x[i].parts[k].cyc);
			json_w_end(out);
		}
		json_w_end(out);
		json_w_end(out);
	}
	json_w_end(out);
}

void waves_json(const struct waves *w, const track_idx *list, uint32_t n, struct json_writer *out)
{
	put_totals(w, out);
	put_categories(w, out);
	json_w_key(out, "clusters");
	clusters_json(w->clusters, out);
	put_groups(w, out);
	json_w_key(out, "barriers");
	barriers_json(w->barriers, out);
	put_explained(w, out);
	if (w->states->n_bins) {
		json_w_key(out, "series");
		states_series_json(w->states, out);
	}
	json_w_key(out, "waves");
	json_w_array(out);
	for (uint32_t i = 0; i < n; i++)
		put_wave(w, list[i], out);
	json_w_end(out);
}
