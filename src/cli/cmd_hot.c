/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_hot.c: incore hot: where the cycles go, by instruction, line, opcode, class, cause or
 * producer. */
#include "analysis/code/flydsl_hotspot.h"
#include "cli/text/hot_job.h"

static const struct option_def options[] = {
	{0, "by", OPTION_CHOICE, "WHAT", "instr|line|opcode|class|cause|producer", "instr",
		"what a row of the table is"},
	{0, "sort", OPTION_CHOICE, "KEY", "cycles|lost|latency|stall|idle|hit", "cycles",
		"largest first by this (not for cause, producer)"},
	{0, "attribution", OPTION_CHOICE, "RULE", "blocking|class-set", "blocking",
		"with --by producer: who gets the cycles of a wait"},
	{0, "taxonomy", OPTION_CHOICE, "NAME", "incore|flydsl", "incore",
		"flydsl: the report of the older hotspot script, byte for byte"},
	{0, NULL, OPTION_FLAG, NULL, NULL, NULL, NULL},
};

static const char *const sort_names[] = {
	[HOT_SORT_CYCLES] = "cycles",
	[HOT_SORT_LOST] = "lost",
	[HOT_SORT_LATENCY] = "latency",
	[HOT_SORT_STALL] = "stall",
	[HOT_SORT_IDLE] = "idle",
	[HOT_SORT_HIT] = "hit",
};

bool hot_job_is_by(const struct hot_job *j, const char *by)
{
	return !strcmp(j->by, by);
}

static enum hot_sort sort_of(const struct cli *c)
{
	const char *name = cli_text(c, "sort");

	for (unsigned i = 0; i < sizeof(sort_names) / sizeof(sort_names[0]); i++)
		if (!strcmp(name, sort_names[i]))
			return i;
	return HOT_SORT_CYCLES;
}

/* --- the work ------------------------------------------------------------------------------- */

static bool make_questions(struct hot_job *j, struct incore_error *e)
{
	bool is_class_set = !strcmp(cli_text(j->c, "attribution"), "class-set");

	j->attribution = is_class_set ? ATTRIBUTION_CLASS_SET : ATTRIBUTION_BLOCKING;
	j->hot = hot_new(j->trace);
	if (!j->hot)
		return err_nomem(e);
	if (hot_job_is_by(j, "cause")) {
		j->causes = causes_new(j->trace, NULL, 0, e);
		if (!j->causes)
			return false;
	}
	if (hot_job_is_by(j, "producer") || hot_job_is_by(j, "instr")) {
		j->producers = producers_new(
			j->trace, is_class_set ? PRODUCERS_CLASS_SET : PRODUCERS_EDGES, e);
		if (!j->producers)
			return false;
	}
	return true;
}

/* The same questions to a trace of pipes: one analysis answers them all. */
static bool run_pipes(struct hot_job *j, struct incore_error *e)
{
	struct walk_options o = cli_walk_options(j->c, &j->selection);
	struct collector made[2];
	const struct collector *list[] = {&made[0], &made[1]};

	j->pipes = pipes_new(j->trace, e);
	if (!j->pipes)
		return false;
	made[0] = hot_collector(j->hot);
	made[1] = pipes_collector(j->pipes);
	if (!walk_tracks(j->trace, &o, list, 2, &j->walk, e) || !pipes_finish(j->pipes, e))
		return false;
	cli_walk_notes(j->c, &j->walk);
	return (!j->causes || pipes_fill_causes(j->pipes, j->causes, e)) &&
	       (!j->producers || pipes_fill_producers(j->pipes, j->producers, e));
}

static bool run_walk(struct hot_job *j, struct incore_error *e)
{
	struct walk_options o = cli_walk_options(j->c, &j->selection);
	struct collector made[3];
	const struct collector *list[3];
	size_t n = 0;

	made[n++] = hot_collector(j->hot);
	if (j->causes)
		made[n++] = causes_collector(j->causes);
	if (j->producers)
		made[n++] = producers_collector(j->producers);
	for (size_t i = 0; i < n; i++)
		list[i] = &made[i];
	if (!walk_tracks(j->trace, &o, list, n, &j->walk, e))
		return false;
	cli_walk_notes(j->c, &j->walk);
	if (j->causes && !causes_finish(j->causes, e))
		return false;
	return !j->producers || producers_finish(j->producers, e);
}

/* Without a timeline there is nothing to account: the totals the capture states are shown. */
static void take_stated(struct hot_job *j)
{
	hot_take_stated(j->hot);
	if (j->trace->n_code == 0)
		cli_warn(j->c, "nothing was traced: no code and no waves (incore check says more)");
	else if (j->trace->samples)
		cli_warn(j->c, "sampled data: counts of samples, not cycles");
	else
		cli_warn(j->c,
			trace_has_pipes(j->trace)
				? "no pipe was traced: totals are those that the producer states"
				: "no waves in this capture: totals are those that code.json "
				  "states");
	if (hot_job_is_by(j, "cause") || hot_job_is_by(j, "producer"))
		cli_warn(j->c, "--by %s needs waves: nothing to show", j->by);
}

/* Edges are sorted by cost: the first into a row is its costliest. */
static bool index_edges(struct hot_job *j, struct incore_error *e)
{
	uint32_t n = j->trace->n_code;

	j->edge_of = arena_zalloc(&j->arena, (size_t)n + 1, sizeof(*j->edge_of));
	if (!j->edge_of)
		return err_nomem(e);
	for (size_t i = 0; j->producers && i < j->producers->edges.n; i++) {
		const struct producer_edge *x = &j->producers->edges.v[i];

		if (x->wait < n && !j->edge_of[x->wait])
			j->edge_of[x->wait] = x;
	}
	return true;
}

static bool make_groups(struct hot_job *j, struct incore_error *e)
{
	static const struct {
		const char *name;
		enum hot_by by;
	} ways[] = {{"instr", HOT_BY_INSTR}, {"line", HOT_BY_LINE}, {"opcode", HOT_BY_OPCODE},
		{"class", HOT_BY_CLASS}};
	uint64_t top = cli_top(j->c);

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (hot_job_is_by(j, ways[i].name) &&
			!hot_group(j->hot, ways[i].by, sort_of(j->c), top == UINT64_MAX, &j->arena,
				&j->groups, &j->n_groups, e))
			return false;
	if (!index_edges(j, e))
		return false;
	if (hot_job_is_by(j, "cause"))
		j->n_groups = j->causes->n;
	if (hot_job_is_by(j, "producer"))
		j->n_groups =
			j->pipes ? (uint32_t)j->pipes->pairs.n
				 : (uint32_t)producers_get(j->producers, j->attribution)->groups.n;
	j->n_shown = top < j->n_groups ? (uint32_t)top : j->n_groups;
	return true;
}

struct hot_loss hot_job_loss(const struct hot_job *j, const struct hot_group *g)
{
	return hot_loss(j->hot, g, g->code < j->trace->n_code ? j->edge_of[g->code] : NULL);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void json_rows(struct hot_job *j, struct json_writer *w)
{
	json_w_key(w, "rows");
	json_w_array(w);
	for (uint32_t i = 0; i < j->n_shown; i++) {
		const struct hot_group *g = &j->groups[i];
		struct hot_loss loss = hot_job_loss(j, g);

		json_w_row_object(w);
		hot_json_row(j->hot, g, w);
		hot_json_loss(j->hot, &loss, w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void json_groups(struct hot_job *j, struct json_writer *w)
{
	json_w_key(w, "groups");
	json_w_array(w);
	for (uint32_t i = 0; i < j->n_shown; i++) {
		if (hot_job_is_by(j, "cause"))
			hot_json_cause(&j->causes->v[i], w);
		else
			hot_json_group(&j->groups[i],
				hot_job_is_by(j, "line") ? HOT_BY_LINE : HOT_BY_OPCODE, w);
	}
	json_w_end(w);
}

static bool print_json(struct hot_job *j)
{
	struct json_writer w;
	const struct trace *t = j->trace;

	cli_json_begin(j->c, &w, &t, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	json_w_kv_cstr(&w, "by", j->by);
	hot_json_totals(j->hot, &w);
	json_w_kv_u64(&w, "found", j->n_groups);
	if (hot_job_is_by(j, "instr")) {
		json_rows(j, &w);
	} else if (hot_job_is_by(j, "producer") && j->pipes) {
		pipes_json_pairs(j->pipes, j->n_shown, &w);
		producers_json_edges(j->producers, cli_top(j->c), &w);
	} else if (hot_job_is_by(j, "producer")) {
		producers_json(j->producers, j->attribution, j->n_shown, &w);
		if (j->attribution == ATTRIBUTION_BLOCKING)
			producers_json_edges(j->producers, cli_top(j->c), &w);
	} else {
		json_groups(j, &w);
	}
	json_w_end(&w);
	return cli_json_end(j->c, &w);
}

/* --- the verb ------------------------------------------------------------------------------- */

static bool print_flydsl(struct hot_job *j)
{
	struct flydsl_options o = {
		.top = cli_has(j->c, "top") ? cli_top(j->c) : 15,
		.with_lines = !cli_has(j->c, "by") || hot_job_is_by(j, "line"),
		.with_asm = !cli_has(j->c, "by") || hot_job_is_by(j, "instr"),
	};
	struct strbuf text = {0};
	bool ok = flydsl_report(j->trace, j->c->args[0], &o, &text, &j->c->error);

	if (ok)
		fwrite(text.p, 1, text.n, j->c->out);
	sb_free(&text);
	return ok;
}

static bool run_job(struct hot_job *j)
{
	struct incore_error *e = &j->c->error;
	bool is_flydsl = !strcmp(cli_text(j->c, "taxonomy"), "flydsl");

	if (is_flydsl && (j->c->use_json || j->c->use_csv))
		return err_set(e, INCORE_USAGE, "bad-option",
			"--taxonomy flydsl prints the older script's text only; leave out --json "
			"and --csv");
	if (!cli_open_trace(
		    j->c, j->c->args[0], IMPORT_OCCUPANCY * cli_has(j->c, "kernel"), &j->trace))
		return false;
	if (is_flydsl)
		return print_flydsl(j);
	if (!cli_selection(j->c, j->trace, &j->selection) || !make_questions(j, e))
		return false;
	if (j->trace->n_tracks == 0)
		take_stated(j);
	else if (trace_has_pipes(j->trace) ? !run_pipes(j, e) : !run_walk(j, e))
		return false;
	if (!make_groups(j, e))
		return false;
	return j->c->use_json ? print_json(j) : hot_text_print(j);
}

static int run(struct cli *c)
{
	struct hot_job j = {.c = c, .by = cli_text(c, "by")};
	bool ok;

	arena_init(&j.arena);
	ok = run_job(&j);
	walk_result_deinit(&j.walk);
	producers_free(j.producers);
	causes_free(j.causes);
	pipes_free(j.pipes);
	hot_free(j.hot);
	selection_deinit(&j.selection);
	arena_deinit(&j.arena);
	trace_free(j.trace);
	return ok ? INCORE_OK : cli_fail(c);
}

const struct verb verb_hot = {
	.name = "hot",
	.args = "PATH",
	.summary = "where the cycles go: by instruction, line, opcode, class, cause, producer",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
