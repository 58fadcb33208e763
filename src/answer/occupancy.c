/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.c: how full was the machine, and what limits it? */
#include "answer/occupancy.h"
#include "answer/pages.h"

#include <inttypes.h>

#include "base/mem.h"

#define MAX_BINS 100000u
#define MAX_UNIT_BINS 1000u

static const struct option_def options[] = {
	{OPT_BY, "se|cu|simd|kernel|time", "se", "what a row of the table is",
		OPTION_ALL(occupancy_params, by)},
	{OPT_BINS, NULL, "60", "number of parts of the span for waves over time",
		OPTION_ALL(occupancy_params, bins)},
	{OPT_SERIES, "se|cu|simd", "se", "units whose waves over time are in --json",
		OPTION_ALL(occupancy_params, series)},
	OPTION_END,
};

/* --- columns -------------------------------------------------------------------------------- */

#define STATS(M, NAME, UNIT, DOC, ...) COLUMN_AS(stats_line, s.M, NAME, UNIT, DOC, ##__VA_ARGS__)
static const struct column stats_columns[] = {
	STATS(events, "events", UNIT_COUNT, "starts and ends in the window"),
	STATS(starts, "starts", UNIT_WAVES, "waves that started"),
	STATS(ends, "ends", UNIT_WAVES, "waves that ended"),
	STATS(peak, "peak_waves", UNIT_WAVES, "most resident at once", .title = "peak",
		.csv = "peak_waves"),
	STATS(wave_cyc, "wave_cycles", UNIT_CYCLES, "sum of residence", .title = "wave-cycles",
		.csv = "wave_cycles"),
	STATS(busy_cyc, "busy_cycles", UNIT_CYCLES, "with at least one wave resident"),
	STATS(first_cyc, "first_cycle", UNIT_CYCLES, "first event, on the trace's clock"),
	STATS(last_cyc, "last_cycle", UNIT_CYCLES, "last event, on the trace's clock"),
	STATS(unmatched_ends, "unmatched_ends", UNIT_WAVES, "ends without a start: not counted"),
	STATS(open, "open", UNIT_WAVES, "starts without an end"),
	COLUMN(stats_line, mean_while_busy, UNIT_WAVES,
		"mean resident waves while any wave is resident", .digits = 6),
	COLUMN(stats_line, mean, UNIT_WAVES, "mean resident waves over the span",
		.csv = "mean_waves", NO_JSON, .digits = 1),
	COLUMN(stats_line, busy_pct, UNIT_PERCENT,
		"share of the span with at least one resident wave", .title = "busy %",
		.csv = "busy_pct", NO_JSON, .digits = 1),
};
static const struct record stats_record = RECORD_OF(stats_line, RECORD_LINE, stats_columns);

static const struct column coverage_columns[] = {
	COLUMN(coverage, traced_waves, UNIT_WAVES, "waves with instruction detail"),
	COLUMN(coverage, resident_waves, UNIT_WAVES, "waves that started on the traced SEs"),
	COLUMN(coverage, launched_waves, UNIT_WAVES, "waves of the launch, from the kernel trace",
		.flags = COLUMN_NULLABLE | COLUMN_SOME),
	COLUMN(coverage, traced_share, UNIT_SHARE,
		"traced waves as a share of the launched, or else of the resident waves",
		.digits = 6),
	COLUMN(coverage, ses, UNIT_COUNT, "number of shader engines seen"),
	COLUMN(coverage, target_cu, UNIT_NONE, "number of the compute unit with instruction detail",
		NULLABLE),
	COLUMN(coverage, clock_mhz, UNIT_MHZ, "frequency of the clock that cycles are counted in",
		.digits = 2),
	COLUMN(coverage, sentence, UNIT_NONE, "the coverage in one sentence"),
};
static const struct record coverage_record = RECORD_OF(coverage, RECORD_BLOCK, coverage_columns);

#define LAUNCH(M, UNIT, DOC) COLUMN(trace_launch, M, UNIT, DOC, NULLABLE)
static const struct column launch_columns[] = {
	LAUNCH(dispatch, UNIT_NONE, "which dispatch of the run"),
	LAUNCH(kernel_id, UNIT_NONE, "number of the kernel"),
	LAUNCH(launch_index, UNIT_NONE, "which launch of this kernel, from 1"),
	LAUNCH(launch_count, UNIT_COUNT, "launches of this kernel"),
	LAUNCH(workgroups, UNIT_COUNT, "workgroups of the launch"),
	LAUNCH(waves, UNIT_WAVES, "waves of the launch"),
};
static const struct record launch_record = RECORD_OF(trace_launch, RECORD_BLOCK, launch_columns);

static const struct column all_columns[] = {
	PART(occupancy_all, stats, &stats_record),
	COLUMN(occupancy_all, span, UNIT_CYCLES, "cycles from the first start to the last end"),
	COLUMN(occupancy_all, span_us, UNIT_US, "span in microseconds, if the clock is known",
		.digits = 3),
	COLUMN(occupancy_all, mean_waves, UNIT_WAVES, "mean resident waves over the span",
		.digits = 4),
	COLUMN(occupancy_all, peak_per_simd, UNIT_WAVES, "largest number of waves on one SIMD"),
	COLUMN(occupancy_all, below_half_peak, UNIT_CYCLES,
		"cycles of the span with fewer waves than half the peak"),
	COLUMN(occupancy_all, below_half_peak_share, UNIT_SHARE,
		"share of the span with fewer waves than half the peak", .digits = 6),
	COLUMN(occupancy_all, tail, UNIT_CYCLES,
		"cycles from the first end that no start follows to the last end"),
	COLUMN(occupancy_all, starts_per_kilocycle, UNIT_WAVES,
		"waves started per 1,000 cycles between the first and the last start", .digits = 3),
	COLUMN(occupancy_all, cu_balance, UNIT_NONE,
		"wave-cycles of the busiest CU divided by the mean of all CUs; 0: unknown",
		.digits = 4),
	COLUMN(occupancy_all, is_aligned, UNIT_NONE, "the clocks of all SEs are aligned"),
	COLUMN(occupancy_all, source, UNIT_NONE,
		"whether counted from events of all waves or from the traced waves only",
		.words = "events|waves"),
};
static const struct record all_record = RECORD_OF(occupancy_all, RECORD_BLOCK, all_columns);

#define SE_COLUMN(S)                                                                               \
	COLUMN_AS(S, u.se, "se", UNIT_NONE, "number of the shader engine", .title = "SE",          \
		.csv = "se")
#define CU_COLUMN(S)                                                                               \
	COLUMN_AS(S, u.cu, "cu", UNIT_NONE, "number of the compute unit", .title = "CU",           \
		.csv = "cu")
#define PER_SIMD_COLUMN(S)                                                                         \
	COLUMN_AS(S, u.peak_per_simd, "peak_per_simd", UNIT_WAVES,                                 \
		"largest number of waves on one SIMD", .title = "per SIMD",                        \
		.csv = "peak_waves_per_simd")

static const struct column se_columns[] = {
	SE_COLUMN(se_line),
	PART(se_line, stats, &stats_record),
	COLUMN_AS(se_line, u.n_cus, "cus", UNIT_COUNT, "compute units that had waves",
		.title = "CUs", .csv = "cus"),
	PER_SIMD_COLUMN(se_line),
	COLUMN_AS(se_line, u.target_cu_starts, "target_cu_starts", UNIT_WAVES,
		"waves started on the CU with instruction detail", .title = "on target CU",
		.csv = "target_cu_starts"),
	COLUMN_AS(se_line, u.is_aligned, "is_aligned", UNIT_NONE,
		"the clock of the shader engine is aligned"),
};
const struct record se_record = RECORD_OF(se_line, RECORD_LINE, se_columns);

struct mean_item {
	double v;
};
static const struct column unit_mean_columns[] = {
	COLUMN(mean_item, v, UNIT_WAVES, "mean resident waves in one part of the span",
		.digits = 2),
};
static const struct record unit_mean_record =
	RECORD_OF(mean_item, RECORD_SCALAR, unit_mean_columns);

#define UNIT_SERIES_COLUMN(S)                                                                      \
	LIST(S, waves, &unit_mean_record, "waves over time; only with --series", OPTIONAL)

static const struct column cu_columns[] = {
	SE_COLUMN(cu_line),
	CU_COLUMN(cu_line),
	PART(cu_line, stats, &stats_record),
	PER_SIMD_COLUMN(cu_line),
	COLUMN_AS(cu_line, u.is_target, "is_target", UNIT_NONE,
		"the compute unit has instruction detail"),
	UNIT_SERIES_COLUMN(cu_line),
	COLUMN(cu_line, busiest_pct, UNIT_PERCENT,
		"wave-cycles of the CU, as a share of those of the busiest CU",
		.title = "share of the busiest", .csv = "share_of_busiest_pct",
		.flags = COLUMN_NO_JSON | COLUMN_BAR, .digits = 1),
};
const struct record cu_record = RECORD_OF(cu_line, RECORD_LINE, cu_columns);

static const struct column simd_columns[] = {
	SE_COLUMN(simd_line),
	CU_COLUMN(simd_line),
	COLUMN_AS(simd_line, u.simd, "simd", UNIT_NONE, "number of the SIMD", .title = "SIMD",
		.csv = "simd"),
	PART(simd_line, stats, &stats_record),
	UNIT_SERIES_COLUMN(simd_line),
};
const struct record simd_record = RECORD_OF(simd_line, RECORD_LINE, simd_columns);

static const struct column kernel_columns[] = {
	COLUMN_AS(kernel_line, u.name, "name", UNIT_NONE, "name of the kernel; ?: it has none",
		.title = "kernel", .flags = COLUMN_WIDE),
	COLUMN_AS(kernel_line, u.n_ids, "ids", UNIT_COUNT, "number of kernel ids with this name"),
	COLUMN_AS(kernel_line, u.n_used, "ids_used", UNIT_COUNT,
		"kernel ids with this name that had waves", .title = "used", .csv = "ids_used"),
	PART(kernel_line, stats, &stats_record),
};
const struct record kernel_line_record = RECORD_OF(kernel_line, RECORD_LINE, kernel_columns);

static const struct column kernel_id_columns[] = {
	COLUMN(occupancy_kernel_id, id, UNIT_NONE, "number of the kernel"),
	COLUMN(occupancy_kernel_id, name, UNIT_NONE, "name of the kernel", NULLABLE),
	COLUMN(occupancy_kernel_id, starts, UNIT_WAVES, "waves of the kernel that started"),
};
static const struct record kernel_id_record =
	RECORD_OF(occupancy_kernel_id, RECORD_LINE, kernel_id_columns);

struct thread_item {
	int64_t v;
};
static const struct column thread_columns[] = {
	COLUMN(thread_item, v, UNIT_COUNT, "work-items in one dimension"),
};
static const struct record thread_record = RECORD_OF(thread_item, RECORD_SCALAR, thread_columns);

#define SIZE(M, TITLE, UNIT, DOC)                                                                  \
	COLUMN_AS(dispatch_line, d.M, #M, UNIT, DOC, .title = TITLE, .csv = #M, NULLABLE)
static const struct column dispatch_columns[] = {
	COLUMN(dispatch_line, cycle, UNIT_CYCLES, "cycle of the dispatch on the trace's clock"),
	COLUMN(dispatch_line, se, UNIT_NONE, "shader engine that saw the dispatch", .title = "SE",
		.csv = "se"),
	COLUMN_AS(dispatch_line, d.kernel_id, "kernel_id", UNIT_NONE, "number of the kernel",
		.title = "id", .csv = "kernel_id"),
	COLUMN_AS(dispatch_line, d.kernel_name, "name", UNIT_NONE, "name of the kernel",
		.title = "dispatch of", .csv = "kernel", .flags = COLUMN_NULLABLE | COLUMN_WIDE),
	SIZE(vgprs, "VGPRs", UNIT_COUNT, "vector registers of a wave"),
	SIZE(sgprs, "SGPRs", UNIT_COUNT, "scalar registers of a wave"),
	SIZE(lds_bytes, "LDS", UNIT_BYTES, "LDS of a workgroup"),
	LIST(dispatch_line, threads, &thread_record, "work-items by dimension; empty: unknown"),
	COLUMN(dispatch_line, since, UNIT_CYCLES, "cycles after the first event", .title = "cycle",
		NO_JSON),
};
const struct record dispatch_record = RECORD_OF(dispatch_line, RECORD_LINE, dispatch_columns);

static const struct column event_columns[] = {
	COLUMN(name_count, name, UNIT_NONE, "kind of event"),
	COLUMN(name_count, count, UNIT_COUNT, "number of events"),
};
static const struct record event_record = RECORD_OF(name_count, RECORD_BLOCK, event_columns);

static const struct column se_mean_columns[] = {
	COLUMN(mean_item, v, UNIT_WAVES, "mean resident waves of one SE, in the order of ses",
		.digits = 3),
};
static const struct record se_mean_record = RECORD_OF(mean_item, RECORD_SCALAR, se_mean_columns);
static const struct column series_columns[] = {
	COLUMN(series_line, from, UNIT_CYCLES,
		"begin of this part, in cycles after the first event"),
	COLUMN(series_line, to, UNIT_CYCLES, "end of this part, in cycles after the first event"),
	COLUMN(series_line, mean_waves, UNIT_WAVES, "mean resident waves in this part",
		.digits = 3),
	LIST(series_line, by_se, &se_mean_record,
		"mean resident waves in this part, by shader engine"),
};
static const struct record series_record = RECORD_OF(series_line, RECORD_LINE, series_columns);

#define HEAD_COLUMNS(S)                                                                            \
	EVIDENCE_COLUMN(S, "what the figures rest on"),                                            \
		COLUMN(S, kernel, UNIT_NONE, "name of the kernel", NULLABLE),                      \
		COLUMN(S, arch, UNIT_NONE, "gfx950, dav_2201, ...", NULLABLE)

static const struct column occupancy_columns[] = {
	HEAD_COLUMNS(occupancy_answer),
	RECORD(occupancy_answer, coverage, &coverage_record, "how much of the launch was seen"),
	RECORD(occupancy_answer, launch, &launch_record, "the launch that was captured"),
	RECORD(occupancy_answer, all, &all_record, "figures of all waves together"),
	LIST(occupancy_answer, ses, &se_record, "figures by shader engine"),
	LIST(occupancy_answer, cus, &cu_record, "figures by compute unit"),
	LIST(occupancy_answer, simds, &simd_record, "figures by SIMD"),
	LIST(occupancy_answer, kernels, &kernel_line_record,
		"figures by kernel name, most starts first"),
	LIST(occupancy_answer, kernel_ids, &kernel_id_record, "figures by kernel number"),
	LIST(occupancy_answer, dispatches, &dispatch_record, "dispatches that the capture saw"),
	MAP(occupancy_answer, hardware_events, &event_record, "other hardware events, by kind"),
	LIST(occupancy_answer, series, &series_record,
		"waves over time, in as many parts as --bins says"),
	RECORD(occupancy_answer, limits, &limits_record, "how many waves a SIMD can hold, and why"),
};
const struct record occupancy_record = RECORD_OF(occupancy_answer, RECORD_BLOCK, occupancy_columns);

static const struct column of_pipes_columns[] = {
	HEAD_COLUMNS(occupancy_of_pipes),
	LIST(occupancy_of_pipes, cores, &core_line_record, "how busy each core was"),
	LIST(occupancy_of_pipes, tables, &producer_table_record, "tables of the producer"),
};
const struct record occupancy_of_pipes_record =
	RECORD_OF(occupancy_of_pipes, RECORD_BLOCK, of_pipes_columns);

/* --- rows ----------------------------------------------------------------------------------- */

struct occupancy_fill {
	struct answer *a;
	struct occupancy_answer *out;
	const struct occupancy *o;
};

static struct stats_line stats_of(const struct occupancy *o, const struct occupancy_stats *s)
{
	return (struct stats_line){*s, ratio(s->wave_cyc, s->busy_cyc),
		o->span_cyc ? (double)s->wave_cyc / (double)o->span_cyc : 0,
		percent(s->busy_cyc, o->span_cyc)};
}

static double bin_width(const struct occupancy *o, uint32_t bin)
{
	int64_t from, to;

	occupancy_bin(o, bin, &from, &to);
	return to > from ? (double)((uint64_t)to - (uint64_t)from) : 1;
}

/* Mean waves of one CU or SIMD in each part of the span. */
static bool unit_series(
	const struct occupancy_fill *f, uint32_t unit, struct rows *out, struct incore_error *e)
{
	const struct occupancy *o = f->o;
	uint32_t n = o->span_cyc ? o->n_bins : 0;
	struct mean_item *v = ANSWER_ROWS(f->a, out, n, mean_item, e);

	for (uint32_t i = 0; v && i < n; i++)
		v[i].v = (double)o->bin_unit_wave_cyc[(size_t)unit * o->n_bins + i] /
			 bin_width(o, i);
	return v != NULL;
}

static bool put_units(const struct occupancy_fill *f, struct incore_error *e)
{
	const struct occupancy *o = f->o;
	struct se_line *ses = ANSWER_ROWS(f->a, &f->out->ses, o->n_ses, se_line, e);
	struct cu_line *cus = ANSWER_ROWS(f->a, &f->out->cus, o->n_cus, cu_line, e);
	struct simd_line *simds = ANSWER_ROWS(f->a, &f->out->simds, o->n_simds, simd_line, e);
	uint64_t most = 0;

	if (!ses || !cus || !simds)
		return false;
	for (uint32_t i = 0; i < o->n_ses; i++)
		ses[i] = (struct se_line){o->ses[i], stats_of(o, &o->ses[i].stats)};
	for (uint32_t i = 0; i < o->n_cus; i++)
		most = o->cus[i].stats.wave_cyc > most ? o->cus[i].stats.wave_cyc : most;
	for (uint32_t i = 0; i < o->n_cus; i++) {
		cus[i] = (struct cu_line){.u = o->cus[i],
			.stats = stats_of(o, &o->cus[i].stats),
			.busiest_pct = percent(o->cus[i].stats.wave_cyc, most)};
		if (o->series == SERIES_CU && !unit_series(f, i, &cus[i].waves, e))
			return false;
	}
	for (uint32_t i = 0; i < o->n_simds; i++) {
		simds[i] = (struct simd_line){
			.u = o->simds[i], .stats = stats_of(o, &o->simds[i].stats)};
		if (o->series == SERIES_SIMD && !unit_series(f, i, &simds[i].waves, e))
			return false;
	}
	return true;
}

static bool occupancy_put_kernels(const struct occupancy_fill *f, struct incore_error *e)
{
	const struct occupancy *o = f->o;
	struct kernel_line *v = ANSWER_ROWS(f->a, &f->out->kernels, o->n_kernels, kernel_line, e);

	for (uint32_t i = 0; v && i < o->n_kernels; i++)
		v[i] = (struct kernel_line){o->kernels[i], stats_of(o, &o->kernels[i].stats)};
	f->out->kernel_ids = (struct rows){o->kernel_ids, o->n_kernel_ids};
	return v != NULL;
}

static bool put_dispatches(const struct occupancy_fill *f, struct incore_error *e)
{
	const struct trace *t = f->o->trace;
	struct dispatch_line *v =
		ANSWER_ROWS(f->a, &f->out->dispatches, t->n_dispatch_events, dispatch_line, e);
	size_t n = 0;

	for (uint32_t i = 0; v && i < t->n_dispatch_events; i++) {
		const struct dispatch_event *d = &t->dispatch_events[i];
		int64_t cycle = trace_aligned(t, d->clock, d->time_cyc);

		if (d->is_dispatch)
			v[n++] = (struct dispatch_line){.cycle = cycle,
				.since = cycle - f->o->all.first_cyc,
				.se = d->clock < t->n_clocks ? t->clocks[d->clock].id : 0,
				.d = *d,
				.threads = {d->thread_dim, d->thread_dim[0] != NO_VALUE ? 3 : 0}};
	}
	f->out->dispatches.n = n;
	return v != NULL;
}

static bool put_hardware_events(const struct occupancy_fill *f, struct incore_error *e)
{
	const struct trace *t = f->o->trace;
	uint64_t n[OCCUPANCY_EVENT_TYPES + 1] = {0};
	struct name_count *v = ANSWER_ROWS(
		f->a, &f->out->hardware_events, OCCUPANCY_EVENT_TYPES + 1, name_count, e);
	size_t n_out = 0;

	EACH (const struct dispatch_event, d, t->dispatch_events, t->n_dispatch_events) {
		if (!d->is_dispatch)
			n[d->type < OCCUPANCY_EVENT_TYPES ? d->type : OCCUPANCY_EVENT_TYPES]++;
	}
	for (unsigned k = 0; v && k <= OCCUPANCY_EVENT_TYPES; k++)
		if (n[k])
			v[n_out++] = (struct name_count){occupancy_event_name(k), n[k]};
	f->out->hardware_events.n = n_out;
	return v != NULL;
}

static bool occupancy_put_series(const struct occupancy_fill *f, struct incore_error *e)
{
	const struct occupancy *o = f->o;
	uint32_t n = o->span_cyc ? o->n_bins : 0;
	struct series_line *v = ANSWER_ROWS(f->a, &f->out->series, n, series_line, e);
	struct mean_item *by_se = answer_alloc(f->a, (size_t)n * o->n_ses, sizeof(*by_se), e);

	if (!v || !by_se)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		double cyc = bin_width(o, i);

		occupancy_bin(o, i, &v[i].from, &v[i].to);
		v[i].from -= o->all.first_cyc;
		v[i].to -= o->all.first_cyc;
		v[i].mean_waves = (double)o->bin_wave_cyc[i] / cyc;
		v[i].by_se = (struct rows){&by_se[(size_t)i * o->n_ses], o->n_ses};
		for (uint32_t s = 0; s < o->n_ses; s++)
			by_se[(size_t)i * o->n_ses + s].v =
				(double)o->bin_se_wave_cyc[(size_t)s * o->n_bins + i] / cyc;
	}
	return true;
}

static bool put_coverage(const struct occupancy_fill *f, struct incore_error *e)
{
	const struct occupancy *o = f->o;
	double mhz = trace_clock_mhz(o->trace);
	struct strbuf text = {0};
	char *sentence = occupancy_put_coverage(o, &text)
				 ? arena_strndup(&f->a->arena, text.p, text.n)
				 : NULL;

	sb_free(&text);
	f->out->coverage = (struct coverage){.traced_waves = o->traced_waves,
		.resident_waves = o->all.starts,
		.launched_waves = o->launched_waves,
		.traced_share = ratio(
			o->traced_waves, o->launched_waves ? o->launched_waves : o->all.starts),
		.ses = o->n_ses,
		.target_cu = o->trace->meta.target_cu,
		.clock_mhz = mhz > 0 ? mhz : NAN,
		.sentence = sentence};
	return sentence || err_nomem(e);
}

static struct occupancy_all all_of(const struct occupancy *o)
{
	double mhz = trace_clock_mhz(o->trace);

	return (struct occupancy_all){.stats = stats_of(o, &o->all),
		.span = o->span_cyc,
		.peak_per_simd = o->peak_per_simd,
		.below_half_peak = o->below_half_cyc,
		.tail = o->tail_cyc,
		.span_us = mhz > 0 ? (double)o->span_cyc / mhz : NAN,
		.mean_waves = occupancy_mean(o),
		.below_half_peak_share = occupancy_below_half(o),
		.starts_per_kilocycle = occupancy_launch_rate(o),
		.cu_balance = occupancy_cu_balance(o),
		.is_aligned = o->is_aligned,
		.source = o->is_from_tracks ? "waves" : "events"};
}

/* --- the question --------------------------------------------------------------------------- */

static bool occupancy_check_request(const struct request *r, struct incore_error *e)
{
	const struct occupancy_params *p = r->params;

	if (r->level[4])
		return err_set(e, INCORE_USAGE, "bad-option",
			"--wave does not apply: occupancy counts the waves of all CUs, which have "
			"no number; use --se, --cu, --simd, --slot, --kernel, --from, --to");
	if (p->bins > MAX_UNIT_BINS && p->series != SERIES_SE)
		return err_set(e, INCORE_USAGE, "bad-option",
			"--bins expects at most %u with --series cu or simd, not %" PRIu64,
			MAX_UNIT_BINS, p->bins);
	if (p->bins < 1 || p->bins > MAX_BINS)
		return err_set(e, INCORE_USAGE, "bad-option",
			"--bins expects a number from 1 to %u, not %" PRIu64, MAX_BINS, p->bins);
	return true;
}

static void warn_of(struct answer *a, const struct occupancy *o)
{
	if (o->is_from_tracks && o->trace->n_tracks)
		answer_warn(a,
			"no occupancy events: the traced waves are used instead, other CUs are missing");
	if (!o->is_aligned && o->n_ses > 1)
		answer_warn(a, "clocks of the SEs are not aligned: figures over several SEs are "
			       "off by their skew");
	if (o->all.open)
		answer_warn(a, "%" PRIu64 " %s to the last event", o->all.open,
			o->all.open == 1 ? "wave has a start and no end: it counts"
					 : "waves have a start and no end: they count");
	if (o->all.unmatched_ends)
		answer_warn(a, "%" PRIu64 " %s an end and no start: not counted",
			o->all.unmatched_ends,
			o->all.unmatched_ends == 1 ? "wave has" : "waves have");
}

static void free_occupancy(struct occupancy *o)
{
	occupancy_deinit(o);
	mem_free(o);
}

static bool ask_of_waves(const struct request *r, struct answer *a, const struct trace *t,
	const struct selection *s, struct incore_error *e)
{
	const struct occupancy_params *p = r->params;
	struct occupancy_options options_of = {
		.selection = s, .n_bins = (uint32_t)p->bins, .series = p->series};
	struct occupancy_fill f = {a, ANSWER_NEW(a, occupancy_answer, e), NULL};
	struct occupancy *o = mem_zalloc(1, sizeof(*o));
	struct limits limits;

	if (!o || !ANSWER_KEEP(a, o, free_occupancy, e))
		return err_nomem(e);
	if (!f.out || !occupancy_compute(o, t, &options_of, e))
		return false;
	limits_compute(t, &limits);
	warn_of(a, o);
	f.o = o;
	*f.out = (struct occupancy_answer){.evidence = evidence_name(t->meta.evidence),
		.kernel = t->meta.kernel,
		.arch = t->meta.arch,
		.launch = t->meta.launch,
		.all = all_of(o),
		.by = p->by,
		.top = request_top(r, 20, UINT64_MAX)};
	a->data = f.out;
	return put_coverage(&f, e) && put_units(&f, e) && occupancy_put_kernels(&f, e) &&
	       put_dispatches(&f, e) && put_hardware_events(&f, e) && occupancy_put_series(&f, e) &&
	       limits_make(a, &limits, &f.out->limits, e);
}

static bool ask_of_pipes(const struct request *r, struct answer *a, const struct trace *t,
	const struct selection *s, struct incore_error *e)
{
	struct occupancy_of_pipes *x = ANSWER_NEW(a, occupancy_of_pipes, e);
	struct pipes *p;

	if (!x || !answer_pipes(a, r, t, s, &p, e))
		return false;
	*x = (struct occupancy_of_pipes){.evidence = evidence_name(t->meta.evidence),
		.kernel = t->meta.kernel,
		.arch = t->meta.arch,
		.n_pipes = p->n_pipes,
		.top = request_top(r, 20, UINT64_MAX)};
	a->record = &occupancy_of_pipes_record;
	a->data = x;
	return core_rows(a, p, &x->cores, e) &&
	       producer_table_rows(a, t, UINT64_MAX, false, &x->tables, e);
}

static bool ask_occupancy(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct selection s = {0};
	struct trace *t;
	bool ok;

	if (!occupancy_check_request(r, e) ||
		!answer_open(a, r, r->paths[0], IMPORT_OCCUPANCY | IMPORT_SIDE_FILES, &t, e))
		return false;
	ok = answer_of_code(t, "occupancy", e) && request_selection(r, t, &s, e) &&
	     (trace_kind(t) == KIND_PIPES ? ask_of_pipes : ask_of_waves)(r, a, t, &s, e);
	selection_deinit(&s);
	return ok;
}

const struct question question_occupancy = {
	.reach = REACH_ALL,
	.name = "occupancy",
	.args = "PATH",
	.summary = "how full the machine was, and what keeps it from more",
	.groups = OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct occupancy_params),
	.min_paths = 1,
	.max_paths = 1,
	.records = RECORDS(&occupancy_record, &occupancy_of_pipes_record),
	.ask = ask_occupancy,
	.page = occupancy_page,
};
