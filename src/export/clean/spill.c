/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill.c: blocks of memory that are pages of a file. Each has its own range of the file, larger
 * than the block: a range takes no disk space until it is used, so a block grows in place without a
 * copy. A range is used once; its space is then released by punching a hole.
 */
#include "export/clean/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define MAX_BLOCKS 8192
#define MORE_RESIDENT_BYTES ((size_t)16 << 20) /* growth between two trims that free little */
#define COPY_BYTES ((size_t)4 << 20)

struct spill_block {
	uint8_t *p;
	size_t size;	   /* mapped */
	uint64_t at, room; /* its range in the file */
};

static struct {
	/* Recursive: a name that is freed below it may begin a page, and is then looked for here. */
	pthread_mutex_t lock;
	char *dir;
	int fd, statm; /* -1: not open */
	int errnum;
	uint64_t next; /* start of the unused part of the file */
	size_t limit;  /* resident bytes above which pages are released */
	uint32_t n;
	struct spill_block v[MAX_BLOCKS];
} s = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .fd = -1, .statm = -1};

static atomic_bool is_on;

static size_t whole_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) & ~(page - 1);
}

/* --- the file --- */

static int spill_open_unnamed(const char *dir)
{
	char *path = path_join(dir, ".incore.spill.XXXXXX");
	int fd = fault_hit(FAULT_OPEN) ? (errno = EACCES, -1)
				       : open(dir, O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 && path && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
	}
	mem_free(path);
	return fd;
}

static bool take_room(uint64_t at, size_t n)
{
	if (s.fd < 0)
		s.fd = spill_open_unnamed(s.dir);
	if (s.fd < 0)
		s.errnum = errno;
	else
		s.errnum = fault_hit(FAULT_WRITE) ? ENOSPC
						  : posix_fallocate(s.fd, (off_t)at, (off_t)n);
	return s.errnum == 0;
}

static void spill_close_file(void)
{
	if (s.fd >= 0)
		close(s.fd);
	s.fd = -1;
	s.next = 0;
}

/* --- blocks --- */

static struct spill_block *spill_find(const void *p)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (s.v[i].p == p)
			return &s.v[i];
	return NULL;
}

/* Size of the range for a block of that size to grow in; 0: the block is too large. */
static uint64_t room_for(size_t size)
{
	for (unsigned bits = 20; bits <= 38; bits += 6)
		if (size <= UINT64_C(1) << bits)
			return UINT64_C(1) << bits;
	return 0;
}

static bool make_block(size_t size, struct spill_block *out)
{
	struct spill_block b = {.size = size, .at = s.next, .room = room_for(size)};
	void *p;

	if (!b.room || !take_room(b.at, size))
		return false;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s.fd, (off_t)b.at);
	if (p == MAP_FAILED)
		return false;
	b.p = p;
	s.next += b.room;
	*out = b;
	return true;
}

/* Frees a block; a file system without holes keeps its space until the file is closed. */
static void free_block(const struct spill_block *b)
{
	munmap(b->p, b->size);
	fallocate(s.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)b->at, (off_t)b->size);
}

static void *spill_take(size_t size)
{
	void *p = NULL;

	pthread_mutex_lock(&s.lock);
	if (s.n < MAX_BLOCKS && make_block(whole_pages(size), &s.v[s.n]))
		p = s.v[s.n++].p;
	pthread_mutex_unlock(&s.lock);
	return p;
}

/* Moves a block to a larger range, piece by piece, so as not to have it in memory twice. */
static bool move_block(struct spill_block *b, size_t size)
{
	struct spill_block to;

	if (!make_block(size, &to))
		return false;
	for (size_t i = 0; i < b->size; i += COPY_BYTES) {
		size_t n = b->size - i < COPY_BYTES ? b->size - i : COPY_BYTES;

		memcpy(to.p + i, b->p + i, n);
		madvise(b->p + i, n, MADV_DONTNEED);
		madvise(to.p + i, n, MADV_DONTNEED);
	}
	free_block(b);
	*b = to;
	return true;
}

static bool grow_block(struct spill_block *b, size_t size)
{
	void *p;

	if (size <= b->size)
		return true;
	if (size > b->room)
		return move_block(b, size);
	if (!take_room(b->at + b->size, size - b->size))
		return false;
	p = mremap(b->p, b->size, size, MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		return false;
	b->p = p;
	b->size = size;
	return true;
}

static bool spill_grow(void **p, size_t size)
{
	struct spill_block *b;

	pthread_mutex_lock(&s.lock);
	b = spill_find(*p);
	*p = b && grow_block(b, whole_pages(size)) ? b->p : NULL;
	pthread_mutex_unlock(&s.lock);
	return b != NULL;
}

static bool spill_drop(void *p)
{
	struct spill_block *b;

	pthread_mutex_lock(&s.lock);
	b = spill_find(p);
	if (b) {
		free_block(b);
		*b = s.v[--s.n];
		if (!s.n && !atomic_load(&is_on))
			spill_close_file();
	}
	pthread_mutex_unlock(&s.lock);
	return b != NULL;
}

static bool is_large(size_t size)
{
	return size >= SPILL_LEAST_BYTES && atomic_load(&is_on);
}

/* --- resident pages --- */

/* Resident bytes of the process; SIZE_MAX if the system does not report it. */
static size_t resident_bytes(void)
{
	char text[128], *end;
	ssize_t n = s.statm >= 0 ? pread(s.statm, text, sizeof(text) - 1, 0) : -1;

	if (n <= 0)
		return SIZE_MAX;
	text[n] = 0;
	strtoull(text, &end, 10);
	return (size_t)strtoull(end, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void spill_trim(void)
{
	size_t left;

	if (!atomic_load(&is_on))
		return;
	pthread_mutex_lock(&s.lock);
	if (resident_bytes() > s.limit) {
		for (uint32_t i = 0; i < s.n; i++)
			madvise(s.v[i].p, s.v[i].size, MADV_DONTNEED);
		left = resident_bytes();
		s.limit = SPILL_RESIDENT_BYTES;
		if (left != SIZE_MAX && left + MORE_RESIDENT_BYTES > s.limit)
			s.limit = left + MORE_RESIDENT_BYTES;
	}
	pthread_mutex_unlock(&s.lock);
}

/* --- begin and end --- */

void spill_begin(const char *dir)
{
	static const struct mem_large large = {
		is_large, spill_take, spill_grow, spill_drop, spill_trim};

	s.dir = mem_strndup(dir, strlen(dir));
	if (!s.dir)
		return; /* everything stays in memory */
	s.errnum = 0;
	s.limit = SPILL_RESIDENT_BYTES;
	s.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	mem_set_large(&large);
	atomic_store(&is_on, true);
}

void spill_end(void)
{
	atomic_store(&is_on, false);
	pthread_mutex_lock(&s.lock);
	if (s.statm >= 0)
		close(s.statm);
	s.statm = -1;
	mem_free(s.dir);
	s.dir = NULL;
	s.errnum = 0;
	if (!s.n)
		spill_close_file();
	pthread_mutex_unlock(&s.lock);
}

bool spill_error(struct incore_error *e)
{
	if (!s.errnum)
		return true;
	incore_error_clear(e);
	return err_output(e, s.errnum, s.dir, "cannot hold large tables in a file there");
}
