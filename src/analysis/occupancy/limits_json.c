/* SPDX-License-Identifier: Apache-2.0 */
/* limits_json.c: the predicted limit and everything it was made from, as JSON. */
#include "analysis/occupancy/limits.h"
#include "analysis/ratio.h"

static void put_limit(struct json_writer *w, enum limit_kind k, const struct limit *x)
{
	static const char *const states[] = {"known", "unknown", "none"};

	json_w_key(w, limit_name(k));
	json_w_row_object(w);
	json_w_kv_cstr(w, "state", states[x->state]);
	if (x->state == LIMIT_KNOWN)
		json_w_kv_u64(w, "waves", x->waves);
	else
		json_w_kv_null(w, "waves");
	json_w_end(w);
}

static void put_kernel(struct json_writer *w, const struct limits *l)
{
	json_w_key(w, "kernel");
	json_w_object(w);
	json_w_kv_u64(w, "arch_vgprs", l->arch_vgprs);
	json_w_kv_u64(w, "accum_vgprs", l->accum_vgprs);
	json_w_kv_u64(w, "arch_vgprs_used", l->regs.arch);
	json_w_kv_u64(w, "accum_vgprs_used", l->regs.accum);
	known_json(w, "stated_vgprs", l->stated_vgprs);
	known_json(w, "lds_bytes_per_workgroup", l->lds_bytes_per_workgroup);
	json_w_kv_bool(w, "has_lds_instructions", l->has_lds_instructions);
	known_json(w, "waves_per_workgroup", l->waves_per_workgroup);
	known_json(w, "launched_waves", l->launched_waves);
	json_w_end(w);
}

static void put_machine(struct json_writer *w, const struct limits *l)
{
	json_w_key(w, "machine");
	json_w_object(w);
	json_w_kv_cstr(w, "source", l->machine_source);
	json_w_kv_cstr(w, "assumed_target", l->is_assumed && l->assumed ? l->assumed->arch : NULL);
	json_w_kv_cstr(
		w, "assumed_product", l->is_assumed && l->assumed ? l->assumed->product : NULL);
	known_json(w, "max_waves_per_simd", l->max_waves_per_simd);
	known_json(w, "vgprs_per_simd", l->vgpr_pool ? (int64_t)l->vgpr_pool : NO_VALUE);
	known_json(w, "vgpr_granule", l->vgpr_granule ? (int64_t)l->vgpr_granule : NO_VALUE);
	known_json(w, "lds_bytes_per_cu", l->lds_bytes_per_cu);
	known_json(w, "simds", l->simds);
	known_json(w, "simds_per_cu", l->simds_per_cu);
	known_json(w, "wave_size", l->wave_size);
	json_w_end(w);
}

void limits_json(const struct limits *l, struct json_writer *w)
{
	struct strbuf sb = {0};

	json_w_object(w);
	if (l->is_known) {
		json_w_kv_u64(w, "waves_per_simd", l->predicted);
		json_w_kv_cstr(w, "limiter", limit_name(l->limiter));
	} else {
		json_w_kv_null(w, "waves_per_simd");
		json_w_kv_null(w, "limiter");
	}
	json_w_kv_bool(w, "is_upper_bound", l->is_upper_bound);
	json_w_key(w, "limiters");
	json_w_row(w);
	for (unsigned k = 0; k < LIMIT_KINDS; k++)
		if (l->is_known && (l->limiter_mask & 1u << k))
			json_w_cstr(w, limit_name(k));
	json_w_end(w);
	json_w_key(w, "by");
	json_w_object(w);
	for (unsigned k = 0; k < LIMIT_KINDS; k++)
		put_limit(w, k, &l->by[k]);
	json_w_end(w);
	w->is_failed |= !limits_put_sentence(l, &sb);
	json_w_kv_str(w, "sentence", (struct str){sb.p ? sb.p : "", sb.n});
	sb_reset(&sb);
	if (limits_put_next_step(l, &sb))
		json_w_kv_str(w, "next_step", (struct str){sb.p, sb.n});
	else
		json_w_kv_null(w, "next_step");
	put_kernel(w, l);
	put_machine(w, l);
	json_w_end(w);
	w->is_failed |= sb.failed;
	sb_free(&sb);
}
