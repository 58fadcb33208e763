/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_cache.h: caches what one run knows about its captures: the results of looks, and the
 * bytes of opened files that will be read again. Owner: the caller, from capture_cache_init() to
 * capture_cache_deinit(). Threads: one at a time. Every other function accepts NULL.
 */
#pragma once

#include "base/file_fence.h"
#include "base/file_store.h"
#include "import/import.h"

struct capture_cache {
	struct arena arena;
	struct file_store files;
	VEC(struct capture_seen) seen;
	/* Files are searched and read only within it; if it is not empty, links that lead out of a
	 * capture are not followed. */
	struct file_fence fence;
	bool follow_links; /* even those that lead out of a capture */
};

/* NULL if there is no fence. */
static inline const struct file_fence *capture_fence(const struct capture_cache *k)
{
	return k ? &k->fence : NULL;
}

static inline const struct file_fence *import_fence(const struct import_options *o)
{
	return o ? capture_fence(o->cache) : NULL;
}

/*
 * A file may hold several captures; one of them is named by the file's path, '#' and its number from
 * 0. stat() of the file: 0, or the errno. *part: that number + 1; 0: the path is the file's own.
 */
int capture_stat(const struct file_fence *f, const char *path, struct stat *st, uint32_t *part);
/* The path without the number, in the arena; NULL when out of memory. *number: of the capture in its
 * file, from 0; may be NULL. */
const char *capture_file(
	const struct file_fence *f, struct arena *a, const char *path, uint32_t *number);

/* Names the `parts` captures of a file: *paths and *n of them, fewer when out of memory. */
void capture_name_parts(
	struct arena *a, const char *path, size_t parts, const char ***paths, uint32_t *n);

void capture_cache_init(struct capture_cache *k);
void capture_cache_deinit(struct capture_cache *k);
/* Fills in the counts of c if they are unknown; strings go to the arena. */
void capture_look(struct capture_cache *k, struct arena *a, struct capture *c);
/* Stores the result of a look at c; c has its path and ops. */
void capture_know(struct capture_cache *k, const struct capture *c);
/* t was read from c: stores what a look at c would find. */
void capture_remember(struct capture_cache *k, const struct capture *c, const struct trace *t);
/* The capture's clock, read without the contents of tracks or side files; 0 if unknown. */
double capture_clock_mhz(struct capture_cache *k, const struct capture *c);
/* import_load() for a file below another directory than the capture's. */
bool import_load_below(const struct import_options *o, struct file_data *f, const char *dir,
	const char *path, struct incore_error *e);
/* The directory of import_load_below(), for callers that open several of its files; false with
 * errno. */
bool import_root_open(const struct import_options *o, struct file_root *r, const char *dir);
/* Adds a note that a file was left out, and clears *why; what: "is damaged and was left out". Out
 * of memory stays an error. */
bool import_note_unread(struct trace *t, const char *code, const char *path, const char *what,
	struct incore_error *why);
