/* SPDX-License-Identifier: Apache-2.0 */
/* isa.c: what did each row of the code cost, and what did it wait for? */
#include "answer/isa.h"
#include "answer/pages/pages.h"

static const struct option_def options[] = {
	{OPT_RANGE, NULL, NULL, "only rows with these numbers (\"100-200,417\")",
		OPTION_ALL(isa_params, range)},
	{OPT_AROUND, NULL, NULL, "only row N and the rows beside it",
		OPTION_ALL(isa_params, around)},
	{OPT_CONTEXT, NULL, "10", "rows before and after, with --around",
		OPTION_ALL(isa_params, context)},
	{OPT_EXECUTED, NULL, NULL, "leave out rows that never ran",
		OPTION_ALL(isa_params, executed)},
	{OPT_ASCII, NULL, NULL, OPTION_RARE "draw arrows and loops with ASCII characters",
		OPTION_FIELD(isa_params, ascii), .only_named = true},
	{OPT_LEVELS, NULL, NULL,
		"also show the approximate memory latency from SQ_INST_LEVEL_* counters",
		OPTION_ALL(isa_params, levels)},
	PER_WAVE_OPTION(isa_params),
	OPTION_END,
};

/* --- which rows ----------------------------------------------------------------------------- */

static bool show_around(
	const struct isa_params *p, const struct trace *t, uint8_t *shown, struct incore_error *e)
{
	bool found = false;

	for (uint32_t i = 0; i < t->n_code; i++) {
		uint64_t first = i > p->context ? i - p->context : 0, last = i + p->context;

		if (t->code[i].number < 0 || (uint64_t)t->code[i].number != p->around)
			continue;
		found = true;
		if (last < p->context || last >= t->n_code)
			last = t->n_code - 1;
		for (uint64_t k = first; k <= last; k++)
			shown[k] = 1;
	}
	return found || err_set(e, INCORE_USAGE, "no-such-row",
				"--around %llu: the code table has no row of that number",
				(unsigned long long)p->around);
}

static bool show_range(
	const char *range, const struct trace *t, uint8_t *shown, struct incore_error *e)
{
	struct number_set set = {0};
	bool ok = !range || number_set_parse(&set, str_of(range), "range", e);

	for (uint32_t i = 0; ok && i < t->n_code; i++)
		shown[i] = !range || (t->code[i].number >= 0 &&
					     number_set_has(&set, (uint64_t)t->code[i].number));
	VEC_FREE(&set.ranges);
	return ok;
}

static bool choose_rows(
	const struct isa_params *p, const struct trace *t, uint8_t *shown, struct incore_error *e)
{
	bool has_around = p->around != NO_COUNT;

	if (p->range && has_around)
		return err_set(e, INCORE_USAGE, "bad-option", "give --range or --around, not both");
	return has_around ? show_around(p, t, shown, e) : show_range(p->range, t, shown, e);
}

static void hide_unexecuted(const struct listing *l, uint8_t *shown)
{
	for (uint32_t i = 0; i < l->trace->n_code; i++)
		if (!l->trace->code[i].is_label && l->hot->rows[i].totals.hit == 0 &&
			listing_weight(l, &l->hot->rows[i]) == 0)
			shown[i] = 0;
}

/* --- the question --------------------------------------------------------------------------- */

static bool walk_listing(const struct request *r, struct answer *a, struct listing *l,
	const struct selection *s, struct incore_error *e)
{
	struct walk_options o = request_walk(r, s);
	struct collector made[LISTING_COLLECTORS];
	const struct collector *list[LISTING_COLLECTORS];
	size_t n = listing_collectors(l, made);
	struct walk_result walk = {0};

	for (size_t i = 0; i < n; i++)
		list[i] = &made[i];
	return answer_walked(a, &walk, walk_tracks(l->trace, &o, list, n, &walk, e));
}

static bool collect_listing(const struct request *r, struct answer *a, struct listing *l,
	const struct selection *s, struct incore_error *e)
{
	if (trace_is_sampled(l->trace))
		answer_warn(a, "sampled data: counts of samples; arrows are what the code says");
	else if (l->trace->n_tracks == 0 && l->trace->samples)
		answer_warn(a, "sampled data: counts of samples, not cycles; no wait arrows");
	else if (l->trace->n_tracks == 0 && l->trace->meta.vendor == VENDOR_NVIDIA)
		answer_warn(a, "the report has no samples of instructions");
	else if (l->trace->n_tracks == 0)
		answer_warn(a, "no waves in this capture: totals are those that code.json states, "
			       "and there are no wait arrows");
	else if (!walk_listing(r, a, l, s, e))
		return false;
	return listing_finish(l, e);
}

static bool put_levels(
	struct answer *a, const struct trace *t, struct isa_answer *x, struct incore_error *e)
{
	unsigned found = levels_find(t);
	struct strbuf from = {0};

	for (unsigned k = 0; k < LEVEL_KINDS; k++)
		if (found >> k & 1)
			sb_printf(&from, "%s%s", from.n ? ", " : "", level_counters[k]);
	if (!found) {
		answer_warn(a, "no SQ_INST_LEVEL_VMEM, _LDS or _SMEM counters in this capture");
		return true;
	}
	sb_puts(&from, ": an approximation, the oldest instruction is taken to come back first");
	x->levels_from = answer_text(a, &from, e);
	x->levels = levels_make(t, &a->arena, e);
	return x->levels_from && x->levels;
}

static bool answer_of(const struct request *r, struct answer *a, const struct trace *t,
	const struct selection *s, struct incore_error *e)
{
	const struct isa_params *p = r->params;
	struct isa_answer *x = ANSWER_NEW(a, isa_answer, e);
	uint8_t *shown = answer_alloc(a, (size_t)t->n_code + 1, 1, e);
	struct listing *l;

	if (!x || !shown || !choose_rows(p, t, shown, e) || !hot_per(p->per, t, &x->per, e) ||
		(p->levels && !put_levels(a, t, x, e)))
		return false;
	/* the costs of single executions are not drawn */
	l = listing_new(t, !r->is_for_people, e);
	if (!l || !ANSWER_KEEP(a, l, listing_free, e) || !collect_listing(r, a, l, s, e))
		return false;
	if (p->executed)
		hide_unexecuted(l, shown);
	x->evidence = evidence_name(t->meta.evidence);
	x->listing = l;
	x->shown = shown;
	x->is_ascii = p->ascii;
	a->data = x;
	return isa_rows_make(a, x, e);
}

static bool ask_isa(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct isa_params *p = r->params;
	unsigned levels = p->levels ? IMPORT_COUNTERS | IMPORT_KEEP_TRACKS : 0;
	struct selection s = {0};
	struct trace *t;
	bool ok;

	if (!answer_open(a, r, r->paths[0], request_kernel_want(r) | levels, &t, e))
		return false;
	ok = request_selection(r, t, &s, e) && answer_of(r, a, t, &s, e);
	selection_deinit(&s);
	return ok;
}

const struct question question_isa = {
	.reach = REACH_ALL,
	.name = "isa",
	.args = "PATH",
	.summary = "the disassembly with costs, wait arrows, branches and loops",
	.groups = OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct isa_params),
	.min_paths = 1,
	.max_paths = 1,
	.records = RECORDS(&isa_record),
	.main_lists = "rows",
	.ask = ask_isa,
	.page = isa_page,
};
