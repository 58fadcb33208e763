/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h: the parts of libincore-cuda, which runs inside the application. It stores CUPTI's data
 * in the log and selects nothing: the wanted kernels are chosen when the log is read. Threads:
 * functions with `flush` in their name are called with inject.lock held.
 */
#pragma once

#include <pthread.h>

#include "cuda/cupti.h"
#include "cuda/log_write.h"

#define INJECT_CONTEXTS 64 /* at the same time in one process */

struct inject_context {
	cupti_context handle; /* NULL: free */
	uint32_t id, device;
	bool is_sampled, is_counted, is_refused;
	struct cupti_samples config, fetch; /* buffers of samples */
};

struct inject {
	struct cupti cupti;
	enum cuda_mode mode;
	uint32_t period_log2;		       /* 0: CUPTI chooses */
	uint64_t window_from_ms, window_to_ms; /* since the first context; window_to_ms 0: no end */
	uint64_t first_ns;		       /* time of the first context; 0: none yet */
	pthread_mutex_t lock;
	struct inject_context contexts[INJECT_CONTEXTS];
};
extern struct inject inject;

uint64_t inject_now(void);
/* Logs a failed call of CUPTI, once for each place and result. */
void inject_refused(const char *what, uint32_t result);

/* --- samples.c --- */
void samples_begin(struct inject_context *c);
void samples_flush(struct inject_context *c);
void samples_end(struct inject_context *c);

/* --- counts.c --- */
void counts_begin(struct inject_context *c);
/* After a launch: waits for the kernel, stores its counts and prepares for the next. */
void counts_next(struct inject_context *c);
void counts_end(struct inject_context *c);

/* --- activity.c --- */
void activity_begin(void);
void activity_flush(bool is_forced);
