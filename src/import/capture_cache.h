/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_cache.h: what one run has learnt of its captures: what a look said, and the bytes of
 * files that were opened and are to be read again. Owner: the caller, from capture_cache_init() to
 * capture_cache_deinit(). Threads: one at a time. Every other function takes NULL for it.
 */
#pragma once

#include "base/file_fence.h"
#include "base/file_store.h"
#include "import/import.h"

struct capture_cache {
	struct arena arena;
	struct file_store files;
	VEC(struct capture_seen) seen;
	/* What is looked for and read lies within it; where it is not empty links that lead out of a
	 * capture are not followed. */
	struct file_fence fence;
	bool follow_links; /* also those that lead out of a capture */
};

/* NULL where there is none. */
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
/* The path without the number, in the arena; NULL on lack of memory. */
const char *capture_file(const struct file_fence *f, struct arena *a, const char *path);

void capture_cache_init(struct capture_cache *k);
void capture_cache_deinit(struct capture_cache *k);
/* The counts of c, if they are not known yet; strings go to the arena. */
void capture_look(struct capture_cache *k, struct arena *a, struct capture *c);
/* What a look at c would say is known; c has its path and ops. */
void capture_know(struct capture_cache *k, const struct capture *c);
/* What reads the file that stat() said this of, if that is known; else NULL. */
const struct import_ops *capture_seen_ops(struct capture_cache *k, const struct stat *st);
/* t was read from c: what a look would say is known from now on. */
void capture_remember(struct capture_cache *k, const struct capture *c, const struct trace *t);
/* Its clock, without the contents of tracks or side files; 0 when it cannot be told. */
double capture_clock_mhz(struct capture_cache *k, const struct capture *c);
/* import_load() of a file that lies below another directory than the capture's. */
bool import_load_below(const struct import_options *o, struct file_data *f, const char *dir,
	const char *path, struct incore_error *e);
/* The directory of import_load_below(), for those who open several files of it; false with errno. */
bool import_root_open(const struct import_options *o, struct file_root *r, const char *dir);
/* Notes that a file was left out, and clears *why; what: "is damaged and was left out". Lack of
 * memory stays an error. */
bool import_note_unread(struct trace *t, const char *code, const char *path, const char *what,
	struct incore_error *why);
