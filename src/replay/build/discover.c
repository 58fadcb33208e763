/* SPDX-License-Identifier: Apache-2.0 */
/* discover.c: walks a build directory; links are not followed. */
#include "replay/build/discover.h"
#include "base/search.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"

#define MAX_DEPTH 12

struct walk {
	struct arena *arena;
	const char *root;
	build_kernels *out;
	bool is_strict; /* only ptoas and next_levels/.../ptoas */
	unsigned depth;
	const char *dir; /* current folder */
	struct incore_error *e;
};

static bool is_real_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_real_file(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The levels between the root and the ptoas folder, then the stem, separated by dots. */
static char *name_of(struct walk *w, const char *dir, const char *stem)
{
	const char *below = dir + strlen(w->root);
	struct str levels;
	char *name;

	while (*below == '/')
		below++;
	levels = str_of(below);
	if (str_ends(levels, "ptoas"))
		levels.n -= 5;
	while (levels.n && levels.p[levels.n - 1] == '/')
		levels.n--;
	name = levels.n ? arena_printf(w->arena, "%.*s.%s", STR_ARG(levels), stem)
			: arena_strdup(w->arena, stem);
	for (char *p = name; p && *p; p++)
		if (*p == '/')
			*p = '.';
	return name;
}

static bool add_source(void *ctx, const char *file, struct incore_error *e)
{
	struct walk *w = ctx;
	size_t n = strlen(file);
	struct build_kernel k = {0};

	if (n < 5 || strcmp(file + n - 4, ".cpp") != 0)
		return true;
	k.source = arena_printf(w->arena, "%s/%s", w->dir, file);
	k.stem = arena_strndup(w->arena, file, n - 4);
	k.name = k.stem ? name_of(w, w->dir, k.stem) : NULL;
	if (!k.source || !k.name)
		return err_nomem(e);
	return !is_real_file(k.source) || VEC_PUSH(w->out, k) || err_nomem(e);
}

/* Is it a folder left by a profiler? Those hold no kernels. */
static bool is_left_over(const char *name)
{
	static const char *const NAMES[] = {"cases", "builds", "collect", "export"};

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
		if (strcmp(name, NAMES[i]) == 0)
			return true;
	return strncmp(name, "insight", 7) == 0;
}

static bool look_below(void *ctx, const char *name, struct incore_error *e)
{
	struct walk *w = ctx;
	const char *above = w->dir;
	char *path = arena_printf(w->arena, "%s/%s", w->dir, name);
	bool ok = true, is_first = w->depth == 0;

	if (!path)
		return err_nomem(e);
	if (w->depth >= MAX_DEPTH || is_left_over(name) || !is_real_dir(path) ||
		(w->is_strict && is_first && strcmp(name, "ptoas") != 0 &&
			strcmp(name, "next_levels") != 0))
		return true;
	w->dir = path;
	w->depth++;
	if (strcmp(name, "ptoas") == 0)
		ok = dir_each(path, add_source, w, e);
	else
		ok = dir_each(path, look_below, w, e);
	w->depth--;
	w->dir = above;
	return ok;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(
		((const struct build_kernel *)a)->source, ((const struct build_kernel *)b)->source);
}

bool discover_kernels(
	struct arena *a, const char *build, build_kernels *out, struct incore_error *e)
{
	size_t n = strlen(build);
	struct walk w = {.arena = a, .out = out, .is_strict = true, .e = e};

	while (n > 1 && build[n - 1] == '/')
		n--;
	w.root = w.dir = arena_strndup(a, build, n);
	if (!w.root)
		return err_nomem(e);
	if (!file_is_dir(build))
		return err_file(e, "no-build", build, INCORE_NO_OFFSET, "no such build directory");
	if (!dir_each(w.root, look_below, &w, e))
		return false;
	w.is_strict = false;
	if (!out->n && !dir_each(w.root, look_below, &w, e))
		return false;
	if (!out->n)
		return err_file(e, "no-kernels", build, INCORE_NO_OFFSET,
			"no kernels in this build: looked for .cpp files in ptoas, in ptoas folders below next_levels, and in any ptoas folder below");
	SORT(out->v, out->n, by_path);
	return true;
}
