/* SPDX-License-Identifier: Apache-2.0 */
/* diff_json.c: a diff as members of an open JSON object. */
#include "analysis/diff/diff.h"

static void put_alignment(const struct diff *d, struct json_writer *w)
{
	const struct diff_align *x = &d->align;

	json_w_key(w, "alignment");
	json_w_object(w);
	json_w_kv_cstr(w, "kind", diff_align_name(x->kind));
	json_w_kv_u64(w, "rows_a", x->rows_a);
	json_w_kv_u64(w, "rows_b", x->rows_b);
	json_w_kv_u64(w, "matched", x->matched);
	json_w_kv_double(w, "latency_share", diff_matched_share(x), 6);
	json_w_kv_u64(w, "matched_latency_a", x->matched_a);
	json_w_kv_u64(w, "matched_latency_b", x->matched_b);
	json_w_end(w);
}

static void put_mhz(struct json_writer *w, const char *key, double mhz)
{
	if (mhz > 0)
		json_w_kv_double(w, key, mhz, 3);
	else
		json_w_kv_null(w, key);
}

static void put_work(const struct diff *d, struct json_writer *w)
{
	json_w_key(w, "hits");
	json_w_object(w);
	json_w_kv_u64(w, "a", d->a->hot->all.totals.hit);
	json_w_kv_u64(w, "b", d->b->hot->all.totals.hit);
	json_w_kv_double(w, "ratio", d->hit_ratio, 6);
	json_w_kv_bool(w, "is_uniform", d->is_same_work);
	json_w_end(w);
	json_w_key(w, "clocks");
	json_w_object(w);
	put_mhz(w, "a_mhz", d->clock_a_mhz);
	put_mhz(w, "b_mhz", d->clock_b_mhz);
	json_w_kv_bool(w, "is_alike", d->is_clock_alike);
	json_w_end(w);
	json_w_key(w, "noise");
	json_w_object(w);
	json_w_kv_u64(w, "repeats_a", d->options->n_repeats_a);
	json_w_kv_u64(w, "repeats_b", d->options->n_repeats_b);
	json_w_kv_bool(w, "is_pair", d->options->is_pair);
	json_w_kv_double(w, "factor", d->options->noise_factor, 3);
	json_w_kv_cstr(w, "statement",
		d->has_noise ? "changes are compared with the spread of repeats"
			     : "no repeat: no significance claim");
	json_w_end(w);
}

static void put_value(const struct diff *d, const struct diff_value *v, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_cstr(w, "name", v->name);
	/* a double that is not finite is written as null: the capture does not tell */
	json_w_kv_double(w, "a", v->a, 6);
	json_w_kv_double(w, "b", v->b, 6);
	if (v->is_known) {
		json_w_kv_double(w, "change", v->change, 6);
		json_w_kv_double(w, "change_pct", v->change_pct, 4);
	} else {
		json_w_kv_null(w, "change");
		json_w_kv_null(w, "change_pct");
	}
	if (d->has_noise) {
		json_w_kv_double(w, "noise", v->noise, 6);
		json_w_kv_double(w, "noise_pct", v->noise_pct, 4);
	} else {
		json_w_kv_null(w, "noise");
		json_w_kv_null(w, "noise_pct");
	}
	json_w_kv_cstr(w, "verdict", diff_verdict_name(v->verdict));
	json_w_end(w);
}

static void put_row(struct json_writer *w, const char *key, const struct trace *t, code_idx i)
{
	if (i < t->n_code)
		json_w_kv_i64(w, key, t->code[i].number);
	else
		json_w_kv_null(w, key);
}

static void put_part(const struct diff *d, const struct diff_part *p, struct json_writer *w)
{
	const struct trace *t = p->code_b < d->b->trace->n_code ? d->b->trace : d->a->trace;
	code_idx code = t == d->b->trace ? p->code_b : p->code_a;

	json_w_object(w);
	json_w_kv_cstr(w, "key", p->key);
	put_row(w, "row_a", d->a->trace, p->code_a);
	put_row(w, "row_b", d->b->trace, p->code_b);
	json_w_kv_cstr(w, "source", code < t->n_code ? t->code[code].source : NULL);
	json_w_kv_u64(w, "hit_a", p->hit_a);
	json_w_kv_u64(w, "hit_b", p->hit_b);
	json_w_kv_u64(w, "cycles_a", p->cycles_a);
	json_w_kv_u64(w, "cycles_b", p->cycles_b);
	json_w_kv_double(w, "per_hit_a", p->per_hit_a, 6);
	json_w_kv_double(w, "per_hit_b", p->per_hit_b, 6);
	json_w_kv_double(w, "stall_per_hit_a", p->stall_per_hit_a, 6);
	json_w_kv_double(w, "stall_per_hit_b", p->stall_per_hit_b, 6);
	json_w_kv_double(w, "change", p->change, 6);
	json_w_kv_double(w, "contribution", p->contribution, 6);
	if (d->has_noise)
		json_w_kv_double(w, "noise", p->noise, 6);
	else
		json_w_kv_null(w, "noise");
	json_w_kv_cstr(w, "verdict", diff_verdict_name(p->verdict));
	json_w_end(w);
}

void diff_json(const struct diff *d, uint64_t top, struct json_writer *w)
{
	static const char *const by[] = {"instr", "line", "opcode", "class", "cause"};

	json_w_key(w, "evidence");
	json_w_object(w);
	json_w_kv_cstr(w, "a", evidence_name(d->a->trace->meta.evidence));
	json_w_kv_cstr(w, "b", evidence_name(d->b->trace->meta.evidence));
	json_w_end(w);
	json_w_kv_cstr(w, "by", by[d->by]);
	json_w_kv_cstr(w, "verdict", diff_verdict_name(d->verdict));
	put_alignment(d, w);
	put_work(d, w);
	json_w_key(w, "values");
	json_w_array(w);
	for (uint32_t i = 0; i < d->n_values; i++)
		put_value(d, &d->values[i], w);
	json_w_end(w);
	json_w_kv_u64(w, "parts_total", d->n_parts);
	json_w_key(w, "parts");
	json_w_array(w);
	for (uint32_t i = 0; i < d->n_parts && i < top; i++)
		put_part(d, &d->parts[i], w);
	json_w_end(w);
}
