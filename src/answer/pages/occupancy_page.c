/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy_page.c: how full the machine was, as a plot and tables. */
#include <inttypes.h>

#include "analysis/producer_tables.h"
#include "answer/occupancy.h"
#include "answer/pages.h"
#include "answer/pages/pipes_page.h"
#include "answer/pages/tables_page.h"

#define PLOT_ROWS 5
#define MAX_SE_COLUMNS 32
#define MAX_STRIP_CUS 64

/* --- tables --------------------------------------------------------------------------------- */

static void put_shown(struct page *p, size_t n, size_t of)
{
	if (!p->is_csv && n < of)
		page_line(p, "%zu of %zu shown (--top all shows every one)", n, of);
}

/* Shows the first rows of a list, as many as requested. */
static void occupancy_page_put_rows(struct page *p, const struct occupancy_answer *a,
	const struct record *r, struct rows rows, const char *const *columns)
{
	size_t n = a->top < rows.n ? (size_t)a->top : rows.n;

	page_main_records(p, r, (struct rows){rows.v, n}, columns);
	put_shown(p, n, rows.n);
}

#define STATS "starts", "ends", "peak_waves", "mean", "busy_pct", "wave_cycles"

static void occupancy_page_put_kernels(struct page *p, const struct occupancy_answer *a)
{
	static const char *const columns[] = {"ids", "ids_used", STATS, "name", NULL};
	const struct kernel_line *v = a->kernels.v;
	struct rows used = {v, 0};

	while (used.n < a->kernels.n && v[used.n].stats.s.events > 0)
		used.n++; /* kernels with only a name are in --json */
	occupancy_page_put_rows(p, a, &kernel_line_record, used, columns);
}

/* Columns: from, to, microseconds, all waves, then one per SE. */
static struct table *time_table(const struct occupancy_answer *a, struct page *p)
{
	const struct se_line *ses = a->ses.v;
	struct strbuf b = {0};
	struct table *t;

	sb_puts(&b, "from=from_cycles|to=to_cycles|us=from_us|waves=mean_waves");
	for (size_t i = 0; i < a->ses.n && i < MAX_SE_COLUMNS; i++)
		sb_printf(&b, "|SE %u=se%u_mean_waves", ses[i].u.se, ses[i].u.se);
	t = page_table(p, b.p ? b.p : "");
	t->is_failed |= b.failed;
	sb_free(&b);
	return t;
}

static void put_times(struct page *p, const struct occupancy_answer *a)
{
	const struct series_line *v = a->series.v;
	double mhz = a->coverage.clock_mhz;
	size_t n = a->top < a->series.n ? (size_t)a->top : a->series.n;
	struct table *t = time_table(a, p);

	for (size_t i = 0; i < n; i++) {
		const double *by_se = v[i].by_se.v;

		table_i64(t, v[i].from);
		table_i64(t, v[i].to);
		if (mhz > 0)
			table_double(t, (double)v[i].from / mhz, 3);
		else
			table_cstr(t, "-");
		table_double(t, v[i].mean_waves, 1);
		for (unsigned s = 0; s + 4 < t->n_columns; s++)
			table_double(t, by_se[s], 1);
	}
	put_shown(p, n, a->series.n);
}

/* Each dispatch, for newer captures, which record them. */
static void occupancy_page_put_dispatches(struct page *p, const struct occupancy_answer *a)
{
	static const char *const columns[] = {
		"se", "since", "kernel_id", "vgprs", "sgprs", "lds_bytes", "name", NULL};

	if (!a->dispatches.n)
		return;
	page_gap(p);
	occupancy_page_put_rows(p, a, &dispatch_record, a->dispatches, columns);
}

static void occupancy_page_put_table(struct page *p, const struct occupancy_answer *a)
{
	static const char *const ses[] = {
		"se", STATS, "cus", "peak_per_simd", "target_cu_starts", NULL};
	static const char *const cus[] = {"se", "cu", STATS, "peak_per_simd", "busiest_pct", NULL};
	static const char *const simds[] = {"se", "cu", "simd", STATS, NULL};

	switch (a->by) {
	case BY_CU:
		occupancy_page_put_rows(p, a, &cu_record, a->cus, cus);
		break;
	case BY_SIMD:
		occupancy_page_put_rows(p, a, &simd_record, a->simds, simds);
		break;
	case BY_KERNEL:
		occupancy_page_put_kernels(p, a);
		break;
	case BY_TIME:
		put_times(p, a);
		break;
	default: /* SEs are few: all are shown */
		page_main_records(p, &se_record, a->ses, ses);
	}
}

/* --- text ----------------------------------------------------------------------------------- */

static const char *const levels[] = {" ", "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
	"\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88"};

/* Frees b. */
static void put_drawing(struct page *p, struct strbuf *b)
{
	p->is_failed |= b->failed;
	page_listing(p, b->p ? b->p : "");
	sb_free(b);
}

/* Plots waves over time: one column per bin, PLOT_ROWS lines, in eighths of a line. */
static void put_plot(struct page *p, const struct occupancy_answer *a)
{
	const struct series_line *v = a->series.v;
	uint64_t peak = a->all.stats.s.peak;
	size_t n = a->series.n;
	struct strbuf b = {0};

	if (!n || n > 100 || a->all.span < n || peak == 0)
		return;
	page_gap(p);
	for (int row = PLOT_ROWS - 1; row >= 0; row--) {
		sb_printf(&b, "%10s |", row == PLOT_ROWS - 1 ? U64_TEXT(peak) : "");
		for (size_t i = 0; i < n; i++) {
			int level = (int)(v[i].mean_waves / (double)peak * PLOT_ROWS * 8 + 0.5) -
				    row * 8;

			sb_puts(&b, levels[level < 0 ? 0 : level > 8 ? 8 : level]);
		}
		sb_puts(&b, "|\n");
	}
	sb_printf(&b, "%10s 0%*s\n", "waves", (int)n, U64_TEXT(a->all.span));
	put_drawing(p, &b);
}

/* One line per SE: a cell per CU, as high as its share of the busiest CU. */
static void put_balance(struct page *p, const struct occupancy_answer *a)
{
	const struct se_line *ses = a->ses.v;
	const struct cu_line *cus = a->cus.v;
	uint64_t most = 0;
	uint32_t last_cu = 0;
	size_t at = 0;
	struct strbuf b = {0};

	for (size_t i = 0; i < a->cus.n; i++) {
		most = cus[i].u.stats.wave_cyc > most ? cus[i].u.stats.wave_cyc : most;
		last_cu = cus[i].u.cu > last_cu ? cus[i].u.cu : last_cu;
	}
	if (most == 0 || last_cu >= MAX_STRIP_CUS)
		return;
	page_gap(p);
	page_line(p, "wave-cycles by CU (0 to %u), busiest %.2f times the mean", last_cu,
		a->all.cu_balance);
	for (size_t s = 0; s < a->ses.n; s++) {
		sb_printf(&b, "%8s%2u |", "SE", ses[s].u.se);
		for (uint32_t cu = 0; cu <= last_cu; cu++) {
			const struct occupancy_cu *x = at < a->cus.n ? &cus[at].u : NULL;
			unsigned level = 0;

			if (x && x->se == ses[s].u.se && x->cu == cu) {
				level = 1 +
					(unsigned)((double)x->stats.wave_cyc / (double)most * 7);
				at++;
			}
			sb_puts(&b, level ? levels[level] : "\xc2\xb7");
		}
		sb_puts(&b, "|\n");
	}
	put_drawing(p, &b);
}

static void put_limit(struct page *p, const struct occupancy_answer *a)
{
	const struct limits_part *x = &a->limits;
	struct str rest = str_of(x->next_step ? x->next_step : ""), part;
	const char *head = "next step   ";

	page_say(p, "%s", x->sentence + (strncmp(x->sentence, "limited to ", 11) ? 0 : 11));
	if (x->l.is_known && a->all.peak_per_simd > x->l.predicted)
		page_say(p, "; yet %" PRIu64 " were observed", a->all.peak_per_simd);
	page_fact(p, "limit       ", "%s", "");
	while (x->next_step && str_cut(&rest, "; ", &part)) {
		page_fact(p, head, "%.*s", STR_ARG(part));
		head = "            ";
	}
	if (x->assumed_target)
		page_fact(p, "machine     ", "%s figures of %s (%s) assumed",
			!strcmp(x->l.machine_source, "mixed") ? "some" : "all", x->assumed_target,
			x->assumed_product);
}

static void put_resident(struct page *p, const struct occupancy_all *all)
{
	const struct occupancy_stats *s = &all->stats.s;

	page_gap(p);
	page_fact(p, "resident    ", "peak %s wave%s, mean %.1f, at most %" PRIu64 " on a SIMD",
		U64_TEXT(s->peak), plural(s->peak), all->mean_waves, all->peak_per_simd);
	page_fact(p, "below half  ", "%.1f %% of the span has fewer than half the peak",
		100.0 * all->below_half_peak_share);
	page_fact(p, "launch      ",
		"%s, %.1f per 1,000 cycles; tail (from the first end that no start follows) "
		"%s cycle%s",
		COUNTED(s->starts, "wave"), all->starts_per_kilocycle, U64_TEXT(all->tail),
		plural(all->tail));
}

static void occupancy_page_put_head(struct page *p, const struct occupancy_answer *a)
{
	const struct trace_launch *l = &a->launch;
	const struct occupancy_stats *s = &a->all.stats.s;

	page_say(p, "%s  %s", a->kernel ? a->kernel : "(no name)", a->arch ? a->arch : "");
	if (l->launch_index != NO_VALUE && l->launch_count != NO_VALUE)
		page_say(p, "  launch %" PRId64 " of %" PRId64 " of kernel id %" PRId64,
			l->launch_index, l->launch_count, l->kernel_id);
	page_line(p, "%s", "");
	page_line(p, "%s", a->coverage.sentence);
	if (s->events == 0 && s->wave_cyc == 0) {
		page_gap(p);
		page_line(p, "no wave was resident: nothing was traced, or nothing is selected");
	} else
		put_resident(p, &a->all);
	put_limit(p, a);
}

static const char explanation[] =
	"\nEvery start and end of a wave on the traced SEs is one step; at equal times ends come "
	"first.\nSE clocks are aligned before they are pooled. The limit is the least of what the "
	"hardware, the\nregisters in the listing (upper bounds of ranges), the LDS and the grid allow "
	"per SIMD.\nProducers may report half the registers; the listing is the witness.\n";

static void occupancy_page_put_blocks(struct page *p, const struct blocks_part *x)
{
	const struct block_line *v = x->by.v;
	bool has_stated = false;

	for (size_t i = 0; i < x->by.n; i++) {
		has_stated |= !strcmp(v[i].source, "report");
		page_say(p, "%s%s %" PRId64 "%s", i ? ", " : "", v[i].limit, v[i].blocks,
			strcmp(v[i].source, "report") ? " (computed)" : "");
	}
	page_fact(p, "blocks/SM   ", "%s", has_stated ? "; the others are the report's" : "");
}

/* A sampling profiler follows no wave, so there are only the launch and its limits. */
static void put_of_launch(struct page *p, const struct answer *answer)
{
	const struct occupancy_answer *a = answer->data;
	const struct trace_launch *l = &a->launch;

	page_line(p, "%s  %s", a->kernel ? a->kernel : "(no name)", a->arch ? a->arch : "");
	if (l->waves > 0 && l->workgroups > 0)
		page_line(p, "%s in %s", COUNTED((uint64_t)l->waves, "warp"),
			COUNTED((uint64_t)l->workgroups, "block"));
	page_gap(p);
	put_limit(p, a);
	if (a->limits.blocks)
		occupancy_page_put_blocks(p, a->limits.blocks);
	page_line(p, "%s, %u note%s", a->evidence, answer->n_notes, plural(answer->n_notes));
}

static void put_of_waves(struct page *p, const struct answer *answer)
{
	const struct occupancy_answer *a = answer->data;
	const struct trace *t = answer->traces.v[0];

	if (p->is_csv) {
		occupancy_page_put_table(p, a);
		return;
	}
	if (vendor_row(t)->has_blocks && !t->n_tracks) {
		put_of_launch(p, answer);
		return;
	}
	occupancy_page_put_head(p, a);
	if (a->by == BY_SE) {
		put_plot(p, a);
		put_balance(p, a);
	}
	page_gap(p);
	occupancy_page_put_table(p, a);
	if (a->by == BY_KERNEL)
		occupancy_page_put_dispatches(p, a);
	if (p->explains)
		page_lines(p, explanation);
	page_line(p, "%s, %u note%s", a->evidence, answer->n_notes, plural(answer->n_notes));
}

static void put_of_pipes(struct page *p, const struct answer *answer)
{
	const struct occupancy_of_pipes *a = answer->data;
	const struct trace *t = answer->traces.v[0];
	const struct named_table *k = table_of_occupancy(t);

	if (p->is_csv) {
		put_pipe_cores(p, a->cores, a->top);
		return;
	}
	page_line(p, "%s  %s", a->kernel ? a->kernel : "(no name)", a->arch ? a->arch : "");
	page_line(p,
		"cores run one block at a time: there are no waves to fill them with; how busy each "
		"was:");
	if (a->n_pipes) {
		page_gap(p);
		put_pipe_cores(p, a->cores, a->top);
	} else {
		page_line(p, "not available for this trace: no pipe was traced");
	}
	if (k)
		put_named_table(p, k, a->top);
	page_line(p, "%s, %u note%s", evidence_text(t, (char[EVIDENCE_TEXT]){0}), answer->n_notes,
		plural(answer->n_notes));
}

void occupancy_page(const struct answer *a, struct page *p)
{
	(answer_is(a, &occupancy_of_pipes_record) ? put_of_pipes : put_of_waves)(p, a);
}
