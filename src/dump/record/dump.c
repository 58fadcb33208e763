/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c: opens, marks, queries and closes a dump. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "dump/manifest_write.h"
#include "dump/record/producer.h"

#define MIN_RING_BYTES 65536
#define MIN_ARENA_BYTES 4096

_Atomic uint32_t dump_forks;

static void count_fork(void)
{
	atomic_fetch_add(&dump_forks, 1);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

void incore_dump_options_init(struct incore_dump_options *o)
{
	*o = (struct incore_dump_options){
		.level = INCORE_DUMP_FULL,
		.wait_ms = 30000,
		.flush_ms = 30000,
		.max_writers = 256,
		.ring_bytes = (size_t)1 << 20,
		.arena_bytes = (size_t)16 << 20,
		.max_marked_tasks = 32768,
		.sort_bytes = (size_t)64 << 20,
	};
}

static bool is_power(size_t n)
{
	return n && (n & (n - 1)) == 0;
}

static bool are_sound(const struct incore_dump_options *o)
{
	return o->level <= INCORE_DUMP_HYBRID && is_power(o->ring_bytes) &&
	       is_power(o->arena_bytes) && o->ring_bytes >= MIN_RING_BYTES &&
	       o->ring_bytes <= UINT32_MAX / 2 && o->arena_bytes >= MIN_ARENA_BYTES &&
	       o->max_writers > 0 && o->max_writers <= UINT16_MAX &&
	       o->max_marked_tasks <= UINT32_C(1) << 28;
}

static void free_dump(struct incore_dump *d)
{
	uint32_t n = atomic_load_explicit(&d->n_writers, memory_order_acquire);

	for (uint32_t i = 0; d->writers && i < n; i++)
		writer_free(d->writers[i]);
	collector_free(d->collector);
	sink_close(&d->sink);
	marks_deinit(&d->marks);
	loss_deinit(&d->marks_lost);
	pthread_cond_destroy(&d->wake);
	pthread_cond_destroy(&d->done);
	pthread_mutex_destroy(&d->lock);
	mem_free(d->writers);
	mem_free(d->dir);
	mem_free(d);
}

static struct incore_dump *new_dump(const struct incore_dump_options *o)
{
	static pthread_once_t is_watched = PTHREAD_ONCE_INIT;
	struct incore_dump *d = mem_zalloc(1, sizeof(*d));
	pthread_condattr_t attr;

	if (!d)
		return NULL;
	pthread_once(&is_watched, watch_forks);
	d->born = atomic_load(&dump_forks);
	d->o = *o;
	d->sink = (struct dump_sink){.dir_fd = -1, .bin_fd = -1, .log_fd = -1};
	pthread_mutex_init(&d->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->wake, &attr);
	pthread_cond_init(&d->done, &attr);
	pthread_condattr_destroy(&attr);
	d->writers = mem_zalloc(o->max_writers, sizeof(struct incore_dump_writer *));
	if (d->writers && marks_init(&d->marks, o->max_marked_tasks))
		return d;
	free_dump(d);
	return NULL;
}

static int start_collector(struct incore_dump *d)
{
	sigset_t all, old;
	int rc;

	d->collector = collector_new(d);
	if (!d->collector)
		return ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the program's threads */
	rc = pthread_create(&d->thread, NULL, collector_main, d);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

/* Creates the directory if needed and returns its absolute name. 0 or errno. */
static int recorder_make_dir(const char *dir, char **out)
{
	char *real;

	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return errno;
	real = realpath(dir, NULL);
	if (!real)
		return errno;
	*out = mem_strndup(real, strlen(real));
	free(real);
	return *out ? 0 : ENOMEM;
}

static void recorder_remove_files(struct incore_dump *d)
{
	if (d->sink.log_fd < 0)
		return;
	unlinkat(d->sink.dir_fd, LOG_FILE, 0);
	unlinkat(d->sink.dir_fd, d->sink.bin_name, 0);
}

int incore_dump_open(
	struct incore_dump **out, const char *dir, const struct incore_dump_options *options)
{
	struct incore_dump_options o;
	struct incore_dump *d;
	int rc;

	incore_dump_options_init(&o);
	if (options)
		o = *options;
	if (!out || !dir || !are_sound(&o))
		return EINVAL;
	d = new_dump(&o);
	if (!d)
		return ENOMEM;
	rc = o.level == INCORE_DUMP_OFF ? 0 : recorder_make_dir(dir, &d->dir);
	if (rc == 0 && o.level != INCORE_DUMP_OFF)
		rc = sink_open(&d->sink, d->dir, o.is_older);
	if (rc == 0 && o.level != INCORE_DUMP_OFF)
		rc = start_collector(d);
	if (rc) {
		recorder_remove_files(d);
		free_dump(d);
		return rc;
	}
	*out = d;
	return 0;
}

int incore_dump_mark(struct incore_dump *d, uint64_t task_id, uint32_t slot)
{
	struct log_loss l = {.task_id = task_id, .records = 1, .cause = LOG_MARKS_FULL};
	uint64_t slots;

	if (!d)
		return EINVAL;
	if (!dump_is_ours(d))
		return ECHILD;
	if (d->o.level == INCORE_DUMP_OFF || d->o.level == INCORE_DUMP_FULL)
		return 0;
	if (slot != INCORE_DUMP_ALL_SLOTS && slot > INCORE_DUMP_MAX_MARKED_SLOT)
		return EOVERFLOW;
	slots = slot == INCORE_DUMP_ALL_SLOTS ? MARKS_ALL : UINT64_C(1) << slot;
	if (marks_add(&d->marks, task_id, slots))
		return 0;
	pthread_mutex_lock(&d->marks.lock);
	loss_add(&d->marks_lost, 0, &l);
	pthread_mutex_unlock(&d->marks.lock);
	return ENOSPC;
}

/* Waits until the collector has written everything and ended; false if it makes no more
 * progress. */
static bool wait_finished(struct incore_dump *d)
{
	uint64_t seen = 0, now = 0;
	bool is_finished;

	pthread_mutex_lock(&d->lock);
	pthread_cond_signal(&d->wake);
	do {
		struct timespec until = deadline_in(d->o.flush_ms);
		int rc = 0;

		seen = now;
		while (!d->is_finished && rc == 0)
			rc = pthread_cond_timedwait(&d->done, &d->lock, &until);
		now = atomic_load(&d->progress);
	} while (!d->is_finished && now != seen);
	is_finished = d->is_finished;
	pthread_mutex_unlock(&d->lock);
	return is_finished;
}

static int first_write_error(struct incore_dump *d)
{
	uint32_t n = atomic_load_explicit(&d->n_writers, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		int rc = atomic_load(&d->writers[i]->write_error);

		if (rc)
			return rc;
	}
	return 0;
}

/* Writes the manifest from the log, then removes the log. */
static int recorder_write_manifest(struct incore_dump *d)
{
	struct manifest_job job = {.dir = d->dir,
		.is_older = d->o.is_older,
		.level = (int)d->o.level,
		.sort_bytes = d->o.sort_bytes};
	struct repair_report report = {0};
	struct incore_error e = {0};
	bool ok = manifest_write(&job, &report, &e);
	int rc = 0;

	if (!ok)
		rc = err_is(&e, "no-memory") ? ENOMEM : EIO;
	repair_report_deinit(&report);
	incore_error_clear(&e);
	if (rc)
		return rc;
	if (d->sink.bin_end == 0 && d->o.level == INCORE_DUMP_HYBRID)
		unlinkat(d->sink.dir_fd, d->sink.bin_name, 0);
	return unlinkat(d->sink.dir_fd, LOG_FILE, 0) != 0 ? errno : 0;
}

int incore_dump_close(struct incore_dump *d)
{
	int rc = 0;

	if (!d)
		return EINVAL;
	if (!dump_is_ours(d))
		return ECHILD;
	if (d->o.level != INCORE_DUMP_OFF) {
		atomic_store(&d->is_closing, true);
		if (!wait_finished(d)) {
			pthread_detach(d->thread); /* it may still use all of this */
			return ETIMEDOUT;
		}
		pthread_join(d->thread, NULL);
		rc = d->close_error;
		if (rc == 0)
			rc = recorder_write_manifest(d);
		if (rc == 0) /* report it: an earlier write has failed */
			rc = first_write_error(d);
	}
	free_dump(d);
	return rc;
}

const char *incore_dump_why(const struct incore_dump_writer *w)
{
	return w ? w->why : "";
}

void incore_dump_get_writer_stats(const struct incore_dump_writer *w, struct incore_dump_stats *s)
{
	*s = (struct incore_dump_stats){
		.records = atomic_load_explicit(&w->records, memory_order_relaxed),
		.payload_bytes = atomic_load_explicit(&w->payload_bytes, memory_order_relaxed),
		.truncated = atomic_load_explicit(&w->truncated, memory_order_relaxed),
		.dropped_records = atomic_load_explicit(&w->dropped_records, memory_order_relaxed) +
				   atomic_load_explicit(&w->lost_records, memory_order_relaxed),
		.dropped_bytes = atomic_load_explicit(&w->dropped_bytes, memory_order_relaxed) +
				 atomic_load_explicit(&w->lost_bytes, memory_order_relaxed),
		.write_error = atomic_load(&w->write_error),
	};
}

void incore_dump_get_stats(struct incore_dump *d, struct incore_dump_stats *s)
{
	uint32_t n = atomic_load_explicit(&d->n_writers, memory_order_acquire);
	struct incore_dump_stats one;

	*s = (struct incore_dump_stats){0};
	for (uint32_t i = 0; i < n; i++) {
		incore_dump_get_writer_stats(d->writers[i], &one);
		s->records += one.records;
		s->payload_bytes += one.payload_bytes;
		s->truncated += one.truncated;
		s->dropped_records += one.dropped_records;
		s->dropped_bytes += one.dropped_bytes;
		if (!s->write_error)
			s->write_error = one.write_error;
	}
}
