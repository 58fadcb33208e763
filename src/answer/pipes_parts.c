/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_parts.c: the parts about pipes, for several answers. */
#include "answer/pipes_parts.h"

#include <assert.h>

static const char nobody[] = "(unmatched)";

/* --- a pipe --------------------------------------------------------------------------------- */

static_assert(GAP_WAIT == 0 && GAP_STALL == 1 && GAP_IDLE == 2 && GAP_ENDS == 3,
	"struct gap_ends stands for an array by enum gap_end");
struct gap_ends {
	uint64_t wait, stall, idle;
};
static const struct column gap_ends_columns[] = {
	COLUMN(gap_ends, wait, UNIT_COUNT, "gaps that ended with a wait"),
	COLUMN(gap_ends, stall, UNIT_COUNT, "gaps that ended with the head cost of an instruction"),
	COLUMN(gap_ends, idle, UNIT_COUNT, "gaps that ended with nothing due"),
};
static const struct record gap_ends_record = RECORD_OF(gap_ends, RECORD_LINE, gap_ends_columns);

static const struct column gaps_columns[] = {
	COLUMN(pipe_gaps, p50, UNIT_CYCLES, "median length of a gap", .csv = "gap_p50_cycles"),
	COLUMN(pipe_gaps, p90, UNIT_CYCLES, "90th percentile of the length of a gap",
		.csv = "gap_p90_cycles"),
	COLUMN(pipe_gaps, p99, UNIT_CYCLES, "99th percentile of the length of a gap",
		.csv = "gap_p99_cycles"),
	COLUMN(pipe_gaps, max, UNIT_CYCLES, "length of the longest gap"),
	COLUMN_AS(pipe_gaps, n, "count", UNIT_COUNT, "number of gaps", .title = "gaps"),
	COLUMN(pipe_gaps, sum, UNIT_CYCLES, "sum of the lengths of all gaps"),
	RECORD(pipe_gaps, ended_by, &gap_ends_record, "gaps by what came last in them"),
};
static const struct record gaps_record = RECORD_OF(pipe_gaps, RECORD_LINE, gaps_columns);

static const struct column pipe_wait_columns[] = {
	COLUMN(pipe_wait_row, producer_pipe, UNIT_NONE,
		"pipe that was waited for, BAR or BUF; null: unknown", NULLABLE),
	COLUMN(pipe_wait_row, cycles, UNIT_CYCLES,
		"cycles of the waits in which the waiting pipe did not work"),
	COLUMN(pipe_wait_row, count, UNIT_COUNT, "executed waits"),
	COLUMN(pipe_wait_row, blocked, UNIT_COUNT, "executed waits that cost cycles"),
	COLUMN(pipe_wait_row, producer_core, UNIT_NONE,
		"core of the pipe that was waited for, if it is another core", OPTIONAL),
};
static const struct record pipe_wait_record =
	RECORD_OF(pipe_wait_row, RECORD_LINE, pipe_wait_columns);

#define PIPE_CYCLES(M, NAME, DOC, ...)                                                             \
	COLUMN_AS(pipe_line, M, NAME, UNIT_CYCLES, DOC, ##__VA_ARGS__)
static const struct column pipe_columns[] = {
	COLUMN(pipe_line, core, UNIT_NONE, "core and unit", .flags = COLUMN_WIDE),
	COLUMN(pipe_line, pipe, UNIT_NONE, "name of the pipe"),
	PIPE_CYCLES(r.busy_cyc, "busy", "cycles with at least one instruction in flight",
		.csv = "busy_cycles"),
	PIPE_CYCLES(r.latency_cyc, "latency_sum",
		"sum of the lengths of all instructions; exceeds busy if several are in flight",
		.title = "latency", .csv = "latency_sum_cycles"),
	COLUMN_AS(pipe_line, r.depth_max, "depth_max", UNIT_COUNT,
		"largest number of instructions in flight at once", .title = "max",
		.csv = "depth_max"),
	COLUMN_HELD(pipe_line, r.gaps, "gaps", COLUMN_RECORD, &gaps_record,
		"gaps between the stretches in which the pipe was busy"),
	PIPE_CYCLES(r.first_cyc, "first", "begin of the pipe's first instruction",
		.csv = "first_cycle"),
	PIPE_CYCLES(r.last_cyc, "last", "end of the pipe's last instruction", .csv = "last_cycle"),
	LIST(pipe_line, waits, &pipe_wait_record, "pipes that this pipe waited for, longest first"),
	RECORD(pipe_line, accounting, &accounting_record,
		"every cycle of the core's span in one bucket"),
	PIPE_CYCLES(r.begin_cyc, "begin", "begin of the core's span"),
	COLUMN_AS(pipe_line, r.n_work, "instructions", UNIT_COUNT,
		"executed instructions that do work", .title = "instr", .csv = "instructions"),
	COLUMN_AS(pipe_line, r.n_sync, "sync_instructions", UNIT_COUNT,
		"executed flags, waits and barriers", .title = "sync", .csv = "sync_instructions"),
	PIPE_CYCLES(r.config_cyc, "config_only", "busy cycles with only register set-up",
		.title = "config", .csv = "config_only_cycles"),
	PIPE_CYCLES(r.exposed_cyc, "exposed",
		"busy cycles in which no other work pipe of the core was busy", .title = "alone",
		.csv = "exposed_cycles"),
	COLUMN(pipe_line, depth_mean, UNIT_COUNT,
		"mean number of instructions in flight while busy", .digits = 3),
	LIST(pipe_line, depth, &number_item_record, "cycles with 1, 2, ... in flight"),
	PIPE_CYCLES(r.cache_cyc, "cache_miss_stall", "stall cycles due to cache misses, if known",
		.title = "cache", .csv = "cache_miss_stall_cycles"),
	PIPE_CYCLES(critical_path, "critical_path",
		"cycles of the pipe's work on the critical path", .title = "path",
		.csv = "critical_path_cycles"),
	COLUMN(pipe_line, busy_share, UNIT_SHARE, "busy cycles as a share of the core's span",
		.digits = 6),
	COLUMN(pipe_line, wait_share, UNIT_SHARE, "wait cycles as a share of the core's span",
		.digits = 6),
	COLUMN(pipe_line, idle_share, UNIT_SHARE, "idle cycles as a share of the core's span",
		.digits = 6),
	COLUMN(pipe_line, busy_pct, UNIT_PERCENT, "busy cycles as a share of the core's span",
		.title = "%", .csv = "busy_pct", NO_JSON, .digits = 1),
	COLUMN_AS(pipe_line, depth_mean, "mean_depth", UNIT_COUNT,
		"mean number of instructions in flight while busy", .title = "depth",
		.csv = "depth_mean", NO_JSON, .digits = 1),
	PIPE_CYCLES(
		r.duration_cyc, "span", "cycles of the core's span", .csv = "span_cycles", NO_JSON),
};
const struct record pipe_line_record = RECORD_OF(pipe_line, RECORD_BLOCK, pipe_columns);

static bool pipe_waits(struct answer *a, const struct pipes *p, const struct pipe_row *r,
	struct pipe_line *x, struct incore_error *e)
{
	const struct trace *t = p->trace;
	struct pipe_wait_row *v = ANSWER_ROWS(a, &x->waits, r->waits.n, pipe_wait_row, e);

	for (size_t i = 0; v && i < r->waits.n; i++) {
		const struct pipe_wait *w = &r->waits.v[i];
		const struct track *from =
			w->producer < t->n_tracks ? &t->tracks[w->producer] : NULL;

		v[i] = (struct pipe_wait_row){
			pipes_producer_name(p, w->producer), w->cyc, w->count, w->blocked, {0}};
		if (from && !str_eq(pipe_core_name(from), x->core))
			v[i].producer_core = pipe_core_name(from);
	}
	return v != NULL;
}

static uint32_t core_of(const struct pipes *p, track_idx i)
{
	for (uint32_t k = 0; i != NO_TRACK && k < p->n_cores; k++)
		if (i >= p->cores[k].first && i < p->cores[k].first + p->cores[k].n)
			return k;
	return UINT32_MAX;
}

static bool pipe_line_make(struct answer *a, const struct pipes *p, track_idx i,
	struct pipe_line *out, struct incore_error *e)
{
	const struct pipe_row *r = &p->rows[i];
	uint32_t core = core_of(p, i);
	unsigned n = PIPE_DEPTHS;

	while (n && !r->depth_cyc[n - 1])
		n--;
	*out = (struct pipe_line){.core = pipe_core_name(&p->trace->tracks[i]),
		.pipe = pipe_lane_name(&p->trace->tracks[i]),
		.core_index = core,
		.lane = core < p->n_cores ? i - p->cores[core].first : 0,
		.r = *r,
		.accounting = accounting_of(r->bucket, r->duration_cyc),
		.depth = {r->depth_cyc, n},
		.critical_path = p->path.of_track[i][PATH_WORK],
		.depth_mean = r->busy_cyc ? (double)r->latency_cyc / (double)r->busy_cyc : 0,
		.busy_share = ratio(r->busy_cyc, r->duration_cyc),
		.wait_share = ratio(r->bucket[BUCKET_WAIT], r->duration_cyc),
		.idle_share = ratio(r->bucket[BUCKET_IDLE], r->duration_cyc),
		.busy_pct = percent(r->busy_cyc, r->duration_cyc)};
	return pipe_waits(a, p, r, out, e);
}

/* --- a core --------------------------------------------------------------------------------- */

static const struct column overlap_columns[] = {
	{.name = "",
		.doc = "with each pipe, in the same order",
		.of = &number_item_record,
		.type = COLUMN_LIST},
};
static const struct record overlap_record = {
	overlap_columns, 1, RECORD_SCALAR, sizeof(struct rows)};

#define CORE_CYCLES(M, NAME, DOC, ...)                                                             \
	COLUMN_AS(core_line, M, NAME, UNIT_CYCLES, DOC, ##__VA_ARGS__)
static const struct column core_columns[] = {
	COLUMN(core_line, core, UNIT_NONE, "core and unit"),
	CORE_CYCLES(begin, "begin", "begin of the core's first slice", .csv = "begin_cycles"),
	CORE_CYCLES(k.end_cyc, "end", "end of the core's last slice"),
	CORE_CYCLES(span, "span", "end minus begin of the core", .csv = "span_cycles"),
	CORE_CYCLES(
		k.busy_cyc, "busy", "cycles in which any work pipe was busy", .csv = "busy_cycles"),
	CORE_CYCLES(k.compute_cyc, "compute_busy", "cycles in which any compute pipe was busy",
		.title = "compute", .csv = "compute_busy_cycles"),
	COLUMN(core_line, busy_share, UNIT_SHARE, "busy cycles as a share of the core's span",
		.digits = 6),
	COLUMN(core_line, compute_share, UNIT_SHARE,
		"compute_busy cycles as a share of the core's span", .digits = 6),
	LIST(core_line, pipes, &text_item_record, "names of the core's pipes"),
	LIST(core_line, overlap, &overlap_record,
		"cycles in which two pipes were busy together; on the diagonal: cycles of one pipe",
		.flags = COLUMN_BLOCK),
	COLUMN(core_line, busy_pct, UNIT_PERCENT, "busy cycles as a share of the core's span",
		.title = "%", .csv = "busy_pct", NO_JSON, .digits = 1),
	COLUMN(core_line, compute_pct, UNIT_PERCENT,
		"compute_busy cycles as a share of the core's span", .title = "%",
		.csv = "compute_pct", NO_JSON, .digits = 1),
	COLUMN_AS(core_line, k.n, "n_pipes", UNIT_COUNT, "number of pipes of the core",
		.title = "pipes", NO_JSON),
};
const struct record core_line_record = RECORD_OF(core_line, RECORD_BLOCK, core_columns);

static bool core_line_make(struct answer *a, const struct pipes *p, const struct pipe_core *c,
	struct core_line *out, struct incore_error *e)
{
	bool is_empty = c->begin_cyc > c->end_cyc;
	uint64_t span = is_empty ? 0 : c->end_cyc - c->begin_cyc;
	struct text_item *names = answer_alloc(a, c->n, sizeof(*names), e);
	struct rows *overlap = answer_alloc(a, c->n, sizeof(*overlap), e);

	if (!names || !overlap)
		return false;
	for (uint32_t i = 0; i < c->n; i++) {
		names[i].v = pipe_lane_name(&p->trace->tracks[c->first + i]);
		overlap[i] = (struct rows){&c->overlap[(size_t)i * c->n], c->n};
	}
	*out = (struct core_line){.core = pipe_core_name(&p->trace->tracks[c->first]),
		.k = *c,
		.begin = is_empty ? 0 : c->begin_cyc,
		.span = span,
		.pipes = {names, c->n},
		.overlap = {overlap, c->n},
		.busy_share = ratio(c->busy_cyc, span),
		.compute_share = ratio(c->compute_cyc, span),
		.busy_pct = percent(c->busy_cyc, span),
		.compute_pct = percent(c->compute_cyc, span),
		.is_empty = is_empty};
	return true;
}

bool core_rows(struct answer *a, const struct pipes *p, struct rows *out, struct incore_error *e)
{
	struct core_line *v = ANSWER_ROWS(a, out, p->n_cores, core_line, e);

	for (uint32_t i = 0; v && i < p->n_cores; i++)
		if (!core_line_make(a, p, &p->cores[i], &v[i], e))
			return false;
	return v != NULL;
}

/* --- who waited for whom -------------------------------------------------------------------- */

static const struct column pair_columns[] = {
	COLUMN(pair_row, producer_pipe, UNIT_NONE, "pipe that was waited for; null: unknown",
		NULLABLE),
	COLUMN(pair_row, consumer_pipe, UNIT_NONE, "pipe that waited", .title = "by",
		.csv = "consumer"),
	COLUMN(pair_row, is_cross_core, UNIT_NONE, "producer and consumer are on different cores"),
	COLUMN(pair_row, cycles, UNIT_CYCLES, "exposed cycles of the waits", .title = "wait",
		.csv = "wait_cycles"),
	COLUMN(pair_row, count, UNIT_COUNT, "executed waits", .title = "waits"),
	COLUMN(pair_row, blocked, UNIT_COUNT, "waits that cost more than the floor",
		.csv = "blocked_waits"),
	COLUMN(pair_row, per_wait, UNIT_CYCLES, "cycles per wait", .digits = 6),
	COLUMN(pair_row, producer, UNIT_NONE, "pipe that was waited for, or (unmatched)",
		.title = "waited for", .csv = "producer", NO_JSON),
	COLUMN(pair_row, share_of_wait, UNIT_PERCENT, "share of the wait cycles of all pipes",
		.title = "% of wait", .csv = "share_of_wait_pct", NO_JSON, .digits = 1),
	COLUMN(pair_row, share_of_all, UNIT_PERCENT, "share of the span of all pipes",
		.title = "% of all", .csv = "share_of_all_pct", NO_JSON, .digits = 1),
	COLUMN(pair_row, cores, UNIT_NONE,
		"whether both pipes are on the same core or on different cores",
		.csv = "cross_core", NO_JSON),
};
const struct record pair_record = RECORD_OF(pair_row, RECORD_LINE, pair_columns);

bool pair_rows(struct answer *a, const struct pipes *p, uint64_t top, struct rows *out,
	struct incore_error *e)
{
	size_t n = p->pairs.n < top ? p->pairs.n : (size_t)top;
	struct pair_row *v = ANSWER_ROWS(a, out, n, pair_row, e);

	for (size_t i = 0; v && i < n; i++) {
		const struct pipe_pair *x = &p->pairs.v[i];

		v[i] = (struct pair_row){.producer_pipe = x->producer,
			.consumer_pipe = x->consumer,
			.producer = x->producer ? x->producer : nobody,
			.cores = x->is_cross_core ? "another" : "same",
			.is_cross_core = x->is_cross_core,
			.cycles = x->cyc,
			.count = x->count,
			.blocked = x->blocked,
			.per_wait = ratio(x->cyc, x->count),
			.share_of_wait = percent(x->cyc, p->bucket[BUCKET_WAIT]),
			.share_of_all = percent(x->cyc, p->duration_cyc)};
	}
	return v != NULL;
}

/* --- the critical path ---------------------------------------------------------------------- */

#define PATH_ROWS 20u /* limit in JSON */

static const struct column path_pipe_columns[] = {
	COLUMN(path_pipe, core, UNIT_NONE, "core and unit", .flags = COLUMN_WIDE),
	COLUMN(path_pipe, pipe, UNIT_NONE, "name of the pipe"),
	COLUMN(path_pipe, work, UNIT_CYCLES,
		"cycles of the pipe's instructions on the critical path"),
	COLUMN(path_pipe, wait, UNIT_CYCLES, "cycles of the pipe's waits on the critical path"),
	COLUMN(path_pipe, stall, UNIT_CYCLES,
		"cycles of the pipe's head costs on the critical path"),
	COLUMN(path_pipe, gap, UNIT_CYCLES,
		"cycles of the pipe on the critical path in which nothing is recorded"),
	COLUMN(path_pipe, share, UNIT_PERCENT, "work of the pipe as a share of the critical path",
		.title = "%", NO_JSON, .digits = 1),
};
const struct record path_pipe_record = RECORD_OF(path_pipe, RECORD_LINE, path_pipe_columns);

static const struct column path_line_columns[] = {
	COLUMN(path_line, row, UNIT_ROW, "number of the instruction in the listing", NULLABLE),
	COLUMN(path_line, isa, UNIT_NONE, "text of the instruction", .title = "instruction",
		.flags = COLUMN_WIDE),
	COLUMN(path_line, source, UNIT_NONE, "source file and line",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
	COLUMN(path_line, cycles, UNIT_CYCLES, "cycles of the instruction on the critical path"),
	COLUMN(path_line, share, UNIT_PERCENT, "share of the critical path", .title = "%", NO_JSON,
		.digits = 1),
};
const struct record path_line_record = RECORD_OF(path_line, RECORD_LINE, path_line_columns);

#define PATH(M, NAME, UNIT, DOC) COLUMN_AS(path_part_row, M, NAME, UNIT, DOC)
static const struct column path_columns[] = {
	PATH(span, "span", UNIT_CYCLES, "length of the critical path: all parts, lead and tail"),
	PATH(x.lead_cyc, "lead", UNIT_CYCLES, "cycles before the first slice of the critical path"),
	PATH(x.tail_cyc, "tail", UNIT_CYCLES, "cycles after the last slice of the critical path"),
	PATH(x.part[PATH_WORK], "work", UNIT_CYCLES, "cycles of instructions on the critical path"),
	PATH(x.part[PATH_WAIT], "wait", UNIT_CYCLES, "cycles of waits on the critical path"),
	PATH(x.part[PATH_STALL], "stall", UNIT_CYCLES, "cycles of head costs on the critical path"),
	PATH(x.part[PATH_GAP], "gap", UNIT_CYCLES,
		"cycles on the critical path in which nothing is recorded"),
	PATH(x.n_slices, "slices", UNIT_COUNT, "slices on the critical path"),
	PATH(x.n_hops, "hops", UNIT_COUNT,
		"hops of the critical path through a flag, a barrier or to another core"),
	PATH(x.n_inferred, "inferred", UNIT_COUNT,
		"hops to the slice that ended last, because the pipe has no earlier slice"),
	LIST(path_part_row, pipes, &path_pipe_record, "pipes that the critical path runs through"),
	LIST(path_part_row, rows, &path_line_record,
		"instructions on the critical path, longest first"),
};
static const struct record path_record = RECORD_OF(path_part_row, RECORD_BLOCK, path_columns);

static bool path_pipes(struct answer *a, const struct pipes *p, const track_idx *list, uint32_t n,
	struct rows *out, struct incore_error *e)
{
	const struct pipe_path *x = &p->path;
	struct path_pipe *v = ANSWER_ROWS(a, out, n, path_pipe, e);
	size_t n_out = 0;

	for (uint32_t i = 0; v && i < n; i++) {
		track_idx k = list ? list[i] : i;
		const uint64_t *c = x->of_track[k];

		if (!(c[PATH_WORK] | c[PATH_WAIT] | c[PATH_STALL] | c[PATH_GAP]))
			continue;
		v[n_out++] = (struct path_pipe){pipe_core_name(&p->trace->tracks[k]),
			pipe_lane_name(&p->trace->tracks[k]), c[PATH_WORK], c[PATH_WAIT],
			c[PATH_STALL], c[PATH_GAP],
			percent(c[PATH_WORK], x->end_cyc - x->begin_cyc)};
	}
	out->n = n_out;
	return v != NULL;
}

static bool path_lines(
	struct answer *a, const struct pipes *p, struct rows *out, struct incore_error *e)
{
	const struct pipe_path *x = &p->path;
	struct path_line *v = ANSWER_ROWS(a, out, x->n_rows, path_line, e);

	for (uint32_t i = 0; v && i < x->n_rows; i++) {
		code_idx code = x->rows[i].code;
		const struct code_row *r = code < p->trace->n_code ? &p->trace->code[code] : NULL;

		v[i] = (struct path_line){r ? r->number : NO_VALUE, r ? r->text : "(unknown code)",
			r && r->source[0] ? r->source : NULL, x->rows[i].cyc,
			percent(x->rows[i].cyc, x->end_cyc - x->begin_cyc)};
	}
	return v != NULL;
}

static bool path_make(struct answer *a, const struct pipes *p, const track_idx *list, uint32_t n,
	struct pipes_part *out, struct incore_error *e)
{
	struct path_part_row *x;

	if (!p->path.is_known)
		return true;
	x = ANSWER_NEW(a, path_part_row, e);
	if (!x)
		return false;
	x->x = p->path;
	x->span = p->path.end_cyc - p->path.begin_cyc;
	if (!path_pipes(a, p, NULL, p->trace->n_tracks, &x->pipes, e) ||
		!path_pipes(a, p, list, n, &x->by_pipe, e) || !path_lines(a, p, &x->every_row, e))
		return false;
	x->rows = x->every_row;
	x->rows.n = x->rows.n < PATH_ROWS ? x->rows.n : PATH_ROWS;
	out->critical_path = x;
	return true;
}

/* --- all of it ------------------------------------------------------------------------------ */

static const struct column totals_columns[] = {
	COLUMN(pipes_totals, pipes, UNIT_COUNT, "number of pipes that were analysed"),
	COLUMN(pipes_totals, cores, UNIT_COUNT, "number of cores in the trace"),
	COLUMN(pipes_totals, instructions, UNIT_COUNT, "executed instructions that do work"),
	COLUMN(pipes_totals, sync_instructions, UNIT_COUNT, "executed flags, waits and barriers"),
	COLUMN(pipes_totals, unmatched_waits, UNIT_COUNT, "waits for a flag that was never set"),
};
static const struct record totals_record = RECORD_OF(pipes_totals, RECORD_LINE, totals_columns);

static const struct column bound_columns[] = {
	COLUMN(pipes_bound, kind, UNIT_NONE, "what the kernel is bound by",
		.words = "pipe|sync|latency|none"),
	COLUMN(pipes_bound, core, UNIT_NONE,
		"core of the pipe with the largest part of the critical path", NULLABLE),
	COLUMN(pipes_bound, pipe, UNIT_NONE, "pipe with the largest part of the critical path",
		NULLABLE),
	COLUMN(pipes_bound, path_share, UNIT_SHARE, "share of this pipe in the critical path",
		.digits = 4),
	COLUMN(pipes_bound, busy_share, UNIT_SHARE,
		"busy cycles of the pipe as a share of its core's span", .digits = 4),
	POINTER(pipes_bound, where, &code_ref_record,
		"the instruction of this pipe with the largest part of the critical path"),
	COLUMN(pipes_bound, where_share, UNIT_SHARE,
		"share of this instruction in the critical path, over all cores", .digits = 4),
	COLUMN(pipes_bound, sentence, UNIT_NONE, "the bound in one sentence", NULLABLE),
};
static const struct record bound_record = RECORD_OF(pipes_bound, RECORD_BLOCK, bound_columns);

static const struct column part_columns[] = {
	RECORD(pipes_part, totals, &totals_record, "how much was analysed"),
	RECORD(pipes_part, accounting, &accounting_record,
		"every cycle of every pipe in one bucket"),
	RECORD(pipes_part, accounting_shares, &bucket_shares_record,
		"the buckets as shares of the duration"),
	COLUMN(pipes_part, residue, UNIT_CYCLES, "durations minus all buckets; always 0"),
	RECORD(pipes_part, bound, &bound_record, "what the kernel is bound by"),
	POINTER(pipes_part, critical_path, &path_record,
		"the chain of instructions and flags that made the kernel this long"),
	LIST(pipes_part, pairs, &pair_record, "which pipe waited for which, longest first"),
	LIST(pipes_part, cores, &core_line_record, "figures by core"),
	LIST(pipes_part, pipes, &pipe_line_record, "figures by pipe"),
};
const struct record pipes_part_record = RECORD_OF(pipes_part, RECORD_BLOCK, part_columns);

bool answer_pipes(struct answer *a, const struct request *r, const struct trace *t,
	const struct selection *s, struct pipes **out, struct incore_error *e)
{
	struct walk_options o = request_walk(r, s);
	struct pipes *p = pipes_new(t, e);
	struct walk_result walk = {0};
	bool ok;

	if (!p || !ANSWER_KEEP(a, p, pipes_free, e))
		return false;
	ok = answer_walked(a, &walk, pipes_collect(p, &o, &walk, e));
	*out = p;
	return ok;
}

static uint64_t sort_key(const struct pipe_row *r, enum wave_sort by)
{
	switch (by) {
	case WAVES_SORT_INSTRUCTIONS:
		return r->n_work;
	case WAVES_SORT_ISSUE:
		return r->bucket[BUCKET_ISSUE];
	case WAVES_SORT_WAIT:
		return r->bucket[BUCKET_WAIT];
	case WAVES_SORT_STALL:
		return r->bucket[BUCKET_STALL];
	case WAVES_SORT_IDLE:
		return r->bucket[BUCKET_IDLE];
	case WAVES_SORT_DRAIN:
		return r->bucket[BUCKET_DRAIN];
	default:
		return 0; /* by dataflow: keep their order */
	}
}

/* A stable sort of few items: there are tens to thousands of pipes, by default mostly of equal key.
 */
static void sort_list(const struct pipes *p, enum wave_sort by, track_idx *v, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		track_idx x = v[i];
		uint64_t key = sort_key(&p->rows[x], by);
		uint32_t k = i;

		for (; k && sort_key(&p->rows[v[k - 1]], by) < key; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

static struct pipes_bound bound_of(const struct pipes *p)
{
	const struct pipe_bound *b = &p->bound;
	const struct track *k = b->track == NO_TRACK ? NULL : &p->trace->tracks[b->track];

	return (struct pipes_bound){.kind = b->kind,
		.core = k ? pipe_core_name(k) : (struct str){0},
		.pipe = k ? pipe_lane_name(k) : NULL,
		.path_share = b->path_share,
		.busy_share = b->busy_share,
		.where_share = b->where_share,
		.sentence = b->sentence};
}

static uint64_t pipes_parts_span_of(const struct pipes *p)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (uint32_t i = 0; i < p->n_cores; i++) {
		if (p->cores[i].begin_cyc < begin)
			begin = p->cores[i].begin_cyc;
		if (p->cores[i].end_cyc > end)
			end = p->cores[i].end_cyc;
	}
	return end > begin ? end - begin : 0;
}

bool pipes_part_make(struct answer *a, const struct pipes *p, enum wave_sort by, uint64_t top,
	struct pipes_part *out, struct incore_error *e)
{
	struct pipe_line *v;
	track_idx *list;
	uint32_t n;

	if (!pipes_sorted(p, &a->arena, &list, &n, e))
		return false;
	*out = (struct pipes_part){
		.totals = {p->n_pipes, p->n_cores, p->n_instructions, p->n_sync, p->n_unmatched},
		.accounting = accounting_of(p->bucket, p->duration_cyc),
		.accounting_shares = bucket_shares_of(p->bucket, p->duration_cyc),
		.residue = p->residue_cyc,
		.bound = bound_of(p),
		.n_all = n,
		.span = pipes_parts_span_of(p),
		.top = top};
	sort_list(p, by, list, n);
	out->main_core = core_of(p, p->bound.track != NO_TRACK ? p->bound.track
				    : n			       ? list[0]
							       : NO_TRACK);
	v = answer_alloc(a, n, sizeof(*v), e);
	for (uint32_t i = 0; i < n; i++)
		if (!v || !pipe_line_make(a, p, list[i], &v[i], e))
			return false;
	out->pipes = (struct rows){v, top < n ? (size_t)top : n};
	return v && code_ref_make(a, p->trace, p->bound.where, &out->bound.where, e) &&
	       path_make(a, p, list, n, out, e) && pair_rows(a, p, UINT64_MAX, &out->pairs, e) &&
	       core_rows(a, p, &out->cores, e);
}
