/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_fence.h: folders that nothing below them leads out of, for whoever looks for files by path: what
 * is listed, asked about or opened below one stays below it (file_root.h). Of fences within each other
 * the innermost counts. What lies below none is as it is without a fence, or is refused where
 * the fence says that nothing else may be looked at.
 * Owner: the holder, from zero to file_fence_deinit(). Threads: any, once it is complete. Every
 * function but file_fence_add() takes NULL for an empty fence.
 */
#pragma once

#include "base/file.h"
#include "base/vec.h"

struct fenced {
	char *path; /* without slashes at its end, but for "/" */
	int fd;	    /* of the directory; -1: it is none, and nothing lies below it */
};

struct file_fence {
	VEC(struct fenced) v;
	bool is_all; /* what is not below one of them is refused */
};

/* path: a directory, links followed, "" is the current one; or what only names itself. May fail:
 * memory alone. */
bool file_fence_add(struct file_fence *f, const char *path, struct incore_error *e);
void file_fence_deinit(struct file_fence *f);

/* The fence for paths that nobody has searched for: those that a user or a capture names. They lead
 * anywhere, unless nothing else may be looked at. */
static inline const struct file_fence *file_fence_of_named(const struct file_fence *f)
{
	return f && f->is_all ? f : NULL;
}

/* Where path lies and what it is called there; borrowed from the fence and from path. */
struct file_root file_fence_root(const struct file_fence *f, const char *path, const char **name);

/* stat() and lstat(): 0, or the errno. */
int file_stat_in(const struct file_fence *f, const char *path, struct stat *st);
int file_lstat_in(const struct file_fence *f, const char *path, struct stat *st);
bool file_exists_in(const struct file_fence *f, const char *path);
bool file_is_dir_in(const struct file_fence *f, const char *path);
/* The size in bytes of a regular file, or -1. */
int64_t file_size_in(const struct file_fence *f, const char *path);
/* file_load(), dir_each() */
bool file_load_in(const struct file_fence *f, struct file_data *out, const char *path,
	struct incore_error *e);
bool dir_each_in(
	const struct file_fence *f, const char *dir, dir_fn fn, void *ctx, struct incore_error *e);
