/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.h: our own declarations of the part of CUPTI that we use: the library of the user's CUDA
 * is loaded at run time if present. tests/cuda/layout.c compares size and place of every field
 * with the vendor's headers, and its output with this file. Structs with a size field grow only at
 * the end; for records without one (launches, devices) only fields that have kept their place
 * since CUDA 11 are declared.
 *
 * More than 150 lines because all that is used of CUPTI is declared in one place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- samples ---------------------------------------------------------------------------------- */

/* Parameters of CUPTI's functions for PC samples (cupti.h). */

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

/* --- activity records ------------------------------------------------------------------------- */

/* Activity records of CUPTI (cupti.h): launches and devices. */

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

/* --- executions by instruction ---------------------------------------------------------------- */

/*
 * Parameters of CUPTI's functions that count executions by instruction (cupti.h).
 */

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

/* --- the interface ---------------------------------------------------------------------------- */

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_NO_MEMORY = 8, /* the hardware buffer is full */
	CUPTI_MAX_LIMIT = 12,
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_NO_RIGHTS = 35,
	CUPTI_BUSY_SUBSCRIBER = 39,
	CUPTI_NO_RIGHTS_VIRTUAL = 40,
};

/* --- callbacks --- */

enum cupti_domain { CUPTI_DRIVER = 1, CUPTI_RUNTIME = 2, CUPTI_RESOURCE = 3 };
enum cupti_resource_id {
	CUPTI_CONTEXT_CREATED = 1,
	CUPTI_CONTEXT_ENDS = 2,
	CUPTI_MODULE_LOADED = 6,
	CUPTI_MODULE_ENDS = 7,
	CUPTI_MODULE_PROFILED = 8,
};
enum cupti_launch_id { /* driver calls; PTSZ: with a per-thread stream */
	CUPTI_LAUNCH = 307,
	CUPTI_LAUNCH_PTSZ = 442,
	CUPTI_LAUNCH_COOPERATIVE = 477,
	CUPTI_LAUNCH_COOPERATIVE_PTSZ = 478,
	CUPTI_LAUNCH_GRAPH = 514,
	CUPTI_LAUNCH_GRAPH_PTSZ = 515,
	CUPTI_LAUNCH_EX = 652,
	CUPTI_LAUNCH_EX_PTSZ = 653,
};
enum cupti_site { CUPTI_BEFORE, CUPTI_AFTER };

struct cupti_resource {
	cupti_context context;
	void *handle;
	void *descriptor;
};

struct cupti_module {
	uint32_t id;
	size_t cubin_bytes;
	const char *cubin;
};

struct cupti_api {     /* a driver call */
	uint32_t site; /* enum cupti_site */
	const char *function;
	const void *params;
	void *returned;
	const char *symbol; /* of a launch: the kernel */
	cupti_context context;
	uint32_t context_id;
	uint64_t *data;
	uint32_t correlation;
};

typedef void (*cupti_callback)(void *user, uint32_t domain, uint32_t id, const void *data);

/* The value of a struct's size field: up to the end of its last field. */
#define CUPTI_SIZE(T, LAST) (offsetof(struct T, LAST) + sizeof(((struct T *)0)->LAST))

/* Field, symbol name, parameters. Those of CUPTI_SASS_FUNCTIONS may be missing: then nothing is
 * counted. */
#define CUPTI_FUNCTIONS(X)                                                                         \
	X(get_version, "cuptiGetVersion", (uint32_t *))                                            \
	X(get_timestamp, "cuptiGetTimestamp", (uint64_t *))                                        \
	X(get_device, "cuptiGetDeviceId", (cupti_context, uint32_t *))                             \
	X(get_context, "cuptiGetContextId", (cupti_context, uint32_t *))                           \
	X(result_string, "cuptiGetResultString", (uint32_t, const char **))                        \
	X(subscribe, "cuptiSubscribe", (void **, cupti_callback, void *))                          \
	X(enable_domain, "cuptiEnableDomain", (uint32_t, void *, uint32_t))                        \
	X(enable_callback, "cuptiEnableCallback", (uint32_t, void *, uint32_t, uint32_t))          \
	X(activity_callbacks, "cuptiActivityRegisterCallbacks",                                    \
		(cupti_buffer_wanted, cupti_buffer_full))                                          \
	X(activity_enable, "cuptiActivityEnable", (uint32_t))                                      \
	X(activity_flush, "cuptiActivityFlushAll", (uint32_t))                                     \
	X(activity_next, "cuptiActivityGetNextRecord", (uint8_t *, size_t, void **))               \
	X(activity_dropped, "cuptiActivityGetNumDroppedRecords",                                   \
		(cupti_context, uint32_t, size_t *))                                               \
	X(count_reasons, "cuptiPCSamplingGetNumStallReasons", (struct cupti_count_reasons *))      \
	X(get_reasons, "cuptiPCSamplingGetStallReasons", (struct cupti_get_reasons *))             \
	X(configure, "cuptiPCSamplingSetConfigurationAttribute", (struct cupti_configuration *))   \
	X(get_configuration, "cuptiPCSamplingGetConfigurationAttribute",                           \
		(struct cupti_configuration *))                                                    \
	X(enable, "cuptiPCSamplingEnable", (struct cupti_of_context *))                            \
	X(disable, "cuptiPCSamplingDisable", (struct cupti_of_context *))                          \
	X(get_data, "cuptiPCSamplingGetData", (struct cupti_get_data *))                           \
	X(cubin_crc, "cuptiGetCubinCrc", (struct cupti_cubin_crc *))
#define CUPTI_SASS_FUNCTIONS(X)                                                                    \
	X(profiler_init, "cuptiProfilerInitialize", (struct cupti_profiler_params *))              \
	X(chip_name, "cuptiDeviceGetChipName", (struct cupti_chip_name *))                         \
	X(sass_find, "cuptiSassMetricsGetProperties", (struct cupti_find_metric *))                \
	X(sass_config, "cuptiSassMetricsSetConfig", (struct cupti_sass_config *))                  \
	X(sass_enable, "cuptiSassMetricsEnable", (struct cupti_sass_enable *))                     \
	X(sass_disable, "cuptiSassMetricsDisable", (struct cupti_sass_disable *))                  \
	X(sass_size, "cuptiSassMetricsGetDataProperties", (struct cupti_sass_size *))              \
	X(sass_flush, "cuptiSassMetricsFlushData", (struct cupti_sass_flush *))

struct cupti {
	void *library;
#define CUPTI_POINTER(FIELD, SYMBOL, PARAMS) uint32_t(*FIELD) PARAMS;
	CUPTI_FUNCTIONS(CUPTI_POINTER)
	CUPTI_SASS_FUNCTIONS(CUPTI_POINTER)
#undef CUPTI_POINTER
	bool has_sass;
	uint32_t (*synchronize)(void); /* cuCtxSynchronize() of the driver; NULL: not found */
};
