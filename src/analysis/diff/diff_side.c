/* SPDX-License-Identifier: Apache-2.0 */
/* diff_side.c: prepares one capture for comparison: cycles per row and per cause. */
#include "analysis/diff/diff.h"

#include "analysis/code/samples.h"
#include "analysis/pipes/pipes.h"
#include "trace/kind.h"

/* Causes of pipes are made from the analysis of pipes. */
static bool walk_pipes(struct diff_side *s, const struct walk_options *o,
	struct walk_result *walk_out, struct incore_error *e)
{
	struct pipes *p = pipes_new(s->trace, e);
	struct collector made[2];
	const struct collector *list[] = {&made[0], &made[1]};
	bool ok = false;

	if (!p)
		return false;
	made[0] = hot_collector(s->hot);
	made[1] = pipes_collector(p);
	if (walk_tracks(s->trace, o, list, 2, walk_out, e))
		ok = pipes_finish(p, e) && pipes_fill_causes(p, s->causes, e);
	pipes_free(p);
	return ok;
}

bool diff_side_open(struct diff_side *s, const struct trace *t, const struct walk_options *o,
	struct walk_result *walk_out, struct incore_error *e)
{
	struct collector hot, causes;
	const struct collector *list[] = {&hot, &causes};

	memset(walk_out, 0, sizeof(*walk_out));
	*s = (struct diff_side){.trace = t};
	s->hot = hot_new(t);
	if (!s->hot)
		return err_nomem(e);
	s->causes = causes_new(t, NULL, 0, e);
	if (!s->causes)
		goto fail;
	if (!t->n_tracks) {
		hot_take_stated(s->hot);
		if (trace_kind(t) != KIND_SAMPLES || samples_fill_causes(s->causes, e))
			return true;
		goto fail;
	}
	if (trace_kind(t) == KIND_PIPES) {
		if (walk_pipes(s, o, walk_out, e))
			return true;
		goto fail;
	}
	hot = hot_collector(s->hot);
	causes = causes_collector(s->causes);
	if (walk_tracks(t, o, list, 2, walk_out, e) && causes_finish(s->causes, e))
		return true;
fail:
	diff_side_close(s);
	return false;
}

void diff_side_close(struct diff_side *s)
{
	hot_free(s->hot);
	causes_free(s->causes);
	*s = (struct diff_side){0};
}
