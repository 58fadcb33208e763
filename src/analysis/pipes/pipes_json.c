/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_json.c: the pipes, their pairs, the critical path and the bound as JSON. */
#include "analysis/pipes/pipes.h"
#include "analysis/ratio.h"
#include "analysis/waves/waves.h"

static void put_track(const struct pipes *p, track_idx i, struct json_writer *w)
{
	const struct track *k = &p->trace->tracks[i];

	json_w_kv_str(w, "core", pipe_core_name(k));
	json_w_kv_cstr(w, "pipe", pipe_lane_name(k));
}

static void put_gaps(const struct pipe_gaps *g, struct json_writer *w)
{
	static const char *const names[GAP_ENDS] = {"wait", "stall", "idle"};

	json_w_key(w, "gaps");
	json_w_row_object(w);
	json_w_kv_u64(w, "p50", g->p50);
	json_w_kv_u64(w, "p90", g->p90);
	json_w_kv_u64(w, "p99", g->p99);
	json_w_kv_u64(w, "max", g->max);
	json_w_kv_u64(w, "count", g->n);
	json_w_kv_u64(w, "sum", g->sum);
	json_w_key(w, "ended_by");
	json_w_row_object(w);
	for (unsigned i = 0; i < GAP_ENDS; i++)
		json_w_kv_u64(w, names[i], g->ended_by[i]);
	json_w_end(w);
	json_w_end(w);
}

static void put_waits(const struct pipes *p, track_idx i, struct json_writer *w)
{
	const struct pipe_row *r = &p->rows[i];
	const struct trace *t = p->trace;

	json_w_key(w, "waits");
	json_w_array(w);
	for (size_t k = 0; k < r->waits.n; k++) {
		const struct pipe_wait *x = &r->waits.v[k];
		const struct track *from =
			x->producer < t->n_tracks ? &t->tracks[x->producer] : NULL;
		struct str core = pipe_core_name(&t->tracks[i]);

		json_w_row_object(w);
		json_w_kv_cstr(w, "producer_pipe", pipes_producer_name(p, x->producer));
		json_w_kv_u64(w, "cycles", x->cyc);
		json_w_kv_u64(w, "count", x->count);
		json_w_kv_u64(w, "blocked", x->blocked);
		if (from && !str_eq(pipe_core_name(from), core))
			json_w_kv_str(w, "producer_core", pipe_core_name(from));
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_depth(const struct pipe_row *r, struct json_writer *w)
{
	unsigned n = PIPE_DEPTHS;

	while (n && !r->depth_cyc[n - 1])
		n--;
	json_w_key(w, "depth");
	json_w_row(w);
	for (unsigned i = 0; i < n; i++)
		json_w_u64(w, r->depth_cyc[i]);
	json_w_end(w);
}

static void put_pipe(const struct pipes *p, track_idx i, struct json_writer *w)
{
	const struct pipe_row *r = &p->rows[i];

	json_w_object(w);
	put_track(p, i, w);
	json_w_kv_u64(w, "busy", r->busy_cyc);
	json_w_kv_u64(w, "latency_sum", r->latency_cyc);
	json_w_kv_u64(w, "depth_max", r->depth_max);
	put_gaps(&r->gaps, w);
	json_w_kv_u64(w, "first", r->first_cyc);
	json_w_kv_u64(w, "last", r->last_cyc);
	put_waits(p, i, w);
	json_w_key(w, "accounting");
	buckets_json(r->bucket, r->duration_cyc, w);
	json_w_kv_u64(w, "begin", r->begin_cyc);
	json_w_kv_u64(w, "instructions", r->n_work);
	json_w_kv_u64(w, "sync_instructions", r->n_sync);
	json_w_kv_u64(w, "config_only", r->config_cyc);
	json_w_kv_u64(w, "exposed", r->exposed_cyc);
	json_w_kv_double(
		w, "depth_mean", r->busy_cyc ? (double)r->latency_cyc / (double)r->busy_cyc : 0, 3);
	put_depth(r, w);
	json_w_kv_u64(w, "cache_miss_stall", r->cache_cyc);
	json_w_kv_u64(w, "critical_path", p->path.of_track[i][PATH_WORK]);
	ratio_json(w, "busy_share", r->busy_cyc, r->duration_cyc);
	ratio_json(w, "wait_share", r->bucket[BUCKET_WAIT], r->duration_cyc);
	ratio_json(w, "idle_share", r->bucket[BUCKET_IDLE], r->duration_cyc);
	json_w_end(w);
}

static void put_core(const struct pipes *p, const struct pipe_core *c, struct json_writer *w)
{
	const struct trace *t = p->trace;
	bool is_empty = c->begin_cyc > c->end_cyc;
	uint64_t span = is_empty ? 0 : c->end_cyc - c->begin_cyc;

	json_w_object(w);
	json_w_kv_str(w, "core", pipe_core_name(&t->tracks[c->first]));
	json_w_kv_u64(w, "begin", is_empty ? 0 : c->begin_cyc);
	json_w_kv_u64(w, "end", c->end_cyc);
	json_w_kv_u64(w, "span", span);
	json_w_kv_u64(w, "busy", c->busy_cyc);
	json_w_kv_u64(w, "compute_busy", c->compute_cyc);
	ratio_json(w, "busy_share", c->busy_cyc, span);
	ratio_json(w, "compute_share", c->compute_cyc, span);
	json_w_key(w, "pipes");
	json_w_row(w);
	for (uint32_t i = 0; i < c->n; i++)
		json_w_cstr(w, pipe_lane_name(&t->tracks[c->first + i]));
	json_w_end(w);
	json_w_key(w, "overlap");
	json_w_array(w);
	for (uint32_t i = 0; i < c->n; i++) {
		json_w_row(w);
		for (uint32_t k = 0; k < c->n; k++)
			json_w_u64(w, c->overlap[(size_t)i * c->n + k]);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

#define PATH_ROWS 20u

static void put_path(const struct pipes *p, struct json_writer *w)
{
	static const char *const names[PATH_PARTS] = {"work", "wait", "stall", "gap"};
	const struct pipe_path *x = &p->path;

	json_w_object(w);
	json_w_kv_u64(w, "span", x->end_cyc - x->begin_cyc);
	json_w_kv_u64(w, "lead", x->lead_cyc);
	json_w_kv_u64(w, "tail", x->tail_cyc);
	for (unsigned k = 0; k < PATH_PARTS; k++)
		json_w_kv_u64(w, names[k], x->part[k]);
	json_w_kv_u64(w, "slices", x->n_slices);
	json_w_kv_u64(w, "hops", x->n_hops);
	json_w_kv_u64(w, "inferred", x->n_inferred);
	json_w_key(w, "pipes");
	json_w_array(w);
	for (track_idx i = 0; i < p->trace->n_tracks; i++) {
		const uint64_t *v = x->of_track[i];

		if (!(v[PATH_WORK] | v[PATH_WAIT] | v[PATH_STALL] | v[PATH_GAP]))
			continue;
		json_w_row_object(w);
		put_track(p, i, w);
		for (unsigned k = 0; k < PATH_PARTS; k++)
			json_w_kv_u64(w, names[k], v[k]);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_key(w, "rows");
	json_w_array(w);
	for (uint32_t i = 0; i < x->n_rows && i < PATH_ROWS; i++) {
		const struct code_row *r = x->rows[i].code < p->trace->n_code
						   ? &p->trace->code[x->rows[i].code]
						   : NULL;

		json_w_row_object(w);
		if (r)
			json_w_kv_i64(w, "row", r->number);
		else
			json_w_kv_null(w, "row");
		json_w_kv_cstr(w, "isa", r ? r->text : "(unknown code)");
		json_w_kv_cstr(w, "source", r && r->source[0] ? r->source : NULL);
		json_w_kv_u64(w, "cycles", x->rows[i].cyc);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

void pipes_json_cores(const struct pipes *p, struct json_writer *w)
{
	json_w_key(w, "cores");
	json_w_array(w);
	for (uint32_t i = 0; i < p->n_cores; i++)
		put_core(p, &p->cores[i], w);
	json_w_end(w);
}

void pipes_json_pairs(const struct pipes *p, uint64_t top, struct json_writer *w)
{
	json_w_key(w, "pairs");
	json_w_array(w);
	for (size_t i = 0; i < p->pairs.n && i < top; i++) {
		const struct pipe_pair *x = &p->pairs.v[i];

		json_w_row_object(w);
		json_w_kv_cstr(w, "producer_pipe", x->producer);
		json_w_kv_cstr(w, "consumer_pipe", x->consumer);
		json_w_kv_bool(w, "is_cross_core", x->is_cross_core);
		json_w_kv_u64(w, "cycles", x->cyc);
		json_w_kv_u64(w, "count", x->count);
		json_w_kv_u64(w, "blocked", x->blocked);
		ratio_json(w, "per_wait", x->cyc, x->count);
		json_w_end(w);
	}
	json_w_end(w);
}

void pipes_json_bound(const struct pipes *p, struct json_writer *w)
{
	const struct pipe_bound *x = &p->bound;

	json_w_key(w, "bound");
	json_w_object(w);
	json_w_kv_cstr(w, "kind", x->kind);
	if (x->track == NO_TRACK) {
		json_w_kv_null(w, "core");
		json_w_kv_null(w, "pipe");
	} else {
		put_track(p, x->track, w);
	}
	json_w_kv_double(w, "path_share", x->path_share, 4);
	json_w_kv_double(w, "busy_share", x->busy_share, 4);
	json_w_kv_cstr(w, "sentence", x->sentence);
	json_w_end(w);
}

void pipes_json(const struct pipes *p, const track_idx *list, uint32_t n, struct json_writer *w)
{
	json_w_key(w, "totals");
	json_w_row_object(w);
	json_w_kv_u64(w, "pipes", p->n_pipes);
	json_w_kv_u64(w, "cores", p->n_cores);
	json_w_kv_u64(w, "instructions", p->n_instructions);
	json_w_kv_u64(w, "sync_instructions", p->n_sync);
	json_w_kv_u64(w, "unmatched_waits", p->n_unmatched);
	json_w_end(w);
	json_w_key(w, "accounting");
	buckets_json(p->bucket, p->duration_cyc, w);
	bucket_shares_json(p->bucket, p->duration_cyc, w);
	json_w_kv_i64(w, "residue", p->residue_cyc);
	pipes_json_bound(p, w);
	json_w_key(w, "critical_path");
	if (p->path.is_known)
		put_path(p, w);
	else
		json_w_null(w);
	pipes_json_pairs(p, UINT64_MAX, w);
	pipes_json_cores(p, w);
	json_w_key(w, "pipes");
	json_w_array(w);
	for (uint32_t i = 0; i < n; i++)
		put_pipe(p, list[i], w);
	json_w_end(w);
}
