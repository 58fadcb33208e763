/* SPDX-License-Identifier: Apache-2.0 */
/* file.c: whole files into memory, names of directories, paths. */
#include "base/file.h"
#include "base/search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map_guard.h"
#include "base/mem.h"
#include "base/vec.h"

/* Reading into a warm buffer beats mapping up to here: no page faults, no unmapping. */
#define FILE_READ_MOST_BYTES ((size_t)4 << 20)

void file_unmap(struct file_data *f)
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

bool file_load_fd(struct file_data *f, int fd, const char *path, struct incore_error *e)
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

struct names {
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

static bool collect_names(struct names *out, struct file_root root, const char *name,
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

bool dir_each_below(struct file_root root, const char *name, const char *dir, dir_fn fn, void *ctx,
	struct incore_error *e)
{
	struct names names = {0};
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
