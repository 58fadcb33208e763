/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.c: a quick look at an Ascend capture finds its size. Pipes and instructions could be
 * counted only by reading all events, so they stay uncounted here.
 */
#include <sys/stat.h>

#include "import/ascend/ascend.h"
#include "import/capture_cache.h"

#define MAX_DEPTH 4

static uint64_t size_of(const struct file_fence *f, const char *path, unsigned depth);

struct sum {
	const struct file_fence *fence;
	const char *dir;
	unsigned depth;
	uint64_t bytes;
};

static bool add(void *ctx, const char *name, struct incore_error *e)
{
	struct sum *s = ctx;
	char *path = path_join(s->dir, name);

	(void)e;
	if (path)
		s->bytes += size_of(s->fence, path, s->depth);
	mem_free(path);
	return true;
}

/* Links are not followed: their targets are not part of the run. */
static uint64_t size_of(const struct file_fence *f, const char *path, unsigned depth)
{
	struct incore_error ignored = {0};
	struct sum s = {f, path, depth - 1, 0};
	struct stat st;

	if (file_lstat_in(f, path, &st) != 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return (uint64_t)st.st_size;
	if (!S_ISDIR(st.st_mode) || depth == 0)
		return 0;
	dir_each_in(f, path, add, &s, &ignored);
	incore_error_clear(&ignored);
	return s.bytes;
}

void asc_look(const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	(void)a;
	c->is_uncounted = true;
	c->n_bytes = size_of(capture_fence(cache), path, MAX_DEPTH);
	c->is_empty = c->n_bytes == 0;
}
