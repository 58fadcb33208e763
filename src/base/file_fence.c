/* SPDX-License-Identifier: Apache-2.0 */
/* file_fence.c: looks up paths below the folder that they lie in. */
#include "base/file_fence.h"

#include <string.h>
#include <unistd.h>

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
static const char *behind(const char *folder, const char *path)
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
		if (behind(f->v.v[i].path, path) &&
			(!best || strlen(best->path) < strlen(f->v.v[i].path)))
			best = &f->v.v[i];
	if (!best)
		return f && f->is_all ? FILE_NOWHERE : FILE_ANYWHERE;
	if (best->fd < 0)
		return *behind(best->path, path) ? FILE_NOWHERE : FILE_ANYWHERE;
	*name = behind(best->path, path);
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
