/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.c: maps source paths to their copies (snapshots.json: an object nested by path
 * component, root key "/"), and reads the text of the copies.
 */
#include "base/search.h"
#include "import/other_sources.h"
#include "import/ui_output/ui_output.h"

#include <stdlib.h>

struct snapshot {
	const char *path, *file;
};

struct snapshot_build {
	struct ui_build *b;
	struct json_reader r;
	struct strbuf path;
	VEC(struct snapshot) found;
	uint64_t n_bad_names, n_missing;
	bool is_nomem;
};

static void fail_nomem(struct snapshot_build *s)
{
	s->is_nomem = true;
	json_reject(&s->r, "no-memory", "out of memory");
}

static bool is_plain_name(struct str s)
{
	return s.n > 0 && s.n < 256 && !memchr(s.p, '/', s.n) && !str_is(s, "..") &&
	       !str_is(s, ".");
}

static void add_leaf(struct snapshot_build *s)
{
	struct snapshot shot;
	struct str file;

	if (!json_get_str_or_null(&s->r, &file) || !file.p)
		return;
	if (!is_plain_name(file)) {
		s->n_bad_names++; /* a name that leads out of the directory is never followed */
		return;
	}
	shot.path = arena_strndup(&s->b->scratch, s->path.p, s->path.n);
	shot.file = arena_strndup(&s->b->trace->arena, file.p, file.n);
	if (!shot.path || !shot.file || !VEC_PUSH(&s->found, shot))
		fail_nomem(s);
}

/* Depth is limited by the reader (JSON_MAX_DEPTH). */
static void read_folder(struct snapshot_build *s)
{
	size_t length = s->path.n;
	struct str key;

	if (!json_enter_object_or_null(&s->r))
		return;
	while (json_next_key(&s->r, &key)) {
		if (length && s->path.p[length - 1] != '/')
			sb_putc(&s->path, '/');
		if (!sb_str(&s->path, key)) {
			fail_nomem(s);
			return;
		}
		if (json_peek(&s->r) == JSON_OBJECT)
			read_folder(s);
		else
			add_leaf(s);
		s->path.n = length;
		if (s->path.p)
			s->path.p[length] = '\0';
	}
}

ORDER(compare_paths, struct snapshot, A_TO_Z(path))

static void join(struct snapshot_build *s)
{
	struct trace *t = s->b->trace;

	if (!s->found.n)
		return;
	SORT(s->found.v, s->found.n, compare_paths);
	for (uint32_t i = 0; i < t->n_sources; i++) {
		struct snapshot key = {.path = t->sources[i].path};
		const struct snapshot *hit =
			bsearch(&key, s->found.v, s->found.n, sizeof(*s->found.v), compare_paths);

		if (!hit)
			continue;
		if (ui_has(s->b, hit->file))
			t->sources[i].snapshot = hit->file;
		else
			s->n_missing++;
	}
}

bool ui_snapshots_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct snapshot_build s = {.b = b};
	bool ok;

	json_init(&s.r, in.p, in.n, in.path, 0);
	read_folder(&s);
	ok = json_finish(&s.r, e);
	json_deinit(&s.r);
	if (s.is_nomem)
		ok = err_nomem(e);
	if (ok)
		join(&s);
	if (ok && s.n_bad_names &&
		!trace_note(b->trace, NOTE_DAMAGED, "bad-snapshot-name", in.path, INCORE_NO_OFFSET,
			s.n_bad_names, "%llu snapshots have a name that is not a plain file name",
			(unsigned long long)s.n_bad_names))
		ok = err_nomem(e);
	if (ok && s.n_missing &&
		!trace_note(b->trace, NOTE_MISSING, "missing-snapshot", in.path, INCORE_NO_OFFSET,
			s.n_missing, "%llu source copies of snapshots.json are not there",
			(unsigned long long)s.n_missing))
		ok = err_nomem(e);
	VEC_FREE(&s.found);
	sb_free(&s.path);
	return ok;
}

/* ui_parse_fn: the source is b->source */
static bool take_text(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	if (in.n > UINT32_MAX)
		return err_file(e, "too-large", in.path, INCORE_NO_OFFSET, "source file too large");
	return import_source_text(b->trace, b->source, in.p, in.n) || err_nomem(e);
}

bool ui_sources_load(struct ui_build *b, struct incore_error *e)
{
	for (b->source = 0; b->source < b->trace->n_sources; b->source++) {
		const char *name = b->trace->sources[b->source].snapshot;

		if (name && !ui_optional(b, name, take_text, e))
			return false;
	}
	return true;
}
