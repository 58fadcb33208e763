/* SPDX-License-Identifier: Apache-2.0 */
/* clean_find.c: finds the runs of a simulator below a path. */
#include "export/clean/clean_find.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "import/ascend/opprof.h"

#define MAX_DEPTH 8
#define MAX_KERNEL 120

void clean_runs_deinit(struct clean_runs *r)
{
	arena_deinit(&r->arena);
	VEC_FREE(&r->v);
	*r = (struct clean_runs){0};
}

static bool clean_find_is_number(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0 && s.n <= 3;
}

/* Removes and returns the last component of *path. */
static struct str clean_find_take_last(struct str *path)
{
	ptrdiff_t slash;
	struct str last;

	while (path->n && path->p[path->n - 1] == '/')
		path->n--;
	slash = str_rfind_char(*path, '/');
	last = str_sub(*path, (size_t)(slash + 1), path->n);
	path->n = slash < 0 ? 0 : (size_t)slash;
	return last;
}

/* Makes a name safe to use as one path component: it comes from the file system or a file. */
static char *safe_name(struct arena *a, struct str s)
{
	char *out;

	s.n = s.n > MAX_KERNEL ? MAX_KERNEL : s.n;
	if (!s.n)
		s = STR("kernel");
	out = arena_strndup(a, s.p, s.n);
	for (char *p = out; p && *p; p++)
		if (*p == '/' || (unsigned char)*p <= ' ' || *p == 127 || (p == out && *p == '.'))
			*p = '_';
	return out;
}

static struct str stem_of(struct str name)
{
	ptrdiff_t dot = str_rfind_char(name, '.');

	return dot > 0 ? str_sub(name, 0, (size_t)dot) : name;
}

#define MANIFEST "manifest_export.csv"

/* Where the last of these words begins in a path; -1: nowhere. */
static ptrdiff_t clean_find_last_of(struct str path, const char *word)
{
	ptrdiff_t at = -1, next = str_find(path, word);

	for (; next >= 0; next = str_find(path, word)) {
		at = at < 0 ? next : at + 1 + next;
		path = str_sub(path, (size_t)next + 1, path.n);
	}
	return at;
}

/* Finds the folder of a run's kernel: <root>/funcs/<kernel> where the root has a manifest, which
 * names it, or a replay's. */
static bool find_folder(
	struct clean_runs *r, struct clean_run *run, struct str real, struct incore_error *e)
{
	ptrdiff_t at = clean_find_last_of(real, "/funcs/"),
		  replay = clean_find_last_of(real, "/insight_export/");
	struct str rest = str_sub(real, (size_t)(at < 0 ? 0 : at) + strlen("/funcs/"), real.n),
		   name;
	const char *path;

	if (at >= 0 && str_cut(&rest, "/", &name) && rest.n) {
		path = arena_printf(&r->arena, "%.*s/" MANIFEST, (int)at, real.p);
		if (!path)
			return err_nomem(e);
		if (file_exists(path)) {
			run->kernel = safe_name(&r->arena, name);
			run->folder = arena_strndup(
				&r->arena, real.p, (size_t)(name.p + name.n - real.p));
			return (run->kernel && run->folder) || err_nomem(e);
		}
	}
	if (replay > 0)
		run->folder = arena_strndup(&r->arena, real.p, (size_t)replay);
	return replay <= 0 || run->folder || err_nomem(e);
}

/* Names a run by its manifest, by <kernel>/<n>/simulator/x, OPPROF_<...>/simulator/x, or else by its folder or
 * file. */
static bool name_run(struct clean_runs *r, struct clean_run *run, struct incore_error *e)
{
	char *real = realpath(run->path, NULL);
	struct str rest = str_of(real ? real : run->path), file = {0}, dir, name;

	if (!run->is_other)
		file = clean_find_take_last(&rest);
	dir = clean_find_take_last(&rest);
	if (str_is(dir, "simulator") || str_is(dir, "dump") || str_is(dir, "tmp_dump"))
		dir = clean_find_take_last(&rest);
	if (!find_folder(r, run, str_of(real ? real : run->path), e)) {
		free(real);
		return false;
	}
	if (clean_find_is_number(dir) && rest.n) {
		run->launch = safe_name(&r->arena, dir);
		name = clean_find_take_last(&rest);
	} else {
		name = dir;
	}
	if (file.n && !str_is(file, "visualize_data.bin") && !str_is(file, "trace.json"))
		name = stem_of(file);
	if (!run->kernel)
		run->kernel = safe_name(&r->arena, name);
	free(real);
	return run->kernel || err_nomem(e);
}

/* Adds a run; root: the folder that was searched; NULL: the user named the run itself. */
static bool clean_find_add_run(struct clean_runs *r, const char *path, const char *root,
	bool is_bin, bool is_other, struct incore_error *e)
{
	struct clean_run run = {.is_bin = is_bin, .is_other = is_other};

	run.path = arena_strdup(&r->arena, path);
	run.root = root ? arena_strdup(&r->arena, root) : NULL;
	if (!run.path || (root && !run.root))
		return err_nomem(e);
	if (!name_run(r, &run, e))
		return false;
	return VEC_PUSH(&r->v, run) || err_nomem(e);
}

struct clean_find_visit {
	struct clean_runs *r;
	const char *dir;
	unsigned depth;
};

static bool clean_find_look_below(
	struct clean_runs *r, const char *dir, unsigned depth, struct incore_error *e);

static bool visit_entry(void *ctx, const char *name, struct incore_error *e)
{
	struct clean_find_visit *v = ctx;
	char *path = path_join(v->dir, name);
	struct stat st;
	bool ok = true;

	if (!path)
		return err_nomem(e);
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		struct incore_error ignored = {0};

		ok = clean_find_look_below(v->r, path, v->depth + 1, &ignored) ||
		     ignored.status == INCORE_BAD_INPUT; /* skip an unreadable folder */
		if (!ok)
			err_move(e, &ignored);
		else if (ignored.status != INCORE_OK)
			v->r->n_unreadable++;
		incore_error_clear(&ignored);
	}
	mem_free(path);
	return ok;
}

/* Searches a folder. If it contains a run, the folders below have per-core files: skip them. */
static bool clean_find_look_below(
	struct clean_runs *r, const char *dir, unsigned depth, struct incore_error *e)
{
	static const char *const names[] = {"visualize_data.bin", "trace.json"};
	struct clean_find_visit v = {r, dir, depth};

	for (unsigned i = 0; i < 2; i++) {
		char *path = path_join(dir, names[i]);
		bool is_there, ok;

		if (!path)
			return err_nomem(e);
		is_there = file_size(path) >= 0 && !file_is_dir(path);
		ok = !is_there || clean_find_add_run(r, path, dir, i == 0, false, e);
		mem_free(path);
		if (is_there || !ok)
			return ok;
	}
	return depth >= MAX_DEPTH || dir_each(dir, visit_entry, &v, e);
}

bool clean_find(struct clean_runs *r, const char *path, struct incore_error *e)
{
	size_t n = r->v.n;

	if (!file_is_dir(path)) {
		struct str name = str_of(path);
		bool is_json = str_ends(name, ".json"), is_bin = str_ends(name, ".bin");

		return clean_find_add_run(r, path, NULL, is_bin, !is_json && !is_bin, e);
	}
	return clean_find_look_below(r, path, 0, e) &&
	       (r->v.n > n || clean_find_add_run(r, path, NULL, false, true, e));
}

bool clean_find_listed(struct clean_runs *r, const char *path, struct incore_error *e)
{
	const char **listed;
	struct arena a;
	uint32_t n;
	bool ok = true;

	arena_init(&a);
	opprof_list_manifest(path, NULL, &a, &listed, &n);
	for (uint32_t i = 0; ok && i < n; i++)
		ok = clean_find(r, listed[i], e);
	if (!n)
		ok = clean_find(r, path, e);
	arena_deinit(&a);
	return ok;
}

/* --- what is known of a run's kernel --- */

/* Takes the values of the lines KEY=VALUE of a file; a file that is not there has none. */
static bool take_keys(struct arena *a, const char *path, const char *const *keys,
	const char **const *out, struct incore_error *e)
{
	struct file_data f = {0};
	struct str rest, line, key;
	bool ok = path != NULL;

	if (!ok || !file_exists(path) || !file_load(&f, path, NULL))
		return ok || err_nomem(e);
	rest = (struct str){(const char *)f.data, f.size};
	while (ok && str_cut(&rest, "\n", &line) && str_cut(&line, "=", &key))
		for (size_t i = 0; ok && keys[i]; i++)
			if (str_is(key, keys[i]) && line.n && !*out[i]) {
				*out[i] = arena_strndup(a, line.p, line.n);
				ok = *out[i] != NULL;
			}
	file_unload(&f);
	return ok || err_nomem(e);
}

bool clean_origin_read(struct arena *a, const struct clean_run *run, struct clean_origin *out,
	struct incore_error *e)
{
	static const char *const keys[] = {"func", "kernel", "source", "workload", NULL};
	static const char *const root_keys[] = {"script", "build_dir", NULL};
	static const char *const files[] = {"profile.txt", "summary.txt", NULL};
	const char *const folder = run->folder;
	const char **const at[] = {&out->kernel, &out->kernel, &out->source, &out->workload};
	const char **const root_at[] = {&out->made_by, &out->made_by};
	struct str name;
	bool ok = true;

	*out = (struct clean_origin){0};
	if (!folder)
		return true;
	for (size_t i = 0; ok && files[i]; i++)
		ok = take_keys(a, arena_printf(a, "%s/%s", folder, files[i]), keys, at, e);
	ok = ok &&
	     take_keys(a, arena_printf(a, "%s/../../README.txt", folder), root_keys, root_at, e);
	if (!ok || !out->made_by)
		return ok;
	name = str_of(out->made_by);
	name = clean_find_take_last(&name);
	out->made_by = safe_name(a, stem_of(name));
	return out->made_by || err_nomem(e);
}

/* --- names --- */

static bool clean_find_is_repeated(const struct clean_runs *runs, size_t i)
{
	for (size_t k = 0; k < runs->v.n; k++)
		if (k != i && strcmp(runs->v.v[k].kernel, runs->v.v[i].kernel) == 0)
			return true;
	return false;
}

static bool clean_find_is_taken(char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

char **clean_name_runs(struct clean_runs *runs)
{
	char **names = arena_zalloc(&runs->arena, runs->v.n + 1, sizeof(*names));

	for (size_t i = 0; names && i < runs->v.n; i++) {
		const struct clean_run *r = &runs->v.v[i];
		bool with_launch = r->launch && clean_find_is_repeated(runs, i);
		char *base = arena_printf(&runs->arena, "%s%s%s", r->kernel, with_launch ? "." : "",
			with_launch ? r->launch : "");

		names[i] = base;
		for (unsigned k = 2; names[i] && clean_find_is_taken(names, i, names[i]); k++)
			names[i] = arena_printf(&runs->arena, "%s.%u", base, k);
		if (!names[i])
			return NULL;
	}
	return names;
}
