/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_link.c: matches each SET with its WAIT, and chooses the instructions at the ends of arrows.
 * Partners share an id, as the trace has linked them. The older form does not use that: it matches
 * the k-th SET of a flag on a core with its k-th WAIT.
 */

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "export/clean/clean.h"

#define NAMED_UNMATCHED 5

struct entry { /* one end of a flag, in the order in which they are matched */
	uint64_t group;
	double begin;
	uint32_t sync, number;
	bool is_wait;
};

ORDER(by_group, struct entry, UP(group) UP(is_wait) UP(begin) UP(number))

static uint64_t group_of(const struct clean *c, const struct clean_sync *s)
{
	if (!c->options.is_legacy)
		return s->id;
	return hash_mix64((uint64_t)c->lanes.v[s->lane].group << 32 | s->key);
}

/* The lane of a pipe named in a detail, on the core of the lane `beside`; UINT32_MAX: no lane. */
static uint32_t lane_named(const struct clean *c, uint32_t beside, struct str name)
{
	return clean_find_lane(
		c, c->lanes.v[beside].pid, str_is(name, "VEC") ? STR("VECTOR") : name);
}

/* The instruction before a SET: the last one that began by then. */
static uint32_t producer_of(const struct clean *c, const struct clean_sync *s)
{
	uint32_t lane =
		c->options.is_legacy ? lane_named(c, s->lane, c->keys.v[s->key].pipe) : s->lane;
	const struct clean_lane *k;
	size_t i;

	if (lane == UINT32_MAX)
		return CLEAN_NO_SLICE;
	k = &c->lanes.v[lane];
	i = clean_last_before(k->spans, k->n_spans, s->begin);
	return i < k->n_spans ? k->spans[i].index : s->slice;
}

static uint32_t consumer_of(const struct clean *c, const struct clean_sync *s)
{
	uint32_t lane =
		c->options.is_legacy ? lane_named(c, s->lane, c->keys.v[s->key].trigger) : s->lane;
	const struct clean_lane *k;
	size_t i;

	if (lane == UINT32_MAX)
		return CLEAN_NO_SLICE;
	k = &c->lanes.v[lane];
	i = clean_first_after(k->spans, k->n_spans, s->end);
	return i < k->n_spans ? k->spans[i].index : s->slice;
}

static bool add_arrow(struct clean *c, uint32_t set, uint32_t wait)
{
	const struct clean_sync *s = &c->syncs.v[set], *w = &c->syncs.v[wait];
	struct clean_arrow a = {.from = producer_of(c, s),
		.to = consumer_of(c, w),
		.key = s->key,
		.number = s->number};

	if (a.from != CLEAN_NO_SLICE && a.to != CLEAN_NO_SLICE)
		return VEC_PUSH(&c->arrows, a);
	if (!c->lanes.v[s->lane].is_kept || !c->lanes.v[w->lane].is_kept)
		c->n_hidden_arrows++;
	else
		c->n_no_anchor++;
	return true;
}

static void name_unmatched(struct clean *c, const struct clean_sync *s)
{
	const struct clean_key *k = &c->keys.v[s->key];
	const struct clean_lane *lane = &c->lanes.v[s->lane];
	uint64_t n = s->is_set ? c->n_unmatched_sets : c->n_unmatched_waits;

	if (n > NAMED_UNMATCHED)
		return;
	sb_printf(&c->unmatched, "%s%s of %.*s/%.*s at %.6g (%.*s->%.*s flag %.*s)",
		c->unmatched.n ? "; " : "", s->is_set ? "SET" : "WAIT", STR_ARG(lane->pid),
		STR_ARG(lane->pipe), s->begin * c->ticks_per_unit, STR_ARG(k->pipe),
		STR_ARG(k->trigger), STR_ARG(k->flag));
}

static bool add_unmatched(struct clean *c, uint32_t sync)
{
	const struct clean_sync *s = &c->syncs.v[sync];

	if (s->is_set)
		c->n_unmatched_sets++;
	else
		c->n_unmatched_waits++;
	name_unmatched(c, s);
	return !c->unmatched.failed;
}

/* Matches the k-th SET of a group with its k-th WAIT. */
static bool match_group(
	struct clean *c, const struct entry *v, size_t n_sets, size_t n_waits, uint32_t *partner)
{
	for (size_t i = 0; i < n_sets || i < n_waits; i++) {
		mem_step(i);
		if (i >= n_waits      ? !add_unmatched(c, v[i].sync)
			: i >= n_sets ? !add_unmatched(c, v[n_sets + i].sync)
				      : !add_arrow(c, v[i].sync, v[n_sets + i].sync))
			return false;
		if (i < n_sets && i < n_waits)
			partner[v[n_sets + i].sync] = c->syncs.v[v[i].sync].lane;
	}
	return true;
}

static bool match(struct clean *c, const struct entry *v, size_t n, uint32_t *partner)
{
	size_t n_groups = 0;

	for (size_t i = 0; i < n;) {
		size_t from = i, sets;

		mem_step(n_groups++);
		while (i < n && v[i].group == v[from].group && !v[i].is_wait)
			i++;
		sets = i - from;
		while (i < n && v[i].group == v[from].group)
			i++;
		if (!match_group(c, v + from, sets, i - from - sets, partner))
			return false;
	}
	return true;
}

ORDER(by_number, struct clean_arrow, UP(number))

bool clean_link(struct clean *c, struct incore_error *e)
{
	size_t n = c->syncs.n;
	struct entry *v = mem_resize(NULL, n + 1, sizeof(*v));
	uint32_t *partner = mem_resize(NULL, n + 1, sizeof(*partner));
	bool ok = v && partner;

	for (size_t i = 0; ok && i < n; i++) {
		const struct clean_sync *s = &c->syncs.v[i];

		v[i] = (struct entry){group_of(c, s), s->begin, (uint32_t)i, s->number, !s->is_set};
		partner[i] = UINT32_MAX;
		mem_step(i);
	}
	ok = ok && SORT_LONG(v, n, by_group) && match(c, v, n, partner);
	mem_free(v);
	if (!ok)
		err_nomem(e);
	ok = ok && clean_sum_pipes(c, partner, e);
	mem_free(partner);
	return ok && (SORT_LONG(c->arrows.v, c->arrows.n, by_number) || err_nomem(e));
}
