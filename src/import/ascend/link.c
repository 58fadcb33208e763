/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c: finds the SET that a WAIT waited for. Both have the same key (the producer's id, or else
 * core and operands); the k-th SET by end time belongs to the k-th WAIT, as in the producer.
 */

#include "base/mem.h"
#include "base/search.h"
#include "import/ascend/ascend.h"

#define MAX_NAMED 8

enum flag_side { SIDE_SET, SIDE_WAIT, SIDE_NONE /* it only has an id */ };

/* The part of an extra that linking needs, because in key order the extras are scattered in
 * memory. */
struct flag_ref {
	uint64_t key, end;
	uint32_t extra, lane, slice;
	uint8_t side; /* enum flag_side */
	bool is_cross;
};

ORDER(flag_cmp, struct flag_ref, UP(key) UP(side) UP(end) UP(extra))

ORDER(link_cmp, struct link, UP(to_track) UP(to_slice) UP(from_track) UP(from_slice) UP(kind))

struct alone { /* flags of one side without a counterpart */
	uint64_t n;
	uint32_t first[MAX_NAMED]; /* the first extras in the file */
};

struct linker {
	struct asc_build *b;
	VEC(struct flag_ref) flags;
	struct asc_links links;
	struct alone alone[2];
};

static void add_alone(struct alone *a, uint32_t extra)
{
	size_t at = a->n < MAX_NAMED ? (size_t)a->n : MAX_NAMED;

	a->n++;
	for (; at > 0 && a->first[at - 1] > extra; at--)
		if (at < MAX_NAMED)
			a->first[at] = a->first[at - 1];
	if (at < MAX_NAMED)
		a->first[at] = extra;
}

static bool link_two(struct linker *l, const struct flag_ref *set, const struct flag_ref *wait)
{
	struct link k = {.from_track = asc_track_of(l->b, set->lane),
		.to_track = asc_track_of(l->b, wait->lane),
		.from_slice = set->slice,
		.to_slice = wait->slice,
		.kind = wait->is_cross || set->is_cross ? LINK_CROSS_CORE : LINK_FLAG};

	return VEC_PUSH(&l->links.v, k);
}

/* All flags of one key: SETs first. */
static bool link_group(struct linker *l, size_t from, size_t end)
{
	const struct flag_ref *v = l->flags.v;
	size_t waits = from, rest, pairs;

	while (waits < end && v[waits].side == SIDE_SET)
		waits++;
	for (rest = waits; rest < end && v[rest].side == SIDE_WAIT;)
		rest++;
	pairs = waits - from < rest - waits ? waits - from : rest - waits;
	for (size_t k = 0; k < pairs; k++)
		if (!link_two(l, &v[from + k], &v[waits + k]))
			return false;
	for (size_t k = from + pairs; k < waits; k++)
		add_alone(&l->alone[SIDE_SET], v[k].extra);
	for (size_t k = waits + pairs; k < rest; k++)
		add_alone(&l->alone[SIDE_WAIT], v[k].extra);
	return true;
}

static bool link_flags(struct linker *l)
{
	struct asc_build *b = l->b;

	for (size_t i = 0; i < b->extras.n; i++) {
		const struct asc_extra *x = &b->extras.v[i];
		enum ascend_sync sync = (enum ascend_sync)x->sync;
		struct flag_ref f = {.key = x->key,
			.end = x->end,
			.extra = (uint32_t)i,
			.lane = x->lane,
			.slice = x->slice,
			.side = ascend_is_set(sync)    ? SIDE_SET
				: ascend_is_wait(sync) ? SIDE_WAIT
						       : SIDE_NONE,
			.is_cross = sync == SYNC_SET_CROSS || sync == SYNC_WAIT_CROSS};

		if (x->key && x->lane != NO_TRACK && !VEC_PUSH(&l->flags, f))
			return false;
		mem_step(i);
	}
	if (!SORT_LONG(l->flags.v, l->flags.n, flag_cmp))
		return false;
	for (size_t i = 0, n = 0; i < l->flags.n; n++) {
		size_t end = i;

		mem_step(n);
		while (end < l->flags.n && l->flags.v[end].key == l->flags.v[i].key)
			end++;
		if (!link_group(l, i, end))
			return false;
		i = end;
	}
	return true;
}

/* --- flags without a counterpart --- */

static void put_flag(const struct asc_build *b, const struct asc_extra *x, struct strbuf *out)
{
	struct ascend_flag f = ascend_flag_of(str_of(b->code.v[x->code].text));

	sb_printf(out, "%s%.*s->%.*s %.*s", out->n ? ", " : "", STR_ARG(f.producer),
		STR_ARG(f.consumer), STR_ARG(f.id));
	if (x->id.n)
		sb_printf(out, " (id %.*s)", (int)(x->id.n < 60 ? x->id.n : 60), x->id.p);
}

static bool note_alone(struct asc_build *b, const struct alone *a, bool is_wait)
{
	struct strbuf names = {0};
	uint64_t n = a->n;
	bool ok = true;

	for (size_t i = 0; i < n && i < MAX_NAMED; i++)
		put_flag(b, &b->extras.v[a->first[i]], &names);
	if (n)
		ok = !names.failed &&
		     trace_note(b->trace, NOTE_UNMAPPED,
			     is_wait ? "wait-without-set" : "set-without-wait", b->path,
			     INCORE_NO_OFFSET, n, "%llu %s: %s%s", (unsigned long long)n,
			     is_wait ? "flags awaited that no SET raised"
				     : "flags set that no WAIT took",
			     names.p ? names.p : "", n > MAX_NAMED ? ", ..." : "");
	sb_free(&names);
	return ok;
}

/* --- flows between ordinary slices, as cleaned files have them --- */

static uint32_t slice_at(const struct asc_build *b, track_idx track, uint64_t at)
{
	const struct track_slice *v = mem_tracks_at(b->trace, track);
	uint32_t lo = 0, hi = b->trace->tracks[track].n_slices;

	BISECT(lo, hi, i, v[i].start <= at);
	return lo ? lo - 1 : UINT32_MAX;
}

ORDER(flow_cmp, struct asc_flow, UP(key) DOWN(is_from) UP(ts))

static bool link_flow(
	struct linker *l, const struct asc_flow *from, const struct asc_flow *to, double mhz)
{
	struct link k = {.kind = LINK_FLOW};

	if (l->b->lanes.v[from->lane].unit_idx == NO_TRACK ||
		l->b->lanes.v[to->lane].unit_idx == NO_TRACK)
		return true;
	k.from_track = asc_track_of(l->b, from->lane);
	k.to_track = asc_track_of(l->b, to->lane);
	k.from_slice = slice_at(l->b, k.from_track, (uint64_t)(from->ts * mhz + 0.5));
	k.to_slice = slice_at(l->b, k.to_track, (uint64_t)(to->ts * mhz + 0.5));
	if (k.from_slice == UINT32_MAX || k.to_slice == UINT32_MAX)
		return true;
	return VEC_PUSH(&l->links.v, k);
}

/* Flows with the id of a flag repeat what the flags state. */
static bool link_flows(struct linker *l, double mhz)
{
	struct asc_build *b = l->b;
	size_t flag = 0;
	bool ok = SORT_LONG(b->flows.v, b->flows.n, flow_cmp);

	for (size_t i = 0; ok && i + 1 < b->flows.n; i++) {
		const struct asc_flow *f = &b->flows.v[i];

		mem_step(i);
		while (flag < l->flags.n && l->flags.v[flag].key < f->key)
			flag++;
		if (f->is_from && !f[1].is_from && f->key == f[1].key &&
			(flag == l->flags.n || l->flags.v[flag].key != f->key))
			ok = link_flow(l, f, f + 1, mhz);
	}
	return ok;
}

bool asc_link(struct asc_build *b, double mhz, struct incore_error *e)
{
	struct linker l = {.b = b};
	struct trace *t = b->trace;
	bool ok = link_flags(&l) && link_flows(&l, mhz) && asc_link_barriers(b, &l.links) &&
		  note_alone(b, &l.alone[SIDE_SET], false) &&
		  note_alone(b, &l.alone[SIDE_WAIT], true);

	ok = ok && SORT_LONG(l.links.v.v, l.links.v.n, link_cmp);
	if (ok && l.links.v.n) {
		t->links = arena_memdup(&t->arena, l.links.v.v, l.links.v.n * sizeof(*l.links.v.v));
		t->n_links = (uint32_t)l.links.v.n;
		ok = t->links != NULL && l.links.v.n <= UINT32_MAX;
	}
	VEC_FREE(&l.flags);
	VEC_FREE(&l.links.v);
	return ok || err_nomem(e);
}
