/* SPDX-License-Identifier: Apache-2.0 */
/* report_job.c: asks the questions of a report and puts it together. */
#include "serve/report/report_job.h"

#include "answer/diff.h"
#include "serve/report/blob.h"
#include "serve/report/report_answers.h"
#include "serve/report/report_code.h"

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
static bool compare_rows(struct report_job *j, unsigned capture, struct incore_error *e)
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
		if (!compare_rows(j, i, e))
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
static bool make_code(struct report_job *j, const struct trace *t, struct incore_error *e)
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
		  ask_page(j, "check", &check, &j->health, e) && make_code(j, v->trace, e);

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
