/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c: whole files into memory, names of directories, paths.
 *
 * Parts: what lies below a folder; within which folders; reading and asking; files that stay open.
 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file_fence.h"
#include "base/file_root.h"
#include "base/file_store.h"
#include "base/map_guard.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

/* --- what lies below a folder ----------------------------------------------------------------- */

/* Opens files below a directory, and no others. */

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
struct root_walk {
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

static void leave_all(struct root_walk *w)
{
	while (w->n)
		close(w->at[--w->n]);
}

static bool is_root(const struct root_walk *w, const struct stat *st)
{
	return st->st_dev == w->root.st_dev && st->st_ino == w->root.st_ino;
}

/* Enters a directory; takes the descriptor. */
static bool file_root_enter(struct root_walk *w, int fd, const struct stat *st)
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
static bool restart(struct root_walk *w, int fd)
{
	struct stat st;

	leave_all(w);
	w->is_inside = false;
	if (fd < 0 || fstat(fd, &st) != 0) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	return file_root_enter(w, fd, &st);
}

static bool go_up(struct root_walk *w)
{
	if (w->n == 1)
		return restart(w, openat(w->at[0], "..", FIND_FLAGS | O_DIRECTORY));
	close(w->at[--w->n]);
	return true;
}

/* Puts the target of the link in front of the rest of the name. */
static bool file_root_follow(struct root_walk *w, int link)
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
static bool file_root_next_part(struct root_walk *w, char part[NAME_MAX + 2])
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
static int open_last(const struct root_walk *w, int found, const char *part, int flags)
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
static bool file_root_step(struct root_walk *w, const char *part, int flags, int *fd)
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
		return file_root_enter(w, found, &st);
	if (S_ISLNK(st.st_mode) && (!(flags & O_NOFOLLOW) || w->rest[strspn(w->rest, "/")])) {
		ok = file_root_follow(w, found);
		close(found);
		return ok;
	}
	*fd = open_last(w, found, part, flags);
	return *fd >= 0;
}

static int open_walking(int root, const char *name, int flags)
{
	struct root_walk w = {.n = 0};
	char part[NAME_MAX + 2];
	int fd = -1, errnum;
	bool ok;

	errno = ENAMETOOLONG;
	if (strlen(name) >= sizeof(w.rest) || fstat(root, &w.root) != 0)
		return -1;
	strcpy(w.rest, name);
	ok = restart(&w, name[0] == '/' ? open("/", FIND_FLAGS | O_DIRECTORY)
					: openat(root, ".", FIND_FLAGS | O_DIRECTORY));
	while (ok && fd < 0 && file_root_next_part(&w, part))
		ok = file_root_step(&w, part, flags, &fd);
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

/* --- within which folders --------------------------------------------------------------------- */

/* Looks up paths below the folder that they lie in. */

static bool dir_each_below(struct file_root root, const char *name, const char *dir, dir_fn fn,
	void *ctx, struct incore_error *e);

bool file_fence_add(struct file_fence *f, const char *path, struct incore_error *e)
{
	size_t n = strlen(path);
	struct fenced x = {.fd = -1};
	struct file_root root;

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (size_t i = 0; i < f->v.n; i++)
		if (strlen(f->v.v[i].path) == n && strncmp(f->v.v[i].path, path, n) == 0)
			return true;
	if (file_root_open(&root, path, false))
		x.fd = root.fd;
	x.path = mem_strndup(path, n);
	if (x.path && VEC_PUSH(&f->v, x))
		return true;
	mem_free(x.path);
	if (x.fd >= 0)
		close(x.fd);
	return err_nomem(e);
}

void file_fence_deinit(struct file_fence *f)
{
	for (size_t i = 0; i < f->v.n; i++) {
		mem_free(f->v.v[i].path);
		if (f->v.v[i].fd >= 0)
			close(f->v.v[i].fd);
	}
	VEC_FREE(&f->v);
	*f = (struct file_fence){0};
}

/* The part of path after the folder, "" for the folder itself; NULL: path lies elsewhere. */
static const char *file_fence_behind(const char *folder, const char *path)
{
	size_t n = strlen(folder);

	if (n == 0)
		return *path == '/' ? NULL : path;
	if (strncmp(path, folder, n) != 0 ||
		(folder[n - 1] != '/' && path[n] != '/' && path[n] != '\0'))
		return NULL;
	return path + n + strspn(path + n, "/");
}

struct file_root file_fence_root(const struct file_fence *f, const char *path, const char **name)
{
	const struct fenced *best = NULL;

	*name = path;
	for (size_t i = 0; f && i < f->v.n; i++)
		if (file_fence_behind(f->v.v[i].path, path) &&
			(!best || strlen(best->path) < strlen(f->v.v[i].path)))
			best = &f->v.v[i];
	if (!best)
		return f && f->is_all ? FILE_NOWHERE : FILE_ANYWHERE;
	if (best->fd < 0)
		return *file_fence_behind(best->path, path) ? FILE_NOWHERE : FILE_ANYWHERE;
	*name = file_fence_behind(best->path, path);
	*name = **name ? *name : ".";
	return (struct file_root){best->fd, false};
}

int file_stat_in(const struct file_fence *f, const char *path, struct stat *st)
{
	const char *name;
	struct file_root r = file_fence_root(f, path, &name);

	return file_stat_below(r, name, st);
}

int file_lstat_in(const struct file_fence *f, const char *path, struct stat *st)
{
	const char *name;
	struct file_root r = file_fence_root(f, path, &name);

	return file_lstat_below(r, name, st);
}

bool file_exists_in(const struct file_fence *f, const char *path)
{
	struct stat st;

	return file_stat_in(f, path, &st) == 0;
}

bool file_is_dir_in(const struct file_fence *f, const char *path)
{
	struct stat st;

	return file_stat_in(f, path, &st) == 0 && S_ISDIR(st.st_mode);
}

int64_t file_size_in(const struct file_fence *f, const char *path)
{
	struct stat st;

	return file_stat_in(f, path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

bool file_load_in(
	const struct file_fence *f, struct file_data *out, const char *path, struct incore_error *e)
{
	const char *name;
	struct file_root r = file_fence_root(f, path, &name);

	return file_load_at(out, r, name, path, e);
}

bool dir_each_in(
	const struct file_fence *f, const char *dir, dir_fn fn, void *ctx, struct incore_error *e)
{
	const char *name;
	struct file_root r = file_fence_root(f, dir, &name);

	return dir_each_below(r, name, dir, fn, ctx, e);
}

/* --- reading and asking ----------------------------------------------------------------------- */

/* Reading into a warm buffer beats mapping up to here: no page faults, no unmapping. */
#define FILE_READ_MOST_BYTES ((size_t)4 << 20)

/* Releases a mapping; the buffer stays for the next load. */
static void file_unmap(struct file_data *f)
{
	if (f->map) {
		map_guard_drop(f->map);
		munmap(f->map, f->map_size);
	}
	f->map = NULL;
	f->map_size = 0;
}

void file_unload(struct file_data *f)
{
	file_unmap(f);
	mem_free(f->buf);
	*f = (struct file_data){0};
}

bool file_hold(struct file_data *f, struct strbuf *b, struct incore_error *e)
{
	if (!sb_reserve(b, FILE_PAD))
		return err_nomem(e);
	memset(b->p + b->n, 0, FILE_PAD);
	file_unload(f);
	*f = (struct file_data){
		.data = (uint8_t *)b->p, .size = b->n, .buf = (uint8_t *)b->p, .buf_cap = b->cap};
	*b = (struct strbuf){0};
	return true;
}

static bool load_read(
	struct file_data *f, int fd, size_t size, const char *path, struct incore_error *e)
{
	size_t got = 0;

	if (f->buf_cap < size + FILE_PAD) {
		/* Exactly as large as needed for the first file; later at least doubled. */
		size_t cap = size + FILE_PAD > 2 * f->buf_cap ? size + FILE_PAD : 2 * f->buf_cap;

		mem_free(f->buf);
		f->buf_cap = 0;
		f->buf = mem_alloc(cap);
		if (!f->buf)
			return err_nomem(e);
		f->buf_cap = cap;
	}
	while (got < size) {
		ssize_t n = fault_hit(FAULT_READ) ? (errno = EIO, -1)
						  : read(fd, f->buf + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, errno, path, "cannot read");
		if (n == 0) /* it shrank after fstat() */
			break;
		got += (size_t)n;
	}
	memset(f->buf + got, 0, FILE_PAD);
	f->data = f->buf;
	f->size = got;
	return true;
}

/* Maps the file over the front of a zero mapping that is at least FILE_PAD bytes longer. */
static bool load_mapped(
	struct file_data *f, int fd, size_t size, const char *path, struct incore_error *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = ((size + page - 1) & ~(page - 1)) + page;
	void *base;

	if (fault_hit(FAULT_READ))
		return err_errno(e, EIO, path, "cannot read");
	base = mmap(NULL, room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return err_errno(e, errno, path, "cannot map");
	if (!map_guard_add(base, size, path) && !f->is_own) {
		munmap(base, room);
		return load_read(f, fd, size, path, e);
	}
	if (mmap(base, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		int errnum = errno;

		map_guard_drop(base);
		munmap(base, room);
		return err_errno(e, errnum, path, "cannot map");
	}
	madvise(base, size, MADV_SEQUENTIAL);
	f->map = base;
	f->map_size = room;
	f->data = base;
	f->size = size;
	return true;
}

void file_forget(const struct file_data *f, size_t from, size_t end)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	from &= ~(page - 1);
	end = (end < f->size ? end : f->size) & ~(page - 1);
	/* Only for a mapped file: pages of a private buffer would come back as zeros. */
	if (f->map && end > from)
		madvise((uint8_t *)f->map + from, end - from, MADV_DONTNEED);
}

/* File_load() from an open descriptor that nothing was read from yet; closes it. *f must hold
 * nothing but its buffer. */
static bool file_load_fd(struct file_data *f, int fd, const char *path, struct incore_error *e)
{
	struct stat st;
	bool ok = false;

	if (fstat(fd, &st) != 0)
		err_errno(e, errno, path, "cannot read");
	else if (S_ISDIR(st.st_mode))
		err_errno(e, EISDIR, path, "cannot read");
	else if (!S_ISREG(st.st_mode))
		err_file(e, "not-regular", path, INCORE_NO_OFFSET, "not a regular file");
	else if ((uintmax_t)st.st_size > PTRDIFF_MAX - ((size_t)1 << 20))
		err_file(e, "too-large", path, INCORE_NO_OFFSET, "file too large to map");
	else if ((size_t)st.st_size <= FILE_READ_MOST_BYTES)
		ok = load_read(f, fd, (size_t)st.st_size, path, e);
	else
		ok = load_mapped(f, fd, (size_t)st.st_size, path, e);
	close(fd);
	if (!ok)
		file_unload(f);
	return ok;
}

bool file_load_at(struct file_data *f, struct file_root root, const char *name, const char *path,
	struct incore_error *e)
{
	int fd;

	file_unmap(f);
	f->data = NULL;
	f->size = 0;
	if (fault_hit(FAULT_OPEN))
		return err_errno(e, EACCES, path, "cannot open");
	fd = file_open_below(root, name);
	if (fd < 0 && errno == EXDEV)
		return err_file(e, "link-outside", path, INCORE_NO_OFFSET,
			"leads out of the capture's directory and was not followed (--follow-links follows)");
	if (fd < 0)
		return err_errno(e, errno, path, "cannot open");
	return file_load_fd(f, fd, path, e);
}

bool file_load(struct file_data *f, const char *path, struct incore_error *e)
{
	return file_load_at(f, FILE_ANYWHERE, path, path, e);
}

const char *file_temp_root(void)
{
	const char *stated = getenv("TMPDIR");

	return stated && *stated == '/' ? stated : P_tmpdir;
}

char *file_beside_program(const char *up)
{
	char exe[4096], *slash, *dir;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n <= 0)
		return NULL;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	dir = path_join(exe, up);
	if (dir && !file_is_dir(dir)) {
		mem_free(dir);
		return NULL;
	}
	return dir;
}

bool file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

bool file_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int64_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

char *path_join(const char *dir, const char *name)
{
	char *p = mem_alloc(strlen(dir) + strlen(name) + 2), *end;

	if (!p)
		return NULL;
	end = stpcpy(p, dir);
	if (end > p && end[-1] != '/')
		*end++ = '/';
	stpcpy(end, name);
	return p;
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct dir_names {
	VEC(const char *) list;
	struct arena arena;
};

/* NULL with errno. */
static DIR *open_list(struct file_root root, const char *name)
{
	int fd = fault_hit(FAULT_OPEN) ? (errno = EACCES, -1) : file_open_dir_below(root, name);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int why = errno;

	if (!d && fd >= 0)
		close(fd);
	errno = why;
	return d;
}

static bool collect_names(struct dir_names *out, struct file_root root, const char *name,
	const char *dir, struct incore_error *e)
{
	DIR *d = open_list(root, name);
	struct dirent *ent;
	bool ok = false;

	if (!d)
		return err_errno(e, errno, dir, "cannot open directory");
	for (errno = 0; (ent = readdir(d)) != NULL; errno = 0) {
		const char *copy;

		if (strcmp(ent->d_name, ".") == 0 || strcmp(ent->d_name, "..") == 0)
			continue;
		copy = arena_strdup(&out->arena, ent->d_name);
		if (!copy || !VEC_PUSH(&out->list, copy)) {
			err_nomem(e);
			goto out;
		}
	}
	if (errno != 0)
		err_errno(e, errno, dir, "cannot read directory");
	else
		ok = true;
out:
	closedir(d);
	return ok;
}

/* Dir_each() below a directory; `dir` is only for messages. */
static bool dir_each_below(struct file_root root, const char *name, const char *dir, dir_fn fn,
	void *ctx, struct incore_error *e)
{
	struct dir_names names = {0};
	bool ok;

	arena_init(&names.arena);
	ok = collect_names(&names, root, name, dir, e);
	if (ok && names.list.n)
		SORT(names.list.v, names.list.n, by_bytes);
	for (size_t i = 0; ok && i < names.list.n; i++)
		ok = fn(ctx, names.list.v[i], e);
	VEC_FREE(&names.list);
	arena_deinit(&names.arena);
	return ok;
}

bool dir_each(const char *dir, dir_fn fn, void *ctx, struct incore_error *e)
{
	return dir_each_below(FILE_ANYWHERE, dir, dir, fn, ctx, e);
}

/* --- files that stay open --------------------------------------------------------------------- */

/* Files that were opened once and will be read again. */

#define MAX_FILES 4096
#define MAX_BYTES ((size_t)64 << 20)
/* Far below the usual limit of 1024 descriptors of a process. */
#define MAX_FDS 256

void file_store_deinit(struct file_store *s)
{
	for (size_t i = 0; i < s->files.n; i++) {
		if (s->files.v[i].fd >= 0)
			close(s->files.v[i].fd);
		file_unload(&s->files.v[i].data);
	}
	VEC_FREE(&s->files);
	*s = (struct file_store){0};
}

bool file_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Describes a link itself if links may not lead out: it never equals a kept file, so that it is
 * opened on its own, which refuses it if it leads out. */
static bool stat_below(struct file_root root, const char *name, struct stat *st)
{
	return (root.follow_links ? file_stat_below(root, name, st)
				  : file_lstat_below(root, name, st)) == 0;
}

static struct stored_file *find_kept(struct file_store *s, struct file_root root, const char *name)
{
	struct stat st;

	if (!s || !s->files.n || !stat_below(root, name, &st))
		return NULL;
	for (size_t i = 0; i < s->files.n; i++)
		if (file_is_same(&s->files.v[i].st, &st))
			return &s->files.v[i];
	return NULL;
}

/* Loads the whole of a file if only its head was read so far. */
static bool load_rest(
	struct file_store *s, struct stored_file *k, const char *path, struct incore_error *e)
{
	int fd = k->fd;

	if (fd < 0)
		return true;
	k->fd = -1;
	s->n_fds--;
	if (!file_load_fd(&k->data, fd, path, e))
		return false;
	s->bytes += k->data.buf_cap;
	return true;
}

static void remove_kept(struct file_store *s, struct stored_file *k)
{
	s->bytes -= k->data.buf_cap;
	*k = s->files.v[--s->files.n];
}

static void borrow(struct file_data *f, const struct stored_file *k)
{
	file_unmap(f);
	f->data = k->data.data;
	f->size = k->data.size;
}

static bool file_store_has_room(const struct file_store *s)
{
	return s->files.n < MAX_FILES && s->bytes < MAX_BYTES;
}

static bool load_and_keep(struct file_store *s, struct file_data *f, struct file_root root,
	const char *name, const char *path, struct incore_error *e)
{
	struct stored_file k = {.fd = -1};

	if (!file_load_at(&k.data, root, name, path, e))
		return false;
	/* The loaded file is the one that the name leads to, unless it was replaced in between. */
	if (!stat_below(root, name, &k.st) || (size_t)k.st.st_size != k.data.size ||
		!VEC_PUSH(&s->files, k)) {
		file_unload(f);
		*f = k.data;
		return true;
	}
	s->bytes += k.data.buf_cap;
	borrow(f, &k);
	return true;
}

bool file_store_load_at(struct file_store *s, enum file_store_use use, struct file_data *f,
	struct file_root root, const char *name, const char *path, struct incore_error *e)
{
	struct stored_file *k = find_kept(s, root, name);

	if (!k && use == FILE_KEEP && s && file_store_has_room(s))
		return load_and_keep(s, f, root, name, path, e);
	if (!k)
		return file_load_at(f, root, name, path, e);
	if (!load_rest(s, k, path, e)) {
		remove_kept(s, k);
		file_unload(f);
		return false;
	}
	if (use == FILE_KEEP) {
		borrow(f, k);
		return true;
	}
	file_unload(f);
	*f = k->data;
	remove_kept(s, k);
	return true;
}

bool file_store_load_below(struct file_store *s, enum file_store_use use, struct file_data *f,
	const char *dir, bool follow_links, const char *path, struct incore_error *e)
{
	struct file_root root;
	bool ok;

	if (!file_root_open(&root, dir, follow_links))
		return err_errno(e, errno, dir, "cannot open directory");
	ok = file_store_load_at(s, use, f, root, file_name_below(dir, path), path, e);
	close(root.fd);
	return ok;
}

static int file_store_read_head(int fd, uint8_t *head, size_t cap, size_t *n)
{
	ssize_t got = pread(fd, head, cap, 0);

	if (got < 0)
		return errno;
	*n = (size_t)got;
	return 0;
}

int file_store_head(struct file_store *s, struct file_root root, const char *name, uint8_t *head,
	size_t cap, size_t *n)
{
	struct stored_file *k = find_kept(s, root, name), new = {.fd = -1};
	int failed;

	if (k && k->fd < 0) {
		*n = k->data.size < cap ? k->data.size : cap;
		memcpy(head, k->data.data, *n);
		return 0;
	}
	if (k)
		return file_store_read_head(k->fd, head, cap, n);
	errno = EACCES;
	new.fd = fault_hit(FAULT_OPEN) ? -1 : file_open_below(root, name);
	if (new.fd < 0)
		return errno;
	errno = EINVAL;
	failed = fstat(new.fd, &new.st) == 0 && S_ISREG(new.st.st_mode)
			 ? file_store_read_head(new.fd, head, cap, n)
			 : errno;
	if (!failed && s && file_store_has_room(s) && s->n_fds < MAX_FDS &&
		VEC_PUSH(&s->files, new))
		s->n_fds++;
	else
		close(new.fd);
	return failed;
}
