/* SPDX-License-Identifier: Apache-2.0 */
/* roots.c: checks the files that calls name, and finds the captures below the roots. */
#include <limits.h>
#include <stdlib.h>

#include "mcp/internal.h"

/* The part of a real path after a root, "" for the root itself; NULL: not below the root. */
static const char *mcp_roots_behind(const char *root, const char *path)
{
	size_t n = strlen(root);

	if (n == 1 && root[0] == '/')
		return path + 1;
	if (strncmp(root, path, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	return path[n] ? path + n + 1 : "";
}

/* The name of a real path as shown to people and taken by calls: relative to the first root if it
 * is below that, otherwise the path itself. */
static const char *root_name(const struct mcp *m, const char *path)
{
	const char *name;

	for (size_t i = 0; i < m->roots.n; i++) {
		name = mcp_roots_behind(m->roots.v[i], path);
		if (name && i == 0) /* relative names start at the first root */
			return *name ? name : ".";
		if (name)
			return path;
	}
	return path;
}

/* Resolves a name to a real path. In "file#0", a capture inside a file, the part from '#' on is not
 * part of the path and is kept. */
static const char *real_name(const char *path, struct arena *a, char real[PATH_MAX])
{
	const char *part = strrchr(path, '#');
	char *file;

	if (realpath(path, real))
		return arena_strndup(a, real, strlen(real));
	file = part ? arena_strndup(a, path, (size_t)(part - path)) : NULL;
	return file && realpath(file, real) ? arena_printf(a, "%s%s", real, part) : NULL;
}

const char *root_path(
	const struct mcp *m, const char *name, struct arena *a, struct incore_error *e)
{
	char real[PATH_MAX];
	struct stat st;
	uint32_t part;
	const char *full = name[0] == '/' ? name : arena_printf(a, "%s/%s", m->roots.v[0], name);
	const char *found = full ? real_name(full, a, real) : NULL;

	if (!full)
		return err_nomem_null(e);
	if (found && capture_stat(&m->captures.cache.fence, found, &st, &part) == 0)
		return found;
	/* do not reveal whether a path outside the roots exists */
	err_set(e, INCORE_USAGE, "not-found", "there is no capture '%s' below the roots", name);
	return NULL;
}

/* --- finding captures --- */

struct mcp_roots_search {
	struct mcp *m;
	struct arena *a;
	const char *dir; /* directory being searched */
	VEC(struct found_capture) found;
};

static bool add_captures(struct mcp_roots_search *s, const char *dir, struct incore_error *e)
{
	struct capture_list l = {0};
	struct incore_error none = {0};
	bool ok = true;

	if (!captures_find(&s->m->captures, dir, &l, &none)) {
		incore_error_clear(&none); /* no capture there */
		return true;
	}
	for (uint32_t i = 0; ok && i < l.n && s->found.n < MOST_CAPTURES; i++) {
		const char *name = root_name(s->m, l.v[i].path);
		struct found_capture c = {.name = arena_strndup(s->a, name, strlen(name)),
			.format = l.v[i].ops->name,
			.agent = l.v[i].agent,
			.dispatch = l.v[i].dispatch};

		ok = (c.name && VEC_PUSH(&s->found, c)) || err_nomem(e);
	}
	capture_list_deinit(&l);
	return ok;
}

/* Searches an entry of a directory: a folder may contain folders of captures. */
static bool mcp_roots_add_entry(void *ctx, const char *name, struct incore_error *e)
{
	struct mcp_roots_search *s = ctx;
	const char *path;

	if (name[0] == '.' || s->found.n >= MOST_CAPTURES)
		return true;
	path = arena_printf(s->a, "%s/%s", s->dir, name);
	return path ? add_captures(s, path, e) : err_nomem(e);
}

/* Adds the captures below a directory; one that cannot be listed counts as empty. */
static bool add_below(struct mcp_roots_search *s, const char *dir, struct incore_error *e)
{
	bool ok;

	s->dir = dir;
	ok = dir_each_in(&s->m->captures.cache.fence, dir, mcp_roots_add_entry, s, e);
	if (ok || err_is(e, "no-memory"))
		return ok;
	incore_error_clear(e);
	return true;
}

bool root_captures(struct mcp *m, struct arena *a, struct found_capture **out, size_t *n,
	struct incore_error *e)
{
	struct mcp_roots_search s = {.m = m, .a = a};
	bool ok = true;

	for (size_t i = 0; ok && i < m->roots.n; i++) {
		size_t before = s.found.n;

		ok = add_captures(&s, m->roots.v[i], e) &&
		     (s.found.n > before || add_below(&s, m->roots.v[i], e));
	}
	*out = arena_zalloc(a, s.found.n ? s.found.n : 1, sizeof(**out));
	if (ok && !*out)
		ok = err_nomem(e);
	if (ok && s.found.n)
		memcpy(*out, s.found.v, s.found.n * sizeof(**out));
	*n = s.found.n;
	VEC_FREE(&s.found);
	return ok;
}
