/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c: incore report: a capture as one file to send: the viewer with its data, or
 * Markdown. */
#include "cli/cli.h"
#include "cli/config.h"
#include "cli/report_code.h"
#include "cli/report_part.h"
#include "cli/table.h"
#include "cli/verb_answer.h"
#include "codec/json_reader.h"
#include "serve/assets.h"
#include "serve/blob.h"
#include "serve/report.h"
#include "serve/session.h"

#define MAX_QUESTIONS 512u
#define MAX_CAPTURES REPORT_MAX_CAPTURES
/* Answers about one kernel alone, before compression: about a tenth of it in the file. */
#define MAX_SCOPED_BYTES ((size_t)16 << 20)

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
	struct strbuf summary, health, again, difference;
	struct strbuf blob[MAX_CAPTURES], rows[MAX_CAPTURES];
	struct report_part part[MAX_CAPTURES];
	struct strbuf left_out;
	struct report_code code;
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
	const char *paths[] = {j->c->args[capture], j->c->args[base]};

	return verb_answer(&j->answers, q, paths, strcmp(q->name, "diff") == 0 ? 2 : 1, out, e);
}

static bool load(struct job *j)
{
	struct cli *c = j->c;
	struct session_ops ops = {open_capture, ask_verb, verb_answer_is, j, NULL};
	struct session_options o = {.n = c->n_args,
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
	return session_view(j->session, 0, 0, &c->error) != NULL &&
	       session_view(j->session, c->n_args - 1, 0, &c->error) != NULL;
}

/* Keeps the answer under its question; one that cannot be given is left out: the page says so. Why
 * two captures cannot be compared is an answer, too. */
static bool keep(struct job *j, struct str question)
{
	bool is_diff = str_starts(question, "diff?");
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
	/* readers of JSON want some bytes behind it */
	if (r.status == 200 && sb_reserve(&r.body, JSON_PAD))
		memset(r.body.p + r.body.n, 0, JSON_PAD);
	if ((r.status == 200 || (is_diff && r.status < 500)) && !r.body.failed &&
		sb_str(&j->questions[j->n], question)) {
		incore_error_clear(&r.error);
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

/* The question about one of the captures: c= stands where sorted keys have it, base= before all. */
static bool keep_of(struct job *j, unsigned capture, struct str question)
{
	struct str path, rest = question, pair;
	struct strbuf q = {0};
	bool is_named = capture == 0; /* the first is the one that is meant anyway */
	char mark = '?';
	bool ok;

	str_cut(&rest, "?", &path);
	sb_str(&q, path);
	if (str_is(path, "diff")) {
		sb_printf(&q, "?base=%u", !capture);
		mark = '&';
	}
	while (str_cut(&rest, "&", &pair)) {
		if (!is_named && pair.p[0] > 'c') {
			sb_printf(&q, "%cc=%u", mark, capture);
			is_named = true;
			mark = '&';
		}
		sb_putc(&q, mark);
		sb_str(&q, pair);
		mark = '&';
	}
	if (!is_named)
		sb_printf(&q, "%cc=%u", mark, capture);
	ok = q.failed ? err_nomem(&j->c->error) : keep(j, (struct str){q.p, q.n});
	sb_free(&q);
	return ok;
}

static bool keep_tracks(struct job *j, unsigned capture)
{
	uint32_t n = session_view(j->session, capture, 0, &j->c->error)->trace->n_tracks;

	if (!keep_of(j, capture, STR("trace")))
		return false;
	for (uint32_t from = VIEW_TRACKS_A_PAGE; from < n; from += VIEW_TRACKS_A_PAGE) {
		struct strbuf q = {0};
		bool ok = sb_printf(&q, "trace?from=%u", from) && keep_of(j, capture, str_of(q.p));

		sb_free(&q);
		if (!ok)
			return false;
	}
	return true;
}

/* What mode=diff of the lanes needs: no question to ask, but found the same way. */
static bool keep_rows(struct job *j, unsigned capture)
{
	if (!j->rows[capture].n || j->n == MAX_QUESTIONS)
		return true;
	if (!sb_printf(&j->questions[j->n], "rows?c=%u", capture) ||
		!sb_printf(&j->bodies[j->n], "\"%s\"", j->rows[capture].p))
		return err_nomem(&j->c->error);
	j->kept[j->n] = (struct report_answer){
		j->questions[j->n].p, {j->bodies[j->n].p, j->bodies[j->n].n}};
	j->n++;
	return true;
}

static struct str questions(void)
{
	for (size_t i = 0; i < serve_n_assets; i++)
		if (strcmp(serve_assets[i].url, "/questions.txt") == 0)
			return (struct str){
				(const char *)serve_assets[i].data, serve_assets[i].size};
	return STR("");
}

static bool next_question(const struct job *j, struct str *rest, struct str *line)
{
	while (str_cut(rest, "\n", line)) {
		*line = str_trim(*line);
		if (str_starts(*line, "diff?") && j->c->n_args < 2)
			continue;
		if (line->n && line->p[0] != '#')
			return true;
	}
	return false;
}

/* The same about one kernel; keys stay sorted. False: not asked of one kernel, or no memory. */
static bool about_kernel(struct str question, uint32_t id, struct strbuf *out)
{
	struct str rest = question, verb, word;
	char name[32];
	bool is_put = false;

	str_cut(&rest, "?", &verb);
	if (verb.n >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", STR_ARG(verb));
	if (!verb_answer_takes_kernel(name))
		return false;
	sb_printf(out, "%s?", name);
	while (str_cut(&rest, "&", &word)) {
		if (!is_put && word.n && word.p[0] > 'k')
			sb_printf(out, "k=%u&", id);
		is_put |= word.n && word.p[0] > 'k';
		sb_printf(out, "%.*s%s", STR_ARG(word), rest.n ? "&" : "");
	}
	if (!is_put)
		sb_printf(out, "%sk=%u", out->p[out->n - 1] == '?' ? "" : "&", id);
	return !out->failed;
}

static size_t kept_bytes(const struct job *j)
{
	size_t n = 0;

	for (unsigned i = 0; i < j->n; i++)
		n += j->bodies[i].n;
	return n;
}

/* All answers about one kernel, or none of them; *is_in: they are there. */
static bool keep_kernel(struct job *j, unsigned capture, uint32_t id, size_t most, bool *is_in)
{
	struct str rest = questions(), line;
	unsigned first = j->n;
	bool ok = true;

	*is_in = true;
	while (ok && *is_in && next_question(j, &rest, &line)) {
		struct strbuf q = {0};

		if (about_kernel(line, id, &q)) {
			ok = keep_of(j, capture, (struct str){q.p, q.n});
			*is_in = j->n < MAX_QUESTIONS && kept_bytes(j) <= most;
		}
		sb_free(&q);
	}
	while (!*is_in && j->n > first) {
		j->n--;
		sb_free(&j->questions[j->n]);
		sb_free(&j->bodies[j->n]);
	}
	return ok;
}

static uint32_t tracks_of(const struct trace *t, uint32_t kernel)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_tracks; i++)
		n += t->tracks[i].kernel_id == kernel;
	return n;
}

/* Where waves of several kernels ran: one set of answers for each, so that the panels narrow. */
static bool keep_kernels(struct job *j, unsigned capture)
{
	const struct trace *t = session_view(j->session, capture, 0, &j->c->error)->trace;
	size_t most = kept_bytes(j) + MAX_SCOPED_BYTES;
	uint32_t n = 0, left_out = 0;
	bool is_in = true, ok = true;

	for (uint32_t i = 0; i < t->n_kernel_names; i++)
		n += tracks_of(t, t->kernel_names[i].id) > 0;
	for (uint32_t i = 0; ok && n > 1 && i < t->n_kernel_names; i++) {
		if (!tracks_of(t, t->kernel_names[i].id))
			continue;
		ok = !is_in || keep_kernel(j, capture, t->kernel_names[i].id, most, &is_in);
		left_out += !is_in;
	}
	if (ok && left_out)
		sb_printf(&j->left_out, "%sthe tables of %u of %u kernels alone.",
			j->left_out.n ? " Also not: " : "", left_out, n);
	return ok && (!j->left_out.failed || err_nomem(&j->c->error));
}

static bool keep_all(struct job *j, unsigned capture)
{
	struct str rest = questions(), line;

	if (!keep_tracks(j, capture) || !keep_rows(j, capture))
		return false;
	while (next_question(j, &rest, &line))
		if (!keep_of(j, capture, line))
			return false;
	return keep_kernels(j, capture);
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

/* What `incore diff` prints, or why it cannot. */
static bool make_difference(struct job *j)
{
	struct cli *c = j->c;

	if (c->n_args < 2 ||
		verb_answer_text(&j->answers, "diff", c->args, 2, &j->difference, &c->error))
		return true;
	if (c->error.status == INCORE_FAILED)
		return false;
	sb_free(&j->difference);
	sb_printf(&j->difference, "These two cannot be compared: %s\n",
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
	struct report_part *part = &j->part[capture];
	struct strbuf *blob = &j->blob[capture];
	struct blob_view read;
	bool ok;

	if (!v || !report_part_make(part, c, v))
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
	return name && (str_ends(str_of(name), ".md") || str_ends(str_of(name), ".markdown"));
}

static struct str kept(const struct job *j, const char *question)
{
	for (unsigned i = 0; i < j->n; i++)
		if (strcmp(j->kept[i].question, question) == 0)
			return j->kept[i].json;
	return STR("");
}

/* Text of both forms of the report; the HTML carries all answers, Markdown those it is made of. */
static bool make_text(struct job *j, const struct view *v)
{
	struct cli *c = j->c;

	if (is_markdown(c) && (!keep(j, STR("isa")) || !keep(j, STR("summary"))))
		return false;
	for (unsigned i = 0; i < c->n_args; i++)
		if (!is_markdown(c) && !keep_all(j, i))
			return false;
	return make_difference(j) &&
	       verb_answer_text(&j->answers, "summary", c->args, 1, &j->summary, &c->error) &&
	       verb_answer_text(&j->answers, "check", c->args, 1, &j->health, &c->error) &&
	       report_code_make(&j->code, c, v->trace, kept(j, "isa"), kept(j, "summary")) &&
	       report_again_make(c, v, &j->again);
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

static bool print_done(struct job *j, const struct trace *const *traces)
{
	struct cli *c = j->c;
	const char *path = cli_text(c, "output");
	const struct trace *t = traces[0];
	struct json_writer w;
	char a[32], b[32];

	if (strcmp(path, "-") == 0)
		return true;
	if (!c->use_json) {
		fprintf(c->out, "%s: %s bytes, %s slices, %s\n", path, fmt_u64(a, j->bytes),
			fmt_u64(b, j->n_slices), evidence_name(t->meta.evidence));
		if (j->left_out.n)
			fprintf(c->out, "not in it: %s\n", j->left_out.p);
		return true;
	}
	cli_json_begin(c, &w, traces, c->n_args);
	json_w_object(&w);
	json_w_kv_cstr(&w, "file", path);
	json_w_kv_cstr(&w, "format", is_markdown(c) ? "md" : "html");
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	json_w_kv_u64(&w, "file_bytes", j->bytes);
	json_w_kv_u64(&w, "slices", j->n_slices);
	json_w_kv_u64(&w, "answers", j->n);
	json_w_kv_cstr(&w, "left_out", j->left_out.n ? j->left_out.p : NULL);
	json_w_end(&w);
	return cli_json_end(c, &w);
}

static bool make(struct job *j)
{
	struct cli *c = j->c;
	const struct trace *traces[MAX_CAPTURES];
	struct report r = {0};
	struct view *v;

	if (!cli_has(c, "output"))
		return err_set(&c->error, INCORE_USAGE, "no-output",
			"say where to: -o kernel.html, -o kernel.md, or -o - for stdout");
	if (c->use_json && strcmp(cli_text(c, "output"), "-") == 0)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--json and -o - both want standard output");
	if (!load(j) || !make_blobs(j))
		return false;
	for (unsigned i = 0; i < c->n_args; i++)
		traces[i] = session_view(j->session, i, 0, &c->error)->trace;
	v = session_view(j->session, 0, NEED_BUCKET, &c->error);
	if (!v || !make_text(j, v))
		return false;
	r = (struct report){.view = v,
		.answers = j->kept,
		.n_answers = j->n,
		.summary = {j->summary.p, j->summary.n},
		.health = {j->health.p, j->health.n},
		.blob = {{j->blob[0].p, j->blob[0].n}, {j->blob[1].p, j->blob[1].n}},
		.difference = {j->difference.p, j->difference.n},
		.left_out = {j->left_out.p, j->left_out.n},
		.code = {j->code.text.p, j->code.text.n},
		.again = {j->again.p, j->again.n},
		.costs = j->code.costs,
		.all_cost = j->code.all_cost,
		.unit = j->code.unit,
		.no_source = cli_flag(c, "no-source")};
	if (j->answers.n_warned && !c->n_warnings)
		cli_warn(c, "%u of its answers came with warnings, which stand in the report",
			j->answers.n_warned);
	return write_file(j, &r) && print_done(j, traces);
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
	return ok ? INCORE_OK : cli_fail(c);
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
};
