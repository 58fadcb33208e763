/* SPDX-License-Identifier: Apache-2.0 */
/* file_root.c: opens files below a directory, and no others. */
#include "base/file_root.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* O_NONBLOCK: a FIFO must not make us wait for its writer */
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
#define LIST_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define FIND_FLAGS (O_PATH | O_CLOEXEC)

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#define RESOLVE_BELOW 0x08 /* RESOLVE_BENEATH of linux/openat2.h, which older headers lack */

#define MOST_LINKS 40 /* as many as the kernel follows */
#define MOST_LEVELS 128

struct open_request { /* struct open_how */
	uint64_t flags, mode, resolve;
};

/*
 * Follows a name part by part and never lets the kernel follow a link: for kernels without
 * openat2(), and for absolute links, which openat2() refuses even if they stay inside. The walk is
 * inside once it reaches the inode of the root; ".." returns to the directory that it came from,
 * which is right even if others move directories meanwhile.
 */
struct walk {
	struct stat root;
	int at[MOST_LEVELS]; /* the directories on the way; if is_inside, the first is the root */
	unsigned n, n_links;
	bool is_inside;
	char rest[PATH_MAX]; /* part of the name still to be followed */
};

bool file_root_open(struct file_root *r, const char *dir, bool follow_links)
{
	return file_root_open_below(r, FILE_ANYWHERE, *dir ? dir : ".", follow_links);
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

static void leave_all(struct walk *w)
{
	while (w->n)
		close(w->at[--w->n]);
}

static bool is_root(const struct walk *w, const struct stat *st)
{
	return st->st_dev == w->root.st_dev && st->st_ino == w->root.st_ino;
}

/* Enters a directory; takes the descriptor. */
static bool enter(struct walk *w, int fd, const struct stat *st)
{
	if (is_root(w, st)) {
		leave_all(w);
		w->is_inside = true;
	}
	if (w->n == MOST_LEVELS) {
		close(fd);
		errno = ENAMETOOLONG;
		return false;
	}
	w->at[w->n++] = fd;
	return true;
}

/* Continues at another directory, which may be outside. Takes the descriptor. */
static bool restart(struct walk *w, int fd)
{
	struct stat st;

	leave_all(w);
	w->is_inside = false;
	if (fd < 0 || fstat(fd, &st) != 0) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	return enter(w, fd, &st);
}

static bool go_up(struct walk *w)
{
	if (w->n == 1)
		return restart(w, openat(w->at[0], "..", FIND_FLAGS | O_DIRECTORY));
	close(w->at[--w->n]);
	return true;
}

/* Puts the target of the link in front of the rest of the name. */
static bool follow(struct walk *w, int link)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof(target));
	size_t left = strlen(w->rest);

	if (n <= 0)
		return false;
	errno = ++w->n_links > MOST_LINKS ? ELOOP : ENAMETOOLONG;
	if (w->n_links > MOST_LINKS || (size_t)n + 1 + left >= sizeof(w->rest))
		return false;
	memmove(w->rest + n + 1, w->rest, left + 1);
	memcpy(w->rest, target, (size_t)n);
	w->rest[n] = '/';
	return target[0] != '/' || restart(w, open("/", FIND_FLAGS | O_DIRECTORY));
}

/* Takes the next part of the name; one that is too long is cut but stays too long. False: the name
 * is used up. */
static bool next_part(struct walk *w, char part[NAME_MAX + 2])
{
	const char *from = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(from, "/"), most = n > NAME_MAX ? NAME_MAX + 1 : n;

	memcpy(part, from, most);
	part[most] = '\0';
	memmove(w->rest, from + n, strlen(from + n) + 1);
	return n > 0;
}

/* Opens what the walk found by its name in its directory. Closes `found`, or returns it for O_PATH.
 */
static int open_last(const struct walk *w, int found, const char *part, int flags)
{
	int fd = -1;

	errno = w->rest[strspn(w->rest, "/")] ? ENOTDIR : EXDEV;
	if (errno == EXDEV && w->is_inside && (flags & O_PATH))
		return found;
	if (errno == EXDEV && w->is_inside) {
		fd = openat(w->at[w->n - 1], part, flags | O_NOFOLLOW);
		if (fd < 0 && errno == ELOOP) /* it was a file a moment ago */
			errno = EXDEV;
	}
	close(found);
	return fd;
}

/* Follows one part of the name; opens *fd if that was not a directory, and so the last part. */
static bool step(struct walk *w, const char *part, int flags, int *fd)
{
	struct stat st;
	int found;
	bool ok;

	if (strcmp(part, ".") == 0)
		return true;
	if (strcmp(part, "..") == 0)
		return go_up(w);
	found = openat(w->at[w->n - 1], part, FIND_FLAGS | O_NOFOLLOW);
	if (found < 0)
		return false;
	if (fstat(found, &st) != 0) {
		close(found);
		return false;
	}
	if (S_ISDIR(st.st_mode))
		return enter(w, found, &st);
	if (S_ISLNK(st.st_mode) && (!(flags & O_NOFOLLOW) || w->rest[strspn(w->rest, "/")])) {
		ok = follow(w, found);
		close(found);
		return ok;
	}
	*fd = open_last(w, found, part, flags);
	return *fd >= 0;
}

static int open_walking(int root, const char *name, int flags)
{
	struct walk w = {.n = 0};
	char part[NAME_MAX + 2];
	int fd = -1, errnum;
	bool ok;

	errno = ENAMETOOLONG;
	if (strlen(name) >= sizeof(w.rest) || fstat(root, &w.root) != 0)
		return -1;
	strcpy(w.rest, name);
	ok = restart(&w, name[0] == '/' ? open("/", FIND_FLAGS | O_DIRECTORY)
					: openat(root, ".", FIND_FLAGS | O_DIRECTORY));
	while (ok && fd < 0 && next_part(&w, part))
		ok = step(&w, part, flags, &fd);
	if (ok && fd < 0 && w.is_inside)
		fd = openat(w.at[w.n - 1], ".", flags);
	errnum = w.is_inside ? errno : EXDEV;
	leave_all(&w);
	errno = errnum;
	return fd;
}

static int open_as(struct file_root r, const char *name, int flags)
{
	struct open_request how = {.flags = (uint64_t)flags, .resolve = RESOLVE_BELOW};
	int fd;

	errno = EXDEV;
	if (r.fd == -1)
		return -1;
	if (r.follow_links)
		return openat(r.fd, name, flags);
	fd = (int)syscall(SYS_openat2, r.fd, name, &how, sizeof(how));
	/* EPERM: some sandboxes return it for system calls that they do not know. */
	if (fd < 0 && (errno == EXDEV || errno == ENOSYS || errno == EPERM || errno == EAGAIN))
		fd = open_walking(r.fd, name, flags);
	return fd;
}

bool file_root_open_below(
	struct file_root *r, struct file_root above, const char *name, bool follow_links)
{
	r->fd = open_as(above, name, FIND_FLAGS | O_DIRECTORY);
	r->follow_links = follow_links;
	return r->fd >= 0;
}

int file_open_below(struct file_root r, const char *name)
{
	return open_as(r, name, READ_FLAGS);
}

int file_open_dir_below(struct file_root r, const char *name)
{
	return open_as(r, name, LIST_FLAGS);
}

static int stat_as(struct file_root r, const char *name, struct stat *st, int nofollow)
{
	int fd, failed;

	if (r.follow_links)
		return fstatat(r.fd, name, st, nofollow ? AT_SYMLINK_NOFOLLOW : 0) == 0 ? 0 : errno;
	fd = open_as(r, name, FIND_FLAGS | nofollow);
	if (fd < 0)
		return errno;
	failed = fstat(fd, st) == 0 ? 0 : errno;
	close(fd);
	return failed;
}

int file_stat_below(struct file_root r, const char *name, struct stat *st)
{
	return stat_as(r, name, st, 0);
}

int file_lstat_below(struct file_root r, const char *name, struct stat *st)
{
	return stat_as(r, name, st, O_NOFOLLOW);
}
