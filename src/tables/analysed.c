/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysed.c: tables computed by analyses of a trace: causes by row of the code, producers that
 * were waited for, problems of the capture. One pass over the tracks, on the scan's pool.
 */
#include "analysis/check/check.h"
#include "analysis/code/samples.h"
#include "analysis/pipes/pipes.h"
#include "analysis/waves/causes.h"
#include "analysis/waves/producers.h"
#include "base/search.h"
#include "import/import.h"
#include "tables/source.h"
#include "trace/kind.h"

struct table_analyses {
	struct causes *causes;
	struct producers *producers;
	struct check *check;
	uint32_t n_failed;
	bool is_made;
};

struct table_analyses *table_analyses_new(void)
{
	return mem_zalloc(1, sizeof(struct table_analyses));
}

void table_analyses_free(struct table_analyses *a)
{
	if (!a)
		return;
	causes_free(a->causes);
	producers_free(a->producers);
	check_free(a->check);
	mem_free(a);
}

/* Checks only this capture, not the captures beside it. */
static const struct check_context check_context = {.has_disk = true};

static bool walk_once(struct table_cursor *c, struct table_analyses *a, struct incore_error *e)
{
	struct walk_options o = {.pool = c->scan.pool, .progress = c->scan.progress};
	struct collector made[3];
	const struct collector *list[3] = {&made[0], &made[1], &made[2]};
	struct walk_result r = {0};
	bool ok;

	a->causes = causes_new(c->trace, NULL, CAUSES_ROWS, e);
	a->producers = a->causes ? producers_new(c->trace, PRODUCERS_EDGES, e) : NULL;
	a->check = a->producers ? check_new(c->trace, &check_context, e) : NULL;
	if (!a->check)
		return false;
	made[0] = check_collector(a->check); /* first: the others use its resolved waits */
	made[1] = causes_collector(a->causes);
	made[2] = producers_collector(a->producers);
	ok = walk_tracks(c->trace, &o, list, 3, &r, e) && causes_finish(a->causes, e) &&
	     producers_finish(a->producers, e) && check_finish(a->check, &r, e);
	a->n_failed = r.n_failed;
	walk_result_deinit(&r);
	return ok;
}

/* The analyses that the scan shares; NULL if the table must be computed alone, or with *ok false on
 * failure. */
static struct table_analyses *shared(struct table_cursor *c, bool *ok, struct incore_error *e)
{
	struct table_analyses *a = c->scan.analyses;

	*ok = true;
	if (!a || !c->trace->n_tracks || trace_kind(c->trace) == KIND_PIPES)
		return NULL;
	if (!a->is_made) {
		*ok = walk_once(c, a, e);
		a->is_made = *ok;
	}
	c->n_failed += *ok ? a->n_failed : 0;
	return *ok ? a : NULL;
}

/* Walks the tracks with a single collector. */
static bool walk_for(struct table_cursor *c, struct collector made, struct incore_error *e)
{
	struct walk_options o = {.pool = c->scan.pool, .progress = c->scan.progress};
	const struct collector *list[] = {&made};
	struct walk_result r = {0};
	bool ok = walk_tracks(c->trace, &o, list, 1, &r, e);

	c->n_failed += r.n_failed;
	walk_result_deinit(&r);
	return ok;
}

static bool fill_of_pipes(
	struct table_cursor *c, struct causes *k, struct producers *to, struct incore_error *e)
{
	struct pipes *p = pipes_new(c->trace, e);
	bool ok = p && walk_for(c, pipes_collector(p), e) && pipes_finish(p, e) &&
		  (!k || pipes_fill_causes(p, k, e)) && (!to || pipes_fill_producers(p, to, e));

	pipes_free(p);
	return ok;
}

/* Fills causes or producers; the other is NULL. */
static bool analysed_fill(
	struct table_cursor *c, struct causes *k, struct producers *to, struct incore_error *e)
{
	enum trace_kind kind = trace_kind(c->trace);

	if (kind == KIND_SAMPLES)
		return k ? samples_fill_causes(k, e) : samples_fill_producers(to, e);
	if (!c->trace->n_tracks)
		return true;
	if (kind == KIND_PIPES)
		return fill_of_pipes(c, k, to, e);
	return k ? walk_for(c, causes_collector(k), e) && causes_finish(k, e)
		 : walk_for(c, producers_collector(to), e) && producers_finish(to, e);
}

/* --- causes --- */

struct cause_line {
	uint32_t capture;
	int64_t row;
	const char *cause, *bucket, *family;
	uint64_t cycles, hits;
};

static const struct column cause_columns[] = {
	COLUMN(cause_line, capture, UNIT_INDEX, "number of the capture, as in the other tables"),
	COLUMN(cause_line, row, UNIT_ROW, "row of the instruction in the listing; null: unknown",
		NULLABLE),
	COLUMN(cause_line, cause, UNIT_NONE, "cause of the cycles"),
	COLUMN(cause_line, bucket, UNIT_NONE, "bucket that the cycles are in"),
	COLUMN(cause_line, family, UNIT_NONE, "family of causes that it belongs to"),
	COLUMN(cause_line, cycles, UNIT_CYCLES, "cycles of this cause"),
	COLUMN(cause_line, hits, UNIT_COUNT, "number of occurrences"),
};
static const struct record cause_record = RECORD_OF(cause_line, RECORD_LINE, cause_columns);

ORDER(by_row, struct cause_line, UP(row) DOWN(cycles) A_TO_Z(cause))

static struct cause_line cause_line(
	const struct table_cursor *c, const struct cause *x, code_idx code)
{
	return (struct cause_line){.capture = c->scan.capture,
		.row = table_row_of(c->trace, code),
		.cause = x->name,
		.bucket = bucket_name(x->bucket),
		.family = family_name(x->family),
		.cycles = x->cyc,
		.hits = x->hits};
}

static bool analysed_table_make_causes(struct table_cursor *c, struct incore_error *e)
{
	bool has_cells, ok;
	struct table_analyses *a = shared(c, &ok, e);
	struct causes *k;
	struct cause_line *v;

	if (!ok)
		return false;
	k = a ? a->causes : causes_new(c->trace, NULL, CAUSES_ROWS, e);
	c->state = a ? NULL : k;
	if (!k || (!a && !analysed_fill(c, k, NULL, e)))
		return false;
	has_cells = k->n_cells > 0; /* causes of pipes are known by lane, not by row */
	v = TABLE_ROWS(c, has_cells ? k->n_cells : k->n, cause_line, e);
	for (size_t i = 0; v && i < c->rows.n; i++) {
		const struct cause_cell *x = has_cells ? &k->cells[i] : NULL;

		v[i] = cause_line(c, &k->v[x ? x->cause : i], x ? x->code : NO_CODE);
		if (x) {
			v[i].cycles = x->cyc;
			v[i].hits = x->hits;
		}
	}
	if (v)
		SORT(v, c->rows.n, by_row);
	return v != NULL;
}

static void close_causes(struct table_cursor *c)
{
	if (c->state)
		causes_free(c->state);
}

const struct table causes_table = {
	.name = "causes",
	.doc = "why every cycle was spent, by instruction: hot --by cause",
	.record = &cause_record,
	.source = &(const struct table_source){.make = analysed_table_make_causes,
		.close = close_causes},
};

/* --- producers --- */

struct producer_line {
	uint32_t capture;
	int64_t row, producer_row;
	uint64_t waits, blocked, cycles, shared_cycles;
	uint64_t latency_min, latency_median, latency_p95, latency_max;
};

static const struct column producer_columns[] = {
	COLUMN(producer_line, capture, UNIT_INDEX, "number of the capture, as in the other tables"),
	COLUMN(producer_line, row, UNIT_ROW, "row of the instruction that waited"),
	COLUMN(producer_line, producer_row, UNIT_ROW, "row of the instruction that was waited for"),
	COLUMN(producer_line, waits, UNIT_COUNT,
		"waits for which it was the youngest instruction on a counter"),
	COLUMN(producer_line, blocked, UNIT_COUNT, "waits for it that cost more than the floor"),
	COLUMN(producer_line, cycles, UNIT_CYCLES, "cycles of waits for it, including shared ones"),
	COLUMN(producer_line, shared_cycles, UNIT_CYCLES,
		"cycles of waits on two counters, counted for each of them"),
	COLUMN(producer_line, latency_min, UNIT_CYCLES,
		"shortest time from issue to the end of the wait"),
	COLUMN(producer_line, latency_median, UNIT_CYCLES,
		"median time from issue to the end of the wait"),
	COLUMN(producer_line, latency_p95, UNIT_CYCLES,
		"95th percentile of the time from issue to the end of the wait"),
	COLUMN(producer_line, latency_max, UNIT_CYCLES,
		"longest time from issue to the end of the wait"),
};
static const struct record producer_record =
	RECORD_OF(producer_line, RECORD_LINE, producer_columns);

static bool analysed_table_make_producers(struct table_cursor *c, struct incore_error *e)
{
	bool ok;
	struct table_analyses *a = shared(c, &ok, e);
	struct producers *k;
	struct producer_line *v;

	if (!ok)
		return false;
	k = a ? a->producers : producers_new(c->trace, PRODUCERS_EDGES, e);
	c->state = a ? NULL : k;
	if (!k || (!a && !analysed_fill(c, NULL, k, e)))
		return false;
	v = TABLE_ROWS(c, k->edges.n, producer_line, e);
	for (size_t i = 0; v && i < k->edges.n; i++) {
		const struct producer_edge *x = &k->edges.v[i];

		v[i] = (struct producer_line){.capture = c->scan.capture,
			.row = table_row_of(c->trace, x->wait),
			.producer_row = table_row_of(c->trace, x->producer),
			.waits = x->count,
			.blocked = x->n_blocked,
			.cycles = x->stall_cyc + x->shared_cyc,
			.shared_cycles = x->shared_cyc,
			.latency_min = x->latency.min,
			.latency_median = x->latency.median,
			.latency_p95 = x->latency.p95,
			.latency_max = x->latency.max};
	}
	return v != NULL;
}

static void close_producers(struct table_cursor *c)
{
	if (c->state)
		producers_free(c->state);
}

const struct table producers_table = {
	.name = "producers",
	.doc = "which instruction waited for which, with the latency: hot --by producer",
	.record = &producer_record,
	.source = &(const struct table_source){.make = analysed_table_make_producers,
		.close = close_producers},
};

/* --- findings --- */

struct finding_line {
	uint32_t capture;
	const char *id, *severity, *message, *evidence, *advice;
};

static const struct column finding_columns[] = {
	COLUMN(finding_line, capture, UNIT_INDEX, "number of the capture, as in the other tables"),
	COLUMN(finding_line, id, UNIT_NONE, "name of the rule that fired"),
	COLUMN(finding_line, severity, UNIT_NONE, "how serious the finding is",
		.words = "error|warning|info"),
	COLUMN(finding_line, message, UNIT_NONE, "what was found"),
	COLUMN(finding_line, evidence, UNIT_NONE, "the figures that the finding rests on"),
	COLUMN(finding_line, advice, UNIT_NONE, "what to do about the finding"),
};
static const struct record finding_record = RECORD_OF(finding_line, RECORD_LINE, finding_columns);

static struct check *analysed_table_run_check(struct table_cursor *c, struct incore_error *e)
{
	struct walk_options o = {.pool = c->scan.pool, .progress = c->scan.progress};
	struct walk_result r = {0};
	struct check *k = check_run(c->trace, &check_context, &o, &r, e);

	c->n_failed += r.n_failed;
	walk_result_deinit(&r);
	c->state = k;
	return k;
}

static bool make_findings(struct table_cursor *c, struct incore_error *e)
{
	struct strbuf b = {0};
	struct finding_line *v;
	struct check *k;
	bool ok;
	struct table_analyses *a = shared(c, &ok, e);

	if (!ok)
		return false;
	k = a ? a->check : analysed_table_run_check(c, e);
	v = k ? TABLE_ROWS(c, k->n_findings, finding_line, e) : NULL;
	for (uint32_t i = 0; v && i < k->n_findings; i++) {
		const struct finding *x = &k->findings[i];

		sb_reset(&b);
		finding_put_evidence(x, &b);
		v[i] = (struct finding_line){c->scan.capture, x->note.code,
			note_weight_name(x->note.weight), x->note.message,
			arena_strndup(&c->arena, b.p ? b.p : "", b.n), x->advice};
		ok = ok && v[i].evidence && !b.failed;
	}
	sb_free(&b);
	return v && (ok || err_nomem(e));
}

static void close_findings(struct table_cursor *c)
{
	if (c->state)
		check_free(c->state);
}

static uint64_t estimate_findings(const struct trace *t)
{
	(void)t;
	return 16;
}

const struct table findings_table = {
	.name = "findings",
	.doc = "whether the capture can be trusted: check",
	.record = &finding_record,
	.want = IMPORT_ALL,
	.source = &(const struct table_source){.make = make_findings,
		.close = close_findings,
		.estimate = estimate_findings},
};
