/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_job.c: makes a report of captures. Parts: the part that is kept; answers of verbs; the
 * command that makes it again; the report.
 */
#include "serve/report/report_job.h"

#include "analysis/selection.h"
#include "answer/diff.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/search.h"
#include "serve/report/blob.h"
#include "serve/report/report.h"
#include "serve/report/report_code.h"
#include "serve/session/assets.h"
#include "serve/session/session.h"

/* --- the part that is kept -------------------------------------------------------------------- */

/*
 * The part of a timeline that a report carries.
 */

struct track_loss {
	track_idx track;
	uint64_t lost_cyc;
};

ORDER(by_loss, struct track_loss, DOWN(lost_cyc) UP(track))

static bool keep_waves(struct report_part *p, const char *waves, uint32_t n, struct incore_error *e)
{
	struct number_set set = {0};
	bool ok = number_set_parse(&set, str_of(waves), "--waves", e);

	for (uint32_t i = 0; ok && i < n; i++)
		if (!number_set_has(&set, i))
			p->parts[i].n = 0;
	VEC_FREE(&set.ranges);
	return ok;
}

/* Keeps those of the remaining tracks that lose most. */
static bool keep_hottest(
	struct report_part *p, uint64_t keep, const struct columns *x, struct incore_error *e)
{
	struct track_loss *v = mem_zalloc((size_t)x->n_tracks + 1, sizeof(*v));

	if (!v)
		return err_nomem(e);
	for (track_idx i = 0; i < x->n_tracks; i++) {
		uint64_t sums[LANE_SUMS];
		struct split_cursor k;
		uint32_t begun;

		split_begin(&k, x, NULL, i);
		split_at(&k, UINT64_MAX, sums, &begun);
		v[i] = (struct track_loss){i, sums[SPLIT_STALL]};
	}
	SORT(v, x->n_tracks, by_loss);
	for (track_idx i = 0; i < x->n_tracks; i++) {
		if (p->parts[v[i].track].n && keep)
			keep--;
		else
			p->parts[v[i].track].n = 0;
	}
	mem_free(v);
	return true;
}

static bool parse_window(const char *window, uint64_t *from, uint64_t *to, struct incore_error *e)
{
	struct str text = str_of(window);
	ptrdiff_t dash = str_find(text, "-");

	if (dash > 0 && str_to_u64(str_sub(text, 0, (size_t)dash), from) &&
		str_to_u64(str_sub(text, (size_t)dash + 1, text.n), to) && *from < *to)
		return true;
	return err_set(e, INCORE_USAGE, "bad-option-value",
		"--window expects two rising cycles A-B, not '%s'", text.p);
}

/* Keeps the slices of a track that touch the window; they are contiguous. */
static void keep_window(struct report_part *p, const struct columns *x, uint64_t from, uint64_t to)
{
	for (track_idx t = 0; t < x->n_tracks; t++) {
		uint32_t first = UINT32_MAX, end = 0;

		for (uint32_t k = x->first_lane[t]; k < x->first_lane[t + 1]; k++) {
			const struct lane *l = &x->lanes[k];
			uint32_t i = lane_first_after(l, from);

			for (; i < l->n && lane_start(l, i) < to; i++) {
				first = first == UINT32_MAX ? l->first + i : first;
				end = l->first + i + 1;
			}
		}
		if (first == UINT32_MAX)
			first = end;
		if (p->parts[t].n)
			p->parts[t] = (struct blob_part){first, end - first};
	}
}

static bool say_left_out(struct report_part *p, const struct report_part_options *o,
	const struct columns *x, struct incore_error *e)
{
	uint32_t n = 0;

	for (track_idx i = 0; i < x->n_tracks; i++)
		n += p->parts[i].n == 0;
	sb_printf(&p->left_out, "%s of %s", U64_TEXT(x->n_slices - p->n_slices),
		COUNTED(x->n_slices, "slice"));
	if (n)
		sb_printf(&p->left_out, ", the timeline of %s of %s", U64_TEXT(n),
			COUNTED(x->n_tracks, "track"));
	if (o->window)
		sb_printf(&p->left_out, ", all outside cycles %s", o->window);
	sb_puts(&p->left_out, ". Tables and totals are of the whole capture");
	if (o->no_source)
		sb_puts(&p->left_out, "; the text of sources is left out");
	sb_putc(&p->left_out, '.');
	return !p->left_out.failed || err_nomem(e);
}

static bool nothing_left(const struct columns *x, struct incore_error *e)
{
	if (x->n_failed)
		return err_set(e, INCORE_BAD_INPUT, "nothing-left",
			"no slice is left: %u of %u tracks could not be read", x->n_failed,
			x->n_tracks);
	return err_set(e, INCORE_USAGE, "nothing-left",
		"--waves, --window and --hottest together leave no slice: the capture has tracks 0 "
		"to %u and cycles 0 to %llu",
		x->n_tracks - 1, (unsigned long long)x->end_cyc);
}

static bool report_part_make(struct report_part *p, const struct report_part_options *o,
	const struct columns *x, struct incore_error *e)
{
	uint64_t from, to;

	p->n_slices = x->n_slices;
	if (!o->waves && !o->window && o->hottest == REPORT_ALL_TRACKS) {
		if (o->no_source)
			sb_puts(&p->left_out, "the text of sources.");
		return !p->left_out.failed || err_nomem(e);
	}
	p->parts = mem_zalloc((size_t)x->n_tracks + 1, sizeof(*p->parts));
	if (!p->parts)
		return err_nomem(e);
	for (track_idx i = 0; i < x->n_tracks; i++)
		p->parts[i].n = columns_count(x, i);
	if (o->waves && !keep_waves(p, o->waves, x->n_tracks, e))
		return false;
	if (o->hottest != REPORT_ALL_TRACKS && !keep_hottest(p, o->hottest, x, e))
		return false;
	if (o->window) {
		if (!parse_window(o->window, &from, &to, e))
			return false;
		keep_window(p, x, from, to);
	}
	p->n_slices = 0;
	for (track_idx i = 0; i < x->n_tracks; i++)
		p->n_slices += p->parts[i].n;
	if (p->n_slices == 0 && x->n_slices)
		return nothing_left(x, e);
	return say_left_out(p, o, x, e);
}

static void report_part_deinit(struct report_part *p)
{
	mem_free(p->parts);
	sb_free(&p->left_out);
}

/* --- answers of verbs ------------------------------------------------------------------------- */

/*
 * The answers stored in a report, each under the question that its page asks: those of
 * /questions.txt (tools/page_questions.py), and if waves of several kernels ran, also limited to
 * each of them. They are asked in advance, while the capture is available. Owner:
 * report_answers_deinit(). May fail: memory, with *error filled.
 */

#define REPORT_MAX_QUESTIONS 512u

struct report_answers {
	struct session *session;    /* answers the questions */
	unsigned n_captures;	    /* shown in the report */
	struct incore_error *error; /* filled by the functions here */
	struct strbuf lacks;	    /* questions without an answer and why, one per line */
	unsigned n;
	struct report_answer v[REPORT_MAX_QUESTIONS];
	struct strbuf questions[REPORT_MAX_QUESTIONS], bodies[REPORT_MAX_QUESTIONS];
};

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
static bool report_answers_keep_of(struct report_answers *a, unsigned capture, struct str question)
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

	if (!v || !report_answers_keep_of(a, capture, STR("trace")))
		return false;
	for (uint32_t from = VIEW_TRACKS_A_PAGE; from < n; from += VIEW_TRACKS_A_PAGE) {
		char q[32];

		snprintf(q, sizeof(q), "trace?from=%u", from);
		if (!report_answers_keep_of(a, capture, str_of(q)))
			return false;
	}
	return true;
}

/* Keeps the producer's tables of a capture without tracks, as no verb returns their cells. */
static bool keep_tables(struct report_answers *a, unsigned capture)
{
	const struct trace *t = session_view(a->session, capture, 0, a->error)->trace;

	return t->n_tracks || !t->n_tables || report_answers_keep_of(a, capture, STR("tables"));
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
			ok = report_answers_keep_of(a, capture, (struct str){q.p, q.n});
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

/* Asks everything that the page asks about a capture; adds what does not fit to left_out. */
static bool report_answers_all(struct report_answers *a, unsigned capture, struct strbuf *left_out)
{
	struct str rest = questions(), line;

	if (!keep_tracks(a, capture) || !keep_tables(a, capture))
		return false;
	while (next_question(a, false, &rest, &line))
		if (!report_answers_keep_of(a, capture, line))
			return false;
	return keep_kernels(a, capture, left_out);
}

/* Adds data that is not the answer to a question but is looked up in the same way. */
static bool report_answers_put(struct report_answers *a, struct str question, struct str json)
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

/* Adds data that is not the answer to a question but is looked up in the same way. */
static void report_answers_deinit(struct report_answers *a)
{
	sb_free(&a->lacks);
	for (unsigned i = 0; i < REPORT_MAX_QUESTIONS; i++) {
		sb_free(&a->questions[i]);
		sb_free(&a->bodies[i]);
	}
}

/* --- the command that makes it again ---------------------------------------------------------- */

/*
 * The command that makes a report again, and the inputs it was made from.
 */

static void report_again_put_quoted(const char *word, struct strbuf *out)
{
	const char *one[] = {word, NULL};

	sb_putc(out, ' ');
	process_quote(one, out);
}

void report_put_command(const char *verb, const struct report_request *q, const char *option_words,
	const char *file, struct strbuf *out)
{
	sb_printf(out, "incore %s", verb);
	for (unsigned i = 0; i < q->n; i++)
		report_again_put_quoted(q->paths[i], out);
	sb_puts(out, option_words);
	if (file) {
		sb_puts(out, " -o");
		report_again_put_quoted(file, out);
	}
}

/* Writes the facts on the report itself. */
static void report_again_put(const struct report_request *q, const struct view *v, struct page *p)
{
	const struct trace_meta *m = &v->trace->meta;

	page_command(p, "this report   ", "%s", q->command);
	page_command(p, "look closer   ", "%s", q->closer);
	page_fact(p, "made by       ", "incore %s", INCORE_VERSION);
	page_fact(p, "capture       ", "%s%s%s: %s", m->format, m->format_version ? " " : "",
		m->format_version ? m->format_version : "", m->origin ? m->origin : q->paths[0]);
	page_fact(p, "content       ",
		"%s (of code and timeline; the same capture has it anywhere)", v->hash);
	if (m->launch.command)
		page_command(p, "collected by  ", "%s", m->launch.command);
}

/* --- the report ------------------------------------------------------------------------------- */

/*
 * Asks the questions of a report and puts it together.
 */

#define MAX_CAPTURES REPORT_MAX_CAPTURES

struct report_job {
	struct report_request q;
	struct session *session;
	struct report_answers kept;
	struct page summary, code_page, health, again, difference;
	struct strbuf blob[MAX_CAPTURES], rows[MAX_CAPTURES];
	struct report_part part[MAX_CAPTURES];
	struct strbuf left_out;
	struct report_code code;
	struct report_card card[MAX_CAPTURES];
	struct answer asked[MAX_CAPTURES]; /* answers of summary, from which the cards are made */
	bool is_compared;
	uint64_t n_slices;
	unsigned n_warned;
	struct incore_error kept_error; /* where kept answers report failures */
};

struct report_job *report_job_new(const struct report_request *q, struct incore_error *e)
{
	struct report_job *j = mem_zalloc(1, sizeof(*j));
	struct session_options o = {.n = q->n,
		.paths = q->paths,
		.reading = q->reading,
		.no_cache = true,
		.colors = q->colors,
		.stop = q->stop};

	if (!j)
		return err_nomem_null(e);
	j->q = *q;
	page_init(&j->summary);
	page_init(&j->code_page);
	page_init(&j->health);
	page_init(&j->again);
	page_init(&j->difference);
	j->kept.n_captures = q->n;
	j->kept.error = &j->kept_error;
	j->session = j->kept.session = session_new(&o, e);
	if (j->session)
		return j;
	report_job_free(j);
	return NULL;
}

void report_job_free(struct report_job *j)
{
	if (!j)
		return;
	report_answers_deinit(&j->kept);
	for (unsigned i = 0; i < MAX_CAPTURES; i++)
		answer_deinit(&j->asked[i]);
	session_free(j->session);
	for (unsigned i = 0; i < MAX_CAPTURES; i++) {
		report_part_deinit(&j->part[i]);
		sb_free(&j->blob[i]);
		sb_free(&j->rows[i]);
	}
	report_code_deinit(&j->code);
	sb_free(&j->left_out);
	page_deinit(&j->summary);
	page_deinit(&j->code_page);
	page_deinit(&j->health);
	page_deinit(&j->again);
	page_deinit(&j->difference);
	incore_error_clear(&j->kept_error);
	mem_free(j);
}

struct session *report_job_session(struct report_job *j)
{
	return j->session;
}

bool report_job_read(struct report_job *j, struct incore_error *e)
{
	session_load(j->session);
	return !session_failure(j->session, e) && session_view(j->session, 0, 0, e) != NULL &&
	       session_view(j->session, j->q.n - 1, 0, e) != NULL;
}

struct report_told report_job_told(const struct report_job *j)
{
	struct report_told told = {.n_slices = j->n_slices,
		/* Markdown is made from two answers: isa and summary. */
		.n_answers = j->q.is_markdown ? 2 : j->kept.n,
		.n_warned = j->n_warned + session_warned(j->session),
		.left_out = {j->left_out.p, j->left_out.n},
		.lacks = {j->kept.lacks.p, j->kept.lacks.n}};

	for (unsigned i = 0; i < j->q.n; i++)
		told.evidence[i] = session_trace(j->session, i)->meta.evidence;
	return told;
}

/* --- the comparison --- */

/* Compares each row with the other capture; uses whole captures, before anything is left out. */
static bool report_job_compare_rows(struct report_job *j, unsigned capture, struct incore_error *e)
{
	struct view *v = session_view(j->session, capture, 0, e);
	const struct view *base = session_view(j->session, !capture, 0, e);

	if (view_diff_rows(v, base, &j->rows[capture], e))
		return true;
	if (e->status == INCORE_FAILED)
		return false;
	incore_error_clear(e); /* reported where the page asks for it */
	sb_free(&j->rows[capture]);
	return true;
}

/* Keeps the data that mode=diff of the lanes needs. */
static bool keep_rows(struct report_job *j, unsigned capture, struct incore_error *e)
{
	struct strbuf question = {0}, json = {0};
	bool ok;

	if (!j->rows[capture].n)
		return true;
	ok = sb_printf(&question, "rows?c=%u", capture) &&
	     sb_printf(&json, "\"%s\"", j->rows[capture].p);
	if (!ok)
		err_nomem(e);
	else if (!(ok = report_answers_put(&j->kept, (struct str){question.p, question.n},
			   (struct str){json.p, json.n})))
		err_move(e, &j->kept_error);
	sb_free(&question);
	sb_free(&json);
	return ok;
}

/* Writes the changes in two lines: a whole execution, and the instruction that changed most. */
static void put_headline(struct page *p, const struct diff_answer *d)
{
	const struct diff_value_row *values = d->values.v;
	const struct diff_part_row *most = d->parts.v;

	EACH (const struct diff_value_row, v, values, d->values.n)
		if (v->is_known && strcmp(v->name, d->is_per_launch ? "latency_per_launch"
								    : "duration_per_hit") == 0)
			page_item(p, "- ", "cycles %s %s: %.3f -> %.3f (%+.2f %%, %s)",
				d->is_per_launch ? "a" : "an", d->per, v->a, v->b, v->change_pct,
				v->verdict);
	if (d->stability.is_judged)
		page_item(p, "- ",
			"captures of one state: %s (%.2f %% apart, %llu rows by more than %.3g %%)",
			d->stability.is_stable ? "stable" : "not stable", d->stability.spread_pct,
			(unsigned long long)d->stability.rows_beyond, d->stability.row_limit_pct);
	if (d->parts.n && most->row_b != NO_VALUE)
		page_item(p, "- ", "largest change: row %lld, %s, %.3f -> %.3f cycles each (%s)",
			(long long)most->row_b, most->key,
			d->is_per_launch ? most->per_launch_a : most->per_hit_a,
			d->is_per_launch ? most->per_launch_b : most->per_hit_b, most->verdict);
	page_gap(p);
}

/* Adds the answer of `incore diff` below a headline, or why there is none. */
static bool make_difference(struct report_job *j, struct incore_error *e)
{
	struct answer diff;
	bool ok;

	if (j->q.n < 2)
		return true;
	ok = session_ask(j->session, "diff", 0, &diff, e);
	j->n_warned += diff.warnings.n > 0;
	if (ok) {
		put_headline(&j->difference, diff.data);
		diff.question->page(&diff, &j->difference);
	}
	answer_deinit(&diff);
	j->is_compared = ok;
	if (ok)
		return page_is_whole(&j->difference, e);
	if (e->status == INCORE_FAILED)
		return false;
	page_prose(&j->difference, "", "These two captures cannot be compared: %s",
		e->message ? e->message : "");
	incore_error_clear(e);
	return page_is_whole(&j->difference, e);
}

/* --- how much of the timeline --- */

static bool too_large(uint64_t n, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "too-large",
		"%llu slices are more than the %u that a report holds; --hottest N, --waves SET or "
		"--window A-B takes part of them, and incore view shows all",
		(unsigned long long)n, REPORT_MAX_SLICES);
}

/* Makes the columns that go into the file; the session then answers from the same columns. */
static bool make_blob(struct report_job *j, unsigned capture, struct incore_error *e)
{
	struct view *v = session_view(j->session, capture, 0, e);
	struct blob_options o = {.no_source = j->q.part.no_source};
	struct report_part *part = &j->part[capture];
	struct strbuf *blob = &j->blob[capture];
	struct blob_view read;
	bool ok;

	if (!v || !report_part_make(part, &j->q.part, v->columns, e))
		return false;
	j->n_slices += part->n_slices;
	if (j->n_slices > REPORT_MAX_SLICES)
		return too_large(j->n_slices, e);
	o.parts = part->parts;
	if (!blob_write(v, &o, blob))
		return err_nomem(e);
	if (part->left_out.n && j->q.n > 1)
		sb_printf(&j->left_out, "%sof capture %u: ", j->left_out.n ? " " : "", capture + 1);
	sb_add(&j->left_out, part->left_out.n ? part->left_out.p : "", part->left_out.n);
	if (j->left_out.failed)
		return err_nomem(e);
	if (!part->parts)
		return true;
	ok = blob_read(blob->p, blob->n, &read, e);
	if (ok)
		session_narrow(j->session, capture, &read.columns);
	blob_view_deinit(&read);
	return ok;
}

static bool make_blobs(struct report_job *j, struct incore_error *e)
{
	for (unsigned i = 0; i < j->q.n && j->q.n > 1; i++)
		if (!report_job_compare_rows(j, i, e))
			return false;
	for (unsigned i = 0; i < j->q.n; i++)
		if (!make_blob(j, i, e))
			return false;
	return true;
}

/* --- contents --- */

/* Keeps the answers to all questions of an HTML page; Markdown asks none. */
static bool keep_answers(struct report_job *j, struct incore_error *e)
{
	for (unsigned i = 0; i < j->q.n && !j->q.is_markdown; i++) {
		if (!report_answers_all(&j->kept, i, &j->left_out)) {
			err_move(e, &j->kept_error);
			return false;
		}
		if (!keep_rows(j, i, e))
			return false;
	}
	return !j->kept.lacks.failed || err_nomem(e);
}

/* Asks a verb about the first capture; the caller owns *out. */
static bool ask_page(struct report_job *j, const char *verb, struct answer *out, struct page *p,
	struct incore_error *e)
{
	bool ok = session_ask(j->session, verb, 0, out, e);

	j->n_warned += out->warnings.n > 0;
	if (ok)
		out->question->page(out, p);
	return ok && page_is_whole(p, e);
}

/* Makes the part of the report about the code, in addition to the summary. */
static bool report_job_make_code(
	struct report_job *j, const struct trace *t, struct incore_error *e)
{
	struct answer isa;
	bool ok = session_ask(j->session, "isa", 0, &isa, e);

	if (ok)
		ok = report_code_make(&j->code, t, &isa, &j->asked[0], &j->code_page, e);
	if (j->q.is_markdown)
		j->n_warned += isa.warnings.n > 0;
	answer_deinit(&isa);
	return ok;
}

/* Makes the pages that both forms of the report contain. */
static bool make_pages(struct report_job *j, const struct view *v, struct incore_error *e)
{
	struct answer check = {0};
	bool ok = keep_answers(j, e) && make_difference(j, e) &&
		  ask_page(j, "summary", &j->asked[0], &j->summary, e) &&
		  (j->q.n < 2 || session_ask(j->session, "summary", 1, &j->asked[1], e)) &&
		  ask_page(j, "check", &check, &j->health, e) &&
		  report_job_make_code(j, v->trace, e);

	answer_deinit(&check);
	if (!ok)
		return false;
	report_again_put(&j->q, v, &j->again);
	for (unsigned i = 0; i < j->q.n; i++)
		report_card_make(&j->card[i], &j->asked[i]);
	return page_is_whole(&j->again, e);
}

bool report_job_write(struct report_job *j, FILE *out, struct incore_error *e)
{
	const struct report_request *q = &j->q;
	struct view *v = session_view(j->session, 0, 0, e);
	struct report r;

	if (!v || !make_blobs(j, e))
		return false;
	v = session_view(j->session, 0, 0, e);
	if (!v || !make_pages(j, v, e))
		return false;
	r = (struct report){.view = v,
		.second = q->n > 1 ? session_view(j->session, 1, 0, e) : NULL,
		.card = {&j->card[0], &j->card[1]},
		.answers = j->kept.v,
		.n_answers = j->kept.n,
		.summary = &j->summary,
		.health = &j->health,
		.blob = {{j->blob[0].p, j->blob[0].n}, {j->blob[1].p, j->blob[1].n}},
		.difference = q->n > 1 ? &j->difference : NULL,
		.is_compared = j->is_compared,
		.left_out = {j->left_out.p, j->left_out.n},
		.code = &j->code_page,
		.again = &j->again,
		.costs = j->code.costs,
		.all_cost = j->code.all_cost,
		.unit = j->code.unit,
		.no_source = q->part.no_source,
		.is_brief = q->is_brief};
	return (q->is_markdown ? report_markdown : report_html)(&r, out, e);
}
