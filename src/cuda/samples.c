/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c: PC samples of a context, from CUPTI's buffers to the log. */
#include <string.h>

#include "base/mem.h"
#include "cuda/inject.h"

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
void samples_flush(struct inject_context *c)
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

static uint32_t configure(struct inject_context *c)
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
void samples_begin(struct inject_context *c)
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
		r = configure(c);
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

void samples_end(struct inject_context *c)
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
