/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_blame.c: finds what samples of a stall reason at an instruction waited for. A sampler
 * reports the instruction that could not issue; that is the one after a DEPBAR or barrier, since
 * those issue and then hold the warp.
 */
#include <string.h>

#include "isa/sass/sass_waits.h"

enum sass_reason sass_reason_of(const char *word)
{
	static const struct {
		const char *word;
		enum sass_reason reason;
	} words[] = {{"long_scoreboard", SASS_REASON_LONG}, {"long_sb", SASS_REASON_LONG},
		{"short_scoreboard", SASS_REASON_SHORT}, {"short_sb", SASS_REASON_SHORT},
		{"wait", SASS_REASON_WAIT}, {"branch_resolving", SASS_REASON_WAIT},
		{"sleeping", SASS_REASON_WAIT}, {"barrier", SASS_REASON_BARRIER},
		{"gmma", SASS_REASON_GMMA}, {"warpgroup_arrive", SASS_REASON_GMMA},
		{"membar", SASS_REASON_WAIT}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].word, word))
			return words[i].reason;
	return SASS_REASON_OTHER;
}

/* Can instructions of this class cause stalls with that reason? */
static bool can_cause(enum sass_class c, enum sass_reason reason)
{
	switch (c) {
	case SASS_LOAD_GLOBAL:
	case SASS_STORE_GLOBAL:
	case SASS_LOAD_LOCAL:
	case SASS_STORE_LOCAL:
	case SASS_ATOMIC_GLOBAL:
	case SASS_ASYNC_COPY:
	case SASS_TEXTURE:
	case SASS_SURFACE:
	case SASS_FENCE:
		return reason == SASS_REASON_LONG;
	case SASS_ASYNC_BULK:
	case SASS_MBARRIER:
	case SASS_TENSOR_MEMORY:
	case SASS_TENSOR_ASYNC:
		return true;
	default:
		return reason == SASS_REASON_SHORT;
	}
}

struct picking {
	const struct sass_waits *w;
	struct sass_wait *out;
	size_t n, most;
};

static void sass_blame_pick(struct picking *p, const struct sass_wait *w)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->out[i].producer == w->producer && p->out[i].kind == w->kind)
			return;
	if (p->n < p->most)
		p->out[p->n++] = *w;
}

static bool has_kind(unsigned kinds, uint8_t kind)
{
	return kinds >> kind & 1;
}

static void pick_waits(
	struct picking *p, uint32_t inst, unsigned kinds, enum sass_reason reason, bool any_class)
{
	for (uint32_t k = p->w->first[inst]; k < p->w->first[inst + 1]; k++) {
		const struct sass_wait *w = &p->w->wait[k];

		if (has_kind(kinds, w->kind) &&
			(any_class || can_cause(p->w->inst[w->producer].inst_class, reason)))
			sass_blame_pick(p, w);
	}
}

/* Picks those issued just before that hold the warp after issuing. */
static void pick_holders(
	struct picking *p, uint32_t inst, unsigned kinds, enum sass_reason reason, bool any_class)
{
	const unsigned holds = SASS_COUNTER_WAIT | SASS_BLOCKS;

	for (uint32_t k = p->w->first[inst]; k < p->w->first[inst + 1]; k++) {
		const struct sass_wait *w = &p->w->wait[k];

		if (w->kind == SASS_WAIT_STALL && p->w->inst[w->producer].flags & holds)
			pick_waits(p, w->producer, kinds, reason, any_class);
	}
}

#define MOST_STEPS_BACK 128u
#define KIND(k) (1u << SASS_WAIT_##k)
#define SCOREBOARD_KINDS (KIND(WRITE) | KIND(READ) | KIND(COUNT) | KIND(GROUP) | KIND(BULK))

static void pick_scoreboards(struct picking *p, uint32_t inst, enum sass_reason reason)
{
	const unsigned kinds = SCOREBOARD_KINDS | KIND(MBARRIER);

	for (int any = 0; any < 2 && !p->n; any++) {
		pick_holders(p, inst, kinds, reason, any);
		pick_waits(p, inst, kinds, reason, any);
	}
}

/* Picks the nearest earlier ones: BAR lets a warp run on until something needs the barrier, and
 * WARPGROUP.ARRIVE holds the matrix instruction after it. */
static void pick_nearest(struct picking *p, uint32_t inst, unsigned kinds)
{
	uint32_t queue[MOST_STEPS_BACK] = {inst};
	unsigned n = 1;

	for (unsigned q = 0; q < n && !p->n; q++)
		for (uint32_t k = p->w->first[queue[q]]; k < p->w->first[queue[q] + 1]; k++) {
			uint32_t at = p->w->wait[k].producer;
			unsigned seen = 0;

			if (p->w->wait[k].kind != SASS_WAIT_STALL)
				continue;
			if (p->w->inst[at].flags & (SASS_BLOCKS | SASS_COUNTER_WAIT))
				pick_waits(p, at, kinds, SASS_REASON_BARRIER, true);
			while (seen < n && queue[seen] != at)
				seen++;
			if (seen == n && n < MOST_STEPS_BACK)
				queue[n++] = at;
		}
}

static void pick_barriers(struct picking *p, uint32_t inst, unsigned kinds)
{
	if (p->w->inst[inst].flags & SASS_COUNTER_WAIT)
		pick_waits(p, inst, kinds, SASS_REASON_BARRIER, true);
	if (!p->n)
		pick_nearest(p, inst, kinds);
	if (!p->n)
		pick_waits(p, inst, kinds, SASS_REASON_BARRIER, true);
}

size_t sass_blame(const struct sass_waits *w, uint32_t inst, enum sass_reason reason,
	struct sass_wait *out, size_t most)
{
	struct picking p = {.w = w, .out = out, .most = most};

	if (inst >= w->n_inst)
		return 0;
	switch (reason) {
	case SASS_REASON_LONG:
	case SASS_REASON_SHORT:
		pick_scoreboards(&p, inst, reason);
		break;
	case SASS_REASON_WAIT:
		pick_waits(&p, inst, KIND(STALL), reason, true);
		break;
	case SASS_REASON_BARRIER:
	case SASS_REASON_GMMA:
		pick_barriers(&p, inst, KIND(BARRIER) | KIND(WGMMA));
		break;
	case SASS_REASON_OTHER:
		break;
	}
	return p.n;
}
