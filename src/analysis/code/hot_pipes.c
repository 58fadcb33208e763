/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_pipes.c: where the cycles of pipes go, by instruction: the pieces of pipe_sweep.h, each given
 * to the row of its owner. Idle and drain belong to no row: the pipe had nothing to do.
 */
#include "analysis/code/hot.h"
#include "analysis/code/hot_internal.h"
#include "analysis/pipes/pipe_sweep.h"
#include "base/mem.h"

struct worker {
	struct hot *sum; /* only rows and classes are used */
	uint8_t *kinds;
	struct pipe_sweep sweep;
	const struct walk_track *w; /* the track being looked at */
};

static void worker_deinit(void *self, void *mine)
{
	struct worker *m = mine;

	(void)self;
	hot_free(m->sum);
	mem_free(m->kinds);
	pipe_sweep_deinit(&m->sweep);
}

static bool worker_init(void *self, void *mine)
{
	const struct hot *h = self;
	struct worker *m = mine;

	m->sum = hot_new(h->trace);
	m->kinds = pipe_kinds_new(h->trace);
	return m->sum && m->kinds;
}

static bool take_piece(void *ctx, const struct pipe_piece *p)
{
	struct worker *m = ctx;
	const struct track_data *d = m->w->data;
	uint32_t n_code = m->w->trace->n_code;
	uint64_t cyc = p->to_cyc - p->from_cyc;
	code_idx row;

	m->sum->all.bucket[p->bucket] += cyc;
	if (p->slice == NO_SLICE)
		return true;
	row = d->code[p->slice] < n_code ? d->code[p->slice] : n_code;
	m->sum->rows[row].bucket[p->bucket] += cyc;
	m->sum->classes[d->inst_class[p->slice]].bucket[p->bucket] += cyc;
	return true;
}

/* Totals in the producer's meaning: length without head cost is its latency. */
static void count_slices(struct worker *m)
{
	const struct walk_track *w = m->w;
	const struct track_data *d = w->data;
	uint32_t n_code = w->trace->n_code;

	for (uint32_t i = 0; i < d->n; i++) {
		code_idx row = d->code[i] < n_code ? d->code[i] : n_code;
		struct hot_sums s = {
			.totals = {.hit = 1,
				.latency = d->dur_cyc[i] - d->stall_cyc[i],
				.stall = d->stall_cyc[i]},
		};

		if (d->start_cyc[i] < w->from_cyc || d->start_cyc[i] >= w->to_cyc)
			continue;
		hot_add(&m->sum->rows[row], &s);
		hot_add(&m->sum->classes[d->inst_class[i]], &s);
		if (row < n_code)
			hot_add(&m->sum->all, &s);
		m->sum->n_instructions++;
	}
}

static bool hot_pipes_track(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct worker *m = mine;

	(void)self;
	m->w = w;
	count_slices(m);
	if (pipe_role(w->track) == ROLE_MARK)
		return true; /* cache misses and user ranges are not units of the machine */
	if (!pipe_sweep_track(&m->sweep, w, m->kinds, take_piece, m, e))
		return false;
	m->sum->n_waves++;
	m->sum->duration_cyc += m->sweep.hi - m->sweep.lo;
	return true;
}

static bool hot_pipes_merge(void *self, void *mine, struct incore_error *e)
{
	struct hot *h = self;
	const struct hot *m = ((struct worker *)mine)->sum;

	(void)e;
	for (code_idx i = 0; i <= h->trace->n_code; i++)
		hot_add(&h->rows[i], &m->rows[i]);
	for (unsigned c = 0; c < CLASS_COUNT; c++)
		hot_add(&h->classes[c], &m->classes[c]);
	hot_add(&h->all, &m->all);
	h->n_waves += m->n_waves;
	h->n_instructions += m->n_instructions;
	h->duration_cyc += m->duration_cyc;
	h->residue_cyc = (int64_t)(h->duration_cyc - hot_cycles(&h->all));
	return true;
}

struct collector hot_pipes_collector(struct hot *h)
{
	return (struct collector){h, sizeof(struct worker), worker_init, hot_pipes_track,
		hot_pipes_merge, worker_deinit};
}
