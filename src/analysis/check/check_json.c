/* SPDX-License-Identifier: Apache-2.0 */
/* check_json.c: verdict and findings as JSON. */
#include "analysis/check/check.h"

static void put_fact(const struct fact *x, struct json_writer *w)
{
	json_w_key(w, x->key);
	if (x->kind == FACT_INT)
		json_w_i64(w, x->i);
	else if (x->kind == FACT_REAL)
		json_w_double(w, x->d, x->digits);
	else
		json_w_cstr(w, x->text);
}

static void put_finding(const struct finding *f, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_cstr(w, "id", f->id);
	json_w_kv_cstr(w, "severity", severity_name(f->severity));
	json_w_kv_cstr(w, "message", f->message);
	json_w_key(w, "evidence");
	json_w_row_object(w);
	for (unsigned i = 0; i < f->n_facts; i++)
		put_fact(&f->facts[i], w);
	json_w_end(w);
	json_w_kv_cstr(w, "advice", f->advice);
	json_w_end(w);
}

void check_json(const struct check *c, struct json_writer *w)
{
	json_w_kv_cstr(w, "verdict", verdict_name(c->verdict));
	json_w_key(w, "findings");
	json_w_array(w);
	for (uint32_t i = 0; i < c->n_findings; i++)
		put_finding(&c->findings[i], w);
	json_w_end(w);
}
