/* SPDX-License-Identifier: Apache-2.0 */
/* sys.c: what an application does around its kernels: calls, launches, copies and markers, as a
 * rocprofv3 database that is kept and read back. */
#include <errno.h>
#include <stdio.h>

#include "answer/captures.h"
#include "base/file.h"
#include "capture/roc.h"

/* Reads what the database contains; an unreadable one is kept and noted. */
static bool read_back(struct roc *r, struct roc_capture *c, struct incore_error *e)
{
	struct import_options o = {.want = IMPORT_ALL, .pool = r->q->drive.pool};
	struct incore_error why = {0};
	struct strbuf text = {0};
	struct trace *t;

	if (!import_read_as("rocpd", c->file, &o, &t, &why)) {
		err_format(&why, &text);
		c->health = text.failed ? NULL
					: arena_printf(&r->arena, "unreadable: %s",
						  text.p ? text.p : "");
		sb_free(&text);
		incore_error_clear(&why);
		return c->health || err_nomem(e);
	}
	c->launches = t->meta.launch.launch_count > 0 ? (uint64_t)t->meta.launch.launch_count : 0;
	for (track_idx i = 0; i < t->n_tracks; i++)
		c->slices += t->tracks[i].n_slices;
	c->kernel = t->meta.kernel ? arena_strdup(&r->arena, t->meta.kernel) : NULL;
	c->health = c->launches ? "ok" : "no kernel was launched";
	trace_free(t);
	return true;
}

static bool take_database(void *ctx, const char *path, struct incore_error *e)
{
	struct roc *r = ctx;
	struct roc_capture c = {
		.file = arena_printf(&r->arena, "%s/%s", r->q->dir, path_base(path))};

	if (!c.file)
		return err_nomem(e);
	if (rename(path, c.file) != 0)
		return err_output(e, errno, c.file, "cannot put in place");
	return read_back(r, &c, e) && (VEC_PUSH(&r->answer.captures, c) || err_nomem(e));
}

static bool is_good(const struct roc_answer *a)
{
	for (size_t i = 0; i < a->captures.n; i++)
		if (a->captures.v[i].launches)
			return true;
	return false;
}

static bool take(struct roc *r, struct incore_error *e)
{
	if (!roc_run_last(r, e))
		return false;
	if (!roc_each_file(r, "_results.db", take_database, r, e))
		return false;
	if (roc_last(r)->run.status)
		return roc_app_failed(r, e);
	if (!r->answer.captures.n)
		roc_last(r)->run.outcome = "no database was written";
	r->is_no = !is_good(&r->answer);
	return true;
}

bool roc_take_sys(struct roc *r, struct incore_error *e)
{
	bool is_all = strcmp(r->q->trace, "all") == 0, ok;
	const char *const needs[] = {
		is_all ? "--sys-trace" : "--runtime-trace", "--output-format", NULL};
	struct strbuf settings = {0};

	if (!is_all && strcmp(r->q->trace, "runtime") != 0)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--trace is all or runtime, not %s", r->q->trace);
	if (!roc_open(r, needs, e))
		return false;
	if (!str_has(str_of(r->tool.help), "rocpd"))
		return err_set(e, INCORE_MISSING, "tool-too-old",
			"rocprofv3 %s at %s writes no databases (rocpd): install ROCm 7.0 or newer",
			r->tool.version, r->tool.path);
	sb_printf(&settings, "    %s: true\n    output_format: [rocpd]\n",
		is_all ? "sys_trace" : "runtime_trace");
	ok = roc_plan(r, "run", "the timeline around the kernels", &settings, e) &&
	     (r->q->is_dry || take(r, e));
	sb_free(&settings);
	return roc_finish(r, ok, e);
}
