/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c: assigns slices to lanes. Slices of a thread nest or overlap; each is put into the
 * first lane of its thread that is free when it begins, so that nested slices are sorted by depth
 * and slices of a lane never overlap.
 */
#include "base/search.h"
#include "import/timeline/timeline.h"
#include "trace/mem_tracks.h"

#define MAX_DEPTH 64

/* --- halves --- */

ORDER(half_cmp, struct tl_half, UP(key) UP(at_ns) UP(order))

static bool pair_run(struct timeline *l, const struct tl_half *v, size_t n, uint32_t *stack)
{
	size_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		const struct tl_half *b;

		if (v[i].is_begin) {
			stack[depth++] = (uint32_t)i;
			continue;
		}
		if (depth == 0) {
			l->counts[TL_NO_BEGIN]++;
			continue;
		}
		b = &v[stack[--depth]];
		if (!tl_add_slice(
			    l, b->lane, (struct tl_slice){b->at_ns, v[i].at_ns, b->code, b->kind}))
			return false;
	}
	while (depth) {
		const struct tl_half *b = &v[stack[--depth]];

		l->counts[TL_NO_END]++;
		if (!tl_add_slice(
			    l, b->lane, (struct tl_slice){b->at_ns, l->max_ns, b->code, b->kind}))
			return false;
	}
	return true;
}

bool tl_pair_halves(struct timeline *l)
{
	size_t n = l->halves.n;
	uint32_t *stack = n ? mem_alloc(n * sizeof(*stack)) : NULL;
	bool ok = stack || n == 0;

	SORT(l->halves.v, n, half_cmp);
	for (size_t i = 0, end = 0; ok && i < n; i = end) {
		while (end < n && l->halves.v[end].key == l->halves.v[i].key)
			end++;
		ok = pair_run(l, l->halves.v + i, end - i, stack);
	}
	mem_free(stack);
	VEC_FREE(&l->halves);
	return ok;
}

/* --- the order of lanes --- */

struct lane_ref {
	int64_t process_sort, sort;
	uint64_t process_number, number; /* UINT64_MAX: the key is not a number */
	uint32_t process, lane;
};

ORDER(lane_cmp, struct lane_ref,
	UP(process_sort) UP(process_number) UP(process) UP(sort) UP(number) UP(lane))

static uint64_t number_of(const char *key)
{
	uint64_t v;

	return str_to_u64(str_of(key), &v) ? v : UINT64_MAX;
}

static struct lane_ref *sorted_lanes(struct timeline *l, size_t *n)
{
	struct lane_ref *v = mem_zalloc(l->lanes.n + 1, sizeof(*v));

	*n = 0;
	for (uint32_t i = 0; v && i < l->lanes.n; i++) {
		const struct tl_lane *k = &l->lanes.v[i];
		const struct tl_process *p = &l->processes.v[k->process];

		if (k->slices.n)
			v[(*n)++] = (struct lane_ref){p->sort, k->sort, number_of(p->key),
				number_of(k->key), k->process, i};
	}
	if (v)
		SORT(v, *n, lane_cmp);
	return v;
}

static const char *name_of(struct timeline *l, const struct tl_lane *k, uint32_t depth)
{
	const struct tl_process *p = &l->processes.v[k->process];
	const char *process = p->name ? p->name : *p->key ? p->key : "no process";
	const char *thread = k->name ? k->name : *k->key ? k->key : "no thread";

	sb_reset(&l->scratch);
	sb_printf(&l->scratch, "%s%s%s%s%s/%s%s",
		!p->name && number_of(p->key) != UINT64_MAX ? "process " : "", process,
		p->labels ? " (" : "", p->labels ? p->labels : "", p->labels ? ")" : "",
		!k->name && number_of(k->key) != UINT64_MAX ? "thread " : "", thread);
	if (depth)
		sb_printf(&l->scratch, " [%u]", depth);
	return l->scratch.failed ? NULL
				 : arena_strndup(&l->trace->arena, l->scratch.p, l->scratch.n);
}

/* --- depth --- */

struct layout {
	struct timeline *l;
	VEC(struct track) tracks;
	struct mem_tracks *content;
	VEC(uint8_t) depth;	  /* by slice of the current lane */
	uint32_t process, thread; /* ordinals of the lane */
};

/* Of two slices that begin together, the longer is the outer one. */
ORDER(slice_cmp, struct tl_slice, UP(from_ns) DOWN(to_ns) UP(code) UP(kind))

static bool find_depths(struct layout *x, const struct tl_lane *k, uint32_t count[MAX_DEPTH])
{
	int64_t end[MAX_DEPTH];
	unsigned n = 0;

	x->depth.n = 0;
	memset(count, 0, MAX_DEPTH * sizeof(*count));
	EACH (const struct tl_slice, s, k->slices.v, k->slices.n) {
		unsigned d = 0;

		while (d < n && end[d] > s->from_ns)
			d++;
		if (d == MAX_DEPTH) {
			d--;
			x->l->counts[TL_TOO_DEEP]++;
		}
		n = d < n ? n : d + 1;
		end[d] = s->to_ns;
		count[d]++;
		if (!VEC_PUSH(&x->depth, (uint8_t)d))
			return false;
	}
	return true;
}

static bool add_track(struct layout *x, const struct tl_lane *k, uint32_t depth, uint32_t n)
{
	struct track t = {.coord = {x->process, x->thread, depth},
		.kernel_id = UINT32_MAX,
		.workgroup = NO_VALUE,
		.begin_cyc = UINT64_MAX,
		.name = name_of(x->l, k, depth)};

	return t.name && x->tracks.n < NO_TRACK - 1 && mem_tracks_add(x->content, n) &&
	       VEC_PUSH(&x->tracks, t);
}

static void put_slice(struct layout *x, uint32_t track, const struct tl_slice *s)
{
	const struct timeline *l = x->l;
	struct track *t = &x->tracks.v[track];
	uint64_t from = (uint64_t)(s->from_ns - l->min_ns) / (uint64_t)l->unit_ns;
	uint64_t to = (uint64_t)(s->to_ns - l->min_ns) / (uint64_t)l->unit_ns;

	x->content->slices.v[track][t->n_slices++] = (struct track_slice){.start = from,
		.dur = (uint32_t)(to - from),
		.code = s->code,
		.inst_class = CLASS_USERMARK,
		.tag = s->kind};
	t->begin_cyc = from < t->begin_cyc ? from : t->begin_cyc;
	t->end_cyc = to > t->end_cyc ? to : t->end_cyc;
}

static bool layout_lane(struct layout *x, struct tl_lane *k)
{
	uint32_t count[MAX_DEPTH];

	SORT(k->slices.v, k->slices.n, slice_cmp);
	if (!find_depths(x, k, count))
		return false;
	k->first_track = (uint32_t)x->tracks.n;
	for (uint32_t d = 0; d < MAX_DEPTH && count[d]; d++, k->n_tracks++)
		if (!add_track(x, k, d, count[d]))
			return false;
	for (size_t i = 0; i < x->depth.n; i++)
		put_slice(x, k->first_track + x->depth.v[i], &k->slices.v[i]);
	VEC_FREE(&k->slices);
	return true;
}

static bool hand_over(struct layout *x)
{
	struct trace *t = x->l->trace;

	t->n_tracks = (uint32_t)x->tracks.n;
	t->tracks = arena_memdup(&t->arena, x->tracks.v, x->tracks.n * sizeof(*x->tracks.v));
	return !t->n_tracks || t->tracks;
}

bool tl_layout(struct timeline *l, struct incore_error *e)
{
	struct layout x = {.l = l, .content = mem_tracks_new(l->trace)};
	size_t n;
	struct lane_ref *v = sorted_lanes(l, &n);
	bool ok = v && x.content;

	for (size_t i = 0; ok && i < n; i++) {
		if (i && v[i].process != v[i - 1].process) {
			x.process++;
			x.thread = 0;
		} else if (i) {
			x.thread++;
		}
		ok = layout_lane(&x, &l->lanes.v[v[i].lane]);
	}
	ok = ok && hand_over(&x);
	mem_free(v);
	VEC_FREE(&x.tracks);
	VEC_FREE(&x.depth);
	return ok || err_nomem(e);
}

/* --- flows --- */

ORDER(flow_cmp, struct tl_flow, UP(key) UP(at_ns) UP(step) UP(order))
ORDER(link_cmp, struct link, UP(to_track) UP(to_slice) UP(from_track) UP(from_slice))

/* The index of the first slice of a track that begins after `at`. */
static uint32_t place_after(const struct trace *t, track_idx i, uint64_t at)
{
	const struct track_slice *v = mem_tracks_at(t, i);
	uint32_t lo = 0, hi = t->tracks[i].n_slices;

	BISECT(lo, hi, k, v[k].start <= at);
	return lo;
}

static bool is_inside(const struct track_slice *s, uint64_t at)
{
	return s->start == at || s->start + s->dur > at;
}

/* Finds the innermost slice around the time (one that ends then only if there is no other), or the
 * next slice of the thread. */
static bool bind(
	const struct timeline *l, const struct tl_flow *f, track_idx *track, uint32_t *slice)
{
	const struct trace *t = l->trace;
	const struct tl_lane *k = &l->lanes.v[f->lane];
	uint64_t at = (uint64_t)(f->at_ns - l->min_ns) / (uint64_t)l->unit_ns, best = UINT64_MAX;

	for (uint32_t d = k->n_tracks; d-- > 0;) {
		track_idx i = k->first_track + d;
		const struct track_slice *v = mem_tracks_at(t, i);
		uint32_t p = place_after(t, i, at);

		if (f->is_next) {
			p = at ? place_after(t, i, at - 1) : 0;
			if (p < t->tracks[i].n_slices && v[p].start <= best) {
				best = v[p].start;
				*track = i;
				*slice = p;
			}
		} else if (p && v[p - 1].start + v[p - 1].dur >= at &&
			   (best == UINT64_MAX || is_inside(&v[p - 1], at))) {
			best = v[p - 1].start;
			*track = i;
			*slice = p - 1;
			if (is_inside(&v[p - 1], at))
				return true;
		}
	}
	return best != UINT64_MAX;
}

bool tl_bind_flows(struct timeline *l)
{
	struct trace *t = l->trace;
	struct link *v = arena_zalloc(&t->arena, l->flows.n + 1, sizeof(*v));
	struct link k = {.kind = LINK_FLOW};
	bool has_from = false;

	if (!v)
		return false;
	SORT(l->flows.v, l->flows.n, flow_cmp);
	for (size_t i = 0; i < l->flows.n; i++) {
		const struct tl_flow *f = &l->flows.v[i];
		track_idx track = 0;
		uint32_t slice = 0;

		has_from = has_from && i && f[-1].key == f->key && f->step != TL_FLOW_START;
		if (!bind(l, f, &track, &slice)) {
			l->counts[TL_LOOSE_FLOW]++;
			continue;
		}
		if (has_from) {
			k.to_track = track;
			k.to_slice = slice;
			v[t->n_links++] = k;
		}
		if (f->step == TL_FLOW_IN)
			continue;
		k.from_track = track;
		k.from_slice = slice;
		has_from = f->step != TL_FLOW_END;
	}
	SORT(v, t->n_links, link_cmp);
	t->links = v;
	return true;
}
