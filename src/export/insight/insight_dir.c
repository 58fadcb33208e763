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
		s->new_parent = NULL;
		if (mkdir(dir, 0750) == 0)
			s->new_parent = arena_strdup(&s->arena, dir);
		else if (errno != EEXIST)
			return err_set(e, INCORE_FAILED, "io", "cannot create directory %s", dir);
		*p = '/';
	}
	return true;
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
		if (mkdir(s->tmp, 0750) == 0)
			return true;
		if (errno != EEXIST)
			break;
	}
	s->tmp = NULL;
	return err_set(e, INCORE_FAILED, "io", "cannot create a directory beside %s", s->target);
}

FILE *insight_file(struct insight *s, const char *dir, const char *name, struct incore_error *e)
{
	char *path = dir ? arena_printf(&s->arena, "%s/%s", s->tmp, dir) : s->tmp;
	FILE *f = NULL;
	int fd;

	if (!path)
		return err_nomem_null(e);
	if (dir && mkdir(path, 0750) != 0 && errno != EEXIST) {
		err_set(e, INCORE_FAILED, "io", "cannot create directory %s", path);
		return NULL;
	}
	path = arena_printf(&s->arena, "%s/%s", path, name);
	fd = path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640) : -1;
	if (fd >= 0)
		f = fdopen(fd, "w+b");
	if (!f) {
		if (fd >= 0)
			close(fd);
		err_set(e, INCORE_FAILED, "io", "cannot create %s", path ? path : name);
	}
	return f;
}

bool insight_done(struct insight *s, FILE *f, const char *name, struct incore_error *e)
{
	bool ok = fflush(f) == 0 && !ferror(f) && fsync(fileno(f)) == 0;
	off_t n = ftello(f);

	ok = fclose(f) == 0 && ok;
	s->bytes += n > 0 ? (uint64_t)n : 0;
	return ok || err_set(e, INCORE_FAILED, "io", "cannot write %s; is the disk full?", name);
}

bool insight_dir_commit(struct insight *s, struct incore_error *e)
{
	if (rename(s->tmp, s->target) != 0)
		return err_set(e, INCORE_FAILED, "io", "cannot move the result to %s", s->target);
	s->tmp = s->new_parent = NULL;
	return true;
}

void insight_dir_abort(struct insight *s)
{
	if (s->tmp)
		remove_tree(s->tmp);
	if (s->new_parent)
		rmdir(s->new_parent);
	s->tmp = s->new_parent = NULL;
}
