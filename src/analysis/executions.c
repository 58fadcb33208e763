/* SPDX-License-Identifier: Apache-2.0 */
/* executions.c: the cost of one execution of each code row, over all of them. */
#include "analysis/executions.h"

#include "base/mem.h"

#define MAX_ROWS (HISTOGRAM_MAX_SERIES / 2) /* more have no figures */

enum { SERIES_CYCLES, SERIES_STALL, SERIES_COUNT };

static void *worker_new(void *self)
{
	(void)self;
	return mem_zalloc(1, sizeof(struct histograms));
}

static void worker_free(void *self, void *mine)
{
	(void)self;
	histograms_deinit(mine);
	mem_free(mine);
}

static bool count_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct executions *x = self;
	const struct track_data *d = w->data;

	for (uint32_t i = 0; i < d->n; i++) {
		if (d->start_cyc[i] < w->from_cyc || d->start_cyc[i] >= w->to_cyc)
			continue;
		if (d->code[i] >= x->n_rows)
			continue;
		if (!histograms_add(
			    mine, d->code[i] * SERIES_COUNT + SERIES_CYCLES, d->dur_cyc[i], 1))
			return err_nomem(e);
		/* those without a stall are counted at the end */
		if (d->stall_cyc[i] &&
			!histograms_add(
				mine, d->code[i] * SERIES_COUNT + SERIES_STALL, d->stall_cyc[i], 1))
			return err_nomem(e);
	}
	return true;
}

static bool merge(void *self, void *mine, struct incore_error *e)
{
	struct executions *x = self;
	const struct histograms *from = mine;
	uint64_t key, count;
	size_t pos = 0;

	while (u64_map_next(&from->counts, &pos, &key, &count))
		if (!histograms_add(
			    &x->hist, (uint32_t)(key >> 40), key & HISTOGRAM_MAX_VALUE, count))
			return err_nomem(e);
	return true;
}

struct executions *executions_new(const struct trace *t, struct incore_error *e)
{
	struct executions *x = mem_zalloc(1, sizeof(*x));

	if (!x) {
		err_nomem(e);
		return NULL;
	}
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
	return (struct collector){.self = x,
		.worker_new = worker_new,
		.track = count_track,
		.merge = merge,
		.worker_free = worker_free};
}

/* Executions without a stall: all less those that had one. */
static bool add_zeros(struct executions *x)
{
	uint64_t *zeros = mem_zalloc((size_t)x->n_rows + 1, sizeof(*zeros)), key, count;
	bool ok = zeros != NULL;

	for (size_t pos = 0; ok && u64_map_next(&x->hist.counts, &pos, &key, &count);) {
		uint32_t series = (uint32_t)(key >> 40);

		zeros[series / SERIES_COUNT] +=
			series % SERIES_COUNT == SERIES_CYCLES ? count : 0 - count;
	}
	for (uint32_t i = 0; ok && i < x->n_rows; i++)
		ok = zeros[i] == 0 ||
		     histograms_add(&x->hist, i * SERIES_COUNT + SERIES_STALL, 0, zeros[i]);
	mem_free(zeros);
	return ok;
}

bool executions_finish(struct executions *x, struct incore_error *e)
{
	if (!add_zeros(x))
		return err_nomem(e);
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
