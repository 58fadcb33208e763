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
	kept.is_look = true; /* its other parts may be asked for */
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

bool rocpd_traces(const struct import_options *o, const char *path, uint32_t which, uint32_t *n,
	struct capture *c, struct incore_error *e)
{
	struct listing x = {0};
	struct arena a;
	const char *file;
	bool ok;

	arena_init(&a);
	file = capture_file(&a, path);
	ok = file ? list(&x, &a, o, file, e) : err_nomem(e);
	*n = ok ? x.n_traces : 0;
	if (c && which < *n) {
		struct sqtt_chunk_list one = sqtt_chunks_of(&x.list, which);

		c->agent = one.v->agent_name != NO_VALUE ? one.v->agent_name : one.v->agent;
		c->dispatch = one.v->dispatch;
		c->n_bytes = sqtt_chunks_bytes(&one) + ROCPD_BEST;
	}
	unlist(&x);
	arena_deinit(&a);
	return ok;
}

bool rocpd_trace_read(const char *file, uint32_t which, const struct import_options *o,
	struct trace *t, struct incore_error *e)
{
	struct listing x;
	bool ok = list(&x, &t->arena, o, file, e);
	struct sqtt_chunk_list one = sqtt_chunks_of(&x.list, which);

	if (ok && !one.n)
		ok = err_file(e, "no-such-part", file, INCORE_NO_OFFSET,
			"it has no thread trace %u", which);
	ok = ok && sqtt_chunks_read(&one, o, t, e);
	unlist(&x);
	return ok;
}
