/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advise.c: what to change, by expected gain; for two captures also which advice was followed.
 * The records, advice as rows (summary shows them, too), one capture, two captures, the question.
 */
#include "answer/advise.h"
#include "analysis/place.h"
#include "analysis/vendor_report.h"
#include "answer/pages.h"

#include "analysis/advise/gains.h"
#include "analysis/pipes/pipes.h"
#include "analysis/summary/summary.h"
#include "base/search.h"

/* --- advice as rows --------------------------------------------------------------------------- */

static const struct column gain_columns[] = {
	COLUMN(advice_gain, before, UNIT_CYCLES, "cycles of the kernel as traced"),
	COLUMN(advice_gain, after, UNIT_CYCLES,
		"cycles of the kernel in the replay with the change"),
	COLUMN(advice_gain, low, UNIT_CYCLES, "estimated cycles after the change, at best"),
	COLUMN(advice_gain, high, UNIT_CYCLES, "estimated cycles after the change, at worst"),
	COLUMN(advice_gain, pct, UNIT_PERCENT, "estimated saving, as a share of the cycles before",
		.digits = 2),
	COLUMN(advice_gain, least_pct, UNIT_PERCENT, "estimated saving, at worst", .digits = 2),
	COLUMN(advice_gain, most_pct, UNIT_PERCENT, "estimated saving, at best", .digits = 2),
	COLUMN(advice_gain, method, UNIT_NONE, "how the gain was estimated",
		.words = "ledger|replay|pipes|samples"),
	COLUMN(advice_gain, why, UNIT_NONE, "what limits the gain", NULLABLE),
	COLUMN(advice_gain, does_nothing, UNIT_NONE,
		"the change gains nothing, because something else takes as long"),
};
static const struct record gain_record = RECORD_OF(advice_gain, RECORD_BLOCK, gain_columns);

static const struct column place_columns[] = {
	POINTER(advice_place, at, &code_ref_record, "the instruction that the finding is about"),
};
static const struct record place_record = RECORD_OF(advice_place, RECORD_LINE, place_columns);

static const struct column advice_columns[] = {
	COLUMN(advice_row, rule, UNIT_NONE, "name of the rule that fired",
		.words = ADVISE_RULE_CHOICES "|" ADVISE_LEDGER_CHOICES),
	COLUMN(advice_row, finding, UNIT_NONE, "what the rule found"),
	COLUMN(advice_row, cause, UNIT_NONE, "what the cycles are lost to"),
	POINTER(advice_row, where, &code_ref_record,
		"the instruction that loses most cycles to this cause"),
	POINTER(advice_row, waits_for, &code_ref_record, "the instruction that it waits for most"),
	LIST(advice_row, rows, &place_record, "the costliest instructions of the finding"),
	COLUMN(advice_row, found, UNIT_COUNT, "number of instructions that the finding applies to"),
	COLUMN(advice_row, exposed, UNIT_CYCLES, "exposed cycles of the finding"),
	COLUMN(advice_row, share_pct, UNIT_PERCENT,
		"exposed cycles as a share of the cycles of all waves", .digits = 2),
	COLUMN(advice_row, evidence, UNIT_NONE, "the figures that the finding rests on"),
	COLUMN(advice_row, experiment, UNIT_NONE, "what to try"),
	COLUMN(advice_row, prediction, UNIT_NONE,
		"what the experiment should show if the advice is right"),
	COLUMN(advice_row, risk, UNIT_NONE, "what the change may cost"),
	COLUMN(advice_row, question, UNIT_NONE, "the matching question for incore whatif",
		NULLABLE),
	POINTER(advice_row, gain, &gain_record,
		"answer of incore whatif to that question; only in incore advise"),
	COLUMN(advice_row, no_gain, UNIT_NONE, "why the gain could not be estimated", NULLABLE),
	COLUMN(advice_row, confirm, UNIT_NONE, "the command that checks whether the change helped",
		NULLABLE),
	COLUMN(advice_row, place, UNIT_NONE, "the instruction, described in words", NO_JSON),
};
const struct record advice_record = RECORD_OF(advice_row, RECORD_BLOCK, advice_columns);

static const char *place_text(
	struct answer *a, const struct trace *t, code_idx code, struct incore_error *e)
{
	struct strbuf b = {0};

	if (code == NO_CODE)
		return "the whole kernel";
	place_put(t, code, &b);
	return answer_text(a, &b, e);
}

/* "7,12-15,20": rows as whatif takes them; they are in the order of the code. */
static void put_asked_rows(const struct trace *t, const struct advice *x, struct strbuf *b)
{
	for (uint32_t i = 0, k; i < x->n_asked; i = k) {
		int64_t first = t->code[x->asked[i]].number, last = first;

		for (k = i + 1; k < x->n_asked && t->code[x->asked[k]].number == last + 1; k++)
			last++;
		sb_printf(b, "%s%lld", i ? "," : "", (long long)first);
		if (last > first)
			sb_printf(b, "%c%lld", last > first + 1 ? '-' : ',', (long long)last);
	}
}

/* "=2", "=3.7", "+1": how much of a change is asked for. */
static void put_amount(const struct advice *x, struct strbuf *b)
{
	uint32_t milli = x->change.faster_milli;

	if (x->ask == ADVISE_ASK_WAVES)
		sb_printf(b, "%+d", x->waves);
	else if (x->ask == ADVISE_ASK_AHEAD)
		sb_printf(b, "=%u", x->change.ahead);
	else if (x->ask == ADVISE_ASK_SOONER)
		sb_printf(b, "=%u", x->change.sooner_cyc);
	else if (x->ask == ADVISE_ASK_FASTER && x->is_measured)
		sb_printf(b, "=%u.%u", milli / 1000, milli % 1000 / 100);
	else if (x->ask == ADVISE_ASK_FASTER)
		sb_printf(b, "=%u", milli / 1000);
}

static const char *question_text(
	struct answer *a, const struct trace *t, const struct advice *x, struct incore_error *e)
{
	struct strbuf b = {0};

	sb_printf(&b, "--%s ", advise_question_name(x->ask));
	if (x->reason != NO_REASON)
		sb_puts(&b, t->reasons[x->reason]);
	else if (x->ask != ADVISE_ASK_WAVES)
		put_asked_rows(t, x, &b);
	put_amount(x, &b);
	return answer_text(a, &b, e);
}

static bool put_places(struct answer *a, const struct trace *t, const struct advice *x,
	struct advice_row *r, struct incore_error *e)
{
	struct advice_place *v = ANSWER_ROWS(a, &r->rows, x->n_rows, advice_place, e);

	for (uint32_t i = 0; v && i < x->n_rows; i++)
		if (!code_ref_make(a, t, x->rows[i], &v[i].at, e))
			return false;
	r->found = x->n_found;
	return v && code_ref_make(a, t, x->code, &r->where, e) &&
	       code_ref_make(a, t, x->of, &r->waits_for, e);
}

bool advice_rows(struct answer *a, const struct trace *t, const struct advise_list *l,
	uint64_t all_cyc, struct rows *out, struct incore_error *e)
{
	struct advice_row *v = ANSWER_ROWS(a, out, l->n, advice_row, e);

	for (size_t i = 0; v && i < l->n; i++) {
		const struct advice *x = &l->v[i];
		const struct advise_rule *rule = &advise_rules[x->rule];

		v[i] = (struct advice_row){.rule = rule->id,
			.finding = rule->finding,
			.cause = x->cause,
			.place = place_text(a, t, x->code, e),
			.evidence = x->evidence,
			.experiment = advise_change_of(t, x->rule),
			.prediction = rule->prediction,
			.risk = rule->risk,
			.exposed = x->exposed_cyc,
			.share_pct = percent(x->exposed_cyc, all_cyc)};
		if (!v[i].place || !put_places(a, t, x, &v[i], e))
			return false;
		if (x->ask != ADVISE_ASK_NOTHING && !(v[i].question = question_text(a, t, x, e)))
			return false;
	}
	return v != NULL;
}

bool advice_of_summary(
	struct answer *a, const struct summary *s, struct rows *out, struct incore_error *e)
{
	struct advise_list l = {.arena = &a->arena};
	bool ok = advise_waves(s, &l, e) && advice_rows(a, s->trace, &l, s->duration_cyc, out, e);

	advise_list_deinit(&l);
	return ok;
}

/* --- the answer ------------------------------------------------------------------------------- */

static const struct column taken_columns[] = {
	COLUMN(taken_row, rule, UNIT_NONE,
		"name of the rule that gave this advice for the first capture",
		.words = ADVISE_RULE_CHOICES "|" ADVISE_LEDGER_CHOICES),
	COLUMN(taken_row, state, UNIT_NONE, "what the second capture shows about this advice",
		.words = ADVISE_FATE_CHOICES),
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
	COLUMN_AS(advise_taken, f.before, "before", UNIT_CYCLES,
		"cycles of the kernel in the first capture"),
	COLUMN_AS(advise_taken, f.after, "after", UNIT_CYCLES,
		"cycles of the kernel in the second capture"),
	COLUMN_AS(advise_taken, f.change_pct, "change_pct", UNIT_PERCENT,
		"measured change of the kernel's cycles; negative: shorter; null: not comparable",
		.digits = 2),
	COLUMN_AS(advise_taken, f.least_pct, "least_pct", UNIT_PERCENT,
		"lower bound of the predicted saving of all advice that was followed", .digits = 2),
	COLUMN_AS(advise_taken, f.most_pct, "most_pct", UNIT_PERCENT,
		"upper bound of the predicted saving of all advice that was followed", .digits = 2),
	COLUMN(advise_taken, verdict, UNIT_NONE, "whether the change brought the predicted saving"),
	LIST(advise_taken, rows, &taken_record, "every advice given for the first capture"),
};
static const struct record both_record = RECORD_OF(advise_taken, RECORD_BLOCK, both_columns);

struct advise_params {
	bool beside_vendor;
};

static const struct option_def options[] = {
	{OPT_BESIDE_VENDOR, NULL, NULL,
		"also what the rules of the vendor's profiler say, with their estimates",
		OPTION_ALL(advise_params, beside_vendor)},
	OPTION_END,
};

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
	LIST(advise_answer, vendor, &vendor_rule_record,
		"with beside-vendor: what the rules of the vendor's profiler say, largest estimate first",
		OPTIONAL),
};
static const struct record advise_record = RECORD_OF(advise_answer, RECORD_BLOCK, answer_columns);

/* --- one capture ------------------------------------------------------------------------------ */

struct advise_job {
	const struct request *r;
	struct answer *a;
	struct advise_answer *out;
};

#define LONG_TRACE "the trace is long, and incore advise times it with the change"

static double rank_of(const struct advice_row *x)
{
	return x->gain && !x->gain->does_nothing ? x->gain->pct : 0;
}

static int by_gain(const void *pa, const void *pb)
{
	const struct advice_row *a = pa, *b = pb;

	if (!a->gain != !b->gain) /* who has no gain stands behind everybody who has one */
		return a->gain ? -1 : 1;
	if (rank_of(a) != rank_of(b))
		return rank_of(a) > rank_of(b) ? -1 : 1;
	RETURN_UNLESS_EQUAL(b->exposed, a->exposed);
	return strcmp(a->rule, b->rule);
}

/* How many of n pieces of advice can be timed without playing more records than allowed: each is
 * one replay, and the capture as it is another. */
static size_t can_time(const struct advised *x, size_t n)
{
	uint64_t records = 1, replays;

	for (track_idx i = 0; i < x->trace->n_tracks; i++)
		records += x->trace->tracks[i].n_slices;
	/* not every format states them */
	if (x->summary && x->summary->waves->n_instructions > records)
		records = x->summary->waves->n_instructions;
	replays = x->most_records ? x->most_records / records : n + 1;
	return replays > n ? n : replays ? replays - 1 : 0;
}

/* Makes the rows of a list with the gain of each, and takes the time that whatif.h found. */
static bool take_list(struct advise_job *j, struct advised *x, const struct advise_list *l,
	const struct walk_options *o, struct incore_error *e)
{
	struct advice_gains *g = ANSWER_NEW(j->a, advice_gains, e);
	struct advise_list timed = *l;
	struct advice_row *v;

	timed.n = can_time(x, l->n);
	if (!g || !advice_rows(j->a, x->trace, l, x->time.all_cyc, &x->rows, e) ||
		((timed.n || !x->most_records) && !advise_gains(x->trace, &timed, o, g, e)))
		return false;
	v = (struct advice_row *)x->rows.v;
	for (size_t i = 0; i < l->n; i++) {
		v[i].gain = g->has[i] ? &g->v[i] : NULL;
		v[i].no_gain = i < timed.n ? g->no_gain[i] : LONG_TRACE;
	}
	SORT(v, l->n, by_gain);
	if (g->span_cyc) {
		x->time.cycles = g->span_cyc;
		x->time.unit = "the kernel, as far as it was traced";
	}
	return true;
}

static bool advise_of_waves(struct advise_job *j, struct advised *x, const struct walk_options *o,
	struct advise_list *l, struct incore_error *e)
{
	struct summary_options so = {.walk = o};
	struct summary *s = x->summary ? NULL : summary_new(x->trace, &so, e);

	if (!x->summary) {
		if (!s || !ANSWER_KEEP(j->a, s, summary_free, e))
			return false;
		answer_walk_notes(j->a, &s->walk);
		x->summary = s;
	}
	x->verdict = x->summary->sentence;
	return advise_time_of_summary(x->summary, &x->time, e) && advise_waves(x->summary, l, e) &&
	       take_list(j, x, l, o, e) && advise_by_ledger(j->a, x, e);
}

static bool advise_of_pipes(struct advise_job *j, struct advised *x, const struct walk_options *o,
	struct advise_list *l, struct incore_error *e)
{
	struct pipes *p = x->pipes ? NULL : pipes_new(x->trace, e);
	struct walk_result walk = {0};

	if (!x->pipes) {
		if (!p || !ANSWER_KEEP(j->a, p, pipes_free, e) ||
			!answer_walked(j->a, &walk, pipes_collect(p, o, &walk, e)))
			return false;
		x->pipes = p;
	}
	x->time = advise_time_of_pipes(x->pipes);
	x->verdict = x->pipes->bound.sentence;
	return (x->is_unusable || advise_pipes(x->pipes, l, e)) && take_list(j, x, l, o, e);
}

bool advise_capture(
	struct answer *a, const struct request *r, struct advised *x, struct incore_error *e)
{
	struct advise_job j = {.r = r, .a = a};
	struct advise_list l = {.arena = &a->arena};
	struct selection s = {0};
	struct walk_options o;
	bool ok = request_selection(r, x->trace, &s, e);

	if (ok) {
		o = request_walk(r, &s);
		ok = trace_kind(x->trace) == KIND_PIPES ? advise_of_pipes(&j, x, &o, &l, e)
							: advise_of_waves(&j, x, &o, &l, e);
	}
	advise_list_deinit(&l);
	selection_deinit(&s);
	return ok;
}

static bool advise_side(
	struct advise_job *j, const char *path, struct advised *x, struct incore_error *e)
{
	return answer_open(j->a, j->r, path, IMPORT_ALL | IMPORT_KEEP_TRACKS, &x->trace, e) &&
	       advise_capture(j->a, j->r, x, e);
}

/* The command that confirms. */
static bool put_confirm(struct advise_job *j, const struct advised *x, struct incore_error *e)
{
	struct advice_row *v = (struct advice_row *)x->rows.v;
	const char *value = x->trace->n_tracks ? "duration_per_wave" : "duration";

	for (size_t i = 0; i < x->rows.n; i++) {
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

static double share_of_rule(const struct advised *x, const char *rule)
{
	const struct advice_row *v = x->rows.v;

	for (size_t i = 0; i < x->rows.n; i++)
		if (strcmp(v[i].rule, rule) == 0)
			return v[i].share_pct;
	return 0;
}

static bool put_taken(struct advise_job *j, const struct advised *x, const struct advised *y,
	struct incore_error *e)
{
	struct advise_taken *t = ANSWER_NEW(j->a, advise_taken, e);
	const struct advice_row *old = x->rows.v;
	struct taken_row *v = t ? ANSWER_ROWS(j->a, &t->rows, x->rows.n, taken_row, e) : NULL;

	if (!v)
		return false;
	t->f = advise_follow_new(&x->time, &y->time);
	for (size_t i = 0; i < x->rows.n; i++) {
		const struct advice_gain *g = old[i].gain;
		double after = share_of_rule(y, old[i].rule);

		v[i] = (struct taken_row){.rule = old[i].rule,
			.state = advise_fate_name(
				advise_follow_add(&t->f, old[i].share_pct, after, g)),
			.place = old[i].place,
			.before_pct = old[i].share_pct,
			.after_pct = after,
			.promised_pct = g ? g->pct : NAN,
			.least_pct = g ? g->least_pct : NAN,
			.most_pct = g ? g->most_pct : NAN};
	}
	t->verdict = advise_follow_verdict(&t->f);
	j->out->taken = t;
	return true;
}

/* --- beside the vendor ------------------------------------------------------------------------ */

static double estimate_of(const struct vendor_rule *r)
{
	return isfinite(r->speedup_pct) ? r->speedup_pct : -1;
}

static int by_estimate(const void *pa, const void *pb)
{
	const struct vendor_rule *a = pa, *b = pb;

	if (estimate_of(a) != estimate_of(b))
		return estimate_of(a) > estimate_of(b) ? -1 : 1;
	return strcmp(a->rule, b->rule);
}

/* Rules that find something: the others say only that all is well, or describe. */
static bool put_vendor(struct advise_job *j, const struct trace *t, struct incore_error *e)
{
	uint32_t all = vendor_rules_count(t), n = 0;
	struct vendor_rule *v = ANSWER_ROWS(j->a, &j->out->vendor, all, vendor_rule, e);

	if (!v)
		return false;
	vendor_rules_fill(t, 0, v);
	for (uint32_t i = 0; i < all; i++)
		if (isfinite(v[i].speedup_pct) || (v[i].kind && strcmp(v[i].kind, "none") != 0 &&
							  strcmp(v[i].kind, "ok") != 0))
			v[n++] = v[i];
	j->out->vendor.n = n;
	j->out->is_beside_vendor = true;
	SORT(v, n, by_estimate);
	return true;
}

/* --- the question ----------------------------------------------------------------------------- */

static bool ask_advise(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct advise_job j = {.r = r, .a = a, .out = ANSWER_NEW(a, advise_answer, e)};
	const struct advise_params *p = r->params;
	struct advised x = {0}, y = {0};

	if (!j.out || !advise_side(&j, r->paths[0], &x, e) || !put_confirm(&j, &x, e))
		return false;
	j.out->evidence = evidence_name(x.trace->meta.evidence);
	j.out->world = advise_world_name(advise_world_of(x.trace));
	j.out->verdict = x.verdict;
	j.out->cycles = x.time.cycles;
	j.out->unit = x.time.unit;
	j.out->advice = x.rows;
	a->data = j.out;
	if (p->beside_vendor && !put_vendor(&j, x.trace, e))
		return false;
	return r->n_paths < 2 || (advise_side(&j, r->paths[1], &y, e) && put_taken(&j, &x, &y, e));
}

const struct question question_advise = {
	.reach = REACH_ALL,
	.name = "advise",
	.args = "PATH [AFTER]",
	.summary = "what to change, by what it would bring; with AFTER: what was done of it",
	.groups = OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_CAPTURE,
	.min_paths = 1,
	.max_paths = 2,
	.options = options,
	.params_size = sizeof(struct advise_params),
	.records = RECORDS(&advise_record),
	.ask = ask_advise,
	.page = advise_page,
};
