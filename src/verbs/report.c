/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: incore report: a capture as one file to send: viewer with data, or Markdown. */
#include "serve/report/report_job.h"

#include "base/file.h"
#include "base/process.h"
#include "page/page.h"
#include "verbs/config.h"

enum report_format { FORMAT_AUTO, FORMAT_HTML, FORMAT_MD };

struct report_params {
	const char *output;
	unsigned format;
	struct report_part_options part;
	bool is_brief;
};
#define FIELD(M) OPTION_FIELD(report_params, M)
static const struct option_def options[] = {
	{OPT_OUTPUT, NULL, NULL, "file to write, whole or not at all; -: standard output",
		FIELD(output)},
	{OPT_FORMAT, "auto|html|md", "auto",
		"format of the report; auto: from the file name, else html", FIELD(format)},
	{OPT_WAVES, NULL, NULL, "show only these tracks in the timeline, by number: 0,2-3",
		FIELD(part.waves)},
	{OPT_WINDOW, NULL, NULL, "show only these cycles in the timeline", FIELD(part.window)},
	{OPT_HOTTEST, NULL, NULL, "show the N tracks that lose most cycles in the timeline",
		FIELD(part.hottest)},
	{OPT_NO_SOURCE, NULL, NULL, "leave out the text of sources", FIELD(part.no_source)},
	{OPT_BRIEF, NULL, NULL, "Markdown of at most 60 lines: verdict, split, what to try",
		FIELD(is_brief)},
	OPTION_END,
};
_Static_assert(REPORT_ALL_TRACKS == NO_COUNT, "a report without --hottest has all tracks");

struct report_row {
	const char *file, *format, *evidence;
	uint64_t file_bytes, slices, answers;
	const char *left_out;
	const char *evidence_b; /* of a second capture; NULL: none */
};
static const struct column report_columns[] = {
	COLUMN(report_row, file, UNIT_NONE, "path of the report"),
	COLUMN(report_row, format, UNIT_NONE, "format of the report", .words = "html|md"),
	EVIDENCE_COLUMN(report_row, "what its figures rest on"),
	COLUMN(report_row, file_bytes, UNIT_BYTES, "size of the report"),
	COLUMN(report_row, slices, UNIT_COUNT, "slices of the timeline in the report"),
	COLUMN(report_row, answers, UNIT_COUNT, "answers that the report was made from"),
	COLUMN(report_row, left_out, UNIT_NONE, "data that was left out of the report", NULLABLE),
};
static const struct record report_record = RECORD_OF(report_row, RECORD_BLOCK, report_columns);

/* One report while it is made; the answer keeps it. */
struct report_run {
	const struct request *request;
	const struct report_params *p;
	struct answer *answer;
	struct config config;
	struct report_request q;
	struct report_job *job;
	struct strbuf command, closer;
	uint64_t bytes;
};

static void drop_run(struct report_run *j)
{
	report_job_free(j->job);
	sb_free(&j->command);
	sb_free(&j->closer);
}

static bool is_markdown(const struct report_params *p)
{
	struct str name = str_of(p->output);

	if (p->format != FORMAT_AUTO)
		return p->format == FORMAT_MD;
	return p->is_brief || str_ends(name, ".md") || str_ends(name, ".markdown");
}

/* How to make it again, and how to look closer: with the options that decide what is read, and what
 * goes into the report. */
static bool put_commands(struct report_run *j, struct incore_error *e)
{
	const char *file = j->p->output;
	struct strbuf own = {0}, reading = {0};
	bool ok;

	request_put_own(j->request, &j->p->output, &own);
	request_put_reading(j->request, &reading);
	sb_add(&own, reading.p ? reading.p : "", reading.n);
	report_put_command("report", &j->q, own.n ? own.p : "",
		strcmp(file, "-") == 0 ? file : path_base(file), &j->command);
	report_put_command("view", &j->q, reading.n ? reading.p : "", NULL, &j->closer);
	ok = !own.failed && !reading.failed && !j->command.failed && !j->closer.failed;
	sb_free(&own);
	sb_free(&reading);
	j->q.command = j->command.p;
	j->q.closer = j->closer.p;
	return ok || err_nomem(e);
}

static bool read_captures(struct report_run *j, struct incore_error *e)
{
	const struct request *r = j->request;
	struct session *s;
	bool ok;

	if (!config_read(&j->config, e))
		return false;
	j->q = (struct report_request){.n = r->n_paths,
		.paths = r->paths,
		.reading = r,
		.colors = &j->config.colors,
		.part = j->p->part,
		.is_markdown = is_markdown(j->p),
		.is_brief = j->p->is_brief,
		.stop = progress_stop(r->progress)};
	if (!put_commands(j, e) || !(j->job = report_job_new(&j->q, e)))
		return false;
	ok = report_job_read(j->job, e);
	s = report_job_session(j->job);
	session_notes(s, j->answer);
	if (ok)
		answer_warn_unread(j->answer, session_unread(s));
	return ok;
}

static bool write_file(struct report_run *j, struct incore_error *e)
{
	struct out_file f = {0};
	long at;
	bool ok;

	if (!out_file_open(&f, j->p->output, e))
		return err_wrap(e, "cannot write the file of -o");
	ok = report_job_write(j->job, f.f, e);
	at = ok && f.path ? ftell(f.f) : 0;
	j->bytes = at > 0 ? (uint64_t)at : 0;
	if (ok && j->bytes > REPORT_MAX_BYTES)
		ok = err_set(e, INCORE_USAGE, "too-large",
			"the report has %llu bytes, more than %u; --hottest N, --waves SET or "
			"--window A-B takes part of the timeline, --no-source leaves sources out",
			(unsigned long long)j->bytes, REPORT_MAX_BYTES);
	if (ok && !out_file_commit(&f, e)) {
		e->status = INCORE_FAILED;
		ok = err_wrap(e, "cannot write the file of -o");
	}
	out_file_abort(&f);
	j->answer->is_written = ok;
	return ok;
}

static bool write_report(struct report_run *j, struct incore_error *e)
{
	if (strcmp(j->p->output, "-") != 0)
		return write_file(j, e);
	j->answer->is_streamed = true;
	return report_job_write(j->job, j->request->out, e);
}

static bool put_told(struct report_run *j, struct incore_error *e)
{
	const struct report_told told = report_job_told(j->job);
	struct report_row *x = ANSWER_NEW(j->answer, report_row, e);
	struct str rest = told.lacks, line;

	while (str_cut(&rest, "\n", &line))
		if (line.n)
			answer_warn(j->answer, "the report lacks %.*s", STR_ARG(line));
	if (told.n_warned && !j->answer->warnings.n)
		answer_warn(j->answer,
			"%u of its answers came with warnings, which stand in the report",
			told.n_warned);
	if (!x)
		return false;
	*x = (struct report_row){j->p->output, j->q.is_markdown ? "md" : "html",
		evidence_name(told.evidence[0]), j->bytes, told.n_slices, told.n_answers,
		told.left_out.n ? told.left_out.p : NULL,
		j->q.n > 1 ? evidence_name(told.evidence[1]) : NULL};
	answer_set(j->answer, &report_record, x);
	for (unsigned i = 0; i < j->q.n; i++) {
		struct trace *t = (struct trace *)session_trace(report_job_session(j->job), i);

		if (!VEC_PUSH(&j->answer->traces, t))
			return err_nomem(e);
		trace_share(t);
	}
	return true;
}

static bool check_output(const struct request *r, struct incore_error *e)
{
	const struct report_params *p = r->params;

	if (!p->output)
		return err_set(e, INCORE_USAGE, "no-output",
			"name the output: -o kernel.html, -o kernel.md, or -o - for stdout");
	if (strcmp(p->output, "-") == 0 && !r->out)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"-o - needs a standard output: give a file");
	return !p->is_brief || is_markdown(p) ||
	       err_set(e, INCORE_USAGE, "bad-option-value",
		       "--brief is for Markdown: use --format md, or leave --format out");
}

static bool report_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct report_run *j = ANSWER_NEW(a, report_run, e);

	if (!j || !ANSWER_KEEP(a, j, drop_run, e))
		return false;
	*j = (struct report_run){.request = r, .p = r->params, .answer = a};
	return check_output(r, e) && read_captures(j, e) && write_report(j, e) && put_told(j, e);
}

static void report_page(const struct answer *a, struct page *p)
{
	const struct report_row *x = a->data;

	page_say(p, "%s: %s bytes, %s, %s", x->file, U64_TEXT(x->file_bytes),
		COUNTED(x->slices, "slice"), x->evidence);
	if (x->evidence_b && strcmp(x->evidence_b, x->evidence) != 0)
		page_say(p, " and %s", x->evidence_b);
	page_line(p, "%s", "");
	if (x->left_out)
		page_line(p, "not in it: %s", x->left_out);
}

const struct question question_report = {
	.name = "report",
	.summary = "a capture as one HTML file to send, or as Markdown; two: compared",
	.args = "PATH [PATH]",
	.min_paths = 1,
	.max_paths = REPORT_MAX_CAPTURES,
	.groups = OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct report_params),
	.records = RECORDS(&report_record),
	.ask = report_ask,
	.page = report_page,
};
