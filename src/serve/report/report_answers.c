/* SPDX-License-Identifier: Apache-2.0 */
/* report_answers.c: asks the questions of the page in advance, while the capture is available. */
#include "serve/report/report_answers.h"

#include "serve/session/assets.h"

/* Limit for answers about single kernels, before compression; takes about a tenth in the file. */
#define MAX_SCOPED_BYTES ((size_t)16 << 20)

/* Keeps the answer under its question. Failed ones are left out, and the page says so; but the
 * reason why two captures cannot be compared is kept as an answer. */
static bool ask_page_question(struct report_answers *a, struct str question)
{
	bool is_diff = str_starts(question, "diff?");
	struct strbuf target = {0};
	struct reply r;

	if (a->n == REPORT_MAX_QUESTIONS)
		return true;
	sb_puts(&target, "/api/1/");
	sb_str(&target, question);
	if (target.failed) {
		sb_free(&target);
		return err_nomem(a->error);
	}
	session_answer(a->session, (struct str){target.p, target.n}, &r);
	sb_free(&target);
	if ((r.status == 200 || (is_diff && r.status < 500)) && !r.body.failed &&
		sb_str(&a->questions[a->n], question)) {
		incore_error_clear(&r.error);
		a->bodies[a->n] = r.body;
		a->v[a->n] = (struct report_answer){a->questions[a->n].p, {r.body.p, r.body.n}};
		a->n++;
		return true;
	}
	/* Questions about instructions do not apply to a timeline: not reported as missing. */
	if (r.status < 500 && !err_is(&r.error, "no-instructions"))
		sb_printf(&a->lacks, "%.*s: %s\n", STR_ARG(question),
			r.error.message ? r.error.message : "out of memory");
	sb_free(&r.body);
	incore_error_clear(&r.error);
	return r.status < 500 || err_nomem(a->error);
}

/* Keeps the answer about one of the captures: adds c= in the order of sorted keys, base= first. */
static bool keep_of(struct report_answers *a, unsigned capture, struct str question)
{
	struct str path, rest = question, pair;
	struct strbuf q = {0};
	bool is_named = capture == 0; /* the first is the default */
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
	ok = q.failed ? err_nomem(a->error) : ask_page_question(a, (struct str){q.p, q.n});
	sb_free(&q);
	return ok;
}

static bool keep_tracks(struct report_answers *a, unsigned capture)
{
	const struct view *v = session_view(a->session, capture, 0, a->error);
	uint32_t n = v ? v->trace->n_tracks : 0;

	if (!v || !keep_of(a, capture, STR("trace")))
		return false;
	for (uint32_t from = VIEW_TRACKS_A_PAGE; from < n; from += VIEW_TRACKS_A_PAGE) {
		char q[32];

		snprintf(q, sizeof(q), "trace?from=%u", from);
		if (!keep_of(a, capture, str_of(q)))
			return false;
	}
	return true;
}

/* Keeps the producer's tables of a capture without tracks, as no verb returns their cells. */
static bool keep_tables(struct report_answers *a, unsigned capture)
{
	const struct trace *t = session_view(a->session, capture, 0, a->error)->trace;

	return t->n_tracks || !t->n_tables || keep_of(a, capture, STR("tables"));
}

static struct str questions(void)
{
	for (size_t i = 0; i < serve_n_assets; i++)
		if (strcmp(serve_assets[i].url, "/questions.txt") == 0)
			return (struct str){
				(const char *)serve_assets[i].data, serve_assets[i].size};
	return STR("");
}

/* Reads the next question; is_scoped: skips those that only apply to the whole capture. */
static bool next_question(
	const struct report_answers *a, bool is_scoped, struct str *rest, struct str *line)
{
	const struct str all = STR("all ");

	while (str_cut(rest, "\n", line)) {
		*line = str_trim(*line);
		if (str_starts(*line, "all ")) {
			if (is_scoped)
				continue;
			*line = (struct str){line->p + all.n, line->n - all.n};
		}
		if (str_starts(*line, "diff?") && a->n_captures < 2)
			continue;
		if (line->n && line->p[0] != '#')
			return true;
	}
	return false;
}

/* Limits a question to one kernel; keys stay sorted. False: it cannot be limited, or no memory. */
static bool about_kernel(struct str question, uint32_t id, struct strbuf *out)
{
	struct str rest = question, verb, word;
	char name[32];
	bool is_put = false;

	str_cut(&rest, "?", &verb);
	if (verb.n >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", STR_ARG(verb));
	if (!session_asks_kernel(name))
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

static size_t kept_bytes(const struct report_answers *a)
{
	size_t n = 0;

	for (unsigned i = 0; i < a->n; i++)
		n += a->bodies[i].n;
	return n;
}

/* Keeps all answers about one kernel, or none if they do not fit; *is_in: they were kept. */
static bool keep_kernel(
	struct report_answers *a, unsigned capture, uint32_t id, size_t most, bool *is_in)
{
	struct str rest = questions(), line;
	unsigned first = a->n;
	bool ok = true;

	*is_in = true;
	while (ok && *is_in && next_question(a, true, &rest, &line)) {
		struct strbuf q = {0};

		if (about_kernel(line, id, &q)) {
			ok = keep_of(a, capture, (struct str){q.p, q.n});
			*is_in = a->n < REPORT_MAX_QUESTIONS && kept_bytes(a) <= most;
		}
		sb_free(&q);
	}
	while (!*is_in && a->n > first) {
		a->n--;
		sb_free(&a->questions[a->n]);
		sb_free(&a->bodies[a->n]);
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

/* If waves of several kernels ran: keeps a set of answers for each, so that the page's panels can
 * be limited to one. */
static bool keep_kernels(struct report_answers *a, unsigned capture, struct strbuf *out)
{
	const struct trace *t = session_view(a->session, capture, 0, a->error)->trace;
	size_t most = kept_bytes(a) + MAX_SCOPED_BYTES;
	uint32_t n = 0, left_out = 0;
	bool is_in = true, ok = true;

	for (uint32_t i = 0; i < t->n_kernel_names; i++)
		n += tracks_of(t, t->kernel_names[i].id) > 0;
	for (uint32_t i = 0; ok && n > 1 && i < t->n_kernel_names; i++) {
		if (!tracks_of(t, t->kernel_names[i].id))
			continue;
		ok = !is_in || keep_kernel(a, capture, t->kernel_names[i].id, most, &is_in);
		left_out += !is_in;
	}
	if (ok && left_out)
		sb_printf(out, "%sthe tables of %u of %u kernels alone.",
			out->n ? " Also not: " : "", left_out, n);
	return ok && (!out->failed || err_nomem(a->error));
}

bool report_answers_all(struct report_answers *a, unsigned capture, struct strbuf *left_out)
{
	struct str rest = questions(), line;

	if (!keep_tracks(a, capture) || !keep_tables(a, capture))
		return false;
	while (next_question(a, false, &rest, &line))
		if (!keep_of(a, capture, line))
			return false;
	return keep_kernels(a, capture, left_out);
}

bool report_answers_put(struct report_answers *a, struct str question, struct str json)
{
	if (a->n == REPORT_MAX_QUESTIONS)
		return true;
	if (!sb_str(&a->questions[a->n], question) || !sb_str(&a->bodies[a->n], json))
		return err_nomem(a->error);
	a->v[a->n] = (struct report_answer){
		a->questions[a->n].p, {a->bodies[a->n].p, a->bodies[a->n].n}};
	a->n++;
	return true;
}

void report_answers_deinit(struct report_answers *a)
{
	sb_free(&a->lacks);
	for (unsigned i = 0; i < REPORT_MAX_QUESTIONS; i++) {
		sb_free(&a->questions[i]);
		sb_free(&a->bodies[i]);
	}
}
