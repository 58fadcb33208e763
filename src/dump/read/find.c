/* SPDX-License-Identifier: Apache-2.0 */
/* find.c: finds the manifest by the names of every generation, in the order they are tried. */
#include "dump/read/find.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#define SEARCH_DEPTH 4	  /* below a build directory */
#define SEARCH_MOST 20000 /* maximum number of directory entries examined */

static char *if_file(const char *dir, const char *name)
{
	char *path = path_join(dir, name);

	if (path && file_exists(path) && !file_is_dir(path))
		return path;
	mem_free(path);
	return NULL;
}

struct stamped {
	const char *dir;
	char *found;
};

/* tensor_dump_<timestamp>.json: names sort by time, the newest wins. */
static bool keep_stamped(void *ctx, const char *name, struct incore_error *e)
{
	struct stamped *s = ctx;
	struct str n = str_of(name);
	char *path;

	(void)e;
	if (!str_starts(n, "tensor_dump_") || !str_ends(n, ".json"))
		return true;
	path = if_file(s->dir, name);
	if (path) {
		mem_free(s->found);
		s->found = path;
	}
	return true;
}

static char *in_directory(const char *dir)
{
	struct stamped s = {.dir = dir};
	char *path = if_file(dir, "args_dump.json");

	if (!path)
		path = if_file(dir, "tensor_dump.json");
	if (path)
		return path;
	if (file_is_dir(dir))
		dir_each(dir, keep_stamped, &s, NULL);
	return s.found;
}

/* Searches dir, then the subfolders that producers create. */
static char *near(const char *dir)
{
	static const char *const folders[] = {
		"args_dump", "tensor_dump", "dfx_outputs/args_dump", "dfx_outputs/tensor_dump"};
	char *found = in_directory(dir);

	for (size_t i = 0; !found && i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *sub = path_join(dir, folders[i]);

		if (sub)
			found = in_directory(sub);
		mem_free(sub);
	}
	if (!found)
		found = if_file(dir, "kernel_args_dump.json");
	return found ? found : if_file(dir, "tensor_dump/kernel_args_dump.json");
}

typedef VEC(char *) path_list;

struct below {
	const char *dir;
	unsigned depth, *left;
	path_list *found;
};

static bool look_below(void *ctx, const char *name, struct incore_error *e)
{
	struct below *s = ctx;
	struct stat st;
	char *path, *hit;
	bool ok = true;

	if (*s->left == 0 || name[0] == '.')
		return true;
	(*s->left)--;
	path = path_join(s->dir, name);
	if (!path)
		return err_nomem(e);
	/* links are not followed: a loop would never end */
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		hit = strcmp(name, "dfx_outputs") == 0 ? near(path) : NULL;
		if (hit && !VEC_PUSH(s->found, hit)) {
			mem_free(hit);
			ok = err_nomem(e);
		} else if (!hit && s->depth > 1) {
			struct below deeper = {path, s->depth - 1, s->left, s->found};

			dir_each(path, look_below, &deeper, NULL);
		}
	}
	mem_free(path);
	return ok;
}

static bool exists_in(const char *dir, const char *name)
{
	char *path = if_file(dir, name);
	bool is = path != NULL;

	mem_free(path);
	return is;
}

/* Explains why a directory has no readable manifest. */
static void explain(const char *dir, struct incore_error *e)
{
	if (exists_in(dir, "args.log")) {
		err_file(e, "unclosed-dump", dir, INCORE_NO_OFFSET,
			"the dump was not closed: it has a log but no manifest; run incore dump repair on it");
	} else {
		err_file(e, "not-a-dump", dir, INCORE_NO_OFFSET,
			"no dump here: expected args_dump.json, tensor_dump.json, tensor_dump_*.json, or a dfx_outputs directory below");
	}
}

char *dump_find(const char *path, struct incore_error *e)
{
	unsigned left = SEARCH_MOST;
	path_list found = {0};
	struct below s = {path, SEARCH_DEPTH, &left, &found};
	char *hit;

	if (!file_is_dir(path)) {
		hit = mem_strndup(path, strlen(path));
		if (!hit)
			err_nomem(e);
		return hit;
	}
	hit = near(path);
	if (hit || exists_in(path, "args.log")) {
		if (!hit)
			explain(path, e);
		return hit;
	}
	if (!dir_each(path, look_below, &s, e))
		goto out;
	if (found.n == 1)
		hit = found.v[--found.n];
	else if (found.n > 1)
		err_file(e, "several-dumps", path, INCORE_NO_OFFSET,
			"%zu dumps are below, for example %s and %s: name one", found.n, found.v[0],
			found.v[1]);
	else
		explain(path, e);
out:
	for (size_t i = 0; i < found.n; i++)
		mem_free(found.v[i]);
	VEC_FREE(&found);
	return hit;
}
