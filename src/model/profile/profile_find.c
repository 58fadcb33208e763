/* SPDX-License-Identifier: Apache-2.0 */
/* profile_find.c: finds a profile: installed, in the source tree, or built into the program. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "model/profile/profile.h"

#define BUILT_IN "(built in)/"

/* Generated from profiles/ at build time, for a stand-alone program. */
extern const struct asset profile_assets[];
extern const size_t profile_n_assets;

char *profile_dir(void)
{
	const char *env = getenv("INCORE_PROFILES");
	char *dir;

	if (env && *env)
		return mem_strndup(env, strlen(env));
	dir = file_beside_program("../share/incore/profiles");
	if (!dir)
		dir = file_beside_program("../profiles"); /* a build directory in the source tree */
	return dir;
}

struct names {
	struct strbuf *out;
};

static bool add_name(void *ctx, const char *name, struct incore_error *e)
{
	struct names *n = ctx;
	size_t len = strlen(name);

	(void)e;
	if (len > 5 && strcmp(name + len - 5, ".yaml") == 0)
		sb_printf(n->out, "%s%.*s", n->out->n ? ", " : "", (int)(len - 5), name);
	return true;
}

bool profile_names(struct strbuf *out)
{
	struct names n = {out};
	char *dir = profile_dir();
	bool ok = !dir || dir_each(dir, add_name, &n, NULL);

	for (size_t i = 0; !dir && i < profile_n_assets; i++)
		ok = add_name(&n, profile_assets[i].url, NULL);
	mem_free(dir);
	return ok && !out->failed;
}

static bool is_plain_name(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!(*s >= 'a' && *s <= 'z') && !(*s >= '0' && *s <= '9') && *s != '_' &&
			*s != '-')
			return false;
	return true;
}

static const struct asset *built_in(const char *leaf)
{
	for (size_t i = 0; i < profile_n_assets; i++)
		if (strcmp(profile_assets[i].url, leaf) == 0)
			return &profile_assets[i];
	return NULL;
}

const struct asset *profile_built_in(const char *path)
{
	return str_starts(str_of(path), BUILT_IN) ? built_in(path + strlen(BUILT_IN)) : NULL;
}

char *profile_find(const char *name, const char *beside)
{
	char *dir, *path = NULL, *file;
	struct strbuf leaf = {0};
	const char *slash = beside ? strrchr(beside, '/') : NULL;

	if (!is_plain_name(name) || !sb_printf(&leaf, "%s.yaml", name)) {
		sb_free(&leaf);
		return NULL;
	}
	if (beside) {
		dir = slash ? mem_strndup(beside, (size_t)(slash - beside) + 1)
			    : mem_strndup(".", 1);
		path = dir ? path_join(dir, leaf.p) : NULL;
		mem_free(dir);
		if (path && !file_exists(path)) {
			mem_free(path);
			path = NULL;
		}
	}
	dir = path ? NULL : profile_dir();
	file = dir ? path_join(dir, leaf.p) : NULL;
	if (file && file_exists(file)) {
		path = file;
		file = NULL;
	}
	if (!path && !dir && built_in(leaf.p))
		path = path_join(BUILT_IN, leaf.p);
	mem_free(file);
	mem_free(dir);
	sb_free(&leaf);
	return path;
}
