/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envelope.c: what stands around every JSON answer? {"schema", "incore", "input", "data",
 * "warnings"}: who made it, of what capture with which evidence, and what was lost.
 */
#include "cli/cli.h"
#include "isa/ascend_names.h"

static void put_number(struct json_writer *w, const char *key, int64_t v)
{
	if (v == NO_VALUE)
		json_w_kv_null(w, key);
	else
		json_w_kv_i64(w, key, v);
}

static const char *label_of(const struct named_table *k, const char *key)
{
	for (uint32_t i = 0; i < k->n_rows; i++) {
		const char *name = named_table_cell(k, i, "key");

		if (name && strcmp(name, key) == 0)
			return named_table_cell(k, i, "value");
	}
	return NULL;
}

const char *cli_evidence(const struct trace *t, char buf[EVIDENCE_TEXT])
{
	const struct named_table *k = trace_find_table(t, ASCEND_TABLE_LABELS);
	const char *profile = k ? label_of(k, "profile") : NULL;
	const char *calibration = k ? label_of(k, "calibration") : NULL;
	const char *name = evidence_name(t->meta.evidence);

	if (!profile)
		return name;
	snprintf(buf, EVIDENCE_TEXT, "%s (%.60s%s%.30s)", name, profile, calibration ? ", " : "",
		calibration ? calibration : "");
	return buf;
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

static void put_input(struct json_writer *w, const struct trace *t)
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

void cli_json_head(struct cli *c, struct json_writer *w)
{
	char schema[64];

	snprintf(schema, sizeof(schema), "incore.%.*s/1", (int)strcspn(c->verb->name, " "),
		c->verb->name);
	json_w_file(w, c->out, 1);
	json_w_object(w);
	json_w_kv_cstr(w, "schema", schema);
	json_w_kv_cstr(w, "incore", INCORE_VERSION);
	json_w_key(w, "input");
}

void cli_json_begin(
	struct cli *c, struct json_writer *w, const struct trace *const *traces, size_t n_traces)
{
	cli_json_head(c, w);
	if (n_traces == 1) {
		put_input(w, traces[0]);
	} else {
		json_w_object(w);
		json_w_key(w, "captures");
		json_w_array(w);
		for (size_t i = 0; i < n_traces; i++)
			put_input(w, traces[i]);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_key(w, "data");
}

bool cli_json_end(struct cli *c, struct json_writer *w)
{
	const char *p = c->warnings.p, *end = p ? p + c->warnings.n : NULL;

	if (c->warnings.failed)
		return err_nomem(&c->error);
	json_w_key(w, "warnings");
	json_w_array(w);
	for (; p && p < end; p += strlen(p) + 1)
		json_w_cstr(w, p);
	json_w_end(w);
	json_w_end(w);
	/* What the sink did not take is told when it is closed: a full disk fails, a closed pipe
	 * ends quietly. */
	return ferror(c->out) || json_w_finish(w, &c->error);
}
