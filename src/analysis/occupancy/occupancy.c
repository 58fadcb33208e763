/* SPDX-License-Identifier: Apache-2.0 */
/*
 * occupancy.c: how many waves were resident, when and where? One sweep over all start and end
 * events in time order keeps a running count for the whole, each SE, CU, SIMD and kernel; a second
 * one, with the peak known, measures the time below half of it and fills the time series.
 */
#include "analysis/occupancy/occupancy.h"
#include "base/search.h"

#include "analysis/occupancy/occupancy_internal.h"
#include "base/map.h"

struct counter {
	uint64_t now;
	int64_t at;
};

struct sweep {
	struct occupancy *o;
	const struct occupancy_events *events;
	int64_t from, to; /* window */
	struct counter all, *se, *cu, *simd, *kernel;
};

static int64_t clip(const struct sweep *s, int64_t t)
{
	return t < s->from ? s->from : t > s->to ? s->to : t;
}

/* Advances a count to time t. */
static void advance(const struct sweep *s, struct counter *c, struct occupancy_stats *x, int64_t t)
{
	uint64_t cyc = (uint64_t)clip(s, t) - (uint64_t)clip(s, c->at);

	c->at = t;
	if (c->now == 0 || cyc == 0)
		return;
	x->wave_cyc += c->now * cyc;
	x->busy_cyc += cyc;
	x->peak = c->now > x->peak ? c->now : x->peak;
}

static void apply(const struct sweep *s, struct counter *c, struct occupancy_stats *x,
	const struct wave_event *v)
{
	bool is_inside = v->time >= s->from && v->time <= s->to;

	advance(s, c, x, v->time);
	if (is_inside) {
		x->events++;
		if (x->events == 1 || (v->is_start && x->starts == 0))
			x->first_cyc = v->time;
		x->last_cyc = v->time;
		if (v->is_start)
			x->last_start_cyc = v->time;
		x->starts += v->is_start;
		x->ends += !v->is_start;
	}
	if (v->is_start) {
		c->now++;
		if (is_inside && c->now > x->peak)
			x->peak = c->now;
	} else if (v->is_stray || c->now == 0) {
		x->unmatched_ends += is_inside;
	} else {
		c->now--;
	}
}

static void finish(const struct sweep *s, struct counter *c, struct occupancy_stats *x, int64_t end)
{
	advance(s, c, x, end);
	x->open = c->now;
}

static bool alloc_counters(struct sweep *s)
{
	struct occupancy *o = s->o;
	struct arena *a = &o->arena;

	s->se = arena_zalloc(a, o->n_ses + 1u, sizeof(*s->se));
	s->cu = arena_zalloc(a, o->n_cus + 1u, sizeof(*s->cu));
	s->simd = arena_zalloc(a, o->n_simds + 1u, sizeof(*s->simd));
	s->kernel = arena_zalloc(a, o->n_kernels + 1u, sizeof(*s->kernel));
	return s->se && s->cu && s->simd && s->kernel;
}

/* Counts all events. Stray: an end on a SIMD where nothing runs, which must not lower any count. */
static void count_all(struct sweep *s)
{
	struct occupancy *o = s->o;
	const struct occupancy_events *ev = s->events;
	int64_t end = ev->n ? ev->v[ev->n - 1].time : 0;

	EACH (struct wave_event, v, ev->v, ev->n) {
		v->is_stray = !v->is_start && s->simd[v->simd].now == 0;
		apply(s, &s->all, &o->all, v);
		apply(s, &s->se[v->se], &o->ses[v->se].stats, v);
		apply(s, &s->cu[v->cu], &o->cus[v->cu].stats, v);
		apply(s, &s->simd[v->simd], &o->simds[v->simd].stats, v);
		apply(s, &s->kernel[v->kernel], &o->kernels[v->kernel].stats, v);
	}
	finish(s, &s->all, &o->all, end);
	for (uint32_t i = 0; i < o->n_ses; i++)
		finish(s, &s->se[i], &o->ses[i].stats, end);
	for (uint32_t i = 0; i < o->n_cus; i++)
		finish(s, &s->cu[i], &o->cus[i].stats, end);
	for (uint32_t i = 0; i < o->n_simds; i++)
		finish(s, &s->simd[i], &o->simds[i].stats, end);
	for (uint32_t i = 0; i < o->n_kernels; i++)
		finish(s, &s->kernel[i], &o->kernels[i].stats, end);
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void roll_up(struct occupancy *o)
{
	uint32_t se = 0, cu = 0;
	int64_t target = o->trace->meta.target_cu;

	EACH (const struct occupancy_simd, x, o->simds, o->n_simds) {
		while (o->cus[cu].se != x->se || o->cus[cu].cu != x->cu)
			cu++;
		o->cus[cu].peak_per_simd = max_u64(o->cus[cu].peak_per_simd, x->stats.peak);
	}
	EACH (struct occupancy_cu, x, o->cus, o->n_cus) {
		while (o->ses[se].se != x->se)
			se++;
		x->is_target = target != NO_VALUE && target == (int64_t)x->cu;
		o->ses[se].n_cus += x->stats.events > 0 || x->stats.wave_cyc > 0;
		o->ses[se].peak_per_simd = max_u64(o->ses[se].peak_per_simd, x->peak_per_simd);
		if (x->is_target)
			o->ses[se].target_cu_starts += x->stats.starts;
	}
	for (uint32_t i = 0; i < o->n_ses; i++)
		o->peak_per_simd = max_u64(o->peak_per_simd, o->ses[i].peak_per_simd);
}

static void bin_range(uint64_t span, uint32_t n, uint32_t i, uint64_t *from, uint64_t *to)
{
	/* (span % n) * i fits: n and i are small */
	*from = span / n * i + span % n * i / n;
	*to = span / n * (i + 1u) + span % n * (i + 1u) / n;
}

void occupancy_bin(const struct occupancy *o, uint32_t i, int64_t *from, int64_t *to)
{
	uint64_t a, b;

	bin_range(o->span_cyc, o->n_bins, i, &a, &b);
	*from = o->all.first_cyc + (int64_t)a;
	*to = o->all.first_cyc + (int64_t)b;
}

struct series {
	uint64_t *bins;
	uint32_t bin;	  /* the bin of the current time */
	uint64_t now, at; /* relative to the span's begin */
};

/* Spreads the time up to t over the bins. */
static void fill(const struct occupancy *o, struct series *s, uint64_t t)
{
	while (s->at < t && s->bin < o->n_bins) {
		uint64_t from, to, end;

		bin_range(o->span_cyc, o->n_bins, s->bin, &from, &to);
		end = to < t ? to : t;
		if (end > s->at) {
			s->bins[s->bin] += s->now * (end - s->at);
			s->at = end;
		}
		if (s->at >= to)
			s->bin++;
	}
	s->at = t;
}

static uint64_t in_span(const struct occupancy *o, int64_t t)
{
	if (t <= o->all.first_cyc)
		return 0;
	return (uint64_t)t - (uint64_t)o->all.first_cyc < o->span_cyc
		       ? (uint64_t)t - (uint64_t)o->all.first_cyc
		       : o->span_cyc;
}

/* Allocates series for the requested units; NULL on lack of memory. */
static struct series *open_series(struct occupancy *o, uint32_t n, uint64_t **bins)
{
	struct series *v = arena_zalloc(&o->arena, n + 1u, sizeof(*v));

	*bins = arena_zalloc(&o->arena, (size_t)n * o->n_bins + 1u, sizeof(uint64_t));
	if (!v || !*bins)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		v[i].bins = *bins + (size_t)i * o->n_bins;
	return v;
}

static void step(const struct occupancy *o, struct series *s, uint64_t t, bool is_start)
{
	fill(o, s, t);
	s->now = is_start ? s->now + 1 : s->now - 1;
}

static bool second_sweep(struct occupancy *o, const struct occupancy_events *ev)
{
	uint32_t n_units = o->series == SERIES_CU     ? o->n_cus
			   : o->series == SERIES_SIMD ? o->n_simds
						      : 0;
	struct series *all = open_series(o, 1, &o->bin_wave_cyc);
	struct series *se = open_series(o, o->n_ses, &o->bin_se_wave_cyc), *unit = NULL;
	uint64_t at = 0;

	if (n_units)
		unit = open_series(o, n_units, &o->bin_unit_wave_cyc);
	if (!all || !se || (n_units && !unit))
		return false;
	for (size_t i = 0; i <= ev->n; i++) {
		const struct wave_event *v = i < ev->n ? &ev->v[i] : NULL;
		uint64_t t = v ? in_span(o, v->time) : o->span_cyc;

		if (all->now * 2 < o->all.peak)
			o->below_half_cyc += t - at;
		at = t;
		fill(o, all, t);
		if (!v || v->is_stray)
			continue;
		step(o, all, t, v->is_start);
		step(o, &se[v->se], t, v->is_start);
		if (unit)
			step(o, &unit[o->series == SERIES_CU ? v->cu : v->simd], t, v->is_start);
	}
	for (uint32_t i = 0; i < o->n_ses; i++)
		fill(o, &se[i], o->span_cyc);
	for (uint32_t i = 0; i < n_units; i++)
		fill(o, &unit[i], o->span_cyc);
	return true;
}

static void find_window(struct sweep *s, const struct selection *sel)
{
	int64_t origin;

	s->from = INT64_MIN;
	s->to = INT64_MAX;
	if (!sel || (!sel->has_from && !sel->has_to))
		return;
	origin = sel->has_origin ? sel->origin_cyc : trace_origin(s->o->trace);
	if (sel->has_from && sel->from_cyc <= INT64_MAX &&
		__builtin_add_overflow(origin, (int64_t)sel->from_cyc, &s->from))
		s->from = INT64_MAX;
	if (sel->has_to && sel->to_cyc <= INT64_MAX &&
		__builtin_add_overflow(origin, (int64_t)sel->to_cyc, &s->to))
		s->to = INT64_MAX;
}

/* First start to last end; cut by the window if waves were running across its edges. */
static void find_span(struct occupancy *o, const struct sweep *s, const struct occupancy_events *ev)
{
	int64_t first = o->all.first_cyc, last = o->all.last_cyc;

	if (o->all.wave_cyc > 0 && ev->n > 0) {
		if (s->from != INT64_MIN && ev->v[0].time < s->from)
			first = s->from;
		if (s->to != INT64_MAX && ev->v[ev->n - 1].time > s->to)
			last = s->to;
	}
	o->all.first_cyc = first;
	o->all.last_cyc = last;
	o->span_cyc = (uint64_t)last - (uint64_t)first;
	if (o->all.starts > 0)
		o->tail_cyc = (uint64_t)last - (uint64_t)o->all.last_start_cyc;
}

ORDER(compare_kernels, struct occupancy_kernel, DOWN(stats.starts) UP(first_id))

static void count_tracks(struct occupancy *o, const struct selection *sel)
{
	const struct trace *t = o->trace;

	for (track_idx i = 0; i < t->n_tracks; i++)
		o->traced_waves += selection_has(sel, t, &t->tracks[i]);
	o->launched_waves = t->meta.launch.waves > 0 ? (uint64_t)t->meta.launch.waves : 0;
}

bool occupancy_compute(struct occupancy *o, const struct trace *t,
	const struct occupancy_options *options, struct incore_error *e)
{
	const struct selection *sel = options ? options->selection : NULL;
	struct occupancy_events ev = {0};
	struct sweep s = {.o = o, .events = &ev};
	bool ok = false;

	*o = (struct occupancy){.trace = t,
		.n_bins = options ? options->n_bins : 0,
		.series = options ? options->series : SERIES_SE};
	arena_init(&o->arena);
	count_tracks(o, sel);
	find_window(&s, sel);
	if (!occupancy_gather(o, sel, &ev, e))
		goto out;
	if (!alloc_counters(&s)) {
		err_nomem(e);
		goto out;
	}
	count_all(&s);
	find_span(o, &s, &ev);
	roll_up(o);
	if (!second_sweep(o, &ev)) {
		err_nomem(e);
		goto out;
	}
	SORT(o->kernels, o->n_kernels, compare_kernels);
	ok = true;
out:
	mem_free(ev.v);
	if (!ok)
		occupancy_deinit(o);
	return ok;
}

void occupancy_deinit(struct occupancy *o)
{
	arena_deinit(&o->arena);
	*o = (struct occupancy){0};
}

double occupancy_mean(const struct occupancy *o)
{
	return o->span_cyc ? (double)o->all.wave_cyc / (double)o->span_cyc : 0;
}

double occupancy_below_half(const struct occupancy *o)
{
	return o->span_cyc ? (double)o->below_half_cyc / (double)o->span_cyc : 0;
}

double occupancy_launch_rate(const struct occupancy *o)
{
	uint64_t cyc = (uint64_t)o->all.last_start_cyc - (uint64_t)o->all.first_cyc;

	return o->all.starts > 1 && cyc ? 1000.0 * (double)o->all.starts / (double)cyc : 0;
}

double occupancy_cu_balance(const struct occupancy *o)
{
	uint64_t most = 0, sum = 0;

	for (uint32_t i = 0; i < o->n_cus; i++) {
		most = max_u64(most, o->cus[i].stats.wave_cyc);
		sum += o->cus[i].stats.wave_cyc;
	}
	return sum ? (double)most * o->n_cus / (double)sum : 0;
}
