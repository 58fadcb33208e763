/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_hot.c: incore hot: where the cycles go, drawn as tables. */
#include "answer/hot.h"
#include "cli/ask.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"
#include "cli/text/table.h"

static bool draw_rows(struct cli *c, const struct hot_answer *a)
{
	const char *const columns[] = {"row", "cycles", "share", "hit", "buckets.issue",
		"buckets.wait", "buckets.stall", "buckets.idle", "buckets.drain", "cause",
		"waits_for.row", "isa", c->use_csv ? "source" : "short_source", NULL};

	const char *const exposed[] = {"row", "cycles", "share", "hit", "buckets.issue", "hidden",
		"exposed", "cause", "waits_for.row", "isa", c->use_csv ? "source" : "short_source",
		NULL};

	return record_table_print(c, &hot_row_record, a->rows, a->has_exposed ? exposed : columns);
}

static bool draw_groups(struct cli *c, const struct hot_answer *a)
{
	char key[32];
	const char *const columns[] = {key, "cycles", "share", "buckets.issue", "buckets.wait",
		"buckets.stall", "buckets.idle", "buckets.drain", "hit", "executed_rows",
		a->has_inlined ? "latency" : NULL, "inclusive_latency", NULL};

	const char *const exposed[] = {key, "cycles", "share", "buckets.issue", "hidden", "exposed",
		"hit", "executed_rows", NULL};

	snprintf(key, sizeof(key), "key=%s", a->by);
	return record_table_print(
		c, &hot_group_record, a->groups, a->has_exposed ? exposed : columns);
}

/* Samples of a known period: cycles with their error, and what of them is exposed. */
static bool draw_sampled(struct cli *c, const struct hot_answer *a)
{
	const char *const rows[] = {"row", "cycles", "share", "error_pct", "samples",
		"exposed_samples", "hit", "cause", "waits_for.row", "isa",
		c->use_csv ? "source" : "short_source", NULL};
	char key[32];
	const char *const groups[] = {key, "cycles", "share", "error_pct", "samples",
		"exposed_samples", "stall_reason", "hit", "executed_rows", NULL};

	if (a->rows.v)
		return record_table_print(c, &hot_row_record, a->rows, rows);
	snprintf(key, sizeof(key), "key=%s", a->by);
	return record_table_print(c, &hot_group_record, a->groups, groups);
}

/* The producer's own totals, or samples: what there is without a timeline. */
static bool draw_stated(struct cli *c, const struct hot_answer *a)
{
	bool is_instr = a->rows.v != NULL;
	char key[32];
	const char *const columns[] = {is_instr ? "row" : "rows",
		a->has_samples ? "samples" : "latency", "share",
		a->has_samples ? "stalled_samples" : "stall",
		a->has_samples ? "stall_reason" : "hit", is_instr ? "isa=instruction" : key, NULL};

	snprintf(key, sizeof(key), "key=%s", a->by);
	return record_table_print(c, is_instr ? &hot_row_record : &hot_group_record,
		is_instr ? a->rows : a->groups, columns);
}

static bool draw_edges(struct cli *c, const struct hot_answer *a)
{
	static const char *const columns[] = {"wait", "producer", "cycles", "count",
		"latency.median", "latency.p95", "producer_isa", "wait_isa", NULL};

	if (c->use_csv || !a->edges.n)
		return true;
	fputc('\n', c->out);
	return record_table_print(c, &edge_record, a->edges, columns);
}

static bool draw_producers(struct cli *c, const struct hot_answer *a)
{
	static const char *const pairs[] = {"producer", "consumer_pipe", "cycles", "share_of_wait",
		"share_of_all", "count", "blocked", "cores", NULL};
	static const char *const groups[] = {
		"key", "wait", "share_of_wait", "share_of_all", "waits", "blocked", NULL};

	if (a->has_pipes)
		return record_table_print(c, &pair_record, a->pairs, pairs) && draw_edges(c, a);
	return record_table_print(c, &producer_record, a->producers.groups, groups) &&
	       draw_edges(c, a);
}

static bool draw_tables(struct cli *c, const struct hot_answer *a)
{
	static const char *const causes[] = {
		"key", "cycles", "share", "hit", "each", "bucket", "family", NULL};

	if (!a->totals.rows)
		return true; /* no code: the footer says all there is */
	if (!a->accounting)
		return (!a->rows.v && !a->groups.v) || draw_stated(c, a);
	if (a->is_sampled && (a->rows.v || a->groups.v))
		return draw_sampled(c, a);
	if (a->rows.v)
		return draw_rows(c, a);
	if (a->causes.v)
		return record_table_print(c, &cause_row_record, a->causes, causes);
	if (a->groups.v)
		return draw_groups(c, a);
	return draw_producers(c, a);
}

static size_t n_shown(const struct hot_answer *a)
{
	return a->rows.n + a->groups.n + a->causes.n + a->pairs.n + a->producers.groups.n;
}

static void draw_footer(struct cli *c, const struct hot_answer *a, const struct trace *t)
{
	const struct producer_sums *p = &a->producers;
	uint64_t duration = a->accounting ? a->accounting->duration : 0;

	if (p->attribution && a->accounting) {
		say(c->out, "beside these: barrier %s, sleep %s cycles; %s attribution, ",
			U64_TEXT(p->barrier), U64_TEXT(p->sleep), p->attribution);
		say(c->out, "%s free, %s blocked\n", COUNTED(p->waits.free, "wait"),
			U64_TEXT(p->waits.blocked));
	}
	if (a->has_pipes)
		say(c->out, "beside these: idle %s, drain %s cycles of pipes with nothing to do\n",
			U64_TEXT(a->nothing_to_do.idle), U64_TEXT(a->nothing_to_do.drain));
	if (n_shown(a) < a->found)
		say(c->out, "%s of %s shown (--top all shows every one)\n", U64_TEXT(n_shown(a)),
			U64_TEXT(a->found));
	if (a->per)
		say(c->out, "cycles of rows: the mean over %s; the rest is of all\n",
			COUNTED(a->totals.waves, "wave"));
	if (a->is_sampled) {
		say(c->out, "%s x %s cycles, %s exposed, %s, ",
			COUNTED(a->totals.samples, "sample"), U64_TEXT(a->totals.period),
			a->totals.exposed_samples == NO_U64 ? "unknown"
							    : U64_TEXT(a->totals.exposed_samples),
			COUNTED(a->totals.instructions, "instruction"));
		say(c->out, "%s, %u note%s\n", evidence_text(t, (char[EVIDENCE_TEXT]){0}),
			c->n_notes, plural(c->n_notes));
		return;
	}
	say(c->out, "%s, %s, %s, %s, %u note%s\n", COUNTED(a->totals.waves, track_word(t)),
		COUNTED(a->totals.instructions, slice_word(t)), COUNTED(duration, "cycle"),
		evidence_text(t, (char[EVIDENCE_TEXT]){0}), c->n_notes, plural(c->n_notes));
}

static const char pipe_explanation[] =
	"\ncycles = issue + wait + stall. Every cycle of every pipe over its core's span is in "
	"exactly one\n"
	"row, or in idle or drain of its pipe: then the pipe had nothing to do, and no row has "
	"it.\n"
	"  issue  in flight; of several, the oldest has the cycle\n"
	"  wait   inside a flag wait, buffer wait or barrier, the pipe not working\n"
	"  stall  head cost before it: cache miss, issue queue\n"
	"latency in --json is the sum of lengths, as the producer's tables have it: instructions "
	"in\n"
	"flight together make it larger than the time the pipe was busy.\n";

static const char wave_explanation[] =
	"\ncycles = issue + wait + stall + idle + drain: every cycle of every wave is in exactly "
	"one of them.\n"
	"  issue  the instruction was issuing          wait   at s_waitcnt, s_barrier, s_sleep\n"
	"  stall  held back before issue (s_nop too)   idle   nothing of the wave was due\n"
	"  drain  s_endpgm, waiting for stores\n"
	"Other viewers count the drain as issue and waits as stall; code.json's Latency, Stall and "
	"Idle\n"
	"are in --json as totals, with the meaning its producer gives them.\n";

static const char sample_explanation[] =
	"\ncycles = samples x period, an estimate: +-% is its standard error. A sample finds one "
	"warp of an SM;\n"
	"exposed: its scheduler issued nothing at that time, from any warp, so that the stall cost "
	"time.\n"
	"lost to: the reason of most exposed samples, in the words of incore-ncu(7); of row: the "
	"instruction\n"
	"that it waits for, by the scoreboards of the code. hit is exact where it was counted.\n";

static bool draw_hot(struct cli *c, const struct answer *answer)
{
	const struct hot_answer *a = answer->data;

	if (a->legacy_text) {
		fputs(a->legacy_text, c->out);
		return true;
	}
	c->n_waves = a->per ? a->totals.waves : 0;
	if (!draw_tables(c, a))
		return false;
	if (c->use_csv)
		return true;
	draw_footer(c, a, answer->traces.v[0]);
	if (cli_flag(c, "explain"))
		fputs(a->is_sampled    ? sample_explanation
			: a->has_pipes ? pipe_explanation
				       : wave_explanation,
			c->out);
	return true;
}

extern const struct question question_hot;
const struct verb verb_hot = {
	.name = "hot",
	.question = &question_hot,
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.draw = draw_hot,
};
