/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h: progress of long work. The library reports it, the program shows it (terminal line or
 * JSON). Any thread may call progress_add(); the sink is called at most about 10 times a second.
 * NULL progress is allowed.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress;

typedef void (*progress_sink)(
	void *ctx, const char *what, uint64_t done, uint64_t total, bool is_last);

struct progress *progress_new(progress_sink sink, void *ctx);
void progress_free(struct progress *p);
/* `what` must outlive the stage ("waves"); total 0: unknown. */
void progress_begin(struct progress *p, const char *what, uint64_t total);
void progress_add(struct progress *p, uint64_t n);
void progress_end(struct progress *p);
/* Asks the work to stop: it fails with the code "cancelled" at its next track. Any thread. */
void progress_cancel(struct progress *p);
bool progress_is_cancelled(const struct progress *p);
/* Clears a cancellation, for the next piece of work. */
void progress_restart(struct progress *p);
/* What progress_cancel() sets, for work that looks at a flag; NULL without a progress. */
atomic_bool *progress_stop(struct progress *p);
