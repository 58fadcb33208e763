/* SPDX-License-Identifier: Apache-2.0 */
/* insight_dir.c: a directory of files of mode 0640, made beside its place and moved there whole. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "export/insight/insight.h"

/* DIR/simulator, or DIR itself where it is called that. */
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

/* The directories above that were made here: they stay, or go with the result. */
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

static bool is_empty_dir(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	bool is_empty = d != NULL;

	while (d && is_empty && (entry = readdir(d)))
		is_empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (d)
		closedir(d);
	return is_empty;
}

bool insight_dir_begin(struct insight *s, const char *path, struct incore_error *e)
{
	struct stat st;

	s->target = target_of(s, path);
	if (!s->target)
		return err_nomem(e);
	if (lstat(s->target, &st) == 0 && !is_empty_dir(s->target))
		return err_set(e, INCORE_USAGE, "exists",
			"%s is there already; name another directory", s->target);
	if (!make_parents(s, e))
		return false;
	for (unsigned i = 0; i < 100; i++) {
		s->tmp = arena_printf(&s->arena, "%s.%ld-%u.tmp", s->target, (long)getpid(), i);
		if (!s->tmp)
			return err_nomem(e);
		if (mkdir(s->tmp, 0750) == 0) {
			leftover_add(s->tmp, false);
			return true;
		}
		if (errno != EEXIST)
			break;
	}
	s->tmp = NULL;
	return err_output(e, errno, s->target, "cannot create directory");
}

FILE *insight_file(struct insight *s, const char *dir, const char *name, struct incore_error *e)
{
	char *path = dir ? arena_printf(&s->arena, "%s/%s", s->tmp, dir) : s->tmp;
	const char *to; /* where it will be: for messages */
	FILE *f = NULL;
	int fd;

	if (!path)
		return err_nomem_null(e);
	if (dir && mkdir(path, 0750) != 0 && errno != EEXIST) {
		err_output(e, errno, path, "cannot create directory");
		return NULL;
	}
	path = arena_printf(&s->arena, "%s/%s", path, name);
	to = arena_printf(&s->arena, "%s/%s%s%s", s->target, dir ? dir : "", dir ? "/" : "", name);
	if (!path || !to) {
		err_nomem(e);
		return NULL;
	}
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd >= 0)
		f = out_stream(fd, "w+b", to);
	if (!f) {
		err_output(e, errno, to, "cannot create");
		if (fd >= 0)
			close(fd);
	}
	return f;
}

bool insight_done(struct insight *s, FILE *f, struct incore_error *e)
{
	bool ok = fflush(f) == 0 && !ferror(f);
	off_t n = ftello(f);

	ok = fclose(f) == 0 && ok;
	s->bytes += n > 0 ? (uint64_t)n : 0;
	return ok || err_write(e);
}

bool insight_dir_commit(struct insight *s, struct incore_error *e)
{
	int fd = open(s->tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok = fd >= 0 && syncfs(fd) == 0; /* one call for all files */

	ok = ok && rename(s->tmp, s->target) == 0;
	if (!ok)
		err_output(e, errno, s->target, "cannot write");
	if (fd >= 0)
		close(fd);
	if (!ok)
		return false;
	leftover_drop(s->tmp);
	leave_parents(s, false);
	s->tmp = NULL;
	return true;
}

void insight_dir_abort(struct insight *s)
{
	if (s->tmp) {
		remove_tree(s->tmp);
		leftover_drop(s->tmp);
	}
	leave_parents(s, true);
	s->tmp = NULL;
}
