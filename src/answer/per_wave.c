/* SPDX-License-Identifier: Apache-2.0 */
/* per_wave.c: the figures of the mean wave, beside the sums over all. */
#include "answer/hot.h"

#define MEAN_WAVE(M, CSV, UNIT, DOC)                                                               \
	COLUMN(per_wave, M, UNIT, DOC, .csv = CSV, .digits = 2, .table_digits = 1)
static const struct column per_wave_columns[] = {
	MEAN_WAVE(cycles, "cycles_per_wave", UNIT_CYCLES, "all buckets together"),
	MEAN_WAVE(issue, "issue_cycles_per_wave", UNIT_CYCLES, "issuing"),
	MEAN_WAVE(wait, "wait_cycles_per_wave", UNIT_CYCLES, "at a wait or barrier"),
	MEAN_WAVE(stall, "stall_cycles_per_wave", UNIT_CYCLES, "held back before issue"),
	MEAN_WAVE(idle, "idle_cycles_per_wave", UNIT_CYCLES, "nothing of the wave was due"),
	MEAN_WAVE(drain, "drain_cycles_per_wave", UNIT_CYCLES, "waiting for stores at the end"),
	MEAN_WAVE(hit, "hits_per_wave", UNIT_COUNT, "executions"),
	MEAN_WAVE(latency, "latency_cycles_per_wave", UNIT_CYCLES, "as recorded"),
};
const struct record per_wave_record = RECORD_OF(per_wave, RECORD_LINE, per_wave_columns);

bool hot_per(unsigned per, const struct trace *t, const char **out, struct incore_error *e)
{
	*out = per == NO_CHOICE ? NULL : "wave";
	return !*out || (t->n_tracks && !trace_has_pipes(t)) ||
	       err_set(e, INCORE_USAGE, "bad-option", "--per wave: this capture has no waves");
}

bool hot_row_per_wave(
	struct answer *a, const struct hot *h, struct hot_row *x, struct incore_error *e)
{
	struct per_wave *p = ANSWER_NEW(a, per_wave, e);
	const struct bucket_sums *b = &x->buckets;
	uint64_t n = h->n_waves;

	if (!p)
		return false;
	*p = (struct per_wave){ratio(x->cycles, n), ratio(b->issue, n), ratio(b->wait, n),
		ratio(b->stall, n), ratio(b->idle, n), ratio(b->drain, n), ratio(x->totals.hit, n),
		ratio(x->totals.latency, n)};
	x->per_wave = p;
	return true;
}
