/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_page.c: the one-page verdict, section by section. Divisions: pipes; waves.
 */
#include "answer/pages.h"
#include "answer/pages/pipes_page.h"
#include "answer/pages/tables_page.h"
#include "answer/verdict/summary.h"

#define SUMMARY_WIDTH 100u /* of its paragraphs, at most */
#define PAGE_TEXT_MAX 36u  /* columns of an instruction's text in a table */

/* --- pipes ------------------------------------------------------------------------------------ */

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* finding_row: errors and warnings with what to do about them, one paragraph each. */
static void put_finding_items(struct page *p, struct rows findings)
{
	const struct finding_row *v = findings.v;

	for (size_t i = 0; i < findings.n; i++)
		if (v[i].level != WEIGHT_INFO)
			page_item(p, "  - ", "%s: %s; %s", v[i].id, v[i].message,
				v[i].advice ? v[i].advice : "");
}

static void put_advice_items(struct page *p, struct rows advice)
{
	const struct advice_row *v = advice.v;

	if (!advice.n)
		return;
	page_heading(p, "What to try (incore advise says more about each)");
	for (size_t i = 0; i < advice.n; i++) {
		page_item(p, "  * ", "%s, %s, %s: %s", v[i].rule, v[i].cause, v[i].place,
			v[i].evidence);
		if (v[i].gain && !v[i].gain->does_nothing)
			page_item(p, "    saves ", "%.0f %% (%.0f to %.0f)", v[i].gain->pct,
				v[i].gain->least_pct, v[i].gain->most_pct);
		page_item(p, "    try ", "%s", v[i].experiment);
		page_item(p, "    see ", "%s", v[i].prediction);
	}
}

static void pipes_put_provenance(
	struct page *p, const struct summary_pipes *s, const struct trace *t)
{
	const struct trace_meta *m = &t->meta;
	double mhz = trace_clock_mhz(t);

	verdict_put_screen(p, &s->screen);
	page_gap(p);
	page_prose(p, "", "%s", s->verdict);
	page_fact(p, "kernel     ", "%s%s%s, %s", m->kernel ? m->kernel : "(unnamed kernel)",
		m->arch ? " on " : "", m->arch ? m->arch : "",
		evidence_text(t, (char[EVIDENCE_TEXT]){0}));
	page_fact(p, "capture    ", "%s", m->origin);
	if (mhz > 0)
		page_fact(p, "clock      ", "%.0f MHz (%s)", mhz,
			m->clock_source ? m->clock_source : "unknown source");
	page_fact(p, "health     ", "%s", s->health);
	put_finding_items(p, s->findings);
}

static void put_instructions(struct page *p, struct rows rows, const struct trace *trace)
{
	const struct hot_row *v = rows.v;
	struct table *t;

	page_heading(p, "Instructions");
	t = page_table(p, "row|cycles|%|hit|issue|wait|stall|instruction~|source~");
	for (size_t i = 0; i < rows.n; i++)
		/* What the producer states if no pipe was traced. */
		TABLE_ROW(t, CELL_NAME(v[i].row == NO_VALUE ? -1 : v[i].row),
			CELL_COUNT(trace->n_tracks ? v[i].cycles : v[i].totals.latency),
			CELL_DOUBLE(v[i].share, 1), CELL_COUNT(v[i].totals.hit),
			CELL_COUNT(v[i].buckets.issue), CELL_COUNT(v[i].buckets.wait),
			CELL_COUNT(v[i].buckets.stall), CELL_START(v[i].key, PAGE_TEXT_MAX),
			CELL_END(v[i].source ? v[i].source : "", PAGE_TEXT_MAX));
}

/* The page of a trace whose tracks are pipes. */
static void summary_pipes_page(const struct summary_pipes *s, const struct trace *t, struct page *p)
{
	pipes_put_provenance(p, s, t);
	if (s->pipes.totals.pipes) {
		page_heading(p, "Pipes");
		put_pipe_table(p, &s->pipes);
		put_pipe_overlap(p, &s->pipes);
	}
	if (s->pipes.pairs.n) {
		page_heading(p, "Waits");
		put_pipe_pairs(p, &s->pipes);
	}
	put_pipe_path(p, &s->pipes);
	if (s->has_rows)
		put_instructions(p, s->rows, t);
	put_advice_items(p, s->advice);
	put_detail_tables(p, t, s->pipes.top);
}

/* --- waves ------------------------------------------------------------------------------------ */

struct summary_sheet {
	struct page *p;
	const struct summary_answer *s;
	const struct trace *trace;
	bool is_sampled; /* cycles are samples x period */
};

static void put_provenance(struct summary_sheet *j)
{
	const struct trace_meta *m = &j->s->provenance;
	const struct trace_launch *l = &m->launch;
	const char *product = m->machine.product;

	page_say(j->p, "%s on %s%s%s%s, %s", m->kernel ? m->kernel : "(unnamed kernel)",
		m->arch ? m->arch : "unknown target", product ? " (" : "", product ? product : "",
		product ? ")" : "", evidence_text(j->trace, (char[EVIDENCE_TEXT]){0}));
	if (l->dispatch != NO_VALUE)
		page_say(j->p, ", dispatch %lld", (long long)l->dispatch);
	if (l->launch_index != NO_VALUE && l->launch_count != NO_VALUE)
		page_say(j->p, ", launch %lld of %lld", (long long)l->launch_index,
			(long long)l->launch_count);
	page_fact(j->p, "kernel     ", "%s", "");
	page_fact(j->p, "capture    ", "%s", m->origin);
	if (j->trace->n_tracks && !kind_row(j->trace)->no_code)
		page_fact(j->p, "coverage   ", "%s", j->s->coverage);
}

static void put_health(struct summary_sheet *j)
{
	page_heading(j->p, "Health");
	page_prose(j->p, "  ", "%s", j->s->health_line);
	if (j->s->repeats)
		page_prose(j->p, "  ", "%s", j->s->repeats->statement);
	put_finding_items(j->p, j->s->health.findings);
}

static void put_other_simds(struct summary_sheet *j)
{
	const struct hidden_line *lost = &j->s->hidden.lost;

	if (lost->other_simd != NO_U64)
		page_prose(j->p, "  ",
			"Of the %s lost cycles %s passed while a SIMD without detail issued.",
			U64_TEXT(lost->total), U64_TEXT(lost->other_simd));
}

static void put_bucket(struct table *t, const char *name, const struct hidden_line *h, uint64_t all)
{
	TABLE_ROW(t, CELL_TEXT(name), CELL_COUNT(h->total), CELL_PERCENT(h->total, all),
		CELL_COUNT(h->hidden), CELL_COUNT(h->exposed), CELL_PERCENT(h->exposed, all));
}

static void put_accounting(struct summary_sheet *j)
{
	const struct summary_answer *s = j->s;
	const struct viewer_pie *v = &s->viewer_pie;
	const struct vendor_row *words = vendor_row(j->trace);
	const uint64_t *st = s->states.cyc;
	uint64_t pie = v->idle + v->stall + v->issue, all = s->accounting.duration;
	uint64_t states = st[STATE_IDLE] + st[STATE_EXEC] + st[STATE_WAIT] + st[STATE_STALL];
	uint64_t issue = s->accounting.bucket.issue;
	struct table *t;

	page_heading(j->p, "Where the cycles went");
	t = page_table(j->p, "  bucket<|cycles|%|hidden|exposed|exposed %");
	TABLE_ROW(t, CELL_TEXT("  issue"), CELL_COUNT(issue), CELL_PERCENT(issue, all),
		CELL_TEXT("-"), CELL_TEXT("-"), CELL_TEXT("-"));
	put_bucket(t, "  stall", &s->hidden.stall, all);
	put_bucket(t, "  wait", &s->hidden.wait, all);
	put_bucket(t, "  idle", &s->hidden.idle, all);
	put_bucket(t, "  drain", &s->hidden.drain, all);
	if (j->is_sampled) {
		page_prose(j->p, "  ",
			"%s cycles of all %s together, by samples x %s. Hidden: another %s issued "
			"meanwhile.",
			U64_TEXT(all), words->cus, U64_TEXT(j->trace->sampling.period_cyc),
			words->competitor);
		return;
	}
	page_prose(j->p, "  ",
		"sum of wave lifetimes %s cycles, residue %lld. Hidden: another wave of the "
		"SIMD issued meanwhile.",
		U64_TEXT(all), (long long)s->residue);
	put_other_simds(j);
	if (words->has_pie)
		page_prose(j->p, "  ",
			"The vendor's viewer shows idle %.1f, stall %.1f, issue %.1f %% of the recorded "
			"columns (drain as issue, waits as stall).",
			percent_of(v->idle, pie), percent_of(v->stall, pie),
			percent_of(v->issue, pie));
	if (states)
		page_prose(j->p, "  ",
			"Hardware states: EXEC %.1f, WAIT %.1f, STALL %.1f, IDLE %.1f %%.",
			percent_of(st[STATE_EXEC], states), percent_of(st[STATE_WAIT], states),
			percent_of(st[STATE_STALL], states), percent_of(st[STATE_IDLE], states));
}

static void put_utilization(struct summary_sheet *j)
{
	const uint64_t *u = j->s->utilization.cyc;
	const struct matrix *m = &j->s->matrix.m;

	if (!u[PIPE_RESIDENT])
		return;
	page_say(j->p, "Issue per pipe, of the time a SIMD had waves:");
	for (unsigned k = 0; k < PIPE_ANY; k++)
		if (u[k])
			page_say(j->p, " %s %.1f,", pipe_name(k),
				percent_of(u[k], u[PIPE_RESIDENT]));
	page_say(j->p, " nothing %.1f %%.",
		percent_of(u[PIPE_RESIDENT] - u[PIPE_ANY], u[PIPE_RESIDENT]));
	if (m->static_rows)
		page_say(j->p, " Matrix pipe busy %.1f %% (modelled).",
			percent_of(m->modelled_cyc, m->resident_cyc));
	page_prose(j->p, "  ", "%s", "");
}

static void summary_page_put_causes(struct summary_sheet *j)
{
	const struct summary_cause *v = j->s->causes.v;
	const struct family_row *f = j->s->families.v;
	uint64_t shown = 0, all = j->s->accounting.duration;
	bool has_one = false;
	struct table *t;

	page_heading(j->p, "Why they were lost");
	page_say(j->p, "exposed by family:");
	for (size_t i = 0; i < j->s->families.n; i++)
		if (f[i].sums.exposed) {
			page_say(j->p, "%s %s %.1f", has_one ? "," : "", f[i].family,
				percent_of(f[i].sums.exposed, all));
			has_one = true;
		}
	page_prose(j->p, "  ", "%s %% of %s cycles", has_one ? "" : " ",
		kind_row(j->trace)->cycles_of);
	t = page_table(j->p, "  cause<|family<|cycles|%|exposed|%|times");
	for (size_t i = 0; i < j->s->causes.n && shown < j->s->top; i++) {
		char name[96];

		if (v[i].exposed == NO_U64 || !v[i].cycles)
			continue;
		shown++;
		snprintf(name, sizeof(name), "  %s", v[i].cause);
		TABLE_ROW(t, CELL_TEXT(name), CELL_TEXT(v[i].family), CELL_COUNT(v[i].cycles),
			CELL_PERCENT(v[i].cycles, all), CELL_COUNT(v[i].exposed),
			CELL_PERCENT(v[i].exposed, all), CELL_COUNT(v[i].hits));
	}
}

static void put_sampled_edges(struct summary_sheet *j)
{
	const struct summary_producers *k = &j->s->producers;
	const struct edge_row *v = k->edges.v;
	struct table *t;

	page_heading(j->p, "What was waited for (by the scoreboards of the code)");
	t = page_table(j->p, "  producer~|row|wait row|samples|exposed|cycles|wait~");
	for (size_t i = 0; i < k->edges.n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "  %.*s", (int)sizeof(name) - 3, v[i].producer_isa);
		TABLE_ROW(t, CELL_START(name, PAGE_TEXT_MAX), CELL_NAME(v[i].producer),
			CELL_NAME(v[i].wait), CELL_COUNT(v[i].count), CELL_COUNT(v[i].blocked),
			CELL_COUNT(v[i].cycles), CELL_START(v[i].wait_isa, PAGE_TEXT_MAX));
	}
	page_prose(j->p, "  ",
		"%s of %s samples of waits are exposed; of %s several instructions may be waited "
		"for, of %s none is known.",
		U64_TEXT(k->sums.waits.blocked), U64_TEXT(k->sums.waits.executed),
		U64_TEXT(k->sums.waits.group), U64_TEXT(k->sums.waits.unresolved));
}

static void put_edges(struct summary_sheet *j)
{
	const struct summary_producers *k = &j->s->producers;
	const struct edge_row *v = k->edges.v;
	struct table *t;

	if (!j->s->has_edges)
		return;
	if (j->is_sampled) {
		put_sampled_edges(j);
		return;
	}
	page_heading(j->p, "What was waited for (latency from issue to release, in cycles)");
	t = page_table(j->p, "  producer~|row|wait row|waits|blocked|cycles|median|p95");
	for (size_t i = 0; i < k->edges.n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "  %.*s", (int)sizeof(name) - 3, v[i].producer_isa);
		TABLE_ROW(t, CELL_START(name, PAGE_TEXT_MAX), CELL_NAME(v[i].producer),
			CELL_NAME(v[i].wait), CELL_COUNT(v[i].count), CELL_COUNT(v[i].blocked),
			CELL_COUNT(v[i].cycles),
			CELL_COUNT(v[i].latency ? v[i].latency->median : 0),
			CELL_COUNT(v[i].latency ? v[i].latency->p95 : 0));
	}
	page_prose(j->p, "  ",
		"%s of %s counter waits blocked; the others were free: they cost their "
		"floor, no loss to chase.",
		U64_TEXT(k->sums.waits.blocked), U64_TEXT(k->sums.waits.executed));
}

/* Without a timeline: what the producer states, or samples. */
static void put_stated_rows(struct summary_sheet *j)
{
	const struct summary_line *v = j->s->rows.v;
	bool is_sampled = j->s->has_samples;
	struct table *t;

	page_heading(j->p, is_sampled ? "Top instructions by stalled samples"
				      : "Top instructions by stall, as the producer states it");
	t = page_table(j->p, is_sampled ? "  row|stalled|%|samples|instruction<"
					: "  row|stall|%|latency|instruction<");
	for (size_t i = 0; i < j->s->rows.n; i++)
		TABLE_ROW(t, CELL_NAME(v[i].at->row), CELL_COUNT(v[i].lost),
			CELL_PERCENT(v[i].lost, j->s->lost), CELL_COUNT(v[i].cycles),
			CELL_START(v[i].at->isa, PAGE_TEXT_MAX));
}

static void summary_page_put_rows(struct summary_sheet *j)
{
	const struct summary_line *v = j->s->rows.v;
	struct table *t;

	page_heading(j->p, "Top instructions by exposed lost cycles");
	t = page_table(j->p, "  row|exposed|%|hits|per hit|cause<|instruction<");
	for (size_t i = 0; i < j->s->rows.n; i++)
		TABLE_ROW(t, CELL_NAME(v[i].at->row), CELL_COUNT(v[i].exposed),
			CELL_PERCENT(v[i].exposed, j->s->accounting.duration), CELL_COUNT(v[i].hit),
			CELL_DOUBLE(v[i].hit ? (double)v[i].cycles / (double)v[i].hit : 0, 1),
			CELL_TEXT(v[i].cause ? v[i].cause : ""),
			CELL_START(v[i].at->isa, PAGE_TEXT_MAX));
}

static void summary_page_put_lines(struct summary_sheet *j)
{
	const struct summary_line *v = j->s->lines.v;
	struct table *t;

	page_heading(j->p, "Top source lines (an instruction counts for its innermost line)");
	t = page_table(j->p, "  exposed|%|cycles|cause of its costliest row<|line~");
	for (size_t i = 0; i < j->s->lines.n; i++)
		TABLE_ROW(t, CELL_COUNT(v[i].exposed),
			CELL_PERCENT(v[i].exposed, j->s->accounting.duration),
			CELL_COUNT(v[i].cycles), CELL_TEXT(v[i].cause ? v[i].cause : ""),
			CELL_END(v[i].line, 44));
}

/* Next region by latency, largest first; the list is sorted by address. */
static const struct region *next_region(
	struct rows regions, uint64_t below, const struct region *after)
{
	const struct region_row *v = regions.v;
	const struct region *best = NULL;

	for (size_t i = 0; i < regions.n; i++) {
		const struct region *r = &v[i].r;
		uint64_t x = r->totals.latency;

		if (x == 0 || x > below || (x == below && after && r <= after))
			continue;
		if (!best || x > best->totals.latency)
			best = r;
	}
	return best;
}

static void put_regions(struct summary_sheet *j)
{
	uint64_t all = j->s->viewer_pie.stall + j->s->viewer_pie.issue, below = UINT64_MAX;
	const struct region *r = NULL;
	struct table *t;

	if (!j->s->regions.n)
		return;
	page_heading(j->p, j->s->has_source
				   ? "Regions of the code (most of it is mapped to one source line)"
				   : "Regions of the code (there is no source)");
	t = page_table(j->p, "  latency|%|stall|rows|region~");
	for (uint64_t n = 0; n < j->s->top && (r = next_region(j->s->regions, below, r)); n++) {
		struct strbuf b = {0};

		below = r->totals.latency;
		region_put_label(r, &b);
		TABLE_ROW(t, CELL_COUNT(r->totals.latency), CELL_PERCENT(r->totals.latency, all),
			CELL_COUNT(r->totals.stall), CELL_COUNT(r->n_executed),
			CELL_TEXT(b.p ? b.p : ""));
		j->p->is_failed |= b.failed;
		sb_free(&b);
	}
}

static void summary_page_put_code(struct summary_sheet *j)
{
	if (j->trace->n_tracks == 0 && !j->is_sampled) {
		put_stated_rows(j);
		return;
	}
	summary_page_put_rows(j);
	if (j->s->has_source)
		summary_page_put_lines(j);
	put_regions(j);
}

static void put_costs(struct summary_sheet *j)
{
	static const char *const columns[] = {
		"kind", "hit", "mean", "1?mean_stall", "median", "p99", "2?latency", NULL};
	struct rows rows = j->s->costs;

	if (!rows.n)
		return;
	rows.n = rows.n < j->s->top ? rows.n : (size_t)j->s->top;
	page_heading(j->p, "Latency of one execution, by kind of instruction");
	page_records(j->p, &cost_record, rows, columns);
}

static void put_loops(struct summary_sheet *j)
{
	const struct loop_row *v = j->s->loops.v;

	if (!j->s->loops.n)
		return;
	page_heading(j->p, "Loops");
	for (size_t i = 0; i < j->s->loops.n && i < j->s->top; i++) {
		const struct loop_stats *x = &v[i].s;
		long long row = (long long)v[i].place.header_row;

		if (!x->iterations) {
			page_prose(j->p, "  ",
				"at row %lld: reached by %llu wave%s, never repeated", row,
				(unsigned long long)x->waves, plural(x->waves));
			continue;
		}
		page_prose(j->p, "  ",
			"at row %lld: %llu iteration%s in %llu wave%s, cycles each min %s, "
			"median %s, max %s; issue %.1f, wait %.1f, stall %.1f, idle %.1f %%",
			row, (unsigned long long)x->iterations, plural(x->iterations),
			(unsigned long long)x->waves, plural(x->waves), U64_TEXT(x->min_cyc),
			U64_TEXT(x->median_cyc), U64_TEXT(x->max_cyc),
			percent_of(x->all.bucket[BUCKET_ISSUE], x->all.cyc),
			percent_of(x->all.bucket[BUCKET_WAIT], x->all.cyc),
			percent_of(x->all.bucket[BUCKET_STALL], x->all.cyc),
			percent_of(x->all.bucket[BUCKET_IDLE], x->all.cyc));
	}
}

static void put_waves(struct summary_sheet *j)
{
	const struct cluster_row *v = j->s->clusters.v;
	const struct duration_stats *d = &j->s->duration;

	page_heading(j->p, "Waves");
	page_prose(j->p, "  ",
		"duration min %s, median %s, max %s cycles; standard deviation %.1f %%",
		U64_TEXT(d->min), U64_TEXT(d->median), U64_TEXT(d->max),
		d->mean > 0 ? 100 * d->deviation / d->mean : 0);
	for (size_t i = 0; i < j->s->clusters.n && i < j->s->top; i++) {
		const struct cluster *k = &v[i].k;

		page_prose(j->p, "  ",
			"%u wave%s executed %u row%s: %.1f %% of latency, median %s, "
			"%u loop count%s",
			k->n_waves, plural(k->n_waves), k->n_rows, plural(k->n_rows),
			isfinite(v[i].share) ? v[i].share : 0, COUNTED(k->median_dur, "cycle"),
			k->n_variants, plural(k->n_variants));
	}
}

static void put_barriers(struct summary_sheet *j)
{
	const struct barriers *b = &j->s->barriers.b;

	if (b->meetings)
		page_prose(j->p, "  ",
			"barriers: %s of waves (inferred), arrival skew median %s, max "
			"%s cycles",
			COUNTED(b->meetings, "meeting"), U64_TEXT(b->skew_cyc.median),
			U64_TEXT(b->skew_cyc.max));
}

static void summary_page_put_occupancy(struct summary_sheet *j)
{
	const struct summary_occupancy *o = &j->s->occupancy;
	const struct summary_clocks *k = &j->s->clocks;

	page_heading(j->p, "Occupancy and clocks");
	page_prose(j->p, "  ", "observed peak %llu wave%s per SIMD; %s",
		(unsigned long long)o->peak_per_simd, plural(o->peak_per_simd),
		*o->limits.sentence ? o->limits.sentence : "limit not known");
	if (o->limits.next_step)
		page_prose(j->p, "  ", "next step: %s", o->limits.next_step);
	page_prose(j->p, "  ",
		"waves in all: peak %llu, mean %.1f, below half the peak for %.1f %% of the "
		"span; tail %.1f %%",
		(unsigned long long)o->peak, o->mean, 100 * o->below_half_peak,
		percent_of(o->tail, o->span));
	if (k->clock_mhz > 0)
		page_prose(j->p, "  ",
			"clock %.1f MHz (%s); microseconds of a traced run are no benchmark",
			k->clock_mhz, k->source ? k->source : "stated");
}

/* What the health check only notes: the limits of what this capture can show. */
static void put_limits(struct summary_sheet *j)
{
	const struct finding_row *v = j->s->health.findings.v;
	bool has_title = false;

	for (size_t i = 0; i < j->s->health.findings.n; i++) {
		if (v[i].level != WEIGHT_INFO)
			continue;
		if (!has_title)
			page_heading(j->p, "Limits of this capture");
		has_title = true;
		page_item(j->p, "  - ", "%s: %s", v[i].id, v[i].message);
	}
}

static void put_explanation(struct summary_sheet *j)
{
	const struct bound *b = &j->s->bound.b;

	page_heading(j->p, "How the verdict is made");
	page_prose(j->p, "  ",
		"The family of causes with most exposed lost cycles, as a share of the sum of "
		"all wave lifetimes. Exposed: no other wave of the SIMD issued. Two families "
		"closer than the noise floor are mixed; the floor is %.1f %% of lifetimes (%s). "
		"An unusable capture gets no verdict.",
		100 * b->noise, b->n_repeats ? "measured on repeats" : "assumed: no repeat");
}

/* Nothing is known about its lanes except when they had a slice. */
static void summary_page_put_lanes(struct summary_sheet *j)
{
	const struct accounting *a = &j->s->accounting;

	page_heading(j->p, "Where the time went");
	page_prose(j->p, "  ",
		"%s of %s: %s in slices (%.1f %%), %s between them; nested slices lie in lanes of "
		"their own",
		COUNTED(j->s->instructions, "slice"), COUNTED(j->s->waves, "lane"),
		COUNTED(a->bucket.issue, "cycle"), percent_of(a->bucket.issue, a->duration),
		U64_TEXT(a->bucket.idle));
	page_prose(j->p, "  ", "incore hot tells them by name, incore waves by lane");
}

static void put_sections(struct summary_sheet *j)
{
	const struct summary_answer *s = j->s;
	bool has_cycles = s->accounting.duration;

	if (has_cycles) {
		put_accounting(j);
		put_utilization(j);
		summary_page_put_causes(j);
		put_edges(j);
	}
	if (s->has_rows)
		summary_page_put_code(j);
	if (has_cycles && !j->is_sampled) {
		put_costs(j);
		put_loops(j);
		put_waves(j);
		put_barriers(j);
		summary_page_put_occupancy(j);
	}
	put_advice_items(j->p, s->advice);
	put_limits(j);
	if (j->p->explains)
		put_explanation(j);
}

void summary_page(const struct answer *a, struct page *p)
{
	struct summary_sheet j = {
		p, a->data, a->traces.v[0], trace_kind(a->traces.v[0]) == KIND_SAMPLES};

	p->prose_width = SUMMARY_WIDTH;
	p->breaks_facts = true;
	if (answer_is(a, &summary_pipes_record)) {
		summary_pipes_page(a->data, a->traces.v[0], p);
		return;
	}
	verdict_put_screen(p, &j.s->screen);
	page_gap(p);
	page_prose(p, "", "%s", j.s->verdict);
	page_gap(p);
	put_provenance(&j);
	put_health(&j);
	if (kind_row(j.trace)->no_code)
		summary_page_put_lanes(&j);
	else
		put_sections(&j);
}
