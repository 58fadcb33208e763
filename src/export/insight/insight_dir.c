/* SPDX-License-Identifier: Apache-2.0 */
/* insight_dir.c: a directory of files of mode 0640, made under a temporary name and then moved. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "export/insight/insight.h"

/* Target directory: DIR/simulator, or DIR itself if it has that name. */
static char *target_of(struct insight *s, const char *path)
{
	size_t n = strlen(path);
	char *dir;

	while (n > 1 && path[n - 1] == '/')
		n--;
	dir = arena_strndup(&s->arena, path, n);
	if (!dir || strcmp(path_base(dir), "simulator") == 0)
		return dir;
	return arena_printf(&s->arena, "%s/simulator", dir);
}

static bool make_parents(struct insight *s, struct incore_error *e)
{
	char *dir = arena_strdup(&s->arena, s->target);

	if (!dir)
		return err_nomem(e);
	for (char *p = dir + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(dir, 0750) == 0) {
			leftover_add(dir, true);
			if (!s->n_old_path)
				s->n_old_path = (size_t)(p - dir);
		} else if (errno != EEXIST) {
			return err_output(e, errno, dir, "cannot create directory");
		}
		*p = '/';
	}
	return true;
}

/* Handles parent directories created here: they stay, or on failure are removed with the result. */
static void leave_parents(struct insight *s, bool is_failed)
{
	char *dir = s->n_old_path ? arena_strdup(&s->arena, s->target) : NULL;

	for (size_t n = dir ? strlen(dir) : 0; n-- > s->n_old_path;) {
		if (dir[n] != '/')
			continue;
		dir[n] = 0;
		if (is_failed)
			rmdir(dir);
		leftover_drop(dir);
	}
	s->n_old_path = 0;
}

bool insight_dir_begin(struct insight *s, const char *path, struct incore_error *e)
{
	s->target = target_of(s, path);
	if (!s->target)
		return err_nomem(e);
	if (make_parents(s, e) && out_dir_open(&s->dir, s->target, 0640, e))
		return true;
	if (err_is(e, "exists"))
		err_set(e, INCORE_USAGE, "exists", "%s already exists; name another directory",
			s->target);
	return false;
}

FILE *insight_file(struct insight *s, const char *dir, const char *name, struct incore_error *e)
{
	const char *path = dir ? arena_printf(&s->arena, "%s/%s", dir, name) : name;

	if (!path)
		return err_nomem_null(e);
	if (dir && mkdirat(s->dir.fd, dir, 0750) != 0 && errno != EEXIST) {
		err_output(e, errno, dir, "cannot create directory");
		return NULL;
	}
	return out_dir_file(&s->dir, path, e);
}

bool insight_dir_commit(struct insight *s, struct incore_error *e)
{
	bool ok = out_dir_commit(&s->dir, e);

	leave_parents(s, !ok);
	return ok;
}

void insight_dir_abort(struct insight *s)
{
	out_dir_abort(&s->dir);
	leave_parents(s, true);
}
