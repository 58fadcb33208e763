/* SPDX-License-Identifier: Apache-2.0 */
/* input_json.c: which capture is an answer about? */
#include "analysis/summary/input_json.h"

#include "isa/ascend_names.h"

static void put_number(struct json_writer *w, const char *key, int64_t v)
{
	if (v == NO_VALUE)
		json_w_kv_null(w, key);
	else
		json_w_kv_i64(w, key, v);
}

/* Only traces whose maker says something of them have the key. */
static void put_labels(struct json_writer *w, const struct trace *t)
{
	const struct named_table *k = trace_find_table(t, ASCEND_TABLE_LABELS);

	if (!k)
		return;
	json_w_key(w, "labels");
	json_w_object(w);
	for (uint32_t i = 0; i < k->n_rows; i++) {
		const char *key = named_table_cell(k, i, "key");

		if (key)
			json_w_kv_cstr(w, key, named_table_cell(k, i, "value"));
	}
	json_w_end(w);
}

void input_json(const struct trace *t, struct json_writer *w)
{
	const struct trace_meta *m = &t->meta;
	double mhz = trace_clock_mhz(t);

	json_w_object(w);
	json_w_kv_cstr(w, "path", m->origin);
	json_w_kv_cstr(w, "format", m->format);
	json_w_kv_cstr(w, "format_version", m->format_version);
	json_w_kv_cstr(w, "vendor", vendor_name(m->vendor));
	json_w_kv_cstr(w, "arch", m->arch);
	json_w_kv_cstr(w, "kernel", m->kernel);
	json_w_kv_cstr(w, "evidence", evidence_name(m->evidence));
	put_number(w, "agent", m->launch.agent);
	put_number(w, "dispatch", m->launch.dispatch);
	json_w_key(w, "clock_mhz");
	if (mhz > 0)
		json_w_double(w, mhz, 3);
	else
		json_w_null(w);
	json_w_kv_u64(w, "tracks", t->n_tracks);
	json_w_kv_u64(w, "notes", t->n_notes);
	put_labels(w, t);
	json_w_end(w);
}
