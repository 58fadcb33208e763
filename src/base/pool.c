/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c: worker threads that wait for one loop at a time. The thread that calls pool_run() works
 * too, so a pool of one has no threads. Not to be called from inside a loop of the same pool.
 *
 * Parts: progress; a parallel loop.
 */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/progress.h"

/* --- progress --------------------------------------------------------------------------------- */

/* One atomic counter, and a clock that decides when the sink is called. */

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
	atomic_store(&p->due_ns, clock_ns() + PROGRESS_PERIOD_NS);
}

void progress_add(struct progress *p, uint64_t n)
{
	uint_fast64_t due;
	uint64_t now;

	if (!p)
		return;
	atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed);
	due = atomic_load_explicit(&p->due_ns, memory_order_relaxed);
	now = clock_ns();
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

atomic_bool *progress_stop(struct progress *p)
{
	return p ? &p->is_cancelled : NULL;
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

/* --- a parallel loop -------------------------------------------------------------------------- */

#define POOL_MOST 256

struct pool_worker {
	struct pool *pool;
	pthread_t thread;
	unsigned number;
};

struct pool {
	unsigned n;		     /* workers, including the caller */
	struct pool_worker *workers; /* [0] is unused: the caller */
	pthread_mutex_t lock;
	pthread_cond_t wake, idle;
	uint64_t round;	  /* counts loops; a change wakes the workers */
	unsigned working; /* threads that have not left this round yet */
	bool is_closing;
	/* the loop of this round */
	pool_fn fn;
	void *ctx;
	size_t n_items, grain;
	atomic_size_t next;    /* first item that was not handed out yet */
	atomic_size_t fail_at; /* lowest failed item; nothing at or above it need run */
	struct incore_error error;
};

static void note_failure(struct pool *p, size_t item, struct incore_error *e)
{
	pthread_mutex_lock(&p->lock);
	if (item < atomic_load(&p->fail_at)) {
		atomic_store(&p->fail_at, item);
		err_move(&p->error, e);
	}
	pthread_mutex_unlock(&p->lock);
	incore_error_clear(e);
}

static void pool_work(struct pool *p, unsigned worker)
{
	struct incore_error e = {0};

	for (;;) {
		size_t from = atomic_fetch_add(&p->next, p->grain), to;

		/* `from` may exceed n_items once per worker, but never wraps: grain is limited */
		if (from >= p->n_items || from >= atomic_load(&p->fail_at))
			return;
		to = p->n_items - from < p->grain ? p->n_items : from + p->grain;
		for (size_t i = from; i < to && i < atomic_load(&p->fail_at); i++)
			if (!p->fn(p->ctx, i, worker, &e))
				note_failure(p, i, &e);
	}
}

static void *worker_main(void *arg)
{
	struct pool_worker *w = arg;
	struct pool *p = w->pool;
	uint64_t seen = 0;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (p->round == seen && !p->is_closing)
			pthread_cond_wait(&p->wake, &p->lock);
		if (p->is_closing)
			break;
		seen = p->round;
		pthread_mutex_unlock(&p->lock);
		pool_work(p, w->number);
		pthread_mutex_lock(&p->lock);
		if (--p->working == 0)
			pthread_cond_signal(&p->idle);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static unsigned online_cpus(void)
{
	cpu_set_t set;
	long n;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned)n : 1;
}

/* Starts up to n - 1 threads; if fewer can be started, the pool is just smaller. */
static void start_threads(struct pool *p, unsigned n)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the caller's thread */
	for (; p->n < n; p->n++) {
		struct pool_worker *w = &p->workers[p->n];

		w->pool = p;
		w->number = p->n;
		if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct pool *pool_new(unsigned n, struct incore_error *e)
{
	struct pool *p = mem_zalloc(1, sizeof(*p));

	if (n == 0)
		n = online_cpus();
	if (n > POOL_MOST)
		n = POOL_MOST;
	if (p)
		p->workers = mem_zalloc(n, sizeof(*p->workers));
	if (!p || !p->workers) {
		mem_free(p);
		return err_nomem_null(e);
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	pthread_cond_init(&p->idle, NULL);
	p->n = 1;
	start_threads(p, n);
	return p;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->is_closing = true;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 1; i < p->n; i++)
		pthread_join(p->workers[i].thread, NULL);
	pthread_cond_destroy(&p->idle);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	incore_error_clear(&p->error);
	mem_free(p->workers);
	mem_free(p);
}

unsigned pool_size(const struct pool *p)
{
	return p ? p->n : 1;
}

static bool run_alone(size_t n, pool_fn fn, void *ctx, struct incore_error *e)
{
	for (size_t i = 0; i < n; i++)
		if (!fn(ctx, i, 0, e))
			return false;
	return true;
}

bool pool_run(struct pool *p, size_t n, size_t grain, pool_fn fn, void *ctx, struct incore_error *e)
{
	bool use_threads = p && p->n > 1 && n > (grain ? grain : 1);

	if (!use_threads)
		return run_alone(n, fn, ctx, e);
	pthread_mutex_lock(&p->lock);
	p->fn = fn;
	p->ctx = ctx;
	p->n_items = n;
	p->grain = grain == 0 ? 1 : grain < n ? grain : n;
	if (p->grain > SIZE_MAX / 4 / POOL_MOST)
		p->grain = SIZE_MAX / 4 / POOL_MOST;
	atomic_store(&p->next, 0);
	atomic_store(&p->fail_at, SIZE_MAX);
	p->working = p->n - 1;
	p->round++;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	pool_work(p, 0);
	pthread_mutex_lock(&p->lock);
	while (p->working > 0)
		pthread_cond_wait(&p->idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
	if (atomic_load(&p->fail_at) == SIZE_MAX)
		return true;
	err_move(e, &p->error);
	return false;
}
