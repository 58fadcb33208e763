/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c: the only list of input formats, and the one way to read a capture. */
#include <assert.h>
#include <string.h>

#include "import/capture_cache.h"

extern const struct import_ops import_ui_output;
extern const struct import_ops import_packed;
extern const struct import_ops import_insight_bin;
extern const struct import_ops import_ascend_trace;
extern const struct import_ops import_camodel;
extern const struct import_ops import_instr_csv;
extern const struct import_ops import_opprof;
extern const struct import_ops import_sqtt;
extern const struct import_ops import_json;

const struct import_ops *const import_registry[] = {
	&import_ui_output,
	&import_packed,
	&import_insight_bin,
	&import_ascend_trace,
	&import_camodel,
	&import_instr_csv,
	&import_opprof,
	&import_sqtt,
	&import_json,
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

static bool read_into(const struct capture *c, const struct import_options *o, struct trace *t,
	struct incore_error *e)
{
	t->meta.format = c->ops->name;
	t->meta.origin = arena_strdup(&t->arena, c->path);
	if (!t->meta.origin)
		return err_nomem(e);
	return c->ops->read(c->path, o, t, e) && c->ops->lost(c->path, o, t, e) &&
	       (trace_seal(t, e) || err_wrap(e, "%s gives no sound trace", c->path));
}

bool import_read(const struct capture *c, const struct import_options *o, struct trace **out,
	struct incore_error *e)
{
	struct trace *t = trace_new();

	if (!t)
		return err_nomem(e);
	if (!read_into(c, o, t, e)) {
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
