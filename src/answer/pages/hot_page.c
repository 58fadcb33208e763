/* SPDX-License-Identifier: Apache-2.0 */
/* hot_page.c: where the cycles go, as tables. */
#include "answer/hot.h"
#include "answer/pages.h"

static void hot_page_put_rows(struct page *p, const struct hot_answer *a)
{
	const char *const columns[] = {"row", "cycles", "share", "3?hit", "4?buckets.issue",
		"buckets.wait", "5?buckets.stall", "1?buckets.idle", "2?buckets.drain", "7?cause",
		"6?waits_for.row", "isa", p->is_csv ? "source" : "short_source", NULL};

	const char *const exposed[] = {"row", "cycles", "share", "2?hit", "3?buckets.issue",
		"1?hidden", "exposed", "5?cause", "4?waits_for.row", "isa",
		p->is_csv ? "source" : "short_source", NULL};

	page_main_records(p, &hot_row_record, a->rows, a->has_exposed ? exposed : columns);
}

/* Rows, executions and latency of a line are three figures. */
static void put_lines(struct page *p, const struct hot_answer *a)
{
	const char *const columns[] = {"key=line", "cycles", "share", "6?buckets.issue",
		"7?buckets.wait", "5?buckets.stall", "3?buckets.idle", "4?buckets.drain", "8?hit",
		"9?executed_rows", a->has_inlined ? "latency" : NULL, "inclusive_latency", NULL};
	const char *const more[] = {"2?row_share", "1?latency_share", "cause", "cause_share", NULL};
	const struct hot_row *rows = a->groups.v;
	bool has_cause = p->is_csv;
	const char *all[sizeof(columns) / sizeof(*columns) + sizeof(more) / sizeof(*more)];
	size_t n = 0;

	for (size_t i = 0; i + 1 < sizeof(columns) / sizeof(*columns) && columns[i]; i++)
		all[n++] = columns[i];
	for (size_t i = 0; i < a->groups.n; i++)
		has_cause |= rows[i].cause != NULL;
	for (size_t i = 0; more[i] && (has_cause || i < 2); i++)
		all[n++] = more[i];
	all[n] = NULL;
	page_main_records(p, &hot_line_record, a->groups, all);
}

/* What one execution costs, by kind: beside the sums by class. */
static void put_costs(struct page *p, const struct hot_answer *a)
{
	static const char *const columns[] = {
		"kind", "hit", "2?rows", "mean", "1?mean_stall", "median", "p99", "latency", NULL};

	if (p->is_csv || !a->costs.n)
		return;
	page_gap(p);
	page_line(p, "latency of one execution (stall and issue), by kind:");
	page_records(p, &cost_record, a->costs, columns);
}

static void put_groups(struct page *p, const struct hot_answer *a)
{
	char key[32];
	const char *const columns[] = {key, "cycles", "share", "buckets.issue", "buckets.wait",
		"buckets.stall", "buckets.idle", "buckets.drain", "hit", "executed_rows",
		a->has_inlined ? "latency" : NULL, "inclusive_latency", "1?inclusive_hit", NULL};

	const char *const exposed[] = {key, "cycles", "share", "buckets.issue", "hidden", "exposed",
		"hit", "executed_rows", NULL};

	if (!a->has_exposed && strcmp(a->by, "line") == 0) {
		put_lines(p, a);
		return;
	}
	snprintf(key, sizeof(key), "key=%s", a->by);
	page_main_records(p, &hot_group_record, a->groups, a->has_exposed ? exposed : columns);
	put_costs(p, a);
}

/* Samples with a known period: cycles with their error, and how many of them are exposed. */
static void put_sampled(struct page *p, const struct hot_answer *a)
{
	const char *const rows[] = {"row", "cycles", "share", "3?error_pct", "2?samples",
		"exposed_samples", "1?hit", "5?cause", "4?waits_for.row", "isa",
		p->is_csv ? "source" : "short_source", NULL};
	char key[32];
	const char *const groups[] = {key, "cycles", "share", "error_pct", "samples",
		"exposed_samples", "stall_reason", "hit", "executed_rows", NULL};

	snprintf(key, sizeof(key), "key=%s", a->by);
	if (a->rows.v)
		page_main_records(p, &hot_row_record, a->rows, rows);
	else
		page_main_records(p, &hot_group_record, a->groups, groups);
}

/* Without a timeline: the producer's own totals, or samples. */
static void put_stated(struct page *p, const struct hot_answer *a)
{
	bool is_instr = a->rows.v != NULL;
	char key[32];
	const char *const columns[] = {is_instr ? "row" : "rows",
		a->has_samples ? "samples" : "latency", "share",
		a->has_samples ? "stalled_samples" : "stall",
		a->has_samples ? "stall_reason" : "hit", is_instr ? "isa=instruction" : key, NULL};

	snprintf(key, sizeof(key), "key=%s", a->by);
	page_main_records(p, is_instr ? &hot_row_record : &hot_group_record,
		is_instr ? a->rows : a->groups, columns);
}

static void hot_page_put_edges(struct page *p, const struct hot_answer *a)
{
	static const char *const columns[] = {"wait", "producer", "cycles", "count",
		"latency.median", "latency.p95", "producer_isa", "wait_isa", NULL};

	if (p->is_csv || !a->edges.n)
		return;
	page_gap(p);
	page_records(p, &edge_record, a->edges, columns);
}

static void put_producers(struct page *p, const struct hot_answer *a)
{
	static const char *const pairs[] = {"producer", "consumer_pipe", "cycles", "share_of_wait",
		"share_of_all", "count", "blocked", "cores", NULL};
	static const char *const groups[] = {
		"key", "wait", "share_of_wait", "share_of_all", "waits", "blocked", NULL};

	if (a->has_pipes)
		page_main_records(p, &pair_record, a->pairs, pairs);
	else
		page_main_records(p, &producer_record, a->producers.groups, groups);
	hot_page_put_edges(p, a);
}

static void hot_page_put_tables(struct page *p, const struct hot_answer *a)
{
	static const char *const causes[] = {
		"key", "cycles", "share", "hit", "each", "bucket", "family", NULL};

	if (!a->totals.rows)
		return; /* no code: the footer says everything */
	if (!a->accounting && (a->rows.v || a->groups.v))
		put_stated(p, a);
	else if (!a->accounting)
		return;
	else if (a->is_sampled && (a->rows.v || a->groups.v))
		put_sampled(p, a);
	else if (a->rows.v)
		hot_page_put_rows(p, a);
	else if (a->causes.v)
		page_main_records(p, &cause_row_record, a->causes, causes);
	else if (a->groups.v)
		put_groups(p, a);
	else
		put_producers(p, a);
}

static size_t n_shown(const struct hot_answer *a)
{
	return a->rows.n + a->groups.n + a->causes.n + a->pairs.n + a->producers.groups.n;
}

static void put_footer(struct page *p, const struct answer *answer)
{
	const struct hot_answer *a = answer->data;
	const struct trace *t = answer->traces.v[0];
	const struct producer_sums *k = &a->producers;
	uint64_t duration = a->accounting ? a->accounting->duration : 0;

	if (k->attribution && a->accounting) {
		page_say(p, "beside these: barrier %s, sleep %s cycles; %s attribution, ",
			U64_TEXT(k->barrier), U64_TEXT(k->sleep), k->attribution);
		page_line(p, "%s free, %s blocked", COUNTED(k->waits.free, "wait"),
			U64_TEXT(k->waits.blocked));
	}
	if (a->has_pipes)
		page_line(p, "beside these: idle %s, drain %s cycles of pipes with nothing to do",
			U64_TEXT(a->nothing_to_do.idle), U64_TEXT(a->nothing_to_do.drain));
	if (a->collapsed)
		page_prose(p, "", "%s", a->collapsed);
	if (n_shown(a) < a->found)
		page_line(p, "%s of %s shown (--top all shows every one)", U64_TEXT(n_shown(a)),
			U64_TEXT(a->found));
	if (a->per)
		page_line(p, "cycles of rows: the mean over %s; the rest is of all",
			COUNTED(a->totals.waves, "wave"));
	if (a->is_sampled) {
		page_say(p, "%s x %s cycles, %s exposed, %s, ",
			COUNTED(a->totals.samples, "sample"), U64_TEXT(a->totals.period),
			a->totals.exposed_samples == NO_U64 ? "unknown"
							    : U64_TEXT(a->totals.exposed_samples),
			COUNTED(a->totals.instructions, "instruction"));
		page_line(p, "%s, %u note%s", evidence_text(t, (char[EVIDENCE_TEXT]){0}),
			answer->n_notes, plural(answer->n_notes));
		return;
	}
	page_line(p, "%s, %s, %s, %s, %u note%s", COUNTED(a->totals.waves, kind_row(t)->track),
		COUNTED(a->totals.instructions, kind_row(t)->slice), COUNTED(duration, "cycle"),
		evidence_text(t, (char[EVIDENCE_TEXT]){0}), answer->n_notes,
		plural(answer->n_notes));
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

void hot_page(const struct answer *answer, struct page *p)
{
	const struct hot_answer *a = answer->data;

	if (a->legacy_text) {
		page_listing(p, a->legacy_text);
		return;
	}
	p->n_waves = a->per ? a->totals.waves : 0;
	hot_page_put_tables(p, a);
	if (p->is_csv)
		return;
	put_footer(p, answer);
	if (p->explains)
		page_lines(p, a->is_sampled  ? sample_explanation
			      : a->has_pipes ? pipe_explanation
					     : wave_explanation);
}
