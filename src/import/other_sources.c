/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_sources.c: reads the text of sources that are not in the capture from another tree:
 * --source-root OLD=NEW states where the tree that was built in OLD is now.
 */
#include "import/other_sources.h"

#include <errno.h>
#include <unistd.h>

#include "base/file_root.h"

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

/* The part of a path below `from`; NULL: the path is elsewhere. */
static const char *path_below(struct str from, const char *path)
{
	const char *rest = path + from.n;

	if (strncmp(path, from.p, from.n) != 0 || (*rest != '/' && rest[-1] != '/'))
		return NULL;
	return rest + strspn(rest, "/");
}

static bool read_root(const char *text, bool is_wanted, struct trace *t, struct incore_error *e)
{
	const char *is = strchr(text, '='), *rest;
	struct str from = {text, is ? (size_t)(is - text) : 0};
	struct file_data f = {0};
	struct file_root root;
	uint64_t n = 0;
	bool ok = true;

	if (!from.n || !is[1])
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--source-root expects OLD=NEW, not '%s'", text);
	if (!file_root_open(&root, is + 1, false))
		return err_errno(e, errno, is + 1, "--source-root: cannot open");
	for (source_idx i = 0; ok && is_wanted && i < t->n_sources; i++)
		if (!t->sources[i].text && (rest = path_below(from, t->sources[i].path)) &&
			file_load_at(&f, root, rest, rest, NULL) && ++n)
			ok = import_source_text(t, i, f.data, f.size);
	file_unload(&f);
	close(root.fd);
	return (ok && (!n || trace_note(t, NOTE_GUESSED, "other-source", is + 1, INCORE_NO_OFFSET,
				     n,
				     "the text of %llu source file%s is from below %s, not the capture's: it may be of another version",
				     (unsigned long long)n, plural(n), is + 1))) ||
	       err_nomem(e);
}

bool import_other_sources(const struct import_options *o, struct trace *t, struct incore_error *e)
{
	bool ok = true;

	t->reading = IMPORT_SOURCES; /* notes are only about those */
	for (size_t i = 0; ok && i < o->n_source_roots; i++)
		ok = read_root(o->source_roots[i], o->want & IMPORT_SOURCES, t, e);
	t->reading = 0;
	return ok;
}
