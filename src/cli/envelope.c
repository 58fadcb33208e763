/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envelope.c: the envelope of every JSON answer: {"schema", "incore", "input", "data", "warnings"}:
 * who made it, from which capture with which evidence, and what was lost.
 */
#include "cli/cli.h"

void cli_json_head(struct cli *c, struct json_writer *w)
{
	json_w_file(w, c->out, 1);
	envelope_begin(c->verb->name, w);
}

void cli_json_begin(
	struct cli *c, struct json_writer *w, const struct trace *const *traces, size_t n_traces)
{
	cli_json_head(c, w);
	envelope_input(traces, n_traces, IMPORT_ALL, w);
	json_w_key(w, "data");
}

bool cli_json_end(struct cli *c, struct json_writer *w)
{
	const char *p = c->warnings.p, *end = p ? p + c->warnings.n : NULL;

	if (c->warnings.failed)
		return err_nomem(&c->error);
	json_w_kv_array(w, "warnings");
	for (; p && p < end; p += strlen(p) + 1)
		json_w_cstr(w, p);
	json_w_end(w);
	json_w_end(w);
	/* Write errors are reported when the sink is closed: a full disk fails, a closed pipe ends
	 * quietly. */
	return ferror(c->out) || json_w_finish(w, &c->error);
}

bool cli_json(struct cli *c, const struct record *input, const void *in, const struct record *data,
	const void *value)
{
	struct json_writer w;

	cli_json_head(c, &w);
	record_json(input, in, &w);
	json_w_key(&w, "data");
	record_json(data, value, &w);
	return cli_json_end(c, &w);
}

bool cli_json_captures(struct cli *c, const struct trace *const *traces, size_t n_traces,
	const struct record *data, const void *value)
{
	struct json_writer w;

	cli_json_begin(c, &w, traces, n_traces);
	record_json(data, value, &w);
	return cli_json_end(c, &w);
}
