/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c: one atomic counter, and a clock that decides when the sink is called. */
#include "base/progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/mem.h"

#define PROGRESS_PERIOD_NS 100000000u

struct progress {
	progress_sink sink;
	void *ctx;
	const char *what; /* NULL: no stage is open */
	uint64_t total;
	atomic_uint_fast64_t done;
	atomic_uint_fast64_t due_ns; /* when the sink is called next */
	atomic_bool is_cancelled;
	pthread_mutex_t lock; /* one sink call at a time */
};

static uint64_t progress_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct progress *progress_new(progress_sink sink, void *ctx)
{
	struct progress *p = mem_zalloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->sink = sink;
	p->ctx = ctx;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}

void progress_begin(struct progress *p, const char *what, uint64_t total)
{
	if (!p)
		return;
	p->what = what;
	p->total = total;
	atomic_store(&p->done, 0);
	atomic_store(&p->due_ns, progress_now_ns() + PROGRESS_PERIOD_NS);
}

void progress_add(struct progress *p, uint64_t n)
{
	uint_fast64_t due;
	uint64_t now;

	if (!p)
		return;
	atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed);
	due = atomic_load_explicit(&p->due_ns, memory_order_relaxed);
	now = progress_now_ns();
	if (now < due ||
		!atomic_compare_exchange_strong(&p->due_ns, &due, now + PROGRESS_PERIOD_NS))
		return;
	pthread_mutex_lock(&p->lock);
	if (p->what && p->sink)
		p->sink(p->ctx, p->what, atomic_load(&p->done), p->total, false);
	pthread_mutex_unlock(&p->lock);
}

void progress_end(struct progress *p)
{
	if (!p || !p->what)
		return;
	pthread_mutex_lock(&p->lock);
	if (p->sink)
		p->sink(p->ctx, p->what, atomic_load(&p->done), p->total, true);
	p->what = NULL;
	pthread_mutex_unlock(&p->lock);
}

void progress_cancel(struct progress *p)
{
	if (p)
		atomic_store(&p->is_cancelled, true);
}

bool progress_is_cancelled(const struct progress *p)
{
	return p && atomic_load_explicit(&p->is_cancelled, memory_order_relaxed);
}

void progress_restart(struct progress *p)
{
	if (p)
		atomic_store(&p->is_cancelled, false);
}
