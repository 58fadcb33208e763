/* SPDX-License-Identifier: Apache-2.0 */
/* export.c: a trace in another format. */
#include "export/export.h"
#include "answer/answer.h"
#include "page/page.h"
#include "trace/kind.h"

struct export_params {
	const char *format, *output;
	bool lists;
	unsigned time, weight;
	uint64_t until;
	bool no_sources;
};
static const struct option_def options[] = {
	{OPT_TO_FORMAT, NULL, NULL, "the format to write; --list names them",
		OPTION_FIELD(export_params, format)},
	{OPT_OUTPUT, NULL, NULL, "write the export to FILE, whole or not at all",
		OPTION_FIELD(export_params, output)},
	{OPT_LIST, NULL, NULL, "list the formats and exit", OPTION_FIELD(export_params, lists)},
	{OPT_TIME, "cycles|us", "cycles", "unit of time in formats that know only microseconds",
		OPTION_FIELD(export_params, time)},
	{OPT_WEIGHT, "cycles|lost|exposed", "cycles",
		"what the numbers of folded and speedscope count",
		OPTION_FIELD(export_params, weight)},
	{OPT_UNTIL, NULL, NULL, "use cycles before this one (other verbs call it --to)",
		OPTION_FIELD(export_params, until)},
	{OPT_NO_SOURCES, NULL, NULL,
		OPTION_RARE "insight: leave the text of sources out of visualize_data.bin",
		OPTION_FIELD(export_params, no_sources), .only_named = true},
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

static bool list_formats(struct answer *a, struct incore_error *e)
{
	struct format_list *list = ANSWER_NEW(a, format_list, e);

	if (!list)
		return false;
	list->formats = (struct rows){export_registry, 0, format_at};
	while (export_registry[list->formats.n])
		list->formats.n++;
	answer_set(a, &format_list_record, list);
	return true;
}

static const struct export_ops *find_format(const char *name, struct incore_error *e)
{
	const struct export_ops *ops = name ? export_find(name) : NULL;
	struct strbuf b = {0};

	if (ops)
		return ops;
	for (size_t i = 0; export_registry[i]; i++)
		sb_printf(&b, "%s%s", i ? ", " : "", export_registry[i]->name);
	if (name)
		err_set(e, INCORE_USAGE, "unknown-format", "export has no format '%s'; it has %s",
			name, b.p ? b.p : "");
	else
		err_set(e, INCORE_USAGE, "missing-option", "export needs --to FORMAT, one of %s",
			b.p ? b.p : "");
	sb_free(&b);
	return NULL;
}

/* Warns in one line about everything that the format cannot hold. */
static void warn_cuts(struct answer *a, const struct export_ops *ops, const struct export_result *r)
{
	struct strbuf b = {0};

	for (uint32_t i = 0; i < r->n_cuts; i++)
		sb_printf(
			&b, "%s%s %s", i ? ", " : "", U64_TEXT(r->cuts[i].count), r->cuts[i].code);
	if (b.n && !b.failed)
		answer_warn(a, "left out by %s: %s", ops->name, b.p);
	sb_free(&b);
	if (r->advice)
		answer_warn(a, "%s", r->advice);
}

static const struct column cut_columns[] = {
	COLUMN_AS(note, code, "what", UNIT_NONE, "what the format cannot hold"),
	COLUMN_AS(note, message, "why", UNIT_NONE, "reason why the format cannot hold it"),
	COLUMN(note, count, UNIT_COUNT, "number of items that were left out"),
};
static const struct record cut_record = RECORD_OF(note, RECORD_BLOCK, cut_columns);

struct exported_row {
	const char *file, *format, *evidence;
	uint64_t bytes;
	const struct export_result *r;
	struct rows left_out;
	struct export_result held;
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

static bool take_time(const struct export_params *p, const struct export_ops *ops,
	struct export_options *o, struct incore_error *e)
{
	o->is_real_time = p->time == 1;
	return !o->is_real_time || ops->takes_time ||
	       err_set(e, INCORE_USAGE, "bad-option",
		       "--time us is for chrome and perfetto; %s has cycles, or no times",
		       ops->name);
}

static bool take_weight(const struct export_params *p, const struct export_ops *ops,
	struct export_options *o, struct incore_error *e)
{
	static const enum export_weight weights[] = {WEIGHT_CYCLES, WEIGHT_LOST, WEIGHT_EXPOSED};

	o->weight = weights[p->weight];
	return o->weight == WEIGHT_CYCLES || ops->takes_weight ||
	       err_set(e, INCORE_USAGE, "bad-option",
		       "--weight is for folded and speedscope; %s has numbers of its own",
		       ops->name);
}

/* Can standard output be the target? With --json it has the answer, a library has none. */
static bool may_stream(const struct request *r, struct incore_error *e)
{
	if (!r->out)
		return err_set(e, INCORE_USAGE, "missing-option",
			"export needs output: the file to write");
	return r->is_for_people ||
	       err_set(e, INCORE_USAGE, "bad-option-value",
		       "--json describes the file that -o names; without -o the export itself goes to stdout");
}

static bool write_export(const struct request *r, const struct trace *t,
	const struct export_ops *ops, struct export_result *out, struct incore_error *e)
{
	const struct export_params *p = r->params;
	struct request part = *r;
	struct export_options o = {.is_strict = r->is_strict};
	struct selection s;
	bool ok;

	o.no_sources = p->no_sources;
	if (!take_time(p, ops, &o, e) || !take_weight(p, ops, &o, e))
		return false;
	if (o.no_sources && strcmp(ops->name, "insight") != 0)
		return err_set(e, INCORE_USAGE, "bad-option",
			"--no-sources is for insight; %s has no block of sources", ops->name);
	part.to = p->until;
	part.to_name = "until";
	if (!request_selection(&part, t, &s, e))
		return false;
	o.walk = request_walk(&part, &s);
	ok = export_run(t, ops, p->output, &o, out, e);
	selection_deinit(&s);
	return ok;
}

static void drop_exported(struct exported_row *x)
{
	export_result_deinit(&x->held);
	mem_free(x);
}

static void put_exported(struct answer *a, const struct trace *t, const struct export_ops *ops,
	struct exported_row *x)
{
	int64_t bytes = ops->is_directory ? (int64_t)x->held.bytes
			: a->is_streamed  ? 0
					  : file_size(x->file);

	x->format = ops->name;
	x->evidence = evidence_name(t->meta.evidence);
	x->bytes = bytes < 0 ? 0 : (uint64_t)bytes;
	x->r = &x->held;
	x->left_out = (struct rows){x->held.cuts, x->held.n_cuts};
	answer_notes(a, x->held.notes, x->held.n_notes);
	warn_cuts(a, ops, &x->held);
	answer_set(a, &exported_record, x);
}

static bool export_to(const struct request *r, struct answer *a, const struct export_ops *ops,
	struct incore_error *e)
{
	const struct export_params *p = r->params;
	struct exported_row *x;
	struct trace *t;

	if (!answer_open(a, r, r->paths[0], IMPORT_ALL, &t, e) || !answer_may_write(r, a, e))
		return false;
	a->is_streamed = !p->output || strcmp(p->output, "-") == 0;
	if (a->is_streamed && !may_stream(r, e))
		return false;
	x = mem_zalloc(1, sizeof(*x));
	if (!x)
		return err_nomem(e);
	x->file = p->output;
	if (!write_export(r, t, ops, &x->held, e)) {
		mem_free(x);
		return false;
	}
	a->is_written = !a->is_streamed;
	if (!ANSWER_KEEP(a, x, drop_exported, e))
		return false;
	put_exported(a, t, ops, x);
	return true;
}

static bool export_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct export_params *p = r->params;
	const struct export_ops *ops;

	if (p->lists)
		return list_formats(a, e);
	ops = find_format(p->format, e);
	if (!ops)
		return false;
	if (r->n_paths < 1)
		return err_set(e, INCORE_USAGE, "missing-argument", "export needs a PATH");
	return export_to(r, a, ops, e);
}

static void export_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {"name", "suffix", "summary", NULL};
	const struct exported_row *x = a->data;
	const struct trace *t;

	if (answer_is(a, &format_list_record)) {
		page_records(
			p, &format_record, ((const struct format_list *)a->data)->formats, columns);
		return;
	}
	t = a->traces.v[0];
	page_line(p, "%s: %s of %s, %s, %s", x->file, COUNTED(x->r->n_slices, kind_row(t)->slice),
		COUNTED(x->r->n_tracks, kind_row(t)->track), COUNTED(x->r->n_links, "link"),
		evidence_text(t, (char[EVIDENCE_TEXT]){0}));
}

const struct question question_export = {
	.name = "export",
	.summary = "write the trace in another format",
	.args = "PATH",
	.max_paths = 1,
	.groups = OPTIONS_SELECT | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct export_params),
	.records = RECORDS(&exported_record, &format_list_record),
	.ask = export_ask,
	.page = export_page,
};
