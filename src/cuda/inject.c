/* SPDX-License-Identifier: Apache-2.0 */
/* inject.c: the entry point for the driver, callbacks, and a flusher thread. */
#include "cuda/inject.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_MS 100

struct inject inject = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_running, is_ending;
} flusher = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

int InitializeInjection(void);

uint64_t inject_now(void)
{
	uint64_t ns = 0;

	return inject.cupti.get_timestamp && inject.cupti.get_timestamp(&ns) == CUPTI_OK ? ns : 0;
}

void inject_refused(const char *what, uint32_t result)
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
