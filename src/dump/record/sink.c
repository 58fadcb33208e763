/* SPDX-License-Identifier: Apache-2.0 */
/* sink.c: appends to the payload file and the log, and copes with write errors. */
#include "dump/record/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "dump/le.h"
#include "dump/manifest_write.h"
#include "dump/record/log_write.h"

static int create(int dir_fd, const char *name, int *fd)
{
	*fd = fault_hit(FAULT_OPEN)
		      ? (errno = EACCES, -1)
		      : openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return *fd < 0 ? errno : 0;
}

/* A finished dump must not be mixed with a new one. */
static bool has_dump(int dir_fd)
{
	struct stat st;

	for (int older = 0; older < 2; older++)
		if (fstatat(dir_fd, manifest_file_name(older), &st, AT_SYMLINK_NOFOLLOW) == 0 ||
			fstatat(dir_fd, manifest_bin_name(older), &st, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	return fstatat(dir_fd, LOG_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int sink_open(struct dump_sink *s, const char *dir, bool is_older)
{
	uint8_t head[LOG_HEAD_BYTES];
	bool has_bin = false, has_log = false;
	size_t done;
	int rc;

	*s = (struct dump_sink){.dir_fd = -1, .bin_fd = -1, .log_fd = -1};
	s->bin_name = manifest_bin_name(is_older);
	s->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return errno;
	rc = has_dump(s->dir_fd) ? EEXIST : create(s->dir_fd, s->bin_name, &s->bin_fd);
	has_bin = rc == 0;
	if (rc == 0) {
		rc = create(s->dir_fd, LOG_FILE, &s->log_fd);
		has_log = rc == 0;
	}
	if (rc == 0) {
		log_put_file_head(head);
		rc = sink_write_log(s, head, sizeof(head), &done);
	}
	if (rc == 0)
		return 0;
	if (has_bin)
		unlinkat(s->dir_fd, s->bin_name, 0);
	if (has_log)
		unlinkat(s->dir_fd, LOG_FILE, 0);
	sink_close(s);
	return rc;
}

void sink_close(struct dump_sink *s)
{
	if (s->log_fd >= 0)
		close(s->log_fd);
	if (s->bin_fd >= 0)
		close(s->bin_fd);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	s->dir_fd = s->bin_fd = s->log_fd = -1;
}

int sink_write_bin(struct dump_sink *s, struct iovec *iov, int n, uint64_t at, uint64_t *done)
{
	*done = 0;
	while (n > 0) {
		ssize_t got = fault_hit(FAULT_WRITE)
				      ? (errno = ENOSPC, -1)
				      : pwritev(s->bin_fd, iov, n, (off_t)(at + *done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? errno : EIO;
		*done += (uint64_t)got;
		while (n > 0 && (size_t)got >= iov->iov_len) {
			got -= (ssize_t)iov->iov_len;
			iov++;
			n--;
		}
		if (n > 0) {
			iov->iov_base = (uint8_t *)iov->iov_base + got;
			iov->iov_len -= (size_t)got;
		}
	}
	return 0;
}

static int cut_log(struct dump_sink *s)
{
	if (!s->must_cut)
		return 0;
	if (ftruncate(s->log_fd, (off_t)s->log_end) != 0)
		return errno;
	s->must_cut = false;
	return 0;
}

/* Bytes of the whole records among the first n. */
static size_t whole_records(const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (n - at >= 8 && le_get32(p + at) == LOG_MAGIC && le_get32(p + at + 4) <= n - at)
		at += le_get32(p + at + 4);
	return at;
}

int sink_write_log(struct dump_sink *s, const uint8_t *p, size_t n, size_t *done)
{
	size_t got = 0;
	int rc = cut_log(s);

	*done = 0;
	while (rc == 0 && got < n) {
		ssize_t k = fault_hit(FAULT_WRITE) ? (errno = ENOSPC, -1)
						   : pwrite(s->log_fd, p + got, n - got,
							     (off_t)(s->log_end + got));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			rc = k < 0 ? errno : EIO;
		else
			got += (size_t)k;
	}
	*done = rc == 0 ? n : whole_records(p, got);
	s->log_end += *done;
	if (got > *done) {
		s->must_cut = true;
		cut_log(s); /* if it fails, it is retried before the next append */
	}
	return rc;
}

int sink_sync(struct dump_sink *s)
{
	if (fault_hit(FAULT_WRITE))
		return EIO;
	if (fdatasync(s->bin_fd) != 0 || fdatasync(s->log_fd) != 0)
		return errno;
	return 0;
}

int sink_trim(struct dump_sink *s)
{
	struct stat st;
	int rc = cut_log(s);

	if (rc == 0 && fstat(s->bin_fd, &st) != 0)
		rc = errno;
	if (rc == 0 && (uint64_t)st.st_size > s->bin_end &&
		ftruncate(s->bin_fd, (off_t)s->bin_end) != 0)
		rc = errno;
	return rc;
}
