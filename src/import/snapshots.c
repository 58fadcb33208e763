/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshots.c: maps source paths to their copies: an object nested by path component, root key "/".
 */
#include "import/snapshots.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "codec/json_reader.h"

struct snapshot {
	const char *path, *file;
};

struct snapshots_build {
	const struct snapshots_in *in;
	struct json_reader r;
	struct strbuf path;
	VEC(struct snapshot) found;
	uint64_t n_bad_names, n_missing;
	bool is_nomem;
};

static void snapshots_fail_nomem(struct snapshots_build *s)
{
	s->is_nomem = true;
	json_reject(&s->r, "no-memory", "out of memory");
}

static bool snapshots_is_plain_name(struct str s)
{
	return s.n > 0 && s.n < 256 && !memchr(s.p, '/', s.n) && !str_is(s, "..") &&
	       !str_is(s, ".");
}

static void add_leaf(struct snapshots_build *s)
{
	struct snapshot shot;
	struct str file;

	if (!json_get_str_or_null(&s->r, &file) || !file.p)
		return;
	if (!snapshots_is_plain_name(file)) {
		s->n_bad_names++; /* a name that leads out of the directory is never followed */
		return;
	}
	shot.path = arena_strndup(s->in->scratch, s->path.p, s->path.n);
	shot.file = arena_strndup(&s->in->trace->arena, file.p, file.n);
	if (!shot.path || !shot.file || !VEC_PUSH(&s->found, shot))
		snapshots_fail_nomem(s);
}

/* Depth is limited by the reader (JSON_MAX_DEPTH). */
static void read_folder(struct snapshots_build *s)
{
	size_t length = s->path.n;
	struct str key;

	if (!json_enter_object_or_null(&s->r))
		return;
	while (json_next_key(&s->r, &key)) {
		if (length && s->path.p[length - 1] != '/')
			sb_putc(&s->path, '/');
		if (!sb_str(&s->path, key)) {
			snapshots_fail_nomem(s);
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

static void snapshots_join(struct snapshots_build *s)
{
	struct trace *t = s->in->trace;

	if (!s->found.n)
		return;
	SORT(s->found.v, s->found.n, compare_paths);
	for (uint32_t i = 0; i < t->n_sources; i++) {
		struct snapshot key = {.path = t->sources[i].path};
		const struct snapshot *hit =
			bsearch(&key, s->found.v, s->found.n, sizeof(*s->found.v), compare_paths);

		if (!hit)
			continue;
		if (s->in->has(s->in->ctx, hit->file))
			t->sources[i].snapshot = hit->file;
		else
			s->n_missing++;
	}
}

bool snapshots_read(
	const struct snapshots_in *in, struct str text, const char *path, struct incore_error *e)
{
	struct snapshots_build s = {.in = in};
	bool ok;

	json_init(&s.r, text.p, text.n, path, 0);
	read_folder(&s);
	ok = json_finish(&s.r, e);
	json_deinit(&s.r);
	if (s.is_nomem)
		ok = err_nomem(e);
	if (ok)
		snapshots_join(&s);
	if (ok && s.n_bad_names &&
		!trace_note(in->trace, "bad-snapshot-name", path, INCORE_NO_OFFSET, s.n_bad_names,
			"%llu snapshots have a name that is not a plain file name",
			(unsigned long long)s.n_bad_names))
		ok = err_nomem(e);
	if (ok && s.n_missing &&
		!trace_note(in->trace, "missing-snapshot", path, INCORE_NO_OFFSET, s.n_missing,
			"%llu source copies of snapshots.json are not there",
			(unsigned long long)s.n_missing))
		ok = err_nomem(e);
	VEC_FREE(&s.found);
	sb_free(&s.path);
	return ok;
}
