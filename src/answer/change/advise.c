/* SPDX-License-Identifier: Apache-2.0 */
/* advise.c: what to change, by expected gain; for two captures also which advice was followed. */
#include "answer/change/advise.h"
#include "answer/pages/pages.h"

#include "analysis/pipes/pipes.h"
#include "analysis/summary/summary.h"
#include "base/search.h"

static const struct column taken_columns[] = {
	COLUMN(taken_row, rule, UNIT_NONE,
		"name of the rule that gave this advice for the first capture",
		.words = ADVISE_RULE_CHOICES),
	COLUMN(taken_row, state, UNIT_NONE, "what the second capture shows about this advice",
		.words = "taken|partly|not-taken|unknown"),
	COLUMN(taken_row, before_pct, UNIT_PERCENT,
		"exposed cycles of this finding in the first capture, as a share of all cycles",
		.digits = 2),
	COLUMN(taken_row, after_pct, UNIT_PERCENT,
		"exposed cycles in the second capture, as a share of all; 0: the rule is silent",
		.digits = 2),
	COLUMN(taken_row, promised_pct, UNIT_PERCENT, "predicted saving of this advice",
		.digits = 2),
	COLUMN(taken_row, least_pct, UNIT_PERCENT, "lower bound of the predicted saving",
		.digits = 2),
	COLUMN(taken_row, most_pct, UNIT_PERCENT, "upper bound of the predicted saving",
		.digits = 2),
	COLUMN(taken_row, place, UNIT_NONE, "place in the code that the advice was about", NO_JSON),
};
const struct record taken_record = RECORD_OF(taken_row, RECORD_LINE, taken_columns);

static const struct column both_columns[] = {
	COLUMN(advise_taken, before, UNIT_CYCLES, "cycles of the kernel in the first capture"),
	COLUMN(advise_taken, after, UNIT_CYCLES, "cycles of the kernel in the second capture"),
	COLUMN(advise_taken, change_pct, UNIT_PERCENT,
		"measured change of the kernel's cycles; negative: shorter; null: not comparable",
		.digits = 2),
	COLUMN(advise_taken, least_pct, UNIT_PERCENT,
		"lower bound of the predicted saving of all advice that was followed", .digits = 2),
	COLUMN(advise_taken, most_pct, UNIT_PERCENT,
		"upper bound of the predicted saving of all advice that was followed", .digits = 2),
	COLUMN(advise_taken, verdict, UNIT_NONE, "whether the change brought the predicted saving"),
	LIST(advise_taken, rows, &taken_record, "every advice given for the first capture"),
};
static const struct record both_record = RECORD_OF(advise_taken, RECORD_BLOCK, both_columns);

static const struct column answer_columns[] = {
	EVIDENCE_COLUMN(advise_answer, "what the figures rest on"),
	COLUMN(advise_answer, world, UNIT_NONE,
		"programming environment whose terms describe the changes",
		.words = ADVISE_WORLD_CHOICES),
	COLUMN(advise_answer, verdict, UNIT_NONE, "what the kernel is bound by"),
	COLUMN(advise_answer, cycles, UNIT_CYCLES,
		"cycles of the kernel; unit says what is counted"),
	COLUMN(advise_answer, unit, UNIT_NONE, "what the cycles are counted over"),
	LIST(advise_answer, advice, &advice_record, "what to try, the largest gain first"),
	POINTER(advise_answer, taken, &both_record,
		"with two captures: which advice was followed and what it brought"),
};
static const struct record advise_record = RECORD_OF(advise_answer, RECORD_BLOCK, answer_columns);

/* --- one capture ------------------------------------------------------------------------------ */

struct side {
	struct trace *trace;
	struct advise_list list;
	struct advised got;
	uint64_t all_cyc; /* the whole that shares refer to */
	uint64_t cycles;  /* how long the kernel took */
	const char *unit, *verdict;
};

struct advise_job {
	const struct request *r;
	struct answer *a;
	struct advise_answer *out;
};

struct launch {
	uint64_t ns;
};
ORDER(by_time, struct launch, UP(ns))

/* Samples cover all launches, however many: if launches were timed, takes the time of one. */
static bool take_launches(struct side *x, struct incore_error *e)
{
	const struct named_table *k = trace_find_table(x->trace, "launches");
	double mhz = trace_clock_mhz(x->trace);
	struct launch *v = k && mhz > 0 ? mem_zalloc((size_t)k->n_rows + 1, sizeof(*v)) : NULL;
	uint32_t n = 0;

	if (!k || mhz <= 0)
		return true;
	for (uint32_t i = 0; v && i < k->n_rows; i++) {
		const char *ns = named_table_cell(k, i, "time_ns");

		n += ns && str_to_u64(str_of(ns), &v[n].ns) && v[n].ns > 0;
	}
	if (n) {
		size_t middle = n / 2;

		SORT(v, n, by_time);
		x->cycles = (uint64_t)((double)v[middle].ns * mhz / 1000);
		x->unit = "a launch, the median of all";
	}
	mem_free(v);
	return v || err_nomem(e);
}

static bool advise_of_waves(
	struct advise_job *j, struct side *x, const struct walk_options *o, struct incore_error *e)
{
	struct summary_options so = {.walk = o};
	struct summary *s = summary_new(x->trace, &so, e);
	const bool is_sampled = trace_is_sampled(x->trace);

	if (!s || !ANSWER_KEEP(j->a, s, summary_free, e))
		return false;
	answer_walk_notes(j->a, &s->walk);
	x->list = s->advice;
	x->all_cyc = s->duration_cyc;
	x->unit = is_sampled ? "all samples" : "a wave, on average";
	x->cycles = is_sampled || !s->waves->n_waves ? s->duration_cyc
						     : s->duration_cyc / s->waves->n_waves;
	if (is_sampled && !take_launches(x, e))
		return false;
	x->verdict = s->sentence;
	return advice_rows(j->a, x->trace, &x->list, x->all_cyc, &x->got.rows, e) &&
	       advice_gains(j->a, x->trace, &x->list, o, &x->got, e);
}

static void drop_list(void *list)
{
	advise_list_deinit(list);
}

static bool advise_of_pipes(
	struct advise_job *j, struct side *x, const struct walk_options *o, struct incore_error *e)
{
	struct pipes *p = pipes_new(x->trace, e);
	struct advise_list *l = ANSWER_NEW(j->a, advise_list, e);
	struct walk_result walk = {0};

	if (!p || !ANSWER_KEEP(j->a, p, pipes_free, e) || !l ||
		!answer_keep(j->a, l, drop_list, e) ||
		!answer_walked(j->a, &walk, pipes_collect(p, o, &walk, e)))
		return false;
	l->arena = &j->a->arena;
	if (!advise_pipes(p, l, e))
		return false;
	x->list = *l;
	x->all_cyc = x->cycles = p->path.end_cyc - p->path.begin_cyc;
	x->unit = "the critical path";
	x->verdict = p->bound.sentence;
	return advice_rows(j->a, x->trace, &x->list, x->all_cyc, &x->got.rows, e) &&
	       advice_gains(j->a, x->trace, &x->list, o, &x->got, e);
}

static bool advise_side(
	struct advise_job *j, const char *path, struct side *x, struct incore_error *e)
{
	struct selection s = {0};
	struct walk_options o;
	bool ok = answer_open(j->a, j->r, path, IMPORT_ALL | IMPORT_KEEP_TRACKS, &x->trace, e) &&
		  request_selection(j->r, x->trace, &s, e);

	if (ok) {
		o = request_walk(j->r, &s);
		ok = trace_has_pipes(x->trace) ? advise_of_pipes(j, x, &o, e)
					       : advise_of_waves(j, x, &o, e);
	}
	selection_deinit(&s);
	if (ok && x->got.span_cyc) {
		x->cycles = x->got.span_cyc;
		x->unit = "the kernel, as far as it was traced";
	}
	return ok;
}

/* --- the command that confirms ---------------------------------------------------------------- */

static bool put_confirm(struct advise_job *j, const struct side *x, struct incore_error *e)
{
	struct advice_row *v = (struct advice_row *)x->got.rows.v;
	const char *value = x->trace->n_tracks ? "duration_per_wave" : "duration";

	for (size_t i = 0; i < x->got.rows.n; i++) {
		double least = v[i].gain ? v[i].gain->least_pct : 0;
		struct strbuf b = {0};

		sb_printf(&b, "incore diff --gate '%s<-%.0f%%' %s AFTER", value,
			least > 1 ? least : 1, x->trace->meta.origin);
		v[i].confirm = answer_text(j->a, &b, e);
		if (!v[i].confirm)
			return false;
	}
	return true;
}

/* --- two captures ----------------------------------------------------------------------------- */

#define POINT 1.0   /* per cent: predictions are not finer */
#define PARTLY 0.75 /* followed if less than this part of the cycles is left */

static double share_of_rule(const struct side *x, const char *rule)
{
	const struct advice_row *v = x->got.rows.v;

	for (size_t i = 0; i < x->got.rows.n; i++)
		if (strcmp(v[i].rule, rule) == 0)
			return v[i].share_pct;
	return 0;
}

/* Combines gains of changes made together: at least the largest of the lower bounds, at most all
 * upper bounds applied one after another. */
static void add_promise(struct advise_taken *t, const struct advice_gain *g)
{
	if (isnan(t->least_pct))
		t->least_pct = t->most_pct = 0;
	t->least_pct = g->least_pct > t->least_pct ? g->least_pct : t->least_pct;
	t->most_pct = 100 - (100 - t->most_pct) * (100 - g->most_pct) / 100;
}

static const char *verdict_on(const struct advise_taken *t, size_t n_taken, bool is_known)
{
	double saved = -t->change_pct;

	if (!is_known)
		return "not known, the second capture has no cycles to compare with";
	if (!n_taken)
		return "nothing of the advice was taken";
	if (isnan(t->least_pct))
		return "taken; nothing was promised for it";
	if (saved < t->least_pct - POINT)
		return "taken, and it brought less than promised";
	return saved > t->most_pct + POINT ? "taken, and it brought more than promised"
					   : "taken, and it brought what was promised";
}

static bool compare(
	struct advise_job *j, const struct side *x, const struct side *y, struct incore_error *e)
{
	struct advise_taken *t = ANSWER_NEW(j->a, advise_taken, e);
	const struct advice_row *old = x->got.rows.v;
	struct taken_row *v = t ? ANSWER_ROWS(j->a, &t->rows, x->got.rows.n, taken_row, e) : NULL;
	const bool is_known = y->all_cyc && strcmp(x->unit, y->unit) == 0;
	size_t n_taken = 0;

	if (!v)
		return false;
	t->before = x->cycles;
	t->after = y->cycles;
	t->change_pct = is_known ? percent(y->cycles, x->cycles) - 100 : NAN;
	t->least_pct = t->most_pct = NAN;
	for (size_t i = 0; i < x->got.rows.n; i++) {
		double after = share_of_rule(y, old[i].rule);
		bool is_taken =
			after * (double)y->cycles < PARTLY * old[i].share_pct * (double)x->cycles;
		const struct advice_gain *g = old[i].gain;

		v[i] = (struct taken_row){.rule = old[i].rule,
			.state = !is_known    ? "unknown"
				 : after <= 0 ? "taken"
				 : is_taken   ? "partly"
					      : "not-taken",
			.place = old[i].place,
			.before_pct = old[i].share_pct,
			.after_pct = after,
			.promised_pct = g ? g->pct : NAN,
			.least_pct = g ? g->least_pct : NAN,
			.most_pct = g ? g->most_pct : NAN};
		n_taken += is_taken;
		if (is_taken && g && is_known)
			add_promise(t, g);
	}
	t->verdict = verdict_on(t, n_taken, is_known);
	j->out->taken = t;
	return true;
}

/* --- the question ----------------------------------------------------------------------------- */

static bool ask_advise(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct advise_job j = {.r = r, .a = a, .out = ANSWER_NEW(a, advise_answer, e)};
	struct side x = {0}, y = {0};

	if (!j.out || !advise_side(&j, r->paths[0], &x, e) || !put_confirm(&j, &x, e))
		return false;
	j.out->evidence = evidence_name(x.trace->meta.evidence);
	j.out->world = advise_world_name(advise_world_of(x.trace));
	j.out->verdict = x.verdict;
	j.out->cycles = x.cycles;
	j.out->unit = x.unit;
	j.out->advice = x.got.rows;
	a->data = j.out;
	return r->n_paths < 2 || (advise_side(&j, r->paths[1], &y, e) && compare(&j, &x, &y, e));
}

const struct question question_advise = {
	.reach = REACH_ALL,
	.name = "advise",
	.args = "PATH [AFTER]",
	.summary = "what to change, by what it would bring; with AFTER: what was done of it",
	.groups = OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_CAPTURE,
	.min_paths = 1,
	.max_paths = 2,
	.records = RECORDS(&advise_record),
	.ask = ask_advise,
	.page = advise_page,
};
