/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: the data of a log besides samples: device, launches, exact counts, losses. */
#include "base/search.h"
#include "import/cuda/cuda.h"

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
static bool is_ours(const struct cuda_build *b, const struct cuda_log_launch *x)
{
	return x->launch.name == b->kernel->name && x->launch.device == b->kernel->device &&
	       is_sampled(b->log, x->section) && cuda_launch_is_wanted(b->log, x);
}

static uint64_t time_of(const struct cuda_launch *l)
{
	return l->end_ns > l->start_ns ? l->end_ns - l->start_ns : 0;
}

static void put_shape(struct trace_launch *l, const struct cuda_launch *x)
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

static bool put_cells(struct arena *a, const char **to, const struct cuda_log_launch *x)
{
	const struct cuda_launch *l = &x->launch;
	bool ok = true;

	to[0] = arena_printf(a, "%u", x->ordinal);
	to[1] = arena_printf(a, "%u", l->device);
	to[2] = arena_printf(a, "%u", l->stream);
	to[3] = arena_printf(a, "%llu", (unsigned long long)l->start_ns);
	to[4] = arena_printf(a, "%llu", (unsigned long long)time_of(l));
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
		if (!is_ours(b, x))
			continue;
		if (!n) {
			put_shape(l, &x->launch);
			l->start_ns = (int64_t)(x->launch.start_ns & INT64_MAX);
			l->launch_index = x->ordinal;
		}
		if (n < MAX_TABLE_ROWS && !put_cells(&t->arena, cells + n * N_COLUMNS, x))
			return false;
		n++;
		ns += time_of(&x->launch) & UINT32_MAX;
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
	return n == 1 || trace_note(t, NOTE_INFO, "launches-summed", NULL, INCORE_NO_OFFSET, n,
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

bool cuda_put_run(struct cuda_build *b, struct incore_error *e)
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
static bool put_metric(struct cuda_build *b, const struct count_cell *v, size_t n)
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

bool cuda_put_counts(struct cuda_build *b, struct incore_error *e)
{
	struct count_cells c = {0};
	struct trace *t = b->t;
	bool ok = read_counts(b, &c);
	size_t from = 0;

	t->metrics = arena_zalloc(&t->arena, MAX_METRICS, sizeof(*t->metrics));
	ok = ok && t->metrics;
	for (size_t i = 1; ok && i <= c.v.n; i++)
		if (i == c.v.n || c.v.v[i].metric != c.v.v[from].metric) {
			ok = put_metric(b, c.v.v + from, i - from);
			from = i;
		}
	VEC_FREE(&c.v);
	return ok || err_nomem(e);
}

/* --- notes --- */

static bool note_troubles(struct cuda_build *b)
{
	static const struct {
		enum note_kind kind;
		const char *code, *message;
	} WORDS[CUDA_TROUBLES] = {
		[CUDA_NO_CUPTI] = {NOTE_MISSING, "no-cupti", "CUPTI could not be loaded"},
		[CUDA_REFUSED] = {NOTE_MISSING, "cupti-refused", "CUPTI refused"},
		[CUDA_LOST_LAUNCHES] = {NOTE_LOST, "lost-launches",
			"CUPTI dropped records of launches"},
		[CUDA_LOST_RECORDS] = {NOTE_LOST, "lost-records",
			"the log could not be written for a while"},
		[CUDA_LOST_COUNTS] = {NOTE_LOST, "lost-counts", "CUPTI dropped exact counts"},
	};

	EACH (const struct cuda_body, x, b->log->troubles.v, b->log->troubles.n) {
		struct cuda_trouble t;
		struct str text = str_sub(x->bytes, sizeof(t), x->bytes.n);

		memcpy(&t, x->bytes.p, sizeof(t));
		if (t.kind < CUDA_TROUBLES &&
			!trace_note(b->t, WORDS[t.kind].kind, WORDS[t.kind].code, NULL,
				INCORE_NO_OFFSET, t.n, "%s%s%.*s", WORDS[t.kind].message,
				text.n ? ": " : "", STR_ARG(text)))
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
		return trace_note(b->t, NOTE_TRUNCATED, "truncated-log", l->path, l->damage_at, 1,
			"%s: what follows is not read", l->damage);
	return !n ||
	       trace_note(b->t, NOTE_TRUNCATED, "died", l->path, l->bytes.n, n,
		       "the application did not finish: only what it had flushed until then is here");
}

bool cuda_put_notes(struct cuda_build *b, struct incore_error *e)
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
		!trace_note(t, NOTE_LOST, "dropped-samples", NULL, INCORE_NO_OFFSET,
			t->sampling.n_dropped, "the sampler dropped %llu samples",
			(unsigned long long)t->sampling.n_dropped))
		return err_nomem(e);
	if (n_full && !trace_note(t, NOTE_LOST, "full-buffer", NULL, INCORE_NO_OFFSET, n_full,
			      "the sampler's buffer was full %llu times: a longer period "
			      "(--period) loses less",
			      (unsigned long long)n_full))
		return err_nomem(e);
	if (b->kernel->is_called &&
		!trace_note(t, NOTE_INFO, "shared-function", NULL, INCORE_NO_OFFSET, 1,
			"several kernels can have called this function: its samples belong to "
			"none of them alone"))
		return err_nomem(e);
	return !b->n_unmapped ||
	       trace_note(t, NOTE_UNMAPPED, "unmapped-addresses", NULL, INCORE_NO_OFFSET,
		       b->n_unmapped, "%llu samples are at places that the code does not have",
		       (unsigned long long)b->n_unmapped) ||
	       err_nomem(e);
}
