/* SPDX-License-Identifier: Apache-2.0 */
/* isa.c: what did each row of the code cost, and what did it wait for? */
#include "answer/isa.h"

#include "answer/pages.h"

/* --- rows of the listing ---------------------------------------------------------------------- */

/* --- columns -------------------------------------------------------------------------------- */

static const struct column source_columns[] = {
	COLUMN(source_file, path, UNIT_NONE, "path of a source file, as in the debug information"),
};
static const struct record source_record = RECORD_OF(source_file, RECORD_SCALAR, source_columns);

static const struct column label_columns[] = {
	COLUMN(label_row, row, UNIT_ROW, "number of the label in the listing"),
	COLUMN(label_row, address, UNIT_ADDRESS, "address of the label"),
	COLUMN(label_row, text, UNIT_NONE, "text of the label"),
	COLUMN(label_row, index, UNIT_NONE, "index in the code table"),
};
static const struct record label_record = RECORD_OF(label_row, RECORD_LINE, label_columns);

static const struct column frame_columns[] = {
	COLUMN(frame, source, UNIT_NONE, "index of the file in sources"),
	COLUMN(frame, line, UNIT_NONE, "line number, from 1"),
};
static const struct record frame_record = RECORD_OF(frame, RECORD_TUPLE, frame_columns);

static const struct column spread_columns[] = {
	COLUMN(wave_spread, n, UNIT_WAVES, "number of waves that ran the row"),
	COLUMN(wave_spread, min, UNIT_CYCLES, "cycles of the fastest wave", .digits = 2),
	COLUMN(wave_spread, mean, UNIT_CYCLES, "mean cycles over the waves", .digits = 2),
	COLUMN(wave_spread, max, UNIT_CYCLES, "cycles of the slowest wave", .digits = 2),
	COLUMN(wave_spread, deviation, UNIT_CYCLES, "standard deviation over the waves",
		.digits = 2),
	COLUMN(wave_spread, slowest, UNIT_NONE, "name of the slowest wave"),
};
static const struct record spread_record = RECORD_OF(wave_spread, RECORD_LINE, spread_columns);

static const struct column live_columns[] = {
	COLUMN(live_row, arch, UNIT_COUNT, "vector registers"),
	COLUMN(live_row, accum, UNIT_COUNT, "accumulation registers"),
};
static const struct record live_record = RECORD_OF(live_row, RECORD_LINE, live_columns);

static const struct column level_columns[] = {
	COLUMN(level_row, n, UNIT_COUNT, "memory operations that returned while the counter ran",
		.title = "came back"),
	COLUMN(level_row, mean, UNIT_CYCLES, "mean cycles from issue to return", .digits = 1),
	COLUMN(level_row, deviation, UNIT_CYCLES,
		"standard deviation of the latency; absent for a single operation", OPTIONAL,
		.digits = 1),
	COLUMN(level_row, error, UNIT_CYCLES,
		"standard error of the mean latency; absent for a single operation", .title = "+-",
		OPTIONAL, .digits = 1),
};
static const struct record level_record = RECORD_OF(level_row, RECORD_LINE, level_columns);

static const struct column row_columns[] = {
	PART(isa_row, h, &hot_plain_record),
	COLUMN(isa_row, loop_depth, UNIT_COUNT, "number of loops around the row", .title = "loops",
		.csv = "loop_depth"),
	COLUMN(isa_row, index, UNIT_NONE, "index in the code table"),
	COLUMN(isa_row, code_object, UNIT_INDEX, "index of the code object in the capture",
		OPTIONAL),
	LIST(isa_row, frames, &frame_record, "inline chain as [file, line], innermost first"),
	RECORD(isa_row, execution, &distribution_record, "cycles of one execution", NULLABLE),
	RECORD(isa_row, execution_stall, &distribution_record,
		"stall cycles of one execution; absent if it never stalled", OPTIONAL),
	RECORD(isa_row, waves, &spread_record,
		"mean cycles of one execution by wave; absent if equal or fewer than two waves",
		OPTIONAL),
	POINTER(isa_row, levels, &level_record,
		"approximate memory latency, from counters of instructions in flight", OPTIONAL),
	COLUMN(isa_row, load_to_wait, UNIT_CYCLES,
		"median cycles from issue to the end of the wait, with levels but without counters",
		.title = "to its wait", OPTIONAL, .digits = 0),
	POINTER(isa_row, stated, &code_totals_record,
		"totals stated by the producer, if they differ from the sum of its records"),
	POINTER(isa_row, live, &live_record,
		"live registers before the row; null: the text does not show it"),
	COLUMN_AS(isa_row, h.cause, "cause", UNIT_NONE,
		"what most lost cycles of the row waited for", NULLABLE),
	COLUMN_AS(isa_row, h.cause_cycles, "cause_cycles", UNIT_CYCLES,
		"lost cycles of the row that waited for that cause"),
	COLUMN(isa_row, block, UNIT_NONE, "index of the row's basic block in blocks", NULLABLE),
	COLUMN(isa_row, per_hit, UNIT_CYCLES,
		"cycles per execution over all buckets; absent if it never ran", OPTIONAL,
		.digits = 6),
	COLUMN_AS(isa_row, samples, "all_samples", UNIT_SAMPLES, "samples that found this row",
		.title = "samples", NO_JSON),
	COLUMN(isa_row, stalled, UNIT_SAMPLES, "samples that found this row stalled",
		.csv = "stalled_samples", NO_JSON),
	COLUMN(isa_row, weight_pct, UNIT_PERCENT, "share of the latency or the samples of all rows",
		.title = "%", NO_JSON, .digits = 1),
	COLUMN(isa_row, target, UNIT_ROW, "row that the instruction branches to", .title = "to",
		.csv = "branch_target_row", .flags = COLUMN_NO_JSON | COLUMN_NULLABLE),
	COLUMN(isa_row, waits_for, UNIT_ROW, "row that the instruction waits for most",
		.title = "for", .csv = "waits_for_row", .flags = COLUMN_NO_JSON | COLUMN_NULLABLE),
};
const struct record isa_row_record = RECORD_OF(isa_row, RECORD_LINE, row_columns);

static const struct column edge_columns[] = {
	PART(isa_edge, e, &edge_record),
	COLUMN(isa_edge, dominating, UNIT_NONE, "this producer has most cycles of the wait"),
};
static const struct record isa_edge_record = RECORD_OF(isa_edge, RECORD_LINE, edge_columns);

#define PAIR(M, NAME, DOC) COLUMN_AS(wait_line, p.M, NAME, UNIT_COUNT, DOC)
#define PAIR_VALUES(M, NAME, DOC)                                                                  \
	COLUMN_HELD(wait_line, p.M, NAME, COLUMN_RECORD, &distribution_record, DOC, NULLABLE)
static const struct column wait_columns[] = {
	COLUMN(wait_line, wait, UNIT_ROW, "row of the wait"),
	COLUMN(wait_line, producer, UNIT_ROW, "row of the producer that the wait consumed"),
	PAIR(n, "consumed", "executions of the producer that the wait consumed"),
	PAIR(n_last, "last", "consumed executions that returned last, in order"),
	PAIR(n_group, "group",
		"consumed executions that returned in any order: each may have been the last"),
	PAIR(n_candidates, "candidates",
		"possible producers of waits that cannot be resolved; not in consumed"),
	COLUMN(wait_line, loop, UNIT_ROW,
		"header row of the innermost loop that holds wait and producer", NULLABLE),
	PAIR_VALUES(together, "together",
		"executions consumed by the wait if this producer was the youngest"),
	PAIR_VALUES(in_flight, "in_flight",
		"operations outstanding on the counter when the wait began"),
	PAIR_VALUES(slack_cyc, "slack_at_most",
		"cycles it returned before the last one, at most; if it may not be the last"),
	PAIR_VALUES(
		iterations, "iterations", "passes of the loop that began between issue and wait"),
};
static const struct record wait_record = RECORD_OF(wait_line, RECORD_LINE, wait_columns);

static const struct column branch_columns[] = {
	COLUMN(branch_row, row, UNIT_ROW, "row of the branch"),
	COLUMN(branch_row, target, UNIT_ROW, "row that the branch goes to"),
	COLUMN(branch_row, taken, UNIT_COUNT, "executions that took the branch"),
	COLUMN(branch_row, not_taken, UNIT_COUNT, "executions that did not take the branch"),
};
static const struct record branch_record = RECORD_OF(branch_row, RECORD_LINE, branch_columns);

static const struct column sums_columns[] = {
	COLUMN(block_sums, hit, UNIT_COUNT, "executions of the rows"),
	COLUMN(block_sums, latency, UNIT_CYCLES, "recorded latency of the rows"),
	COLUMN(block_sums, samples, UNIT_SAMPLES, "samples that found the rows"),
	RECORD(block_sums, buckets, &bucket_record,
		"cycles by bucket; the buckets add up to the total"),
	COLUMN(block_sums, cycles, UNIT_CYCLES, "cycles of all buckets together"),
	COLUMN(block_sums, cycles_per_wave, UNIT_CYCLES, "cycles in the mean wave", OPTIONAL,
		.digits = 6),
};
static const struct record sums_record = RECORD_OF(block_sums, RECORD_LINE, sums_columns);

static const struct column block_columns[] = {
	COLUMN(block_row, first_row, UNIT_ROW, "first row of the basic block"),
	COLUMN(block_row, last_row, UNIT_ROW, "last row of the basic block"),
	COLUMN(block_row, rows, UNIT_COUNT, "rows in the basic block"),
	COLUMN(block_row, loop, UNIT_ROW, "header row of the innermost loop around the block",
		NULLABLE),
	COLUMN(block_row, executions, UNIT_COUNT, "executions of the first row of the block"),
	PART(block_row, sums, &sums_record),
	COLUMN(block_row, per_execution, UNIT_CYCLES, "cycles per execution of the block",
		.digits = 6),
};
static const struct record block_record = RECORD_OF(block_row, RECORD_LINE, block_columns);

static const struct column body_columns[] = {
	COLUMN(body_row, header_row, UNIT_ROW, "header row of the loop"),
	PART(body_row, sums, &sums_record),
	COLUMN(body_row, per_execution, UNIT_CYCLES, "cycles per execution of the loop header",
		.digits = 6),
};
static const struct record body_record = RECORD_OF(body_row, RECORD_LINE, body_columns);

#define LATENCY(M, NAME, DOC) COLUMN_AS(latency_line, l.M, NAME, UNIT_COUNT, DOC)
#define LATENCY_VALUES(M, NAME, DOC)                                                               \
	COLUMN_HELD(latency_line, l.M, NAME, COLUMN_RECORD, &distribution_record, DOC, NULLABLE)
static const struct column latency_columns[] = {
	COLUMN(latency_line, opcode, UNIT_NONE, "mnemonic of the load"),
	COLUMN_AS(latency_line, l.is_to_lds, "to_lds", UNIT_NONE, "the load writes to the LDS"),
	COLUMN(latency_line, counter, UNIT_NONE, "counter that waits for this load use"),
	LATENCY(n_exact, "exact",
		"loads that were the youngest of a counter in order and whose wait blocked"),
	LATENCY(n_bound, "upper_bound",
		"loads that were the youngest, but the wait did not block or had two counters"),
	LATENCY(n_group, "group",
		"loads that were the youngest of a group that returns in any order"),
	LATENCY(n_unresolved, "unresolved", "loads that were the youngest of several candidates"),
	LATENCY(n_older, "older", "loads consumed together with a younger one; not in cycles"),
	LATENCY_VALUES(all, "cycles", "cycles from issue to the end of the wait"),
	LATENCY_VALUES(exact, "exact_cycles",
		"cycles from issue to the end of the wait, of the exact loads"),
	LATENCY_VALUES(group_high, "group_high_cycles",
		"cycles from issue of the oldest load of a group to the end of the wait"),
	LATENCY_VALUES(distance, "distance_instructions", "instructions from issue to the wait"),
	LATENCY_VALUES(distance_cyc, "distance_cycles", "cycles from issue to the wait"),
	LATENCY_VALUES(in_flight, "in_flight",
		"operations outstanding on the counter when the wait began"),
};
static const struct record latency_record = RECORD_OF(latency_line, RECORD_BLOCK, latency_columns);

static const struct column isa_columns[] = {
	EVIDENCE_COLUMN(isa_answer, "what the figures rest on"),
	COLUMN(isa_answer, per, UNIT_NONE, "the mean wave, if cycles are per wave", OPTIONAL),
	COLUMN(isa_answer, levels_from, UNIT_NONE, "what the levels of the rows are based on",
		OPTIONAL),
	RECORD(isa_answer, totals, &hot_totals_record, "sums of the recorded fields"),
	POINTER(isa_answer, accounting, &hot_accounting_record,
		"every cycle of the selection in one bucket; null: there is no timeline"),
	COLUMN(isa_answer, hottest_row, UNIT_ROW, "row with most latency or most samples",
		NULLABLE),
	LIST(isa_answer, sources, &source_record, "source files, indexed by frames",
		.flags = COLUMN_BLOCK),
	LIST(isa_answer, labels, &label_record, "labels among the rows"),
	LIST(isa_answer, rows, &isa_row_record, "the instructions, in the order of the listing"),
	LIST(isa_answer, edges, &isa_edge_record, "which instruction each wait waited for"),
	LIST(isa_answer, waits, &wait_record,
		"each wait and its producers, sorted by wait, then by producer"),
	LIST(isa_answer, branches, &branch_record, "targets of branches, with executions"),
	LIST(isa_answer, loops, &loop_record, "loops of the code"),
	LIST(isa_answer, blocks, &block_record, "basic blocks of the code"),
	LIST(isa_answer, bodies, &body_record,
		"cost of the whole body of each loop, inner loops included, in the order of loops"),
	LIST(isa_answer, latency, &latency_record, "latency of loads by opcode"),
};
const struct record isa_record = RECORD_OF(isa_answer, RECORD_BLOCK, isa_columns);

/* --- rows ----------------------------------------------------------------------------------- */

struct isa_fill {
	struct answer *a;
	struct isa_answer *x;
	const struct listing *l;
	const struct trace *t;
	const uint8_t *shown;
};

/* What the producer states about a row, if it differs from the sum of its records. */
static const struct code_totals *stated_of(const struct listing *l, code_idx i)
{
	const struct code_totals *t = &l->trace->code[i].stated;

	/* All zero: the producer states nothing about this row. */
	if (!l->trace->has_stated_totals || l->hot->is_stated ||
		!code_totals_differ(t, &(struct code_totals){0}) ||
		!code_totals_differ(t, &l->hot->rows[i].totals))
		return NULL;
	return t;
}

static struct wave_spread spread_of(const struct row_waves *r, code_idx i)
{
	const struct row_spread *s = &r->rows[i];

	if (s->min == s->max)
		return (struct wave_spread){0};
	return (struct wave_spread){s->n, (double)s->min / ROW_WAVES_UNIT, row_spread_mean(s),
		(double)s->max / ROW_WAVES_UNIT, row_spread_deviation(s),
		r->trace->tracks[s->slowest].name};
}

static void put_executions(const struct listing *l, code_idx i, struct isa_row *x)
{
	struct distribution stall;

	if (!l->executions)
		return;
	stall = executions_stall(l->executions, i);
	x->execution = executions_cycles(l->executions, i);
	if (stall.max > 0) /* most rows never stall */
		x->execution_stall = stall;
	x->waves = spread_of(l->row_waves, i);
	if (vendor_row(l->trace)->has_registers)
		x->live = &l->live->rows[i];
}

/* Latency from issue to the wait that consumed most instances of the row. */
static double load_to_wait(const struct producers *p, code_idx i)
{
	const struct producer_edge *best = NULL;

	for (size_t k = 0; k < p->edges.n; k++)
		if (p->edges.v[k].producer == i && (!best || p->edges.v[k].count > best->count))
			best = &p->edges.v[k];
	return best && best->latency.n ? (double)best->latency.median : NAN;
}

/* Sets what the row lost most cycles to. */
static bool put_loss(const struct isa_fill *f, const struct hot_group *g, struct hot_row *x,
	struct incore_error *e)
{
	const struct listing_row *row = &f->l->rows[g->code];
	struct hot_loss loss = hot_loss(
		f->l->hot, g, row->n_edges ? &f->l->producers->edges.v[row->edge[0]] : NULL);

	x->cause_cycles = loss.cyc;
	if (loss.name[0]) {
		x->cause = arena_strdup(&f->a->arena, loss.name);
		if (!x->cause)
			return err_nomem(e);
	}
	return true;
}

static bool isa_put_row(
	const struct isa_fill *f, code_idx i, struct isa_row *x, struct incore_error *e)
{
	const struct listing *l = f->l;
	const struct code_row *r = &f->t->code[i];
	const struct listing_row *row = &l->rows[i];
	const struct hot_group g = {.key = r->text, .code = i, .sums = l->hot->rows[i]};
	code_idx to = l->cfg.target[i];

	*x = (struct isa_row){.loop_depth = row->depth,
		.index = i,
		/* without code objects the field is the kind of the core */
		.code_object = vendor_row(f->t)->has_code_objects ? r->code_object : NO_VALUE,
		.load_to_wait = NAN,
		.frames = {r->n_frames ? &f->t->frames[r->first_frame] : NULL, r->n_frames},
		.stated = stated_of(l, i),
		.block = l->cfg.block_of[i],
		.per_hit = l->hot->is_stated ? NAN : ratio(hot_cycles(&g.sums), g.sums.totals.hit),
		.target = to < f->t->n_code ? f->t->code[to].number : NO_VALUE,
		.waits_for = NO_VALUE,
		.samples = g.sums.samples,
		.stalled = g.sums.stalled_samples,
		.weight_pct = percent(listing_weight(l, &g.sums), listing_weight(l, &l->hot->all))};
	if (row->n_edges)
		x->waits_for = f->t->code[l->producers->edges.v[row->edge[0]].producer].number;
	put_executions(l, i, x);
	if (f->x->levels && f->x->levels[i].n) {
		x->levels = &f->x->levels[i];
		x->load_to_wait = load_to_wait(l->producers, i);
	}
	return hot_row_make(f->a, l->hot, &g, &x->h, e) && put_loss(f, &g, &x->h, e);
}

static bool isa_put_rows(const struct isa_fill *f, struct incore_error *e)
{
	struct isa_row *rows;
	struct label_row *labels;
	size_t n = 0, n_rows = 0, n_labels = 0;

	for (code_idx i = 0; i < f->t->n_code; i++)
		n += f->shown[i] != 0;
	rows = answer_alloc(f->a, n, sizeof(*rows), e);
	labels = answer_alloc(f->a, n, sizeof(*labels), e);
	if (!rows || !labels)
		return false;
	for (code_idx i = 0; i < f->t->n_code; i++) {
		const struct code_row *r = &f->t->code[i];

		if (!f->shown[i])
			continue;
		if (r->is_label)
			labels[n_labels++] = (struct label_row){r->number, r->address, r->text, i};
		else if (!isa_put_row(f, i, &rows[n_rows++], e))
			return false;
	}
	f->x->rows = (struct rows){rows, n_rows};
	f->x->labels = (struct rows){labels, n_labels};
	return true;
}

static bool put_edges(const struct isa_fill *f, struct incore_error *e)
{
	const struct producers *p = f->l->producers;
	struct isa_edge *v = ANSWER_ROWS(f->a, &f->x->edges, p->edges.n, isa_edge, e);
	size_t n = 0;

	for (size_t i = 0; v && i < p->edges.n; i++) {
		const struct producer_edge *x = &p->edges.v[i];
		const struct listing_row *row = &f->l->rows[x->wait];

		if (!f->shown[x->wait] && !f->shown[x->producer])
			continue;
		v[n] = (struct isa_edge){.e = edge_row_of(f->t, x)};
		for (unsigned k = 0; k < row->n_edges; k++)
			v[n].dominating |= row->edge[k] == i;
		n++;
	}
	f->x->edges.n = n;
	return v != NULL;
}

static bool isa_put_waits(const struct isa_fill *f, struct incore_error *e)
{
	const struct wait_pairs *p = f->l->latency->pairs;
	struct wait_line *v = ANSWER_ROWS(f->a, &f->x->waits, p->v.n, wait_line, e);
	size_t n = 0;

	for (size_t i = 0; v && i < p->v.n; i++) {
		const struct wait_pair *x = &p->v.v[i];

		if (f->shown[x->wait] || f->shown[x->producer])
			v[n++] = (struct wait_line){f->t->code[x->wait].number,
				f->t->code[x->producer].number, loop_header_row(p->cfg, x->loop),
				*x};
	}
	f->x->waits.n = n;
	return v != NULL;
}

static bool put_branches(const struct isa_fill *f, struct incore_error *e)
{
	struct branch_row *v = ANSWER_ROWS(f->a, &f->x->branches, f->t->n_code, branch_row, e);
	size_t n = 0;

	for (code_idx i = 0; v && i < f->t->n_code; i++) {
		code_idx to = f->l->cfg.target[i];

		if (f->shown[i] && to < f->t->n_code)
			v[n++] = (struct branch_row){f->t->code[i].number, f->t->code[to].number,
				f->l->rows[i].taken, f->l->rows[i].not_taken};
	}
	f->x->branches.n = n;
	return v != NULL;
}

static struct block_sums block_sums_of(const struct hot *h, const struct hot_sums *s)
{
	return (struct block_sums){s->totals.hit, s->totals.latency, s->samples,
		bucket_sums(s->bucket), hot_cycles(s), hot_per_wave(h, hot_cycles(s))};
}

static struct block_row block_row_of(const struct listing *l, uint32_t block)
{
	const struct cfg *g = &l->cfg;
	const struct cfg_block *b = &g->blocks[block];
	code_idx first = cfg_block_first(g, block);
	code_idx traced = cfg_block_traced(g, block);
	uint64_t executions = traced == NO_CODE ? 0 : l->hot->rows[traced].totals.hit;
	struct hot_sums sums = {0};

	for (uint32_t i = 0; i < b->n; i++)
		hot_add(&sums, &l->hot->rows[g->rows[b->first + i]]);
	return (struct block_row){.first_row = l->trace->code[first].number,
		.last_row = l->trace->code[cfg_block_last(g, block)].number,
		.loop = loop_header_row(g, b->loop),
		.rows = b->n,
		.executions = executions,
		.sums = block_sums_of(l->hot, &sums),
		.per_execution = ratio(hot_cycles(&sums), executions)};
}

static bool isa_put_blocks(const struct isa_fill *f, struct incore_error *e)
{
	const struct listing *l = f->l;
	const struct cfg *g = &l->cfg;
	struct block_row *blocks = ANSWER_ROWS(f->a, &f->x->blocks, g->n_blocks, block_row, e);
	struct body_row *bodies = ANSWER_ROWS(f->a, &f->x->bodies, g->n_loops, body_row, e);

	if (!blocks || !bodies)
		return false;
	for (uint32_t k = 0; k < g->n_blocks; k++)
		blocks[k] = block_row_of(l, k);
	for (uint32_t k = 0; k < g->n_loops; k++)
		bodies[k] = (struct body_row){loop_header_row(g, k),
			block_sums_of(l->hot, &l->bodies[k]),
			ratio(hot_cycles(&l->bodies[k]), l->loops->v[k].executions)};
	return true;
}

static bool put_latency(const struct isa_fill *f, struct incore_error *e)
{
	const struct latency *l = f->l->latency;
	struct latency_line *v = ANSWER_ROWS(f->a, &f->x->latency, l->rows.n, latency_line, e);

	for (size_t i = 0; v && i < l->rows.n; i++) {
		const struct latency_row *r = &l->rows.v[i];

		v[i] = (struct latency_line){
			r->opcode < l->trace->n_opcodes ? l->trace->opcodes[r->opcode] : "",
			amd_counter_name((enum amd_counter)r->counter), *r};
	}
	return v != NULL;
}

/* Fills all lists with the rows that are shown. */
static bool isa_rows_make(struct answer *a, struct isa_answer *x, struct incore_error *e)
{
	const struct listing *l = x->listing;
	struct isa_fill f = {a, x, l, l->trace, x->shown};

	x->hottest_row = l->hottest == NO_CODE ? NO_VALUE : f.t->code[l->hottest].number;
	x->sources = (struct rows){f.t->sources, f.t->n_sources};
	return hot_totals_make(a, l->hot, &x->totals, &x->accounting, e) && isa_put_rows(&f, e) &&
	       put_edges(&f, e) && isa_put_waits(&f, e) && put_branches(&f, e) &&
	       loop_rows(a, l->loops, &x->loops, e) && isa_put_blocks(&f, e) && put_latency(&f, e);
}

/* --- the question ----------------------------------------------------------------------------- */

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
	if (trace_kind(l->trace) == KIND_SAMPLES)
		answer_warn(a, "sampled data: counts of samples; arrows are what the code says");
	else if (l->trace->n_tracks == 0 && l->trace->samples)
		answer_warn(a, "sampled data: counts of samples, not cycles; no wait arrows");
	else if (l->trace->n_tracks == 0)
		answer_warn(a, "%s%s", vendor_row(l->trace)->no_cycles,
			vendor_row(l->trace)->no_arrows);
	else if (!walk_listing(r, a, l, s, e))
		return false;
	return listing_finish(l, e);
}

static bool isa_put_levels(
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
		(p->levels && !isa_put_levels(a, t, x, e)))
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
