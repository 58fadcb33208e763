/* SPDX-License-Identifier: Apache-2.0 */
/* waves.c: wave by wave: how long, where did its cycles go, who took which path? */
#include "answer/waves.h"
#include "answer/pages.h"

#define MAX_BINS 100000u

static const struct option_def options[] = {
	{OPT_SORT, WAVES_SORT_CHOICES, "duration",
		"order of the waves: largest first; wave and begin: smallest first",
		OPTION_ALL(waves_params, sort)},
	{OPT_BINS, NULL, "0", "with --json: cycles in each state over time, in N bins",
		OPTION_ALL(waves_params, bins)},
	OPTION_END,
};

/* --- columns -------------------------------------------------------------------------------- */

static const struct column totals_columns[] = {
	COLUMN(waves_totals, waves, UNIT_WAVES, "waves that were analysed"),
	COLUMN(waves_totals, instructions, UNIT_COUNT, "instructions executed"),
	COLUMN(waves_totals, latency, UNIT_CYCLES, "sum of the recorded latencies"),
	COLUMN(waves_totals, stall, UNIT_CYCLES, "sum of the recorded stalls"),
	COLUMN(waves_totals, segments, UNIT_COUNT, "segments of the waves' timelines"),
	COLUMN(waves_totals, waves_with_states, UNIT_WAVES, "waves that have a timeline"),
	COLUMN(waves_totals, not_ending_in_endpgm, UNIT_WAVES,
		"waves whose last record is not the end of the program"),
};
static const struct record totals_record = RECORD_OF(waves_totals, RECORD_LINE, totals_columns);

static const struct column category_sum_columns[] = {
	COLUMN(wave_category, n, UNIT_COUNT, "records of this category"),
	COLUMN(wave_category, latency, UNIT_CYCLES, "sum of the latencies of the records"),
	COLUMN(wave_category, stall, UNIT_CYCLES, "sum of the stalls of the records"),
};
static const struct record category_sum_record =
	RECORD_OF(wave_category, RECORD_TUPLE, category_sum_columns);
static const struct column category_columns[] = {
	COLUMN(category_row, category, UNIT_NONE, "number of the category"),
	RECORD(category_row, c, &category_sum_record,
		"records, latency and stall of each category"),
};
static const struct record category_record =
	RECORD_OF(category_row, RECORD_BLOCK, category_columns);

#define PLACE(M, DOC) COLUMN(group_line, M, UNIT_NONE, DOC, OPTIONAL)
static const struct column group_columns[] = {
	PLACE(se, "shader engine that the waves share"),
	PLACE(cu, "compute unit that the waves share"),
	PLACE(simd, "SIMD that the waves share"),
	PLACE(slot, "slot number that the waves share"),
	COLUMN(group_line, order, UNIT_NONE,
		"whether the waves are the first in their slots or later ones",
		.words = "first|later", OPTIONAL),
	COLUMN(group_line, phase, UNIT_NONE, "position of the waves among the waves of their slots",
		.words = "first|steady|tail", OPTIONAL),
	COLUMN_AS(group_line, g.duration.n, "waves", UNIT_WAVES, "number of waves in the group"),
	COLUMN_HELD(group_line, g.duration, "duration", COLUMN_RECORD, &duration_record,
		"durations of the waves"),
	RECORD(group_line, accounting, &accounting_record, "cycles of the waves by bucket"),
	COLUMN(group_line, lost_share, UNIT_SHARE,
		"share of the duration in all buckets except issue", .digits = 6),
	COLUMN_HELD(group_line, g.states, "states", COLUMN_RECORD, &states_record,
		"cycles by state, from the hardware's state stream"),
	COLUMN(group_line, where, UNIT_NONE, "what the waves of the group share, in words",
		NO_JSON),
	COLUMN(group_line, issue_pct, UNIT_PERCENT, "issue cycles as a share of the duration",
		.title = "issue %", NO_JSON, .digits = 1),
	COLUMN(group_line, wait_pct, UNIT_PERCENT, "wait cycles as a share of the duration",
		.title = "wait %", NO_JSON, .digits = 1),
};
const struct record wave_group_record = RECORD_OF(group_line, RECORD_LINE, group_columns);

#define GROUPS(M, DOC) LIST(imbalance, M, &wave_group_record, DOC)
static const struct column imbalance_columns[] = {
	GROUPS(se, "groups of waves by shader engine"),
	GROUPS(simd, "groups of waves by SIMD"),
	GROUPS(slot, "groups of waves by slot number, over all SIMDs"),
	GROUPS(order, "the first waves of slots and the later ones"),
	GROUPS(phase, "groups of waves by their position among the waves of their slot"),
};
static const struct record imbalance_record = RECORD_OF(imbalance, RECORD_BLOCK, imbalance_columns);

static const struct column explained_part_columns[] = {
	COLUMN(explained_part, part, UNIT_NONE, "what this part of the cycles is"),
	COLUMN(explained_part, bucket, UNIT_NONE, "bucket that the cycles are in"),
	COLUMN(explained_part, cycles, UNIT_CYCLES, "cycles according to the records"),
};
static const struct record explained_part_record =
	RECORD_OF(explained_part, RECORD_BLOCK, explained_part_columns);
static const struct column explained_columns[] = {
	COLUMN(explained_row, state, UNIT_NONE, "state of the wave",
		.words = "IDLE|EXEC|WAIT|STALL"),
	COLUMN(explained_row, cycles, UNIT_CYCLES, "cycles in the state according to the hardware"),
	COLUMN(explained_row, records, UNIT_CYCLES,
		"cycles in the state according to the records: the sum of the parts"),
	COLUMN(explained_row, difference, UNIT_CYCLES, "cycles minus records"),
	LIST(explained_row, parts, &explained_part_record,
		"parts that make up the cycles of the state"),
};
static const struct record explained_record =
	RECORD_OF(explained_row, RECORD_LINE, explained_columns);

struct state_bin {
	uint64_t cyc[STATE_COUNT];
};
/* One state in every bin: a list of numbers, one bin apart in memory. */
#define BIN(NAME, S)                                                                               \
	static const struct column NAME##_bin_columns[] = {                                        \
		COLUMN_AS(state_bin, cyc[S], "", UNIT_CYCLES, "wave-cycles in one bin")};          \
	static const struct record NAME##_bin_record =                                             \
		RECORD_OF(state_bin, RECORD_SCALAR, NAME##_bin_columns)
BIN(idle, STATE_IDLE);
BIN(exec, STATE_EXEC);
BIN(wait, STATE_WAIT);
BIN(stall, STATE_STALL);
#define BINS(NAME, RECORD)                                                                         \
	COLUMN_HELD(state_series, bins, NAME, COLUMN_LIST, RECORD, "wave-cycles in " NAME)
static const struct column series_columns[] = {
	COLUMN(state_series, from_aligned, UNIT_CYCLES,
		"aligned time at which the first bin begins"),
	COLUMN(state_series, bin_cycles, UNIT_CYCLES, "width of a bin"),
	BINS("IDLE", &idle_bin_record),
	BINS("EXEC", &exec_bin_record),
	BINS("WAIT", &wait_bin_record),
	BINS("STALL", &stall_bin_record),
};
static const struct record series_record = RECORD_OF(state_series, RECORD_BLOCK, series_columns);

static const struct column wave_columns[] = {
	COLUMN(wave_line, se, UNIT_NONE, "number of the shader engine"),
	COLUMN(wave_line, cu, UNIT_NONE, "number of the compute unit"),
	COLUMN(wave_line, simd, UNIT_NONE, "number of the SIMD"),
	COLUMN(wave_line, slot, UNIT_NONE, "slot of the wave on the SIMD"),
	COLUMN(wave_line, wave, UNIT_NONE, "number of the wave in its slot"),
	COLUMN(wave_line, begin, UNIT_CYCLES, "begin of the wave on its own clock",
		.csv = "begin_cycles"),
	COLUMN(wave_line, end, UNIT_CYCLES, "end of the wave on its own clock",
		.csv = "end_cycles"),
	COLUMN_AS(wave_line, r.duration_cyc, "duration", UNIT_CYCLES,
		"end minus begin, within the window", .csv = "duration_cycles"),
	COLUMN_AS(wave_line, r.instructions, "instructions", UNIT_COUNT,
		"instructions executed within the window", .title = "instr", .csv = "instructions"),
	COLUMN_AS(wave_line, states.segments, "segments", UNIT_COUNT,
		"segments of the wave's timeline"),
	COLUMN(wave_line, begin_aligned, UNIT_CYCLES, "begin of the wave, aligned between clocks",
		.csv = "begin_aligned_cycles"),
	COLUMN(wave_line, end_aligned, UNIT_CYCLES, "end of the wave, aligned between clocks",
		.csv = "end_aligned_cycles"),
	COLUMN(wave_line, rows, UNIT_COUNT, "rows of the code that the wave executed"),
	COLUMN(wave_line, cluster, UNIT_NONE, "number of the wave's cluster"),
	COLUMN_AS(wave_line, r.latency, "latency", UNIT_CYCLES, "sum of the recorded latencies"),
	COLUMN_AS(wave_line, r.stall, "stall", UNIT_CYCLES, "sum of the recorded stalls"),
	RECORD(wave_line, accounting, &accounting_record, "every cycle of the wave in one bucket"),
	RECORD(wave_line, states, &states_record,
		"cycles by state, from the hardware's state stream"),
	COLUMN_AS(wave_line, r.barriers, "barriers", UNIT_COUNT, "barriers that the wave executed"),
	COLUMN_AS(wave_line, r.barrier_cyc, "barrier_cycles", UNIT_CYCLES,
		"cycles that the wave waited at barriers"),
	COLUMN_AS(wave_line, r.has_end, "ends_in_endpgm", UNIT_NONE,
		"the last record of the wave is the end of the program"),
	COLUMN(wave_line, file, UNIT_NONE, "name of the wave, which may be the name of its file"),
	COLUMN(wave_line, phase, UNIT_NONE, "position of the wave among the waves of its slot",
		.words = "first|steady|tail"),
};
const struct record wave_record = RECORD_OF(wave_line, RECORD_LINE, wave_columns);

static const struct column waves_columns[] = {
	EVIDENCE_COLUMN(waves_answer, "what the figures rest on"),
	RECORD(waves_answer, totals, &totals_record, "totals over all waves that were analysed"),
	RECORD(waves_answer, duration, &duration_record, "duration of the waves"),
	RECORD(waves_answer, accounting, &accounting_record,
		"every cycle of every wave in one bucket"),
	RECORD(waves_answer, accounting_shares, &bucket_shares_record,
		"the buckets as shares of the duration"),
	COLUMN(waves_answer, residue, UNIT_CYCLES, "durations minus all buckets; always 0"),
	RECORD(waves_answer, states, &states_record,
		"cycles by state, from the hardware's state stream"),
	COLUMN(waves_answer, states_total, UNIT_CYCLES, "cycles of all states together"),
	RECORD(waves_answer, state_shares, &state_shares_record,
		"the states as shares of their total"),
	COLUMN_AS(waves_answer, totals.segments, "timeline_segments", UNIT_COUNT,
		"segments of the waves' timelines"),
	COLUMN_AS(waves_answer, totals.not_ending_in_endpgm, "waves_not_ending_in_s_endpgm",
		UNIT_WAVES, "waves whose last record is not the end of the program"),
	MAP(waves_answer, categories, &category_record,
		"records, latency and stall by category of the producer"),
	LIST(waves_answer, clusters, &cluster_record,
		"groups of waves that executed the same rows"),
	RECORD(waves_answer, imbalance, &imbalance_record,
		"how much waves at different places differ"),
	RECORD(waves_answer, barriers, &barriers_record, "how unevenly waves arrived at barriers"),
	LIST(waves_answer, states_explained, &explained_record,
		"cycles of each state by hardware and by records, for waves with a timeline"),
	POINTER(waves_answer, series, &series_record, "states over time; only with --bins",
		OPTIONAL),
	LIST(waves_answer, waves, &wave_record, "one row per wave, in the order of --sort"),
};
const struct record waves_record = RECORD_OF(waves_answer, RECORD_BLOCK, waves_columns);

static const struct column of_pipes_columns[] = {
	EVIDENCE_COLUMN(waves_of_pipes, "what the figures rest on"),
	PART(waves_of_pipes, p, &pipes_part_record),
};
const struct record waves_of_pipes_record =
	RECORD_OF(waves_of_pipes, RECORD_BLOCK, of_pipes_columns);

/* --- rows ----------------------------------------------------------------------------------- */

static bool category_rows(
	struct answer *a, const struct waves *w, struct rows *out, struct incore_error *e)
{
	struct category_row *v = ANSWER_ROWS(a, out, 256, category_row, e);
	size_t n = 0;

	for (unsigned i = 0; v && i < 256; i++) {
		if (!w->categories[i].n)
			continue;
		v[n++] = (struct category_row){arena_printf(&a->arena, "%u", i), w->categories[i]};
		if (!v[n - 1].category)
			return err_nomem(e);
	}
	out->n = n;
	return v != NULL;
}

/* Sets the coordinates that the waves of a group share. */
static void put_place(const struct waves *w, enum wave_grouping by, struct group_line *x)
{
	const uint32_t *coord = w->trace->tracks[x->g.first].coord;
	bool is_simd = by == WAVES_BY_SIMD;

	x->se = is_simd || by == WAVES_BY_SE ? coord[0] : UINT32_MAX;
	x->cu = is_simd ? coord[1] : UINT32_MAX;
	x->simd = is_simd ? coord[2] : UINT32_MAX;
	x->slot = by == WAVES_BY_SLOT ? coord[3] : UINT32_MAX;
	if (by == WAVES_BY_ORDER)
		x->order = wave_group_is_later(w, &x->g) ? "later" : "first";
	if (by == WAVES_BY_PHASE)
		x->phase = wave_phase_name(wave_phase_of(w->trace, x->g.first));
}

static char *place_text(
	struct answer *a, const struct waves *w, enum wave_grouping by, const struct group_line *x)
{
	static const char *const phases[] = {"first", "middle", "last"};

	if (by == WAVES_BY_PHASE)
		return arena_printf(&a->arena, "%s wave%s of a slot",
			phases[wave_phase_of(w->trace, x->g.first)], plural(x->g.duration.n));
	return arena_printf(
		&a->arena, "%s %u", wave_grouping_name(by), by == WAVES_BY_SE ? x->se : x->slot);
}

static bool group_rows(struct answer *a, const struct waves *w, enum wave_grouping by,
	struct rows *out, struct incore_error *e)
{
	uint32_t n = w->n_groups[by];
	struct group_line *v = ANSWER_ROWS(a, out, n, group_line, e);

	for (uint32_t i = 0; v && i < n; i++) {
		const struct wave_group *g = &w->groups[by][i];
		uint64_t all = g->duration.sum;

		v[i] = (struct group_line){.g = *g,
			.accounting = accounting_of(g->bucket, all),
			.lost_share = ratio(all - g->bucket[BUCKET_ISSUE], all),
			.issue_pct = percent(g->bucket[BUCKET_ISSUE], all),
			.wait_pct = percent(g->bucket[BUCKET_WAIT], all)};
		put_place(w, by, &v[i]);
		v[i].where = place_text(a, w, by, &v[i]);
		if (!v[i].where)
			return err_nomem(e);
	}
	return v != NULL;
}

static bool imbalance_make(
	struct answer *a, const struct waves *w, struct imbalance *out, struct incore_error *e)
{
	return group_rows(a, w, WAVES_BY_SE, &out->se, e) &&
	       group_rows(a, w, WAVES_BY_SIMD, &out->simd, e) &&
	       group_rows(a, w, WAVES_BY_SLOT, &out->slot, e) &&
	       group_rows(a, w, WAVES_BY_ORDER, &out->order, e) &&
	       group_rows(a, w, WAVES_BY_PHASE, &out->phase, e);
}

static bool explained_rows(
	struct answer *a, const struct waves *w, struct rows *out, struct incore_error *e)
{
	struct state_explained x[STATES_EXPLAINED];
	uint32_t n = waves_explain(w, x);
	struct explained_row *v = ANSWER_ROWS(a, out, n, explained_row, e);

	for (uint32_t i = 0; v && i < n; i++) {
		struct explained_part *p = answer_alloc(a, x[i].n_parts, sizeof(*p), e);

		if (!p)
			return false;
		for (uint32_t k = 0; k < x[i].n_parts; k++)
			p[k] = (struct explained_part){x[i].parts[k].name,
				bucket_name(x[i].parts[k].bucket), x[i].parts[k].cyc};
		v[i] = (struct explained_row){state_name(x[i].state), x[i].cyc, x[i].records,
			(int64_t)x[i].cyc - (int64_t)x[i].records, {p, x[i].n_parts}};
	}
	return v != NULL;
}

static struct wave_line wave_line_of(const struct waves *w, track_idx i)
{
	const struct track *k = &w->trace->tracks[i];
	const struct wave_row *r = &w->rows[i];

	return (struct wave_line){.se = k->coord[0],
		.cu = k->coord[1],
		.simd = k->coord[2],
		.slot = k->coord[3],
		.wave = k->coord[4],
		.begin = k->begin_cyc,
		.end = k->end_cyc,
		.begin_aligned = trace_aligned(w->trace, k->clock, k->begin_cyc),
		.end_aligned = trace_aligned(w->trace, k->clock, k->end_cyc),
		.r = *r,
		.rows = w->clusters->waves[i].n_rows,
		.cluster = w->clusters->of_track[i],
		.accounting = accounting_of(r->bucket, r->duration_cyc),
		.states = w->states->waves[i],
		.file = k->name,
		.phase = wave_phase_name(wave_phase_of(w->trace, i))};
}

static bool wave_rows(struct answer *a, const struct waves *w, enum wave_sort by,
	struct waves_answer *out, struct incore_error *e)
{
	struct wave_line *v;
	track_idx *list;
	uint32_t n;

	if (!waves_sorted(w, by, &a->arena, &list, &n, e))
		return false;
	out->found = n;
	n = out->top < n ? (uint32_t)out->top : n;
	v = answer_alloc(a, n, sizeof(*v), e);
	for (uint32_t i = 0; v && i < n; i++)
		v[i] = wave_line_of(w, list[i]);
	out->waves = (struct rows){v, n};
	return v != NULL;
}

static bool series_make(
	struct answer *a, const struct states *s, struct waves_answer *out, struct incore_error *e)
{
	struct state_series *x;

	if (!s->n_bins)
		return true;
	x = ANSWER_NEW(a, state_series, e);
	if (!x)
		return false;
	*x = (struct state_series){s->bins_from_cyc, s->bin_cyc, {s->bins, s->n_bins}};
	out->series = x;
	return true;
}

/* --- the question --------------------------------------------------------------------------- */

static bool fill_waves(struct answer *a, const struct waves *w, enum wave_sort by, uint64_t top,
	struct incore_error *e)
{
	struct waves_answer *x = ANSWER_NEW(a, waves_answer, e);

	if (!x)
		return false;
	*x = (struct waves_answer){.evidence = evidence_name(w->trace->meta.evidence),
		.totals = {w->n_waves, w->n_instructions, w->clusters->latency, w->clusters->stall,
			w->states->all.segments, w->states->n_waves, w->n_not_ended},
		.duration = w->duration,
		.accounting = accounting_of(w->bucket, w->duration.sum),
		.accounting_shares = bucket_shares_of(w->bucket, w->duration.sum),
		.residue = w->residue_cyc,
		.states = w->states->all,
		.states_total = states_total(&w->states->all),
		.state_shares = state_shares_of(&w->states->all),
		.top = top,
		.sorted_by = option_choice(&options[0], by)};
	a->data = x;
	return category_rows(a, w, &x->categories, e) &&
	       cluster_rows(a, w->clusters, &x->clusters, e) &&
	       imbalance_make(a, w, &x->imbalance, e) &&
	       barriers_make(a, w->barriers, &x->barriers, e) &&
	       explained_rows(a, w, &x->states_explained, e) && series_make(a, w->states, x, e) &&
	       wave_rows(a, w, by, x, e);
}

static bool ask_of_waves(const struct request *r, struct answer *a, const struct trace *t,
	const struct selection *s, struct incore_error *e)
{
	const struct waves_params *p = r->params;
	struct walk_options o = request_walk(r, s);
	struct waves *w = waves_new(t, (uint32_t)p->bins, e);
	struct walk_result walk = {0};
	bool ok;

	if (!w || !ANSWER_KEEP(a, w, waves_free, e))
		return false;
	ok = answer_walked(a, &walk, waves_collect(w, &o, &walk, e));
	return ok && fill_waves(a, w, p->sort, request_top(r, 20, UINT64_MAX), e);
}

static bool ask_of_pipes(const struct request *r, struct answer *a, const struct trace *t,
	const struct selection *s, struct incore_error *e)
{
	const struct waves_params *params = r->params;
	struct waves_of_pipes *x = ANSWER_NEW(a, waves_of_pipes, e);
	struct pipes *p;

	if (!x || !answer_pipes(a, r, t, s, &p, e))
		return false;
	x->evidence = evidence_name(t->meta.evidence);
	a->record = &waves_of_pipes_record;
	a->data = x;
	return pipes_part_make(a, p, params->sort, request_top(r, 20, UINT64_MAX), &x->p, e);
}

static bool ask_waves(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct waves_params *p = r->params;
	struct selection s = {0};
	struct trace *t;
	bool ok;

	if (p->bins > MAX_BINS)
		return err_set(e, INCORE_USAGE, "bad-option", "--bins %llu: at most %u",
			(unsigned long long)p->bins, MAX_BINS);
	if (!answer_open(a, r, r->paths[0], request_kernel_want(r), &t, e))
		return false;
	ok = request_selection(r, t, &s, e) &&
	     (trace_kind(t) == KIND_PIPES ? ask_of_pipes : ask_of_waves)(r, a, t, &s, e);
	selection_deinit(&s);
	return ok;
}

const struct question question_waves = {
	.reach = REACH_ALL,
	.name = "waves",
	.args = "PATH",
	.summary = "wave by wave: durations, states, paths, balance",
	.groups = OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct waves_params),
	.min_paths = 1,
	.max_paths = 1,
	.records = RECORDS(&waves_record, &waves_of_pipes_record),
	.main_lists = "waves|pipes",
	.ask = ask_waves,
	.page = waves_page,
};
