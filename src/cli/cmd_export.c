/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c: a trace in another format. */
#include "analysis/pipes/pipe_sweep.h"
#include "cli/ask.h"
#include "cli/draw.h"
#include "export/export.h"
#include "page/say.h"
#include "trace/kind.h"

static const struct option_def export_options_table[] = {
	{OPT_TO_FORMAT, NULL, NULL, "the format to write; --list names them"},
	{OPT_LIST, NULL, NULL, "list the formats and exit"},
	{OPT_TIME, "cycles|us", "cycles", "unit of time in formats that know only microseconds"},
	{OPT_WEIGHT, "cycles|lost|exposed", "cycles",
		"what the numbers of folded and speedscope count"},
	{OPT_UNTIL, NULL, NULL, "use cycles before this one (other verbs call it --to)"},
	OPTION_END,
};

static const struct column format_columns[] = {
	COLUMN(export_ops, name, UNIT_NONE, "name of the format, as given to --to",
		.title = "format"),
	COLUMN(export_ops, suffix, UNIT_NONE, "suffix of the format's file names"),
	COLUMN(export_ops, media_type, UNIT_NONE, "media type of the format"),
	COLUMN(export_ops, summary, UNIT_NONE, "what the format holds", .title = "holds",
		.flags = COLUMN_WIDE),
};
static const struct record format_record = RECORD_OF(export_ops, RECORD_BLOCK, format_columns);

struct format_list {
	struct rows formats;
};
static const struct column format_list_columns[] = {
	LIST(format_list, formats, &format_record, "the formats that can be written"),
};
static const struct record format_list_record =
	RECORD_OF(format_list, RECORD_BLOCK, format_list_columns);

static const void *format_at(const void *v, size_t i)
{
	const struct export_ops *const *registry = v;

	return registry[i];
}

static bool list_formats(struct cli *c)
{
	static const char *const columns[] = {"name", "suffix", "summary", NULL};
	struct format_list list = {{export_registry, 0, format_at}};

	while (export_registry[list.formats.n])
		list.formats.n++;
	return c->use_json ? cli_json_captures(c, NULL, 0, &format_list_record, &list)
			   : record_table_print(c, &format_record, list.formats, columns);
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

/* Warns in one line about everything that the format cannot hold. */
static void warn_cuts(struct cli *c, const struct export_ops *ops, const struct export_result *r)
{
	struct strbuf b = {0};

	for (uint32_t i = 0; i < r->n_cuts; i++)
		sb_printf(
			&b, "%s%s %s", i ? ", " : "", U64_TEXT(r->cuts[i].count), r->cuts[i].what);
	if (b.n && !b.failed)
		cli_warn(c, "left out by %s: %s", ops->name, b.p);
	sb_free(&b);
	if (r->advice)
		cli_warn(c, "%s", r->advice);
}

static const struct column cut_columns[] = {
	COLUMN(export_cut, what, UNIT_NONE, "what the format cannot hold"),
	COLUMN(export_cut, why, UNIT_NONE, "reason why the format cannot hold it"),
	COLUMN(export_cut, count, UNIT_COUNT, "number of items that were left out"),
};
static const struct record cut_record = RECORD_OF(export_cut, RECORD_BLOCK, cut_columns);

struct exported_row {
	const char *file, *format, *evidence;
	uint64_t bytes;
	const struct export_result *r;
	struct rows left_out;
};
static const struct column result_columns[] = {
	COLUMN_AS(export_result, n_tracks, "tracks", UNIT_COUNT, "waves or pipes in the file"),
	COLUMN_AS(export_result, n_failed, "damaged_tracks", UNIT_COUNT,
		"tracks that could not be read"),
	COLUMN_AS(export_result, n_slices, "instructions", UNIT_COUNT, "executed instructions"),
	COLUMN_AS(export_result, n_states, "states", UNIT_COUNT, "states of waves"),
	COLUMN_AS(export_result, n_links, "links", UNIT_COUNT, "arrows between instructions"),
	COLUMN_AS(export_result, n_samples, "counter_samples", UNIT_COUNT, "samples of counters"),
};
static const struct record result_record = RECORD_OF(export_result, RECORD_BLOCK, result_columns);
static const struct column exported_columns[] = {
	COLUMN(exported_row, file, UNIT_NONE, "path of what was written"),
	COLUMN(exported_row, format, UNIT_NONE, "format of the file"),
	EVIDENCE_COLUMN(exported_row, "what its figures rest on"),
	COLUMN(exported_row, bytes, UNIT_BYTES, "size of the file"),
	PART_AT(exported_row, r, &result_record),
	LIST(exported_row, left_out, &cut_record, "data that the format cannot hold"),
};
static const struct record exported_record =
	RECORD_OF(exported_row, RECORD_BLOCK, exported_columns);

static bool print_json(struct cli *c, const struct trace *t, const struct export_ops *ops,
	const char *path, const struct export_result *r)
{
	int64_t bytes = ops->is_directory ? (int64_t)r->bytes : file_size(path);
	struct exported_row x = {path, ops->name, evidence_name(t->meta.evidence),
		bytes < 0 ? 0 : (uint64_t)bytes, r, {r->cuts, r->n_cuts}};

	return cli_json_captures(c, &t, 1, &exported_record, &x);
}

static void print_text(
	struct cli *c, const struct trace *t, const char *path, const struct export_result *r)
{
	say(c->out, "%s: %s of %s, %s, %s\n", path, COUNTED(r->n_slices, kind_row(t)->slice),
		COUNTED(r->n_tracks, kind_row(t)->track), COUNTED(r->n_links, "link"),
		evidence_text(t, (char[EVIDENCE_TEXT]){0}));
}

static bool take_time(struct cli *c, const struct export_ops *ops, struct export_options *o)
{
	o->is_real_time = strcmp(cli_text(c, "time"), "us") == 0;
	return !o->is_real_time || ops->takes_time ||
	       err_set(&c->error, INCORE_USAGE, "bad-option",
		       "--time us is for chrome and perfetto; %s has cycles, or no times",
		       ops->name);
}

static bool take_weight(struct cli *c, const struct export_ops *ops, struct export_options *o)
{
	const char *name = cli_text(c, "weight");

	o->weight = strcmp(name, "lost") == 0	   ? WEIGHT_LOST
		    : strcmp(name, "exposed") == 0 ? WEIGHT_EXPOSED
						   : WEIGHT_CYCLES;
	return o->weight == WEIGHT_CYCLES || ops->takes_weight ||
	       err_set(&c->error, INCORE_USAGE, "bad-option",
		       "--weight is for folded and speedscope; %s has numbers of its own",
		       ops->name);
}

static bool export_to(
	struct cli *c, const struct export_ops *ops, struct asked *x, const struct trace *t)
{
	const char *path = cli_text(c, "output");
	bool is_stdout = !path || strcmp(path, "-") == 0;
	struct selection s;
	struct export_options o = {0};
	struct export_result r;
	bool ok;

	if (cli_flag(c, "strict") && c->n_losses)
		return true; /* nothing is written; main.c reports why */
	if (c->use_json && is_stdout)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--json describes the file that -o names; without -o the export itself goes to stdout");
	if (!take_time(c, ops, &o) || !take_weight(c, ops, &o))
		return false;
	if (cli_has(c, "until"))
		x->request.to = cli_count(c, "until");
	x->request.to_name = "until";
	if (!request_selection(&x->request, t, &s, &c->error))
		return false;
	o.is_strict = cli_flag(c, "strict");
	o.walk = request_walk(&x->request, &s);
	ok = export_run(t, ops, path, &o, &r, &c->error);
	selection_deinit(&s);
	if (!ok)
		return false;
	answer_notes(&x->answer, r.notes, r.n_notes);
	cli_move_warnings(c, &x->answer);
	warn_cuts(c, ops, &r);
	if (c->use_json)
		ok = print_json(c, t, ops, path, &r);
	else if (!is_stdout)
		print_text(c, t, path, &r);
	export_result_deinit(&r);
	return ok;
}

static bool run(struct cli *c)
{
	const struct export_ops *ops;
	struct trace *t = NULL;
	struct asked x;
	bool ok;

	if (cli_flag(c, "list"))
		return list_formats(c);
	ops = find_format(c);
	if (!ops)
		return false;
	if (c->n_args < 1)
		return err_set(&c->error, INCORE_USAGE, "missing-argument", "export needs a PATH");
	ok = cli_begin(c, &x) && cli_open(c, &x, c->args[0], IMPORT_ALL, &t) &&
	     export_to(c, ops, &x, t);
	cli_answered(&x);
	return ok;
}

const struct verb verb_export = {
	.name = "export",
	.args = "PATH",
	.summary = "write the trace in another format",
	.groups = OPTIONS_OUTPUT | OPTIONS_SELECT | OPTIONS_CAPTURE | OPTIONS_OWN_FILE,
	.options = export_options_table,
	.max_args = 1,
	.run = run,
	.records = RECORDS(&exported_record, &format_list_record),
};
