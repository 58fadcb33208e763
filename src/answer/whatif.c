/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.c: how long would the kernel take with one thing changed? */
#include "answer/whatif.h"

#include <stdlib.h>

#include "analysis/ledger/ledger.h"
#include "answer/advise.h"
#include "answer/pages.h"

#define OPEN_TO_TOOLS .reach = REACH_AGENT | REACH_SQL

static const struct option_def options[] = {
	{OPT_FASTER, NULL, NULL,
		"rows, a line, class or opcode take 1/K of their time; K: default 2, or inf",
		OPTION_FIELD(whatif_params, faster), OPEN_TO_TOOLS},
	{OPT_AHEAD, NULL, NULL, "the result is requested N executions earlier; N: default 1",
		OPTION_FIELD(whatif_params, ahead), OPEN_TO_TOOLS},
	{OPT_SOONER, NULL, NULL, "the result is requested CYC cycles sooner",
		OPTION_FIELD(whatif_params, sooner), OPEN_TO_TOOLS, .only_named = true},
	{OPT_REMOVE, NULL, NULL, "rows, a line, class or opcode are removed",
		OPTION_FIELD(whatif_params, remove), OPEN_TO_TOOLS},
	{OPT_OPCODE, NULL, NULL, "opcodes, as LDL,STL, are removed, or K times as fast",
		OPTION_FIELD(whatif_params, opcode), OPEN_TO_TOOLS, .only_named = true},
	{OPT_EVEN, NULL, NULL, "who meets at a barrier has equal work before it",
		OPTION_FIELD(whatif_params, even), OPEN_TO_TOOLS, .only_named = true},
	{OPT_MORE_WAVES, NULL, NULL, "each SIMD holds N waves more, or fewer",
		OPTION_FIELD(whatif_params, waves), OPEN_TO_TOOLS},
	{OPT_RULE, NULL, NULL, "the change that incore advise names by this rule",
		OPTION_FIELD(whatif_params, rule), OPEN_TO_TOOLS, .only_named = true},
	{OPT_GRID, NULL, NULL, "the same work in N blocks", OPTION_FIELD(whatif_params, grid),
		OPEN_TO_TOOLS, .only_named = true},
	{OPT_BLOCK, NULL, NULL, "the same work in blocks of N threads",
		OPTION_FIELD(whatif_params, block), OPEN_TO_TOOLS, .only_named = true},
	{OPT_TILE, NULL, NULL, "the tile of results is K times as large in both directions",
		OPTION_FIELD(whatif_params, tile), OPEN_TO_TOOLS, .only_named = true},
	{OPT_ELEMENTS, NULL, NULL, "each thread handles K times as many elements",
		OPTION_FIELD(whatif_params, elements), OPEN_TO_TOOLS, .only_named = true},
	{OPT_NOTHING, NULL, NULL, "nothing is changed: shows the replay itself",
		OPTION_ALL(whatif_params, nothing)},
	OPTION_END,
};

/* --- columns -------------------------------------------------------------------------------- */

static const struct column identity_columns[] = {
	COLUMN(whatif_identity, waves, UNIT_WAVES, "waves replayed without any change"),
	COLUMN(whatif_identity, reproduced, UNIT_WAVES,
		"waves whose unchanged replay is within 1 % of their measured duration"),
	COLUMN(whatif_identity, share, UNIT_PERCENT,
		"share of waves whose unchanged replay is within 1 % of the measurement", NULLABLE,
		.digits = 1),
};
static const struct record identity_record =
	RECORD_OF(whatif_identity, RECORD_LINE, identity_columns);

static const struct column unit_columns[] = {
	COLUMN(whatif_unit_row, unit, UNIT_NONE, "compute unit or core"),
	COLUMN(whatif_unit_row, before, UNIT_CYCLES,
		"measured cycles of the unit, from its first to its last"),
	COLUMN(whatif_unit_row, after, UNIT_CYCLES, "cycles of the unit with the change"),
	COLUMN(whatif_unit_row, low, UNIT_CYCLES, "lower bound of the cycles with the change"),
	COLUMN(whatif_unit_row, high, UNIT_CYCLES, "upper bound of the cycles with the change"),
	COLUMN(whatif_unit_row, waves, UNIT_WAVES, "waves of the unit"),
	COLUMN(whatif_unit_row, reproduced, UNIT_WAVES,
		"waves of the unit that the replay reproduced as measured"),
	COLUMN(whatif_unit_row, coupling, UNIT_SHARE,
		"assumed degree, 0 to 1, to which memory shared by the device keeps its timing",
		.digits = 2),
};
const struct record whatif_unit_record = RECORD_OF(whatif_unit_row, RECORD_LINE, unit_columns);

static const struct column limit_columns[] = {
	COLUMN(whatif_limit_row, part, UNIT_NONE, "what the time is spent on",
		.words = WHATIF_PART_CHOICES),
	COLUMN(whatif_limit_row, before, UNIT_CYCLES,
		"cycles of this part on the critical path before the change"),
	COLUMN(whatif_limit_row, after, UNIT_CYCLES,
		"cycles of this part on the critical path with the change"),
	COLUMN(whatif_limit_row, change, UNIT_CYCLES,
		"cycles after the change minus cycles before it"),
	COLUMN(whatif_limit_row, share, UNIT_PERCENT, "share of the time after the change",
		.title = "%", .csv = "share_pct", .flags = COLUMN_NO_JSON | COLUMN_HEAT,
		.digits = 1),
	COLUMN(whatif_limit_row, row, UNIT_ROW, "number of the instruction in the listing",
		OPTIONAL),
	COLUMN(whatif_limit_row, isa, UNIT_NONE, "text of the instruction", .title = "instruction",
		.csv = "isa", .flags = COLUMN_OPTIONAL | COLUMN_WIDE),
	COLUMN(whatif_limit_row, source, UNIT_NONE, "file and line", .title = "line",
		.csv = "source", .flags = COLUMN_OPTIONAL | COLUMN_WIDE),
};
const struct record whatif_limit_record = RECORD_OF(whatif_limit_row, RECORD_LINE, limit_columns);

static const struct column answer_columns[] = {
	EVIDENCE_COLUMN(whatif_answer, "of the answer: always an estimate"),
	COLUMN(whatif_answer, based_on, UNIT_NONE,
		"the evidence in the capture that the estimate rests on", .words = EVIDENCE_WORDS),
	COLUMN(whatif_answer, method, UNIT_NONE, "how the estimate was made",
		.words = "replay|pipes|samples|ledger|none"),
	COLUMN(whatif_answer, change, UNIT_NONE, "what is changed"),
	COLUMN(whatif_answer, verdict, UNIT_NONE, "what the interval of the estimate says",
		.words = "shorter|longer|does-nothing|unsure|not-known|none"),
	COLUMN(whatif_answer, why, UNIT_NONE, "what limits the gain, or why there is no answer",
		NULLABLE),
	COLUMN(whatif_answer, differs, UNIT_NONE,
		"how removing and taking no time at all differ here, and why", NULLABLE),
	COLUMN(whatif_answer, rows, UNIT_COUNT,
		"number of instructions in the code that are changed"),
	COLUMN(whatif_answer, executions, UNIT_COUNT,
		"executions of the changed instructions in the capture"),
	COLUMN(whatif_answer, before, UNIT_CYCLES, "length of the kernel as captured", NULLABLE),
	COLUMN(whatif_answer, after, UNIT_CYCLES, "estimated length of the kernel with the change",
		NULLABLE),
	COLUMN(whatif_answer, low, UNIT_CYCLES, "lower bound of the length with the change",
		NULLABLE),
	COLUMN(whatif_answer, high, UNIT_CYCLES, "upper bound of the length with the change",
		NULLABLE),
	COLUMN(whatif_answer, saved, UNIT_PERCENT,
		"estimated saving, as a share of the length before", NULLABLE, .digits = 2),
	COLUMN(whatif_answer, saved_low, UNIT_PERCENT,
		"lower bound of the saving, as a share of the length before", NULLABLE,
		.digits = 2),
	COLUMN(whatif_answer, saved_high, UNIT_PERCENT,
		"upper bound of the saving, as a share of the length before", NULLABLE,
		.digits = 2),
	COLUMN(whatif_answer, before_us, UNIT_US,
		"length of the kernel before the change, by the capture's clock", NULLABLE,
		.digits = 3),
	COLUMN(whatif_answer, after_us, UNIT_US,
		"estimated length with the change, by the capture's clock", NULLABLE, .digits = 3),
	COLUMN(whatif_answer, low_us, UNIT_US,
		"lower bound of the length with the change, by the capture's clock", NULLABLE,
		.digits = 3),
	COLUMN(whatif_answer, high_us, UNIT_US,
		"upper bound of the length with the change, by the capture's clock", NULLABLE,
		.digits = 3),
	RECORD(whatif_answer, identity, &identity_record,
		"result of the replay without any change"),
	LIST(whatif_answer, untrue, &text_item_record, "waves that the replay does not reproduce",
		.flags = COLUMN_BLOCK),
	LIST(whatif_answer, units, &whatif_unit_record, "results by compute unit or core"),
	COLUMN(whatif_answer, found, UNIT_COUNT, "number of limits; --top shows fewer"),
	LIST(whatif_answer, limits, &whatif_limit_record,
		"where the time goes, largest after the change first"),
};
static const struct record answer_record = RECORD_OF(whatif_answer, RECORD_BLOCK, answer_columns);

/* --- rows ----------------------------------------------------------------------------------- */

struct whatif_job {
	const struct request *r;
	struct answer *a;
	const struct trace *t;
	const struct whatif_params *p;
	struct whatif_answer *out;
	struct whatif_plan *plan;
	struct whatif_result result;
};

static const char *unit_name_of(struct whatif_job *j, track_idx i, struct incore_error *e)
{
	struct strbuf b = {0};
	const struct trace *t = j->t;

	for (int k = 0; k < TRACK_LEVELS && t->levels[k] && strcmp(t->levels[k], "simd") != 0 &&
			strcmp(t->levels[k], "pipe") != 0;
		k++)
		sb_printf(&b, "%s%s%u", k ? " " : "", t->levels[k], t->tracks[i].coord[k]);
	return answer_text(j->a, &b, e);
}

static bool put_units(struct whatif_job *j, struct incore_error *e)
{
	size_t n = j->result.spans.n;
	struct whatif_unit_row *v = ANSWER_ROWS(j->a, &j->out->units, n, whatif_unit_row, e);

	for (size_t i = 0; v && i < n; i++) {
		const struct whatif_span *s = &j->result.spans.v[i];
		const char *name = unit_name_of(j, s->first, e);

		if (!name)
			return false;
		v[i] = (struct whatif_unit_row){.unit = name,
			.before = s->before_cyc,
			.after = s->after_cyc,
			.low = s->low_cyc,
			.high = s->high_cyc,
			.waves = s->n_waves,
			.reproduced = s->n_true,
			.coupling = s->coupling};
	}
	return v != NULL;
}

static bool put_limits(struct whatif_job *j, struct incore_error *e)
{
	uint64_t top = request_top(j->r, 15, UINT64_MAX);
	size_t n = j->result.limits.n < top ? j->result.limits.n : (size_t)top;
	struct whatif_limit_row *v = ANSWER_ROWS(j->a, &j->out->limits, n, whatif_limit_row, e);

	j->out->found = j->result.limits.n;
	for (size_t i = 0; v && i < n; i++) {
		const struct whatif_limit *x = &j->result.limits.v[i];
		const struct code_row *r = x->code < j->t->n_code ? &j->t->code[x->code] : NULL;

		v[i] = (struct whatif_limit_row){
			.part = whatif_part_name((enum whatif_part)x->part),
			.row = r ? r->number : NO_VALUE,
			.isa = r ? r->text : NULL,
			.source = r && r->source && r->source[0] ? r->source : NULL,
			.before = x->before_cyc,
			.after = x->after_cyc,
			.change = (int64_t)x->after_cyc - (int64_t)x->before_cyc,
			.share = percent(x->after_cyc, j->result.after_cyc)};
	}
	return v != NULL;
}

static bool put_untrue(struct whatif_job *j, struct incore_error *e)
{
	size_t n = j->result.untrue.n;
	struct text_item *v = ANSWER_ROWS(j->a, &j->out->untrue, n, text_item, e);

	for (size_t i = 0; v && i < n; i++)
		v[i].v = j->t->tracks[j->result.untrue.v[i]].name;
	return v != NULL;
}

/* --- figures -------------------------------------------------------------------------------- */

static double saved_of(uint64_t before, uint64_t after)
{
	return before ? 100.0 * ((double)before - (double)after) / (double)before : NAN;
}

static const char *whatif_verdict_of(const struct whatif_result *r)
{
	if (r->method == WHATIF_NONE)
		return "none";
	if (r->does_nothing)
		return "does-nothing";
	if (r->method == WHATIF_SAMPLES && fabs(saved_of(r->before_cyc, r->after_cyc)) <= 1)
		return "not-known";
	if (r->after_cyc < r->before_cyc && r->high_cyc <= r->before_cyc)
		return "shorter";
	return r->after_cyc > r->before_cyc && r->low_cyc >= r->before_cyc ? "longer" : "unsure";
}

static void put_us(struct whatif_job *j)
{
	struct whatif_answer *x = j->out;
	double mhz = trace_clock_mhz(j->t);

	if (mhz <= 0)
		return;
	x->before_us = (double)x->before / mhz;
	x->after_us = (double)x->after / mhz;
	x->low_us = (double)x->low / mhz;
	x->high_us = (double)x->high / mhz;
}

static bool put_figures(struct whatif_job *j, struct incore_error *e)
{
	static const char *const methods[] = {"replay", "pipes", "samples", "none"};
	const struct whatif_result *r = &j->result;
	struct whatif_answer *x = j->out;

	x->method = methods[r->method];
	x->verdict = whatif_verdict_of(r);
	x->why = r->why;
	x->rows = j->plan->n_rows;
	x->executions = r->n_executed;
	x->identity =
		(struct whatif_identity){r->n_waves, r->n_true, percent(r->n_true, r->n_waves)};
	if (r->method != WHATIF_NONE) {
		x->before = r->before_cyc;
		x->after = r->after_cyc;
		x->low = r->low_cyc;
		x->high = r->high_cyc;
		x->saved = saved_of(r->before_cyc, r->after_cyc);
		x->saved_low = saved_of(r->before_cyc, r->high_cyc);
		x->saved_high = saved_of(r->before_cyc, r->low_cyc);
	}
	if (r->method != WHATIF_NONE)
		put_us(j);
	return put_units(j, e) && put_limits(j, e) && put_untrue(j, e);
}

/* --- the question --------------------------------------------------------------------------- */

typedef bool (*change_fn)(struct whatif_plan *p, const char *target, struct incore_error *e);

static bool take_list(struct whatif_job *j, const struct text_list *l, const char *word,
	change_fn fn, struct strbuf *said, struct incore_error *e)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!fn(j->plan, l->v[i], e))
			return false;
		sb_printf(said, "%s%s %s", said->n ? ", " : "", word, l->v[i]);
	}
	return true;
}

static bool is_change_asked(const struct whatif_params *p)
{
	return p->faster.n || p->ahead.n || p->sooner.n || p->remove.n || p->opcode.n ||
	       p->even.n || p->waves;
}

/* Questions about the kernel as a whole: one of them, alone. */
static unsigned count_intents(const struct whatif_params *p)
{
	return (p->rule != NULL) + (p->grid != NO_COUNT) + (p->block != NO_COUNT) +
	       (p->tile != NULL) + (p->elements != NULL);
}

/* Without a change there is no answer: lists which changes can be asked about for this capture. */
static bool no_question(const struct whatif_plan *p, struct incore_error *e)
{
	struct strbuf b = {0};

	whatif_put_targets(p, &b);
	if (b.failed) {
		sb_free(&b);
		return err_nomem(e);
	}
	err_set(e, INCORE_USAGE, "no-question",
		"what is to be changed? --faster WHAT[=K], --ahead WHAT[=N], --remove WHAT, --waves +N, "
		"--rule RULE of incore advise, or --nothing for the replay as it is; WHAT is a row, an opcode%s%s",
		b.n ? ", FILE:LINE or one of " : " or FILE:LINE", b.n ? b.p : "");
	sb_free(&b);
	return false;
}

static bool make_plan(struct whatif_job *j, struct incore_error *e)
{
	const struct whatif_params *p = j->p;
	struct strbuf b = {0};

	j->plan = whatif_plan_new(j->t, e);
	if (!j->plan || !ANSWER_KEEP(j->a, j->plan, whatif_plan_free, e))
		return false;
	if (!p->nothing && !is_change_asked(p))
		return no_question(j->plan, e);
	if (!take_list(j, &p->faster, "faster", whatif_faster, &b, e) ||
		!take_list(j, &p->ahead, "ahead", whatif_ahead, &b, e) ||
		!take_list(j, &p->sooner, "sooner", whatif_sooner, &b, e) ||
		!take_list(j, &p->remove, "without", whatif_remove, &b, e) ||
		!take_list(j, &p->opcode, "opcode", whatif_opcode, &b, e) ||
		!take_list(j, &p->even, "even", whatif_even, &b, e))
		return sb_free(&b), false;
	if (p->waves) {
		if (!whatif_waves(j->plan, p->waves, e))
			return sb_free(&b), false;
		sb_printf(&b, "%swaves %+d", b.n ? ", " : "", j->plan->waves);
	}
	if (p->nothing)
		sb_printf(&b, "nothing");
	j->out->change = answer_text(j->a, &b, e);
	return j->out->change != NULL;
}

#define DIFFERS .5 /* per cent of the time before */

/* What is removed is not there; what takes no time keeps its place. */
static bool put_differs(
	struct whatif_job *j, const struct whatif_result *twin, struct incore_error *e)
{
	const struct whatif_result *r = &j->result;
	double mine = saved_of(r->before_cyc, r->after_cyc);
	double other = saved_of(twin->before_cyc, twin->after_cyc);
	bool removes = whatif_removes(j->plan);
	struct strbuf b = {0};

	if (r->method == WHATIF_NONE || !(fabs(mine - other) > DIFFERS))
		return true;
	sb_printf(&b, "%s %+.1f %%: there the instruction %s, so %s",
		removes ? "with =inf instead" : "with --remove instead", 0.0 - other,
		removes ? "stays and takes no time" : "is gone",
		removes ? "it is still fetched, keeps its place, and a barrier still makes all meet"
			: "nothing is fetched for it, nobody waits for its result, and nobody meets at it");
	j->out->differs = answer_text(j->a, &b, e);
	return j->out->differs != NULL;
}

static bool run_plan(struct whatif_job *j, struct incore_error *e)
{
	struct whatif_plan *twin = NULL;
	struct whatif_result r[2] = {0};
	struct selection s = {0};
	struct walk_options o;
	bool ok = request_selection(j->r, j->t, &s, e) && whatif_plan_twin(j->plan, &twin, e);
	const struct whatif_plan *plans[2] = {j->plan, twin};

	o = request_walk(j->r, &s);
	ok = ok && whatif_run(j->t, plans, twin ? 2 : 1, &o, r, e);
	selection_deinit(&s);
	j->result = r[0];
	if (ok && j->result.method == WHATIF_NONE)
		answer_warn(j->a, "%s: no answer", j->result.why);
	if (ok && j->result.n_unread) {
		j->a->n_losses++;
		answer_warn(j->a, "%s could not be read and %s left out",
			COUNTED(j->result.n_unread, kind_row(j->t)->track),
			j->result.n_unread == 1 ? "is" : "are");
	}
	if (ok && j->result.untrue.n)
		answer_warn(j->a,
			"%zu of %u waves are not replayed within 1 %% of their duration: figures about them are less certain (data.untrue)",
			j->result.untrue.n, j->result.n_waves);
	ok = ok && put_figures(j, e) && (!twin || put_differs(j, &r[1], e));
	whatif_result_deinit(&j->result);
	whatif_result_deinit(&r[1]);
	whatif_plan_free(twin);
	return ok;
}

/* --- questions about the whole kernel ------------------------------------------------------- */

static void put_gain(struct whatif_job *j, const struct advice_gain *g)
{
	struct whatif_answer *x = j->out;

	x->method = g->method;
	x->why = g->why;
	x->before = g->before;
	x->after = g->after;
	x->low = g->low;
	x->high = g->high;
	x->saved = g->pct;
	x->saved_low = g->least_pct;
	x->saved_high = g->most_pct;
	x->verdict = g->does_nothing	 ? "does-nothing"
		     : g->least_pct >= 0 ? "shorter"
		     : g->most_pct <= 0	 ? "longer"
					 : "unsure";
	put_us(j);
}

static bool no_such_rule(struct whatif_job *j, const struct rows *rows, struct incore_error *e)
{
	const struct advice_row *v = rows->v;
	struct strbuf b = {0};

	for (size_t i = 0; i < rows->n; i++)
		sb_printf(&b, "%s%s", i ? ", " : "", v[i].rule);
	err_set(e, INCORE_USAGE, "bad-target",
		"incore advise has no '%s' for this capture; it has %s", j->p->rule,
		b.n && !b.failed ? b.p : "nothing to advise");
	sb_free(&b);
	return false;
}

/* The gain that advise has found, so that both say the same. */
static bool ask_rule(struct whatif_job *j, struct incore_error *e)
{
	struct advised x = {.trace = (struct trace *)j->t};
	const struct advice_row *v, *row = NULL;

	if (!advise_capture(j->a, j->r, &x, e))
		return false;
	v = x.rows.v;
	for (size_t i = 0; i < x.rows.n && !row; i++)
		row = strcmp(v[i].rule, j->p->rule) == 0 ? &v[i] : NULL;
	if (!row)
		return no_such_rule(j, &x.rows, e);
	j->out->change = row->rule;
	j->out->rows = row->found;
	if (row->gain)
		put_gain(j, row->gain);
	else
		j->out->why = row->no_gain ? row->no_gain : "nothing is known of its gain";
	return true;
}

static bool parse_times(const char *text, double *out, struct incore_error *e)
{
	char *end = NULL;

	*out = text[0] == 'x' ? strtod(text + 1, &end) : 0;
	if (end && end > text + 1 && !*end && *out >= 1 && *out <= 1024)
		return true;
	return err_set(e, INCORE_USAGE, "bad-factor",
		"'%s' is not how many times as much: expected x1 to x1024, as in x4", text);
}

static bool intent_of(struct whatif_job *j, enum ledger_intent *intent, double *n,
	struct strbuf *said, struct incore_error *e)
{
	const struct whatif_params *p = j->p;
	const char *times = p->tile ? p->tile : p->elements;

	*intent = p->grid != NO_COUNT	 ? LEDGER_GRID
		  : p->block != NO_COUNT ? LEDGER_BLOCK
		  : p->tile		 ? LEDGER_TILE
					 : LEDGER_ELEMENTS;
	*n = (double)(p->grid != NO_COUNT ? p->grid : p->block);
	if (times) {
		sb_printf(said, "%s %s", p->tile ? "tile" : "elements", times);
		return parse_times(times, n, e);
	}
	sb_printf(said, "%s %.0f", p->grid != NO_COUNT ? "grid" : "block", *n);
	return *n >= 1 || err_set(e, INCORE_USAGE, "bad-option-value", "no kernel has 0 of them");
}

static bool ask_intent(struct whatif_job *j, struct incore_error *e)
{
	struct ledger *l = ledger_new(j->t, e);
	struct advice_gain gain;
	struct ledger_change c;
	enum ledger_intent intent;
	struct strbuf said = {0};
	double n;

	if (!l || !ANSWER_KEEP(j->a, l, ledger_free, e))
		return false;
	if (!intent_of(j, &intent, &n, &said, e))
		return sb_free(&said), false;
	j->out->change = answer_text(j->a, &said, e);
	if (!j->out->change)
		return false;
	if (!ledger_ask(l, intent, n, &c)) {
		j->out->why = c.counted;
		answer_warn(j->a, "%s: no answer", j->out->why);
		return true;
	}
	gain = advice_gain_of_ledger(l, &c);
	gain.why = c.counted;
	put_gain(j, &gain);
	return true;
}

static bool check_alone(const struct whatif_params *p, struct incore_error *e)
{
	if (p->nothing && (is_change_asked(p) || count_intents(p)))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--nothing leaves the kernel as it is: it cannot be asked together with a change");
	if (count_intents(p) > 1 || (count_intents(p) && is_change_asked(p)))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--rule, --grid, --block, --tile and --elements are asked one at a time, and alone");
	return true;
}

static bool ask_whatif(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct whatif_job j = {.r = r, .a = a, .p = r->params};
	struct trace *t;

	if (!check_alone(j.p, e))
		return false;
	j.out = ANSWER_NEW(a, whatif_answer, e);
	if (!j.out || !answer_open(a, r, r->paths[0], request_kernel_want(r), &t, e))
		return false;
	j.t = t;
	*j.out = (struct whatif_answer){.evidence = evidence_name(EVIDENCE_ESTIMATE),
		.based_on = evidence_name(t->meta.evidence),
		.method = "none",
		.verdict = "none",
		.before = NO_U64,
		.after = NO_U64,
		.low = NO_U64,
		.high = NO_U64,
		.saved = NAN,
		.saved_low = NAN,
		.saved_high = NAN,
		.before_us = NAN,
		.after_us = NAN,
		.low_us = NAN,
		.high_us = NAN};
	a->data = j.out;
	if (j.p->rule)
		return ask_rule(&j, e);
	if (count_intents(j.p))
		return ask_intent(&j, e);
	return make_plan(&j, e) && run_plan(&j, e);
}

const struct question question_whatif = {
	.reach = REACH_ALL,
	.name = "whatif",
	.args = "PATH",
	.summary = "how long the kernel would take with one thing changed, as an interval",
	.groups = OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct whatif_params),
	.min_paths = 1,
	.max_paths = 1,
	.records = RECORDS(&answer_record),
	.ask = ask_whatif,
	.page = whatif_page,
};
