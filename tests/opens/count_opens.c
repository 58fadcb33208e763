/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count_opens.c: preloaded into a program, writes the path of every file that it opens for reading
 * to the file that $COUNT_OPENS names, a line each. Directories are left out: who reads one, opens
 * it; so are files that are not there.
 */
/* The names of both widths are defined here, so none may be an alias of the other. */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int (*openat_fn)(int dir_fd, const char *path, int flags, ...);

static openat_fn real_openat(void)
{
	static openat_fn found;
	openat_fn fn = found;
	void *symbol;

	if (!fn) {
		symbol = dlsym(RTLD_NEXT, "openat");
		memcpy(&fn, &symbol, sizeof(fn));
		found = fn;
	}
	return fn;
}

/* One write per line, so that threads do not cut each other's. */
static void write_line(int fd)
{
	const char *list = getenv("COUNT_OPENS");
	char link[64], line[PATH_MAX + 1];
	struct stat st;
	ssize_t n;
	int out;

	/* O_PATH: it is asked about, not read */
	if (!list || (fcntl(fd, F_GETFL) & O_PATH) || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, line, PATH_MAX);
	out = real_openat()(AT_FDCWD, list, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (n > 0 && out >= 0) {
		line[n] = '\n';
		if (write(out, line, (size_t)n + 1) < 0)
			abort();
	}
	if (out >= 0)
		close(out);
}

static int open_counted(int dir_fd, const char *path, int flags, mode_t mode)
{
	int fd = real_openat()(dir_fd, path, flags, mode);

	if (fd >= 0 && (flags & O_ACCMODE) == O_RDONLY)
		write_line(fd);
	return fd;
}

typedef long (*syscall_fn)(long number, ...);

/* openat2() has no name of its own in the C library. */
long syscall(long number, ...)
{
	static syscall_fn real;
	long a[6];
	va_list args;
	void *symbol;
	long result;

	va_start(args, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!real) {
		symbol = dlsym(RTLD_NEXT, "syscall");
		memcpy(&real, &symbol, sizeof(real));
	}
	result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == 437 && result >= 0)
		write_line((int)result);
	return result;
}

#define MODE_OF(flags)                                                                             \
	mode_t mode = 0;                                                                           \
	va_list args;                                                                              \
                                                                                                   \
	va_start(args, flags);                                                                     \
	if ((flags) & (O_CREAT | O_TMPFILE))                                                       \
		mode = va_arg(args, mode_t);                                                       \
	va_end(args)

int open(const char *path, int flags, ...)
{
	MODE_OF(flags);
	return open_counted(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	MODE_OF(flags);
	return open_counted(AT_FDCWD, path, flags, mode);
}

int openat(int dir_fd, const char *path, int flags, ...)
{
	MODE_OF(flags);
	return open_counted(dir_fd, path, flags, mode);
}

int openat64(int dir_fd, const char *path, int flags, ...)
{
	MODE_OF(flags);
	return open_counted(dir_fd, path, flags, mode);
}
