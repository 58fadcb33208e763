/* SPDX-License-Identifier: Apache-2.0 */
/* executions.c: the cost of one execution of each code row, over all of them. */
#include "analysis/executions.h"

#include "base/mem.h"

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
		if (d->code[i] < x->trace->n_code && d->code[i] < HISTOGRAM_MAX_SERIES &&
			!histograms_add(mine, d->code[i], d->dur_cyc[i], 1))
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
	x->trace = t;
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

bool executions_finish(struct executions *x, struct incore_error *e)
{
	uint32_t n =
		x->trace->n_code < HISTOGRAM_MAX_SERIES ? x->trace->n_code : HISTOGRAM_MAX_SERIES;

	return histograms_seal(&x->hist, n, e);
}
