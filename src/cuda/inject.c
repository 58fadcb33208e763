/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.c: the entry point for the driver, callbacks, and a flusher thread.
 *
 * Parts: the symbols of CUPTI; launches and devices; executions by instruction; samples; the entry
 * point.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cuda/cupti.h"
#include "cuda/log_write.h"

/*
 * The parts of libincore-cuda, which runs inside the application. It stores CUPTI's data in the log
 * and selects nothing: the wanted kernels are chosen when the log is read. Threads: functions with
 * `flush` in their name are called with inject.lock held.
 */

#define INJECT_CONTEXTS 64 /* at the same time in one process */

struct inject_context {
	cupti_context handle; /* NULL: free */
	uint32_t id, device;
	bool is_sampled, is_counted, is_refused;
	struct cupti_samples config, fetch; /* buffers of samples */
};

struct inject {
	struct cupti cupti;
	enum cuda_mode mode;
	uint32_t period_log2;		       /* 0: CUPTI chooses */
	uint64_t window_from_ms, window_to_ms; /* since the first context; window_to_ms 0: no end */
	uint64_t first_ns;		       /* time of the first context; 0: none yet */
	pthread_mutex_t lock;
	struct inject_context contexts[INJECT_CONTEXTS];
};
static struct inject inject = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the symbols of CUPTI --------------------------------------------------------------------- */

/* Loads the symbols of the installed CUPTI. */

static const char *const libraries[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
#define N_LIBRARIES (sizeof(libraries) / sizeof(*libraries))

/* Two CUPTIs in one process conflict: if one is loaded already, it is used. */
static void *open_library(const char *path)
{
	void *h = NULL;

	for (size_t i = 0; !h && i < N_LIBRARIES; i++)
		h = dlopen(libraries[i], RTLD_NOW | RTLD_NOLOAD);
	if (!h && path && *path)
		h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !h && i < N_LIBRARIES; i++)
		h = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	return h;
}

/* ISO C does not convert object pointers to function pointers; POSIX guarantees that this copy
 * works. */
static bool inject_find(void *library, const char *symbol, void *to)
{
	void *p = dlsym(library, symbol);

	memcpy(to, &p, sizeof(p));
	return p != NULL;
}

/* Finds the library: the one that the program has loaded, else `path` (may be NULL), else by its
 * usual names. False: *why has the reason, static text or from dlerror(). */
static bool cupti_load(struct cupti *c, const char *path, const char **why)
{
	void *driver;

	*c = (struct cupti){.library = open_library(path)};
	if (!c->library) {
		*why = dlerror();
		return false;
	}
	c->has_sass = true;
#define FIND(FIELD, SYMBOL, PARAMS)                                                                \
	if (!inject_find(c->library, SYMBOL, &c->FIELD)) {                                         \
		*why = SYMBOL " is not in this libcupti: CUDA 11.3 is the first that has it";      \
		return false;                                                                      \
	}
	CUPTI_FUNCTIONS(FIND)
#undef FIND
#define FIND(FIELD, SYMBOL, PARAMS) c->has_sass &= inject_find(c->library, SYMBOL, &c->FIELD);
	CUPTI_SASS_FUNCTIONS(FIND)
#undef FIND
	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (driver)
		inject_find(driver, "cuCtxSynchronize", &c->synchronize);
	return true;
}

/* Is this not NVIDIA's CUPTI but a stand-in of the tests, marked by a symbol? */
static bool cupti_is_stand_in(const struct cupti *c)
{
	return dlsym(c->library, "incore_stand_in") != NULL;
}

/* The meaning of a result code; never NULL. */
static const char *cupti_says(const struct cupti *c, uint32_t result)
{
	const char *text = NULL;

	return c->result_string && c->result_string(result, &text) == CUPTI_OK && text
		       ? text
		       : "an unknown result";
}

/* --- launches and devices --------------------------------------------------------------------- */

/* Launches with their times, and devices, from CUPTI's activity records. */

static void inject_refused(const char *what, uint32_t result);

#define BUFFER_BYTES ((size_t)1 << 20)
#define BUFFER_ALIGN 8
#define LAUNCH_BATCH 256 /* launches per record of the log */

static void give_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = mem_alloc(BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void keep_device(const struct cupti_device *d)
{
	struct cuda_device x = {.id = d->id,
		.sms = d->sms,
		.warps_per_sm = d->warps_per_sm,
		.warp_threads = d->warp_threads,
		.major = d->major,
		.minor = d->minor,
		.clock_khz = d->clock_khz,
		.shared_per_sm = d->shared_per_sm,
		.is_mig = d->is_mig,
		.gpu_instance = d->gpu_instance,
		.compute_instance = d->compute_instance,
		.name = log_text(d->name)};

	log_add(CUDA_DEVICE, 0, (struct log_part){&x, sizeof(x)}, (struct log_part){"", 0});
}

static struct cuda_launch inject_launch_of(const struct cupti_kernel *k)
{
	struct cuda_launch l = {.start_ns = k->start_ns,
		.end_ns = k->end_ns,
		.name = log_text(k->name),
		.device = k->device,
		.context = k->context,
		.stream = k->stream,
		.correlation = k->correlation,
		.registers = k->registers,
		.static_shared = (uint32_t)k->static_shared,
		.dynamic_shared = (uint32_t)k->dynamic_shared,
		.local_per_thread = k->local_per_thread};

	for (int i = 0; i < 3; i++) {
		l.grid[i] = (uint32_t)k->grid[i];
		l.block[i] = (uint32_t)k->block[i];
	}
	return l;
}

static void keep_launches(const struct cuda_launch *v, size_t n)
{
	if (n)
		log_add(CUDA_LAUNCHES, 0, (struct log_part){v, n * sizeof(*v)},
			(struct log_part){"", 0});
}

static void take_buffer(
	cupti_context context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	struct cuda_launch batch[LAUNCH_BATCH];
	size_t n = 0, n_dropped = 0;
	void *record = NULL;

	(void)bytes;
	while (log_is_open() && inject.cupti.activity_next(buffer, valid, &record) == CUPTI_OK) {
		const uint32_t *kind = record;

		if (*kind == CUPTI_ACTIVITY_DEVICE)
			keep_device(record);
		if (*kind != CUPTI_ACTIVITY_KERNEL)
			continue;
		batch[n++] = inject_launch_of(record);
		if (n == LAUNCH_BATCH) {
			keep_launches(batch, n);
			n = 0;
		}
	}
	keep_launches(batch, n);
	mem_free(buffer);
	if (inject.cupti.activity_dropped(context, stream, &n_dropped) == CUPTI_OK && n_dropped)
		log_trouble(CUDA_LOST_LAUNCHES, 0, n_dropped, "");
}

static void activity_begin(void)
{
	const struct cupti *c = &inject.cupti;
	uint32_t r = c->activity_callbacks(give_buffer, take_buffer);

	if (r == CUPTI_OK)
		r = c->activity_enable(CUPTI_ACTIVITY_DEVICE);
	if (r == CUPTI_OK && inject.mode != CUDA_EXACT) /* not available with patched code */
		r = c->activity_enable(CUPTI_ACTIVITY_KERNEL);
	if (r != CUPTI_OK)
		inject_refused("asking for launches", r);
}

static void activity_flush(bool is_forced)
{
	inject.cupti.activity_flush(is_forced ? 1 : 0);
}

/* --- executions by instruction ---------------------------------------------------------------- */

/* Executions by instruction, from code that CUPTI patches on its first run. */

static uint64_t inject_now(void);

static const char *const wanted[] = {"smsp__sass_inst_executed", "smsp__sass_thread_inst_executed",
	"smsp__sass_thread_inst_executed_pred_on"};
#define N_WANTED (sizeof(wanted) / sizeof(*wanted))
#define MAX_RECORDS ((size_t)1 << 22)
#define COUNT_BATCH 1024

static struct {
	struct cupti_metric_config config[N_WANTED];
	uint64_t text[N_WANTED];
	size_t n;
	bool is_set[256]; /* configured devices */
} metrics;

static uint32_t find_metrics(uint32_t device)
{
	struct cupti_chip_name chip = {.size = CUPTI_SIZE(cupti_chip_name, name), .device = device};
	struct cupti_profiler_params init = {.size = CUPTI_SIZE(cupti_profiler_params, priv)};
	uint32_t r = inject.cupti.profiler_init(&init);

	if (r == CUPTI_OK)
		r = inject.cupti.chip_name(&chip);
	metrics.n = 0;
	for (size_t i = 0; r == CUPTI_OK && i < N_WANTED; i++) {
		struct cupti_find_metric f = {.size = CUPTI_SIZE(cupti_find_metric, metric),
			.chip = chip.name,
			.name = wanted[i]};

		if (inject.cupti.sass_find(&f) != CUPTI_OK)
			continue;
		metrics.config[metrics.n] = (struct cupti_metric_config){f.metric.id, 0};
		metrics.text[metrics.n++] = log_text(wanted[i]);
	}
	return r;
}

static uint32_t set_device(uint32_t device)
{
	struct cupti_sass_config x = {.size = CUPTI_SIZE(cupti_sass_config, device),
		.configs = metrics.config,
		.device = device};
	uint32_t r = find_metrics(device);

	x.n = metrics.n;
	return r == CUPTI_OK ? inject.cupti.sass_config(&x) : r;
}

static uint32_t enable(struct inject_context *c)
{
	struct cupti_sass_enable x = {
		.size = CUPTI_SIZE(cupti_sass_enable, is_lazy), .context = c->handle, .is_lazy = 1};

	return inject.cupti.sass_enable(&x);
}

static void disable(struct inject_context *c)
{
	struct cupti_sass_disable x = {
		.size = CUPTI_SIZE(cupti_sass_disable, n_dropped), .context = c->handle};

	if (inject.cupti.sass_disable(&x) == CUPTI_OK && x.n_dropped)
		log_trouble(CUDA_LOST_COUNTS, 0, x.n_dropped, "");
	c->is_counted = false;
}

static void counts_begin(struct inject_context *c)
{
	struct cuda_context log = {.id = c->id, .device = c->device};
	uint32_t r = CUPTI_OK;

	if (!inject.cupti.has_sass || c->device >= sizeof(metrics.is_set)) {
		inject_refused("counting executions (CUDA 12.5 is the first that can)",
			CUPTI_NOT_SUPPORTED);
		return;
	}
	if (!metrics.is_set[c->device])
		r = set_device(c->device);
	metrics.is_set[c->device] |= r == CUPTI_OK;
	if (r == CUPTI_OK)
		r = enable(c);
	if (r != CUPTI_OK) {
		inject_refused("counting executions", r);
		return;
	}
	log_add(CUDA_CONTEXT, inject_now(), (struct log_part){&log, sizeof(log)},
		(struct log_part){"", 0});
	c->is_counted = true;
}

static uint64_t inject_text_of(uint64_t metric)
{
	for (size_t i = 0; i < metrics.n; i++)
		if (metrics.config[i].id == metric)
			return metrics.text[i];
	return 0;
}

static void keep_counts(const struct cupti_sass_record *v, size_t n, size_t n_values)
{
	struct cuda_count batch[COUNT_BATCH];
	size_t at = 0;

	for (size_t i = 0; i < n * n_values; i++) {
		const struct cupti_sass_record *r = &v[i / n_values];
		const struct cupti_sass_value *x = &r->values[i % n_values];

		if (x->value)
			batch[at++] = (struct cuda_count){r->cubin_crc, log_text(r->function),
				r->offset, inject_text_of(x->metric), x->value};
		if (at == COUNT_BATCH || (at && i + 1 == n * n_values)) {
			log_add(CUDA_COUNTS, inject_now(),
				(struct log_part){batch, at * sizeof(*batch)},
				(struct log_part){"", 0});
			at = 0;
		}
	}
}

static void inject_fetch(struct inject_context *c)
{
	struct cupti_sass_size s = {
		.size = CUPTI_SIZE(cupti_sass_size, n_instances), .context = c->handle};
	/* the vendor's macro excludes the last field from this size */
	struct cupti_sass_flush f = {
		.size = CUPTI_SIZE(cupti_sass_flush, n_instances), .context = c->handle};
	struct cupti_sass_value *values = NULL;
	size_t n_values;
	uint32_t r = inject.cupti.sass_size(&s);

	n_values = s.n_instances * metrics.n;
	if (r == CUPTI_OK && (!s.n_records || !n_values))
		return;
	if (r == CUPTI_OK && s.n_records <= MAX_RECORDS && n_values < 4096) {
		f.records = mem_zalloc(s.n_records, sizeof(*f.records));
		values = mem_zalloc(s.n_records * n_values, sizeof(*values));
	}
	if (f.records && values) {
		for (size_t i = 0; i < s.n_records; i++) {
			f.records[i].size = CUPTI_SIZE(cupti_sass_record, values);
			f.records[i].values = values + i * n_values;
		}
		f.n_records = s.n_records;
		f.n_instances = s.n_instances;
		r = inject.cupti.sass_flush(&f);
		if (r == CUPTI_OK)
			keep_counts(f.records, s.n_records, n_values);
	} else if (r == CUPTI_OK) {
		r = CUPTI_NO_MEMORY;
	}
	if (r != CUPTI_OK)
		inject_refused("fetching counts", r);
	mem_free(f.records);
	mem_free(values);
}

/* After a launch: waits for the kernel, stores its counts and prepares for the next. */
static void counts_next(struct inject_context *c)
{
	uint32_t r;

	if (inject.cupti.synchronize)
		inject.cupti.synchronize();
	inject_fetch(c);
	disable(c);
	r = enable(c);
	if (r != CUPTI_OK)
		inject_refused("counting executions of the next kernel", r);
	c->is_counted = r == CUPTI_OK;
}

static void counts_end(struct inject_context *c)
{
	inject_fetch(c);
	disable(c);
}

/* --- samples ---------------------------------------------------------------------------------- */

/* PC samples of a context, from CUPTI's buffers to the log. */

#define FETCH_PCS 4096	 /* per call; the rest comes with the next */
#define CONFIG_PCS 16384 /* must hold what is left when sampling ends: CUPTI discards the rest */
#define MAX_REASONS 128
#define MAX_FETCHES 1000 /* per flush, because CUPTI might always report more */

static bool make_buffer(struct cupti_samples *s, size_t n_pcs, size_t n_reasons)
{
	struct cupti_stall *stalls = mem_zalloc(n_pcs * n_reasons, sizeof(*stalls));

	*s = (struct cupti_samples){.size = sizeof(*s), .room = n_pcs};
	s->pcs = mem_zalloc(n_pcs, sizeof(*s->pcs));
	if (!s->pcs || !stalls) {
		mem_free(s->pcs);
		mem_free(stalls);
		s->pcs = NULL;
		return false;
	}
	for (size_t i = 0; i < n_pcs; i++) {
		s->pcs[i].size = sizeof(*s->pcs);
		s->pcs[i].stalls = stalls + i * n_reasons;
	}
	return true;
}

static void free_buffer(struct cupti_samples *s)
{
	if (s->pcs)
		mem_free(s->pcs[0].stalls);
	mem_free(s->pcs);
	*s = (struct cupti_samples){0};
}

/* --- into the log --- */

struct body {
	char *p;
	size_t n, cap;
};

static bool body_add(struct body *b, const void *p, size_t n)
{
	if (b->n + n > b->cap) {
		size_t cap = 2 * (b->n + n);
		char *to = mem_resize(b->p, cap, 1);

		if (!to)
			return false;
		b->p = to;
		b->cap = cap;
	}
	memcpy(b->p + b->n, p, n);
	b->n += n;
	return true;
}

static bool body_add_pc(struct body *b, const struct cupti_pc *p)
{
	struct cuda_pc x = {.cubin_crc = p->cubin_crc,
		.function = log_text(p->function),
		.offset = p->offset,
		.correlation = p->correlation,
		.n_stalls = (uint32_t)p->n_stalls};
	bool ok = p->n_stalls <= MAX_REASONS && body_add(b, &x, sizeof(x));

	for (size_t i = 0; ok && i < p->n_stalls; i++) {
		struct cuda_stall s = {p->stalls[i].reason, p->stalls[i].samples};

		ok = body_add(b, &s, sizeof(s));
	}
	return ok;
}

static bool is_in_window(uint64_t now)
{
	uint64_t ms = now > inject.first_ns ? (now - inject.first_ns) / 1000000 : 0;

	return ms >= inject.window_from_ms && (!inject.window_to_ms || ms < inject.window_to_ms);
}

static void keep_samples(const struct inject_context *c, struct cupti_samples *s)
{
	struct cuda_samples x = {.context = c->id,
		.n_pcs = (uint32_t)s->n_pcs,
		.n_samples = s->n_samples,
		.n_dropped = s->n_dropped,
		.n_foreign = s->n_foreign,
		.is_full = s->is_full};
	struct body b = {0};
	uint64_t now = inject_now();
	bool ok = is_in_window(now);

	for (size_t i = 0; ok && i < s->n_pcs && i < s->room; i++)
		ok = body_add_pc(&b, &s->pcs[i]);
	if (ok && (s->n_pcs || s->n_samples || s->n_dropped || s->is_full))
		log_add(CUDA_SAMPLES, now, (struct log_part){&x, sizeof(x)},
			(struct log_part){b.p ? b.p : "", b.n});
	mem_free(b.p);
	s->n_pcs = s->n_left = 0;
	s->n_samples = s->n_dropped = s->n_foreign = 0;
	s->is_full = 0;
}

/* Logs what CUPTI already put into the configured buffer, then fetches the rest. */
static void samples_flush(struct inject_context *c)
{
	struct cupti_get_data g = {
		.size = CUPTI_SIZE(cupti_get_data, data), .context = c->handle, .data = &c->fetch};
	uint32_t r = CUPTI_OK;

	if (c->config.n_pcs)
		keep_samples(c, &c->config);
	for (int i = 0; i < MAX_FETCHES; i++) {
		bool has_more;

		r = inject.cupti.get_data(&g);
		c->fetch.is_full |= r == CUPTI_NO_MEMORY;
		has_more = r == CUPTI_OK && c->fetch.n_left > 0 && c->fetch.n_pcs > 0;
		keep_samples(c, &c->fetch);
		if (!has_more)
			break;
	}
	if (r != CUPTI_OK && r != CUPTI_NO_MEMORY)
		inject_refused("fetching samples", r);
}

/* --- begin and end --- */

static size_t log_reasons(struct inject_context *c)
{
	static char room[MAX_REASONS][CUPTI_REASON_BYTES];
	char *names[MAX_REASONS];
	uint32_t index[MAX_REASONS], r;
	struct cuda_reason log[MAX_REASONS];
	size_t n = 0;
	struct cupti_count_reasons count = {
		.size = CUPTI_SIZE(cupti_count_reasons, n), .context = c->handle, .n = &n};
	struct cupti_get_reasons get = {.size = CUPTI_SIZE(cupti_get_reasons, names),
		.context = c->handle,
		.index = index,
		.names = names};

	r = inject.cupti.count_reasons(&count);
	if (r != CUPTI_OK || !n || n > MAX_REASONS) {
		inject_refused("asking for stall reasons", r);
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		names[i] = room[i];
	get.n = n;
	r = inject.cupti.get_reasons(&get);
	if (r != CUPTI_OK) {
		inject_refused("asking for stall reasons", r);
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		room[i][CUPTI_REASON_BYTES - 1] = '\0';
		log[i] = (struct cuda_reason){c->id, index[i], log_text(room[i])};
	}
	log_add(CUDA_REASONS, 0, (struct log_part){log, n * sizeof(*log)},
		(struct log_part){"", 0});
	return n;
}

static uint32_t inject_configure(struct inject_context *c)
{
	struct cupti_attribute a[3] = {
		{.type = CUPTI_MODE,
			.number = inject.mode == CUDA_SERIALISED ? CUPTI_SERIALISED
								 : CUPTI_CONTINUOUS},
		{.type = CUPTI_DATA, .data = &c->config},
		{.type = CUPTI_PERIOD, .number = inject.period_log2},
	};
	struct cupti_configuration x = {.size = CUPTI_SIZE(cupti_configuration, attributes),
		.context = c->handle,
		.n = inject.period_log2 ? 3 : 2,
		.attributes = a};

	return inject.cupti.configure(&x);
}

static uint32_t period_of(const struct inject_context *c)
{
	struct cupti_attribute a = {.type = CUPTI_PERIOD};
	struct cupti_configuration x = {.size = CUPTI_SIZE(cupti_configuration, attributes),
		.context = c->handle,
		.n = 1,
		.attributes = &a};

	return inject.cupti.get_configuration(&x) == CUPTI_OK ? a.number : inject.period_log2;
}

/* CUPTI requires sampling to be enabled before it reports what can be sampled. */
static void samples_begin(struct inject_context *c)
{
	struct cupti_of_context e = {
		.size = CUPTI_SIZE(cupti_of_context, context), .context = c->handle};
	struct cuda_context x = {.id = c->id, .device = c->device};
	uint32_t r = inject.cupti.enable(&e);
	size_t n;

	if (r != CUPTI_OK) {
		inject_refused("enabling samples", r);
		return;
	}
	n = log_reasons(c);
	if (n && (!make_buffer(&c->config, CONFIG_PCS, n) || !make_buffer(&c->fetch, FETCH_PCS, n)))
		r = CUPTI_NO_MEMORY;
	if (n && r == CUPTI_OK)
		r = inject_configure(c);
	if (r != CUPTI_OK)
		inject_refused("configuring samples", r);
	if (r != CUPTI_OK || !n) {
		inject.cupti.disable(&e);
		return;
	}
	x.period_log2 = period_of(c);
	log_add(CUDA_CONTEXT, inject_now(), (struct log_part){&x, sizeof(x)},
		(struct log_part){"", 0});
	c->is_sampled = true;
}

static void samples_end(struct inject_context *c)
{
	struct cupti_of_context e = {
		.size = CUPTI_SIZE(cupti_of_context, context), .context = c->handle};

	samples_flush(c);
	if (inject.cupti.disable(&e) == CUPTI_OK)
		keep_samples(c, &c->config);
	c->is_sampled = false;
	free_buffer(&c->config);
	free_buffer(&c->fetch);
}

/* --- the entry point -------------------------------------------------------------------------- */

#define FLUSH_MS 100

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_running, is_ending;
} flusher = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

int InitializeInjection(void);

static uint64_t inject_now(void)
{
	uint64_t ns = 0;

	return inject.cupti.get_timestamp && inject.cupti.get_timestamp(&ns) == CUPTI_OK ? ns : 0;
}

/* Logs a failed call of CUPTI, once for each place and result. */
static void inject_refused(const char *what, uint32_t result)
{
	char text[256];

	if (!log_is_new(CUDA_TROUBLE, cuda_text_id(what) + result))
		return;
	snprintf(text, sizeof(text), "%s: %s", what, cupti_says(&inject.cupti, result));
	log_trouble(CUDA_REFUSED, result, 1, text);
}

/* --- contexts --- */

static struct inject_context *find_context(cupti_context handle)
{
	for (int i = 0; i < INJECT_CONTEXTS; i++)
		if (inject.contexts[i].handle == handle)
			return &inject.contexts[i];
	return NULL;
}

static void begin_context(cupti_context handle)
{
	struct inject_context *c = find_context(handle);

	if (!c)
		c = find_context(NULL);
	if (!c) {
		inject_refused("more than 64 contexts at once", CUPTI_MAX_LIMIT);
		return;
	}
	if (c->handle)
		return;
	*c = (struct inject_context){.handle = handle};
	if (!inject.first_ns)
		inject.first_ns = inject_now();
	inject.cupti.get_context(handle, &c->id);
	inject.cupti.get_device(handle, &c->device);
	if (inject.mode == CUDA_EXACT)
		counts_begin(c);
	else if (inject.mode != CUDA_LOOK)
		samples_begin(c);
}

static void end_context(struct inject_context *c)
{
	if (c->is_counted)
		counts_end(c);
	if (c->is_sampled)
		samples_end(c);
	c->handle = NULL;
}

static void flush_context(struct inject_context *c)
{
	if (c && c->is_sampled)
		samples_flush(c);
}

/* --- callbacks --- */

static void keep_cubin(const struct cupti_module *m)
{
	struct cupti_cubin_crc x = {.size = CUPTI_SIZE(cupti_cubin_crc, crc),
		.cubin_bytes = m->cubin_bytes,
		.cubin = m->cubin};
	uint32_t result;

	if (!m->cubin || !m->cubin_bytes)
		return;
	result = inject.cupti.cubin_crc(&x);
	if (result != CUPTI_OK)
		inject_refused("checksum of a module", result);
	else if (log_is_new(CUDA_CUBIN, x.crc))
		log_add(CUDA_CUBIN, inject_now(), (struct log_part){&x.crc, sizeof(x.crc)},
			(struct log_part){m->cubin, m->cubin_bytes});
}

static void on_resource(uint32_t id, const struct cupti_resource *r)
{
	if (id == CUPTI_MODULE_LOADED && r->descriptor)
		keep_cubin(r->descriptor);
	pthread_mutex_lock(&inject.lock);
	if (id == CUPTI_CONTEXT_CREATED) {
		begin_context(r->context);
	} else if (r->context && find_context(r->context)) {
		struct inject_context *c = find_context(r->context);

		if (id == CUPTI_CONTEXT_ENDS)
			end_context(c);
		else if (id == CUPTI_MODULE_ENDS || id == CUPTI_MODULE_PROFILED)
			flush_context(c);
	}
	pthread_mutex_unlock(&inject.lock);
}

/* CUPTI has no activity records while it patches code: only the kernel of a launch is known. */
static void keep_launch(const struct cupti_api *a, const struct inject_context *c)
{
	struct cuda_launch l = {.name = log_text(a->symbol),
		.device = c->device,
		.context = c->id,
		.correlation = a->correlation};

	log_add(CUDA_LAUNCHES, 0, (struct log_part){&l, sizeof(l)}, (struct log_part){"", 0});
}

/*
 * Called after a launch. In serialised mode its kernel has ended by now. Counts are read and
 * enabled again after every launch, so that they are in the log if the process dies. CUPTI does
 * not accept this inside a launching call, so it is done when the outermost call, of the runtime
 * or of the driver, has ended.
 */
static void on_call(uint32_t domain, const struct cupti_api *a)
{
	static __thread unsigned depth; /* nesting depth of runtime calls */
	static __thread cupti_context launched;
	bool is_after = a->site == CUPTI_AFTER;
	struct inject_context *c;

	if (domain == CUPTI_RUNTIME)
		depth += is_after ? -(depth > 0) : 1;
	if (!is_after)
		return;
	pthread_mutex_lock(&inject.lock);
	c = a->context ? find_context(a->context) : NULL;
	if (c && domain == CUPTI_DRIVER) {
		flush_context(c);
		if (c->is_counted) {
			keep_launch(a, c);
			launched = a->context;
		}
	}
	if (launched && !depth) {
		c = find_context(launched);
		if (c && c->is_counted)
			counts_next(c);
		launched = NULL;
	}
	pthread_mutex_unlock(&inject.lock);
}

/* Our own calls of CUPTI may synchronise and load modules: those callbacks arrive while we hold the
 * lock and do not concern the application. */
static void on_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
	static __thread bool is_inside;

	(void)user;
	if (!data || !log_is_open() || is_inside)
		return;
	is_inside = true;
	if (domain == CUPTI_RESOURCE)
		on_resource(id, data);
	else
		on_call(domain, data);
	is_inside = false;
}

static bool subscribe(void)
{
	static const uint32_t launches[] = {CUPTI_LAUNCH, CUPTI_LAUNCH_PTSZ,
		CUPTI_LAUNCH_COOPERATIVE, CUPTI_LAUNCH_COOPERATIVE_PTSZ, CUPTI_LAUNCH_GRAPH,
		CUPTI_LAUNCH_GRAPH_PTSZ, CUPTI_LAUNCH_EX, CUPTI_LAUNCH_EX_PTSZ};
	bool is_told_launches = inject.mode == CUDA_SERIALISED || inject.mode == CUDA_EXACT;
	const struct cupti *c = &inject.cupti;
	void *subscriber;
	uint32_t r = c->subscribe(&subscriber, on_callback, NULL);

	if (r != CUPTI_OK) {
		inject_refused("subscribing (is another profiler in this process?)", r);
		return false;
	}
	r = c->enable_domain(1, subscriber, CUPTI_RESOURCE);
	if (r == CUPTI_OK && inject.mode == CUDA_EXACT)
		r = c->enable_domain(1, subscriber, CUPTI_RUNTIME);
	for (size_t i = 0;
		is_told_launches && r == CUPTI_OK && i < sizeof(launches) / sizeof(*launches); i++)
		r = c->enable_callback(1, subscriber, CUPTI_DRIVER, launches[i]);
	if (r != CUPTI_OK)
		inject_refused("asking for callbacks", r);
	return r == CUPTI_OK;
}

/* --- the thread --- */

static void flush_all(void)
{
	pthread_mutex_lock(&inject.lock);
	for (int i = 0; i < INJECT_CONTEXTS; i++)
		if (inject.contexts[i].handle)
			flush_context(&inject.contexts[i]);
	pthread_mutex_unlock(&inject.lock);
	activity_flush(false);
}

static void *flush_until_end(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&flusher.lock);
	while (!flusher.is_ending) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += FLUSH_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&flusher.wake, &flusher.lock, &until);
		pthread_mutex_unlock(&flusher.lock);
		flush_all();
		pthread_mutex_lock(&flusher.lock);
	}
	pthread_mutex_unlock(&flusher.lock);
	return NULL;
}

/* Signals belong to the application: the thread blocks them. */
static void start_flusher(void)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	flusher.is_running = pthread_create(&flusher.thread, NULL, flush_until_end, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_process(void)
{
	if (!log_is_open())
		return;
	pthread_mutex_lock(&flusher.lock);
	flusher.is_ending = true;
	pthread_cond_signal(&flusher.wake);
	pthread_mutex_unlock(&flusher.lock);
	if (flusher.is_running)
		pthread_join(flusher.thread, NULL);
	pthread_mutex_lock(&inject.lock);
	for (int i = 0; i < INJECT_CONTEXTS; i++)
		if (inject.contexts[i].handle)
			end_context(&inject.contexts[i]);
	pthread_mutex_unlock(&inject.lock);
	activity_flush(true);
	log_add(CUDA_END, inject_now(), (struct log_part){"", 0}, (struct log_part){"", 0});
	log_abandon();
}

/* A forked child has no context and no thread of ours; a program that it executes has both. */
static void in_forked_child(void)
{
	flusher.is_running = false;
	log_abandon();
}

/* --- entry point --- */

static void read_request(void)
{
	static const char *const words[CUDA_MODES] = CUDA_MODE_WORDS;
	const char *mode = getenv(CUDA_ENV_MODE), *period = getenv(CUDA_ENV_PERIOD);
	const char *window = getenv(CUDA_ENV_WINDOW);
	char *end;

	for (int i = 0; mode && i < CUDA_MODES; i++)
		if (!strcmp(mode, words[i]))
			inject.mode = (enum cuda_mode)i;
	inject.period_log2 = period ? (uint32_t)strtoul(period, NULL, 10) : 0;
	if (inject.period_log2 < 5 || inject.period_log2 > 31)
		inject.period_log2 = 0;
	if (!window)
		return;
	inject.window_from_ms = strtoull(window, &end, 10);
	inject.window_to_ms = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
}

static void log_start(void)
{
	struct cuda_start s = {.mode = (uint32_t)inject.mode, .parent_pid = (uint32_t)getppid()};

	inject.cupti.get_version(&s.cupti_version);
	s.launches = log_text(getenv(CUDA_ENV_LAUNCHES));
	s.is_synthetic = cupti_is_stand_in(&inject.cupti);
	log_add(CUDA_START, inject_now(), (struct log_part){&s, sizeof(s)},
		(struct log_part){"", 0});
}

/* Called by the driver in cuInit(). Whatever happens here, the application continues: 1 means
 * success. */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	static bool is_done;
	const char *folder = getenv(CUDA_ENV_LOG), *why = "";

	if (is_done || !folder)
		return 1;
	is_done = true;
	log_open(folder);
	if (!log_is_open())
		return 1;
	read_request();
	if (!cupti_load(&inject.cupti, getenv(CUDA_ENV_CUPTI), &why)) {
		log_trouble(CUDA_NO_CUPTI, 0, 1, why ? why : "");
		return 1;
	}
	log_start();
	pthread_atfork(NULL, NULL, in_forked_child);
	if (!subscribe())
		return 1;
	activity_begin();
	start_flusher();
	atexit(end_process);
	return 1;
}
