/* SPDX-License-Identifier: Apache-2.0 */
/* hot.c: where do the cycles go, by instruction, line, opcode, class, cause or producer? */
#include "answer/hot.h"

#include "analysis/code/dominant.h"
#include "analysis/code/flydsl_hotspot.h"
#include "analysis/code/samples.h"
#include "analysis/code/source_lines.h"
#include "analysis/waves/causes.h"
#include "answer/pages.h"

/* --- samples ---------------------------------------------------------------------------------- */

/* Lists the stall reasons with a count above 0. */
static bool hot_put_counts(struct answer *a, const struct trace *t,
	const struct reason_count *counts, bool is_exposed, struct rows *out,
	struct incore_error *e)
{
	struct name_count *v = ANSWER_ROWS(a, out, t->n_reasons, name_count, e);
	size_t n = 0;

	for (uint32_t r = 0; v && r < t->n_reasons; r++) {
		uint64_t count = is_exposed ? counts[r].not_issued : counts[r].all;

		if (count)
			v[n++] = (struct name_count){t->reasons[r], count};
	}
	out->n = n;
	return v != NULL;
}

/* Can hidden and exposed cycles be separated? Needs waves that share a SIMD, or samples in which
 * the scheduler says so. */
static bool hot_tells_exposed(const struct trace *t)
{
	if (!t->n_tracks)
		return trace_has_exposed_samples(t);
	return t->meta.gfx_major && trace_kind(t) != KIND_PIPES;
}

/* Fills causes and producers from samples; `exposed` then takes its exposed part from the causes.
 * Each may be NULL, but `exposed` needs causes. */
static bool hot_fill_samples(
	struct causes *c, struct producers *p, struct hot *exposed, struct incore_error *e)
{
	if (c && !samples_fill_causes(c, e))
		return false;
	if (exposed)
		hot_take_exposed(exposed, c);
	return !p || samples_fill_producers(p, e);
}

/* Adds why the samples of a row or group stalled, and the error of the cycles they stand for. */
static bool hot_put_samples(struct answer *a, const struct hot *h, const struct hot_group *g,
	struct hot_row *x, struct incore_error *e)
{
	const struct trace *t = h->trace;
	const struct reason_count *counts = hot_reasons(h, g);

	if (!counts)
		return true;
	x->stall_reason = g->sums.stalled_samples ? hot_stall_reason(t, counts) : NULL;
	if (!hot_put_counts(a, t, counts, false, &x->stall_reasons, e))
		return false;
	if (trace_kind(t) != KIND_SAMPLES)
		return true;
	x->error_pct = samples_error_pct(g->sums.samples);
	if (!t->sampling.has_not_issued)
		return true;
	x->exposed_samples = g->sums.exposed_samples;
	return hot_put_counts(a, t, counts, true, &x->exposed_reasons, e);
}

bool hot_totals_make(struct answer *a, const struct hot *h, struct hot_totals *totals,
	const struct hot_accounting **accounting, struct incore_error *e)
{
	const bool is_sampled = trace_kind(h->trace) == KIND_SAMPLES;
	struct hot_accounting *x;

	*totals = (struct hot_totals){.waves = h->n_waves,
		.rows = hot_static_rows(h->trace),
		.instructions = h->n_instructions,
		.all = h->all.totals,
		.samples = h->all.samples ? h->all.samples : NO_U64,
		.stalled_samples = h->all.samples ? h->all.stalled_samples : NO_U64,
		.exposed_samples = NO_U64,
		.period = NO_U64,
		.from = h->is_stated ? "stated" : "computed"};
	if (is_sampled) {
		totals->period = h->trace->sampling.period_cyc;
		if (h->trace->sampling.has_not_issued)
			totals->exposed_samples = h->all.exposed_samples;
	}
	*accounting = NULL;
	if (h->is_stated && !is_sampled)
		return true;
	x = ANSWER_NEW(a, hot_accounting, e);
	if (!x)
		return false;
	*x = (struct hot_accounting){bucket_sums(h->all.bucket), h->duration_cyc, h->residue_cyc};
	*accounting = x;
	return true;
}

/* --- the question ----------------------------------------------------------------------------- */

static const struct option_def options[] = {
	{OPT_BY, HOT_BY_CHOICES, "instr", "what a row of the table is", OPTION_ALL(hot_params, by)},
	{OPT_SORT, "cycles|lost|latency|stall|idle|hit", "cycles",
		"sort key, largest first (not cause or producer)", OPTION_ALL(hot_params, sort)},
	{OPT_ATTRIBUTION, "blocking|class-set", "blocking",
		"with --by producer: how cycles of a wait are assigned",
		OPTION_ALL(hot_params, attribution)},
	{OPT_TAXONOMY, "incore|flydsl", "incore",
		OPTION_RARE "flydsl: the report of the older hotspot script, byte for byte",
		OPTION_FIELD(hot_params, taxonomy), .only_named = true},
	{OPT_EXPOSED, NULL, NULL,
		"separate lost cycles that other waves hid from exposed ones (instr, line, opcode)",
		OPTION_ALL(hot_params, exposed)},
	PER_WAVE_OPTION(hot_params),
	OPTION_END,
};

/* --- columns -------------------------------------------------------------------------------- */

static const struct column hot_totals_columns[] = {
	COLUMN(hot_totals, waves, UNIT_COUNT, "waves or pipes that were analysed"),
	COLUMN(hot_totals, rows, UNIT_COUNT, "instructions of the code"),
	COLUMN(hot_totals, instructions, UNIT_COUNT, "instructions executed"),
	PART(hot_totals, all, &code_totals_record),
	COLUMN(hot_totals, samples, UNIT_SAMPLES, "samples taken", OPTIONAL),
	COLUMN(hot_totals, stalled_samples, UNIT_SAMPLES, "samples that found a stall", OPTIONAL),
	COLUMN(hot_totals, exposed_samples, UNIT_SAMPLES,
		"stalled samples while nothing was issued", OPTIONAL),
	COLUMN(hot_totals, period, UNIT_CYCLES, "cycles that one sample stands for", OPTIONAL),
	COLUMN(hot_totals, from, UNIT_NONE, "computed from the waves, or stated by the producer",
		.words = "computed|stated"),
};
const struct record hot_totals_record = RECORD_OF(hot_totals, RECORD_BLOCK, hot_totals_columns);

static const struct column hot_accounting_columns[] = {
	PART(hot_accounting, bucket, &bucket_record),
	COLUMN(hot_accounting, duration, UNIT_CYCLES, "sum of all lifetimes and of all buckets"),
	COLUMN(hot_accounting, residue, UNIT_CYCLES, "duration minus all buckets; always 0"),
};
const struct record hot_accounting_record =
	RECORD_OF(hot_accounting, RECORD_BLOCK, hot_accounting_columns);

static const struct column waits_for_columns[] = {
	COLUMN(waits_for, row, UNIT_ROW, "row of the instruction", .title = "of row",
		.csv = "producer_row"),
	COLUMN(waits_for, isa, UNIT_NONE, "text of the instruction"),
	COLUMN(waits_for, cycles, UNIT_CYCLES, "cycles of waits for this instruction"),
	COLUMN(waits_for, waits, UNIT_COUNT, "number of waits for this instruction"),
};
static const struct record waits_for_record = RECORD_OF(waits_for, RECORD_LINE, waits_for_columns);

/* Columns common to rows and groups, in the order of their JSON. */
#define HOT_SUM_COLUMNS                                                                            \
	PART(hot_row, totals, &code_totals_record),                                                \
		RECORD(hot_row, buckets, &bucket_record,                                           \
			"cycles by bucket; the buckets add up to the total"),                      \
		COLUMN(hot_row, cycles, UNIT_CYCLES, "issue + wait + stall + idle + drain"),       \
		COLUMN(hot_row, hidden, UNIT_CYCLES, "lost while another wave of the SIMD issued", \
			OPTIONAL),                                                                 \
		COLUMN(hot_row, exposed, UNIT_CYCLES, "lost cycles minus hidden ones", OPTIONAL),  \
		COLUMN(hot_row, cycles_per_wave, UNIT_CYCLES, "cycles in the mean wave", OPTIONAL, \
			.digits = 6),                                                              \
		COLUMN(hot_row, samples, UNIT_SAMPLES, "samples that found this row", OPTIONAL),   \
		COLUMN(hot_row, stalled_samples, UNIT_SAMPLES,                                     \
			"samples that found this row stalled", .title = "stalled", OPTIONAL),      \
		MAP(hot_row, stall_reasons, &name_count_record, "stalled samples by reason",       \
			OPTIONAL),                                                                 \
		COLUMN(hot_row, exposed_samples, UNIT_SAMPLES,                                     \
			"stalled samples while nothing was issued", .title = "exposed",            \
			.csv = "exposed_samples", OPTIONAL),                                       \
		COLUMN(hot_row, error_pct, UNIT_PERCENT,                                           \
			"standard error of the cycles, which are samples x period",                \
			.title = "+-%", .csv = "error_pct", OPTIONAL, .digits = 1),                \
		MAP(hot_row, exposed_reasons, &name_count_record,                                  \
			"exposed samples by stall reason", OPTIONAL),                              \
		COLUMN(hot_row, share, UNIT_PERCENT, "share of the selection", .title = "%",       \
			.csv = "share_pct", .flags = COLUMN_NO_JSON | COLUMN_HEAT, .digits = 1),   \
		COLUMN(hot_row, stall_reason, UNIT_NONE, "the most frequent stall reason",         \
			.title = "mostly", .csv = "stall_reason", NO_JSON)

static const struct column hot_plain_columns[] = {
	COLUMN(hot_row, row, UNIT_ROW, "number of the instruction in the listing", NULLABLE),
	COLUMN(hot_row, address, UNIT_ADDRESS, "address of the instruction", NULLABLE),
	COLUMN_AS(hot_row, key, "isa", UNIT_NONE, "text of the instruction", .title = "instruction",
		.csv = "isa", .flags = COLUMN_WIDE),
	COLUMN(hot_row, opcode, UNIT_NONE, "mnemonic of the instruction"),
	COLUMN(hot_row, class, UNIT_NONE, "class of the instruction"),
	COLUMN(hot_row, source, UNIT_NONE, "source file and line; inlined frames joined by arrows",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
	HOT_SUM_COLUMNS,
};
const struct record hot_plain_record = RECORD_OF(hot_row, RECORD_LINE, hot_plain_columns);

static const struct column hot_row_columns[] = {
	PART_SELF(&hot_plain_record),
	COLUMN(hot_row, cause, UNIT_NONE, "what most lost cycles of the row waited for",
		.title = "lost to", .csv = "cause", NULLABLE),
	COLUMN(hot_row, cause_cycles, UNIT_CYCLES, "cycles lost to that cause"),
	POINTER(hot_row, waits_for, &waits_for_record, "the instruction the row waited for most"),
	COLUMN(hot_row, short_source, UNIT_NONE, "file and line of the innermost frame",
		.title = "source", .flags = COLUMN_NO_JSON | COLUMN_WIDE),
};
const struct record hot_row_record = RECORD_OF(hot_row, RECORD_LINE, hot_row_columns);

static const struct column hot_group_columns[] = {
	COLUMN(hot_row, key, UNIT_NONE, "the line, opcode or class", .flags = COLUMN_WIDE),
	COLUMN(hot_row, rows, UNIT_COUNT, "number of instructions in the group"),
	COLUMN(hot_row, executed_rows, UNIT_COUNT, "instructions of the group that were executed",
		.title = "rows", .csv = "executed_rows"),
	HOT_SUM_COLUMNS,
	COLUMN_AS(hot_row, inclusive.latency, "inclusive_latency", UNIT_CYCLES,
		"latency of the line, including code that was inlined into it",
		.title = "with inlined", .csv = "inclusive_latency_cycles", NO_JSON),
	COLUMN_AS(hot_row, inclusive.hit, "inclusive_hit", UNIT_COUNT,
		"executions of the line, including code that was inlined into it",
		.title = "hit inlined", .csv = "inclusive_hit", NO_JSON),
};
const struct record hot_group_record = RECORD_OF(hot_row, RECORD_LINE, hot_group_columns);

/* Lines also have what was inlined into them, their shares, and what dominates their losses. */
static const struct column hot_line_columns[] = {
	PART_SELF(&hot_group_record),
	RECORD(hot_row, inclusive, &code_totals_record,
		"sums over instructions with this line anywhere in their inline chain"),
	COLUMN(hot_row, row_share, UNIT_PERCENT, "share of the instructions of the code",
		.title = "rows %", .csv = "row_share_pct", NULLABLE, .digits = 2,
		.table_digits = 1),
	COLUMN(hot_row, hit_share, UNIT_PERCENT, "share of all executions", .title = "hit %",
		.csv = "hit_share_pct", NULLABLE, .digits = 2, .table_digits = 1),
	COLUMN(hot_row, latency_share, UNIT_PERCENT, "share of all latency", .title = "latency %",
		.csv = "latency_share_pct", NULLABLE, .digits = 2, .table_digits = 1),
	COLUMN(hot_row, cause, UNIT_NONE, "the cause that dominates the lost cycles of the line",
		.title = "mostly lost to", .csv = "cause", NULLABLE),
	COLUMN(hot_row, cause_share, UNIT_PERCENT, "its share of the lost cycles of the line",
		.title = "of lost %", .csv = "cause_share_pct", NULLABLE, .digits = 2,
		.table_digits = 1),
	COLUMN(hot_row, type, UNIT_NONE,
		"the type that dominates the recorded stall of the line, in the words of --taxonomy flydsl",
		.csv = "type", NULLABLE),
	COLUMN(hot_row, type_share, UNIT_PERCENT, "its share of the recorded stall of the line",
		.csv = "type_share_pct", NULLABLE, .digits = 2, .table_digits = 1),
};
const struct record hot_line_record = RECORD_OF(hot_row, RECORD_LINE, hot_line_columns);

static const struct column cost_columns[] = {
	COLUMN(cost_row, kind, UNIT_NONE,
		"kind of the instructions: class, direction, bytes a lane moves"),
	COLUMN(cost_row, class, UNIT_NONE, "class of the instructions"),
	COLUMN(cost_row, rows, UNIT_COUNT, "instructions of this kind in the code"),
	COLUMN(cost_row, hit, UNIT_COUNT, "executions", .title = "hit"),
	COLUMN(cost_row, latency, UNIT_CYCLES, "latency of all executions: stall and issue"),
	COLUMN(cost_row, stall, UNIT_CYCLES, "stall of all executions"),
	COLUMN(cost_row, mean, UNIT_CYCLES, "latency of one execution, mean", .digits = 3,
		.table_digits = 1),
	COLUMN(cost_row, mean_stall, UNIT_CYCLES, "stall of one execution, mean", .digits = 3,
		.table_digits = 1, .title = "of it stall"),
	COLUMN(cost_row, median, UNIT_CYCLES, "latency of one execution, median", .title = "p50"),
	COLUMN(cost_row, p99, UNIT_CYCLES, "latency of one execution, 99th percentile"),
};
const struct record cost_record = RECORD_OF(cost_row, RECORD_LINE, cost_columns);

static const struct column cause_columns[] = {
	COLUMN(cause_row, key, UNIT_NONE, "the cause", .title = "cause"),
	COLUMN(cause_row, bucket, UNIT_NONE, "bucket that the cycles are in"),
	COLUMN(cause_row, family, UNIT_NONE, "family of causes that it belongs to"),
	COLUMN(cause_row, cycles, UNIT_CYCLES, "cycles lost to this cause"),
	COLUMN(cause_row, hit, UNIT_COUNT, "number of occurrences", .title = "times"),
	COLUMN(cause_row, latency, UNIT_CYCLES, "cycles of this cause, unless idle"),
	COLUMN(cause_row, stall, UNIT_CYCLES, "cycles of this cause, if waiting or stalled"),
	COLUMN(cause_row, idle, UNIT_CYCLES, "cycles of this cause, if idle"),
	COLUMN(cause_row, cycles_per_wave, UNIT_CYCLES, "average per wave", OPTIONAL, .digits = 6),
	COLUMN(cause_row, share, UNIT_PERCENT, "share of the selected cycles", .title = "%",
		.csv = "share_pct", .flags = COLUMN_NO_JSON | COLUMN_HEAT, .digits = 1),
	COLUMN(cause_row, each, UNIT_CYCLES, "cycles per occurrence", .csv = "cycles_each", NO_JSON,
		.digits = 1),
};
const struct record cause_row_record = RECORD_OF(cause_row, RECORD_LINE, cause_columns);

#define HOT_HEAD_COLUMNS                                                                           \
	EVIDENCE_COLUMN(hot_answer, "what the figures rest on"),                                   \
		COLUMN(hot_answer, by, UNIT_NONE, "what a row is", .words = HOT_BY_CHOICES),       \
		COLUMN(hot_answer, per, UNIT_NONE, "the mean wave, if cycles are per wave",        \
			OPTIONAL),                                                                 \
		RECORD(hot_answer, totals, &hot_totals_record, "sums of the recorded fields"),     \
		POINTER(hot_answer, accounting, &hot_accounting_record,                            \
			"every cycle of the selection in one bucket; null: there is no timeline"), \
		COLUMN(hot_answer, found, UNIT_COUNT, "number of rows; --top shows fewer")

static const struct column instr_columns[] = {
	HOT_HEAD_COLUMNS,
	LIST(hot_answer, rows, &hot_row_record, "one row per instruction, largest first"),
};
static const struct column group_columns[] = {
	HOT_HEAD_COLUMNS,
	LIST(hot_answer, groups, &hot_group_record, "one row per group, largest first"),
};
static const struct column line_columns[] = {
	HOT_HEAD_COLUMNS,
	LIST(hot_answer, groups, &hot_line_record, "one row per source line, largest first"),
	RECORD(hot_answer, source, &source_quality_record, "how well code is mapped to lines"),
	COLUMN(hot_answer, collapsed, UNIT_NONE,
		"what the heaviest line holds and what to read instead; null: lines can be acted on",
		NULLABLE),
};
static const struct column class_columns[] = {
	HOT_HEAD_COLUMNS,
	LIST(hot_answer, groups, &hot_group_record, "one row per class, largest first"),
	LIST(hot_answer, costs, &cost_record,
		"what one execution costs, by kind of instruction; empty without waves"),
};
static const struct column by_cause_columns[] = {
	HOT_HEAD_COLUMNS,
	COLUMN_HELD(hot_answer, causes, "groups", COLUMN_LIST, &cause_row_record,
		"one row per cause, largest first"),
};
static const struct column by_pair_columns[] = {
	HOT_HEAD_COLUMNS,
	LIST(hot_answer, pairs, &pair_record, "one row per pair of pipes, largest first"),
	LIST(hot_answer, edges, &edge_record, "which instruction each wait waited for"),
};
static const struct column by_producer_columns[] = {
	HOT_HEAD_COLUMNS,
	PART(hot_answer, producers, &producer_sums_record),
	LIST(hot_answer, edges, &edge_record, "which instruction each wait waited for", OPTIONAL),
};
static const struct record by_instr = RECORD_OF(hot_answer, RECORD_BLOCK, instr_columns);
static const struct record by_group = RECORD_OF(hot_answer, RECORD_BLOCK, group_columns);
static const struct record by_class = RECORD_OF(hot_answer, RECORD_BLOCK, class_columns);
static const struct record by_line = RECORD_OF(hot_answer, RECORD_BLOCK, line_columns);
static const struct record by_cause = RECORD_OF(hot_answer, RECORD_BLOCK, by_cause_columns);
static const struct record by_pair = RECORD_OF(hot_answer, RECORD_BLOCK, by_pair_columns);
static const struct record by_producer = RECORD_OF(hot_answer, RECORD_BLOCK, by_producer_columns);

/* --- what is computed ----------------------------------------------------------------------- */

struct hot_job {
	const struct request *r;
	const struct hot_params *p;
	struct answer *a;
	struct hot_answer *out;
	const struct trace *trace;
	struct selection selection;
	struct hot *hot;
	struct busy *busy;		      /* to separate hidden from exposed, else NULL */
	struct causes *causes;		      /* by cause, or with busy */
	struct producers *producers;	      /* by instr, producer */
	struct pipes *pipes;		      /* for a trace of pipes with tracks, else NULL */
	struct costs *costs;		      /* by class, of waves, else NULL */
	const struct producer_edge **edge_of; /* by code row: the costliest edge into it */
	uint64_t top;
};

static bool make_questions(struct hot_job *j, struct incore_error *e)
{
	unsigned by = j->p->by;

	j->hot = hot_new(j->trace);
	if (!j->hot || !ANSWER_KEEP(j->a, j->hot, hot_free, e))
		return err_nomem(e);
	j->out->has_exposed = j->p->exposed && by <= HOT_OPCODE && hot_tells_exposed(j->trace);
	if (j->out->has_exposed && j->trace->n_tracks) {
		struct walk_options o = request_walk(j->r, &j->selection);

		j->busy = busy_new(j->trace, e);
		if (!j->busy || !ANSWER_KEEP(j->a, j->busy, busy_free, e) ||
			!busy_walk(j->busy, &o, e))
			return false;
	}
	if (by == HOT_CAUSE || j->out->has_exposed) {
		j->causes = causes_new(j->trace, j->busy, j->out->has_exposed ? CAUSES_ROWS : 0, e);
		if (!j->causes || !ANSWER_KEEP(j->a, j->causes, causes_free, e))
			return false;
	}
	if (by == HOT_CLASS && costs_apply(j->trace)) {
		j->costs = costs_new(j->trace, e);
		if (!j->costs || !ANSWER_KEEP(j->a, j->costs, costs_free, e))
			return false;
	}
	if (by == HOT_PRODUCER || by == HOT_INSTR || by == HOT_LINE) {
		j->producers = producers_new(j->trace,
			j->p->attribution == ATTRIBUTION_CLASS_SET ? PRODUCERS_CLASS_SET
			: by != HOT_PRODUCER			   ? PRODUCERS_EDGES_ALONE
								   : PRODUCERS_EDGES,
			e);
		if (!j->producers || !ANSWER_KEEP(j->a, j->producers, producers_free, e))
			return false;
	}
	return true;
}

static bool walk_with(
	struct hot_job *j, const struct collector *made, size_t n, struct incore_error *e)
{
	struct walk_options o = request_walk(j->r, &j->selection);
	const struct collector *list[3];
	struct walk_result walk = {0};

	for (size_t i = 0; i < n; i++)
		list[i] = &made[i];
	return answer_walked(j->a, &walk, walk_tracks(j->trace, &o, list, n, &walk, e));
}

/* Collects from a trace of pipes, where one analysis gives everything. */
static bool collect_pipes(struct hot_job *j, struct incore_error *e)
{
	struct collector made[2];

	j->pipes = pipes_new(j->trace, e);
	if (!j->pipes || !ANSWER_KEEP(j->a, j->pipes, pipes_free, e))
		return false;
	made[0] = hot_collector(j->hot);
	made[1] = pipes_collector(j->pipes);
	if (!walk_with(j, made, 2, e) || !pipes_finish(j->pipes, e))
		return false;
	return (!j->causes || pipes_fill_causes(j->pipes, j->causes, e)) &&
	       (!j->producers || pipes_fill_producers(j->pipes, j->producers, e));
}

static bool collect_waves(struct hot_job *j, struct incore_error *e)
{
	struct collector made[3];
	size_t n = 0;

	made[n++] = hot_collector(j->hot);
	if (j->causes)
		made[n++] = causes_collector(j->causes);
	if (j->producers)
		made[n++] = producers_collector(j->producers);
	if (j->costs)
		made[n++] = costs_collector(j->costs);
	if (!walk_with(j, made, n, e) || (j->costs && !costs_finish(j->costs, e)))
		return false;
	if (j->causes && !causes_finish(j->causes, e))
		return false;
	if (j->busy)
		hot_take_exposed(j->hot, j->causes);
	return !j->producers || producers_finish(j->producers, e);
}

/* Without a timeline there is no accounting: takes the totals that the capture states. */
static void take_stated(struct hot_job *j)
{
	hot_take_stated(j->hot);
	if (j->trace->n_code == 0)
		answer_warn(
			j->a, "nothing was traced: no code and no waves (incore check says more)");
	else if (j->out->is_sampled)
		answer_warn(j->a,
			"sampled data: cycles are samples x %llu, an estimate with the error shown",
			(unsigned long long)j->trace->sampling.period_cyc);
	else if (j->trace->samples)
		answer_warn(j->a, "sampled data: counts of samples, not cycles");
	else
		answer_warn(j->a, "%s", vendor_row(j->trace)->no_cycles);
	if (!j->out->is_sampled && (j->p->by == HOT_CAUSE || j->p->by == HOT_PRODUCER))
		answer_warn(j->a,
			"--by %s needs waves, or samples of a known period: nothing to show",
			j->out->by);
}

static bool hot_collect(struct hot_job *j, struct incore_error *e)
{
	if (!make_questions(j, e))
		return false;
	if (j->trace->n_tracks == 0) {
		take_stated(j);
		return !j->out->is_sampled || hot_fill_samples(j->causes, j->producers,
						      j->out->has_exposed ? j->hot : NULL, e);
	}
	return trace_kind(j->trace) == KIND_PIPES ? collect_pipes(j, e) : collect_waves(j, e);
}

/* --- rows ----------------------------------------------------------------------------------- */

bool cost_rows(struct answer *a, const struct costs *c, uint64_t top, struct rows *out,
	struct incore_error *e)
{
	uint32_t n = top < c->n ? (uint32_t)top : c->n;
	struct cost_row *v = ANSWER_ROWS(a, out, n, cost_row, e);

	for (uint32_t i = 0; v && i < n; i++) {
		const struct cost *x = &c->v[i];

		v[i] = (struct cost_row){.kind = arena_strdup(&a->arena, x->kind),
			.class = class_name(x->inst_class),
			.rows = x->n_rows,
			.hit = x->hits,
			.latency = x->latency_cyc,
			.stall = x->stall_cyc,
			.median = x->each.median,
			.p99 = x->each.p99,
			.mean = ratio(x->latency_cyc, x->hits),
			.mean_stall = ratio(x->stall_cyc, x->hits)};
		if (!v[i].kind)
			return err_nomem(e);
	}
	return v != NULL;
}

/* Edges are sorted by cost, so the first into a row is its costliest. */
static bool index_edges(struct hot_job *j, struct incore_error *e)
{
	uint32_t n = j->trace->n_code;

	j->edge_of = answer_alloc(j->a, (size_t)n + 1, sizeof(*j->edge_of), e);
	if (!j->edge_of)
		return false;
	for (size_t i = 0; j->producers && i < j->producers->edges.n; i++) {
		const struct producer_edge *x = &j->producers->edges.v[i];

		if (x->wait < n && !j->edge_of[x->wait])
			j->edge_of[x->wait] = x;
	}
	return true;
}

/* "file.py:12" of a row: the last part of the innermost frame's path. */
static struct str short_source(const struct code_row *r)
{
	struct str s = r->source && r->source[0] ? hot_line_of(r) : STR("");
	ptrdiff_t slash = str_rfind_char(s, '/');

	return slash < 0 ? s : str_sub(s, (size_t)slash + 1, s.n);
}

/* Share in the whole: of cycles if they were counted, else of what is stated. */
static double share_of(const struct hot *h, const struct hot_sums *s)
{
	const struct hot_sums *all = &h->all;

	if (!h->is_stated)
		return percent(hot_cycles(s), h->duration_cyc);
	if (h->trace->samples)
		return percent(s->samples, all->samples);
	return percent(s->totals.latency, all->totals.latency);
}

bool hot_per(unsigned per, const struct trace *t, const char **out, struct incore_error *e)
{
	*out = per == NO_CHOICE ? NULL : "wave";
	return !*out || (t->n_tracks && trace_kind(t) != KIND_PIPES) ||
	       err_set(e, INCORE_USAGE, "bad-option", "--per wave: this capture has no waves");
}

double hot_per_wave(const struct hot *h, uint64_t cycles)
{
	return h->is_stated || trace_kind(h->trace) == KIND_PIPES ? NAN : ratio(cycles, h->n_waves);
}

bool hot_row_make(struct answer *a, const struct hot *h, const struct hot_group *g,
	struct hot_row *out, struct incore_error *e)
{
	const struct trace *t = h->trace;
	const struct code_row *r = g->code < t->n_code ? &t->code[g->code] : NULL;
	const struct hot_sums *s = &g->sums;

	*out = (struct hot_row){.key = g->key,
		.row = r ? r->number : NO_VALUE,
		.address = r ? r->address : NO_U64,
		.opcode = r ? t->opcodes[r->opcode] : "(unknown)",
		.class = class_name(r ? r->inst_class : CLASS_OTHER),
		.source = r && r->source && r->source[0] ? r->source : NULL,
		.short_source = r ? short_source(r) : (struct str){0},
		.rows = g->n_rows,
		.executed_rows = g->n_executed,
		.totals = s->totals,
		.inclusive = g->inclusive,
		.buckets = bucket_sums(s->bucket),
		.cycles = hot_cycles(s),
		.cycles_per_wave = hot_per_wave(h, hot_cycles(s)),
		.share = share_of(h, s),
		.samples = s->samples ? s->samples : NO_U64,
		.stalled_samples = s->samples ? s->stalled_samples : NO_U64,
		.exposed_samples = NO_U64,
		.hidden = h->has_exposed ? s->hidden_cyc : NO_U64,
		.exposed = h->has_exposed ? s->exposed_cyc : NO_U64,
		.row_share = NAN,
		.hit_share = NAN,
		.latency_share = NAN,
		.cause_share = NAN,
		.type_share = NAN,
		.error_pct = NAN};
	return !s->samples || hot_put_samples(a, h, g, out, e);
}

static bool put_loss(
	struct hot_job *j, const struct hot_group *g, struct hot_row *x, struct incore_error *e)
{
	const struct trace *t = j->trace;
	struct hot_loss loss =
		hot_loss(j->hot, g, g->code < t->n_code ? j->edge_of[g->code] : NULL);
	struct waits_for *w;

	x->cause_cycles = loss.cyc;
	if (loss.name[0]) {
		x->cause = arena_strdup(&j->a->arena, loss.name);
		if (!x->cause)
			return err_nomem(e);
	}
	if (!loss.edge)
		return true;
	w = ANSWER_NEW(j->a, waits_for, e);
	if (!w)
		return false;
	*w = (struct waits_for){t->code[loss.edge->producer].number,
		t->code[loss.edge->producer].text, loss.edge->stall_cyc + loss.edge->shared_cyc,
		loss.edge->count};
	x->waits_for = w;
	return true;
}

/* --- lines --- */

static void line_put(const struct hot_job *j, const struct hot_group *g, const struct dominant *d,
	struct hot_row *x)
{
	const struct code_totals *all = &j->hot->all.totals;

	x->row_share = percent(g->n_rows, j->out->totals.rows);
	x->hit_share = all->hit ? percent(g->sums.totals.hit, all->hit) : NAN;
	x->latency_share = all->latency ? percent(g->sums.totals.latency, all->latency) : NAN;
	if (d->cause && !kind_row(j->trace)->no_code) { /* gaps of a timeline are no losses */
		x->cause = d->cause;
		x->cause_cycles = d->cause_cyc;
		x->cause_share = percent(d->cause_cyc, d->lost_cyc);
	}
	x->type = d->type;
	x->type_share = d->type ? percent(d->type_stall_cyc, d->stall_cyc) : NAN;
}

/* "a.py:257 holds 1,895 of 2,062 executed rows (91.9 %) and 81.3 % of the latency" and where to look. */
static bool line_advise(struct hot_job *j, const struct source_lines *s, struct incore_error *e)
{
	const struct source_line *l = &s->lines[s->collapse_line];
	struct strbuf b = {0};

	if (s->collapse != COLLAPSE_YES && s->collapse != COLLAPSE_PARTLY)
		return true;
	source_line_put(s, l, &b);
	sb_printf(&b,
		" holds %.1f %% of the executed rows, %.1f %% of the executions and %.1f %% of the latency: read %s (incore isa), %sinstructions (--by instr), or phases and balance of the waves (incore waves)",
		100 * s->collapse_row_share, percent(l->exclusive.totals.hit, s->mapped.totals.hit),
		100 * s->collapse_latency_share, "blocks and loops",
		j->out->has_inlined ? "lines with what was inlined into them, " : "");
	j->out->collapsed = answer_text(j->a, &b, e);
	return j->out->collapsed != NULL;
}

static bool make_source(struct hot_job *j, struct incore_error *e)
{
	const struct trace *t = j->trace;
	struct code_totals *totals = mem_zalloc((size_t)t->n_code + 1, sizeof(*totals));
	struct source_lines lines;
	bool ok;

	if (!totals)
		return err_nomem(e);
	for (code_idx i = 0; i < t->n_code; i++)
		totals[i] = j->hot->rows[i].totals;
	ok = source_lines_compute(&lines, t, totals, e);
	mem_free(totals);
	if (!ok)
		return false;
	ok = source_quality_make(j->a, &lines, &j->out->source, e) && line_advise(j, &lines, e);
	source_lines_deinit(&lines);
	return ok;
}

static bool make_lines(struct hot_job *j, const struct hot_group *groups, uint32_t n_found,
	uint32_t n, struct hot_row *v, struct incore_error *e)
{
	struct dominant *d;

	if (!dominants_make(j->hot, j->edge_of, groups, n_found, &j->a->arena, &d, e))
		return false;
	for (uint32_t i = 0; i < n; i++)
		line_put(j, &groups[i], &d[i], &v[i]);
	return make_source(j, e);
}

static bool hot_make_groups(struct hot_job *j, struct incore_error *e)
{
	enum hot_sort sort = (enum hot_sort)j->p->sort;
	struct hot_group *groups;
	uint32_t n_found, n;
	struct hot_row *v;

	/* gaps of a timeline belong to nobody: a long gap must not make the next slice rank high */
	if (sort == HOT_SORT_CYCLES && trace_kind(j->trace) == KIND_TIMELINE)
		sort = HOT_SORT_LATENCY;
	if (!hot_group(j->hot, (enum hot_by)j->p->by, sort, j->top == UINT64_MAX, &j->a->arena,
		    &groups, &n_found, e) ||
		!index_edges(j, e))
		return false;
	n = j->top < n_found ? (uint32_t)j->top : n_found;
	v = answer_alloc(j->a, n, sizeof(*v), e);
	if (!v)
		return false;
	for (uint32_t i = 0; i < n_found; i++)
		j->out->has_inlined |= j->p->by == HOT_LINE &&
				       groups[i].inclusive.latency != groups[i].sums.totals.latency;
	for (uint32_t i = 0; i < n; i++)
		if (!hot_row_make(j->a, j->hot, &groups[i], &v[i], e) ||
			!put_loss(j, &groups[i], &v[i], e))
			return false;
		else if (!j->out->per)
			v[i].cycles_per_wave = NAN;
	j->out->found = n_found;
	if (j->p->by == HOT_INSTR)
		j->out->rows = (struct rows){v, n};
	else
		j->out->groups = (struct rows){v, n};
	j->a->record = j->p->by == HOT_INSTR   ? &by_instr
		       : j->p->by == HOT_LINE  ? &by_line
		       : j->p->by == HOT_CLASS ? &by_class
					       : &by_group;
	if (j->costs && !cost_rows(j->a, j->costs, j->top, &j->out->costs, e))
		return false;
	return j->p->by != HOT_LINE || make_lines(j, groups, n_found, n, v, e);
}

static bool make_causes(struct hot_job *j, struct incore_error *e)
{
	uint32_t n = j->top < j->causes->n ? (uint32_t)j->top : j->causes->n;
	struct cause_row *v = ANSWER_ROWS(j->a, &j->out->causes, n, cause_row, e);

	for (uint32_t i = 0; v && i < n; i++) {
		const struct cause *x = &j->causes->v[i];
		bool is_idle = x->bucket == BUCKET_IDLE;
		bool is_lost = x->bucket == BUCKET_WAIT || x->bucket == BUCKET_STALL;

		v[i] = (struct cause_row){.key = x->name,
			.bucket = bucket_name(x->bucket),
			.family = family_name(x->family),
			.cycles = x->cyc,
			.hit = x->hits,
			.latency = is_idle ? 0 : x->cyc,
			.stall = is_lost ? x->cyc : 0,
			.idle = is_idle ? x->cyc : 0,
			.share = percent(x->cyc, j->hot->duration_cyc),
			.each = x->hits ? (double)x->cyc / (double)x->hits : 0,
			.cycles_per_wave = j->out->per ? ratio(x->cyc, j->hot->n_waves) : NAN};
	}
	j->out->found = j->causes->n;
	j->a->record = &by_cause;
	return v != NULL;
}

static bool make_producers(struct hot_job *j, struct incore_error *e)
{
	enum attribution attribution = j->p->attribution;

	if (j->pipes) {
		j->out->found = j->pipes->pairs.n;
		j->a->record = &by_pair;
		return pair_rows(j->a, j->pipes, j->top, &j->out->pairs, e) &&
		       edge_rows(j->a, j->producers, j->top, &j->out->edges, e);
	}
	j->out->found = producers_get(j->producers, attribution)->groups.n;
	j->a->record = &by_producer;
	if (!producer_sums_make(j->a, j->producers, attribution, j->top, j->hot->duration_cyc,
		    &j->out->producers, e))
		return false;
	return attribution != ATTRIBUTION_BLOCKING ||
	       edge_rows(j->a, j->producers, j->top, &j->out->edges, e);
}

/* --- the question --------------------------------------------------------------------------- */

static bool make_legacy_text(struct hot_job *j, struct incore_error *e)
{
	struct flydsl_options o = {.top = request_top(j->r, 15, 15),
		.with_lines = !request_given(j->r, &j->p->by) || j->p->by == HOT_LINE,
		.with_asm = !request_given(j->r, &j->p->by) || j->p->by == HOT_INSTR};
	struct strbuf text = {0};
	bool ok;

	ok = flydsl_report(j->trace, j->r->paths[0], &o, &text, e);
	if (ok) {
		j->out->legacy_text = arena_strndup(&j->a->arena, text.p ? text.p : "", text.n);
		ok = j->out->legacy_text || err_nomem(e);
	}
	sb_free(&text);
	return ok;
}

static bool answer_of(struct hot_job *j, struct incore_error *e)
{
	if (!request_selection(j->r, j->trace, &j->selection, e) || !hot_collect(j, e) ||
		!hot_totals_make(j->a, j->hot, &j->out->totals, &j->out->accounting, e))
		return false;
	if (j->p->by == HOT_CAUSE)
		return make_causes(j, e);
	if (j->p->by == HOT_PRODUCER)
		return make_producers(j, e);
	return hot_make_groups(j, e);
}

static bool ask_hot(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct hot_job j = {.r = r, .p = r->params, .a = a, .top = request_top(r, 20, 20)};
	struct str by = option_choice(&options[0], j.p->by);
	struct trace *t;
	bool ok;

	if (j.p->taxonomy == TAXONOMY_FLYDSL && !r->is_for_people)
		return err_set(e, INCORE_USAGE, "bad-option",
			"--taxonomy flydsl prints the older script's text only; leave out --json "
			"and --csv");
	j.out = ANSWER_NEW(a, hot_answer, e);
	if (!j.out || !answer_open(a, r, r->paths[0], request_kernel_want(r), &t, e))
		return false;
	j.trace = t;
	j.out->evidence = evidence_name(t->meta.evidence);
	j.out->by = arena_strndup(&a->arena, by.p, by.n);
	if (!j.out->by)
		return err_nomem(e);
	a->data = j.out;
	j.out->is_sampled = trace_kind(t) == KIND_SAMPLES;
	if (j.p->taxonomy == TAXONOMY_FLYDSL)
		return make_legacy_text(&j, e);
	ok = hot_per(j.p->per, t, &j.out->per, e) && answer_of(&j, e);
	j.out->has_pipes = j.pipes != NULL;
	if (ok && j.pipes)
		j.out->nothing_to_do = bucket_sums(j.pipes->bucket);
	j.out->has_samples = t->samples != NULL;
	selection_deinit(&j.selection);
	return ok;
}

const struct question question_hot = {
	.reach = REACH_ALL,
	.name = "hot",
	.args = "PATH",
	.summary = "where the cycles go: by instruction, line, opcode, class, cause, producer",
	.groups = OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct hot_params),
	.min_paths = 1,
	.max_paths = 1,
	.records = RECORDS(
		&by_instr, &by_group, &by_line, &by_class, &by_cause, &by_pair, &by_producer),
	.main_lists = "rows|groups",
	.ask = ask_hot,
	.page = hot_page,
};
