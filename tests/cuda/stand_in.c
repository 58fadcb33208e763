/* SPDX-License-Identifier: Apache-2.0 */
/* stand_in.c: see stand_in.h. */
#include "stand_in.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda/cupti.h"

#define CONTEXTS 64
#define PCS 65536
#define REASONS 8
#define LAUNCHES 65536

API const int incore_stand_in = 1;

static const char *const reason_names[REASONS] = {"selected", "selected_not_issued",
	"long_scoreboard", "long_scoreboard_not_issued", "barrier", "barrier_not_issued", "wait",
	"wait_not_issued"};

struct pc {
	uint64_t crc, offset;
	const char *function;
	uint32_t correlation, issued, stalled, reason;
};
static struct context {
	uint32_t id, device, period;
	int is_live, is_enabled, is_counting;
	struct cupti_samples *config;
	struct pc *pcs;
	size_t n_pcs;
	uint64_t n_dropped, told, fetched;
	const char *counted;
	int is_full;
} contexts[CONTEXTS];
/* A record is as long as the newest release has it. */
static struct kernel_record {
	struct cupti_kernel k;
	char rest[64];
} launches[LAUNCHES];
static struct device_record {
	struct cupti_device d;
	char rest[32];
} devices[8];
static size_t n_launches, n_devices, n_given;
static uint64_t clock_ns = 1000000;
static uint32_t correlation;
static cupti_callback callback;
static uint32_t domains[8];
static cupti_buffer_wanted wanted;
static cupti_buffer_full full;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t fails(const char *name)
{
	const char *all = getenv("STAND_IN_FAIL");
	size_t n = strlen(name);

	for (const char *p = all ? strstr(all, name) : NULL; p; p = strstr(p + 1, name))
		if ((p == all || p[-1] == ',') && p[n] == '=')
			return (uint32_t)atoi(p + n + 1);
	return CUPTI_OK;
}

static struct context *of(cupti_context c)
{
	return c;
}

static struct context *by_id(uint32_t id)
{
	for (int i = 0; i < CONTEXTS; i++)
		if (contexts[i].is_live && contexts[i].id == id)
			return &contexts[i];
	fprintf(stderr, "stand-in: there is no context %u\n", id);
	exit(99);
}

static void tell(uint32_t domain, uint32_t id, const void *data)
{
	if (callback && domains[domain])
		callback(NULL, domain, id, data);
}

/* --- what happens --- */

void stand_in_init(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *h = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*door)(void) = NULL;
	void *symbol = h ? dlsym(h, "InitializeInjection") : NULL;

	memcpy(&door, &symbol, sizeof(door));
	if (path && *path && !door)
		fprintf(stderr, "stand-in: %s\n", dlerror());
	if (door)
		door();
}

void stand_in_device(uint32_t id, const char *name, uint32_t mig_instance)
{
	devices[n_devices++].d = (struct cupti_device){.kind = CUPTI_ACTIVITY_DEVICE,
		.id = id,
		.name = name,
		.sms = 132,
		.warps_per_sm = 64,
		.warp_threads = 32,
		.clock_khz = 1980000,
		.shared_per_sm = 233472,
		.major = 9,
		.is_mig = mig_instance != 0,
		.gpu_instance = mig_instance,
		.compute_instance = 0};
}

void stand_in_context(uint32_t id, uint32_t device)
{
	struct cupti_resource r = {0};

	pthread_mutex_lock(&lock);
	for (int i = 0; i < CONTEXTS && !r.context; i++)
		if (!contexts[i].is_live) {
			contexts[i] = (struct context){
				.id = id, .device = device, .period = 12, .is_live = 1};
			contexts[i].pcs = calloc(PCS, sizeof(struct pc));
			r.context = &contexts[i];
		}
	pthread_mutex_unlock(&lock);
	tell(CUPTI_RESOURCE, CUPTI_CONTEXT_CREATED, &r);
}

void stand_in_end_context(uint32_t id)
{
	struct cupti_resource r = {.context = by_id(id)};

	tell(CUPTI_RESOURCE, CUPTI_CONTEXT_ENDS, &r);
	of(r.context)->is_live = 0;
}

static void tell_module(uint32_t what, uint32_t context, const void *cubin, size_t n)
{
	struct cupti_module m = {1, n, cubin};
	struct cupti_resource r = {.context = by_id(context), .descriptor = &m};

	tell(CUPTI_RESOURCE, what, &r);
}

void stand_in_module(uint32_t context, const void *cubin, size_t n)
{
	tell_module(CUPTI_MODULE_LOADED, context, cubin, n);
}

void stand_in_unload(uint32_t context, const void *cubin, size_t n)
{
	tell_module(CUPTI_MODULE_ENDS, context, cubin, n);
}

static void add_launch(struct context *c, const char *kernel)
{
	struct cupti_kernel *k = &launches[n_launches].k;

	if (n_launches == LAUNCHES)
		return;
	*k = (struct cupti_kernel){.kind = CUPTI_ACTIVITY_KERNEL,
		.registers = 32,
		.start_ns = clock_ns,
		.end_ns = clock_ns + 50000,
		.device = c->device,
		.context = c->id,
		.stream = 7,
		.grid = {64, 1, 1},
		.block = {256, 1, 1},
		.static_shared = 1024,
		.correlation = correlation,
		.name = kernel};
	/* the first launch bears the set-up, and the sampler takes its share */
	k->end_ns += correlation == 1 ? 200000 : 0;
	k->end_ns += c->is_enabled ? 1000 : 0;
	clock_ns = k->end_ns + 10000;
	n_launches++;
}

void stand_in_launch(uint32_t context, const char *kernel, uint64_t crc, uint32_t n_pcs)
{
	struct context *c = by_id(context);
	struct cupti_api a = {.site = CUPTI_BEFORE, .context = c, .symbol = kernel};

	tell(CUPTI_RUNTIME, 211, &a);
	tell(CUPTI_DRIVER, CUPTI_LAUNCH, &a);
	pthread_mutex_lock(&lock);
	correlation++;
	add_launch(c, kernel);
	for (uint32_t i = 0; i < n_pcs && c->is_enabled && c->n_pcs < PCS; i++)
		c->pcs[c->n_pcs++] = (struct pc){
			crc, 16ull * i, kernel, correlation, i + 1, 9 * (i + 1), 2 + 2 * (i % 3)};
	/* as the real one: the first function alone, and nothing once counts were fetched */
	if (c->is_counting && c->counted && strcmp(c->counted, kernel) != 0)
		n_pcs = 0;
	c->counted = kernel;
	for (uint32_t i = 0; i < n_pcs && c->is_counting == 1 && c->n_pcs < PCS; i++)
		c->pcs[c->n_pcs++] = (struct pc){crc, 16ull * i, kernel, 0, 64 * 8, 0, 0};
	pthread_mutex_unlock(&lock);
	a.site = CUPTI_AFTER;
	a.correlation = correlation;
	tell(CUPTI_DRIVER, CUPTI_LAUNCH, &a);
	tell(CUPTI_RUNTIME, 211, &a);
}

void stand_in_drop(uint32_t context, uint64_t n, int is_full)
{
	struct context *c = by_id(context);

	pthread_mutex_lock(&lock);
	c->n_dropped += n;
	c->is_full = is_full;
	pthread_mutex_unlock(&lock);
}

uint64_t stand_in_crc(const void *cubin, size_t n)
{
	const uint8_t *p = cubin;
	uint64_t h = 5381;

	while (n--)
		h = (h * 33 + *p++) & UINT32_MAX;
	return h;
}

/* --- CUPTI --- */

API uint32_t cuptiGetVersion(uint32_t *v);
uint32_t cuptiGetVersion(uint32_t *v)
{
	*v = 130001;
	return fails("get_version");
}

API uint32_t cuptiGetTimestamp(uint64_t *ns);
uint32_t cuptiGetTimestamp(uint64_t *ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	*ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return CUPTI_OK;
}

API uint32_t cuptiGetDeviceId(cupti_context c, uint32_t *id);
uint32_t cuptiGetDeviceId(cupti_context c, uint32_t *id)
{
	*id = of(c)->device;
	return CUPTI_OK;
}

API uint32_t cuptiGetContextId(cupti_context c, uint32_t *id);
uint32_t cuptiGetContextId(cupti_context c, uint32_t *id)
{
	*id = of(c)->id;
	return CUPTI_OK;
}

API uint32_t cuptiGetResultString(uint32_t r, const char **text);
uint32_t cuptiGetResultString(uint32_t r, const char **text)
{
	*text = r == CUPTI_NO_RIGHTS	     ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
		: r == CUPTI_BUSY_SUBSCRIBER ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
					     : "CUPTI_ERROR_OF_THE_STAND_IN";
	return CUPTI_OK;
}

API uint32_t cuptiSubscribe(void **s, cupti_callback fn, void *user);
uint32_t cuptiSubscribe(void **s, cupti_callback fn, void *user)
{
	(void)user;
	*s = &callback;
	if (fails("subscribe"))
		return fails("subscribe");
	callback = fn;
	return CUPTI_OK;
}

API uint32_t cuptiEnableDomain(uint32_t on, void *s, uint32_t domain);
uint32_t cuptiEnableDomain(uint32_t on, void *s, uint32_t domain)
{
	(void)s;
	domains[domain] = on;
	return fails("enable_domain");
}

API uint32_t cuptiEnableCallback(uint32_t on, void *s, uint32_t domain, uint32_t id);
uint32_t cuptiEnableCallback(uint32_t on, void *s, uint32_t domain, uint32_t id)
{
	(void)id;
	return cuptiEnableDomain(on, s, domain);
}

API uint32_t cuptiActivityRegisterCallbacks(cupti_buffer_wanted w, cupti_buffer_full f);
uint32_t cuptiActivityRegisterCallbacks(cupti_buffer_wanted w, cupti_buffer_full f)
{
	wanted = w;
	full = f;
	return fails("activity_callbacks");
}

API uint32_t cuptiActivityEnable(uint32_t kind);
uint32_t cuptiActivityEnable(uint32_t kind)
{
	(void)kind;
	return fails("activity_enable");
}

API uint32_t cuptiActivityGetNextRecord(uint8_t *b, size_t n, void **record);
uint32_t cuptiActivityGetNextRecord(uint8_t *b, size_t n, void **record)
{
	uint8_t *p = *record ? (uint8_t *)*record : b;
	uint32_t kind;

	if (*record) {
		memcpy(&kind, p, sizeof(kind));
		p += kind == CUPTI_ACTIVITY_DEVICE ? sizeof(struct device_record)
						   : sizeof(struct kernel_record);
	}
	*record = p;
	return p < b + n ? CUPTI_OK : CUPTI_MAX_LIMIT;
}

API uint32_t cuptiActivityFlushAll(uint32_t is_forced);
uint32_t cuptiActivityFlushAll(uint32_t is_forced)
{
	(void)is_forced;
	for (;;) {
		size_t bytes = 0, at = 0, max;
		uint8_t *b = NULL;

		pthread_mutex_lock(&lock);
		if (n_given == n_launches + n_devices || !wanted) {
			pthread_mutex_unlock(&lock);
			return CUPTI_OK;
		}
		pthread_mutex_unlock(&lock);
		wanted(&b, &bytes, &max);
		pthread_mutex_lock(&lock);
		for (; n_given < n_devices && bytes - at >= sizeof(*devices);
			at += sizeof(*devices))
			memcpy(b + at, &devices[n_given++], sizeof(*devices));
		for (; n_given < n_launches + n_devices && bytes - at >= sizeof(*launches);
			at += sizeof(*launches))
			memcpy(b + at, &launches[n_given++ - n_devices], sizeof(*launches));
		pthread_mutex_unlock(&lock);
		full(NULL, 0, b, bytes, at);
	}
}

API uint32_t cuptiActivityGetNumDroppedRecords(cupti_context c, uint32_t stream, size_t *n);
uint32_t cuptiActivityGetNumDroppedRecords(cupti_context c, uint32_t stream, size_t *n)
{
	(void)c;
	(void)stream;
	*n = fails("activity_dropped");
	return CUPTI_OK;
}

API uint32_t cuptiPCSamplingGetNumStallReasons(struct cupti_count_reasons *p);
uint32_t cuptiPCSamplingGetNumStallReasons(struct cupti_count_reasons *p)
{
	*p->n = REASONS;
	return fails("count_reasons");
}

API uint32_t cuptiPCSamplingGetStallReasons(struct cupti_get_reasons *p);
uint32_t cuptiPCSamplingGetStallReasons(struct cupti_get_reasons *p)
{
	for (size_t i = 0; i < p->n; i++) {
		p->index[i] = (uint32_t)i;
		snprintf(p->names[i], CUPTI_REASON_BYTES, "smsp__pcsamp_warps_issue_stalled_%s",
			reason_names[i]);
	}
	return fails("get_reasons");
}

API uint32_t cuptiPCSamplingSetConfigurationAttribute(struct cupti_configuration *p);
uint32_t cuptiPCSamplingSetConfigurationAttribute(struct cupti_configuration *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->attributes[i].type == CUPTI_PERIOD)
			of(p->context)->period = p->attributes[i].number;
		if (p->attributes[i].type == CUPTI_DATA)
			of(p->context)->config = p->attributes[i].data;
	}
	return fails("configure");
}

API uint32_t cuptiPCSamplingGetConfigurationAttribute(struct cupti_configuration *p);
uint32_t cuptiPCSamplingGetConfigurationAttribute(struct cupti_configuration *p)
{
	p->attributes[0].number = of(p->context)->period;
	return CUPTI_OK;
}

API uint32_t cuptiPCSamplingEnable(struct cupti_of_context *p);
uint32_t cuptiPCSamplingEnable(struct cupti_of_context *p)
{
	of(p->context)->is_enabled = !fails("enable");
	return fails("enable");
}

static void note_told(const struct context *c)
{
	const char *path = getenv("STAND_IN_TOLD");
	char line[64];
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
	int n = snprintf(line, sizeof(line), "%u %llu\n", c->id, (unsigned long long)c->told);

	if (fd >= 0 && write(fd, line, (size_t)n) != n)
		exit(98);
	if (fd >= 0)
		close(fd);
}

/* Moves what there is into the buffer; a call says that all before it was kept. */
static void give(struct context *c, struct cupti_samples *s)
{
	size_t n = 0;

	c->told = c->fetched;
	note_told(c);
	s->n_samples = s->n_foreign = 0;
	for (; n < s->room && n < c->n_pcs; n++) {
		const struct pc *x = &c->pcs[n];
		struct cupti_pc *to = &s->pcs[n];

		to->cubin_crc = x->crc;
		to->offset = x->offset;
		to->function = (char *)x->function;
		to->correlation = x->correlation;
		to->n_stalls = 3;
		to->stalls[0] = (struct cupti_stall){0, x->issued};
		to->stalls[1] = (struct cupti_stall){x->reason, x->stalled};
		to->stalls[2] = (struct cupti_stall){x->reason + 1, x->stalled / 2};
		s->n_samples += x->issued + x->stalled;
	}
	c->fetched += s->n_samples;
	memmove(c->pcs, c->pcs + n, (c->n_pcs - n) * sizeof(*c->pcs));
	c->n_pcs -= n;
	s->n_pcs = n;
	s->n_left = c->n_pcs;
	s->n_dropped = c->n_dropped;
	s->is_full = (uint8_t)c->is_full;
	c->n_dropped = 0;
}

API uint32_t cuptiPCSamplingGetData(struct cupti_get_data *p);
uint32_t cuptiPCSamplingGetData(struct cupti_get_data *p)
{
	struct context *c = of(p->context);
	uint32_t r;

	pthread_mutex_lock(&lock);
	give(c, p->data);
	r = c->is_full ? CUPTI_NO_MEMORY : fails("get_data");
	c->is_full = 0;
	pthread_mutex_unlock(&lock);
	return r;
}

API uint32_t cuptiPCSamplingDisable(struct cupti_of_context *p);
uint32_t cuptiPCSamplingDisable(struct cupti_of_context *p)
{
	pthread_mutex_lock(&lock);
	if (of(p->context)->config)
		give(of(p->context), of(p->context)->config);
	of(p->context)->is_enabled = 0;
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}

API uint32_t cuptiGetCubinCrc(struct cupti_cubin_crc *p);
uint32_t cuptiGetCubinCrc(struct cupti_cubin_crc *p)
{
	p->crc = stand_in_crc(p->cubin, p->cubin_bytes);
	return fails("cubin_crc");
}

/* --- exact counts --- */

API uint32_t cuptiProfilerInitialize(struct cupti_profiler_params *p);
uint32_t cuptiProfilerInitialize(struct cupti_profiler_params *p)
{
	(void)p;
	return fails("profiler_init");
}

API uint32_t cuptiDeviceGetChipName(struct cupti_chip_name *p);
uint32_t cuptiDeviceGetChipName(struct cupti_chip_name *p)
{
	p->name = "STAND-IN";
	return CUPTI_OK;
}

API uint32_t cuptiSassMetricsGetProperties(struct cupti_find_metric *p);
uint32_t cuptiSassMetricsGetProperties(struct cupti_find_metric *p)
{
	p->metric.id = strlen(p->name);
	return CUPTI_OK;
}

API uint32_t cuptiSassMetricsSetConfig(struct cupti_sass_config *p);
uint32_t cuptiSassMetricsSetConfig(struct cupti_sass_config *p)
{
	(void)p;
	return fails("sass_config");
}

API uint32_t cuptiSassMetricsEnable(struct cupti_sass_enable *p);
uint32_t cuptiSassMetricsEnable(struct cupti_sass_enable *p)
{
	of(p->context)->is_counting = !fails("sass_enable");
	of(p->context)->counted = NULL;
	return fails("sass_enable");
}

API uint32_t cuptiSassMetricsDisable(struct cupti_sass_disable *p);
uint32_t cuptiSassMetricsDisable(struct cupti_sass_disable *p)
{
	p->n_dropped = of(p->context)->n_pcs;
	of(p->context)->is_counting = 0;
	return CUPTI_OK;
}

API uint32_t cuptiSassMetricsGetDataProperties(struct cupti_sass_size *p);
uint32_t cuptiSassMetricsGetDataProperties(struct cupti_sass_size *p)
{
	p->n_records = of(p->context)->n_pcs;
	p->n_instances = 1;
	return CUPTI_OK;
}

API uint32_t cuptiSassMetricsFlushData(struct cupti_sass_flush *p);
uint32_t cuptiSassMetricsFlushData(struct cupti_sass_flush *p)
{
	struct context *c = of(p->context);

	for (size_t i = 0; i < p->n_records && i < c->n_pcs; i++) {
		p->records[i].cubin_crc = (uint32_t)c->pcs[i].crc;
		p->records[i].function = c->pcs[i].function;
		p->records[i].offset = (uint32_t)c->pcs[i].offset;
		p->records[i].values[0] = (struct cupti_sass_value){
			strlen("smsp__sass_inst_executed"), c->pcs[i].issued};
		p->records[i].values[1] = (struct cupti_sass_value){
			strlen("smsp__sass_thread_inst_executed"), 32u * c->pcs[i].issued};
	}
	c->n_pcs = 0;
	c->is_counting = 2;
	return fails("sass_flush");
}
