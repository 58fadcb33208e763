/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c: incore report: a capture as one file to send: viewer with data, or Markdown. */
#include "base/process.h"
#include "cli/ask.h"
#include "cli/config.h"
#include "cli/options.h"
#include "page/say.h"
#include "serve/report/report_job.h"

#define MAX_CAPTURES REPORT_MAX_CAPTURES

static const struct option_def options[] = {
	{OPT_FORMAT, "auto|html|md", "auto",
		"format of the report; auto: from the file name, else html"},
	{OPT_WAVES, NULL, NULL, "show only these tracks in the timeline, by number: 0,2-3"},
	{OPT_WINDOW, NULL, NULL, "show only these cycles in the timeline"},
	{OPT_HOTTEST, NULL, NULL, "show the N tracks that lose most cycles in the timeline"},
	{OPT_NO_SOURCE, NULL, NULL, "leave out the text of sources"},
	{OPT_BRIEF, NULL, NULL, "Markdown of at most 60 lines: verdict, split, what to try"},
	OPTION_END,
};

struct job {
	struct cli *c;
	struct config config;
	struct asked reading;
	struct report_request request;
	struct report_job *report;
	struct strbuf command, closer;
	uint64_t bytes;
};

static bool is_markdown(const struct cli *c)
{
	const char *format = cli_text(c, "format"), *name = cli_text(c, "output");

	if (strcmp(format, "auto") != 0)
		return strcmp(format, "md") == 0;
	if (cli_flag(c, "brief"))
		return true;
	return name && (str_ends(str_of(name), ".md") || str_ends(str_of(name), ".markdown"));
}

/* Appends the options that decide what is read and what goes into the report; others do not change
 * it. */
static void put_options(struct cli *c, bool with_own, struct strbuf *out)
{
	struct option_list list;

	options_of(c->verb, &list);
	for (unsigned i = 0; i < list.n; i++) {
		const struct option_def *d = list.def[i];
		const char *value[] = {cli_text(c, d->name), NULL};
		bool is_own = strcmp(list.group[i], "Options") == 0;

		if (!cli_has(c, d->name) || (is_own && !with_own) ||
			(!is_own && strcmp(list.group[i], "Selection") != 0))
			continue;
		sb_printf(out, " --%s", d->name);
		if (d->type == OPTION_FLAG)
			continue;
		sb_putc(out, ' ');
		process_quote(value, out);
	}
}

static bool put_commands(struct job *j)
{
	struct cli *c = j->c;
	const char *file = cli_text(c, "output");
	struct strbuf all = {0}, reading = {0};
	bool ok;

	put_options(c, true, &all);
	put_options(c, false, &reading);
	report_put_command("report", &j->request, all.n ? all.p : "",
		strcmp(file, "-") == 0 ? file : path_base(file), &j->command);
	report_put_command("view", &j->request, reading.n ? reading.p : "", NULL, &j->closer);
	ok = !all.failed && !reading.failed && !j->command.failed && !j->closer.failed;
	sb_free(&all);
	sb_free(&reading);
	j->request.command = j->command.p;
	j->request.closer = j->closer.p;
	return ok || err_nomem(&c->error);
}

static bool read_captures(struct job *j)
{
	struct cli *c = j->c;
	struct session *s;
	bool ok;

	if (!cli_begin(c, &j->reading) || !config_read(&j->config, &c->error))
		return false;
	j->request = (struct report_request){.n = c->n_args,
		.paths = c->args,
		.reading = &j->reading.request,
		.colors = &j->config.colors,
		.part = {.waves = cli_text(c, "waves"),
			.window = cli_text(c, "window"),
			.hottest =
				cli_has(c, "hottest") ? cli_count(c, "hottest") : REPORT_ALL_TRACKS,
			.no_source = cli_flag(c, "no-source")},
		.is_markdown = is_markdown(c),
		.is_brief = cli_flag(c, "brief")};
	if (!put_commands(j) || !(j->report = report_job_new(&j->request, &c->error)))
		return false;
	ok = report_job_read(j->report, &c->error);
	s = report_job_session(j->report);
	cli_session_notes(c, s);
	if (ok)
		cli_warn_unread(c, session_unread(s));
	return ok;
}

static bool write_file(struct job *j)
{
	struct cli *c = j->c;
	struct out_file f = {0};
	long at;
	bool ok;

	if (!out_file_open(&f, cli_text(c, "output"), &c->error))
		return err_wrap(&c->error, "cannot write the file of -o");
	ok = report_job_write(j->report, f.f, &c->error);
	at = ok && f.path ? ftell(f.f) : 0;
	j->bytes = at > 0 ? (uint64_t)at : 0;
	if (ok && j->bytes > REPORT_MAX_BYTES)
		ok = err_set(&c->error, INCORE_USAGE, "too-large",
			"the report has %llu bytes, more than %u; --hottest N, --waves SET or "
			"--window A-B takes part of the timeline, --no-source leaves sources out",
			(unsigned long long)j->bytes, REPORT_MAX_BYTES);
	if (ok && !out_file_commit(&f, &c->error)) {
		c->error.status = INCORE_FAILED;
		ok = err_wrap(&c->error, "cannot write the file of -o");
	}
	out_file_abort(&f);
	return ok;
}

static void warn(struct cli *c, const struct report_told *told)
{
	struct str rest = told->lacks, line;

	while (str_cut(&rest, "\n", &line))
		if (line.n)
			cli_warn(c, "the report lacks %.*s", STR_ARG(line));
	if (told->n_warned && !c->n_warnings)
		cli_warn(c, "%u of its answers came with warnings, which stand in the report",
			told->n_warned);
}

struct done_row {
	const char *file, *format, *evidence;
	uint64_t file_bytes, slices, answers;
	const char *left_out;
};
static const struct column done_columns[] = {
	COLUMN(done_row, file, UNIT_NONE, "path of the report"),
	COLUMN(done_row, format, UNIT_NONE, "format of the report", .words = "html|md"),
	EVIDENCE_COLUMN(done_row, "what its figures rest on"),
	COLUMN(done_row, file_bytes, UNIT_BYTES, "size of the report"),
	COLUMN(done_row, slices, UNIT_COUNT, "slices of the timeline in the report"),
	COLUMN(done_row, answers, UNIT_COUNT, "answers that the report was made from"),
	COLUMN(done_row, left_out, UNIT_NONE, "data that was left out of the report", NULLABLE),
};
static const struct record done_record = RECORD_OF(done_row, RECORD_BLOCK, done_columns);

static bool print_done(struct job *j, const struct report_told *told)
{
	struct cli *c = j->c;
	const struct trace *traces[MAX_CAPTURES];
	struct done_row x = {cli_text(c, "output"), is_markdown(c) ? "md" : "html",
		evidence_name(told->evidence[0]), j->bytes, told->n_slices, told->n_answers,
		told->left_out.n ? told->left_out.p : NULL};

	if (strcmp(x.file, "-") == 0)
		return true;
	for (unsigned i = 0; i < c->n_args; i++)
		traces[i] = session_trace(report_job_session(j->report), i);
	if (c->use_json)
		return cli_json_captures(c, traces, c->n_args, &done_record, &x);
	say(c->out, "%s: %s bytes, %s, %s", x.file, U64_TEXT(x.file_bytes),
		COUNTED(x.slices, "slice"), x.evidence);
	if (c->n_args > 1 && told->evidence[1] != told->evidence[0])
		say(c->out, " and %s", evidence_name(told->evidence[1]));
	say(c->out, "\n");
	if (x.left_out)
		say(c->out, "not in it: %s\n", x.left_out);
	return true;
}

static bool make(struct job *j)
{
	struct cli *c = j->c;
	struct report_told told;

	if (!cli_has(c, "output"))
		return err_set(&c->error, INCORE_USAGE, "no-output",
			"name the output: -o kernel.html, -o kernel.md, or -o - for stdout");
	if (c->use_json && strcmp(cli_text(c, "output"), "-") == 0)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--json and -o - both want standard output");
	if (cli_flag(c, "brief") && !is_markdown(c))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--brief is for Markdown: use --format md, or leave --format out");
	if (!read_captures(j) || !write_file(j))
		return false;
	told = report_job_told(j->report);
	warn(c, &told);
	return print_done(j, &told);
}

static bool run(struct cli *c)
{
	struct job j = {.c = c};
	bool ok = make(&j);

	report_job_free(j.report);
	cli_answered(&j.reading);
	sb_free(&j.command);
	sb_free(&j.closer);
	return ok;
}

const struct verb verb_report = {
	.name = "report",
	.args = "PATH [PATH]",
	.summary = "a capture as one HTML file to send, or as Markdown; two: compared",
	.groups = OPTIONS_OUTPUT | OPTIONS_CAPTURE | OPTIONS_OWN_FILE,
	.options = options,
	.min_args = 1,
	.max_args = MAX_CAPTURES,
	.run = run,
	.records = RECORDS(&done_record),
};
