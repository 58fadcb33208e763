/* SPDX-License-Identifier: Apache-2.0 */
/* counts.c: executions by instruction, from code that CUPTI patches on its first run. */
#include "base/mem.h"
#include "cuda/inject.h"

static const char *const wanted[] = {"smsp__sass_inst_executed", "smsp__sass_thread_inst_executed",
	"smsp__sass_thread_inst_executed_pred_on"};
#define N_WANTED (sizeof(wanted) / sizeof(*wanted))
#define MAX_RECORDS ((size_t)1 << 22)
#define BATCH 1024

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

void counts_begin(struct inject_context *c)
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

static uint64_t text_of(uint64_t metric)
{
	for (size_t i = 0; i < metrics.n; i++)
		if (metrics.config[i].id == metric)
			return metrics.text[i];
	return 0;
}

static void keep_counts(const struct cupti_sass_record *v, size_t n, size_t n_values)
{
	struct cuda_count batch[BATCH];
	size_t at = 0;

	for (size_t i = 0; i < n * n_values; i++) {
		const struct cupti_sass_record *r = &v[i / n_values];
		const struct cupti_sass_value *x = &r->values[i % n_values];

		if (x->value)
			batch[at++] = (struct cuda_count){r->cubin_crc, log_text(r->function),
				r->offset, text_of(x->metric), x->value};
		if (at == BATCH || (at && i + 1 == n * n_values)) {
			log_add(CUDA_COUNTS, inject_now(),
				(struct log_part){batch, at * sizeof(*batch)},
				(struct log_part){"", 0});
			at = 0;
		}
	}
}

static void fetch(struct inject_context *c)
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

void counts_next(struct inject_context *c)
{
	uint32_t r;

	if (inject.cupti.synchronize)
		inject.cupti.synchronize();
	fetch(c);
	disable(c);
	r = enable(c);
	if (r != CUPTI_OK)
		inject_refused("counting executions of the next kernel", r);
	c->is_counted = r == CUPTI_OK;
}

void counts_end(struct inject_context *c)
{
	fetch(c);
	disable(c);
}
