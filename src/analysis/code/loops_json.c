/* SPDX-License-Identifier: Apache-2.0 */
/* loops_json.c: loops as JSON, and the names of what an iteration's cycles went to. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/code/loops.h"

double loop_drift(const struct loop_stats *s)
{
	if (s->early_n == 0 || s->early_cyc == 0)
		return 0;
	/* both halves hold the same number of iterations */
	return (double)s->late_cyc / (double)s->early_cyc - 1.0;
}

const char *loop_cause_name(enum bucket b, enum inst_class c, char buf[48])
{
	switch (b) {
	case BUCKET_ISSUE:
		snprintf(buf, 48, "issue:%s", class_name(c));
		return buf;
	case BUCKET_STALL:
		if (c == CLASS_NOP)
			return "nop";
		snprintf(buf, 48, "pipe-stall:%s", class_name(c));
		return buf;
	case BUCKET_WAIT:
		return c == CLASS_BARRIER ? "barrier" : c == CLASS_SLEEP ? "sleep" : "wait";
	case BUCKET_IDLE:
		snprintf(buf, 48, "gap:%s", class_name(c));
		return buf;
	default:
		return "drain";
	}
}

struct cause_entry {
	enum bucket bucket;
	enum inst_class inst_class;
	uint64_t cyc;
};

static int compare_causes(const void *pa, const void *pb)
{
	const struct cause_entry *a = pa, *b = pb;

	if (a->cyc != b->cyc)
		return a->cyc > b->cyc ? -1 : 1;
	if (a->bucket != b->bucket)
		return a->bucket < b->bucket ? -1 : 1;
	return (int)a->inst_class - (int)b->inst_class;
}

static void put_causes(const struct loop_stats *s, struct json_writer *w)
{
	struct cause_entry v[BUCKET_COUNT * CLASS_COUNT];
	unsigned n = 0;
	char buf[48];

	for (unsigned b = 0; s->cause && b < BUCKET_COUNT; b++)
		for (unsigned c = 0; c < CLASS_COUNT; c++)
			if (s->cause[b][c] > 0)
				v[n++] = (struct cause_entry){b, c, s->cause[b][c]};
	qsort(v, n, sizeof(v[0]), compare_causes);
	json_w_key(w, "causes");
	json_w_array(w);
	for (unsigned i = 0; i < n; i++) {
		json_w_row_object(w);
		json_w_kv_cstr(w, "cause", loop_cause_name(v[i].bucket, v[i].inst_class, buf));
		json_w_kv_cstr(w, "bucket", bucket_name(v[i].bucket));
		json_w_kv_u64(w, "cycles", v[i].cyc);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_split(struct json_writer *w, const char *key, const struct loop_split *s)
{
	json_w_key(w, key);
	json_w_row_object(w);
	json_w_kv_u64(w, "iterations", s->n);
	json_w_kv_u64(w, "cycles", s->cyc);
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		json_w_kv_u64(w, bucket_name(b), s->bucket[b]);
	json_w_end(w);
}

static void put_place(const struct loops *l, const struct loop_stats *s, struct json_writer *w)
{
	const struct cfg *g = l->cfg;
	const struct cfg_loop *c = &g->loops[s->loop];
	const struct code_row *header = &g->trace->code[cfg_block_first(g, c->header)];
	const struct code_row *latch = &g->trace->code[cfg_block_last(g, c->latch)];

	json_w_kv_i64(w, "header_row", header->number);
	json_w_kv_u64(w, "header_address", header->address);
	json_w_kv_i64(w, "latch_row", latch->number);
	json_w_kv_u64(w, "latch_address", latch->address);
	json_w_kv_u64(w, "latches", c->n_latches);
	json_w_kv_u64(w, "depth", c->depth);
	if (c->parent == NO_LOOP)
		json_w_kv_null(w, "parent_header_row");
	else
		json_w_kv_i64(w, "parent_header_row",
			g->trace->code[cfg_block_first(g, g->loops[c->parent].header)].number);
	json_w_kv_u64(w, "blocks", c->n_blocks);
	json_w_kv_u64(w, "rows", c->n_rows);
}

static void put_loop(const struct loops *l, const struct loop_stats *s, struct json_writer *w)
{
	json_w_object(w);
	put_place(l, s, w);
	json_w_kv_cstr(w, "state",
		s->iterations	? "iterated"
		: s->executions ? "entered-once"
				: "not-reached");
	json_w_kv_u64(w, "executions", s->executions);
	json_w_kv_u64(w, "waves", s->waves);
	json_w_kv_u64(w, "visits", s->visits);
	json_w_key(w, "trips");
	json_w_array(w);
	for (uint32_t i = 0; i < s->n_trips; i++) {
		json_w_row_object(w);
		json_w_kv_u64(w, "executions", s->trips[i].executions);
		json_w_kv_u64(w, "waves", s->trips[i].waves);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_kv_u64(w, "iterations", s->iterations);
	json_w_kv_u64(w, "min", s->min_cyc);
	json_w_kv_u64(w, "median", s->median_cyc);
	json_w_kv_u64(w, "p95", s->p95_cyc);
	json_w_kv_u64(w, "max", s->max_cyc);
	put_split(w, "all", &s->all);
	put_split(w, "first", &s->first);
	put_split(w, "steady", &s->steady);
	put_split(w, "last", &s->last);
	json_w_kv_u64(w, "exit_passes", s->exit_n);
	json_w_kv_u64(w, "exit_cycles", s->exit_cyc);
	json_w_kv_u64(w, "prologue_cycles", s->prologue_cyc);
	json_w_kv_u64(w, "epilogue_cycles", s->epilogue_cyc);
	json_w_kv_double(w, "drift", loop_drift(s), 4);
	put_causes(s, w);
	json_w_end(w);
}

void loops_json(const struct loops *l, struct json_writer *w)
{
	json_w_array(w);
	for (uint32_t i = 0; i < l->n; i++)
		put_loop(l, &l->v[i], w);
	json_w_end(w);
}
