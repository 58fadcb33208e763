/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opprof_manifest.c: a folder of many kernels with a list of them (manifest_export.csv): each was
 * collected and exported, so every run is there twice. The column visualize_data_bin names the
 * file to use. A path of the list is used only if it leads to a file inside the folder; a path
 * written on another machine is searched by its part from "funcs/" on.
 */
#include <stdlib.h>
#include <unistd.h>

#include "codec/csv.h"
#include "import/ascend/opprof.h"
#include "import/capture_cache.h"

#define MANIFEST "manifest_export.csv"
#define MAX_RUNS 100000

struct manifest {
	const char *dir;
	char *real;
	struct file_root root; /* dir, opened */
};

static bool is_inside(const char *root, const char *path)
{
	size_t n = strlen(root);

	return strncmp(path, root, n) == 0 && path[n] == '/';
}

/* The folder of a bin below root, without "simulator"; NULL: no file there. */
static const char *run_of_file(const struct manifest *m, const char *path, struct arena *a)
{
	char *real = realpath(path, NULL);
	const char *found = NULL;

	struct stat st;

	if (real && is_inside(m->real, real) &&
		file_stat_below(m->root, real + strlen(m->real) + 1, &st) == 0 &&
		!S_ISDIR(st.st_mode)) {
		struct str rest = str_of(real + strlen(m->real) + 1);
		ptrdiff_t cut = str_rfind_char(rest, '/');

		rest = str_sub(rest, 0, cut > 0 ? (size_t)cut : 0);
		if (str_ends(rest, "/simulator"))
			rest.n -= strlen("/simulator");
		found = rest.n ? arena_printf(a, "%s/%.*s", m->dir, STR_ARG(rest)) : NULL;
	}
	free(real);
	return found;
}

/* Tries a cell unchanged, or from "funcs/" on. */
static const char *run_of_cell(const struct manifest *m, struct str cell, struct arena *a)
{
	ptrdiff_t at = str_find(cell, "funcs/");
	const char *found = NULL;

	for (int i = 0; i < 2 && !found && cell.n; i++) {
		char *name = mem_strndup(cell.p, cell.n);
		char *path = name && name[0] != '/' ? path_join(m->dir, name) : NULL;

		if (name)
			found = run_of_file(m, path ? path : name, a);
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
	struct csv_reader *r, const struct manifest *m, struct arena *a, struct runs *out)
{
	struct incore_error e = {0};
	bool at_end = false;
	int column;

	if (csv_header(r, &e) && (column = csv_column(r, "visualize_data_bin")) >= 0) {
		while (out->v.n < MAX_RUNS && csv_row(r, &at_end, &e)) {
			const char *run = run_of_cell(m, str_trim(csv_field(r, column)), a);

			if (run && !VEC_PUSH(&out->v, run))
				break;
		}
	}
	incore_error_clear(&e);
}

void opprof_manifest_runs(struct capture_cache *cache, const char *dir, struct str csv,
	struct arena *a, const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache};
	struct manifest m = {.dir = dir, .real = realpath(dir, NULL)};
	struct runs runs = {0};
	struct csv_reader r;

	*n = 0;
	*paths = NULL;
	csv_init(&r, (const uint8_t *)csv.p, csv.n, MANIFEST);
	if (m.real && import_root_open(&o, &m.root, dir)) {
		read_rows(&r, &m, a, &runs);
		close(m.root.fd);
	}
	csv_deinit(&r);
	if (runs.v.n)
		*paths = arena_memdup(a, runs.v.v, runs.v.n * sizeof(*runs.v.v));
	if (*paths)
		*n = (uint32_t)runs.v.n;
	VEC_FREE(&runs.v);
	free(m.real);
}

void opprof_list_manifest(const char *dir, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache, .is_look = true, .root = dir};
	char *path = path_join(dir, MANIFEST);
	struct file_data f = {0};

	*n = 0;
	*paths = NULL;
	if (path && file_exists_in(capture_fence(cache), path) && import_load(&o, &f, path, NULL))
		opprof_manifest_runs(
			cache, dir, (struct str){(const char *)f.data, f.size}, a, paths, n);
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
