/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c: the one-page verdict: bound by what, where, on what evidence? */
#include "answer/summary.h"
#include "answer/pages/pages.h"

#include "analysis/code/flydsl_hotspot.h"
#include "answer/captures.h"
#include "answer/siblings.h"

#define MAX_REPEATS 3u

/* --- columns -------------------------------------------------------------------------------- */

#define BOUND(M, NAME, UNIT, DOC, ...) COLUMN_AS(summary_bound, b.M, NAME, UNIT, DOC, ##__VA_ARGS__)
static const struct column bound_columns[] = {
	BOUND(has_verdict, "has_verdict", UNIT_NONE, "the verdict names a family of causes"),
	BOUND(reason, "reason", UNIT_NONE, "why the verdict names no family of causes", NULLABLE),
	COLUMN(summary_bound, family, UNIT_NONE, "family of causes with most exposed cycles",
		NULLABLE),
	BOUND(share, "share", UNIT_SHARE,
		"exposed cycles of the family as a share of the cycles of all waves", .digits = 6),
	BOUND(exposed_cyc, "exposed", UNIT_CYCLES,
		"cycles lost to the family during which no other wave issued"),
	BOUND(hidden_cyc, "hidden", UNIT_CYCLES,
		"cycles lost to the family during which another wave issued"),
	COLUMN(summary_bound, of, UNIT_CYCLES, "cycles of all waves"),
	COLUMN(summary_bound, second_family, UNIT_NONE,
		"family of causes with the next most exposed cycles", NULLABLE),
	BOUND(second_exposed_cyc, "second_exposed", UNIT_CYCLES, "exposed cycles of that"),
	BOUND(is_mixed, "mixed", UNIT_NONE,
		"the first and the second family differ by less than the noise"),
	BOUND(noise, "noise_floor", UNIT_SHARE, "noise as a share of the cycles of all waves",
		.digits = 6),
	COLUMN(summary_bound, noise_source, UNIT_NONE,
		"whether the noise was measured on repeats of the capture or assumed",
		.words = "repeats|assumed"),
	BOUND(n_repeats, "repeats", UNIT_COUNT, "number of repeats that the noise was measured on"),
	COLUMN(summary_bound, cause, UNIT_NONE, "the largest cause of the family", NULLABLE),
	POINTER(summary_bound, where, &code_ref_record,
		"the instruction that loses most cycles to this cause"),
	BOUND(where_exposed_cyc, "where_exposed", UNIT_CYCLES, "exposed cycles of that"),
	POINTER(summary_bound, producer, &code_ref_record,
		"the instruction that it waited for most"),
};
static const struct record bound_record = RECORD_OF(summary_bound, RECORD_BLOCK, bound_columns);

#define ORIGIN(M, NAME, DOC) COLUMN_AS(trace_meta, M, NAME, UNIT_NONE, DOC, NULLABLE)
static const struct column origin_columns[] = {
	ORIGIN(origin, "path", "path that the capture was read from"),
	ORIGIN(kernel, "kernel", "name of the kernel"),
	ORIGIN(arch, "arch", "architecture: gfx950, ..."),
	ORIGIN(machine.product, "product", "name of the device"),
	ORIGIN(launch.agent, "agent", "device that the kernel ran on"),
	ORIGIN(launch.dispatch, "dispatch", "number of the dispatch in the run"),
	ORIGIN(launch.launch_index, "launch_index", "number of the launch of this kernel, from 1"),
	ORIGIN(launch.launch_count, "launch_count", "launches of this kernel"),
	ORIGIN(launch.command, "command", "command line of the run"),
	ORIGIN(format, "format", "name of the reader that read it"),
	ORIGIN(format_version, "format_version", "version of the format, as the capture states it"),
};
static const struct record origin_record = RECORD_OF(trace_meta, RECORD_BLOCK, origin_columns);

static const struct column domain_columns[] = {
	COLUMN(clock_domain, id, UNIT_NONE, "number of the shader engine"),
	COLUMN_AS(clock_domain, is_aligned, "aligned", UNIT_NONE,
		"the offset of the shader engine is known"),
	COLUMN_AS(clock_domain, offset_cyc, "offset", UNIT_CYCLES,
		"cycles to add to align the engine's clock with the first"),
};
static const struct record domain_record = RECORD_OF(clock_domain, RECORD_LINE, domain_columns);

static const struct column clocks_columns[] = {
	COLUMN(summary_clocks, clock_mhz, UNIT_MHZ,
		"frequency of the clock that cycles are counted in", .digits = 3),
	COLUMN(summary_clocks, source, UNIT_NONE, "where the clock comes from", NULLABLE),
	COLUMN(summary_clocks, max_clock_mhz, UNIT_MHZ, "the highest clock of the device",
		NULLABLE),
	LIST(summary_clocks, domains, &domain_record, "clock of each shader engine"),
};
static const struct record clocks_record = RECORD_OF(summary_clocks, RECORD_BLOCK, clocks_columns);

static const struct column pie_columns[] = {
	COLUMN(viewer_pie, idle, UNIT_CYCLES, "recorded idle cycles"),
	COLUMN(viewer_pie, stall, UNIT_CYCLES, "recorded stall cycles, including waits"),
	COLUMN(viewer_pie, issue, UNIT_CYCLES, "recorded latency minus stall, including the drain"),
};
static const struct record pie_record = RECORD_OF(viewer_pie, RECORD_LINE, pie_columns);

static const struct column class_columns[] = {
	COLUMN(class_row, class, UNIT_NONE, "class of instructions"),
	PART(class_row, totals, &code_totals_record),
	RECORD(class_row, buckets, &bucket_record,
		"cycles by bucket; the buckets add up to the total"),
};
static const struct record class_record = RECORD_OF(class_row, RECORD_LINE, class_columns);

static const struct column producers_columns[] = {
	PART(summary_producers, sums, &producer_sums_record),
	LIST(summary_producers, edges, &edge_record, "which instruction each wait waited for"),
};
static const struct record producers_record =
	RECORD_OF(summary_producers, RECORD_BLOCK, producers_columns);

#define LINE_COLUMNS                                                                               \
	COLUMN(summary_line, hit, UNIT_COUNT, "number of executions"),                             \
		COLUMN(summary_line, cycles, UNIT_CYCLES, "cycles of the row or line"),            \
		COLUMN(summary_line, lost, UNIT_CYCLES, "cycles in which it did not issue"),       \
		COLUMN(summary_line, exposed, UNIT_CYCLES,                                         \
			"lost cycles during which no other wave issued"),                          \
		COLUMN(summary_line, cause, UNIT_NONE, "cause of most lost cycles", NULLABLE)
static const struct column row_columns[] = {
	POINTER(summary_line, at, &code_ref_record, "the instruction"),
	LINE_COLUMNS,
};
static const struct record row_record = RECORD_OF(summary_line, RECORD_LINE, row_columns);
static const struct column line_columns[] = {
	COLUMN(summary_line, line, UNIT_NONE, "source file and line"),
	COLUMN_HELD(summary_line, at, "costliest", COLUMN_POINTER, &code_ref_record,
		"instruction of the line with most exposed cycles"),
	LINE_COLUMNS,
};
static const struct record line_record = RECORD_OF(summary_line, RECORD_LINE, line_columns);

static const struct column legacy_columns[] = {
	COLUMN(name_count, name, UNIT_NONE, "stall type of the older hotspot script"),
	COLUMN(name_count, count, UNIT_CYCLES, "stated stall cycles of this type"),
};
static const struct record legacy_record = RECORD_OF(name_count, RECORD_BLOCK, legacy_columns);

static const struct column occupancy_columns[] = {
	COLUMN(summary_occupancy, peak_per_simd, UNIT_WAVES,
		"largest number of resident waves on one SIMD"),
	COLUMN(summary_occupancy, peak, UNIT_WAVES, "largest number of resident waves overall"),
	COLUMN(summary_occupancy, mean, UNIT_WAVES, "mean resident waves over the span",
		.digits = 3),
	COLUMN(summary_occupancy, below_half_peak, UNIT_SHARE,
		"share of the span with fewer waves than half the peak", .digits = 6),
	COLUMN(summary_occupancy, span, UNIT_CYCLES, "cycles from the first start to the last end"),
	COLUMN(summary_occupancy, tail, UNIT_CYCLES, "cycles from the last start to the last end"),
	COLUMN(summary_occupancy, cu_balance, UNIT_NONE,
		"wave-cycles of the busiest CU divided by the mean; 1: perfect balance, 0: unknown",
		.digits = 3),
	COLUMN(summary_occupancy, is_from_waves, UNIT_NONE,
		"counted from the traced waves, because starts and ends of all waves are missing"),
	RECORD(summary_occupancy, limits, &limits_record, "how many waves a SIMD can hold"),
};
static const struct record occupancy_record =
	RECORD_OF(summary_occupancy, RECORD_BLOCK, occupancy_columns);

#define HELD(M, OF, DOC) RECORD(summary_answer, M, OF, DOC)
static const struct column summary_columns[] = {
	EVIDENCE_COLUMN(summary_answer, "what the figures rest on"),
	COLUMN(summary_answer, verdict, UNIT_NONE, "verdict on the kernel in one sentence"),
	HELD(bound, &bound_record, "the parts of the verdict"),
	HELD(provenance, &origin_record, "the capture that was analysed"),
	HELD(health, &check_part_record, "result of incore check"),
	COLUMN(summary_answer, coverage, UNIT_NONE,
		"how much of the launch was traced, in one line"),
	HELD(clocks, &clocks_record, "clocks of the shader engines"),
	COLUMN(summary_answer, waves, UNIT_WAVES, "waves that were analysed"),
	COLUMN(summary_answer, instructions, UNIT_COUNT, "instructions executed"),
	HELD(accounting, &accounting_record, "every cycle of all waves in one bucket"),
	HELD(accounting_shares, &bucket_shares_record, "the buckets as shares of the duration"),
	COLUMN(summary_answer, residue, UNIT_CYCLES, "duration minus all buckets; always 0"),
	HELD(viewer_pie, &pie_record,
		"sums of the recorded columns, as the vendor's viewer has them"),
	HELD(states, &states_record, "cycles by state, from the hardware's state stream"),
	HELD(hidden, &hidden_record, "lost cycles that other waves of the SIMD covered"),
	HELD(utilization, &pipe_cycles_record, "cycles of all SIMDs in which each pipe issued"),
	HELD(utilization_shares, &pipe_shares_record,
		"issue cycles of each pipe as a share of the resident cycles"),
	LIST(summary_answer, utilization_by_simd, &utilization_record,
		"cycles in which each pipe issued, by SIMD"),
	HELD(matrix, &matrix_record, "how much the matrix pipes had to do"),
	LIST(summary_answer, classes, &class_record, "figures by class of instructions"),
	LIST(summary_answer, causes, &summary_cause_record,
		"what cycles were spent on, largest cause first"),
	MAP(summary_answer, families, &family_record, "lost cycles by family of causes"),
	HELD(producers, &producers_record, "what was waited for"),
	LIST(summary_answer, rows, &row_record, "instructions with most exposed cycles first"),
	LIST(summary_answer, lines, &line_record, "source lines with most exposed cycles first"),
	HELD(source, &source_quality_record, "how well code is mapped to lines"),
	MAP(summary_answer, legacy_stall_by_type, &legacy_record,
		"stated stall by the types of the older hotspot script, largest first"),
	LIST(summary_answer, regions, &region_record,
		"regions of the code; null if source lines are enough", NULLABLE),
	LIST(summary_answer, loops, &loop_record, "loops of the code"),
	HELD(duration, &duration_record, "lifetimes of the waves"),
	LIST(summary_answer, clusters, &cluster_record,
		"groups of waves that executed the same rows"),
	HELD(barriers, &barriers_record, "meetings of waves at barriers"),
	HELD(occupancy, &occupancy_record, "how many waves there were at once"),
	LIST(summary_answer, advice, &advice_record,
		"what to try, largest number of exposed cycles first"),
};
static const struct record summary_record =
	RECORD_OF(summary_answer, RECORD_BLOCK, summary_columns);

/* --- other captures ------------------------------------------------------------------------- */

struct summary_job {
	const struct request *r;
	struct answer *a;
	struct trace *trace;
	struct selection selection;
	struct capture_list found;
	struct siblings siblings;
	double repeats[MAX_REPEATS][FAMILY_COUNT];
	uint32_t n_repeats;
	const struct summary *summary;
	struct summary_answer *out;
};

static bool read_repeat(const struct summary_job *j, const struct capture *k, struct trace **out)
{
	struct import_options o = {
		.want = IMPORT_KEEP_TRACKS, .pool = j->r->pool, .cache = &j->r->captures->cache};
	struct incore_error ignored = {0};
	bool ok;

	captures_lock(j->r->captures);
	ok = import_read(k, &o, out, &ignored);
	captures_unlock(j->r->captures);
	incore_error_clear(&ignored);
	return ok;
}

static bool repeat_shares(
	const struct summary_job *j, const struct capture *k, double out[FAMILY_COUNT])
{
	struct walk_options all = request_walk(j->r, NULL);
	struct incore_error ignored = {0};
	struct capture_shares x;
	struct trace *t;
	bool ok = captures_shares(j->r->captures, k->path, &x);

	if (!ok && read_repeat(j, k, &t)) {
		ok = summary_repeat(t, &all, x.of_family, &ignored);
		trace_free(t);
		incore_error_clear(&ignored);
		if (ok)
			captures_keep_shares(j->r->captures, &x);
	}
	if (ok)
		memcpy(out, x.of_family, sizeof(x.of_family));
	return ok;
}

/* Reads other captures of the same code: the distance of their shares from ours is the noise. */
static void read_repeats(struct summary_job *j)
{
	const struct siblings *s = &j->siblings;

	for (size_t i = 0; i < s->captures.n && j->n_repeats < MAX_REPEATS; i++)
		if (!s->facts.v[i].is_self)
			j->n_repeats +=
				repeat_shares(j, s->captures.v[i], j->repeats[j->n_repeats]);
}

static bool find_siblings(struct summary_job *j, struct incore_error *e)
{
	struct captures *k = j->r->captures;
	struct incore_error ignored = {0};
	const char *origin = j->trace->meta.origin;
	bool ok = true;

	captures_lock(k);
	if (origin && !import_find(origin, &k->cache, &j->found, &ignored))
		incore_error_clear(&ignored);
	if (j->found.n)
		ok = siblings_find(&j->siblings, &j->found.v[0], NULL, &k->cache, e);
	captures_unlock(k);
	if (ok && selection_is_all(&j->selection))
		read_repeats(j);
	return ok;
}

/* --- rows ----------------------------------------------------------------------------------- */

static bool put_bound(struct summary_job *j, struct incore_error *e)
{
	const struct summary *s = j->summary;
	const struct bound *b = &s->bound;
	struct summary_bound *x = &j->out->bound;

	*x = (struct summary_bound){.b = *b,
		.family = b->has_verdict ? family_name(b->family) : NULL,
		.second_family = b->has_verdict ? family_name(b->second) : NULL,
		.noise_source = b->n_repeats ? "repeats" : "assumed",
		.cause = b->where != NO_CODE ? s->causes->v[b->cause].name : NULL,
		.of = s->duration_cyc};
	return code_ref_make(j->a, s->trace, b->where, &x->where, e) &&
	       code_ref_make(j->a, s->trace, b->producer, &x->producer, e);
}

static bool put_health(struct summary_job *j, struct incore_error *e)
{
	const struct check *k = j->summary->check;
	struct finding_row *v = answer_alloc(j->a, k->n_findings, sizeof(*v), e);

	j->out->health_line = j->summary->health;
	return v && check_part_make(j->a, k, j->trace->meta.origin, v, &j->out->health, e);
}

static bool put_classes(struct summary_job *j, struct incore_error *e)
{
	struct class_row *v = ANSWER_ROWS(j->a, &j->out->classes, CLASS_COUNT, class_row, e);
	size_t n = 0;

	for (unsigned k = 0; v && k < CLASS_COUNT; k++) {
		const struct hot_sums *s = &j->summary->hot->classes[k];

		if (s->totals.hit || hot_cycles(s))
			v[n++] = (struct class_row){
				class_name(k), s->totals, bucket_sums(s->bucket)};
	}
	j->out->classes.n = n;
	return v != NULL;
}

static bool put_line_name(
	struct summary_job *j, uint32_t line, const char **out, struct incore_error *e)
{
	const struct source_lines *s = &j->summary->lines;
	struct strbuf b = {0};

	if (line == UINT32_MAX)
		return true;
	source_line_put(s, &s->lines[line], &b);
	*out = answer_text(j->a, &b, e);
	return *out != NULL;
}

static bool make_lines(struct summary_job *j, const struct summary_row *from, uint32_t n_from,
	struct rows *out, struct incore_error *e)
{
	const struct causes *causes = j->summary->causes;
	size_t n = j->out->top < n_from ? (size_t)j->out->top : n_from;
	struct summary_line *v = ANSWER_ROWS(j->a, out, n, summary_line, e);

	for (size_t i = 0; v && i < n; i++) {
		const struct summary_row *r = &from[i];
		const struct cause_cell *c = causes_main_of_row(causes, r->code);

		v[i] = (struct summary_line){.hit = r->hits,
			.cycles = r->cycles,
			.lost = r->lost_cyc,
			.exposed = r->exposed_cyc,
			.cause = c ? causes->v[c->cause].name : NULL};
		if (!put_line_name(j, r->line, &v[i].line, e) ||
			!code_ref_make(j->a, j->trace, r->code, &v[i].at, e))
			return false;
	}
	return v != NULL;
}

/* Lists stated stall by the types of the older hotspot script, largest first, so that its published
 * shares can be checked. */
static bool put_legacy_types(struct summary_job *j, struct incore_error *e)
{
	struct name_count *v =
		ANSWER_ROWS(j->a, &j->out->legacy_stall_by_type, FLYDSL_TYPE_COUNT, name_count, e);
	uint64_t sums[FLYDSL_TYPE_COUNT] = {0};
	size_t n = 0;

	flydsl_stall_by_type(j->trace, sums);
	for (; v && n < FLYDSL_TYPE_COUNT; n++) {
		unsigned best = 0;

		for (unsigned i = 1; i < FLYDSL_TYPE_COUNT; i++)
			best = sums[i] > sums[best] ? i : best;
		if (!sums[best])
			break;
		v[n] = (struct name_count){flydsl_type_name((enum flydsl_type)best), sums[best]};
		sums[best] = 0;
	}
	j->out->legacy_stall_by_type.n = n;
	return v != NULL;
}

static bool put_code(struct summary_job *j, struct incore_error *e)
{
	const struct summary *s = j->summary;
	struct summary_answer *x = j->out;

	for (uint32_t i = 0; i < s->n_rows; i++)
		x->lost += s->rows[i].lost_cyc;
	x->has_source = s->lines.collapse != COLLAPSE_NO_SOURCE;
	return make_lines(j, s->rows, s->n_rows, &x->rows, e) &&
	       make_lines(j, s->line_rows, s->n_line_rows, &x->lines, e) &&
	       source_quality_make(j->a, &s->lines, &x->source, e) && put_legacy_types(j, e) &&
	       (!s->regions ||
		       region_rows(j->a, s->trace, s->regions, s->n_regions, &x->regions, e)) &&
	       loop_rows(j->a, s->loops, &x->loops, e);
}

static bool put_occupancy(struct summary_job *j, struct incore_error *e)
{
	const struct occupancy *o = &j->summary->occupancy;
	struct summary_occupancy *x = &j->out->occupancy;

	*x = (struct summary_occupancy){.peak_per_simd = o->peak_per_simd,
		.peak = o->all.peak,
		.span = o->span_cyc,
		.tail = o->tail_cyc,
		.mean = occupancy_mean(o),
		.below_half_peak = occupancy_below_half(o),
		.cu_balance = occupancy_cu_balance(o),
		.is_from_waves = o->is_from_tracks};
	return limits_make(j->a, &j->summary->limits, &x->limits, e);
}

/* Fills in what needs no allocation. */
static void put_values(struct summary_job *j)
{
	const struct summary *s = j->summary;
	const struct trace *t = j->trace;
	const struct code_totals *all = &s->hot->all.totals;
	struct summary_answer *x = j->out;
	double mhz = trace_clock_mhz(t);
	const uint64_t *bucket = trace_is_sampled(t) ? s->hot->all.bucket : s->waves->bucket;

	x->evidence = evidence_name(t->meta.evidence);
	x->verdict = s->sentence;
	x->provenance = t->meta;
	x->coverage = s->coverage;
	x->clocks = (struct summary_clocks){mhz > 0 ? mhz : NAN, t->meta.clock_source,
		t->meta.machine.max_clock_mhz, {t->clocks, t->n_clocks}};
	x->waves = s->waves->n_waves;
	x->instructions = trace_is_sampled(t) ? s->hot->n_instructions : s->waves->n_instructions;
	x->accounting = accounting_of(bucket, s->duration_cyc);
	x->accounting_shares = bucket_shares_of(bucket, s->duration_cyc);
	x->residue = s->causes->residue_cyc;
	x->viewer_pie = (struct viewer_pie){all->idle, all->stall, all->latency - all->stall};
	x->states = s->waves->states->all;
	x->hidden = hidden_part_of(s->hidden);
	x->utilization = pipe_cycles_of(s->utilization->cyc);
	x->utilization_shares = pipe_shares_of(s->utilization->cyc);
	x->duration = s->waves->duration;
	x->has_samples = t->samples != NULL;
	x->has_rows = s->n_rows;
	x->has_edges = s->producers->edges.n;
}

static bool make_answer(struct summary_job *j, struct incore_error *e)
{
	const struct summary *s = j->summary;
	struct summary_answer *x = j->out;

	put_values(j);
	return put_bound(j, e) && put_health(j, e) &&
	       utilization_rows(j->a, s->utilization, &x->utilization_by_simd, e) &&
	       matrix_part_make(j->a, s->matrix, &x->matrix, e) && put_classes(j, e) &&
	       summary_cause_rows(j->a, s->causes, &x->causes, e) &&
	       family_rows(j->a, s->causes, &x->families, e) &&
	       producer_sums_make(j->a, s->producers, ATTRIBUTION_BLOCKING, UINT64_MAX,
		       s->duration_cyc, &x->producers.sums, e) &&
	       edge_rows(j->a, s->producers, x->top, &x->producers.edges, e) && put_code(j, e) &&
	       cluster_rows(j->a, s->waves->clusters, &x->clusters, e) &&
	       barriers_make(j->a, s->waves->barriers, &x->barriers, e) && put_occupancy(j, e) &&
	       advice_rows(j->a, s->trace, &s->advice, s->duration_cyc, &x->advice, e);
}

/* --- the question --------------------------------------------------------------------------- */

static bool summarize_waves(struct summary_job *j, struct incore_error *e)
{
	struct walk_options o = request_walk(j->r, &j->selection);
	struct summary_options so = {.walk = &o};
	struct summary *s;

	j->out = ANSWER_NEW(j->a, summary_answer, e);
	if (!j->out || !find_siblings(j, e))
		return false;
	so.check = &j->siblings.ctx;
	so.repeats = (const double(*)[FAMILY_COUNT])j->repeats;
	so.n_repeats = j->n_repeats;
	s = summary_new(j->trace, &so, e);
	if (!s || !ANSWER_KEEP(j->a, s, summary_free, e))
		return false;
	answer_walk_notes(j->a, &s->walk);
	j->summary = s;
	j->out->top = request_top(j->r, 8, 20);
	j->a->data = j->out;
	return make_answer(j, e);
}

static bool ask_summary(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct summary_job j = {.r = r, .a = a};
	bool ok;

	ok = answer_open(a, r, r->paths[0], IMPORT_ALL | IMPORT_KEEP_TRACKS, &j.trace, e) &&
	     request_selection(r, j.trace, &j.selection, e);
	if (ok)
		ok = trace_has_pipes(j.trace) ? summary_pipes_make(r, a, j.trace, &j.selection, e)
					      : summarize_waves(&j, e);
	siblings_deinit(&j.siblings);
	capture_list_deinit(&j.found);
	selection_deinit(&j.selection);
	return ok;
}

const struct question question_summary = {
	.reach = REACH_ALL,
	.name = "summary",
	.args = "PATH",
	.summary = "the one-page verdict: bound by what, where, on what evidence",
	.groups = OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.min_paths = 1,
	.max_paths = 1,
	.records = RECORDS(&summary_record, &summary_pipes_record),
	.ask = ask_summary,
	.page = summary_page,
};
