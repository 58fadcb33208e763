/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_counts.h: parameters of CUPTI's functions that count executions by instruction
 * (cupti.h). */
#pragma once

#include "cuda/cupti_samples.h"

struct cupti_chip_name {
	size_t size;
	void *priv;
	size_t device;
	const char *name;
};

struct cupti_profiler_params {
	size_t size;
	void *priv;
};

struct cupti_metric {
	uint64_t id;
	const char *name, *description;
};

struct cupti_find_metric {
	size_t size;
	void *priv;
	const char *chip, *name;
	struct cupti_metric metric;
};

struct cupti_metric_config {
	uint64_t id;
	uint8_t granularity; /* 0: the whole GPU */
};

struct cupti_sass_config {
	size_t size;
	void *priv;
	size_t n;
	struct cupti_metric_config *configs;
	uint32_t device;
};

struct cupti_sass_enable {
	size_t size;
	void *priv;
	cupti_context context;
	uint8_t is_lazy;
};

struct cupti_sass_disable {
	size_t size;
	void *priv;
	cupti_context context;
	size_t n_dropped;
};

struct cupti_sass_size {
	size_t size;
	void *priv;
	cupti_context context;
	size_t n_records, n_instances;
};

struct cupti_sass_value {
	uint64_t metric, value;
};

struct cupti_sass_record {
	size_t size;
	void *priv;
	uint32_t cubin_crc;
	uint32_t function_index;
	const char *function;
	uint32_t offset;
	struct cupti_sass_value *values;
};

struct cupti_sass_flush {
	size_t size;
	void *priv;
	cupti_context context;
	size_t n_records, n_instances;
	struct cupti_sass_record *records;
};
