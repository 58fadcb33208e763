/* SPDX-License-Identifier: Apache-2.0 */
/* activity.c: launches with their times, and devices, from CUPTI's activity records. */
#include <stdlib.h>

#include "base/mem.h"
#include "cuda/inject.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define BUFFER_ALIGN 8
#define BATCH 256 /* launches per record of the log */

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

static struct cuda_launch launch_of(const struct cupti_kernel *k)
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
	struct cuda_launch batch[BATCH];
	size_t n = 0, n_dropped = 0;
	void *record = NULL;

	(void)bytes;
	while (log_is_open() && inject.cupti.activity_next(buffer, valid, &record) == CUPTI_OK) {
		const uint32_t *kind = record;

		if (*kind == CUPTI_ACTIVITY_DEVICE)
			keep_device(record);
		if (*kind != CUPTI_ACTIVITY_KERNEL)
			continue;
		batch[n++] = launch_of(record);
		if (n == BATCH) {
			keep_launches(batch, n);
			n = 0;
		}
	}
	keep_launches(batch, n);
	mem_free(buffer);
	if (inject.cupti.activity_dropped(context, stream, &n_dropped) == CUPTI_OK && n_dropped)
		log_trouble(CUDA_LOST_LAUNCHES, 0, n_dropped, "");
}

void activity_begin(void)
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

void activity_flush(bool is_forced)
{
	inject.cupti.activity_flush(is_forced ? 1 : 0);
}
