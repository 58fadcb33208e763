/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy_events.c: selects the start and end events and finds where they happened. */
#include <stdlib.h>
#include <string.h>

#include "analysis/occupancy/occupancy_internal.h"
#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"

/* One event, from the trace's table or made from a track. */
struct raw_event {
	clock_idx clock;
	uint64_t time;
	uint32_t cu, simd, slot, kernel_id;
	bool is_start;
};

struct gather {
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

static bool is_asked(const struct gather *g, const struct raw_event *x)
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

static bool list_places(struct gather *g)
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
static bool make_places(struct gather *g)
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

static const char *name_of(const struct trace *t, uint32_t id)
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
static bool list_kernel_ids(struct gather *g)
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
			(uint32_t)id, name_of(g->t, (uint32_t)id), starts};
	o->n_kernel_ids = n;
	SORT(o->kernel_ids, n, compare_ids);
	return true;
}

/* Ids with the same name form one kernel; an id without a name forms its own. */
static bool make_kernels(struct gather *g)
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

static bool place_events(struct gather *g)
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

bool occupancy_gather(struct occupancy *o, const struct selection *s, struct occupancy_events *ev,
	struct incore_error *e)
{
	struct gather g = {.o = o, .t = o->trace, .sel = s};
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
