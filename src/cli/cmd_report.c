/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c: incore report: a capture as one file to send: the viewer with its data, or
 * Markdown. */
#include "cli/cli.h"
#include "cli/config.h"
#include "cli/report_part.h"
#include "cli/table.h"
#include "cli/verb_answer.h"
#include "serve/assets.h"
#include "serve/blob.h"
#include "serve/report.h"
#include "serve/session.h"

#define MAX_QUESTIONS 128u

static const struct option_def options[] = {
	{0, "format", OPTION_CHOICE, "HOW", "auto|html|md", "auto",
		"what to write; auto: by the name of the file, else html"},
	{0, "waves", OPTION_TEXT, "SET", NULL, NULL,
		"timeline of these tracks alone, by number: 0,2-3"},
	{0, "window", OPTION_TEXT, "A-B", NULL, NULL, "timeline of these cycles alone"},
	{0, "hottest", OPTION_COUNT, "N", NULL, NULL,
		"timeline of the N tracks that lose most cycles"},
	{0, "no-source", OPTION_FLAG, NULL, NULL, NULL, "leave the text of sources out"},
	{0, NULL, OPTION_FLAG, NULL, NULL, NULL, NULL},
};

struct job {
	struct cli *c;
	struct config config;
	struct verb_answers answers;
	struct session *session;
	struct report_answer kept[MAX_QUESTIONS];
	struct strbuf questions[MAX_QUESTIONS], bodies[MAX_QUESTIONS];
	unsigned n;
	struct strbuf summary, health, blob, command;
	struct report_part part;
	uint64_t n_slices;
	uint64_t bytes;
};

/* --- data --- */

static bool open_capture(void *ctx, unsigned i, struct progress *progress, struct trace **out,
	struct incore_error *e)
{
	struct job *j = ctx;

	if (!verb_answer_open(&j->answers, j->c->args[i], progress, out, e))
		return false;
	cli_notes(j->c, (*out)->notes, (*out)->n_notes);
	return true;
}

static bool ask_verb(void *ctx, unsigned capture, unsigned base, const struct query *q,
	struct strbuf *out, struct incore_error *e)
{
	struct job *j = ctx;
	const char *path = j->c->args[capture];

	(void)base;
	return verb_answer(&j->answers, q, &path, 1, out, e);
}

static bool load(struct job *j)
{
	struct cli *c = j->c;
	struct session_ops ops = {open_capture, ask_verb, verb_answer_is, j, NULL};
	struct session_options o = {.n = 1,
		.paths = c->args,
		.ops = &ops,
		.pool = c->pool,
		.no_cache = true,
		.colors = &j->config.colors};

	if (!config_read(&j->config, &c->error))
		return false;
	if (!verb_answers_init(&j->answers, c, &c->error))
		return false;
	j->session = session_new(&o, &c->error);
	if (!j->session)
		return false;
	session_load(j->session);
	if (session_failure(j->session, &c->error))
		return false;
	cli_warn_unread(c, session_unread(j->session));
	return session_view(j->session, 0, 0, &c->error) != NULL;
}

/* Keeps the answer under its question; one that cannot be given is left out: the page says so. */
static bool keep(struct job *j, struct str question)
{
	struct strbuf target = {0};
	struct reply r;

	if (j->n == MAX_QUESTIONS)
		return true;
	sb_puts(&target, "/api/1/");
	sb_str(&target, question);
	if (target.failed) {
		sb_free(&target);
		return err_nomem(&j->c->error);
	}
	session_answer(j->session, (struct str){target.p, target.n}, &r);
	sb_free(&target);
	if (r.status == 200 && !r.body.failed && sb_str(&j->questions[j->n], question)) {
		j->bodies[j->n] = r.body;
		j->kept[j->n] = (struct report_answer){j->questions[j->n].p, {r.body.p, r.body.n}};
		j->n++;
		return true;
	}
	if (r.status < 500)
		cli_warn(j->c, "the report lacks %.*s: %s", STR_ARG(question),
			r.error.message ? r.error.message : "out of memory");
	sb_free(&r.body);
	incore_error_clear(&r.error);
	return r.status < 500 || err_nomem(&j->c->error);
}

static bool keep_tracks(struct job *j, uint32_t n_tracks)
{
	if (!keep(j, STR("trace")))
		return false;
	for (uint32_t from = VIEW_TRACKS_A_PAGE; from < n_tracks; from += VIEW_TRACKS_A_PAGE) {
		struct strbuf q = {0};
		bool ok = sb_printf(&q, "trace?from=%u", from) && keep(j, str_of(q.p));

		sb_free(&q);
		if (!ok)
			return false;
	}
	return true;
}

static bool keep_all(struct job *j, uint32_t n_tracks)
{
	struct str rest = {0}, line;

	for (size_t i = 0; i < serve_n_assets; i++)
		if (strcmp(serve_assets[i].url, "/questions.txt") == 0)
			rest = (struct str){
				(const char *)serve_assets[i].data, serve_assets[i].size};
	if (!keep_tracks(j, n_tracks))
		return false;
	while (str_cut(&rest, "\n", &line)) {
		line = str_trim(line);
		if (line.n && line.p[0] != '#' && !keep(j, line))
			return false;
	}
	return true;
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
static bool make_blob(struct job *j)
{
	struct cli *c = j->c;
	struct view *v = session_view(j->session, 0, 0, &c->error);
	struct blob_options o = {.no_source = cli_flag(c, "no-source")};
	struct blob_view read;
	bool ok;

	if (!v || !report_part_make(&j->part, c, v))
		return false;
	if (j->part.n_slices > REPORT_MAX_SLICES)
		return too_large(c, j->part.n_slices);
	j->n_slices = j->part.n_slices;
	o.parts = j->part.parts;
	if (!blob_write(v, &o, &j->blob))
		return err_nomem(&c->error);
	if (!j->part.parts)
		return true;
	ok = blob_read(j->blob.p, j->blob.n, &read, &c->error);
	if (ok)
		session_narrow(j->session, 0, &read.columns);
	blob_view_deinit(&read);
	return ok;
}

static bool make_command(struct job *j)
{
	struct cli *c = j->c;
	const char *name = cli_text(c, "output");

	sb_printf(&j->command, "incore report %s", c->args[0]);
	for (const struct option_def *d = options; d->name; d++)
		if (cli_has(c, d->name))
			sb_printf(&j->command, " --%s%s%s", d->name,
				d->type == OPTION_FLAG ? "" : " ",
				d->type == OPTION_FLAG ? "" : cli_text(c, d->name));
	sb_printf(&j->command, " -o %s\nincore view %s\nincore %s\n",
		name ? path_base(name) : "report.html", c->args[0], "--version");
	sb_printf(&j->command, "made by incore %s", INCORE_VERSION);
	return !j->command.failed || err_nomem(&c->error);
}

/* --- output --- */

static bool is_markdown(const struct cli *c)
{
	const char *format = cli_text(c, "format"), *name = cli_text(c, "output");

	if (strcmp(format, "auto") != 0)
		return strcmp(format, "md") == 0;
	return name && (str_ends(str_of(name), ".md") || str_ends(str_of(name), ".markdown"));
}

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

static bool print_done(struct job *j, const struct trace *t)
{
	struct cli *c = j->c;
	const char *path = cli_text(c, "output");
	struct json_writer w;
	char a[32], b[32];

	if (strcmp(path, "-") == 0)
		return true;
	if (!c->use_json) {
		fprintf(c->out, "%s: %s bytes, %s slices, %s\n", path, fmt_u64(a, j->bytes),
			fmt_u64(b, j->n_slices), evidence_name(t->meta.evidence));
		if (j->part.left_out.n)
			fprintf(c->out, "not in it: %s\n", j->part.left_out.p);
		return true;
	}
	cli_json_begin(c, &w, &t, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "file", path);
	json_w_kv_cstr(&w, "format", is_markdown(c) ? "md" : "html");
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	json_w_kv_u64(&w, "file_bytes", j->bytes);
	json_w_kv_u64(&w, "slices", j->n_slices);
	json_w_kv_u64(&w, "answers", j->n);
	json_w_kv_cstr(&w, "left_out", j->part.left_out.n ? j->part.left_out.p : NULL);
	json_w_end(&w);
	return cli_json_end(c, &w);
}

static bool make(struct job *j)
{
	struct cli *c = j->c;
	struct report r = {0};
	struct view *v;

	if (!cli_has(c, "output"))
		return err_set(&c->error, INCORE_USAGE, "no-output",
			"say where to: -o kernel.html, -o kernel.md, or -o - for stdout");
	if (c->use_json && strcmp(cli_text(c, "output"), "-") == 0)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--json and -o - both want standard output");
	if (!load(j) || !make_blob(j) || !make_command(j))
		return false;
	v = session_view(j->session, 0, NEED_BUCKET | NEED_CODE, &c->error);
	if (!v || (!is_markdown(c) && !keep_all(j, v->trace->n_tracks)) ||
		!verb_answer_text(&j->answers, "summary", c->args[0], &j->summary, &c->error) ||
		!verb_answer_text(&j->answers, "check", c->args[0], &j->health, &c->error))
		return false;
	r = (struct report){.view = v,
		.answers = j->kept,
		.n_answers = j->n,
		.summary = {j->summary.p, j->summary.n},
		.health = {j->health.p, j->health.n},
		.blob = {j->blob.p, j->blob.n},
		.left_out = {j->part.left_out.p, j->part.left_out.n},
		.command = {j->command.p, j->command.n}};
	if (j->answers.n_warned && !c->n_warnings)
		cli_warn(c, "%u of its answers came with warnings, which stand in the report",
			j->answers.n_warned);
	return write_file(j, &r) && print_done(j, v->trace);
}

static int run(struct cli *c)
{
	struct job j = {.c = c};
	bool ok = make(&j);

	for (unsigned i = 0; i < MAX_QUESTIONS; i++) {
		sb_free(&j.questions[i]);
		sb_free(&j.bodies[i]);
	}
	session_free(j.session);
	verb_answers_deinit(&j.answers);
	report_part_deinit(&j.part);
	sb_free(&j.summary);
	sb_free(&j.health);
	sb_free(&j.blob);
	sb_free(&j.command);
	return ok ? INCORE_OK : cli_fail(c);
}

const struct verb verb_report = {
	.name = "report",
	.args = "PATH",
	.summary = "a capture as one HTML file to send, or as Markdown",
	.groups = OPTIONS_OUTPUT | OPTIONS_CAPTURE | OPTIONS_OWN_FILE,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
