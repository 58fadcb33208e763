/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_waves.c: incore waves: wave by wave, or pipe by pipe, drawn as tables. */
#include "answer/waves.h"

#include "cli/ask.h"
#include "cli/text/pipes_text.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"
#include "cli/text/table.h"

/* A wave by its name, which for waves of a file is that of the file. */
static struct str wave_name(const char *file)
{
	struct str name = str_of(file);

	if (str_ends(name, ".json"))
		name.n -= strlen(".json");
	return name;
}

/* Who made whom wait: the widest meeting of all. */
static void draw_widest(struct cli *c, const struct waves_answer *a)
{
	const struct barrier_line *b = a->barriers.rows.v, *widest = NULL;

	for (size_t i = 0; i < a->barriers.rows.n; i++)
		if (b[i].widest && b[i].row != NO_VALUE &&
			(!widest || b[i].widest->m.skew_cyc > widest->widest->m.skew_cyc))
			widest = &b[i];
	if (!widest)
		return;
	say(c->out, "            widest at row %lld: %.*s arrives %s after %.*s\n",
		(long long)widest->row, STR_ARG(wave_name(widest->widest->last)),
		COUNTED(widest->widest->m.skew_cyc, "cycle"),
		STR_ARG(wave_name(widest->widest->first)));
}

static void draw_duration(struct cli *c, const struct waves_answer *a)
{
	const struct duration_stats *d = &a->duration;
	const struct barriers *b = &a->barriers.b;

	say(c->out,
		"duration    min %s  median %s  p95 %s  max %s  mean %.1f  deviation %.1f, residue "
		"%lld\n",
		U64_TEXT(d->min), U64_TEXT(d->median), U64_TEXT(d->p95), U64_TEXT(d->max), d->mean,
		d->deviation, (long long)a->residue);
	if (b->meetings)
		say(c->out,
			"barriers    %s of waves (inferred), arrival skew median %s, max "
			"%s; "
			"the last waits %s\n",
			COUNTED(b->meetings, "meeting"), U64_TEXT(b->skew_cyc.median),
			U64_TEXT(b->skew_cyc.max), U64_TEXT(b->last_wait_cyc.median));
	draw_widest(c, a);
}

static void draw_head(struct cli *c, const struct waves_answer *a, const struct trace *t)
{
	const struct waves_totals *n = &a->totals;

	say(c->out, "%s, %s, %s cycles of %s lifetime, %s\n", COUNTED(n->waves, track_word(t)),
		COUNTED(n->instructions, slice_word(t)), U64_TEXT(a->duration.sum), track_word(t),
		evidence_text(t, (char[EVIDENCE_TEXT]){0}));
	if (!n->waves) {
		fputs(t->n_tracks ? "no wave matches the selection\n"
				  : "nothing to show: no wave was traced (see incore check)\n",
			c->out);
		return;
	}
	draw_duration(c, a);
	if (n->waves_with_states)
		say(c->out, "timeline    %s\n", COUNTED(n->segments, "segment"));
	if (n->not_ending_in_endpgm && !trace_is_timeline(t) && !trace_is_scopes(t))
		say(c->out, "cut short   %s %s not end in s_endpgm\n",
			U64_TEXT(n->not_ending_in_endpgm),
			n->not_ending_in_endpgm == 1 ? "wave does" : "waves do");
}

/* The accounting and the hardware's states side by side: two views of the same cycles. */
static bool draw_cycles(struct cli *c, const struct waves_answer *a)
{
	static const enum wave_state order[BUCKET_COUNT] = {
		STATE_EXEC, STATE_STALL, STATE_WAIT, STATE_IDLE, STATE_EMPTY};
	const struct bucket_sums *b = &a->accounting.bucket;
	const uint64_t sums[BUCKET_COUNT] = {b->issue, b->stall, b->wait, b->idle, b->drain};
	const uint64_t *s = a->states.cyc;
	struct table t;

	fputc('\n', c->out);
	table_titles(
		&t, a->states_total ? "bucket<|cycles|%|   state<|cycles|%" : "bucket<|cycles|%");
	for (unsigned k = 0; k < BUCKET_COUNT; k++) {
		char name[16];

		TABLE_ROW(&t, CELL_TEXT(bucket_name(k)), CELL_COUNT(sums[k]),
			CELL_PERCENT(sums[k], a->duration.sum));
		if (!a->states_total)
			continue;
		snprintf(name, sizeof(name), "   %s", state_name(order[k]));
		if (order[k] == STATE_EMPTY && !s[STATE_EMPTY])
			TABLE_ROW(&t, CELL_TEXT(""), CELL_TEXT(""), CELL_TEXT(""));
		else
			TABLE_ROW(&t, CELL_TEXT(name), CELL_COUNT(s[order[k]]),
				CELL_PERCENT(s[order[k]], a->states_total));
	}
	return table_finish(&t, c);
}

static bool draw_clusters(struct cli *c, const struct waves_answer *a)
{
	static const char *const columns[] = {"index", "waves", "rows", "trip_variants", "latency",
		"share", "stall", "duration_median", "representative", NULL};
	struct rows rows = a->clusters;

	rows.n = rows.n < a->top ? rows.n : (size_t)a->top;
	say(c->out, "\nwaves that executed the same rows (trips: different loop counts)\n");
	return record_table_print(c, &cluster_record, rows, columns);
}

#define GROUPS_SHOWN 32u /* of a kind */

/* Groups in which waves differ; one group alone says nothing. */
static bool draw_imbalance(struct cli *c, const struct waves_answer *a)
{
	static const char *const columns[] = {"where", "waves", "duration.min", "duration.median",
		"duration.max", "duration.sum", "issue_pct", "wait_pct", NULL};
	const struct rows kinds[] = {a->imbalance.se, a->imbalance.slot, a->imbalance.phase};
	struct group_line shown[3 * GROUPS_SHOWN];
	size_t n = 0;

	for (unsigned k = 0; k < 3; k++) {
		const struct group_line *g = kinds[k].v;

		for (size_t i = 0; i < kinds[k].n && kinds[k].n > 1 && i < GROUPS_SHOWN; i++)
			shown[n++] = g[i];
	}
	if (!n)
		return true;
	say(c->out, "\nbalance (wave durations in cycles)\n");
	return record_table_print(c, &wave_group_record, (struct rows){shown, n}, columns);
}

static bool draw_table(struct cli *c, const struct waves_answer *a, const struct trace *t)
{
	static const char *const lanes[] = {"file", "begin", "duration", "instructions",
		"accounting.issue", "accounting.idle", NULL};
	const char *const columns[] = {"se", "cu", "simd", "slot", "wave", "begin", "duration",
		"instructions", "accounting.issue", "accounting.stall", "accounting.wait",
		"accounting.idle", "accounting.drain", "segments", "cluster",
		c->use_csv ? "end" : NULL, "begin_aligned", "end_aligned", "rows", "states.IDLE",
		"states.EXEC", "states.WAIT", "states.STALL", "file", NULL};

	return record_table_print(
		c, &wave_record, a->waves, trace_is_timeline(t) && !c->use_csv ? lanes : columns);
}

static const char wave_explanation[] =
	"\nHow to read this\n"
	"  duration   end - begin of the wave on its own clock (aligned times: --json, --csv)\n"
	"  issue, stall, wait, idle, drain   the conserved accounting: they add up to the "
	"duration\n"
	"  states     the hardware's own stream: gaps between instructions count as EXEC there, "
	"the\n"
	"             wait at s_endpgm as WAIT; neither is comparable bucket by bucket\n"
	"  cluster    waves that executed exactly the same set of code rows\n"
	"  latency, stall of a cluster   sums of the recorded fields, as in code.json\n";

static bool draw_of_waves(struct cli *c, const struct answer *answer)
{
	const struct waves_answer *a = answer->data;
	const struct trace *t = answer->traces.v[0];

	if (c->use_csv)
		return draw_table(c, a, t);
	draw_head(c, a, t);
	if (!a->totals.waves)
		return true;
	if (!draw_cycles(c, a))
		return false;
	if (!trace_is_timeline(t) && (!draw_clusters(c, a) || !draw_imbalance(c, a)))
		return false;
	say(c->out, "\n%s of %s, by %s\n", U64_TEXT(a->waves.n), COUNTED(a->found, track_word(t)),
		cli_text(c, "sort"));
	if (!draw_table(c, a, t))
		return false;
	if (cli_flag(c, "explain"))
		fputs(wave_explanation, c->out);
	return true;
}

static const char pipe_explanation[] =
	"\nHow to read this\n"
	"  busy       cycles with at least one instruction in flight (flags, barriers left out)\n"
	"  busy + wait + stall + idle + drain = the span of the core, for every pipe\n"
	"  wait       inside a flag wait, buffer wait or barrier of this pipe, and not busy\n"
	"  stall      before an instruction: cache miss, issue queue; drain: after its last slice\n"
	"  alone      busy while no other work pipe of the core was\n"
	"  latency    sum of all lengths: larger than busy where several are in flight (depth)\n"
	"  gaps       between the stretches in which the pipe was busy\n";

static bool draw_of_pipes(struct cli *c, const struct answer *answer)
{
	const struct waves_of_pipes *a = answer->data;
	const struct pipes_part *p = &a->p;

	if (c->use_csv)
		return pipes_print_table(c, p);
	pipes_print_head(c, p, answer->traces.v[0]);
	if (!p->totals.pipes)
		return true;
	fputc('\n', c->out);
	if (!pipes_print_table(c, p) || !pipes_print_overlap(c, p))
		return false;
	if (p->pairs.n)
		fputs("\nwaits, cycles in which the waiting pipe did not work\n", c->out);
	if ((p->pairs.n && !pipes_print_pairs(c, p)) || !pipes_print_path(c, p))
		return false;
	if (cli_flag(c, "explain"))
		fputs(pipe_explanation, c->out);
	return true;
}

static bool draw_waves(struct cli *c, const struct answer *a)
{
	return (answer_is(a, &waves_of_pipes_record) ? draw_of_pipes : draw_of_waves)(c, a);
}

extern const struct question question_waves;
const struct verb verb_waves = {
	.name = "waves",
	.question = &question_waves,
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.draw = draw_waves,
};
