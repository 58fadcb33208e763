/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_summary.c: incore summary: the one-page verdict with its evidence. */
#include <string.h>

#include "analysis/pipes/pipe_sweep.h"
#include "analysis/summary/summary.h"
#include "cli/cli.h"
#include "answer/siblings.h"
#include "cli/text/pipes_page.h"
#include "cli/text/summary_text.h"

#define MAX_REPEATS 3u
#define DEFAULT_TOP 8u

struct job {
	struct cli *c;
	struct trace *trace;
	struct selection selection;
	struct capture_list found;
	struct siblings siblings;
	double repeats[MAX_REPEATS][FAMILY_COUNT];
	uint32_t n_repeats;
	struct summary *summary;
};

/* Other captures of the same code: how far their shares are from ours is the noise. */
static bool read_repeats(struct job *j, const struct walk_options *o)
{
	const struct siblings *s = &j->siblings;
	struct walk_options all = {.pool = o->pool, .progress = o->progress};

	for (size_t i = 0; i < s->captures.n && j->n_repeats < MAX_REPEATS; i++) {
		struct import_options io = {.pool = o->pool, .cache = j->c->captures};
		struct incore_error ignored = {0};
		struct trace *t = NULL;

		if (s->facts.v[i].is_self)
			continue;
		if (import_read(s->captures.v[i], &io, &t, &ignored)) {
			trace_keep_tracks(t);
			j->n_repeats += summary_repeat(t, &all, j->repeats[j->n_repeats], &ignored);
			trace_free(t);
		}
		incore_error_clear(&ignored);
	}
	return true;
}

static bool find_siblings(struct job *j, const struct walk_options *o)
{
	struct incore_error ignored = {0};
	const char *origin = j->trace->meta.origin;

	if (!origin || !import_find(origin, j->c->captures, &j->found, &ignored)) {
		incore_error_clear(&ignored);
		return true;
	}
	if (j->found.n == 0)
		return true;
	if (!siblings_find(&j->siblings, &j->found.v[0], NULL, j->c->captures, &j->c->error))
		return false;
	return !selection_is_all(&j->selection) || read_repeats(j, o);
}

static bool print_json(struct job *j)
{
	struct json_writer w;
	const struct trace *t = j->trace;
	uint64_t top = cli_has(j->c, "top") ? cli_top(j->c) : 20;

	cli_json_begin(j->c, &w, &t, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	summary_json(j->summary, top, &w);
	json_w_end(&w);
	return cli_json_end(j->c, &w);
}

static bool answer(struct job *j)
{
	struct cli *c = j->c;
	struct walk_options o;
	struct summary_options so;

	if (!cli_open_trace(c, c->args[0], IMPORT_ALL, &j->trace) ||
		!cli_selection(c, j->trace, &j->selection))
		return false;
	if (trace_has_pipes(j->trace))
		return pipes_page_summary(c, j->trace, &j->selection);
	o = cli_walk_options(c, &j->selection);
	trace_keep_tracks(j->trace);
	if (!find_siblings(j, &o))
		return false;
	so = (struct summary_options){.walk = &o,
		.check = &j->siblings.ctx,
		.repeats = (const double(*)[FAMILY_COUNT])j->repeats,
		.n_repeats = j->n_repeats};
	j->summary = summary_new(j->trace, &so, &c->error);
	if (!j->summary)
		return false;
	cli_walk_notes(c, &j->summary->walk);
	if (c->use_json)
		return print_json(j);
	return summary_print(c, j->summary, cli_has(c, "top") ? cli_top(c) : DEFAULT_TOP);
}

static int run(struct cli *c)
{
	struct job j = {.c = c};
	bool ok = answer(&j);

	summary_free(j.summary);
	siblings_deinit(&j.siblings);
	capture_list_deinit(&j.found);
	selection_deinit(&j.selection);
	if (j.trace)
		trace_free(j.trace);
	return ok ? 0 : cli_fail(c);
}

const struct verb verb_summary = {
	.name = "summary",
	.args = "PATH",
	.summary = "the one-page verdict: bound by what, where, on what evidence",
	.groups = OPTIONS_OUTPUT | OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
