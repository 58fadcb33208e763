/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.h: our own declarations of the part of CUPTI that we use: the library of the user's CUDA
 * is loaded at run time if present. tests/cuda/layout.c compares size and place of every field
 * with the vendor's headers, and its output with this file. Structs with a size field grow only at
 * the end; for records without one (launches, devices) only fields that have kept their place
 * since CUDA 11 are declared.
 */
#pragma once

#include <stdbool.h>

#include "cuda/cupti_activity.h"
#include "cuda/cupti_counts.h"
#include "cuda/cupti_samples.h"

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

/*
 * Finds the library: the one that the program has loaded, else `path` (may be NULL), else by its
 * usual names. False: *why has the reason, static text or from dlerror().
 */
bool cupti_load(struct cupti *c, const char *path, const char **why);
/* Is this not NVIDIA's CUPTI but a stand-in of the tests, marked by a symbol? */
bool cupti_is_stand_in(const struct cupti *c);
/* The meaning of a result code; never NULL. */
const char *cupti_says(const struct cupti *c, uint32_t result);
