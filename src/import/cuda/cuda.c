/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.c: logs of libincore-cuda as an input format. A log with samples of several kernels is
 * several captures, "log.cudalog#0" and on, the one with most samples first. All sampled launches
 * of a kernel are one capture: its samples and exact counts are sums over them.
 */
#include "import/cuda/cuda.h"
#include "codec/demangle.h"
#include "import/capture_cache.h"

#define ALIGN 128u /* alignment of functions whose address we assign */

static int cuda_sniff(const struct probe *p)
{
	return !p->is_dir && cuda_is_log(p->head, p->head_size) ? 100 : 0;
}

struct opened {
	struct arena arena;
	struct file_data file;
	struct cuda_log log;
	uint32_t number;
};

static void close_log(struct opened *x)
{
	cuda_log_deinit(&x->log);
	file_unload(&x->file);
	arena_deinit(&x->arena);
}

static bool open_log(
	struct opened *x, const struct import_options *o, const char *path, struct incore_error *e)
{
	struct stat st;
	uint32_t part = 0;
	const char *file;

	*x = (struct opened){0};
	arena_init(&x->arena);
	capture_stat(import_fence(o), path, &st, &part);
	file = capture_file(import_fence(o), &x->arena, path);
	if (!file)
		return err_nomem(e);
	if (!import_load(o, &x->file, file, e) ||
		!cuda_log_read(
			&x->log, (struct str){(const char *)x->file.data, x->file.size}, file, e))
		return false;
	x->number = part ? part - 1 : 0;
	if (!x->log.n_captures)
		return err_file(e, "empty-log", file, INCORE_NO_OFFSET,
			"the log holds no samples of a kernel");
	if (x->number >= x->log.n_captures)
		return err_file(e, "no-such-kernel", file, INCORE_NO_OFFSET,
			"the log has samples of %u kernel%s; there is no #%u", x->log.n_captures,
			plural(x->log.n_captures), x->number);
	return true;
}

static void cuda_split(const char *path, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct opened x;

	if (open_log(&x, &o, path, &ignored) && x.log.n_captures > 1)
		*paths = arena_zalloc(a, x.log.n_captures, sizeof(**paths));
	for (uint32_t i = 0; *paths && i < x.log.n_captures; i++) {
		(*paths)[i] = arena_printf(a, "%s#%u", path, i);
		if (!(*paths)[i])
			break;
		++*n;
	}
	incore_error_clear(&ignored);
	close_log(&x);
}

static void cuda_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct opened x;

	(void)a;
	c->is_uncounted = true;
	if (open_log(&x, &o, path, &ignored)) {
		c->dispatch = x.number;
		c->n_bytes = x.log.kernels.v[x.number].n_samples;
	}
	incore_error_clear(&ignored);
	close_log(&x);
}

static void look_at_trace(const struct trace *t, struct arena *a, struct capture *c)
{
	(void)a;
	c->is_uncounted = true;
	c->dispatch = t->meta.launch.dispatch;
	for (code_idx i = 0; t->samples && i < t->n_code; i++)
		c->n_bytes += t->samples[i].issued + t->samples[i].stalled;
}

/* --- code --- */

/* Adds the kernel at address 0, then the functions that only it calls. */
static bool add_functions(struct cuda_build *b)
{
	struct cuda_log *l = b->log;
	struct trace *t = b->t;
	struct sass_code *c = &b->code;
	uint64_t load = 0;

	if (!VEC_PUSH(&c->binaries, (struct sass_binary){.id = b->kernel->cubin_crc,
					    .bytes = cuda_log_cubin(l, b->kernel->cubin_crc)}))
		return false;
	for (size_t i = 0; i < l->kernels.n; i++) {
		const struct cuda_kernel *k = &l->kernels.v[i];
		struct str s = cuda_log_text(l, k->name);
		struct sass_function f = {.name = arena_strndup(&t->arena, s.p, s.n),
			.load = load,
			.is_used = true,
			.is_kernel = k == b->kernel};

		if (k != b->kernel &&
			(k->device != b->kernel->device || k->cubin_crc != b->kernel->cubin_crc ||
				k->owner != b->kernel->name || !k->owner))
			continue;
		if (!f.name || !VEC_PUSH(&c->functions, f) || !VEC_PUSH(&b->names, k->name))
			return false;
		load += UINT64_C(1) << 32; /* compacted when sizes are known */
	}
	return true;
}

static bool open_code(struct cuda_build *b, struct incore_error *e)
{
	struct sass_code *c = &b->code;
	uint64_t load = 0;

	if (!add_functions(b))
		return err_nomem(e);
	if (!c->binaries.v[0].bytes.n)
		return trace_note(b->t, NOTE_MISSING, "no-cubin", NULL, INCORE_NO_OFFSET, 1,
			       "the log does not hold the code of this kernel: it was loaded "
			       "before the capture began, or the log ends before it") ||
		       err_nomem(e);
	if (!sass_open_binary(c, &c->binaries.v[0], e))
		return false;
	sass_find_code(c);
	EACH (struct sass_function, f, c->functions.v, c->functions.n) {
		f->load = load;
		load += (f->size + ALIGN - 1) / ALIGN * ALIGN;
	}
	return sass_list_code(c, e);
}

/* The row of an offset in a function, or NO_CODE. */
static code_idx row_at(const struct cuda_build *b, uint64_t function, uint64_t offset)
{
	for (size_t i = 0; i < b->names.n; i++) {
		const struct sass_function *f = &b->code.functions.v[i];

		if (b->names.v[i] == function)
			return offset / SASS_INST_BYTES < f->n_inst
				       ? f->row_of[offset / SASS_INST_BYTES]
				       : NO_CODE;
	}
	return NO_CODE;
}

/* --- samples and counts --- */

static bool is_ours(const struct cuda_build *b, uint64_t crc, uint64_t function)
{
	/* counts have only 32 bits of it */
	if (crc != b->kernel->cubin_crc && crc != (uint32_t)b->kernel->cubin_crc)
		return false;
	for (size_t i = 0; i < b->names.n; i++)
		if (b->names.v[i] == function)
			return true;
	return false;
}

static bool take_pc(void *ctx, const struct cuda_sampled_pc *x)
{
	struct cuda_build *b = ctx;
	struct trace *t = b->t;
	code_idx row;

	if (x->device != b->kernel->device || !is_ours(b, x->pc.cubin_crc, x->pc.function))
		return true;
	row = row_at(b, x->pc.function, x->pc.offset);
	for (uint32_t i = 0; i < x->pc.n_stalls; i++) {
		uint32_t n;
		const struct cuda_reason_kind *k = cuda_count_of(&b->reasons, x, i, &n);

		if (!k || row == NO_CODE)
			b->n_unmapped += k && k->is_not_issued ? 0 : n;
		else if (k->reason == CUDA_ISSUED)
			t->samples[row].issued += k->is_not_issued ? 0 : n;
		else if (k->is_not_issued)
			t->reason_counts[(size_t)row * t->n_reasons + k->reason].not_issued += n;
		else
			t->reason_counts[(size_t)row * t->n_reasons + k->reason].all += n;
	}
	return true;
}

static void sum_samples(struct trace *t)
{
	for (size_t i = 0; i < (size_t)t->n_code * t->n_reasons; i++) {
		struct reason_count *r = &t->reason_counts[i];

		t->samples[i / t->n_reasons].stalled += r->all;
		r->not_issued = r->not_issued < r->all ? r->not_issued : r->all;
	}
}

static bool read_samples(struct cuda_build *b, struct incore_error *e)
{
	struct trace *t = b->t;
	size_t n = b->reasons.names.n;
	const char **names = arena_zalloc(&t->arena, n + 1, sizeof(*names));

	for (size_t i = 0; names && i < n; i++) {
		names[i] =
			arena_strndup(&t->arena, b->reasons.names.v[i].p, b->reasons.names.v[i].n);
		if (!names[i])
			return err_nomem(e);
	}
	if (!names || (n && !trace_make_samples(t, names, (uint32_t)n)))
		return err_nomem(e);
	if (!t->samples)
		return true;
	t->sampling.has_not_issued = b->reasons.has_not_issued;
	if (!cuda_log_each_pc(b->log, take_pc, b))
		return err_nomem(e);
	sum_samples(t);
	return true;
}

static bool build_trace(struct cuda_build *b, struct incore_error *e)
{
	struct str name = cuda_log_text(b->log, b->kernel->name);
	struct trace_meta *m = &b->t->meta;
	char *mangled = arena_strndup(&b->t->arena, name.p, name.n);

	m->vendor = VENDOR_NVIDIA;
	m->kernel = mangled ? demangle(mangled, &b->t->arena) : NULL;
	if (!m->kernel)
		return err_nomem(e);
	if (!*m->kernel)
		m->kernel = mangled;
	return (cuda_reasons_read(&b->reasons, b->log) || err_nomem(e)) && open_code(b, e) &&
	       cuda_put_run(b, e) && read_samples(b, e) && cuda_put_counts(b, e) &&
	       sass_link_code(&b->code, e) && cuda_put_notes(b, e);
}

code_idx cuda_row_at(const struct cuda_build *b, uint64_t crc, uint64_t function, uint64_t offset)
{
	return is_ours(b, crc, function) ? row_at(b, function, offset) : NO_CODE;
}

static bool cuda_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct opened x;
	struct import_options kept = *o;
	struct cuda_build b = {.t = t};
	bool ok;

	kept.is_look = true; /* other kernels of the log may be requested */
	ok = open_log(&x, &kept, path, e);
	arena_init(&b.scratch);
	sass_code_init(&b.code);
	if (ok) {
		x.log.path = t->meta.origin;
		b.log = &x.log;
		b.kernel = &x.log.kernels.v[x.number];
		b.code.t = t;
		b.code.options = o;
		b.code.scratch = &b.scratch;
		b.code.path = x.log.path;
		b.code.file = x.log.bytes;
		t->meta.launch.dispatch = t->meta.launch.kernel_id = x.number;
		ok = build_trace(&b, e);
	}
	cuda_reasons_deinit(&b.reasons);
	VEC_FREE(&b.names);
	sass_code_deinit(&b.code);
	arena_deinit(&b.scratch);
	close_log(&x);
	return ok;
}

const struct import_ops import_cuda = {
	.name = "cuda",
	.summary = "log of `incore capture cuda` (.cudalog)",
	.looks_for = "a log of incore capture cuda (.cudalog)",
	.sniff = cuda_sniff,
	.splits_files = true,
	.split = cuda_split,
	.look = cuda_look,
	.look_at_trace = look_at_trace,
	.read = cuda_read,
	.lost = import_lost_noted, /* noted while reading */
};
