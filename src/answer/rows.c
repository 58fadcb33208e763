/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c: rows and parts that several answers share. */
#include "answer/rows.h"

#include <assert.h>

static_assert(BUCKET_ISSUE == 0 && BUCKET_STALL == 1 && BUCKET_WAIT == 2 && BUCKET_IDLE == 3 &&
		      BUCKET_DRAIN == 4 && BUCKET_COUNT == 5,
	"struct bucket_sums stands for an array by enum bucket");

#define BUCKET(M, DOC) COLUMN(bucket_sums, M, UNIT_CYCLES, DOC, .csv = #M "_cycles")
static const struct column bucket_columns[] = {
	BUCKET(issue, "cycles in which the instruction was issuing"),
	BUCKET(stall, "cycles held back before issue"),
	BUCKET(wait, "cycles at a wait, a barrier or a sleep"),
	BUCKET(idle, "cycles in which nothing was due"),
	BUCKET(drain, "cycles at the end of the program"),
};
const struct record bucket_record = RECORD_OF(bucket_sums, RECORD_LINE, bucket_columns);

static const struct column code_totals_columns[] = {
	COLUMN(code_totals, hit, UNIT_COUNT, "number of executions", .csv = "hits"),
	COLUMN(code_totals, latency, UNIT_CYCLES,
		"cycles from issue on, as counted by the producer", .csv = "latency_cycles"),
	COLUMN(code_totals, stall, UNIT_CYCLES,
		"stalled cycles, a part of the latency, as counted by the producer",
		.csv = "stall_cycles"),
	COLUMN(code_totals, idle, UNIT_CYCLES,
		"idle cycles before the instruction, as counted by the producer"),
};
const struct record code_totals_record = RECORD_OF(code_totals, RECORD_LINE, code_totals_columns);

static const struct column distribution_columns[] = {
	COLUMN(distribution, n, UNIT_COUNT, "number of values"),
	COLUMN(distribution, min, UNIT_CYCLES, "smallest value"),
	COLUMN(distribution, median, UNIT_CYCLES, "median value", .title = "lat p50",
		.csv = "latency_p50_cycles"),
	COLUMN(distribution, p95, UNIT_CYCLES, "95th percentile of the values",
		.csv = "latency_p95_cycles"),
	COLUMN(distribution, max, UNIT_CYCLES, "largest value"),
};
const struct record distribution_record =
	RECORD_OF(distribution, RECORD_LINE, distribution_columns);

static const struct column code_ref_columns[] = {
	COLUMN(code_ref, row, UNIT_ROW, "number of the instruction in the listing"),
	COLUMN(code_ref, address, UNIT_ADDRESS, "address of the instruction"),
	COLUMN(code_ref, isa, UNIT_NONE, "text of the instruction",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
	COLUMN(code_ref, source, UNIT_NONE, "source file and line of the instruction",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
};
const struct record code_ref_record = RECORD_OF(code_ref, RECORD_LINE, code_ref_columns);

bool code_ref_make(struct answer *a, const struct trace *t, code_idx code,
	const struct code_ref **out, struct incore_error *e)
{
	const struct code_row *r = code < t->n_code ? &t->code[code] : NULL;
	struct code_ref *x;

	*out = NULL;
	if (!r)
		return true;
	x = ANSWER_NEW(a, code_ref, e);
	if (!x)
		return false;
	*x = (struct code_ref){
		r->number, r->address, r->text, r->source && r->source[0] ? r->source : NULL};
	*out = x;
	return true;
}

static const struct column number_item_columns[] = {
	COLUMN(number_item, v, UNIT_NONE, "one number of the list"),
};
const struct record number_item_record = RECORD_OF(number_item, RECORD_SCALAR, number_item_columns);

static const struct column text_item_columns[] = {
	COLUMN(text_item, v, UNIT_NONE, "one text of the list"),
};
const struct record text_item_record = RECORD_OF(text_item, RECORD_SCALAR, text_item_columns);

static const struct column name_count_columns[] = {
	COLUMN(name_count, name, UNIT_NONE, "name of what is counted"),
	COLUMN(name_count, count, UNIT_COUNT, "number counted for this name"),
};
const struct record name_count_record = RECORD_OF(name_count, RECORD_LINE, name_count_columns);

/* --- who is waited for --- */

static const struct column edge_columns[] = {
	COLUMN(edge_row, producer, UNIT_ROW, "row of the instruction that was waited for",
		.title = "for", .csv = "producer_row"),
	COLUMN(edge_row, wait, UNIT_ROW, "row of the wait", .title = "waiting", .csv = "wait_row"),
	COLUMN(edge_row, count, UNIT_COUNT,
		"waits for which it was the youngest instruction on a counter", .title = "waits"),
	COLUMN(edge_row, blocked, UNIT_COUNT, "waits for it that cost more than the floor"),
	COLUMN(edge_row, inexact, UNIT_COUNT,
		"waits for it whose producer is one of a group or unresolved"),
	COLUMN(edge_row, stall, UNIT_CYCLES, "cycles of waits on this counter alone"),
	COLUMN(edge_row, shared, UNIT_CYCLES,
		"cycles of waits on two counters; each counter counts them"),
	COLUMN(edge_row, cycles, UNIT_CYCLES, "stall + shared"),
	POINTER(edge_row, latency, &distribution_record,
		"cycles from issue to the end of the wait"),
	COLUMN(edge_row, producer_isa, UNIT_NONE, "text of the producer", .title = "producer",
		.csv = "producer_isa", .flags = COLUMN_NO_JSON | COLUMN_WIDE),
	COLUMN(edge_row, wait_isa, UNIT_NONE, "text of the wait", .title = "wait",
		.csv = "wait_isa", .flags = COLUMN_NO_JSON | COLUMN_WIDE),
};
const struct record edge_record = RECORD_OF(edge_row, RECORD_LINE, edge_columns);

struct edge_row edge_row_of(const struct trace *t, const struct producer_edge *x)
{
	return (struct edge_row){.producer = t->code[x->producer].number,
		.wait = t->code[x->wait].number,
		.count = x->count,
		.blocked = x->n_blocked,
		.inexact = x->n_inexact,
		.stall = x->stall_cyc,
		.shared = x->shared_cyc,
		.cycles = x->stall_cyc + x->shared_cyc,
		.latency = x->latency.n ? &x->latency : NULL,
		.producer_isa = t->code[x->producer].text,
		.wait_isa = t->code[x->wait].text};
}

bool edge_rows(struct answer *a, const struct producers *p, uint64_t top, struct rows *out,
	struct incore_error *e)
{
	size_t n = p->edges.n < top ? p->edges.n : (size_t)top;
	struct edge_row *v = ANSWER_ROWS(a, out, n, edge_row, e);

	for (size_t i = 0; v && i < n; i++)
		v[i] = edge_row_of(p->trace, &p->edges.v[i]);
	return v != NULL;
}

static const struct column producer_columns[] = {
	COLUMN(producer_row, key, UNIT_NONE, "what was waited for", .title = "waited for",
		.csv = "producer"),
	COLUMN(producer_row, wait, UNIT_CYCLES, "cycles of the waits", .csv = "wait_cycles"),
	COLUMN(producer_row, waits, UNIT_COUNT, "executed waits"),
	COLUMN(producer_row, blocked, UNIT_COUNT, "waits that cost more than the floor",
		.csv = "blocked_waits"),
	COLUMN(producer_row, per_wait, UNIT_CYCLES, "cycles per wait", .digits = 6),
	COLUMN(producer_row, share_of_wait, UNIT_PERCENT, "share of the cycles of all waits",
		.title = "% of wait", .csv = "share_of_wait_pct", NO_JSON, .digits = 1),
	COLUMN(producer_row, share_of_all, UNIT_PERCENT,
		"share of the cycles of all selected waves", .title = "% of all",
		.csv = "share_of_all_pct", .flags = COLUMN_NO_JSON | COLUMN_HEAT, .digits = 1),
};
const struct record producer_record = RECORD_OF(producer_row, RECORD_LINE, producer_columns);

static const struct column waits_columns[] = {
	COLUMN(waits_sums, executed, UNIT_COUNT, "executed waits on counters"),
	COLUMN(waits_sums, free, UNIT_COUNT, "waits that cost no more than the floor"),
	COLUMN(waits_sums, blocked, UNIT_COUNT, "waits that cost more than the floor"),
	COLUMN(waits_sums, exact, UNIT_COUNT, "waits whose producer is one known instruction"),
	COLUMN(waits_sums, group, UNIT_COUNT,
		"waits whose producer is one of a group of instructions"),
	COLUMN(waits_sums, unresolved, UNIT_COUNT, "waits whose producer is unknown"),
	COLUMN(waits_sums, drained, UNIT_COUNT, "waits with nothing left to wait for"),
};
static const struct record waits_record = RECORD_OF(waits_sums, RECORD_LINE, waits_columns);

static const struct column producer_sums_columns[] = {
	COLUMN(producer_sums, attribution, UNIT_NONE,
		"rule that assigns the cycles of a wait to producers",
		.words = "blocking|class-set"),
	LIST(producer_sums, groups, &producer_record,
		"waits by what was waited for, largest first"),
	COLUMN(producer_sums, wait, UNIT_CYCLES, "cycles of waits with a producer"),
	COLUMN(producer_sums, barrier, UNIT_CYCLES, "cycles at barriers"),
	COLUMN(producer_sums, sleep, UNIT_CYCLES, "cycles in s_sleep"),
	RECORD(producer_sums, waits, &waits_record,
		"number of waits and how well they were resolved"),
};
const struct record producer_sums_record =
	RECORD_OF(producer_sums, RECORD_BLOCK, producer_sums_columns);

bool producer_sums_make(struct answer *a, const struct producers *p, enum attribution attribution,
	uint64_t top, uint64_t all_cyc, struct producer_sums *out, struct incore_error *e)
{
	const struct producer_groups *g = producers_get(p, attribution);
	size_t n = g->groups.n < top ? g->groups.n : (size_t)top;
	struct producer_row *v = answer_alloc(a, n, sizeof(*v), e);
	uint64_t waited = g->wait_cyc + g->barrier_cyc + g->sleep_cyc;
	char name[WAIT_KEY_LEN];

	if (!v)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct producer_group *x = &g->groups.v[i];

		v[i] = (struct producer_row){
			.key = arena_strdup(&a->arena, wait_key_name(x->key, name)),
			.wait = x->wait_cyc,
			.waits = x->n_waits,
			.blocked = x->n_blocked,
			.per_wait = ratio(x->wait_cyc, x->n_waits),
			.share_of_wait = percent(x->wait_cyc, waited),
			.share_of_all = percent(x->wait_cyc, all_cyc)};
		if (!v[i].key)
			return err_nomem(e);
	}
	*out = (struct producer_sums){attribution_name(attribution), {v, n}, g->wait_cyc,
		g->barrier_cyc, g->sleep_cyc,
		{p->n_waits, p->n_free, p->n_blocked, p->n_exact, p->n_group, p->n_unresolved,
			p->n_drained}};
	return true;
}
