/* SPDX-License-Identifier: Apache-2.0 */
/* hot_json.c: the JSON form of hot.h. */
#include "analysis/code/hot.h"

static void put_totals(const struct code_totals *t, struct json_writer *w)
{
	json_w_kv_u64(w, "hit", t->hit);
	json_w_kv_u64(w, "latency", t->latency);
	json_w_kv_u64(w, "stall", t->stall);
	json_w_kv_u64(w, "idle", t->idle);
}

static void put_buckets(const struct hot_sums *s, struct json_writer *w)
{
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		json_w_kv_u64(w, bucket_name(b), s->bucket[b]);
}

void hot_json_totals(const struct hot *h, struct json_writer *w)
{
	json_w_key(w, "totals");
	json_w_object(w);
	json_w_kv_u64(w, "waves", h->n_waves);
	json_w_kv_u64(w, "rows", hot_static_rows(h->trace));
	json_w_kv_u64(w, "instructions", h->n_instructions);
	put_totals(&h->all.totals, w);
	if (h->all.samples) {
		json_w_kv_u64(w, "samples", h->all.samples);
		json_w_kv_u64(w, "stalled_samples", h->all.stalled_samples);
	}
	json_w_kv_cstr(w, "from", h->is_stated ? "stated" : "computed");
	json_w_end(w);
	json_w_key(w, "accounting");
	if (h->is_stated) {
		json_w_null(w);
		return;
	}
	json_w_object(w);
	put_buckets(&h->all, w);
	json_w_kv_u64(w, "duration", h->duration_cyc);
	json_w_kv_i64(w, "residue", h->residue_cyc);
	json_w_end(w);
}

static void put_cycles(const struct hot_sums *s, struct json_writer *w)
{
	put_totals(&s->totals, w);
	json_w_key(w, "buckets");
	json_w_row_object(w);
	put_buckets(s, w);
	json_w_end(w);
	json_w_kv_u64(w, "cycles", hot_cycles(s));
	if (s->samples) {
		json_w_kv_u64(w, "samples", s->samples);
		json_w_kv_u64(w, "stalled_samples", s->stalled_samples);
		json_w_key(w, "stall_reasons");
		json_w_row_object(w);
		for (unsigned r = 0; r < STALL_REASONS; r++)
			if (s->reason[r])
				json_w_kv_u64(w, stall_reason_name(r), s->reason[r]);
		json_w_end(w);
	}
}

/* The members of one row; the caller opens and closes the object, and may add to it. */
void hot_json_row(const struct hot *h, const struct hot_group *g, struct json_writer *w)
{
	const struct trace *t = h->trace;
	const struct code_row *r = g->code < t->n_code ? &t->code[g->code] : NULL;

	if (!r) {
		json_w_kv_null(w, "row");
		json_w_kv_null(w, "address");
		json_w_kv_cstr(w, "isa", "(unknown code)");
		json_w_kv_cstr(w, "opcode", "(unknown)");
		json_w_kv_cstr(w, "class", class_name(CLASS_OTHER));
		json_w_kv_null(w, "source");
	} else {
		json_w_kv_i64(w, "row", r->number);
		json_w_kv_u64(w, "address", r->address);
		json_w_kv_cstr(w, "isa", r->text);
		json_w_kv_cstr(w, "opcode", t->opcodes[r->opcode]);
		json_w_kv_cstr(w, "class", class_name(r->inst_class));
		json_w_kv_cstr(w, "source", r->source && r->source[0] ? r->source : NULL);
	}
	put_cycles(&g->sums, w);
}
