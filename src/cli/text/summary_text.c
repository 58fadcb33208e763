/* SPDX-License-Identifier: Apache-2.0 */
/* summary_text.c: the page of `incore summary`, section by section; no figure is made here. */
#include "cli/text/summary_text.h"

#include "cli/text/summary_page.h"

static void print_provenance(struct page *p)
{
	const struct trace_meta *m = &p->s->provenance;
	const struct trace_launch *l = &m->launch;
	const char *product = m->machine.product;
	struct strbuf b = {0};

	sb_printf(&b, "%s on %s%s%s%s, %s", m->kernel ? m->kernel : "(unnamed kernel)",
		m->arch ? m->arch : "unknown target", product ? " (" : "", product ? product : "",
		product ? ")" : "", evidence_text(p->trace, (char[EVIDENCE_TEXT]){0}));
	if (l->dispatch != NO_VALUE)
		sb_printf(&b, ", dispatch %lld", (long long)l->dispatch);
	if (l->launch_index != NO_VALUE && l->launch_count != NO_VALUE)
		sb_printf(&b, ", launch %lld of %lld", (long long)l->launch_index,
			(long long)l->launch_count);
	page_wrap(p, "kernel     ", page_text(p, &b));
	sb_free(&b);
	page_line(p, "capture    ", "%s", m->origin);
	if (p->trace->n_tracks && !trace_is_timeline(p->trace))
		page_line(p, "coverage   ", "%s", p->s->coverage);
}

static void print_health(struct page *p)
{
	page_title(p, "Health");
	page_line(p, "  ", "%s", p->s->health_line);
	page_findings(p, p->s->health.findings);
}

static void print_other_simds(struct page *p)
{
	const struct hidden_line *lost = &p->s->hidden.lost;

	if (lost->other_simd != NO_U64)
		page_line(p, "  ",
			"Of the %s lost cycles %s passed while a SIMD without detail issued.",
			U64_TEXT(lost->total), U64_TEXT(lost->other_simd));
}

static void put_bucket(struct table *t, const char *name, const struct hidden_line *h, uint64_t all)
{
	TABLE_ROW(t, CELL_TEXT(name), CELL_COUNT(h->total), CELL_PERCENT(h->total, all),
		CELL_COUNT(h->hidden), CELL_COUNT(h->exposed), CELL_PERCENT(h->exposed, all));
}

static bool print_accounting(struct page *p)
{
	const struct summary_answer *s = p->s;
	const struct viewer_pie *v = &s->viewer_pie;
	const uint64_t *st = s->states.cyc;
	uint64_t pie = v->idle + v->stall + v->issue, all = s->accounting.duration;
	uint64_t states = st[STATE_IDLE] + st[STATE_EXEC] + st[STATE_WAIT] + st[STATE_STALL];
	uint64_t issue = s->accounting.bucket.issue;
	struct table t;

	page_title(p, "Where the cycles went");
	table_titles(&t, "  bucket<|cycles|%|hidden|exposed|exposed %");
	TABLE_ROW(&t, CELL_TEXT("  issue"), CELL_COUNT(issue), CELL_PERCENT(issue, all),
		CELL_TEXT("-"), CELL_TEXT("-"), CELL_TEXT("-"));
	put_bucket(&t, "  stall", &s->hidden.stall, all);
	put_bucket(&t, "  wait", &s->hidden.wait, all);
	put_bucket(&t, "  idle", &s->hidden.idle, all);
	put_bucket(&t, "  drain", &s->hidden.drain, all);
	if (!table_finish(&t, p->c))
		return false;
	if (trace_is_sampled(p->trace)) {
		const bool is_nvidia = p->trace->meta.vendor == VENDOR_NVIDIA;

		page_line(p, "  ",
			"%s cycles of all %s together, by samples x %s. Hidden: another %s issued "
			"meanwhile.",
			U64_TEXT(all), is_nvidia ? "SMs" : "compute units",
			U64_TEXT(p->trace->sampling.period_cyc),
			is_nvidia ? "warp of the scheduler" : "wave of the SIMD");
		return true;
	}
	page_line(p, "  ",
		"sum of wave lifetimes %s cycles, residue %lld. Hidden: another wave of the "
		"SIMD issued meanwhile.",
		U64_TEXT(all), (long long)s->residue);
	print_other_simds(p);
	if (p->trace->meta.vendor == VENDOR_AMD)
		page_line(p, "  ",
			"The vendor's viewer shows idle %.1f, stall %.1f, issue %.1f %% of the recorded "
			"columns (drain as issue, waits as stall).",
			page_percent(v->idle, pie), page_percent(v->stall, pie),
			page_percent(v->issue, pie));
	if (states)
		page_line(p, "  ",
			"Hardware states: EXEC %.1f, WAIT %.1f, STALL %.1f, IDLE %.1f %%.",
			page_percent(st[STATE_EXEC], states), page_percent(st[STATE_WAIT], states),
			page_percent(st[STATE_STALL], states),
			page_percent(st[STATE_IDLE], states));
	return true;
}

static void print_utilization(struct page *p)
{
	const uint64_t *u = p->s->utilization.cyc;
	const struct matrix *m = &p->s->matrix.m;
	struct strbuf b = {0};

	if (!u[PIPE_RESIDENT])
		return;
	sb_puts(&b, "Issue per pipe, of the time a SIMD had waves:");
	for (unsigned k = 0; k < PIPE_ANY; k++)
		if (u[k])
			sb_printf(&b, " %s %.1f,", pipe_name(k),
				page_percent(u[k], u[PIPE_RESIDENT]));
	sb_printf(&b, " nothing %.1f %%.",
		page_percent(u[PIPE_RESIDENT] - u[PIPE_ANY], u[PIPE_RESIDENT]));
	if (m->static_rows)
		sb_printf(&b, " Matrix pipe busy %.1f %% (modelled).",
			page_percent(m->modelled_cyc, m->resident_cyc));
	page_wrap(p, "  ", page_text(p, &b));
	sb_free(&b);
}

static bool print_causes(struct page *p)
{
	const struct summary_cause *v = p->s->causes.v;
	const struct family_row *f = p->s->families.v;
	uint64_t shown = 0, all = p->s->accounting.duration;
	struct strbuf b = {0};
	struct table t;

	page_title(p, "Why they were lost");
	for (size_t i = 0; i < p->s->families.n; i++)
		if (f[i].sums.exposed)
			sb_printf(&b, "%s%s %.1f", b.n ? ", " : "", f[i].family,
				page_percent(f[i].sums.exposed, all));
	page_line(p, "  ", "exposed by family: %s %% of %s cycles", page_text(p, &b),
		trace_is_sampled(p->trace) ? "sampled" : "wave");
	sb_free(&b);
	table_titles(&t, "  cause<|family<|cycles|%|exposed|%|times");
	for (size_t i = 0; i < p->s->causes.n && shown < p->s->top; i++) {
		char name[96];

		if (v[i].exposed == NO_U64 || !v[i].cycles)
			continue;
		shown++;
		snprintf(name, sizeof(name), "  %s", v[i].cause);
		TABLE_ROW(&t, CELL_TEXT(name), CELL_TEXT(v[i].family), CELL_COUNT(v[i].cycles),
			CELL_PERCENT(v[i].cycles, all), CELL_COUNT(v[i].exposed),
			CELL_PERCENT(v[i].exposed, all), CELL_COUNT(v[i].hits));
	}
	return table_finish(&t, p->c);
}

static bool print_sampled_edges(struct page *p)
{
	const struct summary_producers *k = &p->s->producers;
	const struct edge_row *v = k->edges.v;
	struct table t;

	page_title(p, "What was waited for (by the scoreboards of the code)");
	table_titles(&t, "  producer~|row|wait row|samples|exposed|cycles|wait~");
	for (size_t i = 0; i < k->edges.n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "  %.*s", (int)sizeof(name) - 3, v[i].producer_isa);
		TABLE_ROW(&t, CELL_START(name, PAGE_TEXT_MAX), CELL_NAME(v[i].producer),
			CELL_NAME(v[i].wait), CELL_COUNT(v[i].count), CELL_COUNT(v[i].blocked),
			CELL_COUNT(v[i].cycles), CELL_START(v[i].wait_isa, PAGE_TEXT_MAX));
	}
	if (!table_finish(&t, p->c))
		return false;
	page_line(p, "  ",
		"%s of %s samples of waits are exposed; of %s several instructions may be waited "
		"for, of %s none is known.",
		U64_TEXT(k->sums.waits.blocked), U64_TEXT(k->sums.waits.executed),
		U64_TEXT(k->sums.waits.group), U64_TEXT(k->sums.waits.unresolved));
	return true;
}

static bool print_edges(struct page *p)
{
	const struct summary_producers *k = &p->s->producers;
	const struct edge_row *v = k->edges.v;
	struct table t;

	if (!p->s->has_edges)
		return true;
	if (trace_is_sampled(p->trace))
		return print_sampled_edges(p);
	page_title(p, "What was waited for (latency from issue to release, in cycles)");
	table_titles(&t, "  producer~|row|wait row|waits|blocked|cycles|median|p95");
	for (size_t i = 0; i < k->edges.n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "  %.*s", (int)sizeof(name) - 3, v[i].producer_isa);
		TABLE_ROW(&t, CELL_START(name, PAGE_TEXT_MAX), CELL_NAME(v[i].producer),
			CELL_NAME(v[i].wait), CELL_COUNT(v[i].count), CELL_COUNT(v[i].blocked),
			CELL_COUNT(v[i].cycles),
			CELL_COUNT(v[i].latency ? v[i].latency->median : 0),
			CELL_COUNT(v[i].latency ? v[i].latency->p95 : 0));
	}
	if (!table_finish(&t, p->c))
		return false;
	page_line(p, "  ",
		"%s of %s counter waits blocked; the others were free: they cost their "
		"floor, no loss to chase.",
		U64_TEXT(k->sums.waits.blocked), U64_TEXT(k->sums.waits.executed));
	return true;
}

/* Without a timeline: what the producer states, or samples. */
static bool print_stated_rows(struct page *p)
{
	const struct summary_line *v = p->s->rows.v;
	bool is_sampled = p->s->has_samples;
	struct table t;

	page_title(p, is_sampled ? "Top instructions by stalled samples"
				 : "Top instructions by stall, as the producer states it");
	table_titles(&t, is_sampled ? "  row|stalled|%|samples|instruction<"
				    : "  row|stall|%|latency|instruction<");
	for (size_t i = 0; i < p->s->rows.n; i++)
		TABLE_ROW(&t, CELL_NAME(v[i].at->row), CELL_COUNT(v[i].lost),
			CELL_PERCENT(v[i].lost, p->s->lost), CELL_COUNT(v[i].cycles),
			CELL_START(v[i].at->isa, PAGE_TEXT_MAX));
	return table_finish(&t, p->c);
}

static bool print_rows(struct page *p)
{
	const struct summary_line *v = p->s->rows.v;
	struct table t;

	page_title(p, "Top instructions by exposed lost cycles");
	table_titles(&t, "  row|exposed|%|hits|per hit|cause<|instruction<");
	for (size_t i = 0; i < p->s->rows.n; i++)
		TABLE_ROW(&t, CELL_NAME(v[i].at->row), CELL_COUNT(v[i].exposed),
			CELL_PERCENT(v[i].exposed, p->s->accounting.duration), CELL_COUNT(v[i].hit),
			CELL_DOUBLE(v[i].hit ? (double)v[i].cycles / (double)v[i].hit : 0, 1),
			CELL_TEXT(v[i].cause ? v[i].cause : ""),
			CELL_START(v[i].at->isa, PAGE_TEXT_MAX));
	return table_finish(&t, p->c);
}

static bool print_lines(struct page *p)
{
	const struct summary_line *v = p->s->lines.v;
	struct table t;

	page_title(p, "Top source lines (an instruction counts for its innermost line)");
	table_titles(&t, "  exposed|%|cycles|cause of its costliest row<|line~");
	for (size_t i = 0; i < p->s->lines.n; i++)
		TABLE_ROW(&t, CELL_COUNT(v[i].exposed),
			CELL_PERCENT(v[i].exposed, p->s->accounting.duration),
			CELL_COUNT(v[i].cycles), CELL_TEXT(v[i].cause ? v[i].cause : ""),
			CELL_END(v[i].line, 44));
	return table_finish(&t, p->c);
}

/* Regions by latency, largest first: the list is in the order of addresses. */
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

static bool print_regions(struct page *p)
{
	uint64_t all = p->s->viewer_pie.stall + p->s->viewer_pie.issue, below = UINT64_MAX;
	const struct region *r = NULL;
	struct table t;

	if (!p->s->regions.n)
		return true;
	page_title(p, p->s->has_source
			      ? "Regions of the code (most of it is mapped to one source line)"
			      : "Regions of the code (there is no source)");
	table_titles(&t, "  latency|%|stall|rows|region~");
	for (uint64_t n = 0; n < p->s->top && (r = next_region(p->s->regions, below, r)); n++) {
		struct strbuf b = {0};

		below = r->totals.latency;
		region_put_label(r, &b);
		TABLE_ROW(&t, CELL_COUNT(r->totals.latency), CELL_PERCENT(r->totals.latency, all),
			CELL_COUNT(r->totals.stall), CELL_COUNT(r->n_executed),
			CELL_TEXT(page_text(p, &b)));
		sb_free(&b);
	}
	return table_finish(&t, p->c);
}

static bool print_code(struct page *p)
{
	if (p->trace->n_tracks == 0 && !trace_is_sampled(p->trace))
		return print_stated_rows(p);
	return print_rows(p) && (!p->s->has_source || print_lines(p)) && print_regions(p);
}

static void print_loops(struct page *p)
{
	const struct loop_row *v = p->s->loops.v;

	if (!p->s->loops.n)
		return;
	page_title(p, "Loops");
	for (size_t i = 0; i < p->s->loops.n && i < p->s->top; i++) {
		const struct loop_stats *x = &v[i].s;
		long long row = (long long)v[i].place.header_row;

		if (!x->iterations) {
			page_line(p, "  ", "at row %lld: reached by %llu wave%s, never repeated",
				row, (unsigned long long)x->waves, plural(x->waves));
			continue;
		}
		page_line(p, "  ",
			"at row %lld: %llu iteration%s in %llu wave%s, cycles each min %s, "
			"median %s, max %s; issue %.1f, wait %.1f, stall %.1f, idle %.1f %%",
			row, (unsigned long long)x->iterations, plural(x->iterations),
			(unsigned long long)x->waves, plural(x->waves), U64_TEXT(x->min_cyc),
			U64_TEXT(x->median_cyc), U64_TEXT(x->max_cyc),
			page_percent(x->all.bucket[BUCKET_ISSUE], x->all.cyc),
			page_percent(x->all.bucket[BUCKET_WAIT], x->all.cyc),
			page_percent(x->all.bucket[BUCKET_STALL], x->all.cyc),
			page_percent(x->all.bucket[BUCKET_IDLE], x->all.cyc));
	}
}

static void print_waves(struct page *p)
{
	const struct cluster_row *v = p->s->clusters.v;
	const struct duration_stats *d = &p->s->duration;

	page_title(p, "Waves");
	page_line(p, "  ", "duration min %s, median %s, max %s cycles; standard deviation %.1f %%",
		U64_TEXT(d->min), U64_TEXT(d->median), U64_TEXT(d->max),
		d->mean > 0 ? 100 * d->deviation / d->mean : 0);
	for (size_t i = 0; i < p->s->clusters.n && i < p->s->top; i++) {
		const struct cluster *k = &v[i].k;

		page_line(p, "  ",
			"%u wave%s executed %u row%s: %.1f %% of latency, median %s, "
			"%u loop count%s",
			k->n_waves, plural(k->n_waves), k->n_rows, plural(k->n_rows),
			isfinite(v[i].share) ? v[i].share : 0, COUNTED(k->median_dur, "cycle"),
			k->n_variants, plural(k->n_variants));
	}
}

static void print_barriers(struct page *p)
{
	const struct barriers *b = &p->s->barriers.b;

	if (b->meetings)
		page_line(p, "  ",
			"barriers: %s of waves (inferred), arrival skew median %s, max "
			"%s cycles",
			COUNTED(b->meetings, "meeting"), U64_TEXT(b->skew_cyc.median),
			U64_TEXT(b->skew_cyc.max));
}

static void print_occupancy(struct page *p)
{
	const struct summary_occupancy *o = &p->s->occupancy;
	const struct summary_clocks *k = &p->s->clocks;

	page_title(p, "Occupancy and clocks");
	page_line(p, "  ", "observed peak %llu wave%s per SIMD; %s",
		(unsigned long long)o->peak_per_simd, plural(o->peak_per_simd),
		*o->limits.sentence ? o->limits.sentence : "limit not known");
	if (o->limits.next_step)
		page_line(p, "  ", "next step: %s", o->limits.next_step);
	page_line(p, "  ",
		"waves in all: peak %llu, mean %.1f, below half the peak for %.1f %% of the "
		"span; tail %.1f %%",
		(unsigned long long)o->peak, o->mean, 100 * o->below_half_peak,
		page_percent(o->tail, o->span));
	if (k->clock_mhz > 0)
		page_line(p, "  ",
			"clock %.1f MHz (%s); microseconds of a traced run are no benchmark",
			k->clock_mhz, k->source ? k->source : "stated");
}

/* What the health check only notes: the edges of what this capture can show. */
static void print_limits(struct page *p)
{
	const struct finding_row *v = p->s->health.findings.v;
	bool has_title = false;

	for (size_t i = 0; i < p->s->health.findings.n; i++) {
		if (v[i].level != SEVERITY_INFO)
			continue;
		if (!has_title)
			page_title(p, "Limits of this capture");
		has_title = true;
		page_line(p, "  - ", "%s: %s", v[i].id, v[i].message);
	}
}

static void print_explanation(struct page *p)
{
	const struct bound *b = &p->s->bound.b;

	page_title(p, "How the verdict is made");
	page_line(p, "  ",
		"The family of causes with most exposed lost cycles, as a share of the sum of "
		"all wave lifetimes. Exposed: no other wave of the SIMD issued. Two families "
		"closer than the noise floor are mixed; the floor is %.1f %% of lifetimes (%s). "
		"An unusable capture gets no verdict.",
		100 * b->noise, b->n_repeats ? "measured on repeats" : "assumed: no repeat");
}

/* Nothing is known of its lanes but when they had a slice. */
static void print_lanes(struct page *p)
{
	const struct accounting *a = &p->s->accounting;

	page_title(p, "Where the time went");
	page_line(p, "  ",
		"%s of %s: %s in slices (%.1f %%), %s between them; nested slices lie in lanes of "
		"their own",
		COUNTED(p->s->instructions, "slice"), COUNTED(p->s->waves, "lane"),
		COUNTED(a->bucket.issue, "cycle"), page_percent(a->bucket.issue, a->duration),
		U64_TEXT(a->bucket.idle));
	page_line(p, "  ", "incore hot tells them by name, incore waves by lane");
}

bool summary_print(struct cli *c, const struct summary_answer *s, const struct trace *t)
{
	struct page p = {.c = c, .s = s, .trace = t, .out = c->out};
	bool has_cycles = s->accounting.duration;

	page_wrap(&p, "", s->verdict);
	fputc('\n', p.out);
	print_provenance(&p);
	print_health(&p);
	if (trace_is_timeline(t)) {
		print_lanes(&p);
		return !p.is_failed || err_nomem(&c->error);
	}
	if (has_cycles) {
		if (!print_accounting(&p))
			return false;
		print_utilization(&p);
		if (!print_causes(&p) || !print_edges(&p))
			return false;
	}
	if (s->has_rows && !print_code(&p))
		return false;
	if (has_cycles && !trace_is_sampled(t)) {
		print_loops(&p);
		print_waves(&p);
		print_barriers(&p);
		print_occupancy(&p);
	}
	page_advice(&p, p.s->advice);
	print_limits(&p);
	if (cli_flag(c, "explain"))
		print_explanation(&p);
	return !p.is_failed || err_nomem(&c->error);
}
