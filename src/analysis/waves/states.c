/* SPDX-License-Identifier: Apache-2.0 */
/* states.c: cycles in each wave state, per wave, in total, and over time. */
#include "analysis/waves/states.h"

#include "base/mem.h"

struct states_gather {
	struct states_wave all;
	uint64_t n_waves;
	uint64_t (*bins)[STATE_COUNT];
};

const char *state_name(enum wave_state s)
{
	return (unsigned)s < STATE_COUNT ? state_words[s] : "UNKNOWN";
}

/* Aligned first begin to last end of all tracks. */
static void states_span_of(const struct trace *t, int64_t *from, uint64_t *length)
{
	int64_t low = 0, high = 0;

	for (uint32_t i = 0; i < t->n_tracks; i++) {
		int64_t b = trace_aligned(t, t->tracks[i].clock, t->tracks[i].begin_cyc);
		int64_t e = trace_aligned(t, t->tracks[i].clock, t->tracks[i].end_cyc);

		if (i == 0 || b < low)
			low = b;
		if (i == 0 || e > high)
			high = e;
	}
	*from = low;
	*length = (uint64_t)high - (uint64_t)low;
}

struct states *states_new(const struct trace *t, uint32_t n_bins, struct incore_error *e)
{
	struct states *s = mem_zalloc(1, sizeof(*s));
	uint64_t length;

	if (s) {
		s->trace = t;
		s->n_bins = n_bins;
		states_span_of(t, &s->bins_from_cyc, &length);
		s->bin_cyc = n_bins ? length / n_bins + 1 : 1;
		s->waves = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*s->waves));
		s->bins = mem_zalloc((size_t)n_bins + 1, sizeof(*s->bins));
		if (s->waves && s->bins)
			return s;
	}
	states_free(s);
	return err_nomem_null(e);
}

void states_free(struct states *s)
{
	if (!s)
		return;
	mem_free(s->waves);
	mem_free(s->bins);
	mem_free(s);
}

static void states_worker_deinit(void *self, void *mine)
{
	struct states_gather *g = mine;

	(void)self;
	mem_free(g->bins);
}

static bool states_worker_init(void *self, void *mine)
{
	const struct states *s = self;
	struct states_gather *g = mine;

	g->bins = mem_zalloc((size_t)s->n_bins + 1, sizeof(*g->bins));
	return g->bins != NULL;
}

/* Spreads [from, to) of aligned time over the bins it touches. */
static void add_bins(
	const struct states *s, struct states_gather *g, unsigned state, int64_t from, int64_t to)
{
	uint64_t a, b;

	if (to <= s->bins_from_cyc)
		return;
	a = from > s->bins_from_cyc ? (uint64_t)from - (uint64_t)s->bins_from_cyc : 0;
	b = (uint64_t)to - (uint64_t)s->bins_from_cyc;
	for (uint64_t k = a / s->bin_cyc; k < s->n_bins && a < b; k++) {
		uint64_t end = (k + 1) * s->bin_cyc < b ? (k + 1) * s->bin_cyc : b;

		g->bins[k][state] += end - a;
		a = end;
	}
}

static bool states_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct states *s = self;
	struct states_gather *g = mine;
	struct states_wave *wave = &s->waves[w->idx];
	const struct track_data *d = w->data;
	uint64_t now = d->begin_cyc;

	(void)e;
	*wave = (struct states_wave){0};
	for (uint32_t i = 0; i < d->n_states; i++) {
		uint64_t from = now > w->from_cyc ? now : w->from_cyc;
		uint64_t to = now + d->state_dur_cyc[i];
		unsigned state = d->state[i] < STATE_COUNT ? d->state[i] : STATE_EMPTY;

		now = to;
		if (to > w->to_cyc)
			to = w->to_cyc;
		/* an empty segment counts at its position */
		if (to < from || (to == from && (d->state_dur_cyc[i] || from >= w->to_cyc)))
			continue;
		wave->cyc[state] += to - from;
		wave->segments++;
		if (s->n_bins)
			add_bins(s, g, state, trace_aligned(w->trace, w->track->clock, from),
				trace_aligned(w->trace, w->track->clock, to));
	}
	for (unsigned k = 0; k < STATE_COUNT; k++)
		g->all.cyc[k] += wave->cyc[k];
	g->all.segments += wave->segments;
	g->n_waves += d->n_states > 0;
	return true;
}

static bool states_merge(void *self, void *mine, struct incore_error *e)
{
	struct states *s = self;
	const struct states_gather *g = mine;

	(void)e;
	for (unsigned k = 0; k < STATE_COUNT; k++) {
		s->all.cyc[k] += g->all.cyc[k];
		for (uint32_t i = 0; i < s->n_bins; i++)
			s->bins[i][k] += g->bins[i][k];
	}
	s->all.segments += g->all.segments;
	s->n_waves += g->n_waves;
	return true;
}

struct collector states_collector(struct states *s)
{
	return (struct collector){.self = s,
		.want = TRACK_STATES | TRACK_NO_SLICES,
		.worker_bytes = sizeof(struct states_gather),
		.worker_init = states_worker_init,
		.track = states_track,
		.merge = states_merge,
		.worker_deinit = states_worker_deinit};
}

uint64_t states_total(const struct states_wave *s)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < STATE_COUNT; k++)
		sum += s->cyc[k];
	return sum;
}
