/* SPDX-License-Identifier: Apache-2.0 */
/* record_tools.c: where are the recorder's headers, a C++ compiler and the cache? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/process.h"
#include "model/record/record_internal.h"

static char *copy_of(const char *s)
{
	return mem_strndup(s, strlen(s));
}

static bool find_recorder(
	struct record_tools *t, const struct record_options *o, struct incore_error *e)
{
	const char *env = getenv("INCORE_RECORDER");
	char *driver;

	if (o->recorder_dir || (env && *env))
		t->recorder_dir = copy_of(o->recorder_dir ? o->recorder_dir : env);
	if (!t->recorder_dir)
		t->recorder_dir = file_beside_program("../share/incore/recorder");
	if (!t->recorder_dir)
		t->recorder_dir = file_beside_program("../recorder"); /* in the source tree */
	if (!t->recorder_dir)
		return err_set(e, INCORE_MISSING, "no-recorder",
			"the recorder's headers are not installed beside the program; INCORE_RECORDER names their folder");
	driver = path_join(t->recorder_dir, "driver.cpp");
	if (!driver)
		return err_nomem(e);
	if (!file_exists(driver)) {
		mem_free(driver);
		return err_set(
			e, INCORE_MISSING, "no-recorder", "%s holds no recorder", t->recorder_dir);
	}
	mem_free(driver);
	return true;
}

/* The path that exec would find, if it is executable; or NULL. */
static char *runnable(const char *name)
{
	char *path = process_find(name);

	if (path && access(path, X_OK) == 0)
		return path;
	mem_free(path);
	return NULL;
}

static bool find_compiler(
	struct record_tools *t, const struct record_options *o, struct incore_error *e)
{
	static const char *const NAMES[] = {"g++", "clang++", "c++"};
	const char *env = getenv("CXX");
	const char *wanted = o->compiler ? o->compiler : env && *env ? env : NULL;

	if (wanted) {
		t->compiler = runnable(wanted);
		if (!t->compiler)
			return err_set(e, INCORE_MISSING, "no-compiler",
				"there is no C++ compiler '%s' ($CXX)", wanted);
		return true;
	}
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]) && !t->compiler; i++)
		t->compiler = runnable(NAMES[i]);
	if (!t->compiler)
		return err_set(e, INCORE_MISSING, "no-compiler",
			"there is no C++ compiler: install g++ (Debian: apt install g++) or clang++, or name one in $CXX");
	return true;
}

/* Like mkdir -p: existing folders are fine. */
static bool make_dirs(const char *path, struct incore_error *e)
{
	char *copy = copy_of(path);
	int failed = 0;

	if (!copy)
		return err_nomem(e);
	for (char *p = copy + 1;; p++) {
		char was = *p;

		if (was != '/' && was != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, 0700) != 0 && errno != EEXIST)
			failed = errno;
		*p = was;
		if (was == '\0')
			break;
	}
	mem_free(copy);
	if (!file_is_dir(path))
		return err_set(e, INCORE_FAILED, "no-cache", "cannot make the cache folder %s: %s",
			path, strerror(failed));
	return true;
}

/* Its programs are executed, so it must be ours, and nobody else may have write access. */
static bool is_private(const char *path, struct incore_error *e)
{
	struct stat st;

	if (stat(path, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 022))
		return err_set(e, INCORE_FAILED, "no-cache",
			"the cache folder %s belongs to somebody else, or others may write there",
			path);
	return true;
}

static bool find_cache(
	struct record_tools *t, const struct record_options *o, struct incore_error *e)
{
	const char *env = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct strbuf b = {0};

	if (o->cache_dir)
		sb_puts(&b, o->cache_dir);
	else if (env && *env == '/')
		sb_printf(&b, "%s/incore/recorder", env);
	else if (home && *home == '/')
		sb_printf(&b, "%s/.cache/incore/recorder", home);
	else
		sb_printf(&b, "%s/incore-recorder-%u", file_temp_root(), (unsigned)getuid());
	if (b.failed) {
		sb_free(&b);
		return err_nomem(e);
	}
	t->cache_dir = b.p;
	return make_dirs(t->cache_dir, e) && is_private(t->cache_dir, e);
}

struct tree_hash {
	const char *dir;
	struct hash_stream *h;
};

static bool hash_entry(void *ctx, const char *name, struct incore_error *e)
{
	const struct tree_hash *t = ctx;
	char *path = path_join(t->dir, name);
	struct file_data f = {0};
	bool ok;

	if (!path)
		return err_nomem(e);
	hash_stream_add(t->h, name, strlen(name) + 1);
	if (file_is_dir(path)) {
		struct tree_hash below = {path, t->h};

		ok = strcmp(name, "validate") == 0 || dir_each(path, hash_entry, &below, e);
	} else {
		ok = file_load(&f, path, e);
		if (ok)
			hash_stream_add(t->h, f.data, f.size);
		file_unload(&f);
	}
	mem_free(path);
	return ok;
}

static bool make_seed(struct record_tools *t, struct incore_error *e)
{
	struct hash_stream h;
	struct tree_hash tree = {t->recorder_dir, &h};
	struct stat st;

	hash_stream_init(&h);
	hash_stream_add(&h, INCORE_VERSION, sizeof(INCORE_VERSION));
	hash_stream_add(&h, t->compiler, strlen(t->compiler) + 1);
	if (stat(t->compiler, &st) == 0) {
		const int64_t id[] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};

		hash_stream_add(&h, id, sizeof(id));
	}
	if (!dir_each(t->recorder_dir, hash_entry, &tree, e))
		return err_wrap(e, "the recorder's headers");
	t->seed = hash_stream_end(&h);
	return true;
}

bool record_tools_find(
	struct record_tools *t, const struct record_options *o, struct incore_error *e)
{
	*t = (struct record_tools){0};
	arena_init(&t->arena);
	return (o->is_unsafe || walls_are_possible(e)) && find_recorder(t, o, e) &&
	       find_compiler(t, o, e) && find_cache(t, o, e) && make_seed(t, e);
}

void record_tools_free(struct record_tools *t)
{
	arena_deinit(&t->arena);
	mem_free(t->recorder_dir);
	mem_free(t->cache_dir);
	mem_free(t->compiler);
	*t = (struct record_tools){0};
}
