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

struct source_root {
	struct str from;
	const char *to;
	char place[PATH_MAX]; /* of `to`, without links */
};

static bool root_parse(const char *text, struct source_root *r, struct incore_error *e)
{
	const char *is = strchr(text, '=');

	if (!is || is == text || !is[1])
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--source-root wants OLD=NEW, not '%s'", text);
	r->from = (struct str){text, (size_t)(is - text)};
	r->to = is + 1;
	while (r->from.n > 1 && r->from.p[r->from.n - 1] == '/')
		r->from.n--;
	return realpath(r->to, r->place) ||
	       err_errno(e, errno, r->to, "--source-root: cannot open");
}

/* The part of a path below the old root; NULL: it lies elsewhere. */
static const char *path_below(const struct source_root *r, const char *path)
{
	const char *rest = path + r->from.n;

	if (strncmp(path, r->from.p, r->from.n) != 0 || (*rest != '/' && rest[-1] != '/'))
		return NULL;
	while (*rest == '/')
		rest++;
	return rest;
}

bool import_source_text(struct trace *t, source_idx i, const void *p, size_t n)
{
	char *text = arena_alloc(&t->arena, n + 1);
	struct source_file *s = &t->sources[i];

	if (!text)
		return false;
	if (n)
		memcpy(text, p, n);
	text[n] = '\0';
	s->text = text;
	s->text_len = n;
	s->n_lines = n && text[n - 1] != '\n';
	for (size_t k = 0; k < n; k++)
		s->n_lines += text[k] == '\n';
	return true;
}

/* Neither ".." nor a link leads out of the new root: where the name really lies is what counts. */
static bool load_below(const struct source_root *r, const char *rest, struct file_data *f)
{
	char *path = path_join(r->place, rest), place[PATH_MAX];
	struct incore_error ignored = {0};
	size_t n = strlen(r->place);
	bool ok = path && realpath(path, place) && !strncmp(place, r->place, n) &&
		  (place[n] == '/' || n == 1) && file_load(f, place, &ignored);

	incore_error_clear(&ignored);
	mem_free(path);
	return ok && f->size < UINT32_MAX;
}

static bool read_below(const struct source_root *r, struct trace *t, struct incore_error *e)
{
	struct file_data f = {0};
	uint64_t n = 0;
	bool ok = true;

	for (source_idx i = 0; ok && i < t->n_sources; i++) {
		const char *rest = t->sources[i].text ? NULL : path_below(r, t->sources[i].path);

		if (!rest || !load_below(r, rest, &f))
			continue;
		n++;
		ok = import_source_text(t, i, f.data, f.size) || err_nomem(e);
	}
	file_unload(&f);
	if (ok && n &&
		!trace_note(t, NOTE_GUESSED, "other-source", r->to, INCORE_NO_OFFSET, n,
			"the text of %llu source file%s is from below %s, not the capture's: it may be of another version",
			(unsigned long long)n, plural(n), r->to))
		ok = err_nomem(e);
	return ok;
}

bool import_other_sources(const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct source_root r;
	bool ok = true;

	t->reading = IMPORT_SOURCES;
	for (size_t i = 0; ok && i < o->n_source_roots; i++)
		ok = root_parse(o->source_roots[i], &r, e) &&
		     (!(o->want & IMPORT_SOURCES) || read_below(&r, t, e));
	t->reading = 0;
	return ok;
}
