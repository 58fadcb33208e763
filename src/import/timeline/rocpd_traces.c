/* SPDX-License-Identifier: Apache-2.0 */
/* rocpd_traces.c: thread traces whose chunks a database of rocprofv3 holds or lists. */
#include "import/capture_cache.h"
#include "import/timeline/rocpd.h"

struct listing {
	struct file_data file;
	struct rocpd_chunks chunks;
	struct sqtt_chunk_list list;
	uint32_t n_traces;
};

static bool list(struct listing *x, struct arena *a, const struct import_options *o,
	const char *file, struct incore_error *e)
{
	struct import_options kept = o ? *o : (struct import_options){0};

	*x = (struct listing){.chunks = {.arena = a}};
	kept.is_look = true; /* its other parts may be requested */
	if (!import_load(&kept, &x->file, file, e) ||
		!rocpd_chunks_open(&x->chunks, x->file.data, x->file.size, file, e))
		return false;
	x->list = (struct sqtt_chunk_list){
		file, x->chunks.v.v, x->chunks.v.n, rocpd_chunk_read, &x->chunks};
	x->n_traces = sqtt_chunks_sort(&x->list);
	return true;
}

static void unlist(struct listing *x)
{
	rocpd_chunks_close(&x->chunks);
	file_unload(&x->file);
}

/* Looks at each of the traces. */
static struct capture *look_at_all(const struct listing *x, struct arena *a)
{
	struct capture *v = arena_zalloc(a, (size_t)x->n_traces + 1, sizeof(*v));
	size_t from = 0;

	for (uint32_t i = 0; v && i < x->n_traces; i++) {
		struct sqtt_chunk_list one = sqtt_chunks_of(&x->list, from);

		v[i].agent = one.v->agent_name != NO_VALUE ? one.v->agent_name : one.v->agent;
		v[i].dispatch = one.v->dispatch;
		v[i].n_bytes = sqtt_chunks_bytes(&one) + ROCPD_BEST;
		v[i].is_uncounted = true;
		from += one.n;
	}
	return v;
}

bool rocpd_traces(const struct import_options *o, const char *path, struct arena *a,
	struct capture **all, uint32_t *n, struct incore_error *e)
{
	const char *file = capture_file(import_fence(o), a, path);
	struct listing x = {0};
	bool ok = file ? list(&x, a, o, file, e) : err_nomem(e);

	*n = ok ? x.n_traces : 0;
	*all = ok ? look_at_all(&x, a) : NULL;
	unlist(&x);
	return ok && (*all || err_nomem(e));
}

bool rocpd_trace_read(const char *file, uint32_t which, const struct import_options *o,
	struct trace *t, struct incore_error *e)
{
	struct listing x;
	bool ok = list(&x, &t->arena, o, file, e);
	struct sqtt_chunk_list one = sqtt_chunks_of(&x.list, 0);

	for (; which && one.n; which--)
		one = sqtt_chunks_of(&x.list, (size_t)(one.v - x.list.v) + one.n);
	if (ok && !one.n)
		ok = err_file(
			e, "no-such-part", file, INCORE_NO_OFFSET, "it has no such thread trace");
	ok = ok && sqtt_chunks_read(&one, o, t, e);
	unlist(&x);
	return ok;
}
