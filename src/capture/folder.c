/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c: see folder.h. */
#include "capture/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "trace/packed.h"

#define HIDDEN "(anonymous namespace)::"
#define NAME_BYTES 60 /* bytes of a kernel's name used in a file name */

static bool folder_refuse_entry(void *ctx, const char *name, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "directory-used",
		"%s holds %s: a directory that is used again mixes runs; name a new one with -o",
		(const char *)ctx, name);
}

bool folder_open(struct capture_folder *f, const char *dir, struct journal *j, struct arena *a,
	struct incore_error *e)
{
	char *real;

	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return err_output(e, errno, dir, "cannot make the directory");
	if (!dir_each(dir, folder_refuse_entry, (void *)dir, e))
		return false;
	real = realpath(dir, NULL);
	f->directory = real ? arena_strdup(a, real) : NULL;
	free(real);
	f->journal = arena_printf(a, "%s/journal", dir);
	if (!f->directory || !f->journal)
		return err_nomem(e);
	return journal_open(j, f->journal, NULL, NULL, e);
}

bool folder_write_result(const char *dir, const struct record *r, const void *data, struct arena *a,
	bool ok, struct incore_error *e)
{
	const char *path = arena_printf(a, "%s/capture.json", dir);
	struct incore_error late = {0}, *told = ok ? e : &late;
	struct strbuf b = {0};
	struct json_writer w;

	if (!path)
		return ok && err_nomem(e);
	json_w_buf(&w, &b, 1);
	record_json(r, data, &w);
	ok &= json_w_finish(&w, told);
	sb_putc(&b, '\n');
	ok = (!b.failed || err_nomem(told)) && out_file_text(path, (struct str){b.p, b.n}, told) &&
	     ok;
	sb_free(&b);
	incore_error_clear(&late);
	return ok;
}

static const struct column folder_columns[] = {
	COLUMN(capture_folder, directory, UNIT_NONE, "directory of the results"),
	COLUMN(capture_folder, journal, UNIT_NONE,
		"file that lists what was run, one fact per line", NULLABLE),
};
const struct record folder_record = RECORD_OF(capture_folder, RECORD_BLOCK, folder_columns);

struct str kernel_plain_name(const char *name)
{
	const char *hidden = strstr(name, HIDDEN);
	struct str s = str_of(name);
	size_t n = strcspn(name, "(<[. ");

	if (str_starts(s, "void "))
		return kernel_plain_name(name + 5);
	if (hidden && (size_t)(hidden - name) <= strcspn(name, "<["))
		return kernel_plain_name(hidden + strlen(HIDDEN));
	s = str_sub(s, 0, n);
	while (str_find(s, "::") >= 0)
		s = str_sub(s, (size_t)str_find(s, "::") + 2, s.n);
	return s;
}

const char *folder_file_name(struct arena *a, const char *dir, const char *kernel, const char *tail)
{
	struct str name = kernel_plain_name(kernel ? kernel : "");
	const char *path = NULL;
	char *plain;

	name = name.n ? name : STR("kernel");
	plain = arena_strndup(a, name.p, name.n < NAME_BYTES ? name.n : NAME_BYTES);
	for (char *p = plain; p && *p; p++)
		if (!strchr("_-", *p) && !(*p >= '0' && *p <= '9') && !(*p >= 'a' && *p <= 'z') &&
			!(*p >= 'A' && *p <= 'Z'))
			*p = '_';
	for (unsigned i = 1; plain && (!path || file_exists(path)); i++) {
		path = i == 1 ? arena_printf(a, "%s/%s%s.incore", dir, plain, tail)
			      : arena_printf(a, "%s/%s%s_%u.incore", dir, plain, tail, i);
		if (!path)
			return NULL;
	}
	return path;
}

bool folder_pack(
	const char *path, const struct trace *t, const struct drive *f, struct incore_error *e)
{
	struct packed_options o = {.pool = f->pool, .progress = f->progress};
	struct packed_result r;
	struct out_file out = {0};
	bool ok = out_file_open(&out, path, e) && packed_write(t, out.f, &o, &r, e) &&
		  out_file_commit(&out, e);

	out_file_abort(&out);
	return ok;
}
