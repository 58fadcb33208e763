/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_occupancy.c: incore occupancy: how full the machine was, and what keeps it from more. */
#include <inttypes.h>

#include "analysis/occupancy/limits.h"
#include "analysis/occupancy/occupancy.h"
#include "analysis/pipes/pipe_sweep.h"
#include "cli/cli.h"
#include "cli/text/pipes_page.h"
#include "cli/text/table.h"

#define PLOT_ROWS 5
#define MAX_SE_COLUMNS 32
#define MAX_STRIP_CUS 64

#define MAX_UNIT_BINS 1000u

static const struct option_def options[] = {
	{0, "by", OPTION_CHOICE, "WHAT", "se|cu|simd|kernel|time", "se",
		"what a row of the table is"},
	{0, "bins", OPTION_COUNT, "N", NULL, "60",
		"parts the span is cut into for waves over time"},
	{0, "series", OPTION_CHOICE, "WHAT", "se|cu|simd", "se",
		"units whose waves over time --json gives"},
	OPTION_END,
};

/* Everything one run of the verb holds. */
struct job {
	struct cli *c;
	struct trace *trace;
	struct selection selection;
	struct occupancy occupancy;
	struct limits limits;
	const char *by;
};

static bool is_by(const struct job *j, const char *by)
{
	return !strcmp(j->by, by);
}

/* --- the work ------------------------------------------------------------------------------- */

static bool check_request(struct cli *c)
{
	uint64_t bins = cli_count(c, "bins");

	if (cli_has(c, "wave"))
		return err_set(&c->error, INCORE_USAGE, "bad-option",
			"--wave does not apply: occupancy counts the waves of all CUs, which have "
			"no number; use --se, --cu, --simd, --slot, --kernel, --from, --to");
	if (bins > MAX_UNIT_BINS && strcmp(cli_text(c, "series"), "se") != 0)
		return err_set(&c->error, INCORE_USAGE, "bad-option",
			"--bins wants at most %u with --series cu or simd, not %" PRIu64,
			MAX_UNIT_BINS, bins);
	if (bins < 1 || bins > 100000)
		return err_set(&c->error, INCORE_USAGE, "bad-option",
			"--bins wants a number from 1 to 100000, not %" PRIu64, bins);
	return true;
}

static void warn(struct job *j)
{
	const struct occupancy *o = &j->occupancy;

	if (o->is_from_tracks && j->trace->n_tracks)
		cli_warn(j->c, "no occupancy events: the traced waves stand in, other CUs are "
			       "not seen");
	if (!o->is_aligned && o->n_ses > 1)
		cli_warn(j->c, "clocks of the SEs are not aligned: figures over several SEs are "
			       "off by their skew");
	if (o->all.open)
		cli_warn(j->c, "%" PRIu64 " %s to the last event", o->all.open,
			o->all.open == 1 ? "wave has a start and no end: it counts"
					 : "waves have a start and no end: they count");
	if (o->all.unmatched_ends)
		cli_warn(j->c, "%" PRIu64 " %s an end and no start: not counted",
			o->all.unmatched_ends,
			o->all.unmatched_ends == 1 ? "wave has" : "waves have");
}

/* --- JSON ----------------------------------------------------------------------------------- */

static bool print_json(struct job *j)
{
	struct json_writer w;
	const struct trace *t = j->trace;

	cli_json_begin(j->c, &w, &t, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	json_w_kv_cstr(&w, "kernel", t->meta.kernel);
	json_w_kv_cstr(&w, "arch", t->meta.arch);
	occupancy_json(&j->occupancy, &w);
	json_w_key(&w, "limits");
	limits_json(&j->limits, &w);
	json_w_end(&w);
	return cli_json_end(j->c, &w);
}

/* --- tables --------------------------------------------------------------------------------- */

static uint32_t shown(const struct job *j, uint32_t n)
{
	uint64_t top = cli_top(j->c);

	if (j->c->use_csv && !cli_has(j->c, "top"))
		return n;
	return top < n ? (uint32_t)top : n;
}

static void put_stats_cells(const struct job *j, struct table *t, const struct occupancy_stats *s)
{
	table_u64(t, s->starts);
	table_u64(t, s->ends);
	table_u64(t, s->peak);
	table_double(t,
		j->occupancy.span_cyc ? (double)s->wave_cyc / (double)j->occupancy.span_cyc : 0, 1);
	table_pct(t, s->busy_cyc, j->occupancy.span_cyc);
	table_u64(t, s->wave_cyc);
}

#define STATS_COLUMNS                                                                              \
	{"starts", "starts", CELL_RIGHT, false}, {"ends", "ends", CELL_RIGHT, false},              \
		{"peak", "peak_waves", CELL_RIGHT, false},                                         \
		{"mean", "mean_waves", CELL_RIGHT, false},                                         \
		{"busy %", "busy_pct", CELL_RIGHT, false},                                         \
	{                                                                                          \
		"wave-cycles", "wave_cycles", CELL_RIGHT, false                                    \
	}

static bool finish_table(struct job *j, struct table *t, uint32_t n, uint32_t of)
{
	bool ok = table_print(t, j->c);

	table_deinit(t);
	if (!j->c->use_csv && n < of)
		fprintf(j->c->out, "%u of %u shown (--top all shows every one)\n", n, of);
	return ok;
}

static bool print_ses(struct job *j)
{
	static const struct table_column columns[] = {{"SE", "se", CELL_RIGHT, false},
		STATS_COLUMNS, {"CUs", "cus", CELL_RIGHT, false},
		{"per SIMD", "peak_waves_per_simd", CELL_RIGHT, false},
		{"on target CU", "target_cu_starts", CELL_RIGHT, false}};
	const struct occupancy *o = &j->occupancy;
	struct table t;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < o->n_ses; i++) {
		table_u64(&t, o->ses[i].se);
		put_stats_cells(j, &t, &o->ses[i].stats);
		table_u64(&t, o->ses[i].n_cus);
		table_u64(&t, o->ses[i].peak_per_simd);
		table_u64(&t, o->ses[i].target_cu_starts);
	}
	return finish_table(j, &t, o->n_ses, o->n_ses);
}

/* A bar of at most 20 cells, in eighths. */
static const char *bar(char buf[64], uint64_t part, uint64_t whole)
{
	static const char *const eighths[] = {"", "\xe2\x96\x8f", "\xe2\x96\x8e", "\xe2\x96\x8d",
		"\xe2\x96\x8c", "\xe2\x96\x8b", "\xe2\x96\x8a", "\xe2\x96\x89"};
	unsigned n = whole ? (unsigned)((double)part / (double)whole * 160 + 0.5) : 0;

	buf[0] = 0;
	for (; n >= 8; n -= 8)
		strcat(buf, "\xe2\x96\x88");
	return strcat(buf, eighths[n]);
}

static bool print_cus(struct job *j)
{
	static const struct table_column columns[] = {{"SE", "se", CELL_RIGHT, false},
		{"CU", "cu", CELL_RIGHT, false}, STATS_COLUMNS,
		{"per SIMD", "peak_waves_per_simd", CELL_RIGHT, false},
		{"share of the busiest", "share_of_busiest_pct", CELL_LEFT, false}};
	const struct occupancy *o = &j->occupancy;
	uint32_t n = shown(j, o->n_cus);
	uint64_t most = 0;
	struct table t;
	char buf[64];

	for (uint32_t i = 0; i < o->n_cus; i++)
		most = o->cus[i].stats.wave_cyc > most ? o->cus[i].stats.wave_cyc : most;
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < n; i++) {
		const struct occupancy_cu *x = &o->cus[i];

		table_u64(&t, x->se);
		table_u64(&t, x->cu);
		put_stats_cells(j, &t, &x->stats);
		table_u64(&t, x->peak_per_simd);
		if (j->c->use_csv)
			table_pct(&t, x->stats.wave_cyc, most);
		else
			table_cstr(&t, bar(buf, x->stats.wave_cyc, most));
	}
	return finish_table(j, &t, n, o->n_cus);
}

static bool print_simds(struct job *j)
{
	static const struct table_column columns[] = {{"SE", "se", CELL_RIGHT, false},
		{"CU", "cu", CELL_RIGHT, false}, {"SIMD", "simd", CELL_RIGHT, false},
		STATS_COLUMNS};
	const struct occupancy *o = &j->occupancy;
	uint32_t n = shown(j, o->n_simds);
	struct table t;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < n; i++) {
		table_u64(&t, o->simds[i].se);
		table_u64(&t, o->simds[i].cu);
		table_u64(&t, o->simds[i].simd);
		put_stats_cells(j, &t, &o->simds[i].stats);
	}
	return finish_table(j, &t, n, o->n_simds);
}

static bool print_kernels(struct job *j)
{
	static const struct table_column columns[] = {{"ids", "ids", CELL_RIGHT, false},
		{"used", "ids_used", CELL_RIGHT, false}, STATS_COLUMNS,
		{"kernel", "kernel", CELL_LEFT, true}};
	const struct occupancy *o = &j->occupancy;
	uint32_t n_used = 0, n;
	struct table t;

	while (n_used < o->n_kernels && o->kernels[n_used].stats.events > 0)
		n_used++; /* names alone are in --json */
	n = shown(j, n_used);
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < n; i++) {
		table_u64(&t, o->kernels[i].n_ids);
		table_u64(&t, o->kernels[i].n_used);
		put_stats_cells(j, &t, &o->kernels[i].stats);
		table_cstr(&t, o->kernels[i].name);
	}
	return finish_table(j, &t, n, n_used);
}

/* Columns of the time table: from, to, microseconds, all waves, then one per SE. */
static unsigned time_columns(const struct job *j, struct table_column *v, char names[][48])
{
	const struct occupancy *o = &j->occupancy;
	unsigned n = 0, n_ses = o->n_ses < MAX_SE_COLUMNS ? o->n_ses : MAX_SE_COLUMNS;

	v[n++] = (struct table_column){"from", "from_cycles", CELL_RIGHT, false};
	v[n++] = (struct table_column){"to", "to_cycles", CELL_RIGHT, false};
	v[n++] = (struct table_column){"us", "from_us", CELL_RIGHT, false};
	v[n++] = (struct table_column){"waves", "mean_waves", CELL_RIGHT, false};
	for (unsigned i = 0; i < n_ses; i++) {
		snprintf(names[i], 24, "SE %u", o->ses[i].se);
		snprintf(names[i] + 24, 24, "se%u_mean_waves", o->ses[i].se);
		v[n++] = (struct table_column){names[i], names[i] + 24, CELL_RIGHT, false};
	}
	return n;
}

static bool print_times(struct job *j)
{
	const struct occupancy *o = &j->occupancy;
	struct table_column columns[4 + MAX_SE_COLUMNS];
	char names[MAX_SE_COLUMNS][48];
	unsigned n_columns = time_columns(j, columns, names);
	double mhz = trace_clock_mhz(j->trace);
	uint32_t n = o->span_cyc ? shown(j, o->n_bins) : 0;
	struct table t;

	table_init(&t, columns, n_columns);
	for (uint32_t i = 0; i < n; i++) {
		int64_t from, to;
		double cyc;

		occupancy_bin(o, i, &from, &to);
		cyc = to > from ? (double)(to - from) : 1;
		table_i64(&t, from - o->all.first_cyc);
		table_i64(&t, to - o->all.first_cyc);
		if (mhz > 0)
			table_double(&t, (double)(from - o->all.first_cyc) / mhz, 3);
		else
			table_cstr(&t, "-");
		table_double(&t, (double)o->bin_wave_cyc[i] / cyc, 1);
		for (unsigned s = 0; s + 4 < n_columns; s++)
			table_double(
				&t, (double)o->bin_se_wave_cyc[(size_t)s * o->n_bins + i] / cyc, 1);
	}
	return finish_table(j, &t, n, o->span_cyc ? o->n_bins : 0);
}

/* What newer captures say of each dispatch they saw. */
static bool print_dispatches(struct job *j)
{
	static const struct table_column columns[] = {{"SE", "se", CELL_RIGHT, false},
		{"cycle", "cycle", CELL_RIGHT, false}, {"id", "kernel_id", CELL_RIGHT, false},
		{"VGPRs", "vgprs", CELL_RIGHT, false}, {"SGPRs", "sgprs", CELL_RIGHT, false},
		{"LDS", "lds_bytes", CELL_RIGHT, false},
		{"dispatch of", "kernel", CELL_LEFT, true}};
	const struct trace *tr = j->trace;
	uint32_t n = 0, n_all = 0;
	struct table t;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < tr->n_dispatch_events; i++) {
		const struct dispatch_event *d = &tr->dispatch_events[i];
		const int64_t sizes[] = {d->vgprs, d->sgprs, d->lds_bytes};

		if (!d->is_dispatch || n_all++ >= shown(j, UINT32_MAX))
			continue;
		n++;
		table_u64(&t, d->clock < tr->n_clocks ? tr->clocks[d->clock].id : 0);
		table_i64(
			&t, trace_aligned(tr, d->clock, d->time_cyc) - j->occupancy.all.first_cyc);
		table_u64(&t, d->kernel_id);
		for (unsigned k = 0; k < 3; k++) {
			if (sizes[k] == NO_VALUE)
				table_cstr(&t, "-");
			else
				table_i64(&t, sizes[k]);
		}
		table_cstr(&t, d->kernel_name ? d->kernel_name : "-");
	}
	if (n_all == 0) {
		table_deinit(&t);
		return true;
	}
	fputc('\n', j->c->out);
	return finish_table(j, &t, n, n_all);
}

static bool print_table(struct job *j)
{
	if (is_by(j, "cu"))
		return print_cus(j);
	if (is_by(j, "simd"))
		return print_simds(j);
	if (is_by(j, "kernel"))
		return print_kernels(j);
	return is_by(j, "time") ? print_times(j) : print_ses(j);
}

/* --- text ----------------------------------------------------------------------------------- */

static const char *const levels[] = {" ", "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
	"\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88"};

/* Waves over time: one column a bin, PLOT_ROWS lines, eighths of a line. */
static void print_plot(struct job *j)
{
	const struct occupancy *o = &j->occupancy;
	uint32_t n = o->n_bins < 100 ? o->n_bins : 100;
	char a[32];

	if (o->span_cyc < n || o->all.peak == 0 || o->n_bins > 100)
		return;
	fputc('\n', j->c->out);
	for (int row = PLOT_ROWS - 1; row >= 0; row--) {
		fprintf(j->c->out, "%10s |", row == PLOT_ROWS - 1 ? fmt_u64(a, o->all.peak) : "");
		for (uint32_t i = 0; i < n; i++) {
			int64_t from, to;
			int level;

			occupancy_bin(o, i, &from, &to);
			level = (int)((double)o->bin_wave_cyc[i] / (double)(to - from) /
						(double)o->all.peak * PLOT_ROWS * 8 +
					0.5) -
				row * 8;
			fputs(levels[level < 0 ? 0 : level > 8 ? 8 : level], j->c->out);
		}
		fputs("|\n", j->c->out);
	}
	fprintf(j->c->out, "%10s 0%*s\n", "waves", (int)n, fmt_u64(a, o->span_cyc));
}

/* One line per SE: a cell per CU, as high as its share of the busiest CU. */
static void print_balance(struct job *j)
{
	const struct occupancy *o = &j->occupancy;
	uint64_t most = 0;
	uint32_t last_cu = 0, at = 0;

	for (uint32_t i = 0; i < o->n_cus; i++) {
		most = o->cus[i].stats.wave_cyc > most ? o->cus[i].stats.wave_cyc : most;
		last_cu = o->cus[i].cu > last_cu ? o->cus[i].cu : last_cu;
	}
	if (most == 0 || last_cu >= MAX_STRIP_CUS)
		return;
	fprintf(j->c->out, "\nwave-cycles by CU (0 to %u), busiest %.2f times the mean\n", last_cu,
		occupancy_cu_balance(o));
	for (uint32_t s = 0; s < o->n_ses; s++) {
		fprintf(j->c->out, "%8s%2u |", "SE", o->ses[s].se);
		for (uint32_t cu = 0; cu <= last_cu; cu++) {
			const struct occupancy_cu *x = at < o->n_cus ? &o->cus[at] : NULL;
			unsigned level = 0;

			if (x && x->se == o->ses[s].se && x->cu == cu) {
				level = 1 +
					(unsigned)((double)x->stats.wave_cyc / (double)most * 7);
				at++;
			}
			fputs(level ? levels[level] : "\xc2\xb7", j->c->out);
		}
		fputs("|\n", j->c->out);
	}
}

static bool print_limit(struct job *j)
{
	const struct limits *l = &j->limits;
	struct strbuf sb = {0};
	FILE *out = j->c->out;
	bool ok;

	ok = limits_put_sentence(l, &sb);
	if (ok)
		fprintf(out, "limit       %s", strncmp(sb.p, "limited to ", 11) ? sb.p : sb.p + 11);
	if (l->is_known && j->occupancy.peak_per_simd > l->predicted)
		fprintf(out, "; yet %" PRIu64 " were observed", j->occupancy.peak_per_simd);
	fputc('\n', out);
	sb_reset(&sb);
	if (limits_put_next_step(l, &sb)) {
		struct str rest = {sb.p, sb.n}, part;
		const char *label = "next step";

		while (str_cut(&rest, "; ", &part)) {
			fprintf(out, "%-10s  %.*s\n", label, STR_ARG(part));
			label = "";
		}
	}
	if (l->is_assumed && l->assumed)
		fprintf(out, "machine     %s figures of %s (%s) assumed\n",
			!strcmp(l->machine_source, "mixed") ? "some" : "all", l->assumed->arch,
			l->assumed->product);
	ok = ok && !sb.failed;
	sb_free(&sb);
	return ok || err_nomem(&j->c->error);
}

static bool print_head(struct job *j)
{
	const struct occupancy *o = &j->occupancy;
	const struct trace_launch *l = &j->trace->meta.launch;
	struct strbuf sb = {0};
	FILE *out = j->c->out;
	char a[32], b[32];

	fprintf(out, "%s  %s", j->trace->meta.kernel ? j->trace->meta.kernel : "(no name)",
		j->trace->meta.arch ? j->trace->meta.arch : "");
	if (l->launch_index != NO_VALUE && l->launch_count != NO_VALUE)
		fprintf(out, "  launch %" PRId64 " of %" PRId64 " of kernel id %" PRId64,
			l->launch_index, l->launch_count, l->kernel_id);
	fputc('\n', out);
	if (!occupancy_put_coverage(o, &sb)) {
		sb_free(&sb);
		return err_nomem(&j->c->error);
	}
	fprintf(out, "%s\n", sb.p);
	sb_free(&sb);
	if (o->all.events == 0 && o->all.wave_cyc == 0) {
		fputs("\nno wave was resident: nothing was traced, or nothing is selected\n", out);
		return print_limit(j);
	}
	fprintf(out, "\nresident    peak %s wave%s, mean %.1f, at most %" PRIu64 " on a SIMD\n",
		fmt_u64(a, o->all.peak), plural(o->all.peak), occupancy_mean(o), o->peak_per_simd);
	fprintf(out, "below half  %.1f %% of the span has fewer than half the peak\n",
		100.0 * occupancy_below_half(o));
	fprintf(out,
		"launch      %s wave%s, %.1f per 1,000 cycles; tail (last start to last end) %s "
		"cycle%s\n",
		fmt_u64(a, o->all.starts), plural(o->all.starts), occupancy_launch_rate(o),
		fmt_u64(b, o->tail_cyc), plural(o->tail_cyc));
	return print_limit(j);
}

static void print_explain(FILE *out)
{
	fputs("\nEvery start and end of a wave on the traced SEs is one step; at equal times ends "
	      "come first.\nSE clocks are aligned before they are pooled. The limit is the least "
	      "of "
	      "what the hardware, the\nregisters in the listing (upper bounds of ranges), the LDS "
	      "and the grid allow per SIMD.\nProducers may report half the registers; the listing "
	      "is the witness.\n",
		out);
}

static bool print_text(struct job *j)
{
	if (!print_head(j))
		return false;
	if (is_by(j, "se")) {
		print_plot(j);
		print_balance(j);
	}
	fputc('\n', j->c->out);
	if (!print_table(j) || (is_by(j, "kernel") && !print_dispatches(j)))
		return false;
	if (cli_flag(j->c, "explain"))
		print_explain(j->c->out);
	fprintf(j->c->out, "%s, %u note%s\n", evidence_name(j->trace->meta.evidence), j->c->n_notes,
		plural(j->c->n_notes));
	return true;
}

static bool answer(struct job *j)
{
	struct cli *c = j->c;
	const char *series = cli_text(c, "series");
	struct occupancy_options o = {.selection = &j->selection,
		.n_bins = (uint32_t)cli_count(c, "bins"),
		.series = strcmp(series, "cu") == 0	? SERIES_CU
			  : strcmp(series, "simd") == 0 ? SERIES_SIMD
							: SERIES_SE};

	if (!cli_open_trace(c, c->args[0], IMPORT_OCCUPANCY | IMPORT_SIDE_FILES, &j->trace) ||
		!cli_selection(c, j->trace, &j->selection))
		return false;
	if (trace_has_pipes(j->trace))
		return pipes_page_occupancy(c, j->trace, &j->selection);
	if (!occupancy_compute(&j->occupancy, j->trace, &o, &c->error))
		return false;
	limits_compute(j->trace, &j->limits);
	warn(j);
	if (c->use_json)
		return print_json(j);
	return c->use_csv ? print_table(j) : print_text(j);
}

static int run(struct cli *c)
{
	struct job j = {.c = c, .by = cli_text(c, "by")};
	int status = check_request(c) && answer(&j) ? INCORE_OK : cli_fail(c);

	occupancy_deinit(&j.occupancy);
	selection_deinit(&j.selection);
	trace_free(j.trace);
	return status;
}

const struct verb verb_occupancy = {
	.name = "occupancy",
	.args = "PATH",
	.summary = "how full the machine was, and what keeps it from more",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
