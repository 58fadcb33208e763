/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c: incore report: a capture as one file to send: the viewer with its data, or
 * Markdown. */
#include <math.h>
#include <string.h>

#include "answer/diff.h"
#include "cli/ask.h"
#include "cli/config.h"
#include "cli/draw.h"
#include "cli/report/report_code.h"
#include "page/say.h"
#include "serve/report/blob.h"
#include "serve/report/report_answers.h"
#include "serve/report/report_part.h"
#include "serve/session/session.h"

#define MAX_CAPTURES REPORT_MAX_CAPTURES

static const struct option_def options[] = {
	{0, "format", OPTION_CHOICE, "HOW", "auto|html|md", "auto",
		"what to write; auto: by the name of the file, else html"},
	{0, "waves", OPTION_TEXT, "SET", NULL, NULL,
		"timeline of these tracks alone, by number: 0,2-3"},
	{0, "window", OPTION_TEXT, "A-B", NULL, NULL, "timeline of these cycles alone"},
	{0, "hottest", OPTION_COUNT, "N", NULL, NULL,
		"timeline of the N tracks that lose most cycles"},
	{0, "no-source", OPTION_FLAG, NULL, NULL, NULL, "leave the text of sources out"},
	{0, "brief", OPTION_FLAG, NULL, NULL, NULL,
		"Markdown of at most 60 lines: verdict, split, what to try"},
	OPTION_END,
};

struct job {
	struct cli *c;
	struct config config;
	struct asked reading;
	struct session *session;
	struct report_answers kept;
	struct strbuf summary, health, again, difference;
	struct strbuf blob[MAX_CAPTURES], rows[MAX_CAPTURES];
	struct report_part part[MAX_CAPTURES];
	struct strbuf left_out;
	struct report_code code;
	struct report_card card[MAX_CAPTURES];
	struct answer page[MAX_CAPTURES]; /* of summary: the cards are made of them */
	bool is_compared;
	uint64_t n_slices;
	uint64_t bytes;
	unsigned n_warned; /* answers that came with warnings */
};

/* --- data --- */

static bool load(struct job *j)
{
	struct cli *c = j->c;
	struct session_options o = {.n = c->n_args,
		.paths = c->args,
		.reading = &j->reading.request,
		.no_cache = true,
		.colors = &j->config.colors};

	if (!cli_begin(c, &j->reading) || !config_read(&j->config, &c->error))
		return false;
	j->session = j->kept.session = session_new(&o, &c->error);
	if (!j->session)
		return false;
	session_load(j->session);
	cli_session_notes(c, j->session);
	if (session_failure(j->session, &c->error))
		return false;
	cli_warn_unread(c, session_unread(j->session));
	return session_view(j->session, 0, 0, &c->error) != NULL &&
	       session_view(j->session, c->n_args - 1, 0, &c->error) != NULL;
}

/* How each row fares against the other capture; of whole captures, before anything is left out. */
static bool compare_rows(struct job *j, unsigned capture)
{
	struct cli *c = j->c;
	struct view *v = session_view(j->session, capture, 0, &c->error);
	const struct view *base = session_view(j->session, !capture, 0, &c->error);

	if (view_diff_rows(v, base, &j->rows[capture], &c->error))
		return true;
	if (c->error.status == INCORE_FAILED)
		return false;
	incore_error_clear(&c->error); /* told where the page asks for it */
	sb_free(&j->rows[capture]);
	return true;
}

/* What mode=diff of the lanes needs. */
static bool keep_rows(struct job *j, unsigned capture)
{
	struct strbuf question = {0}, json = {0};
	bool ok;

	if (!j->rows[capture].n)
		return true;
	ok = sb_printf(&question, "rows?c=%u", capture) &&
	     sb_printf(&json, "\"%s\"", j->rows[capture].p);
	ok = ok ? report_answers_put(&j->kept, (struct str){question.p, question.n},
			  (struct str){json.p, json.n})
		: err_nomem(&j->c->error);
	sb_free(&question);
	sb_free(&json);
	return ok;
}

/* --- text --- */

/* What `incore VERB` prints of the first capture; *out is the answer, the caller's. */
static bool put_page(struct job *j, const char *verb, struct answer *out, struct strbuf *text)
{
	bool ok = session_ask(j->session, verb, 0, out, &j->c->error);

	j->n_warned += out->warnings.n > 0;
	return ok && text_page_answer(verb, out, text, &j->c->error);
}

/* What moved, in two lines: a whole execution, and the instruction that moved most. */
static bool draw_headline(struct cli *c, const struct answer *a)
{
	const struct diff_answer *d = a->data;
	const struct diff_value_row *values = d->values.v;
	const struct diff_part_row *most = d->parts.v;

	EACH (const struct diff_value_row, v, values, d->values.n)
		if (v->is_known && strcmp(v->name, d->is_per_launch ? "latency_per_launch"
								    : "duration_per_hit") == 0)
			say(c->out, "- cycles %s %s: %.3f -> %.3f (%+.2f %%, %s)\n",
				d->is_per_launch ? "a" : "an", d->per, v->a, v->b, v->change_pct,
				v->verdict);
	if (d->stability.is_judged)
		say(c->out,
			"- captures of one state: %s (%.2f %% apart, %llu rows by more than %.3g %%)\n",
			d->stability.is_stable ? "stable" : "not stable", d->stability.spread_pct,
			(unsigned long long)d->stability.rows_beyond, d->stability.row_limit_pct);
	if (d->parts.n && most->row_b != NO_VALUE)
		say(c->out, "- largest change: row %lld, %s, %.3f -> %.3f cycles each (%s)\n",
			(long long)most->row_b, most->key,
			d->is_per_launch ? most->per_launch_a : most->per_hit_a,
			d->is_per_launch ? most->per_launch_b : most->per_hit_b, most->verdict);
	say(c->out, "\n");
	return true;
}

/* What `incore diff` prints below a headline, or why it cannot. */
static bool make_difference(struct job *j)
{
	struct cli *c = j->c;
	struct text_page headline;
	struct answer diff;
	bool ok;

	if (c->n_args < 2)
		return true;
	ok = session_ask(j->session, "diff", 0, &diff, &c->error);
	j->n_warned += diff.warnings.n > 0;
	if (ok)
		ok = text_page_open(&headline, &c->error) &&
		     text_page_close(&headline, draw_headline(&headline.cli, &diff), &j->difference,
			     &c->error) &&
		     text_page_answer("diff", &diff, &j->difference, &c->error);
	answer_deinit(&diff);
	j->is_compared = ok;
	if (ok || c->error.status == INCORE_FAILED)
		return ok;
	sb_free(&j->difference);
	sb_printf(&j->difference, "These two captures cannot be compared: %s\n",
		c->error.message ? c->error.message : "");
	incore_error_clear(&c->error);
	return !j->difference.failed || err_nomem(&c->error);
}

/* --- how much of the timeline --- */

static bool too_large(struct cli *c, uint64_t n)
{
	return err_set(&c->error, INCORE_USAGE, "too-large",
		"%llu slices are more than the %u that a report holds; --hottest N, --waves SET or "
		"--window A-B takes part of them, and incore view shows all",
		(unsigned long long)n, REPORT_MAX_SLICES);
}

/* The columns that go into the file; the session then shows the same ones. */
static bool make_blob(struct job *j, unsigned capture)
{
	struct cli *c = j->c;
	struct view *v = session_view(j->session, capture, 0, &c->error);
	struct blob_options o = {.no_source = cli_flag(c, "no-source")};
	struct report_part_options of = {.waves = cli_text(c, "waves"),
		.window = cli_text(c, "window"),
		.hottest = cli_has(c, "hottest") ? cli_count(c, "hottest") : REPORT_ALL_TRACKS,
		.no_source = o.no_source};
	struct report_part *part = &j->part[capture];
	struct strbuf *blob = &j->blob[capture];
	struct blob_view read;
	bool ok;

	if (!v || !report_part_make(part, &of, v->columns, &c->error))
		return false;
	j->n_slices += part->n_slices;
	if (j->n_slices > REPORT_MAX_SLICES)
		return too_large(c, j->n_slices);
	o.parts = part->parts;
	if (!blob_write(v, &o, blob))
		return err_nomem(&c->error);
	if (part->left_out.n && c->n_args > 1)
		sb_printf(&j->left_out, "%sof capture %u: ", j->left_out.n ? " " : "", capture + 1);
	sb_add(&j->left_out, part->left_out.n ? part->left_out.p : "", part->left_out.n);
	if (j->left_out.failed)
		return err_nomem(&c->error);
	if (!part->parts)
		return true;
	ok = blob_read(blob->p, blob->n, &read, &c->error);
	if (ok)
		session_narrow(j->session, capture, &read.columns);
	blob_view_deinit(&read);
	return ok;
}

static bool make_blobs(struct job *j)
{
	unsigned n = j->c->n_args;

	for (unsigned i = 0; i < n && n > 1; i++)
		if (!compare_rows(j, i))
			return false;
	for (unsigned i = 0; i < n; i++)
		if (!make_blob(j, i))
			return false;
	return true;
}

static bool is_markdown(const struct cli *c)
{
	const char *format = cli_text(c, "format"), *name = cli_text(c, "output");

	if (strcmp(format, "auto") != 0)
		return strcmp(format, "md") == 0;
	if (cli_flag(c, "brief"))
		return true;
	return name && (str_ends(str_of(name), ".md") || str_ends(str_of(name), ".markdown"));
}

/* All that the page of an HTML report asks; Markdown asks nothing. */
static bool keep_answers(struct job *j)
{
	struct cli *c = j->c;

	struct str rest, line;

	if (is_markdown(c))
		return true;
	for (unsigned i = 0; i < c->n_args; i++)
		if (!report_answers_all(&j->kept, i, &j->left_out) || !keep_rows(j, i))
			return false;
	if (j->kept.lacks.failed)
		return err_nomem(&c->error);
	rest = (struct str){j->kept.lacks.p, j->kept.lacks.n};
	while (str_cut(&rest, "\n", &line))
		if (line.n)
			cli_warn(c, "the report lacks %.*s", STR_ARG(line));
	return true;
}

/* What the report says of the code, beside what the summary does. */
static bool make_code(struct job *j, const struct view *v, const struct answer *summary)
{
	struct cli *c = j->c;
	struct answer isa;
	bool ok = session_ask(j->session, "isa", 0, &isa, &c->error);

	if (ok)
		ok = report_code_make(&j->code, v->trace, &isa, summary, &c->error);
	if (is_markdown(c))
		j->n_warned += isa.warnings.n > 0;
	answer_deinit(&isa);
	return ok;
}

/* Text of both forms of the report. */
static bool make_text(struct job *j, const struct view *v)
{
	struct cli *c = j->c;
	struct answer check = {0};
	bool ok =
		keep_answers(j) && make_difference(j) &&
		put_page(j, "summary", &j->page[0], &j->summary) &&
		(c->n_args < 2 || session_ask(j->session, "summary", 1, &j->page[1], &c->error)) &&
		put_page(j, "check", &check, &j->health) && make_code(j, v, &j->page[0]) &&
		report_again_make(c, v, &j->again);

	answer_deinit(&check);
	for (unsigned i = 0; ok && i < c->n_args; i++)
		report_card_make(&j->card[i], &j->page[i]);
	return ok;
}

/* --- output --- */

static bool write_file(struct job *j, const struct report *r)
{
	struct cli *c = j->c;
	const char *path = cli_text(c, "output");
	struct out_file f = {0};
	long at;
	bool ok;

	if (!out_file_open(&f, path, &c->error))
		return err_wrap(&c->error, "cannot write the file of -o");
	ok = is_markdown(c) ? report_markdown(r, f.f, &c->error) : report_html(r, f.f, &c->error);
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

struct done_row {
	const char *file, *format, *evidence;
	uint64_t file_bytes, slices, answers;
	const char *left_out;
};
static const struct column done_columns[] = {
	COLUMN(done_row, file, UNIT_NONE, "path of the report"),
	COLUMN(done_row, format, UNIT_NONE, "what was written", .words = "html|md"),
	EVIDENCE_COLUMN(done_row, "what its figures rest on"),
	COLUMN(done_row, file_bytes, UNIT_BYTES, "its size"),
	COLUMN(done_row, slices, UNIT_COUNT, "slices of its timeline"),
	COLUMN(done_row, answers, UNIT_COUNT, "answers it was made of"),
	COLUMN(done_row, left_out, UNIT_NONE, "what was left out of it", NULLABLE),
};
static const struct record done_record = RECORD_OF(done_row, RECORD_BLOCK, done_columns);

static bool print_done(struct job *j, const struct trace *const *traces)
{
	struct cli *c = j->c;
	/* Markdown is made of two answers: isa and summary. */
	struct done_row x = {cli_text(c, "output"), is_markdown(c) ? "md" : "html",
		evidence_name(traces[0]->meta.evidence), j->bytes, j->n_slices,
		is_markdown(c) ? 2 : j->kept.n, j->left_out.n ? j->left_out.p : NULL};

	if (strcmp(x.file, "-") == 0)
		return true;
	if (c->use_json)
		return cli_json_captures(c, traces, c->n_args, &done_record, &x);
	say(c->out, "%s: %s bytes, %s, %s", x.file, U64_TEXT(x.file_bytes),
		COUNTED(x.slices, "slice"), x.evidence);
	if (traces[1] && traces[1]->meta.evidence != traces[0]->meta.evidence)
		say(c->out, " and %s", evidence_name(traces[1]->meta.evidence));
	say(c->out, "\n");
	if (x.left_out)
		say(c->out, "not in it: %s\n", x.left_out);
	return true;
}

static bool make(struct job *j)
{
	struct cli *c = j->c;
	const struct trace *traces[MAX_CAPTURES] = {NULL};
	struct report r = {0};
	struct view *v;

	if (!cli_has(c, "output"))
		return err_set(&c->error, INCORE_USAGE, "no-output",
			"say where to: -o kernel.html, -o kernel.md, or -o - for stdout");
	if (c->use_json && strcmp(cli_text(c, "output"), "-") == 0)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--json and -o - both want standard output");
	if (cli_flag(c, "brief") && !is_markdown(c))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--brief is of Markdown: --format md, or leave --format out");
	if (!load(j) || !make_blobs(j))
		return false;
	v = session_view(j->session, 0, 0, &c->error);
	if (!v || !make_text(j, v))
		return false;
	traces[0] = v->trace;
	for (unsigned i = 1; i < c->n_args; i++)
		traces[i] = session_view(j->session, i, 0, &c->error)->trace;
	r = (struct report){.view = v,
		.second = c->n_args > 1 ? session_view(j->session, 1, 0, &c->error) : NULL,
		.card = {&j->card[0], &j->card[1]},
		.answers = j->kept.v,
		.n_answers = j->kept.n,
		.summary = {j->summary.p, j->summary.n},
		.health = {j->health.p, j->health.n},
		.blob = {{j->blob[0].p, j->blob[0].n}, {j->blob[1].p, j->blob[1].n}},
		.difference = {j->difference.p, j->difference.n},
		.is_compared = j->is_compared,
		.left_out = {j->left_out.p, j->left_out.n},
		.code = {j->code.text.p, j->code.text.n},
		.again = {j->again.p, j->again.n},
		.costs = j->code.costs,
		.all_cost = j->code.all_cost,
		.unit = j->code.unit,
		.no_source = cli_flag(c, "no-source"),
		.is_brief = cli_flag(c, "brief")};
	j->n_warned += session_warned(j->session);
	if (j->n_warned && !c->n_warnings)
		cli_warn(c, "%u of its answers came with warnings, which stand in the report",
			j->n_warned);
	return write_file(j, &r) && print_done(j, traces);
}

static bool run(struct cli *c)
{
	struct job j = {.c = c, .kept = {.n_captures = c->n_args, .error = &c->error}};
	bool ok = make(&j);

	report_answers_deinit(&j.kept);
	for (unsigned i = 0; i < MAX_CAPTURES; i++)
		answer_deinit(&j.page[i]);
	session_free(j.session);
	cli_answered(&j.reading);
	for (unsigned i = 0; i < MAX_CAPTURES; i++) {
		report_part_deinit(&j.part[i]);
		sb_free(&j.blob[i]);
		sb_free(&j.rows[i]);
	}
	report_code_deinit(&j.code);
	sb_free(&j.left_out);
	sb_free(&j.summary);
	sb_free(&j.health);
	sb_free(&j.difference);
	sb_free(&j.again);
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
