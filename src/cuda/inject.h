/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h: the parts of libincore-cuda, which runs inside the application. It keeps what CUPTI
 * says in the log and decides nothing: which kernels are wanted is asked when the log is read.
 * Threads: what has `flush` in its name is called with inject.lock held.
 */
#pragma once

#include <pthread.h>

#include "cuda/cupti.h"
#include "cuda/log_write.h"

#define INJECT_CONTEXTS 64 /* at once in one process */

struct inject_context {
	cupti_context handle; /* NULL: free */
	uint32_t id, device;
	bool is_sampled, is_counted, is_refused;
	struct cupti_samples config, fetch; /* buffers of samples */
};

struct inject {
	struct cupti cupti;
	enum cuda_mode mode;
	uint32_t period_log2;		       /* 0: as CUPTI chooses */
	uint64_t window_from_ms, window_to_ms; /* since the first context; to 0: no end */
	uint64_t first_ns;		       /* the first context; 0: none yet */
	pthread_mutex_t lock;
	struct inject_context contexts[INJECT_CONTEXTS];
};
extern struct inject inject;

uint64_t inject_now(void);
/* A call of CUPTI that failed: told once for each place and result. */
void inject_refused(const char *what, uint32_t result);

/* --- samples.c --- */
void samples_begin(struct inject_context *c);
void samples_flush(struct inject_context *c);
void samples_end(struct inject_context *c);

/* --- counts.c --- */
void counts_begin(struct inject_context *c);
/* Once a kernel was launched: waits for it, keeps its counts, and is ready for the next. */
void counts_next(struct inject_context *c);
void counts_end(struct inject_context *c);

/* --- activity.c --- */
void activity_begin(void);
void activity_flush(bool is_forced);
