/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_waves.c: incore waves: wave by wave, how long, where its cycles went, who took which path. */
#include <string.h>

#include "analysis/pipes/pipe_sweep.h"
#include "analysis/waves/waves.h"
#include "cli/cli.h"
#include "cli/text/pipes_page.h"
#include "cli/text/table.h"

static const struct option_def options[] = {
	{0, "sort", OPTION_CHOICE, "KEY", WAVES_SORT_CHOICES, "duration",
		"order of the waves: largest first; wave and begin: first come first"},
	{0, "bins", OPTION_COUNT, "N", NULL, "0",
		"with --json: cycles in each state over time, in N bins"},
	OPTION_END,
};

#define MAX_BINS 100000u

struct job {
	struct cli *c;
	struct trace *trace;
	struct selection selection;
	struct waves *waves;
	struct walk_result walk;
	struct arena arena;
	track_idx *list; /* waves to show, sorted */
	uint32_t n_list, n_shown;
};

static bool print_json(struct job *j)
{
	struct json_writer w;
	const struct trace *t = j->trace;

	cli_json_begin(j->c, &w, &t, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	waves_json(j->waves, j->list, j->n_shown, &w);
	json_w_end(&w);
	return cli_json_end(j->c, &w);
}

/* A track by its name, which for waves of a file is that of the file. */
static struct str wave_name(const struct trace *t, track_idx i)
{
	struct str name = str_of(t->tracks[i].name);

	if (str_ends(name, ".json"))
		name.n -= strlen(".json");
	return name;
}

/* Who made whom wait: the widest meeting of all. */
static void print_widest(struct job *j)
{
	const struct barriers *b = j->waves->barriers;
	const struct barrier_row *widest = NULL;
	char a[32];

	for (uint32_t i = 0; i < b->n_rows; i++)
		if (b->rows[i].meetings && b->rows[i].code < j->trace->n_code &&
			(!widest || b->rows[i].widest.skew_cyc > widest->widest.skew_cyc))
			widest = &b->rows[i];
	if (!widest)
		return;
	fprintf(j->c->out, "            widest at row %lld: %.*s arrives %s cycle%s after %.*s\n",
		(long long)j->trace->code[widest->code].number,
		STR_ARG(wave_name(j->trace, widest->widest.last)),
		fmt_u64(a, widest->widest.skew_cyc), plural(widest->widest.skew_cyc),
		STR_ARG(wave_name(j->trace, widest->widest.first)));
}

static void print_head(struct job *j)
{
	const struct waves *w = j->waves;
	const struct duration_stats *d = &w->duration;
	char a[32], b[32], m[32], p[32], x[32];
	FILE *out = j->c->out;

	fprintf(out, "%s wave%s, %s instruction%s, %s cycles of wave lifetime, %s\n",
		fmt_u64(a, w->n_waves), plural(w->n_waves), fmt_u64(b, w->n_instructions),
		plural(w->n_instructions), fmt_u64(m, d->sum),
		evidence_text(j->trace, (char[EVIDENCE_TEXT]){0}));
	if (!w->n_waves) {
		fputs(j->trace->n_tracks
				? "no wave matches the selection\n"
				: "nothing to show: no wave was traced (see incore check)\n",
			out);
		return;
	}
	fprintf(out,
		"duration    min %s  median %s  p95 %s  max %s  mean %.1f  deviation %.1f, residue "
		"%lld\n",
		fmt_u64(a, d->min), fmt_u64(m, d->median), fmt_u64(p, d->p95), fmt_u64(x, d->max),
		d->mean, d->deviation, (long long)w->residue_cyc);
	if (w->barriers->meetings)
		fprintf(out,
			"barriers    %s meeting%s of waves (inferred), arrival skew median %s, max "
			"%s; "
			"the last waits %s\n",
			fmt_u64(a, w->barriers->meetings), plural(w->barriers->meetings),
			fmt_u64(b, w->barriers->skew_cyc.median),
			fmt_u64(m, w->barriers->skew_cyc.max),
			fmt_u64(p, w->barriers->last_wait_cyc.median));
	print_widest(j);
	if (w->states->n_waves)
		fprintf(out, "timeline    %s segment%s\n", fmt_u64(a, w->states->all.segments),
			plural(w->states->all.segments));
	if (w->n_not_ended)
		fprintf(out, "cut short   %s %s not end in s_endpgm\n", fmt_u64(a, w->n_not_ended),
			w->n_not_ended == 1 ? "wave does" : "waves do");
}

/* The accounting and the hardware's states side by side: two views of the same cycles. */
static bool print_cycles(struct job *j)
{
	static const struct table_column columns[] = {
		{"bucket", NULL, CELL_LEFT, false},
		{"cycles", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"   state", NULL, CELL_LEFT, false},
		{"cycles", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
	};
	static const enum wave_state order[BUCKET_COUNT] = {
		STATE_EXEC, STATE_STALL, STATE_WAIT, STATE_IDLE, STATE_EMPTY};
	const struct waves *w = j->waves;
	const uint64_t *s = w->states->all.cyc;
	uint64_t states = 0;
	struct table t;
	bool ok;

	for (unsigned k = 0; k < STATE_COUNT; k++)
		states += s[k];
	fputc('\n', j->c->out);
	table_init(&t, columns, states ? 6 : 3);
	for (unsigned k = 0; k < BUCKET_COUNT; k++) {
		char name[16];

		table_cstr(&t, bucket_name(k));
		table_u64(&t, w->bucket[k]);
		table_pct(&t, w->bucket[k], w->duration.sum);
		if (!states)
			continue;
		if (order[k] == STATE_EMPTY && !s[STATE_EMPTY]) {
			for (unsigned n = 0; n < 3; n++)
				table_cstr(&t, "");
			continue;
		}
		snprintf(name, sizeof(name), "   %s", state_name(order[k]));
		table_cstr(&t, name);
		table_u64(&t, s[order[k]]);
		table_pct(&t, s[order[k]], states);
	}
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

static bool print_clusters(struct job *j)
{
	static const struct table_column columns[] = {
		{"cluster", NULL, CELL_RIGHT, false},
		{"waves", NULL, CELL_RIGHT, false},
		{"rows", NULL, CELL_RIGHT, false},
		{"trips", NULL, CELL_RIGHT, false},
		{"latency", "latency_cycles", CELL_RIGHT, false},
		{"%", "latency_pct", CELL_RIGHT, false},
		{"stall", "stall_cycles", CELL_RIGHT, false},
		{"median", "median_cycles", CELL_RIGHT, false},
		{"representative", NULL, CELL_LEFT, true},
	};
	const struct clusters *k = j->waves->clusters;
	struct table t;
	bool ok;

	fprintf(j->c->out, "\nwaves that executed the same rows (trips: different loop counts)\n");
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < k->n && i < cli_top(j->c); i++) {
		table_u64(&t, i);
		table_u64(&t, k->v[i].n_waves);
		table_u64(&t, k->v[i].n_rows);
		table_u64(&t, k->v[i].n_variants);
		table_u64(&t, k->v[i].latency);
		table_pct(&t, k->v[i].latency, k->latency);
		table_u64(&t, k->v[i].stall);
		table_u64(&t, k->v[i].median_dur);
		table_cstr(&t, j->trace->tracks[k->v[i].representative].name);
	}
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

/* Groups in which waves differ; one group alone says nothing. */
static bool print_imbalance(struct job *j)
{
	static const struct table_column columns[] = {
		{"where", NULL, CELL_LEFT, false},
		{"waves", NULL, CELL_RIGHT, false},
		{"min", "min_cycles", CELL_RIGHT, false},
		{"median", "median_cycles", CELL_RIGHT, false},
		{"max", "max_cycles", CELL_RIGHT, false},
		{"sum", "sum_cycles", CELL_RIGHT, false},
		{"issue %", NULL, CELL_RIGHT, false},
		{"wait %", NULL, CELL_RIGHT, false},
	};
	static const enum wave_grouping shown[] = {WAVES_BY_SE, WAVES_BY_SLOT, WAVES_BY_PHASE};
	static const char *const phases[] = {"first", "middle", "last"};
	const struct waves *w = j->waves;
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (unsigned g = 0; g < sizeof(shown) / sizeof(shown[0]); g++) {
		uint32_t n = w->n_groups[shown[g]];

		for (uint32_t i = 0; i < n && n > 1 && i < 32; i++) {
			const struct wave_group *x = &w->groups[shown[g]][i];
			const struct track *k = &j->trace->tracks[x->first];
			char where[48];

			if (shown[g] == WAVES_BY_PHASE)
				snprintf(where, sizeof(where), "%s wave%s of a slot",
					phases[wave_phase_of(j->trace, x->first)],
					plural(x->duration.n));
			else
				snprintf(where, sizeof(where), "%s %u",
					wave_grouping_name(shown[g]),
					k->coord[shown[g] == WAVES_BY_SE ? 0 : 3]);
			table_cstr(&t, where);
			table_u64(&t, x->duration.n);
			table_u64(&t, x->duration.min);
			table_u64(&t, x->duration.median);
			table_u64(&t, x->duration.max);
			table_u64(&t, x->duration.sum);
			table_pct(&t, x->bucket[BUCKET_ISSUE], x->duration.sum);
			table_pct(&t, x->bucket[BUCKET_WAIT], x->duration.sum);
		}
	}
	if (table_rows(&t))
		fprintf(j->c->out, "\nbalance (wave durations in cycles)\n");
	ok = !table_rows(&t) || table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

static const struct table_column wave_columns[] = {
	{"se", NULL, CELL_RIGHT, false},
	{"cu", NULL, CELL_RIGHT, false},
	{"simd", NULL, CELL_RIGHT, false},
	{"slot", NULL, CELL_RIGHT, false},
	{"wave", NULL, CELL_RIGHT, false},
	{"begin", "begin_cycles", CELL_RIGHT, false},
	{"duration", "duration_cycles", CELL_RIGHT, false},
	{"instr", "instructions", CELL_RIGHT, false},
	{"issue", "issue_cycles", CELL_RIGHT, false},
	{"stall", "stall_cycles", CELL_RIGHT, false},
	{"wait", "wait_cycles", CELL_RIGHT, false},
	{"idle", "idle_cycles", CELL_RIGHT, false},
	{"drain", "drain_cycles", CELL_RIGHT, false},
	{"segments", NULL, CELL_RIGHT, false},
	{"cluster", NULL, CELL_RIGHT, false},
	/* CSV alone from here */
	{"end", "end_cycles", CELL_RIGHT, false},
	{"begin_aligned", "begin_aligned_cycles", CELL_RIGHT, false},
	{"end_aligned", "end_aligned_cycles", CELL_RIGHT, false},
	{"rows", NULL, CELL_RIGHT, false},
	{"IDLE", "state_idle_cycles", CELL_RIGHT, false},
	{"EXEC", "state_exec_cycles", CELL_RIGHT, false},
	{"WAIT", "state_wait_cycles", CELL_RIGHT, false},
	{"STALL", "state_stall_cycles", CELL_RIGHT, false},
	{"file", NULL, CELL_LEFT, false},
};
#define TEXT_COLUMNS 15u

static void put_csv_cells(struct job *j, struct table *t, track_idx i)
{
	const struct track *k = &j->trace->tracks[i];

	table_u64(t, k->end_cyc);
	table_i64(t, trace_aligned(j->trace, k->clock, k->begin_cyc));
	table_i64(t, trace_aligned(j->trace, k->clock, k->end_cyc));
	table_u64(t, j->waves->clusters->waves[i].n_rows);
	for (unsigned s = STATE_IDLE; s < STATE_COUNT; s++)
		table_u64(t, j->waves->states->waves[i].cyc[s]);
	table_cstr(t, k->name);
}

static bool print_waves(struct job *j)
{
	unsigned all = sizeof(wave_columns) / sizeof(wave_columns[0]);
	struct table t;
	bool ok;

	table_init(&t, wave_columns, j->c->use_csv ? all : TEXT_COLUMNS);
	for (uint32_t n = 0; n < j->n_shown; n++) {
		track_idx i = j->list[n];
		const struct track *k = &j->trace->tracks[i];
		const struct wave_row *r = &j->waves->rows[i];

		for (unsigned c = 0; c < TRACK_LEVELS; c++)
			table_u64(&t, k->coord[c]);
		table_u64(&t, k->begin_cyc);
		table_u64(&t, r->duration_cyc);
		table_u64(&t, r->instructions);
		for (unsigned b = 0; b < BUCKET_COUNT; b++)
			table_u64(&t, r->bucket[b]);
		table_u64(&t, j->waves->states->waves[i].segments);
		table_u64(&t, j->waves->clusters->of_track[i]);
		if (j->c->use_csv)
			put_csv_cells(j, &t, i);
	}
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

static const char explanation[] =
	"\nHow to read this\n"
	"  duration   end - begin of the wave on its own clock (aligned times: --json, --csv)\n"
	"  issue, stall, wait, idle, drain   the conserved accounting: they add up to the "
	"duration\n"
	"  states     the hardware's own stream: gaps between instructions count as EXEC there, "
	"the\n"
	"             wait at s_endpgm as WAIT; neither is comparable bucket by bucket\n"
	"  cluster    waves that executed exactly the same set of code rows\n"
	"  latency, stall of a cluster   sums of the recorded fields, as in code.json\n";

static bool print_text(struct job *j)
{
	char a[32], b[32];

	if (j->c->use_csv)
		return print_waves(j);
	print_head(j);
	if (!j->waves->n_waves)
		return true;
	if (!print_cycles(j) || !print_clusters(j) || !print_imbalance(j))
		return false;
	fprintf(j->c->out, "\n%s of %s wave%s, by %s\n", fmt_u64(a, j->n_shown),
		fmt_u64(b, j->n_list), plural(j->n_list), cli_text(j->c, "sort"));
	if (!print_waves(j))
		return false;
	if (cli_flag(j->c, "explain"))
		fputs(explanation, j->c->out);
	return true;
}

/* JSON and CSV are for programs: all waves unless --top is given. */
static uint64_t shown_at_most(struct cli *c)
{
	return (c->use_json || c->use_csv) && !cli_has(c, "top") ? UINT64_MAX : cli_top(c);
}

static bool answer(struct job *j)
{
	struct cli *c = j->c;
	uint64_t bins = cli_count(c, "bins");
	struct walk_options o;

	if (bins > MAX_BINS)
		return err_set(&c->error, INCORE_USAGE, "bad-option", "--bins %llu: at most %u",
			(unsigned long long)bins, MAX_BINS);
	if (!cli_open_trace(c, c->args[0], IMPORT_OCCUPANCY * cli_has(c, "kernel"), &j->trace) ||
		!cli_selection(c, j->trace, &j->selection))
		return false;
	if (trace_has_pipes(j->trace))
		return pipes_page_waves(c, j->trace, &j->selection);
	j->waves = waves_new(j->trace, (uint32_t)bins, &c->error);
	o = cli_walk_options(c, &j->selection);
	if (!j->waves || !waves_collect(j->waves, &o, &j->walk, &c->error))
		return false;
	cli_walk_notes(c, &j->walk);
	if (!waves_sorted(j->waves, wave_sort_of(cli_text(c, "sort")), &j->arena, &j->list,
		    &j->n_list, &c->error))
		return false;
	j->n_shown = shown_at_most(c) < j->n_list ? (uint32_t)shown_at_most(c) : j->n_list;
	return c->use_json ? print_json(j) : print_text(j);
}

static int run(struct cli *c)
{
	struct job j = {.c = c};
	bool ok;

	arena_init(&j.arena);
	ok = answer(&j);
	waves_free(j.waves);
	walk_result_deinit(&j.walk);
	selection_deinit(&j.selection);
	trace_free(j.trace);
	arena_deinit(&j.arena);
	return ok ? 0 : cli_fail(c);
}

const struct verb verb_waves = {
	.name = "waves",
	.args = "PATH",
	.summary = "wave by wave: durations, states, paths, balance",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
