/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_stream.c: a FILE that remembers why a write failed, and on which file. The C library drops
 * what it could not write and later reports only ferror().
 */
#include "base/file.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct out_stream {
	int fd;
	char path[];
};

/* The last failure; global because it is reported later, by code that knows only a FILE. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int errnum; /* 0: none */
	char path[1024];
} failure;

static ssize_t stream_write(void *cookie, const char *p, size_t n)
{
	const struct out_stream *s = cookie;
	size_t done = 0;

	while (done < n) {
		ssize_t k = write(s->fd, p + done, n - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			pthread_mutex_lock(&lock);
			failure.errnum = errno;
			memccpy(failure.path, s->path, '\0', sizeof(failure.path) - 1);
			pthread_mutex_unlock(&lock);
			break;
		}
		done += (size_t)k;
	}
	return (ssize_t)done;
}

static ssize_t stream_read(void *cookie, char *p, size_t n)
{
	return read(((const struct out_stream *)cookie)->fd, p, n);
}

static int stream_seek(void *cookie, off64_t *at, int whence)
{
	off_t now = lseek(((const struct out_stream *)cookie)->fd, *at, whence);

	*at = now;
	return now < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
	int failed = close(((struct out_stream *)cookie)->fd);

	mem_free(cookie);
	return failed;
}

FILE *out_stream(int fd, const char *mode, const char *path)
{
	static const cookie_io_functions_t functions = {
		stream_read, stream_write, stream_seek, stream_close};
	size_t n = strlen(path) + 1;
	struct out_stream *s = mem_alloc(sizeof(*s) + n);
	FILE *f = NULL;

	if (s) {
		s->fd = fd;
		memcpy(s->path, path, n);
		f = fopencookie(s, mode, functions);
	}
	if (!f) {
		mem_free(s);
		errno = ENOMEM;
	}
	return f;
}

int out_stream_errno(void)
{
	int errnum;

	pthread_mutex_lock(&lock);
	errnum = failure.errnum ? failure.errnum : EIO;
	pthread_mutex_unlock(&lock);
	return errnum;
}

/* A target that cannot be created or written is not the fault of the input. */
bool err_output(struct incore_error *e, int errnum, const char *path, const char *what)
{
	err_errno(e, errnum, path, what);
	if (e)
		e->status = INCORE_FAILED;
	if (e && (errnum == EACCES || errnum == EPERM || errnum == EROFS))
		e->code = "not-writable";
	return false;
}

bool err_write(struct incore_error *e)
{
	int errnum = out_stream_errno();

	pthread_mutex_lock(&lock);
	err_output(e, errnum, *failure.path ? failure.path : NULL, "cannot write");
	pthread_mutex_unlock(&lock);
	return false;
}
