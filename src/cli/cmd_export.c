/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c: a trace in another format. */
#include "analysis/pipes/pipe_sweep.h"
#include "cli/ask.h"
#include "cli/text/table.h"
#include "export/export.h"

static const struct option_def export_options_table[] = {
	{0, "to", OPTION_TEXT, "FORMAT", NULL, NULL, "the format to write; --list names them"},
	{0, "list", OPTION_FLAG, NULL, NULL, NULL, "list the formats and end"},
	{0, "time", OPTION_CHOICE, "UNIT", "cycles|us", "cycles",
		"time in formats that know microseconds only"},
	{0, "until", OPTION_COUNT, "CYCLE", NULL, NULL,
		"look at cycles before here (what other verbs call --to)"},
	OPTION_END,
};

static int list_formats(struct cli *c)
{
	static const struct table_column columns[] = {
		{"format", NULL, CELL_LEFT, false},
		{"suffix", NULL, CELL_LEFT, false},
		{"holds", NULL, CELL_LEFT, true},
	};
	struct table t;
	bool ok;

	table_init(&t, columns, 3);
	for (size_t i = 0; export_registry[i]; i++) {
		table_cstr(&t, export_registry[i]->name);
		table_cstr(&t, export_registry[i]->suffix);
		table_cstr(&t, export_registry[i]->summary);
	}
	ok = table_print(&t, c);
	table_deinit(&t);
	return ok ? INCORE_OK : cli_fail(c);
}

static int list_json(struct cli *c)
{
	struct json_writer w;

	cli_json_begin(c, &w, NULL, 0);
	json_w_object(&w);
	json_w_key(&w, "formats");
	json_w_array(&w);
	for (size_t i = 0; export_registry[i]; i++) {
		const struct export_ops *o = export_registry[i];

		json_w_object(&w);
		json_w_kv_cstr(&w, "name", o->name);
		json_w_kv_cstr(&w, "suffix", o->suffix);
		json_w_kv_cstr(&w, "media_type", o->media_type);
		json_w_kv_cstr(&w, "summary", o->summary);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(c, &w) ? INCORE_OK : cli_fail(c);
}

static const struct export_ops *find_format(struct cli *c)
{
	const char *name = cli_text(c, "to");
	const struct export_ops *ops = name ? export_find(name) : NULL;
	struct strbuf b = {0};

	if (ops)
		return ops;
	for (size_t i = 0; export_registry[i]; i++)
		sb_printf(&b, "%s%s", i ? ", " : "", export_registry[i]->name);
	if (name)
		err_set(&c->error, INCORE_USAGE, "unknown-format",
			"export has no format '%s'; it has %s", name, b.p ? b.p : "");
	else
		err_set(&c->error, INCORE_USAGE, "missing-option",
			"export needs --to FORMAT, one of %s", b.p ? b.p : "");
	sb_free(&b);
	return NULL;
}

/* One line for all that the format has no place for. */
static void warn_cuts(struct cli *c, const struct export_ops *ops, const struct export_result *r)
{
	struct strbuf b = {0};
	char n[32];

	for (uint32_t i = 0; i < r->n_cuts; i++)
		sb_printf(&b, "%s%s %s", i ? ", " : "", fmt_u64(n, r->cuts[i].count),
			r->cuts[i].what);
	if (b.n && !b.failed)
		cli_warn(c, "left out by %s: %s", ops->name, b.p);
	sb_free(&b);
	if (r->advice)
		cli_warn(c, "%s", r->advice);
}

static int print_json(struct cli *c, const struct trace *t, const struct export_ops *ops,
	const char *path, const struct export_result *r)
{
	struct json_writer w;
	int64_t bytes = ops->is_directory ? (int64_t)r->bytes : file_size(path);

	cli_json_begin(c, &w, &t, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "file", path);
	json_w_kv_cstr(&w, "format", ops->name);
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	json_w_kv_i64(&w, "bytes", bytes < 0 ? 0 : bytes);
	json_w_kv_u64(&w, "tracks", r->n_tracks);
	json_w_kv_u64(&w, "damaged_tracks", r->n_failed);
	json_w_kv_u64(&w, "instructions", r->n_slices);
	json_w_kv_u64(&w, "states", r->n_states);
	json_w_kv_u64(&w, "links", r->n_links);
	json_w_kv_u64(&w, "counter_samples", r->n_samples);
	json_w_key(&w, "left_out");
	json_w_array(&w);
	for (uint32_t i = 0; i < r->n_cuts; i++) {
		json_w_object(&w);
		json_w_kv_cstr(&w, "what", r->cuts[i].what);
		json_w_kv_cstr(&w, "why", r->cuts[i].why);
		json_w_kv_u64(&w, "count", r->cuts[i].count);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(c, &w) ? INCORE_OK : cli_fail(c);
}

static void print_text(
	struct cli *c, const struct trace *t, const char *path, const struct export_result *r)
{
	char a[32], b[32], d[32];

	fprintf(c->out, "%s: %s instruction%s of %s %s%s, %s link%s, %s\n", path,
		fmt_u64(a, r->n_slices), plural(r->n_slices), fmt_u64(b, r->n_tracks),
		trace_has_pipes(t) ? "pipe" : "wave", plural(r->n_tracks), fmt_u64(d, r->n_links),
		plural(r->n_links), evidence_text(t, (char[EVIDENCE_TEXT]){0}));
}

static int export_to(
	struct cli *c, const struct export_ops *ops, struct asked *x, const struct trace *t)
{
	const char *path = cli_text(c, "output");
	bool is_stdout = !path || strcmp(path, "-") == 0;
	struct selection s;
	struct export_options o = {0};
	struct export_result r;
	int status = INCORE_OK;

	if (cli_flag(c, "strict") && c->n_losses)
		return INCORE_OK; /* nothing is written; the program says why */
	if (c->use_json && is_stdout) {
		err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--json tells of the file that -o names; without -o the export itself is "
			"on stdout");
		return cli_fail(c);
	}
	if (cli_has(c, "until"))
		x->request.to = cli_count(c, "until");
	x->request.to_name = "until";
	if (!request_selection(&x->request, t, &s, &c->error))
		return cli_fail(c);
	o.is_strict = cli_flag(c, "strict");
	o.walk = request_walk(&x->request, &s);
	o.is_real_time = strcmp(cli_text(c, "time"), "us") == 0;
	if (!export_run(t, ops, path, &o, &r, &c->error)) {
		selection_deinit(&s);
		return cli_fail(c);
	}
	answer_notes(&x->answer, r.notes, r.n_notes);
	cli_move_warnings(c, &x->answer);
	warn_cuts(c, ops, &r);
	if (c->use_json)
		status = print_json(c, t, ops, path, &r);
	else if (!is_stdout)
		print_text(c, t, path, &r);
	export_result_deinit(&r);
	selection_deinit(&s);
	return status;
}

static int run(struct cli *c)
{
	const struct export_ops *ops;
	struct trace *t = NULL;
	struct asked x;
	int status;

	if (cli_flag(c, "list"))
		return c->use_json ? list_json(c) : list_formats(c);
	ops = find_format(c);
	if (!ops)
		return cli_fail(c);
	if (c->n_args < 1) {
		err_set(&c->error, INCORE_USAGE, "missing-argument", "export needs a PATH");
		return cli_fail(c);
	}
	if (cli_begin(c, &x) && cli_open(c, &x, c->args[0], IMPORT_ALL, &t))
		status = export_to(c, ops, &x, t);
	else
		status = cli_fail(c);
	cli_answered(&x);
	return status;
}

const struct verb verb_export = {
	.name = "export",
	.args = "PATH",
	.summary = "write the trace in another format",
	.groups = OPTIONS_OUTPUT | OPTIONS_SELECT | OPTIONS_CAPTURE | OPTIONS_OWN_FILE,
	.options = export_options_table,
	.min_args = 0,
	.max_args = 1,
	.run = run,
};
