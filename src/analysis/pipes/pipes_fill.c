/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_fill.c: the figures of pipes in the terms of causes.h and producers.h. */
#include <stdio.h>

#include "analysis/pipes/pipes.h"
#include "base/search.h"

struct filler {
	const struct pipes *p;
	struct causes *c;
	uint32_t cap;
	bool is_failed;
};

static void add(struct filler *f, struct cause x, const char *lane)
{
	struct causes *c = f->c;
	char name[96];

	if (!x.cyc && !x.hits)
		return;
	snprintf(name, sizeof(name), "%s%s", x.name, lane ? lane : "");
	for (uint32_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name)) {
			c->v[i].cyc += x.cyc;
			c->v[i].hits += x.hits;
			return;
		}
	x.name = arena_strdup(&c->arena, name);
	f->is_failed |= !x.name || c->n == f->cap;
	if (!f->is_failed)
		c->v[c->n++] = x;
}

static void add_waits(struct filler *f, const struct pipe_row *r)
{
	EACH (const struct pipe_wait, w, r->waits.v, r->waits.n) {
		bool is_known = w->producer != PRODUCER_NONE;
		bool is_barrier = w->producer == PRODUCER_BARRIER;
		struct cause x = {.kind = is_barrier ? CAUSE_BARRIER : CAUSE_WAIT,
			.bucket = BUCKET_WAIT,
			.family = FAMILY_SYNC,
			.name = is_barrier ? "barrier" : "wait:",
			.cyc = w->cyc,
			.hits = w->count,
			.free_hits = w->count - w->blocked};

		add(f, x,
			is_barrier ? NULL
			: is_known ? pipes_producer_name(f->p, w->producer)
				   : "(unmatched)");
	}
}

static void add_lane(struct filler *f, const struct pipe_row *r, const char *lane)
{
	uint64_t queue = r->bucket[BUCKET_STALL] - r->cache_cyc;

	add(f,
		(struct cause){.kind = CAUSE_ISSUE,
			.bucket = BUCKET_ISSUE,
			.family = FAMILY_USEFUL,
			.name = "issue:",
			.cyc = r->bucket[BUCKET_ISSUE],
			.hits = r->n_work},
		lane);
	add(f,
		(struct cause){.kind = CAUSE_PIPE_STALL,
			.bucket = BUCKET_STALL,
			.family = FAMILY_FETCH,
			.name = "cache-miss",
			.cyc = r->cache_cyc},
		NULL);
	add(f,
		(struct cause){.kind = CAUSE_PIPE_STALL,
			.bucket = BUCKET_STALL,
			.family = FAMILY_PIPE,
			.name = "issue-queue",
			.cyc = queue},
		NULL);
	add(f,
		(struct cause){.kind = CAUSE_GAP,
			.bucket = BUCKET_IDLE,
			.family = FAMILY_SCHEDULING,
			.name = "idle:",
			.cyc = r->bucket[BUCKET_IDLE]},
		lane);
	add(f,
		(struct cause){.kind = CAUSE_DRAIN,
			.bucket = BUCKET_DRAIN,
			.family = FAMILY_SCHEDULING,
			.name = "drain:",
			.cyc = r->bucket[BUCKET_DRAIN]},
		lane);
	add_waits(f, r);
}

ORDER(compare_causes, struct cause, DOWN(cyc) A_TO_Z(name))

bool pipes_fill_causes(const struct pipes *p, struct causes *c, struct incore_error *e)
{
	struct filler f = {.p = p, .c = c, .cap = 16};
	int64_t residue;

	for (track_idx i = 0; i < p->trace->n_tracks; i++)
		f.cap += 8 + (uint32_t)p->rows[i].waits.n;
	c->v = arena_zalloc(&c->arena, f.cap, sizeof(*c->v));
	if (!c->v)
		return err_nomem(e);
	for (track_idx i = 0; i < p->trace->n_tracks; i++)
		if (p->rows[i].is_seen && p->rows[i].role != ROLE_MARK)
			add_lane(&f, &p->rows[i], pipe_lane_name(&p->trace->tracks[i]));
	if (f.is_failed)
		return err_nomem(e);
	SORT(c->v, c->n, compare_causes);
	c->duration_cyc = p->duration_cyc;
	residue = (int64_t)c->duration_cyc;
	for (uint32_t i = 0; i < c->n; i++) {
		c->bucket[c->v[i].bucket] += c->v[i].cyc;
		c->family[c->v[i].family].cyc += c->v[i].cyc;
		residue -= (int64_t)c->v[i].cyc;
	}
	c->residue_cyc = residue;
	return true;
}

bool pipes_fill_producers(const struct pipes *p, struct producers *x, struct incore_error *e)
{
	for (size_t i = 0; i < p->edges.n; i++) {
		if (!VEC_PUSH(&x->edges, p->edges.v[i]))
			return err_nomem(e);
		x->n_waits += p->edges.v[i].count;
		x->n_blocked += p->edges.v[i].n_blocked;
	}
	x->n_exact = x->n_waits;
	x->n_free = x->n_waits - x->n_blocked;
	x->blocking.wait_cyc = p->bucket[BUCKET_WAIT];
	return true;
}
