/* SPDX-License-Identifier: Apache-2.0 */
/* file_root.c: opening what lies below a directory, and nothing else. */
#include "base/file_root.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* O_NONBLOCK: a FIFO must not make us wait for its writer */
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#define RESOLVE_BELOW 0x08 /* RESOLVE_BENEATH of linux/openat2.h, which older headers lack */

struct open_request { /* struct open_how */
	uint64_t flags, mode, resolve;
};

bool file_root_open(struct file_root *r, const char *dir, bool follow_links)
{
	r->fd = open(*dir ? dir : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	r->follow_links = follow_links;
	return r->fd >= 0;
}

const char *file_name_below(const char *dir, const char *path)
{
	size_t n = strlen(dir);
	const char *rest = path + n;

	if (strncmp(path, dir, n) != 0 || (n && dir[n - 1] != '/' && *rest != '/'))
		return path;
	while (n && *rest == '/')
		rest++;
	return rest;
}

/* Where an open file lies; false without /proc. */
static bool place_of(int fd, char link[40], char place[PATH_MAX])
{
	ssize_t n;

	snprintf(link, 40, "/proc/self/fd/%d", fd);
	n = readlink(link, place, PATH_MAX - 1);
	place[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/*
 * For kernels without openat2(), and for absolute links, which it refuses also where they stay
 * inside: finds the file without opening it, asks where it lies, and opens just that.
 */
static int open_found(int dir_fd, const char *name)
{
	char link[40], root[PATH_MAX], place[PATH_MAX];
	int found = openat(dir_fd, name, O_PATH | O_CLOEXEC), fd = -1, errnum = EXDEV;

	if (found < 0)
		return -1;
	if (place_of(dir_fd, link, root) && place_of(found, link, place)) {
		if (strcmp(file_name_below(root, place), place) != 0) {
			fd = open(link, READ_FLAGS);
			errnum = errno;
		}
	} else if (!strchr(name, '/')) {
		fd = openat(dir_fd, name, READ_FLAGS | O_NOFOLLOW);
		errnum = errno == ELOOP ? EXDEV : errno;
	}
	close(found);
	errno = errnum;
	return fd;
}

int file_open_below(struct file_root r, const char *name)
{
	struct open_request how = {.flags = READ_FLAGS, .resolve = RESOLVE_BELOW};
	bool is_out;
	int fd;

	if (r.follow_links)
		return openat(r.fd, name, READ_FLAGS);
	fd = (int)syscall(SYS_openat2, r.fd, name, &how, sizeof(how));
	is_out = fd < 0 && errno == EXDEV;
	/* EPERM: some sandboxes say so of a call that they do not know. */
	if (fd >= 0 || !(is_out || errno == ENOSYS || errno == EPERM || errno == EAGAIN))
		return fd;
	fd = open_found(r.fd, name);
	if (fd < 0 && is_out)
		errno = EXDEV;
	return fd;
}
