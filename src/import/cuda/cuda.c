/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.c: logs of libincore-cuda as an input format. A log with samples of several kernels is
 * several captures, "log.cudalog#0" and on, the one with most samples first. All sampled launches
 * of a kernel are one capture: its samples and exact counts are sums over them.
 *
 * Parts: device, launches, exact counts, losses; the format.
 */
#include "base/search.h"
#include "codec/demangle.h"
#include "import/capture_cache.h"
#include "import/cuda/log.h"
#include "import/sass_code.h"

/* The trace of one kernel while it is made from a log. */

struct cuda_build {
	struct trace *t;
	struct cuda_log *log;
	const struct cuda_kernel *kernel;
	struct arena scratch;
	struct sass_code code;
	VEC(uint64_t) names; /* text ids of code.functions, in the same order */
	struct cuda_reason_list reasons;
	uint64_t n_unmapped; /* samples at addresses without a row */
};

/* --- device, launches, exact counts, losses --------------------------------------------------- */

/* The data of a log besides samples: device, launches, exact counts, losses. */

static code_idx cuda_row_at(
	const struct cuda_build *b, uint64_t crc, uint64_t function, uint64_t offset);

#define SCHEDULERS 4	    /* per SM, since Volta */
#define MAX_TABLE_ROWS 1000 /* launches that are listed individually */
#define EXECUTED "smsp__sass_inst_executed"
#define MAX_METRICS 16u
/* Limit of one row: seconds of all schedulers of a GPU. More is damage, and sums could overflow. */
#define MOST_OF_ROW (UINT64_C(1) << 44)

static bool is_sampled(const struct cuda_log *l, uint32_t section)
{
	uint32_t mode = l->sections.v[section].start.mode;

	return mode == CUDA_CONTINUOUS || mode == CUDA_SERIALISED;
}

/* --- device --- */

static bool put_device(struct cuda_build *b)
{
	struct trace_meta *m = &b->t->meta;
	const struct cuda_device *d = NULL;
	struct str name;

	EACH (const struct cuda_log_device, x, b->log->devices.v, b->log->devices.n) {
		if (x->device.id == b->kernel->device && !d)
			d = &x->device;
	}
	m->launch.agent = b->kernel->device;
	if (!d)
		return true;
	name = cuda_log_text(b->log, d->name);
	m->machine.cus = d->sms;
	m->machine.simds = (int64_t)d->sms * SCHEDULERS;
	m->machine.max_waves_per_simd = d->warps_per_sm / SCHEDULERS;
	m->machine.lds_bytes_per_cu = d->shared_per_sm;
	m->machine.wave_size = d->warp_threads;
	m->machine.max_clock_mhz = d->clock_khz / 1000;
	m->machine.product = d->is_mig
				     ? arena_printf(&b->t->arena, "%.*s, MIG instance %u/%u",
					       STR_ARG(name), d->gpu_instance, d->compute_instance)
				     : arena_strndup(&b->t->arena, name.p, name.n);
	m->arch = arena_printf(&b->t->arena, "sm_%u%u", d->major, d->minor);
	m->arch_source = "compute capability of the device";
	if (d->clock_khz) {
		m->clock_hz_num = (uint64_t)d->clock_khz * 1000;
		m->clock_hz_den = 1;
		m->clock_source = "highest clock of the device";
	}
	return m->machine.product && m->arch;
}

/* --- launches --- */

/* Is it a launch of this kernel on its device that was sampled? */
static bool run_is_ours(const struct cuda_build *b, const struct cuda_log_launch *x)
{
	return x->launch.name == b->kernel->name && x->launch.device == b->kernel->device &&
	       is_sampled(b->log, x->section) && cuda_launch_is_wanted(b->log, x);
}

static uint64_t cuda_time_of(const struct cuda_launch *l)
{
	return l->end_ns > l->start_ns ? l->end_ns - l->start_ns : 0;
}

static void cuda_put_shape(struct trace_launch *l, const struct cuda_launch *x)
{
	uint64_t blocks = 1, threads = 1;

	for (int i = 0; i < 3; i++) {
		l->workgroup[i] = x->block[i];
		l->grid[i] = (int64_t)((uint64_t)x->grid[i] * x->block[i]);
		threads = threads > UINT32_MAX ? threads : threads * x->block[i];
		blocks = blocks > UINT64_C(1) << 31 ? blocks : blocks * x->grid[i];
	}
	if (blocks <= INT64_MAX >> 32 && threads <= UINT32_MAX && blocks && threads) {
		l->workgroups = (int64_t)blocks;
		l->waves = (int64_t)(blocks * ((threads - 1) / 32 + 1));
	}
	l->vgprs = x->registers;
	l->lds_bytes = (int64_t)x->static_shared + x->dynamic_shared;
	l->scratch_bytes = x->local_per_thread;
}

static const char *const launch_columns[] = {"launch", "device", "stream", "start_ns", "time_ns",
	"grid", "block", "registers", "static_shared_bytes", "dynamic_shared_bytes",
	"local_bytes_per_thread"};
#define N_COLUMNS (sizeof(launch_columns) / sizeof(*launch_columns))

static bool cuda_put_cells(struct arena *a, const char **to, const struct cuda_log_launch *x)
{
	const struct cuda_launch *l = &x->launch;
	bool ok = true;

	to[0] = arena_printf(a, "%u", x->ordinal);
	to[1] = arena_printf(a, "%u", l->device);
	to[2] = arena_printf(a, "%u", l->stream);
	to[3] = arena_printf(a, "%llu", (unsigned long long)l->start_ns);
	to[4] = arena_printf(a, "%llu", (unsigned long long)cuda_time_of(l));
	to[5] = arena_printf(a, "%u,%u,%u", l->grid[0], l->grid[1], l->grid[2]);
	to[6] = arena_printf(a, "%u,%u,%u", l->block[0], l->block[1], l->block[2]);
	to[7] = arena_printf(a, "%u", l->registers);
	to[8] = arena_printf(a, "%u", l->static_shared);
	to[9] = arena_printf(a, "%u", l->dynamic_shared);
	to[10] = arena_printf(a, "%u", l->local_per_thread);
	for (size_t i = 0; i < N_COLUMNS; i++)
		ok = ok && to[i];
	return ok;
}

static bool put_launches(struct cuda_build *b)
{
	struct trace *t = b->t;
	struct trace_launch *l = &t->meta.launch;
	struct named_table *k = arena_zalloc(&t->arena, 1, sizeof(*k));
	const char **cells = arena_zalloc(&t->arena, MAX_TABLE_ROWS * N_COLUMNS, sizeof(*cells));
	uint64_t n = 0, ns = 0;

	if (!k || !cells)
		return false;
	EACH (const struct cuda_log_launch, x, b->log->launches.v, b->log->launches.n) {
		if (!run_is_ours(b, x))
			continue;
		if (!n) {
			cuda_put_shape(l, &x->launch);
			l->start_ns = (int64_t)(x->launch.start_ns & INT64_MAX);
			l->launch_index = x->ordinal;
		}
		if (n < MAX_TABLE_ROWS && !cuda_put_cells(&t->arena, cells + n * N_COLUMNS, x))
			return false;
		n++;
		ns += cuda_time_of(&x->launch) & UINT32_MAX;
	}
	if (!n)
		return true;
	l->launch_count = (int64_t)n;
	l->end_ns = l->start_ns > INT64_MAX - (int64_t)(ns & INT64_MAX / 2)
			    ? l->start_ns
			    : l->start_ns + (int64_t)(ns & INT64_MAX / 2);
	*k = (struct named_table){.name = "launches",
		.origin = path_base(b->log->path),
		.n_cols = N_COLUMNS,
		.n_rows = n < MAX_TABLE_ROWS ? (uint32_t)n : MAX_TABLE_ROWS,
		.cols = launch_columns,
		.cells = cells};
	t->tables = k;
	t->n_tables = 1;
	return n == 1 || trace_note(t, "launches-summed", NULL, INCORE_NO_OFFSET, n,
				 "samples are sums over %llu launches, %.3f ms in all",
				 (unsigned long long)n, (double)ns / 1e6);
}

/* --- the sampler --- */

static void put_sampling(struct cuda_build *b)
{
	struct trace_sampling *s = &b->t->sampling;

	EACH (const struct cuda_log_context, c, b->log->contexts.v, b->log->contexts.n) {
		if (c->context.device == b->kernel->device && is_sampled(b->log, c->section) &&
			c->context.period_log2 < 32 && c->context.period_log2)
			s->period_cyc = UINT64_C(1) << c->context.period_log2;
	}
	EACH (const struct cuda_body, x, b->log->samples.v, b->log->samples.n) {
		struct cuda_samples r;
		const struct cuda_context *c;

		memcpy(&r, x->bytes.p, sizeof(r));
		c = cuda_log_context(b->log, x->section, r.context);
		if (c && c->device == b->kernel->device && r.n_dropped < MOST_OF_ROW)
			s->n_dropped += r.n_dropped;
	}
}

/* Adds device, launches, period, evidence. */
static bool cuda_put_run(struct cuda_build *b, struct incore_error *e)
{
	struct trace_meta *m = &b->t->meta;
	const struct cuda_section *first = b->log->sections.v;
	uint32_t version = first->start.cupti_version;
	bool is_synthetic = false;

	for (size_t i = 0; i < b->log->sections.n; i++)
		is_synthetic |= b->log->sections.v[i].start.is_synthetic != 0;
	m->evidence = is_synthetic ? EVIDENCE_SYNTHETIC : EVIDENCE_HARDWARE_SAMPLE;
	m->format_version = arena_printf(&b->t->arena, "%u, CUPTI %u", CUDA_LOG_VERSION, version);
	put_sampling(b);
	return (m->format_version && put_device(b) && put_launches(b)) || err_nomem(e);
}

/* --- exact counts --- */

struct count_cell {
	code_idx row;
	uint64_t metric, value;
};
ORDER(by_metric, struct count_cell, UP(metric) UP(row))

struct count_cells {
	VEC(struct count_cell) v;
};

static bool read_counts(struct cuda_build *b, struct count_cells *to)
{
	for (size_t i = 0; i < b->log->counts.n; i++) {
		struct str rest = b->log->counts.v[i].bytes;
		struct cuda_count c;

		for (; rest.n >= sizeof(c); rest = str_sub(rest, sizeof(c), rest.n)) {
			code_idx row;

			memcpy(&c, rest.p, sizeof(c));
			row = cuda_row_at(b, c.cubin_crc, c.function, c.offset);
			if (row != NO_CODE && c.value < MOST_OF_ROW &&
				!VEC_PUSH(&to->v, (struct count_cell){row, c.metric, c.value}))
				return false;
		}
	}
	SORT(to->v.v, to->v.n, by_metric);
	return true;
}

/* Adds one metric: cells of one row are summed. */
static bool cuda_put_metric(struct cuda_build *b, const struct count_cell *v, size_t n)
{
	struct trace *t = b->t;
	struct str name = cuda_log_text(b->log, v->metric);
	code_idx *rows = arena_zalloc(&t->arena, n, sizeof(*rows));
	uint64_t *values = arena_zalloc(&t->arena, n, sizeof(*values));
	struct code_metric *m = &t->metrics[t->n_metrics];
	uint32_t k = 0;

	if (!rows || !values)
		return false;
	for (size_t i = 0; i < n; i++) {
		k += k == 0 || rows[k - 1] != v[i].row;
		rows[k - 1] = v[i].row;
		values[k - 1] += v[i].value;
	}
	if (str_is(name, EXECUTED)) {
		for (uint32_t i = 0; i < k; i++)
			t->code[rows[i]].stated.hit = values[i];
		t->has_stated_totals = true;
		return true;
	}
	if (!name.n || t->n_metrics == MAX_METRICS)
		return true;
	*m = (struct code_metric){arena_strndup(&t->arena, name.p, name.n), k, rows, values, false};
	t->n_metrics++;
	return m->name != NULL;
}

/* Adds the executions of rows, if the log has them. */
static bool cuda_put_counts(struct cuda_build *b, struct incore_error *e)
{
	struct count_cells c = {0};
	struct trace *t = b->t;
	bool ok = read_counts(b, &c);
	size_t from = 0;

	t->metrics = arena_zalloc(&t->arena, MAX_METRICS, sizeof(*t->metrics));
	ok = ok && t->metrics;
	for (size_t i = 1; ok && i <= c.v.n; i++)
		if (i == c.v.n || c.v.v[i].metric != c.v.v[from].metric) {
			ok = cuda_put_metric(b, c.v.v + from, i - from);
			from = i;
		}
	VEC_FREE(&c.v);
	return ok || err_nomem(e);
}

/* --- notes --- */

static bool note_troubles(struct cuda_build *b)
{
	static const struct {
		const char *code, *message;
	} WORDS[CUDA_TROUBLES] = {
		[CUDA_NO_CUPTI] = {"no-cupti", "CUPTI could not be loaded"},
		[CUDA_REFUSED] = {"cupti-refused", "CUPTI refused"},
		[CUDA_LOST_LAUNCHES] = {"lost-launches", "CUPTI dropped records of launches"},
		[CUDA_LOST_RECORDS] = {"lost-records", "the log could not be written for a while"},
		[CUDA_LOST_COUNTS] = {"lost-counts", "CUPTI dropped exact counts"},
	};

	EACH (const struct cuda_body, x, b->log->troubles.v, b->log->troubles.n) {
		struct cuda_trouble t;
		struct str text = str_sub(x->bytes, sizeof(t), x->bytes.n);

		memcpy(&t, x->bytes.p, sizeof(t));
		if (t.kind < CUDA_TROUBLES &&
			!trace_note(b->t, WORDS[t.kind].code, NULL, INCORE_NO_OFFSET, t.n,
				"%s%s%.*s", WORDS[t.kind].message, text.n ? ": " : "",
				STR_ARG(text)))
			return false;
	}
	return true;
}

static bool note_ends(struct cuda_build *b)
{
	const struct cuda_log *l = b->log;
	uint64_t n = 0;

	for (size_t i = 0; i < l->sections.n; i++)
		n += !l->sections.v[i].has_end;
	if (l->damage)
		return trace_note(b->t, "truncated-log", l->path, l->damage_at, 1,
			"%s: what follows is not read", l->damage);
	return !n ||
	       trace_note(b->t, "died", l->path, l->bytes.n, n,
		       "the application did not finish: only what it had flushed until then is here");
}

/* Adds notes on losses and failures. */
static bool cuda_put_notes(struct cuda_build *b, struct incore_error *e)
{
	struct trace *t = b->t;
	uint64_t n_full = 0;

	EACH (const struct cuda_body, x, b->log->samples.v, b->log->samples.n) {
		struct cuda_samples r;

		memcpy(&r, x->bytes.p, sizeof(r));
		n_full += r.is_full != 0;
	}
	if (!note_troubles(b) || !note_ends(b))
		return err_nomem(e);
	if (t->sampling.n_dropped &&
		!trace_note(t, "dropped-samples", NULL, INCORE_NO_OFFSET, t->sampling.n_dropped,
			"the sampler dropped %llu samples",
			(unsigned long long)t->sampling.n_dropped))
		return err_nomem(e);
	if (n_full && !trace_note(t, "full-buffer", NULL, INCORE_NO_OFFSET, n_full,
			      "the sampler's buffer was full %llu times: a longer period "
			      "(--period) loses less",
			      (unsigned long long)n_full))
		return err_nomem(e);
	if (b->kernel->is_called &&
		!trace_note(t, "shared-function", NULL, INCORE_NO_OFFSET, 1,
			"several kernels can have called this function: its samples belong to "
			"none of them alone"))
		return err_nomem(e);
	return !b->n_unmapped ||
	       trace_note(t, "unmapped-addresses", NULL, INCORE_NO_OFFSET, b->n_unmapped,
		       "%llu samples are at places that the code does not have",
		       (unsigned long long)b->n_unmapped) ||
	       err_nomem(e);
}

/* --- the format ------------------------------------------------------------------------------- */

#define ALIGN 128u /* alignment of functions whose address we assign */

struct cuda_opened {
	struct arena arena;
	struct file_data file;
	struct cuda_log log;
	uint32_t number;
};

static void cuda_close_log(struct cuda_opened *x)
{
	cuda_log_deinit(&x->log);
	file_unload(&x->file);
	arena_deinit(&x->arena);
}

static bool cuda_open_log(struct cuda_opened *x, const struct import_options *o, const char *path,
	struct incore_error *e)
{
	const char *file;

	*x = (struct cuda_opened){0};
	arena_init(&x->arena);
	file = capture_file(import_fence(o), &x->arena, path, &x->number);
	if (!file)
		return err_nomem(e);
	if (!import_load(o, &x->file, file, e) ||
		!cuda_log_read(
			&x->log, (struct str){(const char *)x->file.data, x->file.size}, file, e))
		return false;
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
	struct cuda_opened x;

	if (cuda_open_log(&x, &o, path, &ignored) && x.log.n_captures > 1)
		capture_name_parts(a, path, x.log.n_captures, paths, n);
	incore_error_clear(&ignored);
	cuda_close_log(&x);
}

static void cuda_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct cuda_opened x;

	(void)a;
	c->is_uncounted = true;
	if (cuda_open_log(&x, &o, path, &ignored)) {
		c->dispatch = x.number;
		c->n_bytes = x.log.kernels.v[x.number].n_samples;
	}
	incore_error_clear(&ignored);
	cuda_close_log(&x);
}

static void cuda_look_at_trace(const struct trace *t, struct arena *a, struct capture *c)
{
	(void)a;
	c->is_uncounted = true;
	c->dispatch = t->meta.launch.dispatch;
	for (code_idx i = 0; t->samples && i < t->n_code; i++)
		c->n_bytes += t->samples[i].issued + t->samples[i].stalled;
}

/* --- code --- */

/* Adds the kernel at address 0, then the functions that only it calls. */
static bool cuda_add_functions(struct cuda_build *b)
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

	if (!cuda_add_functions(b))
		return err_nomem(e);
	if (!c->binaries.v[0].bytes.n)
		return trace_note(b->t, "no-cubin", NULL, INCORE_NO_OFFSET, 1,
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
static code_idx cuda_own_row_at(const struct cuda_build *b, uint64_t function, uint64_t offset)
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

static bool cuda_is_ours(const struct cuda_build *b, uint64_t crc, uint64_t function)
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

	if (x->device != b->kernel->device || !cuda_is_ours(b, x->pc.cubin_crc, x->pc.function))
		return true;
	row = cuda_own_row_at(b, x->pc.function, x->pc.offset);
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

static void cuda_sum_samples(struct trace *t)
{
	for (size_t i = 0; i < (size_t)t->n_code * t->n_reasons; i++) {
		struct reason_count *r = &t->reason_counts[i];

		t->samples[i / t->n_reasons].stalled += r->all;
		r->not_issued = r->not_issued < r->all ? r->not_issued : r->all;
	}
}

static bool cuda_read_samples(struct cuda_build *b, struct incore_error *e)
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
	cuda_sum_samples(t);
	return true;
}

static bool cuda_build_trace(struct cuda_build *b, struct incore_error *e)
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
	       cuda_put_run(b, e) && cuda_read_samples(b, e) && cuda_put_counts(b, e) &&
	       sass_link_code(&b->code, e) && cuda_put_notes(b, e);
}

/* The row of an offset in a function of the kernel's code, or NO_CODE. */
static code_idx cuda_row_at(
	const struct cuda_build *b, uint64_t crc, uint64_t function, uint64_t offset)
{
	return cuda_is_ours(b, crc, function) ? cuda_own_row_at(b, function, offset) : NO_CODE;
}

static bool cuda_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct cuda_opened x;
	struct import_options kept = *o;
	struct cuda_build b = {.t = t};
	bool ok;

	kept.is_look = true; /* other kernels of the log may be requested */
	ok = cuda_open_log(&x, &kept, path, e);
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
		ok = cuda_build_trace(&b, e);
	}
	cuda_reasons_deinit(&b.reasons);
	VEC_FREE(&b.names);
	sass_code_deinit(&b.code);
	arena_deinit(&b.scratch);
	cuda_close_log(&x);
	return ok;
}

static const struct signature cuda_signs[] = {
	{.begins = CUDA_LOG_MAGIC,
		.n_bytes = sizeof(CUDA_LOG_MAGIC),
		.min_bytes = sizeof(struct cuda_log_head),
		.score = 100},
	{0},
};

const struct import_ops import_cuda = {
	.name = "cuda",
	.summary = "log of `incore capture cuda` (.cudalog)",
	.looks_for = "a log of incore capture cuda (.cudalog)",
	.signs = cuda_signs,
	.splits_files = true,
	.split = cuda_split,
	.look = cuda_look,
	.look_at_trace = cuda_look_at_trace,
	.read = cuda_read,
	.lost = import_lost_noted, /* noted while reading */
};
