/* SPDX-License-Identifier: Apache-2.0 */
/*
 * * occupancy.c: how many waves were resident, when and where? One sweep over all start and end
 * events in time order keeps a running count for the whole, each SE, CU, SIMD and kernel; a second
 * one, with the peak known, measures the time below half of it and fills the time series.
 * Divisions: events; texts; figures.
 */
#include "analysis/occupancy/occupancy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"
#include "trace/kind.h"

struct wave_event {
	int64_t time;		       /* trace clock */
	uint32_t order;		       /* position in the trace; breaks ties */
	uint32_t se, cu, simd, kernel; /* indices into the tables of struct occupancy */
	bool is_start;
	bool is_stray; /* an end without a start */
};

struct occupancy_events {
	struct wave_event *v; /* sorted by (time, ends first, order) */
	size_t n;
};

/* --- events ----------------------------------------------------------------------------------- */

/* One event, from the trace's table or made from a track. */
struct raw_event {
	clock_idx clock;
	uint64_t time;
	uint32_t cu, simd, slot, kernel_id;
	bool is_start;
};

struct occupancy_gather {
	struct occupancy *o;
	const struct trace *t;
	const struct selection *sel;
	struct u64_map places;	/* place key -> index + 1 in simds */
	struct u64_map kernels; /* kernel id -> index in kernels */
	VEC(uint64_t) keys;
	struct wave_event *v;
	size_t n;
};

static size_t raw_count(const struct trace *t)
{
	return t->n_occupancy ? t->n_occupancy : (size_t)t->n_tracks * 2;
}

static struct raw_event raw_at(const struct trace *t, size_t i)
{
	if (t->n_occupancy) {
		const struct occupancy_event *x = &t->occupancy[i];

		return (struct raw_event){
			x->clock, x->time_cyc, x->cu, x->simd, x->slot, x->kernel_id, x->is_start};
	}
	const struct track *k = &t->tracks[i / 2];
	bool is_start = i % 2 == 0;

	return (struct raw_event){k->clock, is_start ? k->begin_cyc : k->end_cyc, k->coord[1],
		k->coord[2], k->coord[3], k->kernel_id, is_start};
}

static uint32_t se_of(const struct trace *t, clock_idx clock)
{
	return clock < t->n_clocks ? t->clocks[clock].id : 0;
}

static bool is_asked(const struct occupancy_gather *g, const struct raw_event *x)
{
	const struct selection *s = g->sel;

	if (!s)
		return true;
	if (s->has_kernel_filter && x->kernel_id != UINT32_MAX &&
		(s->kernel_ids.ranges.n == 0 || !number_set_has(&s->kernel_ids, x->kernel_id)))
		return false;
	return number_set_has(&s->level[0], se_of(g->t, x->clock)) &&
	       number_set_has(&s->level[1], x->cu) && number_set_has(&s->level[2], x->simd) &&
	       number_set_has(&s->level[3], x->slot);
}

/* SE, CU and SIMD as one number that sorts like the three; CU and SIMD are at most 16 bits. */
static uint64_t place_key(uint32_t se, uint32_t cu, uint32_t simd)
{
	return (uint64_t)se << 32 | (uint64_t)(cu & 0xffff) << 16 | (simd & 0xffff);
}

ORDER(compare_events, struct wave_event, UP(time) UP(is_start) UP(order))

static bool list_places(struct occupancy_gather *g)
{
	for (size_t i = 0; i < raw_count(g->t); i++) {
		struct raw_event x = raw_at(g->t, i);
		uint64_t key, *slot;

		if (!is_asked(g, &x))
			continue;
		g->n++;
		key = place_key(se_of(g->t, x.clock), x.cu, x.simd);
		slot = u64_map_at(&g->places, key);
		if (!slot || (*slot == 0 && !VEC_PUSH(&g->keys, key)))
			return false;
		*slot = 1;
	}
	if (g->keys.n)
		qsort(g->keys.v, g->keys.n, sizeof(uint64_t), compare_u64);
	return true;
}

/* Makes SIMDs, CUs and SEs from the sorted places. */
static bool make_places(struct occupancy_gather *g)
{
	struct occupancy *o = g->o;
	size_t n = g->keys.n + 1;

	o->simds = arena_zalloc(&o->arena, n, sizeof(*o->simds));
	o->cus = arena_zalloc(&o->arena, n, sizeof(*o->cus));
	o->ses = arena_zalloc(&o->arena, n, sizeof(*o->ses));
	if (!o->simds || !o->cus || !o->ses)
		return false;
	for (size_t i = 0; i < g->keys.n; i++) {
		uint64_t key = g->keys.v[i];
		uint32_t se = (uint32_t)(key >> 32), cu = key >> 16 & 0xffff, simd = key & 0xffff;
		uint64_t *slot = u64_map_find(&g->places, key);

		if (o->n_ses == 0 || o->ses[o->n_ses - 1].se != se)
			o->ses[o->n_ses++] = (struct occupancy_se){.se = se};
		if (o->n_cus == 0 || o->cus[o->n_cus - 1].se != se || o->cus[o->n_cus - 1].cu != cu)
			o->cus[o->n_cus++] = (struct occupancy_cu){.se = se, .cu = cu};
		/* also holds the indices of SE and CU for now: see place_event() */
		o->simds[o->n_simds].se = o->n_ses - 1;
		o->simds[o->n_simds].cu = o->n_cus - 1;
		o->simds[o->n_simds].simd = simd;
		*slot = ++o->n_simds;
	}
	return true;
}

/* Is it the placeholder that AMD's tools write for unknown programs? */
static bool is_no_name(const struct kernel_name *k)
{
	return k->id == 0 && strcmp(k->name, "0 / 0x0") == 0;
}

static const char *occupancy_name_of(const struct trace *t, uint32_t id)
{
	uint32_t lo = 0, hi = t->n_kernel_names;
	const struct kernel_name *k;

	BISECT(lo, hi, i, t->kernel_names[i].id < id);
	if (lo == t->n_kernel_names)
		return NULL;
	k = &t->kernel_names[lo];
	return k->id == id && !is_no_name(k) ? k->name : NULL;
}

ORDER(compare_ids, struct occupancy_kernel_id, UP(id))

/* Lists all ids that have a name or an event, with their starts. */
static bool list_kernel_ids(struct occupancy_gather *g)
{
	struct occupancy *o = g->o;
	uint64_t id, starts;
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->t->n_kernel_names; i++)
		if (!is_no_name(&g->t->kernel_names[i]) &&
			!u64_map_at(&g->kernels, g->t->kernel_names[i].id))
			return false;
	for (size_t i = 0; i < raw_count(g->t); i++) {
		struct raw_event x = raw_at(g->t, i);
		uint64_t *slot;

		if (!is_asked(g, &x))
			continue;
		slot = u64_map_at(&g->kernels, x.kernel_id);
		if (!slot)
			return false;
		*slot += x.is_start;
	}
	o->kernel_ids = arena_zalloc(&o->arena, g->kernels.n + 1, sizeof(*o->kernel_ids));
	if (!o->kernel_ids)
		return false;
	for (size_t pos = 0; u64_map_next(&g->kernels, &pos, &id, &starts);)
		o->kernel_ids[n++] = (struct occupancy_kernel_id){
			(uint32_t)id, occupancy_name_of(g->t, (uint32_t)id), starts};
	o->n_kernel_ids = n;
	SORT(o->kernel_ids, n, compare_ids);
	return true;
}

/* Ids with the same name form one kernel; an id without a name forms its own. */
static bool make_kernels(struct occupancy_gather *g)
{
	struct occupancy *o = g->o;
	struct intern names;
	uint32_t *kernel_of_name;
	bool ok = false;

	intern_init(&names);
	o->kernels = arena_zalloc(&o->arena, o->n_kernel_ids + 1u, sizeof(*o->kernels));
	kernel_of_name = arena_zalloc(&o->arena, o->n_kernel_ids + 1u, sizeof(uint32_t));
	if (!o->kernels || !kernel_of_name)
		goto out;
	EACH (const struct occupancy_kernel_id, x, o->kernel_ids, o->n_kernel_ids) {
		uint64_t *slot = u64_map_find(&g->kernels, x->id);
		const char *name = x->name;
		uint32_t before = names.n, at;

		if (!name)
			name = x->id == UINT32_MAX ? "(not known)"
						   : arena_printf(&o->arena, "id %u", x->id);
		if (!name || (at = intern_add(&names, str_of(name))) == INTERN_NONE)
			goto out;
		if (names.n > before) {
			kernel_of_name[at] = o->n_kernels;
			o->kernels[o->n_kernels++] =
				(struct occupancy_kernel){.name = name, .first_id = x->id};
		}
		o->kernels[kernel_of_name[at]].n_ids++;
		o->kernels[kernel_of_name[at]].n_used += x->starts > 0;
		*slot = kernel_of_name[at];
	}
	ok = true;
out:
	intern_deinit(&names);
	return ok;
}

static bool place_events(struct occupancy_gather *g)
{
	struct occupancy *o = g->o;
	size_t n = 0;

	g->v = mem_zalloc(g->n + 1, sizeof(*g->v));
	if (!g->v)
		return false;
	for (size_t i = 0; i < raw_count(g->t); i++) {
		struct raw_event x = raw_at(g->t, i);
		uint32_t simd;

		if (!is_asked(g, &x))
			continue;
		simd = (uint32_t)*u64_map_find(
			       &g->places, place_key(se_of(g->t, x.clock), x.cu, x.simd)) -
		       1;
		g->v[n++] = (struct wave_event){.time = trace_aligned(g->t, x.clock, x.time),
			.order = (uint32_t)i,
			.se = o->simds[simd].se,
			.cu = o->simds[simd].cu,
			.simd = simd,
			.kernel = (uint32_t)*u64_map_find(&g->kernels, x.kernel_id),
			.is_start = x.is_start};
	}
	SORT(g->v, n, compare_events);
	for (uint32_t i = 0; i < o->n_simds; i++) { /* convert the indices back to numbers */
		const struct occupancy_cu *cu = &o->cus[o->simds[i].cu];

		o->simds[i].se = cu->se;
		o->simds[i].cu = cu->cu;
	}
	return true;
}

static void find_aligned(struct occupancy *o)
{
	const struct trace *t = o->trace;
	uint32_t n_aligned = 0;

	for (uint32_t i = 0; i < o->n_ses; i++) {
		for (uint32_t c = 0; c < t->n_clocks; c++)
			if (t->clocks[c].id == o->ses[i].se)
				o->ses[i].is_aligned = t->clocks[c].is_aligned;
		n_aligned += o->ses[i].is_aligned;
	}
	o->is_aligned = n_aligned == o->n_ses || o->n_ses == 1;
}

/* Fills *ev (the caller frees v) and the tables of *o: SEs, CUs, SIMDs, kernels, all counts 0. */
static bool occupancy_gather(struct occupancy *o, const struct selection *s,
	struct occupancy_events *ev, struct incore_error *e)
{
	struct occupancy_gather g = {.o = o, .t = o->trace, .sel = s};
	bool ok;

	o->is_from_tracks = g.t->n_occupancy == 0;
	ok = list_places(&g) && make_places(&g) && list_kernel_ids(&g) && make_kernels(&g) &&
	     place_events(&g);
	if (ok)
		find_aligned(o);
	u64_map_deinit(&g.places);
	u64_map_deinit(&g.kernels);
	VEC_FREE(&g.keys);
	ev->v = g.v;
	ev->n = ok ? g.n : 0;
	return ok || err_nomem(e);
}

/* --- texts ------------------------------------------------------------------------------------ */

static const char *const event_names[OCCUPANCY_EVENT_TYPES] = {"none", "partial-flush",
	"bottom-of-pipe", "save-context", "dispatch-end", "cache-flush", "packet-loss",
	"code-object-load", "code-object-unload", "trace-stall-begin", "trace-stall-end",
	"trace-flush", "didt-stall-begin", "didt-stall-end", "cluster-barrier", "reserved",
	"gc-rinse", "spm-sample"};

const char *occupancy_event_name(uint32_t type)
{
	return type < OCCUPANCY_EVENT_TYPES ? event_names[type] : "unknown";
}

static double us_of(const struct trace *t, uint64_t cyc)
{
	double mhz = trace_clock_mhz(t);

	return mhz > 0 ? (double)cyc / mhz : 0;
}

/* Samples say how often, not when: nothing of a time, or of waves that were traced. */
static bool put_sampled_coverage(const struct occupancy *o, struct strbuf *out)
{
	const struct trace *t = o->trace;
	const char *wave = vendor_row(t)->wave;

	if (o->launched_waves)
		sb_printf(out, "%" PRIu64 " launched %s%s, ", o->launched_waves, wave,
			plural(o->launched_waves));
	sb_printf(out, "sampled: no %s was traced", wave);
	if (trace_clock_mhz(t) > 0)
		sb_printf(out, ", %.1f MHz", trace_clock_mhz(t));
	return !out->failed;
}

bool occupancy_put_coverage(const struct occupancy *o, struct strbuf *out)
{
	const struct trace *t = o->trace;
	uint64_t whole = o->launched_waves ? o->launched_waves : o->all.starts;

	if (trace_kind(t) == KIND_SAMPLES)
		return put_sampled_coverage(o, out);
	sb_put_u64(out, o->traced_waves);
	sb_puts(out, " of ");
	sb_put_u64(out, whole);
	sb_puts(out,
		o->launched_waves ? " launched waves traced" : " waves of the traced SEs traced");
	if (whole)
		sb_printf(out, " (%.1f %%)", 100.0 * (double)o->traced_waves / (double)whole);
	sb_printf(out, ", %u SE%s", o->n_ses, plural(o->n_ses));
	if (t->meta.target_cu != NO_VALUE)
		sb_printf(out, ", CU %" PRId64, t->meta.target_cu);
	if (trace_clock_mhz(t) > 0)
		sb_printf(out, ", %.1f MHz", trace_clock_mhz(t));
	sb_puts(out, ", span ");
	sb_put_u64(out, o->span_cyc);
	sb_puts(out, " cycles");
	if (trace_clock_mhz(t) > 0)
		sb_printf(out, " = %.2f us", us_of(t, o->span_cyc));
	return !out->failed;
}

/* --- figures ---------------------------------------------------------------------------------- */

struct occupancy_counter {
	uint64_t now;
	int64_t at;
};

struct occupancy_sweep {
	struct occupancy *o;
	const struct occupancy_events *events;
	int64_t from, to; /* window */
	struct occupancy_counter all, *se, *cu, *simd, *kernel;
	bool is_draining;  /* a wave has ended since the last start */
	int64_t drain_cyc; /* the first of them */
};

static int64_t clip(const struct occupancy_sweep *s, int64_t t)
{
	return t < s->from ? s->from : t > s->to ? s->to : t;
}

/* Advances a count to time t. */
static void advance(const struct occupancy_sweep *s, struct occupancy_counter *c,
	struct occupancy_stats *x, int64_t t)
{
	uint64_t cyc = (uint64_t)clip(s, t) - (uint64_t)clip(s, c->at);

	c->at = t;
	if (c->now == 0 || cyc == 0)
		return;
	x->wave_cyc += c->now * cyc;
	x->busy_cyc += cyc;
	x->peak = c->now > x->peak ? c->now : x->peak;
}

static void apply(const struct occupancy_sweep *s, struct occupancy_counter *c,
	struct occupancy_stats *x, const struct wave_event *v)
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

static void occupancy_finish(const struct occupancy_sweep *s, struct occupancy_counter *c,
	struct occupancy_stats *x, int64_t end)
{
	advance(s, c, x, end);
	x->open = c->now;
}

static bool alloc_counters(struct occupancy_sweep *s)
{
	struct occupancy *o = s->o;
	struct arena *a = &o->arena;

	s->se = arena_zalloc(a, o->n_ses + 1u, sizeof(*s->se));
	s->cu = arena_zalloc(a, o->n_cus + 1u, sizeof(*s->cu));
	s->simd = arena_zalloc(a, o->n_simds + 1u, sizeof(*s->simd));
	s->kernel = arena_zalloc(a, o->n_kernels + 1u, sizeof(*s->kernel));
	return s->se && s->cu && s->simd && s->kernel;
}

/* The tail begins with the first end that no start follows: every start ends what looked like it. */
static void note_drain(struct occupancy_sweep *s, const struct wave_event *v)
{
	if (v->time < s->from || v->time > s->to || v->is_stray)
		return;
	if (v->is_start)
		s->is_draining = false;
	else if (!s->is_draining)
		s->drain_cyc = v->time;
	s->is_draining |= !v->is_start;
}

/* Counts all events. Stray: an end on a SIMD where nothing runs, which must not lower any count. */
static void count_all(struct occupancy_sweep *s)
{
	struct occupancy *o = s->o;
	const struct occupancy_events *ev = s->events;
	int64_t end = ev->n ? ev->v[ev->n - 1].time : 0;

	EACH (struct wave_event, v, ev->v, ev->n) {
		v->is_stray = !v->is_start && s->simd[v->simd].now == 0;
		note_drain(s, v);
		apply(s, &s->all, &o->all, v);
		apply(s, &s->se[v->se], &o->ses[v->se].stats, v);
		apply(s, &s->cu[v->cu], &o->cus[v->cu].stats, v);
		apply(s, &s->simd[v->simd], &o->simds[v->simd].stats, v);
		apply(s, &s->kernel[v->kernel], &o->kernels[v->kernel].stats, v);
	}
	occupancy_finish(s, &s->all, &o->all, end);
	for (uint32_t i = 0; i < o->n_ses; i++)
		occupancy_finish(s, &s->se[i], &o->ses[i].stats, end);
	for (uint32_t i = 0; i < o->n_cus; i++)
		occupancy_finish(s, &s->cu[i], &o->cus[i].stats, end);
	for (uint32_t i = 0; i < o->n_simds; i++)
		occupancy_finish(s, &s->simd[i], &o->simds[i].stats, end);
	for (uint32_t i = 0; i < o->n_kernels; i++)
		occupancy_finish(s, &s->kernel[i], &o->kernels[i].stats, end);
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

struct series_job {
	uint64_t *bins;
	uint32_t bin;	  /* the bin of the current time */
	uint64_t now, at; /* relative to the span's begin */
};

/* Spreads the time up to t over the bins. */
static void occupancy_fill(const struct occupancy *o, struct series_job *s, uint64_t t)
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
static struct series_job *open_series(struct occupancy *o, uint32_t n, uint64_t **bins)
{
	struct series_job *v = arena_zalloc(&o->arena, n + 1u, sizeof(*v));

	*bins = arena_zalloc(&o->arena, (size_t)n * o->n_bins + 1u, sizeof(uint64_t));
	if (!v || !*bins)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		v[i].bins = *bins + (size_t)i * o->n_bins;
	return v;
}

static void occupancy_step(
	const struct occupancy *o, struct series_job *s, uint64_t t, bool is_start)
{
	occupancy_fill(o, s, t);
	s->now = is_start ? s->now + 1 : s->now - 1;
}

static bool second_sweep(struct occupancy *o, const struct occupancy_events *ev)
{
	uint32_t n_units = o->series == SERIES_CU     ? o->n_cus
			   : o->series == SERIES_SIMD ? o->n_simds
						      : 0;
	struct series_job *all = open_series(o, 1, &o->bin_wave_cyc);
	struct series_job *se = open_series(o, o->n_ses, &o->bin_se_wave_cyc), *unit = NULL;
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
		occupancy_fill(o, all, t);
		if (!v || v->is_stray)
			continue;
		occupancy_step(o, all, t, v->is_start);
		occupancy_step(o, &se[v->se], t, v->is_start);
		if (unit)
			occupancy_step(
				o, &unit[o->series == SERIES_CU ? v->cu : v->simd], t, v->is_start);
	}
	for (uint32_t i = 0; i < o->n_ses; i++)
		occupancy_fill(o, &se[i], o->span_cyc);
	for (uint32_t i = 0; i < n_units; i++)
		occupancy_fill(o, &unit[i], o->span_cyc);
	return true;
}

static void find_window(struct occupancy_sweep *s, const struct selection *sel)
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
static void find_span(
	struct occupancy *o, const struct occupancy_sweep *s, const struct occupancy_events *ev)
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
	if (o->all.starts > 0 && s->is_draining)
		o->tail_cyc = (uint64_t)last - (uint64_t)s->drain_cyc;
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
	struct occupancy_sweep s = {.o = o, .events = &ev};
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
