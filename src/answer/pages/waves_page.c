/* SPDX-License-Identifier: Apache-2.0 */
/* waves_page.c: wave by wave, or pipe by pipe, as tables. */
#include "answer/waves.h"

#include "answer/pages.h"
#include "answer/pages/pipes_page.h"

/* Name of a wave; for waves from a file, the name of the file. */
static struct str wave_name(const char *file)
{
	struct str name = str_of(file);

	if (str_ends(name, ".json"))
		name.n -= strlen(".json");
	return name;
}

/* Who made whom wait: the barrier meeting with the largest skew. */
static void put_widest(struct page *p, const struct waves_answer *a)
{
	const struct barrier_line *b = a->barriers.rows.v, *widest = NULL;

	for (size_t i = 0; i < a->barriers.rows.n; i++)
		if (b[i].widest && b[i].row != NO_VALUE &&
			(!widest || b[i].widest->m.skew_cyc > widest->widest->m.skew_cyc))
			widest = &b[i];
	if (!widest)
		return;
	page_fact(p, "            ", "widest at row %lld: %.*s arrives %s after %.*s",
		(long long)widest->row, STR_ARG(wave_name(widest->widest->last)),
		COUNTED(widest->widest->m.skew_cyc, "cycle"),
		STR_ARG(wave_name(widest->widest->first)));
}

static void put_duration(struct page *p, const struct waves_answer *a)
{
	const struct duration_stats *d = &a->duration;
	const struct barriers *b = &a->barriers.b;

	page_fact(p, "duration    ",
		"min %s  median %s  p95 %s  max %s  mean %.1f  deviation %.1f, residue "
		"%lld",
		U64_TEXT(d->min), U64_TEXT(d->median), U64_TEXT(d->p95), U64_TEXT(d->max), d->mean,
		d->deviation, (long long)a->residue);
	if (b->meetings)
		page_fact(p, "barriers    ",
			"%s of waves (inferred), arrival skew median %s, max "
			"%s; "
			"the last waits %s",
			COUNTED(b->meetings, "meeting"), U64_TEXT(b->skew_cyc.median),
			U64_TEXT(b->skew_cyc.max), U64_TEXT(b->last_wait_cyc.median));
	put_widest(p, a);
}

static void waves_page_put_head(struct page *p, const struct waves_answer *a, const struct trace *t)
{
	const struct waves_totals *n = &a->totals;

	page_line(p, "%s, %s, %s cycles of %s lifetime, %s", COUNTED(n->waves, kind_row(t)->track),
		COUNTED(n->instructions, kind_row(t)->slice), U64_TEXT(a->duration.sum),
		kind_row(t)->track, evidence_text(t, (char[EVIDENCE_TEXT]){0}));
	if (!n->waves) {
		page_line(p, t->n_tracks
				     ? "no wave matches the selection"
				     : "nothing to show: no wave was traced (see incore check)");
		return;
	}
	put_duration(p, a);
	if (n->waves_with_states)
		page_fact(p, "timeline    ", "%s", COUNTED(n->segments, "segment"));
	if (n->not_ending_in_endpgm && kind_row(t)->has_program)
		page_fact(p, "cut short   ", "%s %s not end in s_endpgm",
			U64_TEXT(n->not_ending_in_endpgm),
			n->not_ending_in_endpgm == 1 ? "wave does" : "waves do");
}

/* The accounting and the hardware's states side by side: two views of the same cycles. */
static void put_cycles(struct page *p, const struct waves_answer *a)
{
	static const enum wave_state order[BUCKET_COUNT] = {
		STATE_EXEC, STATE_STALL, STATE_WAIT, STATE_IDLE, STATE_EMPTY};
	const struct bucket_sums *b = &a->accounting.bucket;
	const uint64_t sums[BUCKET_COUNT] = {b->issue, b->stall, b->wait, b->idle, b->drain};
	const uint64_t *s = a->states.cyc;
	struct table *t;

	page_gap(p);
	t = page_table(
		p, a->states_total ? "bucket<|cycles|%|   state<|cycles|%" : "bucket<|cycles|%");
	for (unsigned k = 0; k < BUCKET_COUNT; k++) {
		char name[16];

		TABLE_ROW(t, CELL_TEXT(bucket_name(k)), CELL_COUNT(sums[k]),
			CELL_PERCENT(sums[k], a->duration.sum));
		if (!a->states_total)
			continue;
		snprintf(name, sizeof(name), "   %s", state_name(order[k]));
		if (order[k] == STATE_EMPTY && !s[STATE_EMPTY])
			TABLE_ROW(t, CELL_TEXT(""), CELL_TEXT(""), CELL_TEXT(""));
		else
			TABLE_ROW(t, CELL_TEXT(name), CELL_COUNT(s[order[k]]),
				CELL_PERCENT(s[order[k]], a->states_total));
	}
}

static void put_clusters(struct page *p, const struct waves_answer *a)
{
	static const char *const columns[] = {"index", "waves", "rows", "trip_variants", "latency",
		"share", "stall", "duration_median", "representative", NULL};
	struct rows rows = a->clusters;

	rows.n = rows.n < a->top ? rows.n : (size_t)a->top;
	page_gap(p);
	page_line(p, "waves that executed the same rows (trips: different loop counts)");
	page_records(p, &cluster_record, rows, columns);
}

#define GROUPS_SHOWN 32u /* per kind */

/* Groups between which waves differ; a single group says nothing. */
static void put_imbalance(struct page *p, const struct waves_answer *a)
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
		return;
	page_gap(p);
	page_line(p, "balance (wave durations in cycles)");
	page_records(p, &wave_group_record, (struct rows){shown, n}, columns);
}

static void waves_page_put_table(
	struct page *p, const struct waves_answer *a, const struct trace *t)
{
	static const char *const lanes[] = {"file", "begin", "duration", "instructions",
		"accounting.issue", "accounting.idle", NULL};
	const char *const columns[] = {"se", "cu", "simd", "slot", "5?wave", "begin", "duration",
		"4?instructions", "accounting.issue", "accounting.stall", "accounting.wait",
		"3?accounting.idle", "6?accounting.drain", "1?segments", "2?cluster",
		p->is_csv ? "end" : NULL, "begin_aligned", "end_aligned", "rows", "states.IDLE",
		"states.EXEC", "states.WAIT", "states.STALL", "file", NULL};

	page_main_records(
		p, &wave_record, a->waves, kind_row(t)->no_code && !p->is_csv ? lanes : columns);
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

static void waves_page_put_of_waves(struct page *p, const struct answer *answer)
{
	const struct waves_answer *a = answer->data;
	const struct trace *t = answer->traces.v[0];

	if (p->is_csv) {
		waves_page_put_table(p, a, t);
		return;
	}
	waves_page_put_head(p, a, t);
	if (!a->totals.waves)
		return;
	put_cycles(p, a);
	if (!kind_row(t)->no_code) {
		put_clusters(p, a);
		put_imbalance(p, a);
	}
	page_gap(p);
	page_line(p, "%s of %s, by %.*s", U64_TEXT(a->waves.n),
		COUNTED(a->found, kind_row(t)->track), STR_ARG(a->sorted_by));
	waves_page_put_table(p, a, t);
	if (p->explains)
		page_lines(p, wave_explanation);
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

static void waves_page_put_of_pipes(struct page *p, const struct answer *answer)
{
	const struct waves_of_pipes *a = answer->data;
	const struct pipes_part *x = &a->p;

	if (p->is_csv) {
		put_pipe_table(p, x);
		return;
	}
	put_pipe_head(p, x, answer->traces.v[0]);
	if (!x->totals.pipes)
		return;
	page_gap(p);
	put_pipe_table(p, x);
	put_pipe_overlap(p, x);
	if (x->pairs.n) {
		page_gap(p);
		page_line(p, "waits, cycles in which the waiting pipe did not work");
		put_pipe_pairs(p, x);
	}
	put_pipe_path(p, x);
	if (p->explains)
		page_lines(p, pipe_explanation);
}

void waves_page(const struct answer *a, struct page *p)
{
	(answer_is(a, &waves_of_pipes_record) ? waves_page_put_of_pipes : waves_page_put_of_waves)(
		p, a);
}
