/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_fence.c: what may the compiler of a kernel's source access? The toolchain, the folder of
 * the kernel, the given header folders, and its own work folder. A source can name any file
 * (#include, .incbin) and make its text part of a message or of the program, so everything that is
 * not needed is unreadable.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/record/record_internal.h"

#define MAX_FILE (UINT64_C(1) << 30)

/* path NULL: out of memory. */
static bool add_path(record_paths *to, const char *path)
{
	return path && VEC_PUSH(to, path);
}

/* Adds the folder of a source; for kernels/aiv/k.cpp also the one above, where kernels share
 * headers. */
static bool add_folder(struct record_fence *f, const char *source)
{
	int n = (int)(path_base(source) - source);
	const char *dir = arena_printf(f->arena, "%.*s.", n, source);
	char *real = dir ? realpath(dir, NULL) : NULL;
	enum kernel_core core = KERNEL_ON_ANY;
	bool ok = add_path(&f->readable, dir); /* also as named: links on the way */

	if (real)
		ok = add_path(&f->readable, arena_printf(f->arena, "%s", real));
	if (real && kernel_core_of(str_of(path_base(real)), &core) && core != KERNEL_ON_ANY)
		ok = ok && add_path(&f->readable, arena_printf(f->arena, "%s/..", real));
	free(real);
	return ok;
}

/* Adds the folder of a file, and of the file it links to. */
static bool add_folders(struct record_fence *f, const char *source)
{
	char *real = realpath(source, NULL);
	bool ok = add_folder(f, source) && (!real || add_folder(f, real));

	free(real);
	return ok;
}

/* A compiler outside the system's folders has its own tree, PREFIX/bin/g++; if PREFIX is the home
 * directory, only the program itself is added. */
static bool add_toolchain(struct record_fence *f, const char *compiler)
{
	char *real = realpath(compiler, NULL), *slash;
	char *home = getenv("HOME") ? realpath(getenv("HOME"), NULL) : NULL;
	bool ok = add_path(&f->programs, compiler);

	for (unsigned up = 0; real && up < 2; up++)
		if ((slash = strrchr(real, '/')) != NULL)
			*slash = '\0';
	if (ok && real && *real && (!home || strcmp(real, home) != 0))
		ok = add_path(&f->programs, arena_printf(f->arena, "%s", real));
	free(home);
	free(real);
	return ok;
}

/* Is the folder within one whose programs may be run? */
static bool is_of_toolchain(const struct record_fence *f, const char *dir)
{
	char *real = *dir == '/' ? realpath(dir, NULL) : NULL;
	bool is_inside = false;

	for (size_t i = 0; real && !is_inside && i < f->programs.n; i++) {
		char *top = realpath(f->programs.v[i], NULL);
		size_t n = top ? strlen(top) : 0;

		is_inside = top && strncmp(real, top, n) == 0 && (!real[n] || real[n] == '/');
		free(top);
	}
	free(real);
	return is_inside;
}

/* Passes on, from a list of folders in our environment, those from which it may run programs; a
 * toolchain outside the system needs them, and others could inject foreign code. */
static bool add_list(struct record_fence *f, const char *name)
{
	const char *value = getenv(name), *kept = "", *dir;
	struct str rest = str_of(value ? value : ""), part;

	while (kept && rest.n && str_cut(&rest, ":", &part)) {
		dir = arena_strndup(f->arena, part.p ? part.p : "", part.n);
		if (!dir)
			return false;
		if (is_of_toolchain(f, dir))
			kept = arena_printf(f->arena, "%s%s%s", kept, *kept ? ":" : "", dir);
	}
	return kept && (!*kept || add_path(&f->env, arena_printf(f->arena, "%s=%s", name, kept)));
}

/* Passes no variables that locate parts of a compiler (COMPILER_PATH, CPATH): use --include and the
 * compiler's own prefix. */
static bool add_environment(struct record_fence *f)
{
	bool ok = add_path(&f->env, "LC_ALL=C") &&
		  add_path(&f->env, "CCACHE_DISABLE=1") && /* only our cache is written */
		  add_path(&f->env, arena_printf(f->arena, "TMPDIR=%s", f->work_dir));

	if (!f->is_open) /* else these go on top of all of ours */
		ok = ok && add_path(&f->env, arena_printf(f->arena, "HOME=%s", f->work_dir)) &&
		     add_list(f, "PATH") && add_list(f, "LD_LIBRARY_PATH");
	return ok && VEC_PUSH(&f->env, (const char *)NULL);
}

static bool add_places(struct record_fence *f, struct record_tools *t, const struct record_unit *u,
	const struct record_options *o)
{
	/* in the source tree this one is a link */
	const char *shared = arena_printf(f->arena, "%s/incore/opstream_types.h", t->recorder_dir);
	bool ok = shared && add_folders(f, shared) && add_path(&f->readable, t->recorder_dir) &&
		  add_path(&f->readable, t->cache_dir) && add_folders(f, u->source) &&
		  (!o->wrapped || add_folders(f, o->wrapped)) &&
		  add_path(&f->writable, f->work_dir) && add_path(&f->writable, "/dev/null");

	for (size_t i = 0; ok && walls_system[i]; i++)
		ok = add_path(&f->programs, walls_system[i]);
	for (size_t i = 0; ok && i < o->n_include_dirs; i++)
		ok = add_path(&f->readable, o->include_dirs[i]);
	return ok && add_environment(f);
}

bool record_fence_init(struct record_fence *f, struct record_tools *t, const struct record_unit *u,
	const struct record_options *o, struct incore_error *e)
{
	char *name = arena_printf(&t->arena, "%s/work-XXXXXX", t->cache_dir);

	*f = (struct record_fence){.arena = &t->arena, .is_open = o->is_unsafe};
	if (!name)
		return err_nomem(e);
	f->work_dir = mkdtemp(name);
	if (!f->work_dir)
		return err_errno(e, errno, t->cache_dir, "write");
	leftover_add(f->work_dir, false);
	if (!add_toolchain(f, t->compiler) || !add_places(f, t, u, o) ||
		!VEC_PUSH(&f->programs, (const char *)NULL) ||
		!VEC_PUSH(&f->readable, (const char *)NULL) ||
		!VEC_PUSH(&f->writable, (const char *)NULL))
		return err_nomem(e);
	f->walls = (struct walls){.programs = f->programs.v,
		.readable = f->readable.v,
		.writable = f->writable.v,
		.file_bytes = MAX_FILE};
	return true;
}

void record_fence_deinit(struct record_fence *f)
{
	if (f->work_dir) {
		remove_tree(f->work_dir);
		leftover_drop(f->work_dir);
	}
	VEC_FREE(&f->programs);
	VEC_FREE(&f->readable);
	VEC_FREE(&f->writable);
	VEC_FREE(&f->env);
}
