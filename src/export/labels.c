/* SPDX-License-Identifier: Apache-2.0 */
/* labels.c: the labels of a trace, and the other metadata of a trace.json. */
#include "export/labels.h"

#include "codec/json_writer.h"
#include "isa/ascend.h"

/* With more metadata the events would start too late in the file for the viewer; the container has
 * all of it. */
#define MAX_METADATA (256u << 10)

static void labels_put_rows(const struct trace *t, struct json_writer *w)
{
	const struct named_table *k = trace_find_table(t, ASCEND_TABLE_LABELS);

	json_w_object(w);
	for (uint32_t i = 0; k && i < k->n_rows; i++) {
		const char *key = named_table_cell(k, i, "key");

		if (key)
			json_w_kv_cstr(w, key, named_table_cell(k, i, "value"));
	}
	json_w_end(w);
}

const char *labels_find(const struct trace *t, const char *key)
{
	const struct named_table *k = trace_find_table(t, ASCEND_TABLE_LABELS);

	for (uint32_t i = 0; k && i < k->n_rows; i++) {
		const char *found = named_table_cell(k, i, "key");

		if (found && strcmp(found, key) == 0)
			return named_table_cell(k, i, "value");
	}
	return NULL;
}

/* Escapes brackets: here they occur only in strings, where the escape is equivalent. */
static bool put_without_brackets(const struct strbuf *json, struct strbuf *out)
{
	for (size_t i = 0; i < json->n; i++) {
		if (json->p[i] == '[')
			sb_puts(out, "\\u005b");
		else
			sb_putc(out, json->p[i]);
	}
	return !json->failed && !out->failed;
}

bool labels_put(const struct trace *t, struct strbuf *out)
{
	struct strbuf b = {0};
	struct json_writer w;
	bool ok;

	json_w_buf(&w, &b, 0);
	labels_put_rows(t, &w);
	ok = put_without_brackets(&b, out);
	sb_free(&b);
	return ok;
}

static void put_metadata(const struct trace *t, struct strbuf *b, bool with_labels)
{
	const struct trace_meta *m = &t->meta;
	bool has_clock = m->clock_hz_num && m->clock_hz_den;
	struct json_writer w;

	json_w_buf(&w, b, 0);
	json_w_object(&w);
	json_w_kv_u64(&w, "clock_hz_den", has_clock ? m->clock_hz_den : 0);
	json_w_kv_u64(&w, "clock_hz_num", has_clock ? m->clock_hz_num : 0);
	json_w_kv_cstr(&w, "evidence", evidence_name(m->evidence));
	json_w_kv_cstr(&w, "incore", INCORE_VERSION);
	json_w_kv_cstr(&w, "kernel", m->kernel ? m->kernel : "");
	if (with_labels) {
		json_w_key(&w, "labels");
		labels_put_rows(t, &w);
	}
	json_w_kv_cstr(&w, "soc", m->arch ? m->arch : "");
	json_w_end(&w);
}

bool labels_put_metadata(const struct trace *t, struct strbuf *out)
{
	struct strbuf b = {0};
	bool ok;

	put_metadata(t, &b, true);
	if (b.n > MAX_METADATA) {
		sb_reset(&b);
		put_metadata(t, &b, false);
	}
	ok = put_without_brackets(&b, out);
	sb_free(&b);
	return ok;
}
