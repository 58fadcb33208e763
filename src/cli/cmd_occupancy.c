/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_occupancy.c: incore occupancy: how full the machine was, drawn as a plot and tables. */
#include <inttypes.h>

#include "analysis/summary/tables.h"
#include "answer/occupancy.h"
#include "cli/ask.h"
#include "cli/text/pipes_text.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"
#include "cli/text/table.h"
#include "cli/text/tables_text.h"

#define PLOT_ROWS 5
#define MAX_SE_COLUMNS 32
#define MAX_STRIP_CUS 64

/* --- tables --------------------------------------------------------------------------------- */

static void draw_shown(struct cli *c, size_t n, size_t of)
{
	if (!c->use_csv && n < of)
		say(c->out, "%zu of %zu shown (--top all shows every one)\n", n, of);
}

/* The first rows of a list, as many as are asked for. */
static bool draw_rows(struct cli *c, const struct occupancy_answer *a, const struct record *r,
	struct rows rows, const char *const *columns)
{
	size_t n = a->top < rows.n ? (size_t)a->top : rows.n;

	if (!record_table_print(c, r, (struct rows){rows.v, n}, columns))
		return false;
	draw_shown(c, n, rows.n);
	return true;
}

#define STATS "starts", "ends", "peak_waves", "mean", "busy_pct", "wave_cycles"

static bool draw_kernels(struct cli *c, const struct occupancy_answer *a)
{
	static const char *const columns[] = {"ids", "ids_used", STATS, "name", NULL};
	const struct kernel_line *v = a->kernels.v;
	struct rows used = {v, 0};

	while (used.n < a->kernels.n && v[used.n].stats.s.events > 0)
		used.n++; /* names alone are in --json */
	return draw_rows(c, a, &kernel_line_record, used, columns);
}

/* From, to, microseconds, all waves, then one column per SE. */
static void time_titles(const struct occupancy_answer *a, struct table *t)
{
	const struct se_line *ses = a->ses.v;
	struct strbuf b = {0};

	sb_puts(&b, "from=from_cycles|to=to_cycles|us=from_us|waves=mean_waves");
	for (size_t i = 0; i < a->ses.n && i < MAX_SE_COLUMNS; i++)
		sb_printf(&b, "|SE %u=se%u_mean_waves", ses[i].u.se, ses[i].u.se);
	table_titles(t, b.p ? b.p : "");
	t->is_failed |= b.failed;
	sb_free(&b);
}

static bool draw_times(struct cli *c, const struct occupancy_answer *a)
{
	const struct series_line *v = a->series.v;
	double mhz = a->coverage.clock_mhz;
	size_t n = a->top < a->series.n ? (size_t)a->top : a->series.n;
	struct table t;
	bool ok;

	time_titles(a, &t);
	for (size_t i = 0; i < n; i++) {
		const double *by_se = v[i].by_se.v;

		table_i64(&t, v[i].from);
		table_i64(&t, v[i].to);
		if (mhz > 0)
			table_double(&t, (double)v[i].from / mhz, 3);
		else
			table_cstr(&t, "-");
		table_double(&t, v[i].mean_waves, 1);
		for (unsigned s = 0; s + 4 < t.n_columns; s++)
			table_double(&t, by_se[s], 1);
	}
	ok = table_finish(&t, c);
	draw_shown(c, n, a->series.n);
	return ok;
}

/* What newer captures say of each dispatch they saw. */
static bool draw_dispatches(struct cli *c, const struct occupancy_answer *a)
{
	static const char *const columns[] = {
		"se", "since", "kernel_id", "vgprs", "sgprs", "lds_bytes", "name", NULL};

	if (!a->dispatches.n)
		return true;
	fputc('\n', c->out);
	return draw_rows(c, a, &dispatch_record, a->dispatches, columns);
}

static bool draw_table(struct cli *c, const struct occupancy_answer *a)
{
	static const char *const ses[] = {
		"se", STATS, "cus", "peak_per_simd", "target_cu_starts", NULL};
	static const char *const cus[] = {"se", "cu", STATS, "peak_per_simd", "busiest_pct", NULL};
	static const char *const simds[] = {"se", "cu", "simd", STATS, NULL};

	switch (a->by) {
	case BY_CU:
		return draw_rows(c, a, &cu_record, a->cus, cus);
	case BY_SIMD:
		return draw_rows(c, a, &simd_record, a->simds, simds);
	case BY_KERNEL:
		return draw_kernels(c, a);
	case BY_TIME:
		return draw_times(c, a);
	default: /* SEs are few: all are shown */
		return record_table_print(c, &se_record, a->ses, ses);
	}
}

/* --- text ----------------------------------------------------------------------------------- */

static const char *const levels[] = {" ", "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
	"\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88"};

/* Waves over time: one column a bin, PLOT_ROWS lines, eighths of a line. */
static void draw_plot(struct cli *c, const struct occupancy_answer *a)
{
	const struct series_line *v = a->series.v;
	uint64_t peak = a->all.stats.s.peak;
	size_t n = a->series.n;

	if (!n || n > 100 || a->all.span < n || peak == 0)
		return;
	fputc('\n', c->out);
	for (int row = PLOT_ROWS - 1; row >= 0; row--) {
		say(c->out, "%10s |", row == PLOT_ROWS - 1 ? U64_TEXT(peak) : "");
		for (size_t i = 0; i < n; i++) {
			int level = (int)(v[i].mean_waves / (double)peak * PLOT_ROWS * 8 + 0.5) -
				    row * 8;

			fputs(levels[level < 0 ? 0 : level > 8 ? 8 : level], c->out);
		}
		fputs("|\n", c->out);
	}
	say(c->out, "%10s 0%*s\n", "waves", (int)n, U64_TEXT(a->all.span));
}

/* One line per SE: a cell per CU, as high as its share of the busiest CU. */
static void draw_balance(struct cli *c, const struct occupancy_answer *a)
{
	const struct se_line *ses = a->ses.v;
	const struct cu_line *cus = a->cus.v;
	uint64_t most = 0;
	uint32_t last_cu = 0;
	size_t at = 0;

	for (size_t i = 0; i < a->cus.n; i++) {
		most = cus[i].u.stats.wave_cyc > most ? cus[i].u.stats.wave_cyc : most;
		last_cu = cus[i].u.cu > last_cu ? cus[i].u.cu : last_cu;
	}
	if (most == 0 || last_cu >= MAX_STRIP_CUS)
		return;
	say(c->out, "\nwave-cycles by CU (0 to %u), busiest %.2f times the mean\n", last_cu,
		a->all.cu_balance);
	for (size_t s = 0; s < a->ses.n; s++) {
		say(c->out, "%8s%2u |", "SE", ses[s].u.se);
		for (uint32_t cu = 0; cu <= last_cu; cu++) {
			const struct occupancy_cu *x = at < a->cus.n ? &cus[at].u : NULL;
			unsigned level = 0;

			if (x && x->se == ses[s].u.se && x->cu == cu) {
				level = 1 +
					(unsigned)((double)x->stats.wave_cyc / (double)most * 7);
				at++;
			}
			fputs(level ? levels[level] : "\xc2\xb7", c->out);
		}
		fputs("|\n", c->out);
	}
}

static void draw_limit(struct cli *c, const struct occupancy_answer *a)
{
	const struct limits_part *p = &a->limits;
	struct str rest = str_of(p->next_step ? p->next_step : ""), part;
	const char *label = "next step";

	say(c->out, "limit       %s",
		p->sentence + (strncmp(p->sentence, "limited to ", 11) ? 0 : 11));
	if (p->l.is_known && a->all.peak_per_simd > p->l.predicted)
		say(c->out, "; yet %" PRIu64 " were observed", a->all.peak_per_simd);
	fputc('\n', c->out);
	while (p->next_step && str_cut(&rest, "; ", &part)) {
		say(c->out, "%-10s  %.*s\n", label, STR_ARG(part));
		label = "";
	}
	if (p->assumed_target)
		say(c->out, "machine     %s figures of %s (%s) assumed\n",
			!strcmp(p->l.machine_source, "mixed") ? "some" : "all", p->assumed_target,
			p->assumed_product);
}

static void draw_resident(struct cli *c, const struct occupancy_all *all)
{
	const struct occupancy_stats *s = &all->stats.s;

	say(c->out, "\nresident    peak %s wave%s, mean %.1f, at most %" PRIu64 " on a SIMD\n",
		U64_TEXT(s->peak), plural(s->peak), all->mean_waves, all->peak_per_simd);
	say(c->out, "below half  %.1f %% of the span has fewer than half the peak\n",
		100.0 * all->below_half_peak_share);
	say(c->out,
		"launch      %s, %.1f per 1,000 cycles; tail (last start to last end) %s "
		"cycle%s\n",
		COUNTED(s->starts, "wave"), all->starts_per_kilocycle, U64_TEXT(all->tail),
		plural(all->tail));
}

static void draw_head(struct cli *c, const struct occupancy_answer *a)
{
	const struct trace_launch *l = &a->launch;
	const struct occupancy_stats *s = &a->all.stats.s;

	say(c->out, "%s  %s", a->kernel ? a->kernel : "(no name)", a->arch ? a->arch : "");
	if (l->launch_index != NO_VALUE && l->launch_count != NO_VALUE)
		say(c->out, "  launch %" PRId64 " of %" PRId64 " of kernel id %" PRId64,
			l->launch_index, l->launch_count, l->kernel_id);
	say(c->out, "\n%s\n", a->coverage.sentence);
	if (s->events == 0 && s->wave_cyc == 0)
		fputs("\nno wave was resident: nothing was traced, or nothing is selected\n",
			c->out);
	else
		draw_resident(c, &a->all);
	draw_limit(c, a);
}

static void draw_explanation(FILE *out)
{
	fputs("\nEvery start and end of a wave on the traced SEs is one step; at equal times ends "
	      "come first.\nSE clocks are aligned before they are pooled. The limit is the least "
	      "of "
	      "what the hardware, the\nregisters in the listing (upper bounds of ranges), the LDS "
	      "and the grid allow per SIMD.\nProducers may report half the registers; the listing "
	      "is the witness.\n",
		out);
}

static void draw_blocks(struct cli *c, const struct blocks_part *p)
{
	const struct block_line *v = p->by.v;
	bool has_stated = false;

	fputs("blocks/SM  ", c->out);
	for (size_t i = 0; i < p->by.n; i++) {
		has_stated |= !strcmp(v[i].source, "report");
		say(c->out, "%s %s %" PRId64 "%s", i ? "," : "", v[i].limit, v[i].blocks,
			strcmp(v[i].source, "report") ? " (computed)" : "");
	}
	say(c->out, "%s\n", has_stated ? "; the others are the report's" : "");
}

/* A profiler that samples follows no wave: there are the launch and its limits. */
static bool draw_of_launch(struct cli *c, const struct occupancy_answer *a)
{
	const struct trace_launch *l = &a->launch;

	say(c->out, "%s  %s\n", a->kernel ? a->kernel : "(no name)", a->arch ? a->arch : "");
	if (l->waves > 0 && l->workgroups > 0)
		say(c->out, "%s in %s\n", COUNTED((uint64_t)l->waves, "warp"),
			COUNTED((uint64_t)l->workgroups, "block"));
	fputc('\n', c->out);
	draw_limit(c, a);
	if (a->limits.blocks)
		draw_blocks(c, a->limits.blocks);
	say(c->out, "%s, %u note%s\n", a->evidence, c->n_notes, plural(c->n_notes));
	return true;
}

static bool draw_of_waves(struct cli *c, const struct answer *answer)
{
	const struct occupancy_answer *a = answer->data;
	const struct trace *t = answer->traces.v[0];

	if (c->use_csv)
		return draw_table(c, a);
	if (t->meta.vendor == VENDOR_NVIDIA && !t->n_tracks)
		return draw_of_launch(c, a);
	draw_head(c, a);
	if (a->by == BY_SE) {
		draw_plot(c, a);
		draw_balance(c, a);
	}
	fputc('\n', c->out);
	if (!draw_table(c, a) || (a->by == BY_KERNEL && !draw_dispatches(c, a)))
		return false;
	if (cli_flag(c, "explain"))
		draw_explanation(c->out);
	say(c->out, "%s, %u note%s\n", a->evidence, c->n_notes, plural(c->n_notes));
	return true;
}

static bool draw_of_pipes(struct cli *c, const struct answer *answer)
{
	const struct occupancy_of_pipes *a = answer->data;
	const struct trace *t = answer->traces.v[0];
	const struct named_table *k = table_of_occupancy(t);

	if (c->use_csv)
		return pipes_print_cores(c, a->cores, a->top);
	say(c->out, "%s  %s\n", a->kernel ? a->kernel : "(no name)", a->arch ? a->arch : "");
	fputs("cores run one block at a time: there are no waves to fill them with; how busy each "
	      "was:\n",
		c->out);
	if (a->n_pipes) {
		fputc('\n', c->out);
		if (!pipes_print_cores(c, a->cores, a->top))
			return false;
	} else {
		fputs("not available for this trace: no pipe was traced\n", c->out);
	}
	if (k && !tables_print_one(c, k, a->top))
		return false;
	say(c->out, "%s, %u note%s\n", evidence_text(t, (char[EVIDENCE_TEXT]){0}), c->n_notes,
		plural(c->n_notes));
	return true;
}

static bool draw_occupancy(struct cli *c, const struct answer *a)
{
	return (answer_is(a, &occupancy_of_pipes_record) ? draw_of_pipes : draw_of_waves)(c, a);
}

extern const struct question question_occupancy;
const struct verb verb_occupancy = {
	.name = "occupancy",
	.question = &question_occupancy,
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.draw = draw_occupancy,
};
