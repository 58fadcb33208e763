/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd.c: databases of rocprofv3 as an input format: "file#0" is the timeline of calls, launches,
 * copies and markers; then follow the thread traces whose chunks it has; if there are PC samples,
 * the last part is the sampled kernel.
 *
 * Parts: thread traces of a database; the format.
 */
#include "import/timeline/rocpd.h"
#include "import/capture_cache.h"

/* --- thread traces of a database -------------------------------------------------------------- */

/* Thread traces whose chunks a database of rocprofv3 holds or lists. */

struct rocpd_listing {
	struct file_data file;
	struct rocpd_chunks chunks;
	struct sqtt_chunk_list list;
	uint32_t n_traces;
};

static bool list(struct rocpd_listing *x, struct arena *a, const struct import_options *o,
	const char *file, struct incore_error *e)
{
	struct import_options kept = o ? *o : (struct import_options){0};

	*x = (struct rocpd_listing){.chunks = {.arena = a}};
	kept.is_look = true; /* its other parts may be requested */
	if (!import_load(&kept, &x->file, file, e) ||
		!rocpd_chunks_open(&x->chunks, x->file.data, x->file.size, file, e))
		return false;
	x->list = (struct sqtt_chunk_list){
		file, x->chunks.v.v, x->chunks.v.n, rocpd_chunk_read, &x->chunks};
	x->n_traces = sqtt_chunks_sort(&x->list);
	return true;
}

static void unlist(struct rocpd_listing *x)
{
	rocpd_chunks_close(&x->chunks);
	file_unload(&x->file);
}

/* Looks at each of the traces. */
static struct capture *look_at_all(const struct rocpd_listing *x, struct arena *a)
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

/* Lists the *n thread traces whose chunks are in the database, each as a look describes it, in the
 * arena; `path` may name one of them. */
static bool rocpd_traces(const struct import_options *o, const char *path, struct arena *a,
	struct capture **all, uint32_t *n, struct incore_error *e)
{
	const char *file = capture_file(import_fence(o), a, path, NULL);
	struct rocpd_listing x = {0};
	bool ok = file ? list(&x, a, o, file, e) : err_nomem(e);

	*n = ok ? x.n_traces : 0;
	*all = ok ? look_at_all(&x, a) : NULL;
	unlist(&x);
	return ok && (*all || err_nomem(e));
}

static bool rocpd_trace_read(const char *file, uint32_t which, const struct import_options *o,
	struct trace *t, struct incore_error *e)
{
	struct rocpd_listing x;
	bool ok = list(&x, &t->arena, o, file, e);
	struct sqtt_chunk_list one = sqtt_chunks_of(&x.list, 0);

	for (; which && one.n; which--)
		one = sqtt_chunks_of(&x.list, (size_t)(one.v - x.list.v) + one.n);
	if (ok && !one.n)
		ok = err_file(e, "no-such-part", file, INCORE_NO_OFFSET,
			"it does not hold this thread trace");
	ok = ok && sqtt_chunks_read(&one, o, t, e);
	unlist(&x);
	return ok;
}

/* --- the format ------------------------------------------------------------------------------- */

#define MAGIC "SQLite format 3"
#define MAX_TRACES 1024u /* that are listed; others can be named */

static bool rocpd_init(struct rocpd *r, struct trace *t, const char *path)
{
	bool has_samples = samples_init(&r->samples), has_run = roctrace_init(&r->run, t, path);

	r->run.arch_source = "rocpd_info_agent";
	return has_samples && has_run;
}

static void rocpd_deinit(struct rocpd *r)
{
	roctrace_deinit(&r->run);
	samples_deinit(&r->samples);
}

/* Unless the user named it, a database must be recognisable as rocprofv3's. */
static int rocpd_sniff(const struct probe *p)
{
	struct str head = {(const char *)p->head, p->head_size};

	if (str_has(head, "rocpd_") || str_ends(str_of(p->path), "_results.db"))
		return 100;
	return p->is_named ? 40 : 0;
}

static uint32_t rocpd_part_of(const struct import_options *o, const char *path)
{
	uint32_t part = 0;
	struct stat st;

	capture_stat(import_fence(o), path, &st, &part);
	return part;
}

static bool rocpd_load_database(
	struct rocpd *r, const struct import_options *o, const char *path, struct incore_error *e)
{
	const char *file = capture_file(import_fence(o), &r->run.t->arena, path, NULL);
	struct import_options kept = *o;
	struct file_data f = {0};
	bool ok;

	kept.is_look = true; /* its other parts may be requested */
	if (!file)
		return err_nomem(e);
	ok = import_load(&kept, &f, file, e) && rocpd_load(r, f.data, f.size, file, e);
	file_unload(&f);
	return ok;
}

static void rocpd_split(const char *path, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct trace *t = trace_new();
	struct capture *seen;
	struct rocpd r;
	uint32_t parts, traces;

	if (!t)
		return;
	rocpd_traces(&o, path, &t->arena, &seen, &traces, &ignored);
	incore_error_clear(&ignored);
	parts = 1 + (traces < MAX_TRACES ? traces : MAX_TRACES);
	if (rocpd_init(&r, t, path) && rocpd_load_database(&r, &o, path, &ignored) &&
		r.samples.kernels.n)
		parts += traces < MAX_TRACES;
	if (parts > 1)
		capture_name_parts(a, path, parts, paths, n);
	/* avoids listing them all for each */
	for (uint32_t i = 0; seen && *paths && i < traces && i + 1 < *n; i++) {
		seen[i].path = (*paths)[i + 1];
		seen[i].ops = &import_rocpd;
		capture_know(cache, &seen[i]);
	}
	incore_error_clear(&ignored);
	rocpd_deinit(&r);
	trace_free(t);
}

/* Prefers samples of a kernel to the timeline, and a trace of its instructions to samples. */
static void rocpd_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	uint32_t part = rocpd_part_of(&o, path), traces = 0;
	struct capture *seen;

	tl_look(path, cache, a, c);
	c->dispatch = part ? (int64_t)part - 1 : NO_VALUE;
	if (part < 2)
		return;
	c->n_bytes = 1;
	rocpd_traces(&o, path, a, &seen, &traces, &ignored);
	if (part - 2 < traces && seen) {
		c->agent = seen[part - 2].agent;
		c->dispatch = seen[part - 2].dispatch;
		c->n_bytes = seen[part - 2].n_bytes;
	}
	incore_error_clear(&ignored);
}

/* --- the trace --- */

static bool build_samples(struct rocpd *r, struct incore_error *e)
{
	struct trace *t = r->run.t;

	memset(t->levels, 0, sizeof(t->levels)); /* the trace has no tracks */
	r->samples.kernels.v[0].launch = t->meta.launch;
	r->samples.kernels.v[0].name = t->meta.kernel;
	r->samples.is_synthetic = t->meta.evidence == EVIDENCE_SYNTHETIC;
	return samples_build(&r->samples, 0, t, e);
}

static bool rocpd_build(struct rocpd *r, uint32_t part, struct incore_error *e)
{
	if (part > (r->samples.kernels.n ? 2u : 1u))
		return err_file(e, "no-such-part", r->run.t->meta.origin, INCORE_NO_OFFSET,
			"it has no part #%u", part - 1);
	if (!roctrace_put_meta(&r->run))
		return err_nomem(e);
	if (part == 2)
		return build_samples(r, e);
	return roctrace_finish(&r->run, e);
}

/* Even if the table of chunks is unreadable, the timeline can be read. */
static bool count_traces(const char *path, const struct import_options *o, struct trace *t,
	uint32_t *n, struct incore_error *e)
{
	struct incore_error why = {0};
	struct capture *seen;

	if (rocpd_traces(o, path, &t->arena, &seen, n, &why))
		return true;
	if (rocpd_part_of(o, path) < 2 && why.status == INCORE_BAD_INPUT &&
		import_note_unread(t, "damaged-file", path,
			"has a table of thread traces that cannot be read", &why))
		return true;
	err_move(e, &why);
	return false;
}

static bool rocpd_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	const char *file = capture_file(import_fence(o), &t->arena, path, NULL);
	uint32_t part = rocpd_part_of(o, path), traces;
	struct rocpd r;
	bool ok;

	if (!file)
		return err_nomem(e);
	if (!count_traces(path, o, t, &traces, e))
		return false;
	if (part > 1 && part - 2 < traces)
		return rocpd_trace_read(file, part - 2, o, t, e);
	ok = (rocpd_init(&r, t, path) || err_nomem(e)) && rocpd_load_database(&r, o, path, e) &&
	     rocpd_build(&r, part > 1 ? part - traces : part, e);
	rocpd_deinit(&r);
	return ok;
}

static const struct signature rocpd_signs[] = {
	{.begins = MAGIC, .n_bytes = sizeof(MAGIC)},
	{0},
};

const struct import_ops import_rocpd = {
	.name = "rocpd",
	.summary = "database of rocprofv3 (rocpd): calls, launches, copies, markers, counters",
	.looks_for = "a database of rocprofv3 (*_results.db)",
	.signs = rocpd_signs,
	.sniff = rocpd_sniff,
	.splits_files = true,
	.split = rocpd_split,
	.look = rocpd_look,
	.read = rocpd_read,
	.lost = import_lost_noted, /* noted while reading */
};
