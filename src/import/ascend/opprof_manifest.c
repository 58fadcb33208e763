/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opprof_manifest.c: a folder of many kernels with a list of them (manifest_export.csv): each was
 * collected and exported, so that its runs lie there twice. The column visualize_data_bin says
 * which file counts. A path of the list is taken only where it leads to a file inside the folder;
 * one that was written on another machine is looked for by its part from "funcs/" on.
 */
#include <stdlib.h>

#include "codec/csv.h"
#include "import/ascend/opprof.h"

#define MANIFEST "manifest_export.csv"
#define MAX_RUNS 100000

static bool is_inside(const char *root, const char *path)
{
	size_t n = strlen(root);

	return strncmp(path, root, n) == 0 && path[n] == '/';
}

/* The folder of a bin below root, without "simulator"; NULL: no file there. */
static const char *run_of_file(const char *dir, const char *root, const char *path, struct arena *a)
{
	char *real = realpath(path, NULL);
	const char *found = NULL;

	if (real && is_inside(root, real) && file_exists(real) && !file_is_dir(real)) {
		struct str rest = str_of(real + strlen(root) + 1);
		ptrdiff_t cut = str_rfind_char(rest, '/');

		rest = str_sub(rest, 0, cut > 0 ? (size_t)cut : 0);
		if (str_ends(rest, "/simulator"))
			rest.n -= strlen("/simulator");
		found = rest.n ? arena_printf(a, "%s/%.*s", dir, STR_ARG(rest)) : NULL;
	}
	free(real);
	return found;
}

/* A cell as it is, or from "funcs/" on. */
static const char *run_of_cell(const char *dir, const char *root, struct str cell, struct arena *a)
{
	ptrdiff_t at = str_find(cell, "funcs/");
	const char *found = NULL;

	for (int i = 0; i < 2 && !found && cell.n; i++) {
		char *name = mem_strndup(cell.p, cell.n);
		char *path = name && name[0] != '/' ? path_join(dir, name) : NULL;

		if (name)
			found = run_of_file(dir, root, path ? path : name, a);
		mem_free(path);
		mem_free(name);
		if (at < 0)
			break;
		cell = str_sub(cell, (size_t)at, cell.n);
		at = 0;
	}
	return found;
}

struct runs {
	VEC(const char *) v;
};

static void read_rows(
	struct csv_reader *r, const char *dir, const char *root, struct arena *a, struct runs *out)
{
	struct incore_error e = {0};
	bool at_end = false;
	int column;

	if (csv_header(r, &e) && (column = csv_column(r, "visualize_data_bin")) >= 0) {
		while (out->v.n < MAX_RUNS && csv_row(r, &at_end, &e)) {
			const char *run = run_of_cell(dir, root, str_trim(csv_field(r, column)), a);

			if (run && !VEC_PUSH(&out->v, run))
				break;
		}
	}
	incore_error_clear(&e);
}

void opprof_manifest_runs(
	const char *dir, struct str csv, struct arena *a, const char ***paths, uint32_t *n)
{
	char *root = realpath(dir, NULL);
	struct runs runs = {0};
	struct csv_reader r;

	*n = 0;
	*paths = NULL;
	csv_init(&r, (const uint8_t *)csv.p, csv.n, MANIFEST);
	if (root)
		read_rows(&r, dir, root, a, &runs);
	csv_deinit(&r);
	if (runs.v.n)
		*paths = arena_memdup(a, runs.v.v, runs.v.n * sizeof(*runs.v.v));
	if (*paths)
		*n = (uint32_t)runs.v.n;
	VEC_FREE(&runs.v);
	free(root);
}

void opprof_list_manifest(const char *dir, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache, .is_look = true, .root = dir};
	char *path = path_join(dir, MANIFEST);
	struct file_data f = {0};

	*n = 0;
	*paths = NULL;
	if (path && file_exists(path) && import_load(&o, &f, path, NULL))
		opprof_manifest_runs(dir, (struct str){(const char *)f.data, f.size}, a, paths, n);
	file_unload(&f);
	mem_free(path);
}

bool opprof_has_manifest(const char *dir, struct capture_cache *cache)
{
	struct arena a;
	const char **paths;
	uint32_t n;

	arena_init(&a);
	opprof_list_manifest(dir, cache, &a, &paths, &n);
	arena_deinit(&a);
	return n > 0;
}
