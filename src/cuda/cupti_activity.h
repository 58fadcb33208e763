/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_activity.h: activity records of CUPTI (cupti.h): launches and devices. */
#pragma once

#include "cuda/cupti_samples.h"

enum cupti_activity { CUPTI_ACTIVITY_DEVICE = 8, CUPTI_ACTIVITY_KERNEL = 10 };

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config;
	uint8_t shared_config;
	uint16_t registers;
	uint32_t cache[2];
	uint64_t start_ns, end_ns, completed_ns;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
};

struct cupti_device {
	uint32_t kind;
	uint32_t flags;
	uint64_t bandwidth, memory_bytes;
	uint32_t constant_bytes, l2_bytes;
	uint32_t warp_threads;
	uint32_t clock_khz;
	uint32_t copy_engines;
	uint32_t sms;
	uint32_t max_ipc;
	uint32_t warps_per_sm, blocks_per_sm;
	uint32_t shared_per_sm, registers_per_sm;
	uint32_t per_block[9]; /* limits of a block and a grid */
	uint32_t major, minor;
	uint32_t id;
	uint32_t ecc;
	uint8_t uuid[16];
	const char *name;
	uint8_t is_visible;
	uint8_t is_mig;
	uint8_t reserved[6];
	uint32_t gpu_instance, compute_instance;
};

typedef void (*cupti_buffer_wanted)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*cupti_buffer_full)(
	cupti_context c, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
