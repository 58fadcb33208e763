/* SPDX-License-Identifier: Apache-2.0 */
/* tabular.c: walks all tables of a trace, in the order of their list. */
#include "export/tables/tabular.h"

#include "analysis/pipes/pipe_sweep.h"
#include "export/writer.h"
#include "trace/kind.h"

static bool note_failed(struct export *x, uint32_t n_failed, struct incore_error *e)
{
	struct strbuf text = {0};
	struct note n = {.kind = NOTE_DAMAGED, .code = "damaged-wave-file", .count = n_failed};
	bool ok;

	if (!n_failed)
		return true;
	x->result->n_failed = n_failed;
	sb_printf(&text, "%u track%s could not be read and %s left out", n_failed, plural(n_failed),
		n_failed == 1 ? "is" : "are");
	n.message = text.p;
	ok = text.failed ? err_nomem(e) : export_note(x, &n, e);
	sb_free(&text);
	return ok;
}

static bool send_table(struct export *x, const struct table *t, const struct tabular_sink *sink,
	struct table_analyses *analyses, uint64_t *n_rows, struct incore_error *e)
{
	struct table_scan scan = TABLE_SCAN_ALL;
	struct table_batch batch = {0};
	struct table_cursor *c;
	bool ok;

	scan.analyses = analyses;
	scan.pool = x->options->walk.pool;
	scan.progress = x->options->walk.progress;
	*n_rows = 0;
	c = table_open(t, x->trace, &scan, e);
	ok = c && sink->table(sink->ctx, t, e);
	while (ok) {
		ok = table_next(c, &batch, e) && (!batch.n || sink->rows(sink->ctx, &batch, e));
		*n_rows += batch.n;
		if (!batch.n)
			break;
	}
	ok = ok && sink->table_end(sink->ctx, e);
	if (ok && !x->result->n_failed)
		ok = note_failed(x, table_failed(c), e);
	table_close(c);
	return ok;
}

bool tabular_send(struct export *x, const struct tabular_sink *sink, struct incore_error *e)
{
	const struct selection *s = x->options->walk.selection;
	struct table_analyses *analyses;
	bool ok = true;

	if (s && !selection_is_all(s))
		return err_set(e, INCORE_USAGE, "whole-capture",
			"%s has the tables of a whole capture: select in a query instead",
			x->ops->name);
	analyses = table_analyses_new();
	if (!analyses)
		return err_nomem(e);
	for (const struct table *const *t = table_list; ok && *t; t++) {
		uint64_t n;

		ok = send_table(x, *t, sink, analyses, &n, e) ||
		     err_wrap(e, "table %s", (*t)->name);
		if (strcmp((*t)->name, "slices") == 0)
			x->result->n_slices = n;
		else if (strcmp((*t)->name, "links") == 0)
			x->result->n_links = n;
	}
	table_analyses_free(analyses);
	if (!ok)
		return false;
	x->result->n_tracks = x->trace->n_tracks - x->result->n_failed;
	return trace_kind(x->trace) == KIND_PIPES ||
	       export_cut(x, "waves' series of states", "there is no table of them",
		       x->trace->n_tracks, e);
}
