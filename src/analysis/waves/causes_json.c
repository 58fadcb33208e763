/* SPDX-License-Identifier: Apache-2.0 */
/* causes_json.c: causes and their families as JSON members. */
#include "analysis/ratio.h"
#include "analysis/waves/causes.h"

void causes_json_members(const struct cause *x, struct json_writer *w)
{
	bool is_idle = x->bucket == BUCKET_IDLE;
	bool is_stall = x->bucket == BUCKET_WAIT || x->bucket == BUCKET_STALL;

	json_w_kv_cstr(w, "key", x->name);
	json_w_kv_cstr(w, "bucket", bucket_name(x->bucket));
	json_w_kv_cstr(w, "family", family_name(x->family));
	json_w_kv_u64(w, "cycles", x->cyc);
	json_w_kv_u64(w, "hit", x->hits);
	json_w_kv_u64(w, "latency", is_idle ? 0 : x->cyc);
	json_w_kv_u64(w, "stall", is_stall ? x->cyc : 0);
	json_w_kv_u64(w, "idle", is_idle ? x->cyc : 0);
}

void causes_json_one(const struct cause *x, struct json_writer *w)
{
	json_w_row_object(w);
	causes_json_members(x, w);
	json_w_kv_u64(w, "free_hits", x->free_hits);
	json_w_kv_u64(w, "free_cycles", x->free_cyc);
	json_w_end(w);
}

static void put_families(const struct causes *c, struct json_writer *w)
{
	uint64_t lost = 0;

	for (unsigned f = FAMILY_USEFUL + 1; f < FAMILY_COUNT; f++)
		lost += c->family[f].cyc;
	json_w_key(w, "families");
	json_w_object(w);
	for (unsigned f = FAMILY_USEFUL + 1; f < FAMILY_COUNT; f++) {
		const struct family_sum *s = &c->family[f];

		if (!s->cyc)
			continue;
		json_w_key(w, family_name(f));
		json_w_row_object(w);
		json_w_kv_u64(w, "cycles", s->cyc);
		if (c->busy) {
			json_w_kv_u64(w, "hidden", s->hidden_cyc);
			json_w_kv_u64(w, "exposed", s->cyc - s->hidden_cyc);
		}
		ratio_json(w, "share", s->cyc, lost);
		json_w_end(w);
	}
	json_w_end(w);
}

void causes_json(const struct causes *c, struct json_writer *w)
{
	json_w_key(w, "causes");
	json_w_array(w);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct cause *x = &c->v[i];

		json_w_row_object(w);
		json_w_kv_cstr(w, "cause", x->name);
		json_w_kv_cstr(w, "bucket", bucket_name(x->bucket));
		json_w_kv_cstr(w, "family", family_name(x->family));
		json_w_kv_u64(w, "cycles", x->cyc);
		if (c->busy && x->kind != CAUSE_ISSUE) {
			json_w_kv_u64(w, "hidden", x->hidden_cyc);
			json_w_kv_u64(w, "exposed", x->cyc - x->hidden_cyc);
		}
		json_w_kv_u64(w, "hits", x->hits);
		if (x->kind == CAUSE_WAIT) {
			json_w_kv_u64(w, "free_hits", x->free_hits);
			json_w_kv_u64(w, "free_cycles", x->free_cyc);
		}
		json_w_end(w);
	}
	json_w_end(w);
	put_families(c, w);
}
