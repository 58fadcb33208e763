/* SPDX-License-Identifier: Apache-2.0 */
/* listing_json.c: the listing as JSON: rows, edges, branches, loops, latency. */
#include "analysis/code/listing.h"
#include "analysis/ratio.h"

/* Innermost first, as [file, line]; the file counts into "sources". */
static void put_frames(const struct trace *t, const struct code_row *r, struct json_writer *w)
{
	json_w_key(w, "frames");
	json_w_array(w);
	for (uint32_t k = 0; k < r->n_frames; k++) {
		const struct frame *f = &t->frames[r->first_frame + k];

		json_w_array(w);
		json_w_u64(w, f->source);
		json_w_u64(w, f->line);
		json_w_end(w);
	}
	json_w_end(w);
}

static bool totals_differ(const struct code_totals *a, const struct code_totals *b)
{
	return a->hit != b->hit || a->latency != b->latency || a->stall != b->stall ||
	       a->idle != b->idle;
}

/* What the producer states of a row, where it is not what its records add up to. */
static void put_stated(const struct listing *l, code_idx i, struct json_writer *w)
{
	const struct code_totals *t = &l->trace->code[i].stated;

	json_w_key(w, "stated");
	/* All zero: it says nothing of this row. */
	if (!l->trace->has_stated_totals || l->hot->is_stated ||
		!totals_differ(t, &(struct code_totals){0}) ||
		!totals_differ(t, &l->hot->rows[i].totals)) {
		json_w_null(w);
		return;
	}
	json_w_object(w);
	json_w_kv_u64(w, "hit", t->hit);
	json_w_kv_u64(w, "latency", t->latency);
	json_w_kv_u64(w, "stall", t->stall);
	json_w_kv_u64(w, "idle", t->idle);
	json_w_end(w);
}

/* Vector registers that hold something needed before the row; null where the text cannot tell. */
static void put_live(const struct listing *l, code_idx i, struct json_writer *w)
{
	json_w_key(w, "live");
	if (l->trace->meta.vendor != VENDOR_AMD) {
		json_w_null(w);
		return;
	}
	json_w_object(w);
	json_w_kv_u64(w, "arch", l->live->rows[i].arch);
	json_w_kv_u64(w, "accum", l->live->rows[i].accum);
	json_w_end(w);
}

static void put_execution(const struct listing *l, code_idx i, struct json_writer *w)
{
	struct distribution cycles = executions_cycles(l->executions, i);
	struct distribution stall = executions_stall(l->executions, i);

	distribution_json(w, "execution", &cycles);
	if (stall.max > 0) /* most rows never stall */
		distribution_json(w, "execution_stall", &stall);
	row_waves_json(l->row_waves, i, w);
}

static void put_sources(const struct trace *t, struct json_writer *w)
{
	json_w_key(w, "sources");
	json_w_array(w);
	for (source_idx i = 0; i < t->n_sources; i++)
		json_w_cstr(w, t->sources[i].path);
	json_w_end(w);
}

/* What the row lost most to, and the block it is in. */
static void put_place(const struct listing *l, const struct hot_group *g, struct json_writer *w)
{
	const struct listing_row *row = &l->rows[g->code];
	const struct producer_edge *edge =
		row->n_edges ? &l->producers->edges.v[row->edge[0]] : NULL;
	struct hot_loss loss = hot_loss(l->hot, g, edge);
	uint32_t block = l->cfg.block_of[g->code];

	json_w_kv_cstr(w, "cause", loss.name[0] ? loss.name : NULL);
	json_w_kv_u64(w, "cause_cycles", loss.cyc);
	json_w_key(w, "block");
	if (block == NO_BLOCK)
		json_w_null(w);
	else
		json_w_u64(w, block);
}

static void put_rows(const struct listing *l, const uint8_t *shown, struct json_writer *w)
{
	json_w_key(w, "rows");
	json_w_array(w);
	for (code_idx i = 0; i < l->trace->n_code; i++) {
		const struct hot_group g = {.code = i, .sums = l->hot->rows[i]};

		if (!shown[i] || l->trace->code[i].is_label)
			continue;
		json_w_row_object(w);
		hot_json_row(l->hot, &g, w);
		json_w_kv_u64(w, "loop_depth", l->rows[i].depth);
		json_w_kv_u64(w, "index", i);
		put_frames(l->trace, &l->trace->code[i], w);
		put_execution(l, i, w);
		put_stated(l, i, w);
		put_live(l, i, w);
		put_place(l, &g, w);
		if (g.sums.totals.hit && !l->hot->is_stated)
			ratio_json(w, "per_hit", hot_cycles(&g.sums), g.sums.totals.hit);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_labels(const struct listing *l, const uint8_t *shown, struct json_writer *w)
{
	json_w_key(w, "labels");
	json_w_array(w);
	for (code_idx i = 0; i < l->trace->n_code; i++) {
		const struct code_row *r = &l->trace->code[i];

		if (!shown[i] || !r->is_label)
			continue;
		json_w_row_object(w);
		json_w_kv_i64(w, "row", r->number);
		json_w_kv_u64(w, "address", r->address);
		json_w_kv_cstr(w, "text", r->text);
		json_w_kv_u64(w, "index", i);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_edge(const struct listing *l, const struct producer_edge *x, struct json_writer *w)
{
	const struct listing_row *row = &l->rows[x->wait];
	bool is_drawn = false;

	for (unsigned k = 0; k < row->n_edges; k++)
		is_drawn |= &l->producers->edges.v[row->edge[k]] == x;
	json_w_row_object(w);
	producers_json_edge(l->producers, x, w);
	json_w_kv_bool(w, "dominating", is_drawn);
	json_w_end(w);
}

static void put_branches(const struct listing *l, const uint8_t *shown, struct json_writer *w)
{
	json_w_key(w, "branches");
	json_w_array(w);
	for (code_idx i = 0; i < l->trace->n_code; i++) {
		code_idx to = l->cfg.target[i];

		if (!shown[i] || to >= l->trace->n_code)
			continue;
		json_w_row_object(w);
		json_w_kv_i64(w, "row", l->trace->code[i].number);
		json_w_kv_i64(w, "target", l->trace->code[to].number);
		json_w_kv_u64(w, "taken", l->rows[i].taken);
		json_w_kv_u64(w, "not_taken", l->rows[i].not_taken);
		json_w_end(w);
	}
	json_w_end(w);
}

/* Rows of a block or of a loop together. */
static void put_sums(const struct hot_sums *s, struct json_writer *w)
{
	json_w_kv_u64(w, "hit", s->totals.hit);
	json_w_kv_u64(w, "latency", s->totals.latency);
	json_w_kv_u64(w, "samples", s->samples);
	json_w_key(w, "buckets");
	json_w_row_object(w);
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		json_w_kv_u64(w, bucket_name(b), s->bucket[b]);
	json_w_end(w);
	json_w_kv_u64(w, "cycles", hot_cycles(s));
}

static void add_block(const struct listing *l, uint32_t block, struct hot_sums *to)
{
	const struct cfg_block *b = &l->cfg.blocks[block];

	for (uint32_t i = 0; i < b->n; i++)
		hot_add(to, &l->hot->rows[l->cfg.rows[b->first + i]]);
}

static void put_header_row(const struct listing *l, uint32_t loop, struct json_writer *w)
{
	const struct cfg *g = &l->cfg;

	json_w_i64(w, l->trace->code[cfg_block_first(g, g->loops[loop].header)].number);
}

static void put_blocks(const struct listing *l, struct json_writer *w)
{
	const struct cfg *g = &l->cfg;

	json_w_key(w, "blocks");
	json_w_array(w);
	for (uint32_t k = 0; k < g->n_blocks; k++) {
		struct hot_sums sums = {0};
		code_idx first = cfg_block_first(g, k);

		add_block(l, k, &sums);
		json_w_row_object(w);
		json_w_kv_i64(w, "first_row", l->trace->code[first].number);
		json_w_kv_i64(w, "last_row", l->trace->code[cfg_block_last(g, k)].number);
		json_w_kv_u64(w, "rows", g->blocks[k].n);
		json_w_key(w, "loop");
		if (g->blocks[k].loop == NO_LOOP)
			json_w_null(w);
		else
			put_header_row(l, g->blocks[k].loop, w);
		json_w_kv_u64(w, "executions", l->hot->rows[first].totals.hit);
		put_sums(&sums, w);
		ratio_json(w, "per_execution", hot_cycles(&sums), l->hot->rows[first].totals.hit);
		json_w_end(w);
	}
	json_w_end(w);
}

/* What the whole body of each loop cost, inner loops included; in the order of "loops". */
static void put_bodies(const struct listing *l, struct json_writer *w)
{
	const struct cfg *g = &l->cfg;

	json_w_key(w, "bodies");
	json_w_array(w);
	for (uint32_t k = 0; k < g->n_loops; k++) {
		json_w_row_object(w);
		json_w_key(w, "header_row");
		put_header_row(l, k, w);
		put_sums(&l->bodies[k], w);
		ratio_json(
			w, "per_execution", hot_cycles(&l->bodies[k]), l->loops->v[k].executions);
		json_w_end(w);
	}
	json_w_end(w);
}

void listing_json(const struct listing *l, const uint8_t *shown, struct json_writer *w)
{
	json_w_key(w, "hottest_row");
	if (l->hottest == NO_CODE)
		json_w_null(w);
	else
		json_w_i64(w, l->trace->code[l->hottest].number);
	put_sources(l->trace, w);
	put_labels(l, shown, w);
	put_rows(l, shown, w);
	json_w_key(w, "edges");
	json_w_array(w);
	for (size_t i = 0; i < l->producers->edges.n; i++) {
		const struct producer_edge *x = &l->producers->edges.v[i];

		if (shown[x->wait] || shown[x->producer])
			put_edge(l, x, w);
	}
	json_w_end(w);
	wait_pairs_json(l->latency->pairs, shown, w);
	put_branches(l, shown, w);
	json_w_key(w, "loops");
	loops_json(l->loops, w);
	put_blocks(l, w);
	put_bodies(l, w);
	if (l->latency)
		latency_json(l->latency, w);
}
