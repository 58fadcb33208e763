/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envelope.c: what stands around every JSON answer? {"schema", "incore", "input", "data",
 * "warnings"}: who made it, of what capture with which evidence, and what was lost.
 */
#include "analysis/summary/input_json.h"
#include "cli/cli.h"
#include "isa/ascend_names.h"

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
		input_json(traces[0], w);
	} else {
		json_w_object(w);
		json_w_key(w, "captures");
		json_w_array(w);
		for (size_t i = 0; i < n_traces; i++)
			input_json(traces[i], w);
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
