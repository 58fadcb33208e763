/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_sort.c: an external merge sort of 16-byte entries. */
#include "dump/manifest_sort.h"
#include "base/search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define SORT_LEAST 1024

void sorter_init(struct sorter *s, const char *dir, size_t bytes)
{
	*s = (struct sorter){.dir = dir, .fd = -1};
	s->most = bytes / 2 / sizeof(struct sort_entry); /* sorting needs the same amount again */
	if (s->most < SORT_LEAST)
		s->most = SORT_LEAST;
}

void sorter_deinit(struct sorter *s)
{
	if (s->fd >= 0)
		close(s->fd);
	VEC_FREE(&s->buf);
	VEC_FREE(&s->runs);
	s->fd = -1;
}

ORDER(compare, struct sort_entry, UP(task_id) UP(off))

static int open_unnamed(const char *dir)
{
	struct strbuf name = {0};
	int fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	sb_printf(&name, "%s/.sort.XXXXXX", dir);
	fd = name.failed ? -1 : mkostemp(name.p, O_CLOEXEC);
	if (fd >= 0)
		unlink(name.p);
	sb_free(&name);
	return fd;
}

static bool spill(struct sorter *s, struct incore_error *e)
{
	const uint8_t *p = (const uint8_t *)s->buf.v;
	size_t left = s->buf.n * sizeof(struct sort_entry);
	uint64_t at = s->in_file * sizeof(struct sort_entry);

	qsort(s->buf.v, s->buf.n, sizeof(struct sort_entry), compare);
	if (s->fd < 0)
		s->fd = open_unnamed(s->dir);
	if (s->fd < 0)
		return err_errno(e, errno, s->dir, "cannot create a file to sort in");
	while (left > 0) {
		ssize_t n = fault_hit(FAULT_WRITE) ? (errno = ENOSPC, -1)
						   : pwrite(s->fd, p, left, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, errno, s->dir, "cannot write a file to sort in");
		p += n;
		at += (uint64_t)n;
		left -= (size_t)n;
	}
	if (!VEC_PUSH(&s->runs, (struct sort_run){.at = s->in_file, .left = s->buf.n}))
		return err_nomem(e);
	s->in_file += s->buf.n;
	s->buf.n = 0;
	return true;
}

bool sorter_add(struct sorter *s, struct sort_entry entry, struct incore_error *e)
{
	if (s->buf.n == s->most && !spill(s, e))
		return false;
	if (s->buf.n == s->buf.cap && s->buf.cap > 0) { /* do not exceed the budget */
		size_t want = s->buf.cap * 2 < s->most ? s->buf.cap * 2 : s->most;
		struct sort_entry *p = mem_resize(s->buf.v, want, sizeof(*p));

		if (!p)
			return err_nomem(e);
		s->buf.v = p;
		s->buf.cap = want;
	}
	return VEC_PUSH(&s->buf, entry) ? true : err_nomem(e);
}

bool sorter_finish(struct sorter *s, struct incore_error *e)
{
	size_t share;

	if (s->runs.n == 0) {
		if (s->buf.n > 1)
			qsort(s->buf.v, s->buf.n, sizeof(struct sort_entry), compare);
		return true;
	}
	if (s->buf.n && !spill(s, e))
		return false;
	share = s->buf.cap / s->runs.n;
	if (share == 0)
		return err_set(e, INCORE_FAILED, "too-large",
			"too many records for %zu bytes to sort in", s->most * 32);
	for (size_t i = 0; i < s->runs.n; i++) {
		s->runs.v[i].buf = s->buf.v + i * share;
		s->runs.v[i].n = 0;
	}
	return true;
}

static bool refill(struct sorter *s, struct sort_run *r, struct incore_error *e)
{
	size_t share = s->buf.cap / s->runs.n, want = r->left < share ? (size_t)r->left : share;
	size_t bytes = want * sizeof(struct sort_entry), got = 0;

	while (got < bytes) {
		ssize_t n = pread(s->fd, (uint8_t *)r->buf + got, bytes - got,
			(off_t)(r->at * sizeof(struct sort_entry) + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(
				e, n < 0 ? errno : EIO, s->dir, "cannot read a file to sort in");
		got += (size_t)n;
	}
	r->at += want;
	r->left -= want;
	r->n = want;
	r->next = 0;
	return true;
}

bool sorter_next(struct sorter *s, struct sort_entry *out, bool *has, struct incore_error *e)
{
	struct sort_run *best = NULL;

	if (s->runs.n == 0) {
		*has = s->next < s->buf.n;
		if (*has)
			*out = s->buf.v[s->next++];
		return true;
	}
	EACH (struct sort_run, r, s->runs.v, s->runs.n) {
		if (r->next == r->n && r->left && !refill(s, r, e))
			return false;
		if (r->next < r->n &&
			(!best || compare(&r->buf[r->next], &best->buf[best->next]) < 0))
			best = r;
	}
	*has = best != NULL;
	if (best)
		*out = best->buf[best->next++];
	return true;
}
