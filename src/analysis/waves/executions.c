/* SPDX-License-Identifier: Apache-2.0 */
/* executions.c: the cost of one execution of each code row, over all of them. */
#include "analysis/waves/executions.h"

#include "base/mem.h"

#define MAX_ROWS (HISTOGRAM_MAX_SERIES / 2) /* further rows have no figures */

enum { SERIES_CYCLES, SERIES_STALL, SERIES_COUNT };

struct executions_worker {
	struct histograms hist;
	struct histogram_run *runs; /* by series */
};

static void executions_worker_deinit(void *self, void *mine)
{
	struct executions_worker *m = mine;

	(void)self;
	histograms_deinit(&m->hist);
	mem_free(m->runs);
}

static bool executions_worker_init(void *self, void *mine)
{
	const struct executions *x = self;
	struct executions_worker *m = mine;

	m->runs = mem_zalloc((size_t)x->n_rows * SERIES_COUNT + 1, sizeof(*m->runs));
	return m->runs != NULL;
}

static bool executions_track(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct executions *x = self;
	struct executions_worker *m = mine;
	const struct track_data *d = w->data;

	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t cycles = d->code[i] * SERIES_COUNT + SERIES_CYCLES;
		uint32_t stall = d->code[i] * SERIES_COUNT + SERIES_STALL;

		if (d->code[i] >= x->n_rows || d->start_cyc[i] < w->from_cyc ||
			d->start_cyc[i] >= w->to_cyc)
			continue;
		if (!histogram_run_add(&m->hist, &m->runs[cycles], cycles, d->dur_cyc[i]) ||
			!histogram_run_add(&m->hist, &m->runs[stall], stall, d->stall_cyc[i]))
			return err_nomem(e);
	}
	return true;
}

static bool executions_merge(void *self, void *mine, struct incore_error *e)
{
	struct executions *x = self;
	struct executions_worker *m = mine;
	uint64_t key, count;
	size_t pos = 0;

	for (uint32_t i = 0; i < x->n_rows * SERIES_COUNT; i++)
		if (!histogram_run_end(&m->hist, &m->runs[i], i))
			return err_nomem(e);
	while (u64_map_next(&m->hist.counts, &pos, &key, &count))
		if (!histograms_add(
			    &x->hist, (uint32_t)(key >> 40), key & HISTOGRAM_MAX_VALUE, count))
			return err_nomem(e);
	return true;
}

struct executions *executions_new(const struct trace *t, struct incore_error *e)
{
	struct executions *x = mem_zalloc(1, sizeof(*x));

	if (!x)
		return err_nomem_null(e);
	x->n_rows = t->n_code < MAX_ROWS ? t->n_code : MAX_ROWS;
	return x;
}

void executions_free(struct executions *x)
{
	if (!x)
		return;
	histograms_deinit(&x->hist);
	mem_free(x);
}

struct collector executions_collector(struct executions *x)
{
	return (struct collector){x, sizeof(struct executions_worker), executions_worker_init,
		executions_track, executions_merge, executions_worker_deinit};
}

bool executions_finish(struct executions *x, struct incore_error *e)
{
	return histograms_seal(&x->hist, x->n_rows * SERIES_COUNT, e);
}

struct distribution executions_cycles(const struct executions *x, code_idx i)
{
	return i < x->n_rows ? histograms_get(&x->hist, i * SERIES_COUNT + SERIES_CYCLES)
			     : (struct distribution){0};
}

struct distribution executions_stall(const struct executions *x, code_idx i)
{
	return i < x->n_rows ? histograms_get(&x->hist, i * SERIES_COUNT + SERIES_STALL)
			     : (struct distribution){0};
}
