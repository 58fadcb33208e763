/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcs.c: PC samples of rocprofv3 and rocprofiler-compute as an input format. A file with samples
 * of several kernels is several captures, "file#0" and on, the one with most samples first; a file
 * without samples is the timeline of its other records.
 */
#include "import/rocprof/pcs.h"

#include <stdlib.h>

#include "import/capture_cache.h"

#define CSV_HEAD "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\""

static bool is_csv(struct str head)
{
	return str_starts(head, CSV_HEAD) ||
	       str_starts(head, "Sample_Timestamp,Exec_Mask,Dispatch_Id");
}

static bool is_json(struct str head)
{
	ptrdiff_t at = str_find(str_sub(head, 0, 256), "\"rocprofiler-sdk-tool\"");

	return at > 0 && str_trim(str_sub(head, 0, (size_t)at)).n == 1 &&
	       str_trim(head).p[0] == '{';
}

/* Results of other rocprofv3 runs in the folders of captures begin the same way: unless the user
 * named the file, its name must be one that rocprofiler-compute gives to PC samples. */
static int pcs_sniff(const struct probe *p)
{
	struct str head = {(const char *)p->head, p->head_size};

	if (p->is_dir)
		return 0;
	if (is_csv(head))
		return 100;
	if (!is_json(head))
		return 0;
	return p->is_named || str_ends(str_of(p->path), "ps_file_results.json") ? 96 : 0;
}

void pcs_add_launch(struct sampled_kernel *k, const struct trace_launch *l)
{
	struct trace_launch *to = &k->launch;
	int64_t n = to->launch_count;
	bool are_alike = n && memcmp(to->grid, l->grid, sizeof(l->grid)) == 0 &&
			 memcmp(to->workgroup, l->workgroup, sizeof(l->workgroup)) == 0;

	if (!n) {
		*to = *l;
	} else {
		to->dispatch = to->start_ns = to->end_ns = NO_VALUE;
		for (int i = 0; !are_alike && i < 3; i++)
			to->grid[i] = to->workgroup[i] = NO_VALUE;
		if (to->agent != l->agent)
			to->agent = NO_VALUE;
	}
	to->launch_count = n + 1;
}

/* --- a file and one of its kernels --- */

struct opened {
	struct pcs pcs;
	uint32_t kernel;
	bool is_timeline; /* it has no samples, but a timeline */
};

static void close_file(struct opened *x)
{
	VEC_FREE(&x->pcs.agents);
	VEC_FREE(&x->pcs.entries);
	u64_map_deinit(&x->pcs.load_base);
	u64_map_deinit(&x->pcs.node_of);
	u64_map_deinit(&x->pcs.pid_of);
	incore_error_clear(&x->pcs.code_error);
	samples_deinit(&x->pcs.set);
}

static bool read_file(
	struct pcs *p, const struct import_options *o, const char *path, struct incore_error *e)
{
	struct import_options kept = *o;
	struct file_data f = {0};
	bool ok;

	kept.is_look = true; /* other kernels of the file may be requested */
	ok = import_load_plain(&kept, &f, path, e);
	if (ok && is_csv((struct str){(const char *)f.data, f.size}))
		ok = pcs_read_csv(p, o, &f, path, e);
	else if (ok)
		ok = pcs_read_json(p, &f, path, e) && pcs_add_code(p, &kept, path, e);
	file_unload(&f);
	return ok && (samples_finish(&p->set) || err_nomem(e));
}

static bool open_file(
	struct opened *x, const struct import_options *o, const char *path, struct incore_error *e)
{
	struct sample_set *s = &x->pcs.set;
	struct roctrace *timeline = x->pcs.timeline;
	uint32_t part = 0;
	struct stat st;
	const char *file;

	*x = (struct opened){.pcs.timeline = timeline};
	if (!samples_init(s))
		return err_nomem(e);
	capture_stat(import_fence(o), path, &st, &part);
	x->kernel = part ? part - 1 : 0;
	file = capture_file(import_fence(o), &s->arena, path);
	if (!file)
		return err_nomem(e);
	if (!read_file(&x->pcs, o, file, e))
		return false;
	x->is_timeline = !s->kernels.n && timeline && !roctrace_is_empty(timeline);
	if (x->is_timeline && !x->kernel)
		return true;
	if (!s->kernels.n)
		return err_file(e, "no-samples", file, INCORE_NO_OFFSET,
			"no PC sample%s is in it: none was asked for, or kernels are shorter than the interval of samples",
			x->is_timeline ? "" : ", launch, copy or call");
	if (x->kernel >= s->kernels.n)
		return err_file(e, "no-such-kernel", file, INCORE_NO_OFFSET,
			"samples of %zu kernel%s are in it; there is no #%u", s->kernels.n,
			plural(s->kernels.n), x->kernel);
	return true;
}

static void pcs_split(const char *path, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct opened x = {0};

	if (open_file(&x, &o, path, &ignored))
		*paths = arena_zalloc(a, x.pcs.set.kernels.n, sizeof(**paths));
	for (size_t i = 0; *paths && i < x.pcs.set.kernels.n; i++) {
		(*paths)[i] = arena_printf(a, "%s#%zu", path, i);
		if (!(*paths)[i])
			break;
		++*n;
	}
	incore_error_clear(&ignored);
	close_file(&x);
}

static void take_look(const struct file_fence *f, struct arena *a, uint64_t n_samples,
	const char *kernel, struct capture *c)
{
	uint32_t part = 0;
	struct stat st;

	capture_stat(f, c->path, &st, &part);
	c->dispatch = part ? (int64_t)part - 1 : NO_VALUE;
	c->n_bytes = n_samples;
	c->same_as = kernel ? arena_printf(a, "pcs %s", kernel) : NULL;
}

static void pcs_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct opened x = {0};

	if (open_file(&x, &o, path, &ignored)) {
		const struct sampled_kernel *k = &x.pcs.set.kernels.v[x.kernel];

		for (size_t i = 0; i < x.pcs.set.rows.n; i++) {
			c->n_rows += x.pcs.set.rows.v[i].kernel == x.kernel;
			c->n_mapped += x.pcs.set.rows.v[i].kernel == x.kernel &&
				       x.pcs.set.rows.v[i].where > 0;
		}
		take_look(capture_fence(cache), a, k->n_samples, k->name, c);
	}
	incore_error_clear(&ignored);
	close_file(&x);
}

static void look_at_trace(const struct trace *t, struct arena *a, struct capture *c)
{
	uint64_t n = 0;

	for (code_idx i = 0; t->samples && i < t->n_code; i++) {
		n += t->samples[i].issued + t->samples[i].stalled;
		c->n_mapped += *t->code[i].source != '\0';
	}
	c->n_rows = t->n_code;
	take_look(NULL, a, n, t->samples ? t->meta.kernel : NULL, c);
}

/* --- the trace --- */

static int64_t known(uint64_t v)
{
	return v && v <= INT64_MAX / 1024 ? (int64_t)v : NO_VALUE;
}

/* The agent of the launches; if unknown, any agent, provided that all are of one kind. */
static const struct pcs_agent *agent_of(const struct pcs *p, int64_t handle)
{
	const struct pcs_agent *first = p->agents.n ? &p->agents.v[0] : NULL;

	for (size_t i = 0; i < p->agents.n; i++)
		if (handle != NO_VALUE && p->agents.v[i].handle == (uint64_t)handle)
			return &p->agents.v[i];
	for (size_t i = 1; i < p->agents.n; i++)
		if (!first->name || !p->agents.v[i].name ||
			strcmp(first->name, p->agents.v[i].name) != 0)
			return NULL;
	return first;
}

static bool put_machine(struct trace *t, const struct pcs_agent *a)
{
	struct trace_meta *m = &t->meta;
	uint64_t version;

	if (!a)
		return true;
	m->machine = (struct trace_machine){.simds = known(a->simds),
		.cus = known(a->cus),
		.ses = known(a->ses),
		.xccs = known(a->xccs),
		.max_waves_per_simd = known(a->waves_per_simd),
		.lds_bytes_per_cu =
			known(a->lds_kib) == NO_VALUE ? NO_VALUE : known(a->lds_kib) * 1024,
		.wave_size = known(a->wave_size),
		.max_clock_mhz = known(a->mhz),
		.product = a->product ? arena_strdup(&t->arena, a->product) : NULL};
	m->arch = a->name ? arena_strdup(&t->arena, a->name) : NULL;
	m->arch_source = "agents";
	if (m->arch && str_starts(str_of(m->arch), "gfx") && strlen(m->arch) > 5 &&
		str_to_u64(str_sub(str_of(m->arch), 3, strlen(m->arch) - 5), &version) &&
		version < 100)
		m->gfx_major = (unsigned)version;
	return (m->arch || !a->name) && (m->machine.product || !a->product);
}

static void put_sizes(struct trace_launch *l, int64_t wave_size)
{
	int64_t groups = 1, threads = 1;

	for (int i = 0; i < 3; i++) {
		int64_t w = l->workgroup[i], g = l->grid[i];

		if (w <= 0 || g < 0 || w > 1 << 16 || g > INT64_C(1) << 32 ||
			groups > INT64_MAX / (g / w + 1))
			return;
		groups *= (g + w - 1) / w;
		threads *= w;
	}
	l->workgroups = groups;
	if (wave_size > 0 && threads <= 1 << 20 && groups < INT64_C(1) << 40)
		l->waves = groups * ((threads + wave_size - 1) / wave_size);
}

static bool build(struct trace *t, struct opened *x, struct incore_error *e)
{
	const struct pcs *p = &x->pcs;
	struct incore_error *why = &x->pcs.code_error;
	const struct sampled_kernel *k = &p->set.kernels.v[x->kernel];
	struct trace_launch *l = &t->meta.launch;

	if (!samples_build(&p->set, x->kernel, t, e))
		return false;
	if (!put_machine(t, agent_of(p, k->launch.agent)))
		return err_nomem(e);
	put_sizes(l, t->meta.machine.wave_size);
	if (p->command && !(l->command = arena_strdup(&t->arena, p->command)))
		return err_nomem(e);
	if (why->code &&
		!import_note_unread(t, "damaged-file", why->path ? why->path : "",
			"is damaged, so that instructions without samples are missing", why)) {
		err_move(e, why);
		return false;
	}
	if (k->id == UINT64_MAX &&
		!trace_note(t, NOTE_UNMAPPED, "samples-without-kernel", NULL, INCORE_NO_OFFSET,
			p->n_unplaced,
			"the file does not say which kernel these samples are of (--kernel-trace does)"))
		return err_nomem(e);
	return true;
}

static bool pcs_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct roctrace run = {.t = t};
	struct opened x = {.pcs.timeline = &run};
	bool ok = open_file(&x, o, path, e) &&
		  (x.is_timeline ? roctrace_finish(&run, e) : build(t, &x, e));

	close_file(&x);
	roctrace_deinit(&run);
	return ok;
}

const struct import_ops import_rocprof_pcs = {
	.name = "rocprof_pcs",
	.summary = "results of rocprofv3 (JSON, CSV): PC samples; without any the timeline",
	.looks_for = "*_results.json or *_pc_sampling_*.csv of rocprofv3",
	.reads_gzip = true,
	.sniff = pcs_sniff,
	.splits_files = true,
	.split = pcs_split,
	.look = pcs_look,
	.look_at_trace = look_at_trace,
	.read = pcs_read,
	.lost = import_lost_noted, /* noted while reading */
};
