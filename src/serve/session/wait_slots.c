/* SPDX-License-Identifier: Apache-2.0 */
/* wait_slots.c: resolves the waits of a track while its columns are made. */
#include "serve/session/wait_slots.h"

#include "analysis/waves/waits.h"
#include "base/mem.h"

struct wait_slots_worker {
	struct waits waits;
	VEC(struct lane_wait) found;
};

struct wait_slots {
	struct lane_waits self;
	const struct trace *trace;
	struct wait_tables *tables;
	struct wait_slots_worker *workers;
	unsigned n_workers;
};

/* The slot of a blocking key, the slowest kind first; SLOT_SYNC if there is none. */
static enum slot slot_of_key(uint32_t key)
{
	static const struct {
		enum amd_producer producer;
		enum slot slot;
	} order[] = {{AMD_PRODUCER_VMEM_LOAD, SLOT_VMEM}, {AMD_PRODUCER_VMEM_TO_LDS, SLOT_VMEM},
		{AMD_PRODUCER_VMEM_ATOMIC, SLOT_STORE}, {AMD_PRODUCER_VMEM_STORE, SLOT_STORE},
		{AMD_PRODUCER_SMEM, SLOT_SMEM}, {AMD_PRODUCER_LDS, SLOT_LDS},
		{AMD_PRODUCER_LDS_XLANE, SLOT_CROSS_LANE}, {AMD_PRODUCER_MSG, SLOT_OTHER}};
	uint32_t mask = (key | key >> 8 | key >> 16 | key >> 24) & 255u;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (mask & 1u << order[i].producer)
			return order[i].slot;
	return SLOT_SYNC;
}

static bool wait_slots_find(struct lane_waits *self, unsigned worker, track_idx track,
	const struct track_data *d, const struct lane_wait **v, size_t *n, struct incore_error *e)
{
	struct wait_slots *s = (struct wait_slots *)self;
	struct wait_slots_worker *w = &s->workers[worker];
	struct walk_track walk = {.trace = s->trace,
		.idx = track,
		.track = &s->trace->tracks[track],
		.data = d,
		.to_cyc = UINT64_MAX};

	w->found.n = 0;
	if (!waits_resolve(&w->waits, s->tables, &walk, 0, e))
		return false;
	EACH (const struct wait_event, ev, w->waits.events.v, w->waits.events.n) {
		enum slot slot = slot_of_key(ev->key);

		if (slot != SLOT_SYNC &&
			!VEC_PUSH(&w->found, (struct lane_wait){ev->slice, (uint8_t)slot}))
			return err_nomem(e);
	}
	*v = w->found.v;
	*n = w->found.n;
	return true;
}

bool wait_slots_new(const struct trace *t, const struct pool *pool, struct lane_waits **out,
	struct incore_error *e)
{
	struct wait_slots *s;

	*out = NULL;
	if (t->meta.gfx_major == 0)
		return true;
	s = mem_zalloc(1, sizeof(*s));
	if (!s)
		return err_nomem(e);
	s->self.find = wait_slots_find;
	s->trace = t;
	s->n_workers = pool ? pool_size(pool) : 1;
	s->workers = mem_zalloc(s->n_workers, sizeof(*s->workers));
	s->tables = s->workers ? wait_tables_new(t, e) : NULL;
	if (!s->workers)
		err_nomem(e);
	if (!s->tables) {
		wait_slots_free(&s->self);
		return false;
	}
	*out = &s->self;
	return true;
}

void wait_slots_free(struct lane_waits *w)
{
	struct wait_slots *s = (struct wait_slots *)w;

	if (!s)
		return;
	for (unsigned i = 0; s->workers && i < s->n_workers; i++) {
		waits_deinit(&s->workers[i].waits);
		VEC_FREE(&s->workers[i].found);
	}
	mem_free(s->workers);
	wait_tables_free(s->tables);
	mem_free(s);
}
