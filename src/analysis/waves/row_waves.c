/* SPDX-License-Identifier: Apache-2.0 */
/* row_waves.c: the spread of each row's mean cost over the waves. */
#include "analysis/waves/row_waves.h"

#include <math.h>

#include "base/mem.h"
#include "base/vec.h"

#define MAX_MEAN ((UINT64_C(1) << 32) - 1) /* larger ones count as this: squares fit 64 bits */

struct cost { /* cost of a row in the current wave */
	uint64_t cyc, n;
};

struct row_waves_worker {
	struct row_spread *rows;
	struct cost *costs;
	VEC(code_idx) touched;
};

struct row_waves *row_waves_new(const struct trace *t, struct incore_error *e)
{
	struct row_waves *r = mem_zalloc(1, sizeof(*r));

	if (r) {
		r->trace = t;
		r->rows = mem_zalloc((size_t)t->n_code + 1, sizeof(*r->rows));
		if (r->rows)
			return r;
	}
	row_waves_free(r);
	return err_nomem_null(e);
}

void row_waves_free(struct row_waves *r)
{
	if (!r)
		return;
	mem_free(r->rows);
	mem_free(r);
}

static void row_waves_worker_deinit(void *self, void *mine)
{
	struct row_waves_worker *m = mine;

	(void)self;
	mem_free(m->rows);
	mem_free(m->costs);
	VEC_FREE(&m->touched);
}

static bool row_waves_worker_init(void *self, void *mine)
{
	const struct row_waves *r = self;
	struct row_waves_worker *m = mine;

	m->rows = mem_zalloc((size_t)r->trace->n_code + 1, sizeof(*m->rows));
	m->costs = mem_zalloc((size_t)r->trace->n_code + 1, sizeof(*m->costs));
	return m->rows && m->costs;
}

static void row_waves_spread_add(struct row_spread *to, const struct row_spread *from)
{
	if (from->n == 0)
		return;
	if (to->n == 0 || from->min < to->min)
		to->min = from->min;
	if (to->n == 0 || from->max > to->max ||
		(from->max == to->max && from->slowest < to->slowest)) {
		to->max = from->max;
		to->slowest = from->slowest;
	}
	to->n += from->n;
	to->sum += from->sum;
	to->square_low += from->square_low;
	to->square_high += from->square_high;
}

/* Adds the mean of one wave to those of the others. */
static void end_row(struct row_waves_worker *m, code_idx code, track_idx track)
{
	struct cost *c = &m->costs[code];
	uint64_t mean = c->cyc / c->n * ROW_WAVES_UNIT + c->cyc % c->n * ROW_WAVES_UNIT / c->n;
	struct row_spread one = {.n = 1, .slowest = track};

	mean = mean < MAX_MEAN ? mean : MAX_MEAN;
	one.sum = one.min = one.max = mean;
	one.square_low = mean * mean & UINT32_MAX;
	one.square_high = mean * mean >> 32;
	row_waves_spread_add(&m->rows[code], &one);
	*c = (struct cost){0};
}

static bool row_waves_track(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct row_waves *r = self;
	struct row_waves_worker *m = mine;
	const struct track_data *d = w->data;
	bool is_whole = w->from_cyc == 0 && w->to_cyc == UINT64_MAX;

	m->touched.n = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		code_idx code = d->code[i];

		if (code >= r->trace->n_code)
			continue;
		if (!is_whole && (d->start_cyc[i] < w->from_cyc || d->start_cyc[i] >= w->to_cyc))
			continue;
		if (m->costs[code].n++ == 0 && !VEC_PUSH(&m->touched, code))
			return err_nomem(e);
		m->costs[code].cyc += d->dur_cyc[i];
	}
	for (size_t i = 0; i < m->touched.n; i++)
		end_row(m, m->touched.v[i], w->idx);
	return true;
}

static bool row_waves_merge(void *self, void *mine, struct incore_error *e)
{
	struct row_waves *r = self;
	const struct row_waves_worker *m = mine;

	(void)e;
	for (code_idx i = 0; i < r->trace->n_code; i++)
		row_waves_spread_add(&r->rows[i], &m->rows[i]);
	return true;
}

struct collector row_waves_collector(struct row_waves *r)
{
	return (struct collector){r, sizeof(struct row_waves_worker), row_waves_worker_init,
		row_waves_track, row_waves_merge, row_waves_worker_deinit};
}

double row_spread_mean(const struct row_spread *s)
{
	return s->n ? (double)s->sum / (double)s->n / ROW_WAVES_UNIT : 0;
}

double row_spread_deviation(const struct row_spread *s)
{
	double mean, square;

	if (s->n == 0)
		return 0;
	mean = (double)s->sum / (double)s->n;
	square = ((double)s->square_high * 4294967296.0 + (double)s->square_low) / (double)s->n;
	return square > mean * mean ? sqrt(square - mean * mean) / ROW_WAVES_UNIT : 0;
}
