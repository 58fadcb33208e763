/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_output.c: searches the folders of a run. */
#include "replay/msprof/msprof_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"

const char *msprof_new_dir(
	struct arena *a, const char *dir, const char *name, struct incore_error *e)
{
	for (unsigned i = 1; i < 1000; i++) {
		const char *path = i == 1 ? arena_printf(a, "%s/%s", dir, name)
					  : arena_printf(a, "%s/%s_%u", dir, name, i);

		if (!path)
			return err_nomem_null(e);
		if (mkdir(path, 0700) == 0)
			return path;
		if (errno != EEXIST) {
			err_errno(e, errno, path, "make the directory");
			return NULL;
		}
	}
	err_set(e, INCORE_FAILED, "no-place", "%s has a thousand folders %s", dir, name);
	return NULL;
}

/* --- the newest OPPROF_* --- */

struct newest {
	struct arena *arena;
	const char *dir, *path;
	struct timespec when;
};

static bool take_newest(void *ctx, const char *name, struct incore_error *e)
{
	struct newest *n = ctx;
	struct stat st;
	char *path;

	if (strncmp(name, "OPPROF_", 7) != 0)
		return true;
	path = arena_printf(n->arena, "%s/%s", n->dir, name);
	if (!path)
		return err_nomem(e);
	if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return true;
	/* names come in order: at equal times the later name wins */
	if (!n->path || st.st_mtim.tv_sec > n->when.tv_sec ||
		(st.st_mtim.tv_sec == n->when.tv_sec && st.st_mtim.tv_nsec >= n->when.tv_nsec)) {
		n->path = path;
		n->when = st.st_mtim;
	}
	return true;
}

static const char *newest_run(struct arena *a, const char *dir)
{
	struct newest n = {.arena = a, .dir = dir};

	return file_is_dir(dir) && dir_each(dir, take_newest, &n, NULL) ? n.path : NULL;
}

/* --- a complete directory --- */

struct cores {
	const char *dir;
	bool has_csv;
	struct arena *arena;
};

static bool has_csv(void *ctx, const char *name, struct incore_error *e)
{
	(void)e;
	if (strstr(name, "instr_exe") && str_ends(str_of(name), ".csv"))
		*(bool *)ctx = true;
	return true;
}

static bool look_in_core(void *ctx, const char *name, struct incore_error *e)
{
	struct cores *c = ctx;
	char *path = arena_printf(c->arena, "%s/%s", c->dir, name);

	if (!path)
		return err_nomem(e);
	return strncmp(name, "core", 4) != 0 || !file_is_dir(path) ||
	       dir_each(path, has_csv, &c->has_csv, e);
}

static bool has_bytes(struct arena *a, const char *dir, const char *name)
{
	const char *path = arena_printf(a, "%s/%s", dir, name);

	return path && file_size(path) > 0;
}

/* trace.json, visualize_data.bin, at least one core with an instruction table */
static bool is_complete(struct arena *a, const char *dir)
{
	struct cores c = {.dir = dir, .arena = a};

	return file_is_dir(dir) && has_bytes(a, dir, "trace.json") &&
	       has_bytes(a, dir, "visualize_data.bin") && dir_each(dir, look_in_core, &c, NULL) &&
	       c.has_csv;
}

/* --- device<N>/<kernel>/<launch>/simulator --- */

struct deep { /* one walk; level 0 is the OPPROF folder */
	struct arena *arena;
	const char *dir, *kernel, *best;
	unsigned level, n_found;
	bool is_kernel, best_is_kernel; /* is it the requested kernel? */
	uint64_t launch, best_launch;
};

static void take_deep(struct deep *d, const char *path)
{
	if (!is_complete(d->arena, path))
		return;
	d->n_found++;
	if (!d->best || (d->is_kernel && !d->best_is_kernel) ||
		(d->is_kernel == d->best_is_kernel && d->launch < d->best_launch)) {
		d->best = path;
		d->best_is_kernel = d->is_kernel;
		d->best_launch = d->launch;
	}
}

static bool go_down(void *ctx, const char *name, struct incore_error *e)
{
	struct deep *d = ctx;
	const char *above = d->dir, *path = arena_printf(d->arena, "%s/%s", d->dir, name);
	bool ok = true;

	if (!path)
		return err_nomem(e);
	if (!file_is_dir(path) || (d->level == 0 && strncmp(name, "device", 6) != 0))
		return true;
	if (d->level == 1)
		d->is_kernel = strncmp(name, d->kernel, strlen(d->kernel)) == 0;
	if (d->level == 2 && !str_to_u64(str_of(name), &d->launch))
		d->launch = UINT64_MAX;
	if (d->level == 2) {
		path = arena_printf(d->arena, "%s/simulator", path);
		if (!path)
			return err_nomem(e);
		take_deep(d, path);
		return true;
	}
	d->dir = path;
	d->level++;
	ok = dir_each(path, go_down, d, e);
	d->level--;
	d->dir = above;
	return ok;
}

const char *msprof_find_simulator(
	struct arena *a, const char *dir, const char *kernel, unsigned *n_found)
{
	const char *run = newest_run(a, dir);
	const char *flat = run ? arena_printf(a, "%s/simulator", run) : NULL;
	struct deep d = {.arena = a, .dir = run, .kernel = kernel};

	*n_found = 0;
	if (!flat)
		return NULL;
	if (is_complete(a, flat)) {
		*n_found = 1;
		return flat;
	}
	if (!dir_each(run, go_down, &d, NULL))
		return NULL;
	*n_found = d.n_found;
	return d.best;
}

const char *msprof_settle_simulator(struct arena *a, const char *simulator, struct incore_error *e)
{
	const char *device = strstr(simulator, "/OPPROF_"), *end;
	const char *place;

	/* the last such folder of the path */
	for (const char *p = device; p; p = strstr(p + 1, "/OPPROF_"))
		device = p;
	end = device ? strchr(device + 1, '/') : NULL;
	if (!end || strcmp(end, "/simulator") == 0)
		return simulator;
	place = arena_printf(a, "%.*s/simulator", (int)(end - simulator), simulator);
	if (!place)
		return err_nomem_null(e);
	if (symlink(end + 1, place) != 0) {
		err_errno(e, errno, place, "link the simulator directory");
		return NULL;
	}
	return place;
}

/* --- on the device --- */

struct looking { /* search for visualize_data.bin */
	struct arena *arena;
	const char *dir;
	unsigned depth;
	bool has_bin;
};

static bool look_for_bin(void *ctx, const char *name, struct incore_error *e)
{
	struct looking *l = ctx;
	const char *above = l->dir, *path = arena_printf(l->arena, "%s/%s", l->dir, name);
	bool ok = true;

	if (!path)
		return err_nomem(e);
	if (strcmp(name, "visualize_data.bin") == 0 && file_size(path) > 0) {
		l->has_bin = true;
	} else if (l->depth < 3 && file_is_dir(path)) {
		l->dir = path;
		l->depth++;
		ok = dir_each(path, look_for_bin, l, e);
		l->depth--;
		l->dir = above;
	}
	return ok;
}

bool msprof_has_run(struct arena *a, const char *dir)
{
	struct looking l = {.arena = a, .dir = newest_run(a, dir)};

	return l.dir && dir_each(l.dir, look_for_bin, &l, NULL) && l.has_bin;
}

/* --- an older msprof --- */

const char *msprof_find_dump(struct arena *a, const char *dir)
{
	static const char *const PLACES[] = {
		"device0/tmp_dump", "device0/dump", "tmp_dump", "dump"};
	const char *run = newest_run(a, dir);

	for (size_t i = 0; run && i < sizeof(PLACES) / sizeof(*PLACES); i++) {
		const char *p = arena_printf(a, "%s/%s", run, PLACES[i]);

		if (p && file_is_dir(p))
			return p;
	}
	return NULL;
}

static bool copy_file(const char *from, const char *to, struct incore_error *e)
{
	struct file_data f = {0};
	struct out_file o = {0};
	bool ok = file_load(&f, from, e) && out_file_open(&o, to, e);

	if (ok) {
		fwrite(f.data, 1, f.size, o.f);
		ok = out_file_commit(&o, e);
	}
	file_unload(&f);
	return ok;
}

bool msprof_copy_start_address(struct arena *a, const char *dump, struct incore_error *e)
{
	static const char *const NEAR[] = {"..", "../.."};
	const char *to = arena_printf(a, "%s/pc_start_addr.txt", dump);

	if (!to)
		return err_nomem(e);
	for (size_t i = 0; i < 2 && !file_exists(to); i++) {
		const char *from = arena_printf(a, "%s/%s/pc_start_addr.txt", dump, NEAR[i]);

		if (!from)
			return err_nomem(e);
		if (file_exists(from))
			return copy_file(from, to, e);
	}
	return true;
}
