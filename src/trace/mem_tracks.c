/* SPDX-License-Identifier: Apache-2.0 */
/* mem_tracks.c: the loader copies one track at a time. */
#include "trace/mem_tracks.h"

static bool trace_load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	uint32_t n = t->tracks[i].n_slices;

	d->stated_slices = n;
	if (want & TRACK_NO_SLICES)
		return true;
	if (!track_data_reserve(d, n))
		return err_nomem(e);
	EACH (const struct track_slice, s, mem_tracks_at(t, i), n) {
		track_data_put(d, s);
		mem_step(d->n);
	}
	return true;
}

static void trace_close_ctx(void *ctx)
{
	struct mem_tracks *m = ctx;

	for (size_t i = 0; i < m->slices.n; i++)
		mem_free(m->slices.v[i]);
	VEC_FREE(&m->slices);
	mem_free(m);
}

struct mem_tracks *mem_tracks_new(struct trace *t)
{
	struct mem_tracks *m = mem_zalloc(1, sizeof(*m));

	if (m) {
		t->loader = (struct track_loader){.load = trace_load, .close = trace_close_ctx};
		t->loader_ctx = m;
	}
	return m;
}

struct track_slice *mem_tracks_add(struct mem_tracks *m, size_t n)
{
	struct track_slice *v = mem_alloc(n * sizeof(*v) + 1);

	if (v && !VEC_PUSH(&m->slices, v)) {
		mem_free(v);
		return NULL;
	}
	return v;
}
