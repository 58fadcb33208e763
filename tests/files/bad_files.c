/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bad_files.c: preloaded into a program, spoils its files as the environment says.
 *   SHRINK=SUFFIX     a file whose path ends so is emptied right after it was mapped
 *   NO_OPENAT2=1      the kernel has no openat2()
 *   FULL_AFTER=BYTES  write() fails with ENOSPC once so many bytes were written, stderr aside
 *   KILL_AFTER=BYTES  once so many bytes were written, the signal $KILL_WITH is raised
 *   COUNT_FAILED=FILE how often openat() and openat2() failed is written there at the end
 */
/* The names of both widths are defined here, so none may be an alias of the other. */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OPENAT2 437

typedef void *(*mmap_fn)(void *p, size_t n, int prot, int flags, int fd, off_t at);
typedef long (*syscall_fn)(long number, ...);
typedef int (*openat_fn)(int dir_fd, const char *path, int flags, ...);
typedef ssize_t (*write_fn)(int fd, const void *p, size_t n);

static atomic_long n_failed, n_written;

#define REAL(type, name)                                                                           \
	static type real;                                                                          \
	if (!real) {                                                                               \
		void *symbol = dlsym(RTLD_NEXT, name);                                             \
                                                                                                   \
		memcpy(&real, &symbol, sizeof(real));                                              \
	}

static void shrink(int fd)
{
	const char *suffix = getenv("SHRINK");
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = suffix && fd >= 0 ? readlink(link, path, sizeof(path) - 1) : -1;
	if (n < (ssize_t)strlen(suffix ? suffix : ""))
		return;
	path[n] = '\0';
	if (strcmp(path + n - strlen(suffix), suffix) == 0 && truncate(path, 0) != 0)
		abort();
}

void *mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
	void *got;

	REAL(mmap_fn, "mmap");
	got = real(p, n, prot, flags, fd, at);
	shrink(fd);
	return got;
}

void *mmap64(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
	return mmap(p, n, prot, flags, fd, at);
}

long syscall(long number, ...)
{
	long a[6], result;
	va_list args;

	REAL(syscall_fn, "syscall");
	va_start(args, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == OPENAT2 && getenv("NO_OPENAT2")) {
		errno = ENOSYS;
		return -1;
	}
	result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == OPENAT2 && result < 0)
		atomic_fetch_add(&n_failed, 1);
	return result;
}

int openat(int dir_fd, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;
	int fd;

	REAL(openat_fn, "openat");
	va_start(args, flags);
	mode = va_arg(args, mode_t); /* garbage where there is none, and then not looked at */
	va_end(args);
	fd = real(dir_fd, path, flags, mode);
	if (fd < 0)
		atomic_fetch_add(&n_failed, 1);
	return fd;
}

int openat64(int dir_fd, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return openat(dir_fd, path, flags, mode);
}

ssize_t write(int fd, const void *p, size_t n)
{
	const char *full = getenv("FULL_AFTER"), *kill_at = getenv("KILL_AFTER");
	long so_far = fd == STDERR_FILENO ? 0 : atomic_fetch_add(&n_written, (long)n) + (long)n;

	REAL(write_fn, "write");
	if (kill_at && so_far > atol(kill_at) && fd != STDERR_FILENO) {
		unsetenv("KILL_AFTER");
		raise(atoi(getenv("KILL_WITH")));
	}
	if (full && so_far > atol(full)) {
		errno = ENOSPC;
		return -1;
	}
	return real(fd, p, n);
}

__attribute__((destructor)) static void say(void)
{
	const char *path = getenv("COUNT_FAILED");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f) {
		fprintf(f, "%ld\n", atomic_load(&n_failed));
		fclose(f);
	}
}
