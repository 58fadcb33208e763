/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_fence.h: folders that paths below them cannot lead out of, for code that looks for files by
 * path: what is listed, examined or opened below such a folder stays below it (file_root.h). Among
 * nested folders the innermost counts. Paths below none of them are not restricted, or are refused
 * if the fence says that nothing else may be looked at.
 * Owner: the holder, from zero to file_fence_deinit(). Threads: any, once it is complete. All
 * functions except file_fence_add() accept NULL as an empty fence.
 */
#pragma once

#include "base/file.h"
#include "base/vec.h"

struct fenced {
	char *path; /* without trailing slashes, except "/" */
	int fd;	    /* of the directory; -1: not a directory, so nothing lies below it */
};

struct file_fence {
	VEC(struct fenced) v;
	bool is_all; /* paths that are not below one of them are refused */
};

/* path: a directory (links are followed, "" is the current one), or something else that stands only
 * for itself. May fail: only on memory. */
bool file_fence_add(struct file_fence *f, const char *path, struct incore_error *e);
void file_fence_deinit(struct file_fence *f);

/* The fence for paths that were not found by searching but named by a user or a capture. They may
 * lead anywhere, unless is_all is set. */
static inline const struct file_fence *file_fence_of_named(const struct file_fence *f)
{
	return f && f->is_all ? f : NULL;
}

/* The root that path lies in, and its name there; borrowed from the fence and from path. */
struct file_root file_fence_root(const struct file_fence *f, const char *path, const char **name);

/* stat() and lstat(); return 0 or the errno. */
int file_stat_in(const struct file_fence *f, const char *path, struct stat *st);
int file_lstat_in(const struct file_fence *f, const char *path, struct stat *st);
bool file_exists_in(const struct file_fence *f, const char *path);
bool file_is_dir_in(const struct file_fence *f, const char *path);
/* The size in bytes of a regular file, or -1. */
int64_t file_size_in(const struct file_fence *f, const char *path);
/* file_load() and dir_each() within the fence. */
bool file_load_in(const struct file_fence *f, struct file_data *out, const char *path,
	struct incore_error *e);
bool dir_each_in(
	const struct file_fence *f, const char *dir, dir_fn fn, void *ctx, struct incore_error *e);
