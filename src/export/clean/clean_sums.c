/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_sums.c: how long each pipe was busy and what it waited for. This uses the accounting of
 * pipes (pipe_sweep.h), so that the summary of a cleaned trace and the verbs agree; slices are only
 * converted to the columns that it reads. Microseconds become whole picoseconds.
 */
#include <math.h>

#include "analysis/pipes/pipe_sweep.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "export/clean/clean.h"

#define TICKS_PER_US 1000000.0
#define SHORT_BARRIER_US 0.002 /* PIPE_BARRIER_SHOWN_CYC of any clock */

/* Code rows for the columns: one row per kind. */
static const uint8_t kinds[] = {[KIND_WORK] = KIND_WORK,
	[KIND_CONFIG] = KIND_CONFIG,
	[KIND_SET] = KIND_SET,
	[KIND_WAIT] = KIND_WAIT,
	[KIND_BUFFER] = KIND_BUFFER,
	[KIND_BARRIER] = KIND_BARRIER,
	[KIND_NOTHING] = KIND_NOTHING,
	[KIND_NOTHING + 1] = KIND_NOTHING};

struct sums {
	struct clean *c;
	double scale; /* ticks of the columns per unit of time */
	struct trace trace;
	struct track_data data;
	struct pipe_sweep sweep;
	uint32_t *producer;   /* by slice: lane of the SET, or CLEAN_BY_... */
	VEC(uint32_t) slices; /* slice of each entry of the columns */
	struct u64_map wait_at;
	uint32_t lane;
	uint64_t busy, waiting;
};

static enum pipe_kind kind_of(const struct clean *c, const struct clean_slice *s)
{
	bool is_shown_only = c->ticks_per_unit == 1 && s->dur <= SHORT_BARRIER_US;

	return s->kind == KIND_BARRIER && is_shown_only ? KIND_NOTHING : (enum pipe_kind)s->kind;
}

/* --- waits --- */

static struct clean_wait *wait_of(struct sums *x, uint32_t producer)
{
	uint64_t *k = u64_map_at(&x->wait_at, (uint64_t)x->lane << 32 | producer);

	if (!k)
		return NULL;
	if (!*k) {
		if (!VEC_PUSH(&x->c->waits,
			    (struct clean_wait){.lane = x->lane, .producer = producer}))
			return NULL;
		*k = x->c->waits.n;
	}
	return &x->c->waits.v[*k - 1];
}

static bool take_piece(void *ctx, const struct pipe_piece *p)
{
	struct sums *x = ctx;
	uint64_t n = p->to_cyc - p->from_cyc;
	struct clean_wait *w;

	if (p->bucket == BUCKET_ISSUE)
		x->busy += n;
	if (p->bucket != BUCKET_WAIT)
		return true;
	x->waiting += n;
	w = wait_of(x, x->producer[x->slices.v[p->slice]]);
	if (w)
		w->exposed += (double)n / x->scale;
	return w != NULL;
}

/* --- columns --- */

/* Rounds a time to the nearest cycle, clamped to the valid range. */
static uint64_t cycle_of(double v)
{
	const double most = 0x1p62;

	return v > 0 ? (uint64_t)nearbyint(v < most ? v : most) : 0;
}

static bool add_lane(struct sums *x, const struct clean_lane *k)
{
	struct track_data *d = &x->data;

	EACH (const struct clean_span, s, k->spans, k->n_spans) {
		enum pipe_kind kind =
			k->is_wait ? kind_of(x->c, &x->c->slices.v[s->index]) : KIND_WORK;
		uint64_t from = cycle_of(s->start * x->scale);
		uint64_t to = cycle_of((s->start + s->length) * x->scale);
		uint64_t length = to > from ? to - from : 0;

		d->start_cyc[d->n] = from;
		d->dur_cyc[d->n] = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
		d->stall_cyc[d->n] = 0;
		d->code[d->n] = kind;
		if (to > d->end_cyc)
			d->end_cyc = to;
		d->n++;
		mem_step(x->slices.n);
		x->slices.v[x->slices.n++] = s->index;
		if (!pipe_kind_is_wait(kind))
			continue;
		if (kind != KIND_WAIT)
			x->producer[s->index] =
				kind == KIND_BARRIER ? CLEAN_BY_BARRIER : CLEAN_BY_BUFFER;
		if (!wait_of(x, x->producer[s->index]))
			return false;
		wait_of(x, x->producer[s->index])->n++;
	}
	return true;
}

static bool sum_pipe(struct sums *x, uint32_t lane, struct incore_error *e)
{
	struct clean_lane *k = &x->c->lanes.v[lane];
	struct walk_track w = {.trace = &x->trace, .data = &x->data, .to_cyc = UINT64_MAX};
	size_t n = k->n_spans + k[1].n_spans;

	if (!k->is_kept || n == 0)
		return true;
	track_data_reset(&x->data);
	x->slices.n = 0;
	x->lane = lane;
	x->busy = x->waiting = 0;
	if (n > UINT32_MAX || !track_data_reserve(&x->data, (uint32_t)n) ||
		!VEC_RESERVE(&x->slices, n) || !add_lane(x, k) || !add_lane(x, k + 1))
		return err_nomem(e);
	if (!pipe_sweep_track(&x->sweep, &w, kinds, take_piece, x, e))
		return false;
	k->busy = (double)x->busy / x->scale;
	k[1].busy = (double)x->waiting / x->scale;
	return true;
}

/* --- all of them --- */

ORDER(by_exposed, struct clean_wait, UP(lane) DOWN(exposed) UP(producer))

/* Lengths have 32 bits: if a slice takes more than 4 ms, all get a coarser scale. */
static double scale_for(const struct clean *c)
{
	double most = 0, scale = c->ticks_per_unit == 1 ? TICKS_PER_US : 1;

	for (size_t i = 0; i < c->slices.n; i++) {
		mem_step(i);
		most = c->slices.v[i].dur > most ? c->slices.v[i].dur : most;
	}
	while (most * scale >= UINT32_MAX)
		scale /= 10;
	return scale;
}

bool clean_sum_pipes(struct clean *c, const uint32_t *partner, struct incore_error *e)
{
	struct sums x = {.c = c, .scale = scale_for(c)};
	bool ok;

	x.trace.n_code = KIND_NOTHING + 1;
	x.producer = mem_resize(NULL, c->slices.n + 1, sizeof(*x.producer));
	ok = x.producer != NULL || err_nomem(e);
	for (size_t i = 0; ok && i < c->slices.n; i++) {
		mem_step(i);
		x.producer[i] = CLEAN_BY_NOBODY;
	}
	for (size_t i = 0; ok && i < c->syncs.n; i++) {
		mem_step(i);
		if (c->syncs.v[i].slice < c->slices.n)
			x.producer[c->syncs.v[i].slice] = partner[i];
	}
	for (uint32_t i = 0; ok && i + 1 < c->lanes.n; i += 2)
		ok = sum_pipe(&x, i, e);
	if (ok && c->waits.n)
		SORT(c->waits.v, c->waits.n, by_exposed);
	u64_map_deinit(&x.wait_at);
	VEC_FREE(&x.slices);
	track_data_deinit(&x.data);
	pipe_sweep_deinit(&x.sweep);
	mem_free(x.producer);
	return ok;
}
