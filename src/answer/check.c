/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: can these captures be trusted? Findings with evidence and advice. */
#include "answer/check.h"
#include "answer/pages.h"

#include "answer/captures.h"
#include "answer/siblings.h"
#include "trace/notes.h"

#define VERDICT_WORDS "ok|suspect|unusable"

/* --- columns -------------------------------------------------------------------------------- */

struct fact_row {
	const char *key;
	struct any value;
};

static const struct column fact_columns[] = {
	COLUMN(fact_row, key, UNIT_NONE, "name of the figure"),
	COLUMN(fact_row, value, UNIT_NONE, "value of the figure"),
};
static const struct record fact_record = RECORD_OF(fact_row, RECORD_LINE, fact_columns);

static const struct column finding_columns[] = {
	COLUMN(finding_row, capture, UNIT_NONE, "path of the capture that the figure is about",
		NO_JSON),
	COLUMN(finding_row, verdict, UNIT_NONE, "verdict on the capture that the finding is about",
		.words = VERDICT_WORDS, NO_JSON),
	COLUMN(finding_row, id, UNIT_NONE, "name of the rule that fired", .words = FINDING_WORDS),
	COLUMN(finding_row, severity, UNIT_NONE, "how serious the finding is",
		.words = "error|warning|info"),
	COLUMN(finding_row, message, UNIT_NONE, "what was found"),
	MAP(finding_row, evidence, &fact_record, "the figures that the finding rests on"),
	COLUMN(finding_row, evidence_text, UNIT_NONE, "the evidence in one line",
		.title = "evidence", NO_JSON),
	COLUMN(finding_row, advice, UNIT_NONE, "what to do about the finding"),
};
const struct record finding_record = RECORD_OF(finding_row, RECORD_BLOCK, finding_columns);

static const struct column check_part_columns[] = {
	COLUMN(check_part, verdict, UNIT_NONE,
		"whether the cycles can stand for the kernel: the worst effect of any finding",
		.words = VERDICT_WORDS),
	LIST(check_part, findings, &finding_record, "what was found, errors first"),
};
const struct record check_part_record = RECORD_OF(check_part, RECORD_BLOCK, check_part_columns);

static const struct column noted_columns[] = {
	COLUMN(noted_row, code, UNIT_NONE, "name of the note, as in incore-notes(7)"),
	COLUMN(noted_row, kind, UNIT_NONE, "what the note means for the data",
		.words =
			"lost|truncated|unmapped|clamped|contradictory|guessed|missing|damaged|info"),
	COLUMN(noted_row, message, UNIT_NONE, "what the reader of the capture found"),
	COLUMN(noted_row, path, UNIT_NONE, "file that the note is about", OPTIONAL),
	COLUMN(noted_row, count, UNIT_COUNT, "number of occurrences"),
	COLUMN(noted_row, advice, UNIT_NONE, "what to do about the note"),
};
static const struct record noted_record = RECORD_OF(noted_row, RECORD_LINE, noted_columns);

static const struct column checked_columns[] = {
	COLUMN(checked_row, path, UNIT_NONE, "path of the capture"),
	COLUMN(checked_row, is_chosen, UNIT_NONE,
		"other questions about this path choose this capture"),
	PART(checked_row, check, &check_part_record),
	COLUMN(checked_row, health, UNIT_NONE, "verdict with the errors and warnings in one line",
		NO_JSON),
	LIST(checked_row, notes, &noted_record,
		"notes of the reader of the capture that no finding tells, with advice", OPTIONAL),
};
static const struct record checked_record = RECORD_OF(checked_row, RECORD_BLOCK, checked_columns);

static const struct column check_columns[] = {
	EVIDENCE_COLUMN(check_answer, "what the figures rest on"),
	PART(check_answer, worst, &check_part_record),
	LIST(check_answer, notes, &noted_record,
		"notes of the reader of the capture that no finding tells, with advice", OPTIONAL),
	LIST(check_answer, captures, &checked_record, "every capture, if the path holds several",
		OPTIONAL),
	LIST(check_answer, every_finding, &finding_record, "the findings of all captures", NO_JSON),
};
static const struct record check_record = RECORD_OF(check_answer, RECORD_BLOCK, check_columns);

/* --- rows ----------------------------------------------------------------------------------- */

const char *check_health_text(struct answer *a, const struct check *k, struct incore_error *e)
{
	struct strbuf b = {0};

	check_health(k, &b);
	return answer_text(a, &b, e);
}

static struct any check_value_of(const struct fact *x)
{
	struct any v = {.type = COLUMN_TEXT, .text = x->text};

	if (x->kind == FACT_INT)
		v = (struct any){.type = COLUMN_I64, .i = x->i};
	else if (x->kind == FACT_REAL)
		v = (struct any){.type = COLUMN_F64, .digits = (int8_t)x->digits, .d = x->d};
	return v;
}

static bool put_evidence(
	struct answer *a, const struct finding *f, struct finding_row *x, struct incore_error *e)
{
	struct fact_row *v = ANSWER_ROWS(a, &x->evidence, f->n_facts, fact_row, e);
	struct strbuf b = {0};

	if (!v)
		return false;
	for (unsigned i = 0; i < f->n_facts; i++)
		v[i] = (struct fact_row){f->facts[i].key, check_value_of(&f->facts[i])};
	finding_put_evidence(f, &b);
	x->evidence_text = answer_text(a, &b, e);
	return x->evidence_text != NULL;
}

bool check_part_make(struct answer *a, const struct check *k, const char *capture,
	struct finding_row *v, struct check_part *out, struct incore_error *e)
{
	for (uint32_t i = 0; i < k->n_findings; i++) {
		const struct finding *f = &k->findings[i];

		v[i] = (struct finding_row){.capture = capture,
			.verdict = verdict_name(k->verdict),
			.id = f->note.code,
			.severity = note_weight_name(f->note.weight),
			.message = f->note.message,
			.advice = f->advice,
			.level = f->note.weight};
		if (!put_evidence(a, f, &v[i], e))
			return false;
	}
	*out = (struct check_part){verdict_name(k->verdict), {v, k->n_findings}};
	return true;
}

/* --- the question --------------------------------------------------------------------------- */

struct check_checked {
	const char *path;
	const struct check *check; /* owned by the answer */
	bool is_chosen;
	struct rows notes; /* noted_row */
};

struct check_job {
	const struct request *r;
	struct answer *a;
	VEC(struct check_checked) v;
};

/* If one of several captures cannot be read, leaves it out so that the others are still checked. */
static bool skip_unreadable(
	struct check_job *j, const struct capture *k, bool is_alone, struct incore_error *e)
{
	struct strbuf why = {0};

	if (is_alone || e->status != INCORE_BAD_INPUT)
		return false;
	err_format(e, &why);
	answer_warn(j->a, "%s left out: %s", k->path, why.p ? why.p : "cannot be read");
	j->a->n_losses++;
	sb_free(&why);
	incore_error_clear(e);
	return true;
}

/* Captures that are not chosen are not kept open: there may be many. */
static bool read_capture(struct check_job *j, const struct capture *k, bool is_chosen,
	struct trace **out, struct incore_error *e)
{
	struct import_options o = request_import(j->r, IMPORT_ALL);
	bool ok;

	if (is_chosen)
		return captures_read(j->r->captures, k, &o, out, e);
	captures_lock(j->r->captures);
	ok = import_read(k, &o, out, e);
	captures_unlock(j->r->captures);
	return ok;
}

/* Copies the notes about which something can be done; what a finding of that code tells is told. */
static bool add_notes(struct answer *a, const struct check *k, const struct note *v, uint32_t n,
	struct noted_row **at, struct incore_error *e)
{
	EACH (const struct note, x, v, n) {
		const struct note_entry *row = note_row(x->code);

		if (!row || !*row->advice || check_find(k, x->code))
			continue;
		**at = (struct noted_row){.code = row->code,
			.kind = note_kind_name(x->kind),
			.message = arena_strdup(&a->arena, x->message),
			.path = x->path ? arena_strdup(&a->arena, x->path) : NULL,
			.advice = row->advice,
			.count = x->count};
		if (!(*at)->message || (x->path && !(*at)->path))
			return err_nomem(e);
		++*at;
	}
	return true;
}

static bool check_trace(struct check_job *j, const struct trace *t, const struct check_context *ctx,
	struct check_checked *x, struct incore_error *e)
{
	struct walk_options o = request_walk(j->r, NULL);
	struct walk_result walk = {0};
	struct check *k = check_run(t, ctx, &o, &walk, e);
	struct noted_row *v =
		k ? ANSWER_ROWS(j->a, &x->notes, t->n_notes + walk.n_notes, noted_row, e) : NULL;
	struct noted_row *end = v;
	bool ok = v && add_notes(j->a, k, t->notes, t->n_notes, &end, e) &&
		  add_notes(j->a, k, walk.notes, walk.n_notes, &end, e);

	x->notes = end == v ? (struct rows){0} : (struct rows){v, (size_t)(end - v)};
	if (k) {
		k->ctx = NULL; /* it does not live as long as the findings */
		if (x->is_chosen) {
			answer_notes(j->a, t->notes, t->n_notes);
			answer_walk_notes(j->a, &walk);
		}
	}
	walk_result_deinit(&walk);
	x->check = k;
	return k && ANSWER_KEEP(j->a, k, check_free, e) && ok;
}

static bool check_beside(struct check_job *j, const struct trace *t, const struct capture *k,
	const struct capture_list *all, struct check_checked *x, struct incore_error *e)
{
	struct siblings s;
	bool ok;

	captures_lock(j->r->captures);
	ok = siblings_find(&s, k, all, &j->r->captures->cache, e);
	captures_unlock(j->r->captures);
	ok = ok && check_trace(j, t, &s.ctx, x, e);
	siblings_deinit(&s);
	return ok;
}

static bool check_capture(struct check_job *j, const struct capture *k,
	const struct capture_list *all, bool is_chosen, bool is_alone, struct incore_error *e)
{
	struct check_checked x = {
		.path = arena_strdup(&j->a->arena, k->path), .is_chosen = is_chosen};
	struct trace *t = NULL;
	bool ok;

	if (!x.path)
		return err_nomem(e);
	if (!read_capture(j, k, is_chosen, &t, e))
		return skip_unreadable(j, k, is_alone, e);
	ok = check_beside(j, t, k, all, &x, e) && (VEC_PUSH(&j->v, x) || err_nomem(e));
	if (ok && is_chosen) {
		ok = VEC_PUSH(&j->a->traces, t) || err_nomem(e);
		t = ok ? NULL : t;
	}
	trace_free(t);
	return ok;
}

static bool check_path(struct check_job *j, const char *path, struct incore_error *e)
{
	struct capture_choice choice = request_choice(j->r);
	struct capture_list list = {0};
	const struct capture **ranked;
	size_t before = j->v.n;
	uint32_t n = 0;
	bool ok = true;

	if (!captures_find(j->r->captures, path, &list, e))
		return false;
	ranked = mem_zalloc(list.n + 1, sizeof(*ranked));
	if (ranked)
		n = captures_choose(j->r->captures, &list, choice, ranked);
	if (!ranked)
		ok = err_nomem(e);
	else if (!n)
		ok = err_set(e, INCORE_USAGE, "no-such-capture",
			"none of the %u captures below '%s' is the one asked for", list.n, path);
	for (uint32_t i = 0; ok && i < list.n; i++)
		if (capture_is(&list.v[i], choice))
			ok = check_capture(j, &list.v[i], list.n > 1 ? &list : NULL,
				&list.v[i] == ranked[0], n == 1, e);
	if (ok && j->v.n == before)
		ok = err_set(e, INCORE_BAD_INPUT, "unreadable",
			"none of the %u captures below '%s' can be read", n, path);
	mem_free(ranked);
	capture_list_deinit(&list);
	return ok;
}

/* The chosen capture with the worst verdict, which stands for the whole answer. */
static const struct checked_row *find_worst(const struct checked_row *v, size_t n)
{
	const struct checked_row *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!v[i].is_chosen && best)
			continue;
		if (!best || !best->is_chosen || v[i].verdict > best->verdict)
			best = &v[i];
	}
	return best;
}

static bool make_answer(struct check_job *j, struct incore_error *e)
{
	struct check_answer *out = ANSWER_NEW(j->a, check_answer, e);
	struct checked_row *v = answer_alloc(j->a, j->v.n, sizeof(*v), e);
	const struct checked_row *worst;
	struct finding_row *findings;
	size_t n = 0;

	for (size_t i = 0; i < j->v.n; i++)
		n += j->v.v[i].check->n_findings;
	findings = answer_alloc(j->a, n, sizeof(*findings), e);
	if (!out || !v || !findings)
		return false;
	out->every_finding = (struct rows){findings, n};
	for (size_t i = 0; i < j->v.n; i++) {
		const struct check_checked *x = &j->v.v[i];

		v[i] = (struct checked_row){.path = x->path,
			.is_chosen = x->is_chosen,
			.verdict = x->check->verdict,
			.health = check_health_text(j->a, x->check, e),
			.notes = x->notes};
		if (!v[i].health ||
			!check_part_make(j->a, x->check, x->path, findings, &v[i].check, e))
			return false;
		findings += x->check->n_findings;
	}
	worst = find_worst(v, j->v.n);
	out->worst = worst->check;
	out->notes = worst->notes;
	out->evidence =
		evidence_name(j->a->traces.n ? j->a->traces.v[0]->meta.evidence : EVIDENCE_UNKNOWN);
	out->checked = (struct rows){v, j->v.n};
	if (j->v.n > 1)
		out->captures = out->checked;
	j->a->is_no = worst->verdict == VERDICT_UNUSABLE;
	j->a->data = out;
	return true;
}

static bool ask_check(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct check_job j = {.r = r, .a = a};
	bool ok = true;

	for (unsigned i = 0; ok && i < r->n_paths; i++)
		ok = check_path(&j, r->paths[i], e);
	ok = ok && make_answer(&j, e);
	VEC_FREE(&j.v);
	return ok;
}

const struct question question_check = {
	.reach = REACH_ALL,
	.name = "check",
	.args = "PATH...",
	.summary = "can this capture be trusted: findings with evidence and advice",
	.groups = OPTIONS_CSV | OPTIONS_CAPTURE,
	.min_paths = 1,
	.max_paths = 1000,
	.records = RECORDS(&check_record),
	.ask = ask_check,
	.page = check_page,
};
