/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_samples.h: parameters of CUPTI's functions for PC samples (cupti.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef void *cupti_context; /* CUcontext */

struct cupti_stall {
	uint32_t reason;
	uint32_t samples;
};

struct cupti_pc {
	size_t size;
	uint64_t cubin_crc;
	uint64_t offset;
	uint32_t function_index;
	uint32_t pad;
	char *function;
	size_t n_stalls;
	struct cupti_stall *stalls;
	uint32_t correlation;
};

struct cupti_samples {
	size_t size;
	size_t room; /* PCs that fit */
	uint64_t n_samples;
	uint64_t n_dropped;
	size_t n_pcs;
	size_t n_left;
	uint64_t range;
	struct cupti_pc *pcs;
	uint64_t n_foreign; /* samples of code that is not the user's */
	uint8_t is_full;
};

enum cupti_attribute_type {
	CUPTI_PERIOD = 1,
	CUPTI_MODE = 5,
	CUPTI_DATA = 8,
};
enum cupti_mode { CUPTI_CONTINUOUS = 1, CUPTI_SERIALISED = 2 };

struct cupti_attribute {
	uint32_t type; /* enum cupti_attribute_type */
	uint32_t status;
	union {
		uint64_t all[3];
		uint32_t number;
		void *data;
	};
};

struct cupti_configuration {
	size_t size;
	void *priv;
	cupti_context context;
	size_t n;
	struct cupti_attribute *attributes;
};

struct cupti_of_context { /* params of enable, disable */
	size_t size;
	void *priv;
	cupti_context context;
};

struct cupti_get_data {
	size_t size;
	void *priv;
	cupti_context context;
	void *data;
};

struct cupti_count_reasons {
	size_t size;
	void *priv;
	cupti_context context;
	size_t *n;
};

struct cupti_get_reasons {
	size_t size;
	void *priv;
	cupti_context context;
	size_t n;
	uint32_t *index;
	char **names; /* CUPTI_REASON_BYTES each */
};
#define CUPTI_REASON_BYTES 128

struct cupti_cubin_crc {
	size_t size;
	size_t cubin_bytes;
	const void *cubin;
	uint64_t crc;
};
