/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c: what bounds a kernel, and what a change would bring: the question and its columns. */
#include "answer/verdict/verdict.h"

#include "analysis/summary/summary.h"
#include "answer/check.h"
#include "answer/pages.h"
#include "trace/kind.h"

struct verdict_params {
	bool ledger;
};

static const struct option_def options[] = {
	{OPT_LEDGER, NULL, NULL, "the whole ledger: every unit, every wait and every change",
		OPTION_ALL(verdict_params, ledger)},
	OPTION_END,
};

/* --- columns -------------------------------------------------------------------------------- */

#define PCT(S, M, DOC) COLUMN(S, M, UNIT_PERCENT, DOC, NULLABLE, .digits = 1)

static const struct column unit_columns[] = {
	COLUMN(verdict_unit_row, unit, UNIT_NONE, "code of the unit",
		.words = MACHINE_UNIT_CHOICES),
	COLUMN(verdict_unit_row, name, UNIT_NONE, "name of the unit in the vendor's words"),
	PCT(verdict_unit_row, full_pct,
		"time the unit needs at its practical rate, as a share of the kernel's time"),
	PCT(verdict_unit_row, peak_pct,
		"share of the unit's nominal peak that is used, mean of its instances"),
	PCT(verdict_unit_row, busiest_pct,
		"share of the nominal peak that the busiest instance of the unit uses"),
	PCT(verdict_unit_row, practical_pct,
		"share of the nominal peak that a kernel reaches that uses nothing but the unit"),
	COLUMN(verdict_unit_row, cycles, UNIT_CYCLES,
		"cycles that the unit's busiest instance needs at its practical rate", NULLABLE),
};
const struct record verdict_unit_record = RECORD_OF(verdict_unit_row, RECORD_LINE, unit_columns);

static const struct column wait_columns[] = {
	COLUMN(verdict_wait_row, reason, UNIT_NONE, "what is waited for, in the producer's word"),
	COLUMN(verdict_wait_row, words, UNIT_NONE, "what is waited for, in words"),
	PCT(verdict_wait_row, exposed_pct,
		"share of all warp or wave time that is lost to it while nothing else issued"),
	PCT(verdict_wait_row, queued_pct,
		"part of this waiting that is queueing: it exceeds the latency of an idle machine"),
	COLUMN(verdict_wait_row, latency, UNIT_CYCLES, "mean latency that is waited for", NULLABLE,
		.digits = 1),
	COLUMN(verdict_wait_row, idle_latency, UNIT_CYCLES, "the latency of an idle machine",
		NULLABLE, .digits = 1),
};
const struct record verdict_wait_record = RECORD_OF(verdict_wait_row, RECORD_LINE, wait_columns);

#define US(S, M, DOC) COLUMN(S, M, UNIT_US, DOC, NULLABLE, .digits = 3)

static const struct column change_columns[] = {
	COLUMN(verdict_change_row, rule, UNIT_NONE, "code of the change"),
	COLUMN(verdict_change_row, change, UNIT_NONE, "what to change"),
	COLUMN(verdict_change_row, counted, UNIT_NONE, "the figures that the change rests on"),
	COLUMN(verdict_change_row, step, UNIT_NONE, "size of the step that the gain is for",
		NULLABLE),
	COLUMN(verdict_change_row, pct, UNIT_PERCENT, "estimated saving, as a share of the time",
		NULLABLE, .digits = 2),
	COLUMN(verdict_change_row, least_pct, UNIT_PERCENT, "lower bound of the saving", NULLABLE,
		.digits = 2),
	COLUMN(verdict_change_row, most_pct, UNIT_PERCENT, "upper bound of the saving", NULLABLE,
		.digits = 2),
	US(verdict_change_row, after_us, "estimated time of a launch after the change"),
	US(verdict_change_row, low_us, "lower bound of the time after the change"),
	US(verdict_change_row, high_us, "upper bound of the time after the change"),
	COLUMN(verdict_change_row, no_gain, UNIT_NONE, "why the saving is not known", NULLABLE),
	COLUMN(verdict_change_row, next, UNIT_NONE, "the fullest unit after the change", NULLABLE),
	COLUMN(verdict_change_row, sure, UNIT_NONE, "how far the figures can be believed",
		.words = "high|fair|low"),
	COLUMN(verdict_change_row, basis, UNIT_NONE, "kind of evidence that the gain rests on",
		.words = LEDGER_EVIDENCE_CHOICES "|replay"),
	COLUMN(verdict_change_row, found, UNIT_COUNT, "instructions that the change concerns"),
	POINTER(verdict_change_row, where, &code_ref_record,
		"the instruction that costs most of what the change saves"),
	POINTER(verdict_change_row, waits_for, &code_ref_record,
		"the instruction that it waits for"),
	COLUMN(verdict_change_row, place, UNIT_NONE, "the instruction, described in words",
		NO_JSON),
};
const struct record verdict_change_record =
	RECORD_OF(verdict_change_row, RECORD_BLOCK, change_columns);

#define SENTENCE(M, DOC) COLUMN(verdict_screen, M, UNIT_NONE, DOC, NULLABLE)

static const struct column screen_columns[] = {
	SENTENCE(kernel, "name of the kernel, as it fits into a line"),
	SENTENCE(launch, "time and size of the launch"),
	SENTENCE(bound_by, "what bounds the kernel"),
	SENTENCE(of_peak, "use of the main units, as shares of their nominal peaks"),
	SENTENCE(waits, "how much time is lost, and most of it for what"),
	SENTENCE(at, "source line and instruction that the first change concerns"),
	SENTENCE(change, "the first change, with the figures that it rests on"),
	SENTENCE(gain, "what the first change would bring, with its interval"),
	SENTENCE(sure, "how far the gain can be believed, and why"),
	SENTENCE(noise, "captures of this state beside it, and how far they are apart"),
	SENTENCE(other, "the second change and its gain"),
	SENTENCE(health, "whether the capture can be believed"),
	SENTENCE(missing, "what the capture lacks, and how to take it"),
};
const struct record verdict_screen_record = RECORD_OF(verdict_screen, RECORD_BLOCK, screen_columns);

static const struct column answer_columns[] = {
	EVIDENCE_COLUMN(verdict_answer, "what the figures rest on"),
	COLUMN(verdict_answer, kernel, UNIT_NONE, "name of the kernel, without its parameters",
		NULLABLE),
	COLUMN(verdict_answer, size, UNIT_NONE, "size of the launch", NULLABLE),
	US(verdict_answer, us, "time of one launch"),
	COLUMN(verdict_answer, cycles, UNIT_CYCLES, "cycles of one launch, or of what was traced",
		NULLABLE),
	COLUMN(verdict_answer, bound, UNIT_NONE,
		"whether a unit, a queue, latency or the launch bounds the kernel; null: not known",
		NULLABLE, .words = LEDGER_BOUND_CHOICES),
	COLUMN(verdict_answer, unit, UNIT_NONE, "code of the fullest unit", NULLABLE,
		.words = MACHINE_UNIT_CHOICES),
	PCT(verdict_answer, full_pct,
		"time the fullest unit or queue needs at its practical rate, as a share"),
	PCT(verdict_answer, exposed_pct, "warp or wave time lost while nothing else issued"),
	PCT(verdict_answer, fill_pct, "time that compute units are busy, mean by the busiest"),
	COLUMN(verdict_answer, warps, UNIT_COUNT, "active warps or waves of a compute unit, mean",
		NULLABLE, .digits = 1),
	COLUMN(verdict_answer, waves, UNIT_COUNT, "waves of blocks that the launch needs", NULLABLE,
		.digits = 2),
	COLUMN(verdict_answer, limiter, UNIT_NONE, "resource that limits blocks of a compute unit",
		NULLABLE),
	COLUMN(verdict_answer, rates, UNIT_NONE, "chip that the practical rates are of", NULLABLE),
	COLUMN(verdict_answer, rates_evidence, UNIT_NONE, "where the practical rates come from",
		NULLABLE, .words = RATE_EVIDENCE_CHOICES),
	COLUMN(verdict_answer, missing, UNIT_NONE,
		"what the capture lacks for a full ledger, and how to take it", NULLABLE),
	LIST(verdict_answer, units, &verdict_unit_record, "units of the machine, fullest first"),
	LIST(verdict_answer, waits, &verdict_wait_record,
		"what is waited for, the largest loss first"),
	LIST(verdict_answer, changes, &verdict_change_record,
		"what to change, the largest gain first"),
	POINTER(verdict_answer, repeats, &repeats_record,
		"captures of this state beside it, which show its noise; null: none"),
	RECORD(verdict_answer, screen, &verdict_screen_record, "the first screen, in words"),
};
static const struct record verdict_record = RECORD_OF(verdict_answer, RECORD_BLOCK, answer_columns);

/* "void gemm<0>(int, const float *)": the name between the type and the parameters. */
static const char *name_of(struct answer *a, const struct trace *t, struct incore_error *e)
{
	struct str s = str_of(t->meta.kernel ? t->meta.kernel : "kernel");
	struct strbuf b = {0};
	size_t depth = 0, n = 0;

	if (s.n > 5 && strncmp(s.p, "void ", 5) == 0)
		s = str_sub(s, 5, s.n);
	for (; n < s.n && (depth || s.p[n] != '('); n++)
		depth += s.p[n] == '<' ? 1 : s.p[n] == '>' && depth ? (size_t)-1 : 0;
	sb_printf(&b, "%.*s", (int)(n ? n : s.n), s.p);
	return answer_text(a, &b, e);
}

/* --- the question --------------------------------------------------------------------------- */

/* Checks the capture: fills *health, and *is_unusable. */
static bool take_health(struct answer *a, const struct trace *t, const struct request *r,
	const char **health, bool *is_unusable, struct incore_error *e)
{
	struct selection s = {0};
	struct walk_result w = {0};
	struct walk_options o;
	struct check *c = NULL;

	if (request_selection(r, t, &s, e)) {
		o = request_walk(r, &s);
		c = check_run(t, NULL, &o, &w, e);
	}
	selection_deinit(&s);
	answer_walk_notes(a, &w);
	walk_result_deinit(&w);
	if (!c)
		return false;
	*is_unusable = c->verdict == VERDICT_UNUSABLE;
	*health = check_health_text(a, c, e);
	check_free(c);
	return *health != NULL;
}

/* Of a capture without a ledger. */
static bool take_advice(struct answer *a, const struct request *r, struct trace *t,
	struct advised *side, const char **health, struct incore_error *e)
{
	*side = (struct advised){.trace = t, .most_records = VERDICT_RECORDS};
	if (trace_kind(t) == KIND_PIPES)
		return take_health(a, t, r, health, &side->is_unusable, e) &&
		       advise_capture(a, r, side, e);
	if (!advise_capture(a, r, side, e))
		return false;
	*health = side->summary->health;
	return true;
}

static bool find_ledger(
	struct answer *a, const struct trace *t, const struct ledger **out, struct incore_error *e)
{
	struct ledger *l = ledger_new(t, e);

	*out = l;
	return l && ANSWER_KEEP(a, l, ledger_free, e);
}

bool verdict_make(struct answer *a, const struct request *r, struct trace *t,
	const struct advised *side, const char *health, struct verdict_answer *to,
	struct incore_error *e)
{
	const struct ledger *l = side ? side->ledger : NULL;
	struct advised own;
	bool is_unusable, ok;

	*to = (struct verdict_answer){.us = NAN,
		.cycles = NAN,
		.full_pct = NAN,
		.exposed_pct = NAN,
		.fill_pct = NAN,
		.warps = NAN,
		.waves = NAN,
		.kernel = name_of(a, t, e),
		.evidence = evidence_name(t->meta.evidence)};
	if (!to->kernel || (!side && !find_ledger(a, t, &l, e)))
		return false;
	if (l && l->missing)
		l = NULL;
	if (!side)
		ok = l ? take_health(a, t, r, &health, &is_unusable, e)
		       : take_advice(a, r, t, &own, &health, e);
	else
		ok = true;
	return ok &&
	       (l ? verdict_of_ledger(a, l, to, e)
		  : verdict_of_trace(a, side ? side : &own, to, e)) &&
	       verdict_put_frame(a, health, to, e);
}

/* Captures of the same state beside it give the noise floor; a smaller gain proves nothing. */
static bool put_noise(struct answer *a, const struct request *r, const struct trace *t,
	struct verdict_answer *to, struct incore_error *e)
{
	struct walk_options all = request_walk(r, NULL);
	double shares[FAMILY_COUNT], own = NAN;
	struct repeats k = {0};
	struct strbuf b = {0};
	bool ok;

	if (!t->n_tracks || trace_kind(t) != KIND_WAVES)
		return true;
	ok = repeats_find(&k, r, t, true, e) &&
	     (!k.n || summary_repeat(t, &all, shares, &own, e)) &&
	     repeats_make(a, &k, own, &to->repeats, e);
	repeats_deinit(&k);
	if (!ok || !to->repeats)
		return ok;
	sb_printf(&b, "%.1f %% between %llu captures of this state: a smaller gain is noise",
		to->repeats->spread_pct, (unsigned long long)to->repeats->captures);
	/* It takes the place of the second change: the screen has at most 14 lines. */
	to->screen.other = NULL;
	return verdict_keep(a, &b, &to->screen.noise, e);
}

static bool ask_verdict(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct verdict_params *p = r->params;
	struct verdict_answer *to = ANSWER_NEW(a, verdict_answer, e);
	struct trace *t;

	if (!to || !answer_open(a, r, r->paths[0], IMPORT_ALL | IMPORT_KEEP_TRACKS, &t, e) ||
		!verdict_make(a, r, t, NULL, NULL, to, e) || !put_noise(a, r, t, to, e))
		return false;
	to->is_ledger = p->ledger;
	a->data = to;
	return true;
}

const struct question question_verdict = {
	.reach = REACH_ALL,
	.name = "verdict",
	.args = "PATH",
	.summary = "what bounds the kernel, and what a change would bring",
	.groups = OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_CAPTURE,
	.min_paths = 1,
	.max_paths = 1,
	.options = options,
	.params_size = sizeof(struct verdict_params),
	.records = RECORDS(&verdict_record),
	.main_lists = "changes",
	.ask = ask_verdict,
	.page = verdict_page,
};
