/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root.c: a root folder with only the given paths. Landlock hides the content of files but not
 * their names: a source could probe for them (__has_include). Here they do not exist. Links on the
 * way to a path are recreated, so that every name leads where it led. All with raw system calls, in
 * a child that must not allocate.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/walls.h"

#define MOST_LINKS 40u

/* The numbers are the same on every architecture. */
enum { OPEN_TREE = 428, MOVE_MOUNT = 429, FS_OPEN = 430, FS_CONFIG = 431, FS_MOUNT = 432 };
enum { CLONE_WHOLE_TREE = 0x8001, MOVE_THIS = 4, NO_SETUID_NO_DEVICES = 6 };
enum { CONFIG_TEXT = 1, CONFIG_CREATE = 6 };

struct new_root {
	int fd;		     /* of its folder */
	char cwd[PATH_MAX];  /* real name of the current directory */
	char done[PATH_MAX], /* real name of the part walked so far; "": the root */
		rest[PATH_MAX] /* not yet looked at */, link[PATH_MAX];
};

/* Makes a/b of a. */
static bool append(char *to, const char *name, size_t n)
{
	size_t at = strlen(to);

	if (at + n + 2 > PATH_MAX)
		return false;
	to[at] = '/';
	memcpy(to + at + 1, name, n);
	to[at + 1 + n] = '\0';
	return true;
}

/* Puts the target of a link in front of rest: b/rest or /b/rest. */
static bool prepend(char *rest, const char *link, size_t n)
{
	size_t have = strlen(rest);

	if (n + have + 2 > PATH_MAX)
		return false;
	memmove(rest + n + 1, rest, have + 1);
	memcpy(rest, link, n);
	rest[n] = '/';
	return true;
}

/* r->done is a link in the old root: recreates it in the new one, and follows it. */
static bool follow(struct new_root *r)
{
	ssize_t n = readlink(r->done, r->link, sizeof(r->link) - 1);

	if (n <= 0)
		return false;
	r->link[n] = '\0';
	if (symlinkat(r->link, r->fd, r->done + 1) != 0 && errno != EEXIST)
		return false;
	if (r->link[0] == '/')
		r->done[0] = '\0';
	else
		*strrchr(r->done, '/') = '\0';
	return prepend(r->rest, r->link, (size_t)n);
}

/* Moves the next name of r->rest to the end of r->done. */
static bool step(struct new_root *r)
{
	size_t n = strcspn(r->rest, "/");
	bool ok = true;

	if (n == 2 && memcmp(r->rest, "..", 2) == 0) {
		if (r->done[0])
			*strrchr(r->done, '/') = '\0';
	} else if (n && !(n == 1 && r->rest[0] == '.')) {
		ok = append(r->done, r->rest, n);
	}
	n += strspn(r->rest + n, "/");
	memmove(r->rest, r->rest + n, strlen(r->rest + n) + 1);
	return ok;
}

/* Creates the folders and links along a path of the old root; *st describes what r->done then is.
 * False: the path does not exist, or cannot be made. */
static bool walk(struct new_root *r, const char *path, struct stat *st)
{
	unsigned n_links = 0;
	size_t n = strlen(path);

	r->done[0] = '\0';
	if (n >= sizeof(r->rest) || (*path != '/' && strlen(r->cwd) > 1 &&
					    !append(r->done, r->cwd + 1, strlen(r->cwd + 1))))
		return false;
	memcpy(r->rest, path, n + 1);
	memmove(r->rest, r->rest + strspn(r->rest, "/"), n + 1 - strspn(r->rest, "/"));
	do {
		if (!step(r) || lstat(r->done[0] ? r->done : "/", st) != 0)
			return false;
		if (S_ISLNK(st->st_mode)) {
			if (++n_links > MOST_LINKS || !follow(r))
				return false;
		} else if (S_ISDIR(st->st_mode) && r->done[0] &&
			   mkdirat(r->fd, r->done + 1, 0755) != 0 && errno != EEXIST) {
			return false;
		}
	} while (r->rest[0]);
	return true;
}

/* Mounts a path of the old root, with all below it, if it exists and is not in the new root yet. */
static bool place(struct new_root *r, const char *path)
{
	struct stat st, seen;
	int fd;
	bool ok;

	if (!walk(r, path, &st))
		return true;
	if (!r->done[0])
		return false;
	if (fstatat(r->fd, r->done + 1, &seen, 0) == 0) {
		if (st.st_dev == seen.st_dev && st.st_ino == seen.st_ino)
			return true;
	} else { /* a file: make a mount point for it */
		fd = openat(r->fd, r->done + 1, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
		if (fd < 0 || close(fd) != 0)
			return false;
	}
	fd = (int)syscall(OPEN_TREE, AT_FDCWD, r->done, CLONE_WHOLE_TREE | O_CLOEXEC);
	ok = fd >= 0 && syscall(MOVE_MOUNT, fd, "", r->fd, r->done + 1, MOVE_THIS) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool place_all(struct new_root *r, const struct walls *w)
{
	const char *const *const lists[] = {w->programs, w->readable, w->writable};
	struct stat st;
	bool ok = walk(r, r->cwd, &st);

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const char *const *p = lists[i]; ok && p && *p; p++)
			ok = place(r, *p);
	return ok;
}

/* An empty folder in memory, mounted over the root; lookups still start below it. -1: not allowed.
 */
static int make_empty(void)
{
	int fs = (int)syscall(FS_OPEN, "tmpfs", 1), fd = -1;

	if (fs >= 0 && syscall(FS_CONFIG, fs, CONFIG_TEXT, "mode", "755", 0) == 0 &&
		syscall(FS_CONFIG, fs, CONFIG_CREATE, NULL, NULL, 0) == 0)
		fd = (int)syscall(FS_MOUNT, fs, 1, NO_SETUID_NO_DEVICES);
	if (fs >= 0)
		close(fs);
	if (fd >= 0 && syscall(MOVE_MOUNT, fd, "", AT_FDCWD, "/", MOVE_THIS) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool walls_hide(const struct walls *w)
{
	static struct new_root r; /* we are a child with one thread and little stack */
	bool ok;

	if (syscall(SYS_getcwd, r.cwd, sizeof(r.cwd)) <= 0 || r.cwd[0] != '/' ||
		syscall(SYS_unshare, CLONE_NEWNS) != 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return false;
	r.fd = make_empty();
	if (r.fd < 0)
		return false;
	ok = place_all(&r, w) && fchdir(r.fd) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
	     umount2(".", MNT_DETACH) == 0;
	close(r.fd);
	return chdir(r.cwd) == 0 && ok;
}
