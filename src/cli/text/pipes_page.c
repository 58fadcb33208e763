/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_page.c: occupancy of a trace whose tracks are pipes. */
#include "cli/text/pipes_page.h"

#include <stdlib.h>

#include "analysis/pipes/pipes.h"
#include "analysis/summary/tables.h"
#include "cli/text/pipes_text.h"
#include "cli/text/tables_text.h"

struct job {
	struct cli *c;
	const struct trace *trace;
	struct pipes *pipes; /* of the selection */
	struct pipes *own;   /* the same, when it is ours to free */
	struct walk_result walk;
	struct arena arena;
	struct answer answer; /* holds the rows of the part */
	struct pipes_part part;
};

static void job_deinit(struct job *j)
{
	pipes_free(j->own);
	walk_result_deinit(&j->walk);
	arena_deinit(&j->arena);
	answer_deinit(&j->answer);
}

static bool make_text(struct job *j, uint64_t top)
{
	return pipes_part_make(
		&j->answer, j->pipes, WAVES_SORT_DURATION, top, &j->part, &j->c->error);
}

static bool ask_pipes(struct job *j, const struct selection *s)
{
	struct walk_options o = cli_walk_options(j->c, s);

	j->pipes = j->own = pipes_new(j->trace, &j->c->error);
	if (!j->pipes || !pipes_collect(j->pipes, &o, &j->walk, &j->c->error))
		return false;
	cli_walk_notes(j->c, &j->walk);
	return true;
}

/* --- occupancy ------------------------------------------------------------------------------ */

static bool print_occupancy_json(struct job *j)
{
	struct json_writer w;
	const struct trace *t = j->trace;

	cli_json_begin(j->c, &w, &t, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	json_w_kv_cstr(&w, "kernel", t->meta.kernel);
	json_w_kv_cstr(&w, "arch", t->meta.arch);
	json_w_key(&w, "cores");
	json_w_array(&w);
	for (size_t i = 0; i < j->part.cores.n; i++)
		record_json(&core_line_record, &((const struct core_line *)j->part.cores.v)[i], &w);
	json_w_end(&w);
	tables_json(t, UINT64_MAX, false, &w);
	json_w_end(&w);
	return cli_json_end(j->c, &w);
}

static bool print_occupancy(struct job *j)
{
	const struct named_table *k = table_of_occupancy(j->trace);
	FILE *out = j->c->out;

	if (j->c->use_csv)
		return pipes_print_cores(j->c, j->part.cores, j->part.top);
	fprintf(out, "%s  %s\n", j->trace->meta.kernel ? j->trace->meta.kernel : "(no name)",
		j->trace->meta.arch ? j->trace->meta.arch : "");
	fputs("cores run one block at a time: there are no waves to fill them with; how busy each "
	      "was:\n",
		out);
	if (j->pipes->n_pipes) {
		fputc('\n', out);
		if (!pipes_print_cores(j->c, j->part.cores, j->part.top))
			return false;
	} else {
		fputs("not available for this trace: no pipe was traced\n", out);
	}
	if (k && !tables_print_one(j->c, k, j->part.top))
		return false;
	fprintf(out, "%s, %u note%s\n", evidence_text(j->trace, (char[EVIDENCE_TEXT]){0}),
		j->c->n_notes, plural(j->c->n_notes));
	return true;
}

bool pipes_page_occupancy(struct cli *c, const struct trace *t, const struct selection *s)
{
	struct job j = {.c = c, .trace = t};
	bool ok;

	arena_init(&j.arena);
	arena_init(&j.answer.arena);
	ok = ask_pipes(&j, s) &&
	     make_text(&j, c->use_csv && !cli_has(c, "top") ? UINT64_MAX : cli_top(c));
	if (ok)
		ok = c->use_json ? print_occupancy_json(&j) : print_occupancy(&j);
	job_deinit(&j);
	return ok;
}
