/* SPDX-License-Identifier: Apache-2.0 */
/* levels.c: compares issues of memory instructions with the number of those in flight. */
#include "analysis/counters/levels.h"

#include <math.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"

#define INTERVAL_CYC 40 /* assumed interval between samples if there are too few to measure it */

const char *const level_counters[LEVEL_KINDS] = {
	"SQ_INST_LEVEL_VMEM", "SQ_INST_LEVEL_LDS", "SQ_INST_LEVEL_SMEM"};
/* Index of the level counter for a class, plus 1; 0: no counter. */
static uint8_t levels_kind_of(uint8_t c)
{
	if (c >= CLASS_VMEM_LOAD && c <= CLASS_VMEM_TO_LDS)
		return 1;
	return c == CLASS_LDS || c == CLASS_LDS_XLANE ? 2 : c == CLASS_SMEM ? 3 : 0;
}

struct levels_issue {
	uint64_t time_cyc;
	clock_idx clock;
	uint16_t cu;
	uint8_t kind, simd;
	code_idx code;
};
ORDER(by_place_and_time, struct levels_issue,
	UP(clock) UP(cu) UP(kind) UP(time_cyc) UP(simd) UP(code))

struct replay {
	struct level_row *rows; /* mean, deviation: sum, sum of squares; error: the interval */
	uint32_t n_rows;
	VEC(struct levels_issue) issues;
	size_t issued, back, end; /* positions for one compute unit and counter */
	uint32_t interval_cyc;
};

static unsigned counter_kind(const struct counter_series *s)
{
	unsigned k = LEVEL_KINDS;

	while (k && strcmp(s->name, level_counters[k - 1]) != 0)
		k--;
	return k;
}

unsigned levels_find(const struct trace *t)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < t->n_counters; i++)
		found |= 1u << counter_kind(&t->counters[i]);
	return found >> 1;
}

static bool add_issues(struct replay *r, const struct track *k, const struct track_data *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		uint8_t kind = levels_kind_of(d->inst_class[i]);
		struct levels_issue x = {d->start_cyc[i] + d->stall_cyc[i], k->clock,
			(uint16_t)k->coord[1], kind, (uint8_t)k->coord[2], d->code[i]};

		if (kind && !VEC_PUSH(&r->issues, x)) /* an instruction of unknown code is in
							 flight, too */
			return false;
	}
	return true;
}

static void come_back(struct replay *r, uint64_t time_cyc)
{
	const struct levels_issue *x = &r->issues.v[r->back++];
	double cyc = (double)(time_cyc - x->time_cyc), interval = r->interval_cyc;
	struct level_row *row = x->code < r->n_rows ? &r->rows[x->code] : NULL;

	if (!row)
		return;
	cyc = cyc > interval ? cyc - interval / 2 : cyc / 2;
	row->n++;
	row->mean += cyc;
	row->deviation += cyc * cyc;
	row->error = fmax(row->error, interval);
}

static void take_sample(struct replay *r, uint64_t time_cyc, uint64_t level)
{
	while (r->issued < r->end && r->issues.v[r->issued].time_cyc <= time_cyc)
		r->issued++;
	while (r->issued - r->back > level)
		come_back(r, time_cyc);
}

static void replay_series(struct replay *r, const struct counter_series *s)
{
	struct levels_issue at = {
		.clock = s->clock, .cu = (uint16_t)s->cu, .kind = (uint8_t)counter_kind(s)};
	size_t lo = 0, hi = r->issues.n;

	if (!at.kind || s->cu > UINT16_MAX)
		return;
	BISECT(lo, hi, k, by_place_and_time(&r->issues.v[k], &at) < 0);
	r->issued = r->back = r->end = lo;
	while (r->end < r->issues.n && r->issues.v[r->end].clock == at.clock &&
		r->issues.v[r->end].cu == at.cu && r->issues.v[r->end].kind == at.kind)
		r->end++;
	r->interval_cyc = UINT32_MAX;
	for (uint32_t i = 1; i < s->n; i++)
		if (s->time_cyc[i] - s->time_cyc[i - 1] - 1 < r->interval_cyc - 1)
			r->interval_cyc = (uint32_t)(s->time_cyc[i] - s->time_cyc[i - 1]);
	if (r->interval_cyc == UINT32_MAX)
		r->interval_cyc = INTERVAL_CYC;
	for (uint32_t i = 0; i < s->n; i++) {
		if (i && s->time_cyc[i] > s->time_cyc[i - 1] + r->interval_cyc)
			take_sample(r, s->time_cyc[i - 1] + r->interval_cyc, 0);
		take_sample(r, s->time_cyc[i], s->value[i]);
	}
}

static void finish_row(struct level_row *row)
{
	double n = (double)row->n, sum = row->mean, interval = row->error, square;

	square = row->n > 1 ? fmax(0, (row->deviation - sum * sum / n) / (n - 1)) : NAN;
	row->mean = sum / n;
	row->deviation = sqrt(square);
	/* when within its sample an instruction returned is unknown, too */
	row->error = sqrt(square + interval * interval / 3) / sqrt(n - 1.5);
}

struct level_row *levels_make(const struct trace *t, struct arena *a, struct incore_error *e)
{
	struct replay r = {.n_rows = t->n_code};
	struct track_data d = {0};
	struct incore_error told = {0}; /* per-track errors are reported by the walk */
	bool ok;

	r.rows = arena_zalloc(a, (size_t)t->n_code + 1, sizeof(*r.rows));
	ok = r.rows != NULL;
	for (track_idx i = 0; ok && i < t->n_tracks; i++)
		if (trace_load_track(t, i, 0, &d, &told))
			ok = add_issues(&r, &t->tracks[i], &d);
		else
			incore_error_clear(&told);
	if (ok && r.issues.n) {
		qsort(r.issues.v, r.issues.n, sizeof(*r.issues.v), by_place_and_time);
		for (uint32_t i = 0; i < t->n_counters; i++)
			replay_series(&r, &t->counters[i]);
	}
	for (code_idx i = 0; ok && i < t->n_code; i++)
		if (r.rows[i].n)
			finish_row(&r.rows[i]);
	VEC_FREE(&r.issues);
	track_data_deinit(&d);
	return ok || err_nomem(e) ? r.rows : NULL;
}
