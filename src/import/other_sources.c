/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_sources.c: the text of sources that a capture holds no copy of, read from another tree:
 * --source-root OLD=NEW says where what was built below OLD lies now.
 */
#include "import/other_sources.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"

bool import_source_text(struct trace *t, source_idx i, const void *p, size_t n)
{
	struct source_file *s = &t->sources[i];
	char *text = arena_strndup(&t->arena, n ? p : "", n);

	if (!text)
		return false;
	s->text = text;
	s->text_len = n;
	s->n_lines = n && text[n - 1] != '\n';
	for (size_t k = 0; k < n; k++)
		s->n_lines += text[k] == '\n';
	return true;
}

/* Where a path below `from` lies below `to`. Neither ".." nor a link leads out of there: where the
 * name really lies is what counts. */
static bool find_below(struct str from, const char *to, const char *path, char place[PATH_MAX])
{
	size_t n = strlen(to);
	char *name;
	bool ok;

	if (strncmp(path, from.p, from.n) != 0 ||
		(path[from.n] != '/' && from.p[from.n - 1] != '/'))
		return false;
	name = path_join(to, path + from.n);
	ok = name && realpath(name, place) && strncmp(place, to, n) == 0 &&
	     (place[n] == '/' || n == 1);
	mem_free(name);
	return ok;
}

static bool read_root(const char *text, bool is_wanted, struct trace *t, struct incore_error *e)
{
	const char *is = strchr(text, '=');
	struct str from = {text, is ? (size_t)(is - text) : 0};
	char to[PATH_MAX], place[PATH_MAX];
	struct file_data f = {0};
	uint64_t n = 0;
	bool ok = true;

	if (!from.n || !is[1])
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--source-root wants OLD=NEW, not '%s'", text);
	if (!realpath(is + 1, to))
		return err_errno(e, errno, is + 1, "--source-root: cannot open");
	for (source_idx i = 0; ok && is_wanted && i < t->n_sources; i++)
		if (!t->sources[i].text && find_below(from, to, t->sources[i].path, place) &&
			file_load(&f, place, NULL) && ++n)
			ok = import_source_text(t, i, f.data, f.size);
	file_unload(&f);
	return (ok && (!n || trace_note(t, NOTE_GUESSED, "other-source", is + 1, INCORE_NO_OFFSET,
				     n,
				     "the text of %llu source file%s is from below %s, not the capture's: it may be of another version",
				     (unsigned long long)n, plural(n), is + 1))) ||
	       err_nomem(e);
}

bool import_other_sources(const struct import_options *o, struct trace *t, struct incore_error *e)
{
	bool ok = true;

	t->reading = IMPORT_SOURCES; /* notes are told of those alone */
	for (size_t i = 0; ok && i < o->n_source_roots; i++)
		ok = read_root(o->source_roots[i], o->want & IMPORT_SOURCES, t, e);
	t->reading = 0;
	return ok;
}
