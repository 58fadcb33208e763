/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd.c: databases of rocprofv3 as an input format: "file#0" is the timeline of calls, launches,
 * copies and markers; then come the thread traces whose chunks it has; where there are PC samples, the
 * last part is the sampled kernel.
 */
#include "import/timeline/rocpd.h"

#include "import/capture_cache.h"

#define MAGIC "SQLite format 3"
#define MAX_TRACES 1024u /* that are offered; others can be named */

bool rocpd_init(struct rocpd *r, struct trace *t, const char *path)
{
	*r = (struct rocpd){.t = t, .launch = trace_no_launch()};
	tl_init(&r->timeline, t, path);
	intern_init(&r->kernels);
	return samples_init(&r->samples);
}

void rocpd_deinit(struct rocpd *r)
{
	intern_deinit(&r->kernels);
	tl_deinit(&r->timeline);
	samples_deinit(&r->samples);
}

/* A database that was found, not named, must show that it is rocprofv3's. */
static int rocpd_sniff(const struct probe *p)
{
	struct str head = {(const char *)p->head, p->head_size};

	if (p->is_dir || head.n < sizeof(MAGIC) || memcmp(head.p, MAGIC, sizeof(MAGIC)) != 0)
		return 0;
	if (str_has(head, "rocpd_") || str_ends(str_of(p->path), "_results.db"))
		return 100;
	return p->is_named ? 40 : 0;
}

static uint32_t part_of(const char *path)
{
	uint32_t part = 0;
	struct stat st;

	capture_stat(path, &st, &part);
	return part;
}

static bool load(
	struct rocpd *r, const struct import_options *o, const char *path, struct incore_error *e)
{
	const char *file = capture_file(&r->t->arena, path);
	struct import_options kept = *o;
	struct file_data f = {0};
	bool ok;

	kept.is_look = true; /* its other parts may be asked for */
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
	if (rocpd_init(&r, t, path) && load(&r, &o, path, &ignored) && r.samples.kernels.n)
		parts += traces < MAX_TRACES;
	if (parts > 1) {
		*paths = arena_zalloc(a, parts, sizeof(**paths));
		for (; *paths && *n < parts; ++*n)
			if (!((*paths)[*n] = arena_printf(a, "%s#%u", path, *n)))
				break;
	}
	for (uint32_t i = 0; i < traces && i + 1 < *n; i++) { /* not to list them all for each */
		seen[i].path = (*paths)[i + 1];
		seen[i].ops = &import_rocpd;
		capture_know(cache, &seen[i]);
	}
	incore_error_clear(&ignored);
	rocpd_deinit(&r);
	trace_free(t);
}

/* Samples say more about a kernel than when it ran, and a trace of its instructions more than they. */
static void rocpd_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	uint32_t part = part_of(path), traces = 0;
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

static bool put_kernels(struct trace *t, const struct intern *names)
{
	t->kernel_names = arena_zalloc(&t->arena, (size_t)names->n + 1, sizeof(*t->kernel_names));
	for (uint32_t i = 0; t->kernel_names && i < names->n; i++) {
		const char *name = arena_strndup(&t->arena, names->strs[i].p, names->strs[i].n);

		if (!name)
			return false;
		t->kernel_names[i] = (struct kernel_name){i + 1, name};
	}
	t->n_kernel_names = t->kernel_names ? names->n : 0;
	if (names->n == 1 && t->kernel_names)
		t->meta.kernel = t->kernel_names[0].name;
	return t->kernel_names != NULL;
}

static bool put_meta(struct rocpd *r)
{
	struct trace_meta *m = &r->t->meta;
	enum evidence stated = r->evidence ? evidence_of(str_of(r->evidence)) : EVIDENCE_UNKNOWN;

	m->vendor = VENDOR_AMD;
	m->evidence = stated != EVIDENCE_UNKNOWN ? stated : EVIDENCE_HARDWARE_TRACE;
	m->format_version = r->version;
	m->arch = r->arch;
	m->arch_source = r->arch ? "rocpd_info_agent" : NULL;
	m->machine.product = r->product;
	if (r->launch.launch_count == 1)
		m->launch = r->launch;
	m->launch.launch_count = r->launch.launch_count;
	m->launch.command = r->command;
	return put_kernels(r->t, &r->kernels);
}

static bool put_notes(const struct rocpd *r)
{
	if (!trace_note(r->t, NOTE_INFO, "timeline", NULL, INCORE_NO_OFFSET, 1,
		    "calls, launches, copies and markers of a run; no instruction was traced. "
		    "Launches and copies have the device's times, calls the host's"))
		return false;
	if (r->n_runs > 1 &&
		!trace_note(r->t, NOTE_INFO, "several-runs", NULL, INCORE_NO_OFFSET, r->n_runs,
			"the database holds %llu runs", (unsigned long long)r->n_runs))
		return false;
	return !r->n_damaged ||
	       trace_note(r->t, NOTE_DAMAGED, "damaged-records", NULL, INCORE_NO_OFFSET,
		       r->n_damaged,
		       "records without a sound time, counter or event were left out");
}

static bool build_samples(struct rocpd *r, struct incore_error *e)
{
	struct trace *t = r->t;

	memset(t->levels, 0, sizeof(t->levels)); /* there are no tracks */
	r->samples.kernels.v[0].launch = t->meta.launch;
	r->samples.kernels.v[0].name = t->meta.kernel;
	r->samples.is_synthetic = t->meta.evidence == EVIDENCE_SYNTHETIC;
	return samples_build(&r->samples, 0, t, e);
}

static bool build(struct rocpd *r, uint32_t part, struct incore_error *e)
{
	if (part > (r->samples.kernels.n ? 2u : 1u))
		return err_file(e, "no-such-part", r->t->meta.origin, INCORE_NO_OFFSET,
			"it has no part #%u", part - 1);
	if (!put_meta(r))
		return err_nomem(e);
	if (part == 2)
		return build_samples(r, e);
	return put_notes(r) ? tl_finish(&r->timeline, e) : err_nomem(e);
}

/* A table of chunks that cannot be read leaves a timeline that can. */
static bool count_traces(const char *path, const struct import_options *o, struct trace *t,
	uint32_t *n, struct incore_error *e)
{
	struct incore_error why = {0};
	struct capture *seen;

	if (rocpd_traces(o, path, &t->arena, &seen, n, &why))
		return true;
	if (part_of(path) < 2 && why.status == INCORE_BAD_INPUT &&
		import_note_unread(t, "damaged-file", path,
			"has a table of thread traces that cannot be read", &why))
		return true;
	err_move(e, &why);
	return false;
}

static bool rocpd_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	const char *file = capture_file(&t->arena, path);
	uint32_t part = part_of(path), traces;
	struct rocpd r;
	bool ok;

	if (!file)
		return err_nomem(e);
	if (!count_traces(path, o, t, &traces, e))
		return false;
	if (part > 1 && part - 2 < traces)
		return rocpd_trace_read(file, part - 2, o, t, e);
	ok = (rocpd_init(&r, t, path) || err_nomem(e)) && load(&r, o, path, e) &&
	     build(&r, part > 1 ? part - traces : part, e);
	rocpd_deinit(&r);
	return ok;
}

const struct import_ops import_rocpd = {
	.name = "rocpd",
	.summary = "database of rocprofv3 (rocpd): calls, launches, copies, markers, counters",
	.looks_for = "a database of rocprofv3 (*_results.db)",
	.sniff = rocpd_sniff,
	.splits_files = true,
	.split = rocpd_split,
	.look = rocpd_look,
	.read = rocpd_read,
	.lost = import_lost_noted, /* while it is read */
};
