/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.c: the only list of input formats, and the only function that reads captures.
 *
 * Parts: sources that lie elsewhere; the formats.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file_root.h"
#include "base/map_guard.h"
#include "import/capture_cache.h"
#include "import/marker_names.h"
#include "import/other_sources.h"

/* --- sources that lie elsewhere --------------------------------------------------------------- */

/*
 * Reads the text of sources that are not in the capture from another tree: --source-root OLD=NEW
 * states where the tree that was built in OLD is now.
 */

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
	return (ok && (!n || trace_note(t, "other-source", is + 1, INCORE_NO_OFFSET, n,
				     "the text of %llu source file%s is from below %s, not the capture's: it may be of another version",
				     (unsigned long long)n, plural(n), is + 1))) ||
	       err_nomem(e);
}

/* Loads missing texts of sources from the source roots, if sources are wanted. */
static bool import_other_sources(
	const struct import_options *o, struct trace *t, struct incore_error *e)
{
	bool ok = true;

	t->reading = IMPORT_SOURCES; /* notes are only about those */
	for (size_t i = 0; ok && i < o->n_source_roots; i++)
		ok = read_root(o->source_roots[i], o->want & IMPORT_SOURCES, t, e);
	t->reading = 0;
	return ok;
}

/* --- the formats ------------------------------------------------------------------------------ */

extern const struct import_ops import_ui_output;
extern const struct import_ops import_packed;
extern const struct import_ops import_insight_bin;
extern const struct import_ops import_ascend_trace;
extern const struct import_ops import_camodel;
extern const struct import_ops import_instr_csv;
extern const struct import_ops import_opprof;
extern const struct import_ops import_sqtt;
extern const struct import_ops import_rgp;
extern const struct import_ops import_json;
extern const struct import_ops import_ncu;
extern const struct import_ops import_scopes;
extern const struct import_ops import_cuda;
extern const struct import_ops import_chrome;
extern const struct import_ops import_iket;
extern const struct import_ops import_perfetto;
extern const struct import_ops import_rocprof_pcs;
extern const struct import_ops import_rocpd;

const struct import_ops *const import_registry[] = {
	&import_ui_output,
	&import_packed,
	&import_insight_bin,
	&import_ascend_trace,
	&import_camodel,
	&import_instr_csv,
	&import_opprof,
	&import_sqtt,
	&import_rgp,
	&import_json,
	&import_ncu,
	&import_scopes,
	&import_cuda,
	&import_chrome,
	&import_iket,
	&import_perfetto,
	&import_rocprof_pcs,
	&import_rocpd,
	NULL,
};

bool import_lost_noted(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	(void)path;
	(void)o;
	(void)t;
	(void)e;
	return true;
}

bool import_note_unread(struct trace *t, const char *code, const char *path, const char *what,
	struct incore_error *why)
{
	struct strbuf text = {0};
	bool ok;

	if (err_is(why, "no-memory"))
		return false;
	err_format(why, &text);
	if (err_is(why, "link-outside"))
		ok = trace_note(t, "link-outside", path, INCORE_NO_OFFSET, 1,
			"%s leads out of the capture's directory and was left out (--follow-links follows)",
			path_base(path));
	else
		ok = trace_note(t, code, path, why->offset, 1, "%s %s: %s", path_base(path), what,
			text.p ? text.p : "cannot be read");
	sb_free(&text);
	incore_error_clear(why);
	return ok || err_nomem(why);
}

/* If a file shrank while it was read, the result is invalid. Files of a capture are in its
 * directory, or beside it. */
static bool read_into(
	const struct capture *c, struct import_options o, struct trace *t, struct incore_error *e)
{
	char *dir = arena_strndup(&t->arena, c->path, (size_t)(path_base(c->path) - c->path));
	bool ok;

	t->meta.format = c->ops->name;
	t->meta.origin = t->read_from = arena_strdup(&t->arena, c->path);
	t->read_at = map_guard_now();
	t->fence = import_fence(&o);
	if (!dir || !t->meta.origin)
		return err_nomem(e);
	if (o.code && !c->ops->takes_code)
		return err_set(e, INCORE_USAGE, "bad-option",
			"--code: '%s' (%s) has no code.json that another could stand for", c->path,
			c->ops->name);
	if (!o.root && file_is_dir_in(import_fence(&o), c->path)) {
		o.root = c->path;
	} else if (!o.root) {
		o.own = capture_file(import_fence(&o), &t->arena, c->path, NULL);
		o.root = dir;
		if (!o.own)
			return err_nomem(e);
	}
	if (o.markers)
		o.want |= IMPORT_COUNTERS;
	ok = c->ops->read(c->path, &o, t, e) && c->ops->lost(c->path, &o, t, e) &&
	     import_other_sources(&o, t, e) && (!o.markers || marker_timeline(t, e)) &&
	     (trace_seal(t, e) || err_wrap(e, "%s gives no valid trace", c->path));
	return map_guard_check(dir, t->read_at, e) && ok;
}

bool import_read(const struct capture *c, const struct import_options *o, struct trace **out,
	struct incore_error *e)
{
	struct trace *t = trace_new();

	if (!t)
		return err_nomem(e);
	if (!read_into(c, *o, t, e)) {
		trace_free(t);
		return false;
	}
	capture_remember(o->cache, c, t);
	if (o->want & IMPORT_KEEP_TRACKS)
		trace_keep_tracks(t);
	*out = t;
	return true;
}

bool import_read_as(const char *format, const char *path, const struct import_options *o,
	struct trace **out, struct incore_error *e)
{
	struct capture c = {.path = path};

	for (size_t i = 0; import_registry[i]; i++)
		if (strcmp(import_registry[i]->name, format) == 0)
			c.ops = import_registry[i];
	assert(c.ops);
	return import_read(&c, o, out, e);
}
