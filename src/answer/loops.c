/* SPDX-License-Identifier: Apache-2.0 */
/* loops.c: loops, source lines and regions, for several answers. */
#include "answer/loops.h"
#include "base/search.h"

/* --- loops ---------------------------------------------------------------------------------- */

static const struct column place_columns[] = {
	COLUMN(loop_place, header_row, UNIT_ROW, "first row of the loop"),
	COLUMN(loop_place, header_address, UNIT_ADDRESS, "address of the first row of the loop"),
	COLUMN(loop_place, latch_row, UNIT_ROW, "row that branches back to the header"),
	COLUMN(loop_place, latch_address, UNIT_ADDRESS, "address of the row that branches back"),
	COLUMN(loop_place, latches, UNIT_COUNT, "number of branches back to the header"),
	COLUMN(loop_place, depth, UNIT_COUNT, "nesting depth; 1: not inside another loop"),
	COLUMN(loop_place, parent_header_row, UNIT_ROW, "first row of the enclosing loop",
		NULLABLE),
	COLUMN(loop_place, blocks, UNIT_COUNT, "basic blocks of the loop body"),
	COLUMN(loop_place, rows, UNIT_COUNT, "rows of the loop body"),
};
static const struct record place_record = RECORD_OF(loop_place, RECORD_BLOCK, place_columns);

static const struct column trips_columns[] = {
	COLUMN(loop_trips, executions, UNIT_COUNT, "executions of the header by one wave"),
	COLUMN(loop_trips, waves, UNIT_WAVES, "waves with this number of executions"),
};
static const struct record trips_record = RECORD_OF(loop_trips, RECORD_LINE, trips_columns);

static const struct column split_columns[] = {
	COLUMN_AS(loop_split, n, "iterations", UNIT_COUNT, "number of iterations"),
	COLUMN_AS(loop_split, cyc, "cycles", UNIT_CYCLES, "cycles of the iterations"),
	PART(loop_split, bucket, &bucket_record),
};
static const struct record split_record = RECORD_OF(loop_split, RECORD_LINE, split_columns);

static const struct column cause_columns[] = {
	COLUMN(loop_cause, cause, UNIT_NONE, "what the cycles went to"),
	COLUMN(loop_cause, bucket, UNIT_NONE, "bucket that the cycles are in"),
	COLUMN(loop_cause, cycles, UNIT_CYCLES, "cycles of all iterations"),
};
static const struct record cause_record = RECORD_OF(loop_cause, RECORD_LINE, cause_columns);

#define SPLIT(M, DOC) COLUMN_HELD(loop_row, s.M, #M, COLUMN_RECORD, &split_record, DOC)
static const struct column loop_columns[] = {
	PART(loop_row, place, &place_record),
	COLUMN(loop_row, state, UNIT_NONE, "what happened with the loop in the trace",
		.words = "iterated|entered-once|not-reached|sampled"),
	COLUMN_AS(
		loop_row, s.executions, "executions", UNIT_COUNT, "executions of the loop header"),
	COLUMN_AS(loop_row, s.waves, "waves", UNIT_WAVES, "waves that reached the loop"),
	COLUMN_AS(loop_row, s.visits, "visits", UNIT_COUNT, "number of times the loop was entered"),
	LIST(loop_row, trips, &trips_record, "number of waves by executions of the header"),
	COLUMN_AS(
		loop_row, s.iterations, "iterations", UNIT_COUNT, "number of complete iterations"),
	COLUMN_AS(loop_row, s.min_cyc, "min", UNIT_CYCLES, "cycles of the shortest iteration"),
	COLUMN_AS(loop_row, s.median_cyc, "median", UNIT_CYCLES, "median cycles of an iteration"),
	COLUMN_AS(loop_row, s.p95_cyc, "p95", UNIT_CYCLES,
		"95th percentile of the cycles of an iteration"),
	COLUMN_AS(loop_row, s.max_cyc, "max", UNIT_CYCLES, "cycles of the longest iteration"),
	SPLIT(all, "all iterations"),
	SPLIT(first, "first iterations of visits"),
	SPLIT(steady, "iterations between the first and the last of a visit"),
	SPLIT(last, "last iterations of visits"),
	COLUMN_AS(loop_row, s.exit_n, "exit_passes", UNIT_COUNT,
		"number of passes that left the loop"),
	COLUMN_AS(loop_row, s.exit_cyc, "exit_cycles", UNIT_CYCLES,
		"cycles of passes that left the loop, from the header to leaving it"),
	COLUMN_AS(loop_row, s.prologue_cyc, "prologue_cycles", UNIT_CYCLES,
		"cycles before the loop, of waves that reached it"),
	COLUMN_AS(loop_row, s.epilogue_cyc, "epilogue_cycles", UNIT_CYCLES,
		"cycles after the loop, of waves that reached it"),
	COLUMN(loop_row, drift, UNIT_SHARE,
		"change of the mean iteration from the first to the second half of a visit",
		.digits = 4),
	LIST(loop_row, causes, &cause_record,
		"what the cycles of iterations were spent on, largest first"),
};
const struct record loop_record = RECORD_OF(loop_row, RECORD_BLOCK, loop_columns);

int64_t loop_header_row(const struct cfg *g, uint32_t loop)
{
	return loop == NO_LOOP ? NO_VALUE
			       : g->trace->code[cfg_block_first(g, g->loops[loop].header)].number;
}

static struct loop_place loops_place_of(const struct loops *l, const struct loop_stats *s)
{
	const struct cfg *g = l->cfg;
	const struct cfg_loop *c = &g->loops[s->loop];
	const struct code_row *header = &g->trace->code[cfg_block_first(g, c->header)];
	const struct code_row *latch = &g->trace->code[cfg_block_last(g, c->latch)];

	return (struct loop_place){.header_row = header->number,
		.latch_row = latch->number,
		.parent_header_row = loop_header_row(g, c->parent),
		.header_address = header->address,
		.latch_address = latch->address,
		.latches = c->n_latches,
		.depth = c->depth,
		.blocks = c->n_blocks,
		.rows = c->n_rows};
}

struct cause_entry {
	enum bucket bucket;
	enum inst_class inst_class;
	uint64_t cyc;
};

ORDER(compare_causes, struct cause_entry, DOWN(cyc) UP(bucket) UP(inst_class))

static bool cause_rows(
	struct answer *a, const struct loop_stats *s, struct rows *out, struct incore_error *e)
{
	struct cause_entry v[BUCKET_COUNT * CLASS_COUNT] = {0};
	struct loop_cause *x;
	unsigned n = 0;
	char buf[48];

	for (unsigned b = 0; s->cause && b < BUCKET_COUNT; b++)
		for (unsigned c = 0; c < CLASS_COUNT; c++)
			if (s->cause[b][c] > 0)
				v[n++] = (struct cause_entry){b, c, s->cause[b][c]};
	SORT(v, n, compare_causes);
	x = answer_alloc(a, n, sizeof(*x), e);
	if (!x)
		return false;
	for (unsigned i = 0; i < n; i++) {
		const char *name = loop_cause_name(v[i].bucket, v[i].inst_class, buf);

		x[i] = (struct loop_cause){
			arena_strdup(&a->arena, name), bucket_name(v[i].bucket), v[i].cyc};
		if (!x[i].cause)
			return err_nomem(e);
	}
	*out = (struct rows){x, n};
	return true;
}

bool loop_rows(struct answer *a, const struct loops *l, struct rows *out, struct incore_error *e)
{
	struct loop_row *v = ANSWER_ROWS(a, out, l->n, loop_row, e);
	const struct trace *t = l->cfg->trace;
	bool is_sampled = trace_kind(t) == KIND_SAMPLES;

	for (uint32_t i = 0; v && i < l->n; i++) {
		const struct loop_stats *s = &l->v[i];

		v[i] = (struct loop_row){.place = loops_place_of(l, s),
			.state = is_sampled	 ? "sampled"
				 : s->iterations ? "iterated"
				 : s->executions ? "entered-once"
						 : "not-reached",
			.s = *s,
			.trips = {s->trips, s->n_trips},
			.drift = loop_drift(s)};
		if (is_sampled) /* no wave was followed: use the count of its header */
			v[i].s.executions =
				t->code[cfg_block_first(l->cfg, l->cfg->loops[s->loop].header)]
					.stated.hit;
		if (!cause_rows(a, s, &v[i].causes, e))
			return false;
	}
	return v != NULL;
}

/* --- source lines --------------------------------------------------------------------------- */

static const struct column top_line_columns[] = {
	COLUMN(top_line, source, UNIT_NONE, "source file and line"),
	COLUMN(top_line, latency_share, UNIT_SHARE,
		"share of the latency mapped to this line, of all mapped latency", .digits = 6),
	COLUMN(top_line, executed_row_share, UNIT_SHARE,
		"share of the executed rows mapped to this line, of all mapped ones", .digits = 6),
};
static const struct record top_line_record = RECORD_OF(top_line, RECORD_BLOCK, top_line_columns);

static const struct column weight_columns[] = {
	COLUMN(weight_row, weight, UNIT_NONE, "what is counted",
		.words = "rows|hit|latency|stall|hit+stall"),
	COLUMN_AS(weight_row, g.total, "total", UNIT_NONE, "total of this weight over all rows"),
	COLUMN_AS(weight_row, g.mapped, "mapped", UNIT_NONE,
		"total of this weight over rows that have a source line"),
	COLUMN_AS(weight_row, g.lines, "lines", UNIT_COUNT,
		"number of lines with a part of this weight"),
	COLUMN_AS(weight_row, g.top1_share, "top1_share", UNIT_SHARE,
		"share of the heaviest line in the mapped total", .digits = 16),
	COLUMN_AS(weight_row, g.top2_share, "top2_share", UNIT_SHARE,
		"share of the two heaviest lines in the mapped total", .digits = 16),
	COLUMN_AS(weight_row, g.effective_lines, "effective_lines", UNIT_COUNT,
		"effective number of lines: the exponential of the entropy of the weight",
		.digits = 15),
};
static const struct record weight_record = RECORD_OF(weight_row, RECORD_LINE, weight_columns);

#define COLLAPSE_WORDS "no|partly|collapsed|no-source"

static const struct column granularity_columns[] = {
	COLUMN(granularity_part, distinct_lines, UNIT_COUNT,
		"distinct innermost source lines of all instructions"),
	COLUMN(granularity_part, collapsed, UNIT_NONE, "whether most of the code maps to one line",
		.words = COLLAPSE_WORDS),
	RECORD(granularity_part, top_line, &top_line_record, "the source line with most latency",
		NULLABLE),
	LIST(granularity_part, weights, &weight_record,
		"how each weight is distributed over lines"),
};
static const struct record granularity_record =
	RECORD_OF(granularity_part, RECORD_BLOCK, granularity_columns);

static const struct column quality_columns[] = {
	COLUMN(source_quality, collapse, UNIT_NONE, "whether most of the code maps to one line",
		.words = COLLAPSE_WORDS),
	COLUMN(source_quality, distinct_lines, UNIT_COUNT,
		"distinct innermost source lines of all instructions"),
	COLUMN(source_quality, mapped_rows, UNIT_COUNT, "rows that have a source line"),
	COLUMN(source_quality, rows, UNIT_COUNT, "rows of the code"),
	COLUMN(source_quality, top_line_latency_share, UNIT_SHARE,
		"share of the heaviest line in the mapped latency", .digits = 6),
	COLUMN(source_quality, effective_lines_by_latency, UNIT_COUNT,
		"effective number of lines: the exponential of the entropy of the latency",
		.digits = 6),
	RECORD(source_quality, granularity, &granularity_record,
		"how finely code maps to source lines"),
};
const struct record source_quality_record =
	RECORD_OF(source_quality, RECORD_BLOCK, quality_columns);

static bool top_line_make(struct answer *a, const struct source_lines *s, struct top_line *out,
	struct incore_error *e)
{
	struct strbuf name = {0};
	bool ok;

	if (s->collapse_line == UINT32_MAX)
		return true;
	ok = source_line_put(s, &s->lines[s->collapse_line], &name);
	*out = (struct top_line){ok ? arena_strndup(&a->arena, name.p, name.n) : NULL,
		s->collapse_latency_share, s->collapse_row_share};
	sb_free(&name);
	return out->source || err_nomem(e);
}

bool source_quality_make(struct answer *a, const struct source_lines *s, struct source_quality *out,
	struct incore_error *e)
{
	const struct granularity *by_latency = &s->granularity[WEIGHT_LATENCY];
	struct weight_row *v = answer_alloc(a, WEIGHT_COUNT, sizeof(*v), e);

	if (!v)
		return false;
	for (unsigned k = 0; k < WEIGHT_COUNT; k++)
		v[k] = (struct weight_row){source_weight_name(k), s->granularity[k]};
	*out = (struct source_quality){.collapse = collapse_name(s->collapse),
		.distinct_lines = s->distinct_lines,
		.mapped_rows = s->mapped.rows,
		.rows = s->all.rows,
		.top_line_latency_share = by_latency->top1_share,
		.effective_lines_by_latency = by_latency->effective_lines,
		.granularity = {.distinct_lines = s->distinct_lines,
			.collapsed = collapse_name(s->collapse),
			.weights = {v, WEIGHT_COUNT}}};
	return top_line_make(a, s, &out->granularity.top_line, e);
}

/* --- regions -------------------------------------------------------------------------------- */

static const struct column region_columns[] = {
	COLUMN(region_row, first_row, UNIT_ROW, "row of the region with the lowest address"),
	COLUMN(region_row, last_row, UNIT_ROW, "row of the region with the highest address"),
	COLUMN_AS(region_row, r.first_address, "first_address", UNIT_ADDRESS,
		"first address of the region"),
	COLUMN_AS(region_row, r.last_address, "last_address", UNIT_ADDRESS,
		"address of the last row of the region"),
	COLUMN_AS(region_row, r.n_rows, "rows", UNIT_COUNT, "rows in the region"),
	COLUMN_AS(region_row, r.n_executed, "executed_rows", UNIT_COUNT,
		"rows of the region that were executed"),
	PART(region_row, r.totals, &code_totals_record),
	COLUMN(region_row, class, UNIT_NONE,
		"class of instructions with most latency in the region"),
	COLUMN(region_row, is_loop, UNIT_NONE, "the region is in a loop"),
};
const struct record region_record = RECORD_OF(region_row, RECORD_LINE, region_columns);

bool region_rows(struct answer *a, const struct trace *t, const struct region *v, uint32_t n,
	struct rows *out, struct incore_error *e)
{
	struct region_row *x = ANSWER_ROWS(a, out, n, region_row, e);

	for (uint32_t i = 0; x && i < n; i++)
		x[i] = (struct region_row){t->code[v[i].first].number, t->code[v[i].last].number,
			v[i], class_name(v[i].dominant), v[i].loop != NO_LOOP};
	return x != NULL;
}
