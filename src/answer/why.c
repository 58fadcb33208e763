/* SPDX-License-Identifier: Apache-2.0 */
/* why.c: what did lost cycles wait for, by cause, row, line or wave? */
#include "answer/why.h"
#include "answer/pages.h"

#include "analysis/code/hot.h"
#include "analysis/code/samples.h"
#include "base/search.h"

static const struct option_def options[] = {
	{OPT_BY, WHY_BY_CHOICES, "cause", "what the parts are grouped by",
		OPTION_ALL(why_params, by)},
	OPTION_END,
};

/* --- columns -------------------------------------------------------------------------------- */

static const struct column totals_columns[] = {
	COLUMN(why_totals, waves, UNIT_WAVES, "waves that were analysed"),
	COLUMN(why_totals, duration, UNIT_CYCLES, "sum of all lifetimes of the waves"),
	COLUMN(why_totals, cycles, UNIT_CYCLES, "cycles of the causes that have parts"),
	COLUMN(why_totals, hidden, UNIT_CYCLES,
		"cycles during which another wave of the SIMD issued"),
	COLUMN(why_totals, exposed, UNIT_CYCLES, "cycles during which no wave of the SIMD issued"),
	COLUMN(why_totals, unknown, UNIT_CYCLES, "cycles that no rule explains"),
	COLUMN(why_totals, unknown_pct, UNIT_PERCENT,
		"unexplained cycles as a share of the cycles without hazard padding", NULLABLE,
		.digits = 2),
	COLUMN(why_totals, residue, UNIT_CYCLES,
		"cycles minus all parts, over all waves; always 0"),
};
static const struct record totals_record = RECORD_OF(why_totals, RECORD_BLOCK, totals_columns);

/* Columns that a grouping does not have are absent. */
static const struct column part_columns[] = {
	COLUMN(why_row, cause, UNIT_NONE, "name of the cause, as in incore hot --by cause",
		OPTIONAL),
	COLUMN(why_row, cause_cycles, UNIT_CYCLES,
		"cycles of the whole cause: the sum of its parts", .title = "of", OPTIONAL),
	COLUMN(why_row, row, UNIT_ROW, "number of the instruction in the listing", OPTIONAL),
	COLUMN(why_row, isa, UNIT_NONE, "text of the instruction", .title = "instruction",
		.csv = "isa", .flags = COLUMN_OPTIONAL | COLUMN_WIDE),
	COLUMN(why_row, source, UNIT_NONE,
		"source file and line; frames of inlined code are joined by arrows",
		.title = "line", .csv = "source", .flags = COLUMN_OPTIONAL | COLUMN_WIDE),
	COLUMN(why_row, wave, UNIT_NONE, "name of the wave", OPTIONAL),
	COLUMN(why_row, why, UNIT_NONE, "what was waited for", .words = WHY_WORD_CHOICES),
	COLUMN(why_row, confidence, UNIT_NONE, "how certain the explanation is",
		.words = WHY_SURE_CHOICES, OPTIONAL),
	COLUMN(why_row, cycles, UNIT_CYCLES, "cycles of the part"),
	COLUMN(why_row, hidden, UNIT_CYCLES, "cycles during which another wave of the SIMD issued"),
	COLUMN(why_row, exposed, UNIT_CYCLES, "cycles during which no wave of the SIMD issued"),
	COLUMN(why_row, share, UNIT_PERCENT, "share of all cycles that have parts", .title = "%",
		.csv = "share_pct", .flags = COLUMN_NO_JSON | COLUMN_HEAT, .digits = 1),
	COLUMN(why_row, hit, UNIT_COUNT, "number of pieces of the part", .title = "times",
		OPTIONAL),
	COLUMN(why_row, of_row, UNIT_ROW,
		"row to blame; if there are several, the one with most cycles", .title = "of row",
		.csv = "of_row", OPTIONAL),
	COLUMN(why_row, of_isa, UNIT_NONE, "text of the instruction to blame", .title = "which is",
		.csv = "of_isa", .flags = COLUMN_OPTIONAL | COLUMN_WIDE),
	COLUMN(why_row, latency, UNIT_CYCLES,
		"mean cycles from its issue to this one's, for a register or the wave's own pipe",
		.title = "after", .csv = "latency", OPTIONAL),
	COLUMN(why_row, of_wave, UNIT_NONE, "name of the wave that accounts for most of the cycles",
		.title = "of wave", .csv = "of_wave", OPTIONAL),
};
const struct record why_part_record = RECORD_OF(why_row, RECORD_LINE, part_columns);

static const struct column reason_columns[] = {
	COLUMN(why_reason_row, reason, UNIT_NONE, "stall reason as the sampler names it"),
	COLUMN(why_reason_row, cause, UNIT_NONE, "cause that the reason belongs to"),
	COLUMN(why_reason_row, why, UNIT_NONE,
		"what was waited for; null: the cause says everything", NULLABLE),
	COLUMN(why_reason_row, samples, UNIT_SAMPLES, "samples with this reason"),
	COLUMN(why_reason_row, exposed, UNIT_SAMPLES, "samples during which nothing was issued",
		NULLABLE),
};
const struct record why_reason_record = RECORD_OF(why_reason_row, RECORD_LINE, reason_columns);

#define ANSWER_COLUMNS(MEMBER, OF)                                                                 \
	EVIDENCE_COLUMN(why_answer, "what the figures rest on"),                                   \
		COLUMN(why_answer, by, UNIT_NONE, "what the parts are grouped by",                 \
			.words = WHY_BY_CHOICES "|reason"),                                        \
		RECORD(why_answer, totals, &totals_record, "sums over the selected waves"),        \
		LIST(why_answer, words, &why_part_record,                                          \
			"all parts, by explanation and confidence"),                               \
		COLUMN(why_answer, found, UNIT_COUNT, "number of rows; --top shows fewer"),        \
		COLUMN_HELD(                                                                       \
			why_answer, MEMBER, "rows", COLUMN_LIST, OF, "the parts, largest first")
static const struct column answer_columns[] = {ANSWER_COLUMNS(rows, &why_part_record)};
static const struct column reasons_columns[] = {ANSWER_COLUMNS(reasons, &why_reason_record)};
static const struct record of_waves = RECORD_OF(why_answer, RECORD_BLOCK, answer_columns);
static const struct record of_samples = RECORD_OF(why_answer, RECORD_BLOCK, reasons_columns);

/* --- parts ---------------------------------------------------------------------------------- */

struct why_job {
	const struct request *r;
	struct answer *a;
	const struct trace *t;
	struct why_answer *out;
	struct causes *causes;
	struct why *why;
	const char **lines; /* by key, for WHY_BY_LINE */
	enum why_by by;
	uint64_t top;
};

ORDER(by_key, struct why_cell, UP(code) UP(kind) UP(inst_class) UP(word) UP(sure) DOWN(cyc) UP(of))

static bool same_key(const struct why_cell *a, const struct why_cell *b)
{
	return a->code == b->code && a->kind == b->kind && a->inst_class == b->inst_class &&
	       a->word == b->word && a->sure == b->sure;
}

/* Merges cells of the same place and verdict into one, which blames the row with most cycles. */
static uint32_t fold_cells(struct why_cell *v, uint32_t n)
{
	uint32_t kept = 0;

	SORT(v, n, by_key);
	for (uint32_t i = 0; i < n; i++) {
		if (!kept || !same_key(&v[kept - 1], &v[i])) {
			v[kept++] = v[i];
			continue;
		}
		v[kept - 1].cyc += v[i].cyc;
		v[kept - 1].hidden_cyc += v[i].hidden_cyc;
		v[kept - 1].hits += v[i].hits;
		v[kept - 1].latency_cyc += v[i].latency_cyc;
	}
	return kept;
}

/* Index of the cell's cause in the list, which is sorted by cycles. */
static uint32_t cause_of_cell(const struct causes *c, const struct why_cell *x)
{
	uint32_t i = 0;

	while (i < c->n &&
		(c->v[i].kind != x->kind ||
			(x->kind == CAUSE_PIPE_STALL && c->v[i].inst_class != x->inst_class)))
		i++;
	return i;
}

static void put_group(const struct why_job *j, const struct why_cell *x, struct why_row *to)
{
	const struct trace *t = j->t;
	uint32_t cause = j->by == WHY_BY_CAUSE ? x->code
			 : j->by == WHY_BY_ROW ? cause_of_cell(j->causes, x)
					       : j->causes->n;
	bool is_code = j->by == WHY_BY_ROW && x->code < t->n_code;
	const struct code_row *r = is_code ? &t->code[x->code] : NULL;

	to->row = r ? r->number : NO_VALUE;
	to->isa = r ? r->text : NULL;
	to->source = r && r->source && r->source[0] ? r->source : NULL;
	to->cause_cycles = NO_U64;
	if (cause < j->causes->n) {
		to->cause = j->causes->v[cause].name;
		to->cause_cycles = j->causes->v[cause].cyc;
	}
	if (j->by == WHY_BY_LINE)
		to->source = j->lines[x->code];
	if (j->by == WHY_BY_WAVE) {
		track_idx other = j->why->tracks[x->code].other;

		to->wave = t->tracks[x->code].name;
		to->confidence = NULL;
		to->hit = NO_U64;
		if (x->word == WHY_OTHER_WAVE && other < t->n_tracks)
			to->of_wave = t->tracks[other].name;
	}
}

static struct why_row row_of_cell(const struct why_job *j, const struct why_cell *x)
{
	const struct trace *t = j->t;
	struct why_row r = {.why = why_word_name(x->word),
		.confidence = why_sure_name(x->sure),
		.cycles = x->cyc,
		.hidden = x->hidden_cyc,
		.exposed = x->cyc - x->hidden_cyc,
		.hit = x->hits,
		.share = percent(x->cyc, j->why->lump_cyc),
		.of_row = x->of < t->n_code ? t->code[x->of].number : NO_VALUE,
		.of_isa = x->of < t->n_code ? t->code[x->of].text : NULL,
		.latency = x->latency_cyc ? x->latency_cyc / x->hits : NO_U64};

	put_group(j, x, &r);
	return r;
}

ORDER(by_group_then_cycles, struct why_cell, UP(code) DOWN(cyc) UP(word) UP(sure))
ORDER(by_cycles, struct why_cell, DOWN(cyc) UP(code) UP(kind) UP(inst_class) UP(word) UP(sure))

/* Groups cells by line: the number of the line replaces the row. */
static bool number_lines(struct why_job *j, struct why_cell *v, uint32_t n, struct incore_error *e)
{
	struct intern names;
	bool ok = true;

	intern_init(&names);
	for (uint32_t i = 0; ok && i < n; i++) {
		bool is_known = v[i].code < j->t->n_code;

		v[i].code = intern_add(
			&names, is_known ? hot_line_of(&j->t->code[v[i].code]) : STR("<unknown>"));
		v[i].kind = 0;
		ok = v[i].code != INTERN_NONE;
	}
	j->lines = ok ? answer_alloc(j->a, names.n + 1u, sizeof(*j->lines), e) : NULL;
	for (uint32_t i = 0; j->lines && i < names.n; i++)
		if (!(j->lines[i] = arena_strndup(&j->a->arena, names.strs[i].p, names.strs[i].n)))
			j->lines = NULL;
	intern_deinit(&names);
	return j->lines || err_nomem(e);
}

/* Replaces the row by the key of the group. Only rows and lines keep which row is to blame. */
static void regroup(const struct why_job *j, struct why_cell *x)
{
	if (j->by == WHY_BY_CAUSE)
		x->code = cause_of_cell(j->causes, x);
	if (j->by == WHY_BY_WORD)
		x->code = x->kind = 0;
	if (j->by == WHY_BY_CAUSE || j->by == WHY_BY_WORD) {
		x->of = NO_CODE;
		x->latency_cyc = 0;
	}
	if (x->kind != CAUSE_PIPE_STALL) /* no other cause is split by class */
		x->inst_class = 0;
}

static uint32_t wave_cells(const struct why_job *j, struct why_cell *v)
{
	uint32_t n = 0;

	for (track_idx i = 0; i < j->t->n_tracks; i++)
		for (unsigned w = 0; w < WHY_WORDS; w++)
			if (j->why->tracks[i].cyc[w])
				v[n++] = (struct why_cell){.code = i,
					.of = NO_CODE,
					.word = (uint8_t)w,
					.cyc = j->why->tracks[i].cyc[w],
					.hidden_cyc = j->why->tracks[i].hidden_cyc[w]};
	return n;
}

static bool group_cells(struct why_job *j, enum why_by by, struct rows *out, struct incore_error *e)
{
	uint32_t n = by == WHY_BY_WAVE ? j->t->n_tracks * WHY_WORDS : j->why->n_cells;
	struct why_cell *v = mem_zalloc((size_t)n + 1, sizeof(*v));
	struct why_row *x = NULL;
	bool ok = v != NULL || err_nomem(e);

	j->by = by;
	if (ok && by == WHY_BY_WAVE)
		n = wave_cells(j, v);
	else if (ok && n)
		memcpy(v, j->why->cells, n * sizeof(*v));
	ok = ok && (by != WHY_BY_LINE || number_lines(j, v, n, e));
	for (uint32_t i = 0; ok && i < n; i++)
		regroup(j, &v[i]);
	if (ok) {
		n = fold_cells(v, n);
		SORT(v, n, by == WHY_BY_CAUSE ? by_group_then_cycles : by_cycles);
		x = ANSWER_ROWS(j->a, out, n, why_row, e);
	}
	for (uint32_t i = 0; x && i < n; i++)
		x[i] = row_of_cell(j, &v[i]);
	mem_free(v);
	return x != NULL;
}

/* --- the question --------------------------------------------------------------------------- */

static void put_totals(struct why_job *j)
{
	const struct why *w = j->why;
	struct why_totals *x = &j->out->totals;

	*x = (struct why_totals){.waves = w->n_waves,
		.duration = j->causes->duration_cyc,
		.cycles = w->lump_cyc,
		.unknown = w->cyc[WHY_UNKNOWN],
		.unknown_pct = percent(w->cyc[WHY_UNKNOWN], w->lump_cyc - w->cyc[WHY_HAZARD]),
		.residue = w->residue_cyc};
	for (unsigned i = 0; i < WHY_WORDS; i++)
		x->hidden += w->hidden_cyc[i];
	x->exposed = x->cycles - x->hidden;
}

static bool put_parts(struct why_job *j, struct incore_error *e)
{
	enum why_by by = ((const struct why_params *)j->r->params)->by;
	struct rows *rows = &j->out->rows;

	put_totals(j);
	if (!group_cells(j, WHY_BY_WORD, &j->out->words, e) || !group_cells(j, by, rows, e))
		return false;
	j->out->found = rows->n;
	rows->n = rows->n < j->top ? rows->n : (size_t)j->top;
	return true;
}

/* Two walks find the causes and what other waves hid, then the sweep follows. */
static bool split_waves(struct why_job *j, const struct selection *s, struct incore_error *e)
{
	struct walk_options o = request_walk(j->r, s);
	struct busy *busy = busy_new(j->t, e);
	struct walk_result walk = {0};
	struct collector c;

	if (!busy || !ANSWER_KEEP(j->a, busy, busy_free, e) || !busy_walk(busy, &o, e))
		return false;
	j->causes = causes_new(j->t, busy, 0, e);
	if (!j->causes || !ANSWER_KEEP(j->a, j->causes, causes_free, e))
		return false;
	c = causes_collector(j->causes);
	if (!answer_walked(j->a, &walk,
		    walk_tracks(j->t, &o, (const struct collector *[]){&c}, 1, &walk, e)) ||
		!causes_finish(j->causes, e))
		return false;
	j->why = why_new(j->t, busy, j->causes, e);
	return j->why && ANSWER_KEEP(j->a, j->why, why_free, e) && why_run(j->why, &o, e) &&
	       put_parts(j, e);
}

ORDER(by_samples, struct why_reason_row, DOWN(samples) A_TO_Z(reason))

/* Samples have no timeline to split: translates their stall reasons into the same words. */
static bool place_reasons(struct why_job *j, struct incore_error *e)
{
	const struct trace *t = j->t;
	struct why_reason_row *v =
		ANSWER_ROWS(j->a, &j->out->reasons, t->n_reasons, why_reason_row, e);
	size_t n = 0;

	for (uint32_t k = 0; v && k < t->n_reasons; k++) {
		const struct sample_cause *x = sample_cause_of(t->reasons[k]);
		struct why_reason_row r = {.reason = t->reasons[k],
			.cause = x->name,
			.why = x->word < WHY_WORDS ? why_word_name(x->word) : NULL,
			.exposed = t->sampling.has_not_issued ? 0 : NO_U64};

		for (code_idx i = 0; i < t->n_code; i++) {
			r.samples += trace_reasons_of(t, i)[k].all;
			if (t->sampling.has_not_issued)
				r.exposed += trace_reasons_of(t, i)[k].not_issued;
		}
		if (r.samples)
			v[n++] = r;
	}
	j->out->reasons.n = j->out->found = n;
	if (v)
		SORT(v, n, by_samples);
	j->out->by = "reason";
	j->a->record = &of_samples;
	return v != NULL;
}

static bool answer_of(struct why_job *j, struct incore_error *e)
{
	struct selection s = {0};
	bool ok;

	if (!answer_of_code(j->t, "why", e))
		return false;
	if (!j->t->n_tracks && j->t->samples)
		return place_reasons(j, e);
	if (!j->t->n_tracks || !j->t->meta.gfx_major) {
		answer_warn(j->a,
			j->t->n_tracks ? "only waves of AMD traces have parts of causes: nothing "
					 "to show (incore waves tells what pipes wait for)"
				       : "no waves in this capture: nothing to show (incore "
					 "check says more)");
		return true;
	}
	ok = request_selection(j->r, j->t, &s, e) && split_waves(j, &s, e);
	selection_deinit(&s);
	return ok;
}

static bool ask_why(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct why_params *p = r->params;
	struct why_job j = {.r = r, .a = a, .top = request_top(r, 30, UINT64_MAX)};
	struct str by = option_choice(&options[0], p->by);
	struct trace *t;

	j.out = ANSWER_NEW(a, why_answer, e);
	if (!j.out || !answer_open(a, r, r->paths[0], request_kernel_want(r), &t, e))
		return false;
	j.t = t;
	j.out->evidence = evidence_name(t->meta.evidence);
	j.out->by = arena_strndup(&a->arena, by.p, by.n);
	j.out->totals.unknown_pct = NAN;
	a->data = j.out;
	return (j.out->by || err_nomem(e)) && answer_of(&j, e);
}

const struct question question_why = {
	.reach = REACH_ALL,
	.name = "why",
	.args = "PATH",
	.summary = "what lost cycles waited for: registers, pipes, waves, queues, fetches",
	.groups = OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct why_params),
	.min_paths = 1,
	.max_paths = 1,
	.records = RECORDS(&of_waves, &of_samples),
	.ask = ask_why,
	.page = why_page,
};
