/* SPDX-License-Identifier: Apache-2.0 */
/* log_write.c: one file, one lock, one write per record. */
#include "cuda/log_write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"

#define MAX_NAMES 1000 /* log files per pid */

static struct {
	pthread_mutex_t lock;
	int fd; /* 0: none */
	uint32_t seq;
	uint64_t at; /* end of the last complete record */
	uint64_t n_lost;
	struct seen { /* open addressing; id 0 is stored as 1 */
		uint64_t *v;
		size_t n, cap;
	} seen;
} log_state = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool log_is_open(void)
{
	return log_state.fd > 0;
}

void log_abandon(void)
{
	if (log_state.fd > 0)
		close(log_state.fd);
	log_state.fd = 0;
}

static uint64_t unix_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A pid may be reused, and a process may exec another program: each gets its own file. */
void log_open(const char *folder)
{
	struct cuda_log_head head = {
		CUDA_LOG_MAGIC, CUDA_LOG_VERSION, CUDA_LOG_ORDER, (uint64_t)getpid(), unix_ns()};
	char path[4096];
	int fd = -1;

	for (int i = 0; fd < 0 && i < MAX_NAMES; i++) {
		int n = snprintf(
			path, sizeof(path), "%s/%ld-%d" CUDA_LOG_SUFFIX, folder, (long)getpid(), i);

		if (n < 0 || (size_t)n >= sizeof(path))
			return;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0644);
		if (fd < 0 && errno != EEXIST)
			return;
	}
	/* if standard streams are closed, do not use descriptors 0 to 2 */
	if (fd >= 0 && fd <= 2) {
		int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);

		close(fd);
		fd = high;
	}
	if (fd < 0)
		return;
	if (write(fd, &head, sizeof(head)) != (ssize_t)sizeof(head)) {
		close(fd);
		return;
	}
	log_state.at = sizeof(head);
	log_state.fd = fd;
}

/* Writes a record completely or not at all: a partial write is truncated again. */
static bool write_record(struct iovec *v, int n, size_t bytes)
{
	ssize_t wrote;

	do
		wrote = fault_hit(FAULT_WRITE) ? -1 : writev(log_state.fd, v, n);
	while (wrote < 0 && errno == EINTR);
	if (wrote == (ssize_t)bytes) {
		log_state.at += bytes;
		log_state.seq++;
		return true;
	}
	if (wrote > 0 && ftruncate(log_state.fd, (off_t)log_state.at) != 0)
		log_abandon(); /* records after a partial one would not be read */
	return false;
}

static bool add_locked(
	enum cuda_record_type type, uint64_t time_ns, struct log_part a, struct log_part b)
{
	static const char zeros[8];
	struct cuda_record r = {.magic = CUDA_RECORD_MAGIC,
		.type = (uint32_t)type,
		.body_bytes = a.n + b.n,
		.time_ns = time_ns,
		.seq = log_state.seq};
	size_t pad = -(a.n + b.n) & 7;
	struct iovec v[] = {
		{&r, sizeof(r)}, {(void *)a.p, a.n}, {(void *)b.p, b.n}, {(void *)zeros, pad}};

	r.crc = crc32c(crc32c(crc32c(0, &r, sizeof(r)), a.p, a.n), b.p, b.n);
	return write_record(v, 4, sizeof(r) + a.n + b.n + pad);
}

void log_add(enum cuda_record_type type, uint64_t time_ns, struct log_part a, struct log_part b)
{
	pthread_mutex_lock(&log_state.lock);
	if (log_state.fd > 0 && log_state.n_lost) {
		struct cuda_trouble t = {CUDA_LOST_RECORDS, 0, log_state.n_lost};

		if (add_locked(CUDA_TROUBLE, time_ns, (struct log_part){&t, sizeof(t)},
			    (struct log_part){"", 0}))
			log_state.n_lost = 0;
	}
	if (log_state.fd > 0 && !add_locked(type, time_ns, a, b))
		log_state.n_lost++;
	pthread_mutex_unlock(&log_state.lock);
}

static bool seen_grow(struct seen *s)
{
	struct seen to = {.n = s->n, .cap = s->cap ? 2 * s->cap : 1024};

	to.v = mem_zalloc(to.cap, sizeof(*to.v));
	if (!to.v)
		return false;
	for (size_t i = 0; i < s->cap; i++) {
		size_t at = s->v[i] & (to.cap - 1);

		while (s->v[i] && to.v[at])
			at = (at + 1) & (to.cap - 1);
		if (s->v[i])
			to.v[at] = s->v[i];
	}
	mem_free(s->v);
	*s = to;
	return true;
}

bool log_is_new(enum cuda_record_type kind, uint64_t id)
{
	struct seen *s = &log_state.seen;
	bool is_new = false;
	size_t at;

	id = (id ^ (uint64_t)kind * UINT64_C(0x9e3779b97f4a7c15)) | 1;
	pthread_mutex_lock(&log_state.lock);
	/* out of memory: treat all ids as new, since duplicates in the log are harmless */
	if (2 * s->n >= s->cap && !seen_grow(s)) {
		pthread_mutex_unlock(&log_state.lock);
		return true;
	}
	for (at = (id >> 1) & (s->cap - 1); s->v[at] && s->v[at] != id;)
		at = (at + 1) & (s->cap - 1);
	is_new = !s->v[at];
	s->v[at] = id;
	s->n += is_new;
	pthread_mutex_unlock(&log_state.lock);
	return is_new;
}

uint64_t log_text(const char *text)
{
	uint64_t id;

	text = text ? text : "";
	id = cuda_text_id(text);
	if (log_is_new(CUDA_TEXT, id))
		log_add(CUDA_TEXT, 0, (struct log_part){&id, sizeof(id)},
			(struct log_part){text, strlen(text)});
	return id;
}

void log_trouble(enum cuda_trouble_kind kind, uint32_t code, uint64_t n, const char *text)
{
	struct cuda_trouble t = {(uint32_t)kind, code, n};

	log_add(CUDA_TROUBLE, 0, (struct log_part){&t, sizeof(t)},
		(struct log_part){text, strlen(text)});
}
