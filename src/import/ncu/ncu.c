/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ncu.c: reports of Nsight Compute as an input format. A report with several results is several
 * captures, "report.ncu-rep#0" and on, each with its number as dispatch.
 */
#include <math.h>

#include "import/capture_cache.h"
#include "import/ncu/ncu.h"

#define MAX_NS 1000000000000000000 /* no kernel runs longer */

static int ncu_sniff(const struct probe *p)
{
	return !p->is_dir && ncu_is_magic(p->head, p->head_size) ? 100 : 0;
}

/* The indexed file of a capture, and the requested result. */
struct opened {
	struct arena arena;
	struct file_data file;
	struct ncu_report report;
	uint32_t result;
};

static void close_report(struct opened *x)
{
	ncu_report_deinit(&x->report);
	file_unload(&x->file);
	arena_deinit(&x->arena);
}

static bool open_report(
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
		!ncu_index(&x->report, (struct str){(const char *)x->file.data, x->file.size}, file,
			e))
		return false;
	x->result = part ? part - 1 : 0;
	if (!x->report.results.n)
		return err_file(e, "empty-report", file, INCORE_NO_OFFSET,
			"the report of Nsight Compute holds no result: nothing was profiled");
	if (x->result >= x->report.results.n)
		return err_file(e, "no-such-result", file, INCORE_NO_OFFSET,
			"the report has %zu result%s; there is no #%u", x->report.results.n,
			plural(x->report.results.n), x->result);
	return true;
}

static void ncu_split(const char *path, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct opened x;

	if (open_report(&x, &o, path, &ignored) && x.report.results.n > 1)
		*paths = arena_zalloc(a, x.report.results.n, sizeof(**paths));
	for (size_t i = 0; *paths && i < x.report.results.n; i++) {
		(*paths)[i] = arena_printf(a, "%s#%zu", path, i);
		if (!(*paths)[i])
			break;
		++*n;
	}
	incore_error_clear(&ignored);
	close_report(&x);
}

static const char *name_of(const struct ncu_result *x, struct arena *a)
{
	static const char *const words[NCU_KINDS] = {"kernel", "range", "command list", "graph"};
	struct str s = x->renamed.n	? x->renamed
		       : x->demangled.n ? x->demangled
		       : x->function.n	? x->function
					: x->mangled;

	return s.n ? arena_strndup(a, s.p, s.n) : words[x->kind];
}

/* Stores the duration as n_bytes, so that the longest of several results is preferred. */
static void ncu_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct ncu_result r = {0};
	struct opened x;
	int64_t ns;

	(void)a;
	c->is_uncounted = true;
	if (open_report(&x, &o, path, &ignored) &&
		ncu_result_read(&r, &x.report, &x.report.results.v[x.result], &ignored)) {
		ns = ncu_whole(&r, "gpu__time_duration.sum");
		c->dispatch = x.result;
		c->n_bytes = ns > 0 ? (uint64_t)ns : 0;
	}
	incore_error_clear(&ignored);
	ncu_result_deinit(&r);
	close_report(&x);
}

static void look_at_trace(const struct trace *t, struct arena *a, struct capture *c)
{
	const struct trace_launch *l = &t->meta.launch;

	(void)a;
	c->is_uncounted = true;
	c->dispatch = l->dispatch;
	c->n_bytes = l->end_ns != NO_VALUE ? (uint64_t)(l->end_ns - l->start_ns) : 0;
}

/* --- the device and the launch --- */

static int64_t times(int64_t a, int64_t b)
{
	return a < 0 || b < 0 || (b && a > INT64_MAX / b) ? NO_VALUE : a * b;
}

static void put_machine(struct trace_machine *m, const struct ncu_result *x)
{
	int64_t khz = ncu_whole(x, "device__attribute_clock_rate");

	m->cus = ncu_whole(x, "device__attribute_multiprocessor_count");
	m->simds =
		times(m->cus, ncu_whole(x, "device__attribute_num_schedulers_per_multiprocessor"));
	m->max_waves_per_simd = ncu_whole(x, "device__attribute_max_warps_per_scheduler");
	m->lds_bytes_per_cu =
		ncu_whole(x, "device__attribute_max_shared_memory_per_multiprocessor");
	m->wave_size = ncu_whole(x, "device__attribute_warp_size");
	m->max_clock_mhz = khz == NO_VALUE ? NO_VALUE : khz / 1000;
}

static void put_launch(struct trace_launch *l, const struct ncu_result *x, uint32_t number)
{
	int64_t ns = ncu_whole(x, "gpu__time_duration.sum"), threads = 1;

	l->dispatch = number;
	l->agent = ncu_whole(x, "launch__device_id");
	l->vgprs = ncu_whole(x, "launch__registers_per_thread");
	l->lds_bytes = ncu_whole(x, "launch__shared_mem_per_block");
	l->scratch_bytes = ncu_whole(x, "launch__stack_size");
	if (x->kind == NCU_LAUNCH && x->grid[0] && x->block[0]) {
		l->workgroups = 1;
		for (int i = 0; i < 3; i++) {
			l->workgroup[i] = (int64_t)x->block[i];
			l->grid[i] = times((int64_t)x->grid[i], (int64_t)x->block[i]);
			l->workgroups = times(l->workgroups, (int64_t)x->grid[i]);
			threads = times(threads, (int64_t)x->block[i]);
		}
		if (threads != NO_VALUE && threads > 0)
			l->waves = times(l->workgroups, (threads - 1) / 32 + 1);
	}
	if (ns != NO_VALUE && ns < MAX_NS && x->time_s < 1u << 31) {
		l->start_ns = (int64_t)x->time_s * 1000000000;
		l->end_ns = l->start_ns + ns;
	}
}

static void put_clock(struct trace_meta *m, const struct ncu_result *x)
{
	static const char *const names[] = {"gpc__cycles_elapsed.avg.per_second",
		"smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int64_t hz = ncu_whole(x, names[i]);

		if (hz == NO_VALUE || hz == 0)
			continue;
		m->clock_hz_num = (uint64_t)hz;
		m->clock_hz_den = 1;
		m->clock_source = names[i];
		return;
	}
}

/* Text fields a and b of a message of the session. */
static void read_pair(struct str bytes, uint32_t a, uint32_t b, struct str *x, struct str *y)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	*x = *y = (struct str){0};
	while (pb_next(&m, &f))
		if (f.wire == PB_BYTES && (f.number == a || f.number == b))
			*(f.number == a ? x : y) = f.bytes;
}

/* { 6 devices { 2 name }, 8 versions { 1 of what, 2 version } } */
static bool put_session(struct trace *t, struct ncu_report *r)
{
	struct trace_meta *m = &t->meta;
	struct str what, version, tool = {0};
	struct pb_field f;

	for (size_t i = 0; i < r->sessions.n; i++) {
		struct pb_reader s = pb_of(r->sessions.v[i]);

		while (ncu_next(r, &s, 11, &f)) {
			if (f.wire != PB_BYTES || (f.number != 6 && f.number != 8))
				continue;
			read_pair(f.bytes, f.number == 6 ? 99 : 1, 2, &what, &version);
			if (f.number == 6 && version.n && !m->machine.product)
				m->machine.product = arena_strndup(&t->arena, version.p, version.n);
			else if (f.number == 8 && str_starts(what, "Nsight Compute"))
				tool = version;
		}
	}
	m->format_version =
		tool.n ? arena_printf(&t->arena, "%llu, Nsight Compute %.*s",
				 (unsigned long long)r->version, STR_ARG(tool))
		       : arena_printf(&t->arena, "%llu", (unsigned long long)r->version);
	return m->format_version != NULL;
}

static bool put_arch(struct ncu_build *b)
{
	struct trace_meta *m = &b->t->meta;
	int64_t major = ncu_whole(b->result, "device__attribute_compute_capability_major");
	int64_t minor = ncu_whole(b->result, "device__attribute_compute_capability_minor");

	if (major == NO_VALUE || minor == NO_VALUE)
		return true;
	m->arch = arena_printf(&b->t->arena, "sm_%lld%lld", (long long)major, (long long)minor);
	m->arch_source = "compute capability of the device";
	return m->arch != NULL;
}

/* --- notes --- */

static bool note_clock(struct trace *t, const struct ncu_result *x)
{
	if (!x->has_clock_status || x->is_locked)
		return true;
	return trace_note(t, NOTE_INFO, "clock-not-locked", NULL, INCORE_NO_OFFSET, 1,
		x->is_lock_asked ? "the clock was to be locked and was not: passes may have run at "
				   "different clocks"
				 : "the clock was not locked: passes may have run at different "
				   "clocks");
}

static bool add_notes(struct ncu_build *b)
{
	struct trace *t = b->t;
	const struct ncu_report *r = b->report;

	if (!note_clock(t, b->result))
		return false;
	if (r->is_cut && !trace_note(t, NOTE_TRUNCATED, "truncated-report", r->path, r->bytes.n, 1,
				 "the file ends at offset %zu inside %s %zu", r->bytes.n,
				 r->is_cut_result ? "result" : "a block after result",
				 r->results.n - !r->is_cut_result))
		return false;
	if (r->n_unknown &&
		!trace_note(t, NOTE_INFO, "unknown-fields", r->path, INCORE_NO_OFFSET, r->n_unknown,
			"%llu fields of messages are unknown and were skipped",
			(unsigned long long)r->n_unknown))
		return false;
	if (r->n_surplus &&
		!trace_note(t, NOTE_INFO, "unknown-bytes", r->path, INCORE_NO_OFFSET, r->n_surplus,
			"%llu bytes of blocks are of no announced message",
			(unsigned long long)r->n_surplus))
		return false;
	if (t->sampling.n_dropped &&
		!trace_note(t, NOTE_LOST, "dropped-samples", NULL, INCORE_NO_OFFSET,
			t->sampling.n_dropped, "the sampler lost %llu bytes of samples",
			(unsigned long long)t->sampling.n_dropped))
		return false;
	if (b->n_absurd &&
		!trace_note(t, NOTE_CLAMPED, "absurd-counts", NULL, INCORE_NO_OFFSET, b->n_absurd,
			"%llu counts of instructions are larger than can be and were cut",
			(unsigned long long)b->n_absurd))
		return false;
	return !b->n_unmapped ||
	       trace_note(t, NOTE_UNMAPPED, "unmapped-addresses", NULL, INCORE_NO_OFFSET,
		       b->n_unmapped,
		       "%llu counts are at addresses that no function of the report holds",
		       (unsigned long long)b->n_unmapped);
}

static bool build_trace(struct ncu_build *b, uint32_t number, struct incore_error *e)
{
	struct trace *t = b->t;
	struct trace_meta *m = &t->meta;

	m->vendor = VENDOR_NVIDIA;
	m->evidence = b->report->is_synthetic ? EVIDENCE_SYNTHETIC : EVIDENCE_HARDWARE_SAMPLE;
	m->kernel = name_of(b->result, &t->arena);
	put_machine(&m->machine, b->result);
	put_launch(&m->launch, b->result, number);
	put_clock(m, b->result);
	if (!m->kernel || !put_session(t, b->report) || !put_arch(b))
		return err_nomem(e);
	if (!ncu_build_code(b, e) || !ncu_build_counters(b, e) || !ncu_build_tables(b, e))
		return false;
	return add_notes(b) || err_nomem(e);
}

static bool ncu_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct ncu_result result = {0};
	struct opened x;
	struct ncu_build b = {.t = t, .options = o, .report = &x.report, .result = &result};
	struct import_options kept = *o;
	bool ok;

	/* the trace does not use the file afterwards, and other results may be requested */
	kept.is_look = true;
	ok = open_report(&x, &kept, path, e);

	arena_init(&b.scratch);
	if (ok)
		x.report.path = t->meta.origin;
	ok = ok && ncu_result_read(&result, &x.report, &x.report.results.v[x.result], e) &&
	     build_trace(&b, x.result, e);
	ncu_result_deinit(&result);
	arena_deinit(&b.scratch);
	close_report(&x);
	return ok;
}

const struct import_ops import_ncu = {
	.name = "ncu",
	.summary = "report of NVIDIA Nsight Compute (.ncu-rep)",
	.looks_for = "a report of Nsight Compute (.ncu-rep)",
	.sniff = ncu_sniff,
	.splits_files = true,
	.split = ncu_split,
	.look = ncu_look,
	.look_at_trace = look_at_trace,
	.read = ncu_read,
	.lost = import_lost_noted, /* noted while reading */
};
