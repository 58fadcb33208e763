/* SPDX-License-Identifier: Apache-2.0 */
/* match.c: matches a pattern part by part. */
#include "sweep/match.h"

#include <fnmatch.h>
#include <string.h>

struct matching {
	struct sweep_matches *found;
	const struct file_fence *fence;
	const char *dir;  /* path matched so far, with a trailing slash, or "" */
	const char *part; /* current part of the pattern */
	const char *rest; /* rest of the pattern */
};

static bool sweep_match_follow(struct matching *m, struct incore_error *e);

static size_t part_length(const char *pattern)
{
	return strcspn(pattern, "/");
}

static bool has_wildcard(const char *part, size_t n)
{
	return strcspn(part, "*?[\\") < n;
}

static bool sweep_match_add(struct sweep_matches *m, const char *path, struct incore_error *e)
{
	char *copy = mem_strndup(path, strlen(path));

	if (copy && VEC_PUSH(m, copy))
		return true;
	mem_free(copy);
	return err_nomem(e);
}

/* Continues with a name and the slashes that follow in the pattern. */
static bool go_into(const struct matching *m, const char *name, struct incore_error *e)
{
	struct strbuf path = {0};
	size_t n_slashes = strspn(m->rest, "/");
	struct matching next = {.found = m->found, .fence = m->fence, .rest = m->rest + n_slashes};
	bool ok;

	sb_printf(&path, "%s%s%.*s", m->dir, name, (int)n_slashes, m->rest);
	next.dir = path.p;
	ok = path.failed ? err_nomem(e) : sweep_match_follow(&next, e);
	sb_free(&path);
	return ok;
}

static bool try_name(void *ctx, const char *name, struct incore_error *e)
{
	const struct matching *m = ctx;

	return fnmatch(m->part, name, FNM_PERIOD) != 0 || go_into(m, name, e);
}

/* A folder that cannot be listed has no matches. */
static bool try_all(struct matching *m, struct incore_error *e)
{
	bool ok = dir_each_in(m->fence, *m->dir ? m->dir : ".", try_name, m, e);

	if (ok || err_is(e, "no-memory"))
		return ok;
	incore_error_clear(e);
	return true;
}

static bool sweep_match_follow(struct matching *m, struct incore_error *e)
{
	size_t n = part_length(m->rest);
	char *part;
	bool ok;

	if (!*m->rest)
		return !file_exists_in(m->fence, m->dir) || sweep_match_add(m->found, m->dir, e);
	part = mem_strndup(m->rest, n);
	if (!part)
		return err_nomem(e);
	m->part = part;
	m->rest += n;
	ok = has_wildcard(part, n) ? try_all(m, e) : go_into(m, part, e);
	mem_free(part);
	return ok;
}

/* Adds the folder that a pattern names before its first wildcard to the fence. */
static bool fence_pattern(struct file_fence *f, const char *pattern, struct incore_error *e)
{
	size_t n = 0;
	char *folder;
	bool ok;

	for (size_t at = 0; pattern[at];) {
		size_t part = part_length(pattern + at), slashes = strspn(pattern + at + part, "/");

		if (!slashes || has_wildcard(pattern + at, part))
			break;
		n = at += part + slashes;
	}
	folder = mem_strndup(pattern, n);
	ok = folder ? file_fence_add(f, folder, e) : err_nomem(e);
	mem_free(folder);
	return ok;
}

bool sweep_match(struct sweep_matches *m, const char *pattern, const char *out,
	struct file_fence *f, struct incore_error *e)
{
	struct matching all = {.found = m, .fence = f, .dir = "", .rest = pattern};
	bool is_left = file_name_below(out, pattern) != pattern && !strstr(pattern, "/../");

	*m = (struct sweep_matches){0};
	return (is_left ? file_fence_add(f, out, e) : fence_pattern(f, pattern, e)) &&
	       (*pattern != '/' || (all.dir = "/", all.rest = pattern + strspn(pattern, "/"))) &&
	       sweep_match_follow(&all, e);
}

void sweep_matches_free(struct sweep_matches *m)
{
	for (size_t i = 0; i < m->n; i++)
		mem_free(m->v[i]);
	VEC_FREE(m);
}
