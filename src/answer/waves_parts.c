/* SPDX-License-Identifier: Apache-2.0 */
/* waves_parts.c: the parts about waves, for several answers. */
#include "answer/waves_parts.h"

/* --- durations and buckets ------------------------------------------------------------------ */

#define DURATION(M, DOC, ...) COLUMN(duration_stats, M, UNIT_CYCLES, DOC, ##__VA_ARGS__)
static const struct column duration_columns[] = {
	DURATION(min, "duration of the shortest wave", .csv = "min_cycles"),
	DURATION(median, "median duration of the waves", .csv = "median_cycles"),
	DURATION(max, "duration of the longest wave", .csv = "max_cycles"),
	DURATION(sum, "duration of all waves together", .csv = "sum_cycles"),
	DURATION(p5, "5th percentile of the durations"),
	DURATION(p25, "25th percentile of the durations"),
	DURATION(p75, "75th percentile of the durations"),
	DURATION(p95, "95th percentile of the durations"),
	DURATION(p99, "99th percentile of the durations"),
	DURATION(mean, "mean of the durations", .digits = 3),
	DURATION(deviation, "standard deviation of the durations", .digits = 3),
	COLUMN(duration_stats, n, UNIT_WAVES, "number of waves", .title = "waves", NO_JSON),
};
const struct record duration_record = RECORD_OF(duration_stats, RECORD_LINE, duration_columns);

static const struct column accounting_columns[] = {
	PART(accounting, bucket, &bucket_record),
	COLUMN(accounting, duration, UNIT_CYCLES, "sum of all buckets"),
};
const struct record accounting_record = RECORD_OF(accounting, RECORD_LINE, accounting_columns);

#define SHARE(M, DOC) COLUMN(bucket_shares, M, UNIT_SHARE, DOC, .digits = 6)
static const struct column bucket_shares_columns[] = {
	SHARE(issue, "share of the duration in which instructions were issuing"),
	SHARE(stall, "share of the duration held back before issue"),
	SHARE(wait, "share of the duration at waits, barriers and sleeps"),
	SHARE(idle, "share of the duration in which nothing was due"),
	SHARE(drain, "share of the duration at the end of the program"),
};
#undef SHARE
const struct record bucket_shares_record =
	RECORD_OF(bucket_shares, RECORD_LINE, bucket_shares_columns);

struct bucket_shares bucket_shares_of(const uint64_t bucket[BUCKET_COUNT], uint64_t duration_cyc)
{
	return (struct bucket_shares){ratio(bucket[BUCKET_ISSUE], duration_cyc),
		ratio(bucket[BUCKET_STALL], duration_cyc), ratio(bucket[BUCKET_WAIT], duration_cyc),
		ratio(bucket[BUCKET_IDLE], duration_cyc),
		ratio(bucket[BUCKET_DRAIN], duration_cyc)};
}

/* --- the hardware's states ------------------------------------------------------------------ */

#define STATE(S, NAME, DOC, ...)                                                                   \
	COLUMN_AS(states_wave, cyc[S], NAME, UNIT_CYCLES, DOC, ##__VA_ARGS__)
static const struct column states_columns[] = {
	STATE(STATE_EMPTY, "EMPTY", "cycles in state 0, if it occurs",
		.flags = COLUMN_OPTIONAL | COLUMN_SOME),
	STATE(STATE_IDLE, "IDLE", "cycles before the first and after the last instruction",
		.csv = "state_idle_cycles"),
	STATE(STATE_EXEC, "EXEC", "cycles issuing, including gaps between instructions",
		.csv = "state_exec_cycles"),
	STATE(STATE_WAIT, "WAIT", "cycles at waits, barriers and the end of the program",
		.csv = "state_wait_cycles"),
	STATE(STATE_STALL, "STALL", "cycles held back before issue", .csv = "state_stall_cycles"),
};
const struct record states_record = RECORD_OF(states_wave, RECORD_LINE, states_columns);

#define SHARE(M, NAME, DOC, ...)                                                                   \
	COLUMN_AS(state_shares, M, NAME, UNIT_SHARE, DOC, .digits = 6, ##__VA_ARGS__)
static const struct column state_shares_columns[] = {
	SHARE(empty, "EMPTY", "share of all cycles in state 0, if it occurs", OPTIONAL),
	SHARE(idle, "IDLE", "share of all cycles in state IDLE"),
	SHARE(exec, "EXEC", "share of all cycles in state EXEC"),
	SHARE(wait, "WAIT", "share of all cycles in state WAIT"),
	SHARE(stall, "STALL", "share of all cycles in state STALL"),
};
#undef SHARE
const struct record state_shares_record =
	RECORD_OF(state_shares, RECORD_LINE, state_shares_columns);

struct state_shares state_shares_of(const struct states_wave *s)
{
	uint64_t all = states_total(s);

	return (struct state_shares){s->cyc[STATE_EMPTY] ? ratio(s->cyc[STATE_EMPTY], all) : NAN,
		ratio(s->cyc[STATE_IDLE], all), ratio(s->cyc[STATE_EXEC], all),
		ratio(s->cyc[STATE_WAIT], all), ratio(s->cyc[STATE_STALL], all)};
}

/* --- clusters ------------------------------------------------------------------------------- */

#define MAX_TRIPS 64u /* per cluster */

static const struct column variant_columns[] = {
	COLUMN_AS(cluster_variant, n_waves, "waves", UNIT_WAVES, "waves with these loop counts"),
	COLUMN_AS(cluster_variant, records, "instructions", UNIT_COUNT,
		"instructions executed by each wave with these loop counts"),
};
static const struct record variant_record =
	RECORD_OF(cluster_variant, RECORD_LINE, variant_columns);

static const struct column cluster_columns[] = {
	COLUMN(cluster_row, index, UNIT_NONE, "number of the cluster", .title = "cluster", NO_JSON),
	COLUMN_AS(cluster_row, k.n_waves, "waves", UNIT_WAVES, "number of waves in the cluster"),
	COLUMN_AS(cluster_row, k.n_rows, "rows", UNIT_COUNT,
		"rows that each wave of the cluster executed"),
	COLUMN_AS(cluster_row, k.latency, "latency", UNIT_CYCLES,
		"sum of the recorded latencies, as in code.json", .csv = "latency_cycles"),
	COLUMN_AS(cluster_row, k.stall, "stall", UNIT_CYCLES,
		"sum of the recorded stalls, as in code.json", .csv = "stall_cycles"),
	COLUMN_AS(cluster_row, k.records, "instructions", UNIT_COUNT,
		"instructions executed by the waves of the cluster"),
	COLUMN_AS(cluster_row, k.duration, "duration", UNIT_CYCLES,
		"sum of the durations of the waves"),
	COLUMN_AS(cluster_row, k.min_dur, "duration_min", UNIT_CYCLES,
		"duration of the shortest wave"),
	COLUMN_AS(cluster_row, k.median_dur, "duration_median", UNIT_CYCLES,
		"median duration of the waves", .title = "median", .csv = "median_cycles"),
	COLUMN_AS(cluster_row, k.max_dur, "duration_max", UNIT_CYCLES,
		"duration of the longest wave"),
	COLUMN(cluster_row, representative, UNIT_NONE, "name of the wave closest to the median",
		.flags = COLUMN_WIDE),
	LIST(cluster_row, trips, &variant_record,
		"waves of the cluster by their loop counts, most frequent first",
		.flags = COLUMN_ONE_LINE),
	COLUMN_AS(cluster_row, k.n_variants, "trip_variants", UNIT_COUNT,
		"number of different loop counts in the cluster; trips has at most 64",
		.title = "trips"),
	COLUMN(cluster_row, per_instruction, UNIT_CYCLES,
		"cycles of duration per executed instruction", .digits = 6),
	COLUMN(cluster_row, share, UNIT_PERCENT, "share of the latency of all clusters",
		.title = "%", .csv = "latency_pct", NO_JSON, .digits = 1),
};
const struct record cluster_record = RECORD_OF(cluster_row, RECORD_LINE, cluster_columns);

bool cluster_rows(
	struct answer *a, const struct clusters *c, struct rows *out, struct incore_error *e)
{
	struct cluster_row *v = ANSWER_ROWS(a, out, c->n, cluster_row, e);

	for (uint32_t i = 0; v && i < c->n; i++) {
		const struct cluster *k = &c->v[i];

		v[i] = (struct cluster_row){.index = i,
			.k = *k,
			.representative = c->trace->tracks[k->representative].name,
			.trips = {k->variants,
				k->n_variants < MAX_TRIPS ? k->n_variants : MAX_TRIPS},
			.per_instruction = ratio(k->duration, k->records),
			.share = percent(k->latency, c->latency)};
	}
	return v != NULL;
}

/* --- barriers ------------------------------------------------------------------------------- */

static const struct column widest_columns[] = {
	COLUMN_AS(barrier_widest, m.skew_cyc, "skew", UNIT_CYCLES,
		"cycles from the first to the last arrival"),
	COLUMN_AS(barrier_widest, m.n_waves, "waves", UNIT_WAVES, "waves that met at the barrier"),
	COLUMN(barrier_widest, first, UNIT_NONE, "wave that arrived first"),
	COLUMN(barrier_widest, last, UNIT_NONE, "wave that arrived last"),
	COLUMN_AS(barrier_widest, m.first_arrival, "first_arrival_aligned", UNIT_CYCLES,
		"aligned time of the first arrival"),
	COLUMN_AS(barrier_widest, m.last_arrival, "last_arrival_aligned", UNIT_CYCLES,
		"aligned time of the last arrival"),
	COLUMN_AS(barrier_widest, m.release, "release_aligned", UNIT_CYCLES,
		"aligned time at which the waves continued"),
};
static const struct record widest_record = RECORD_OF(barrier_widest, RECORD_LINE, widest_columns);

static const struct column latest_columns[] = {
	COLUMN(barrier_latest, wave, UNIT_NONE, "the wave"),
	COLUMN(barrier_latest, last, UNIT_COUNT, "meetings at which the wave arrived last"),
	COLUMN(barrier_latest, meetings, UNIT_COUNT, "meetings that the wave took part in"),
};
static const struct record latest_record = RECORD_OF(barrier_latest, RECORD_LINE, latest_columns);

/* Columns of one barrier and of all together. */
#define BARRIER_COUNT_COLUMNS(S)                                                                   \
	COLUMN_AS(                                                                                 \
		S, b.executions, "executions", UNIT_COUNT, "executions of the barrier by waves"),  \
		COLUMN_AS(S, b.wait_cyc, "wait", UNIT_CYCLES, "cycles waited at the barrier"),     \
		COLUMN_AS(S, b.meetings, "meetings", UNIT_COUNT, "meetings of at least two waves")
#define BARRIER_SKEW_COLUMNS(S)                                                                    \
	COLUMN_HELD(S, b.skew_cyc, "skew", COLUMN_RECORD, &distribution_record,                    \
		"cycles from the first to the last arrival at a meeting", NULLABLE),               \
		COLUMN_HELD(S, b.last_wait_cyc, "last_wait", COLUMN_RECORD, &distribution_record,  \
			"cycles that the last wave to arrive waited", NULLABLE)

static const struct column barrier_columns[] = {
	COLUMN(barrier_line, row, UNIT_ROW, "row of the barrier", NULLABLE),
	BARRIER_COUNT_COLUMNS(barrier_line),
	BARRIER_SKEW_COLUMNS(barrier_line),
	POINTER(barrier_line, widest, &widest_record,
		"the meeting with the largest skew and its first and last wave"),
	RECORD(barrier_line, latest, &latest_record, "the wave that arrived last most often",
		NULLABLE),
};
const struct record barrier_record = RECORD_OF(barrier_line, RECORD_LINE, barrier_columns);

static const struct column barriers_columns[] = {
	BARRIER_COUNT_COLUMNS(barriers_part),
	COLUMN_AS(
		barriers_part, b.n_met, "met", UNIT_COUNT, "executions that are part of a meeting"),
	COLUMN_AS(barriers_part, b.n_skipped, "skipped", UNIT_COUNT,
		"executions that were not analysed because their wave has too many"),
	COLUMN(barriers_part, evidence, UNIT_NONE,
		"which waves met is inferred, because the trace does not record it",
		.words = "inferred"),
	BARRIER_SKEW_COLUMNS(barriers_part),
	LIST(barriers_part, rows, &barrier_record, "every barrier, longest wait first"),
};
const struct record barriers_record = RECORD_OF(barriers_part, RECORD_BLOCK, barriers_columns);

static bool put_meetings(
	struct answer *a, const struct trace *t, struct barrier_line *x, struct incore_error *e)
{
	const struct barrier_row *b = &x->b;
	struct barrier_widest *w;

	if (!b->meetings)
		return true;
	w = ANSWER_NEW(a, barrier_widest, e);
	if (!w)
		return false;
	*w = (struct barrier_widest){
		b->widest, t->tracks[b->widest.first].name, t->tracks[b->widest.last].name};
	x->widest = w;
	x->latest =
		(struct barrier_latest){t->tracks[b->latest].name, b->n_latest, b->n_latest_met};
	return true;
}

bool barriers_make(struct answer *a, const struct barriers *b, struct barriers_part *out,
	struct incore_error *e)
{
	const struct trace *t = b->trace;
	struct barrier_line *v = answer_alloc(a, b->n_rows, sizeof(*v), e);

	if (!v)
		return false;
	for (uint32_t i = 0; i < b->n_rows; i++) {
		code_idx code = b->rows[i].code;

		v[i] = (struct barrier_line){
			.row = code < t->n_code ? t->code[code].number : NO_VALUE, .b = b->rows[i]};
		if (!put_meetings(a, t, &v[i], e))
			return false;
	}
	*out = (struct barriers_part){*b, "inferred", {v, b->n_rows}};
	return true;
}
