/* SPDX-License-Identifier: Apache-2.0 */
/* summary_text.c: the page of `incore summary`, section by section; no figure is made here. */
#include "cli/text/summary_text.h"

#include "cli/text/summary_page.h"

#define COLUMNS(c) (c), sizeof(c) / sizeof((c)[0])

static void print_provenance(struct page *p)
{
	const struct trace_meta *m = &p->s->trace->meta;
	const struct trace_launch *l = &m->launch;
	struct strbuf b = {0};

	sb_printf(&b, "%s on %s%s%s%s, %s", m->kernel ? m->kernel : "(unnamed kernel)",
		m->arch ? m->arch : "unknown target", m->machine.product ? " (" : "",
		m->machine.product ? m->machine.product : "", m->machine.product ? ")" : "",
		evidence_text(p->s->trace, (char[EVIDENCE_TEXT]){0}));
	if (l->dispatch != NO_VALUE)
		sb_printf(&b, ", dispatch %lld", (long long)l->dispatch);
	if (l->launch_index != NO_VALUE && l->launch_count != NO_VALUE)
		sb_printf(&b, ", launch %lld of %lld", (long long)l->launch_index,
			(long long)l->launch_count);
	page_wrap(p, "kernel     ", page_text(p, &b));
	sb_free(&b);
	page_line(p, "capture    ", "%s", m->origin);
	if (p->s->trace->n_tracks)
		page_line(p, "coverage   ", "%s", p->s->coverage);
}

static void print_health(struct page *p)
{
	const struct check *k = p->s->check;

	page_title(p, "Health");
	page_line(p, "  ", "%s", p->s->health);
	for (uint32_t i = 0; i < k->n_findings; i++) {
		const struct finding *f = &k->findings[i];

		if (f->severity == SEVERITY_INFO)
			continue;
		page_line(p, "  - ", "%s: %s; %s", f->id, f->message, f->advice ? f->advice : "");
	}
}

static void print_other_simds(struct page *p)
{
	struct hidden_sum lost = hidden_lost(p->s->hidden);
	char a[32], b[32];

	if (p->s->hidden->others)
		page_line(p, "  ",
			"Of the %s lost cycles %s passed while a SIMD without detail issued.",
			fmt_u64(a, lost.cyc), fmt_u64(b, lost.other_simd_cyc));
}

static bool print_accounting(struct page *p)
{
	static const struct table_column columns[] = {
		{"  bucket", NULL, CELL_LEFT, false},
		{"cycles", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"hidden", NULL, CELL_RIGHT, false},
		{"exposed", NULL, CELL_RIGHT, false},
		{"exposed %", NULL, CELL_RIGHT, false},
	};
	const struct summary *s = p->s;
	const struct code_totals *t = &s->hot->all.totals;
	const uint64_t *st = s->waves->states->all.cyc;
	uint64_t pie = t->idle + t->latency;
	uint64_t states = st[STATE_IDLE] + st[STATE_EXEC] + st[STATE_WAIT] + st[STATE_STALL];
	struct table tb;
	char a[32];

	page_title(p, "Where the cycles went");
	table_init(&tb, COLUMNS(columns));
	for (unsigned b = 0; b < BUCKET_COUNT; b++) {
		const struct hidden_sum *h = &s->hidden->bucket[b];
		char name[24];

		snprintf(name, sizeof(name), "  %s", bucket_name(b));
		table_cstr(&tb, name);
		table_u64(&tb, h->cyc);
		table_pct(&tb, h->cyc, s->duration_cyc);
		if (b == BUCKET_ISSUE) {
			table_cstr(&tb, "-");
			table_cstr(&tb, "-");
			table_cstr(&tb, "-");
			continue;
		}
		table_u64(&tb, h->hidden_cyc);
		table_u64(&tb, h->cyc - h->hidden_cyc);
		table_pct(&tb, h->cyc - h->hidden_cyc, s->duration_cyc);
	}
	if (!page_finish(p, &tb))
		return false;
	page_line(p, "  ",
		"sum of wave lifetimes %s cycles, residue %lld. Hidden: another wave of the "
		"SIMD issued meanwhile.",
		fmt_u64(a, s->duration_cyc), (long long)s->causes->residue_cyc);
	print_other_simds(p);
	page_line(p, "  ",
		"The vendor's viewer shows idle %.1f, stall %.1f, issue %.1f %% of the recorded "
		"columns (drain as issue, waits as stall).",
		page_percent(t->idle, pie), page_percent(t->stall, pie),
		page_percent(t->latency - t->stall, pie));
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
	const uint64_t *u = p->s->utilization->cyc;
	const struct matrix *m = p->s->matrix;
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
	static const struct table_column columns[] = {
		{"  cause", NULL, CELL_LEFT, false},
		{"family", NULL, CELL_LEFT, false},
		{"cycles", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"exposed", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"times", NULL, CELL_RIGHT, false},
	};
	const struct causes *k = p->s->causes;
	struct table t;
	struct strbuf b = {0};
	uint64_t shown = 0;

	page_title(p, "Why they were lost");
	for (unsigned f = FAMILY_USEFUL + 1; f < FAMILY_COUNT; f++) {
		uint64_t x = k->family[f].cyc - k->family[f].hidden_cyc;

		if (x)
			sb_printf(&b, "%s%s %.1f", b.n ? ", " : "", family_name(f),
				page_percent(x, p->s->duration_cyc));
	}
	page_line(p, "  ", "exposed by family: %s %% of wave cycles", page_text(p, &b));
	sb_free(&b);
	table_init(&t, COLUMNS(columns));
	for (uint32_t i = 0; i < k->n && shown < p->top; i++) {
		const struct cause *x = &k->v[i];
		char name[96];

		if (x->kind == CAUSE_ISSUE || !x->cyc)
			continue;
		shown++;
		snprintf(name, sizeof(name), "  %s", x->name);
		table_cstr(&t, name);
		table_cstr(&t, family_name(x->family));
		table_u64(&t, x->cyc);
		table_pct(&t, x->cyc, p->s->duration_cyc);
		table_u64(&t, x->cyc - x->hidden_cyc);
		table_pct(&t, x->cyc - x->hidden_cyc, p->s->duration_cyc);
		table_u64(&t, x->hits);
	}
	return page_finish(p, &t);
}

static bool print_edges(struct page *p)
{
	static const struct table_column columns[] = {
		{"  producer", NULL, CELL_LEFT, false},
		{"row", NULL, CELL_RIGHT, false},
		{"wait row", NULL, CELL_RIGHT, false},
		{"waits", NULL, CELL_RIGHT, false},
		{"blocked", NULL, CELL_RIGHT, false},
		{"cycles", NULL, CELL_RIGHT, false},
		{"median", NULL, CELL_RIGHT, false},
		{"p95", NULL, CELL_RIGHT, false},
	};
	const struct producers *k = p->s->producers;
	struct table t;
	char a[32], b[32];

	if (!k->edges.n)
		return true;
	page_title(p, "What was waited for (latency from issue to release, in cycles)");
	table_init(&t, COLUMNS(columns));
	for (size_t i = 0; i < k->edges.n && i < p->top; i++) {
		const struct producer_edge *x = &k->edges.v[i];
		const struct code_row *r = &p->s->trace->code[x->producer];
		char name[64];

		snprintf(name, sizeof(name), "  %.*s", (int)sizeof(name) - 3, r->text);
		page_put_clipped(&t, name, PAGE_TEXT_MAX);
		page_put_row_number(&t, r->number);
		page_put_row_number(&t, p->s->trace->code[x->wait].number);
		table_u64(&t, x->count);
		table_u64(&t, x->n_blocked);
		table_u64(&t, x->stall_cyc + x->shared_cyc);
		table_u64(&t, x->latency.median);
		table_u64(&t, x->latency.p95);
	}
	if (!page_finish(p, &t))
		return false;
	page_line(p, "  ",
		"%s of %s counter waits blocked; the others were free: they cost their "
		"floor, no loss to chase.",
		fmt_u64(a, k->n_blocked), fmt_u64(b, k->n_waits));
	return true;
}

/* Without a timeline: what the producer states, or samples. */
static bool print_stated_rows(struct page *p)
{
	static const struct table_column sampled[] = {
		{"  row", NULL, CELL_RIGHT, false},
		{"stalled", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"samples", NULL, CELL_RIGHT, false},
		{"instruction", NULL, CELL_LEFT, false},
	};
	static const struct table_column stated[] = {
		{"  row", NULL, CELL_RIGHT, false},
		{"stall", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"latency", NULL, CELL_RIGHT, false},
		{"instruction", NULL, CELL_LEFT, false},
	};
	const struct summary *s = p->s;
	uint64_t all = 0;
	struct table t;

	for (uint32_t i = 0; i < s->n_rows; i++)
		all += s->rows[i].lost_cyc;
	page_title(p, s->trace->samples ? "Top instructions by stalled samples"
					: "Top instructions by stall, as the producer states it");
	table_init(&t, s->trace->samples ? sampled : stated, 5);
	for (uint32_t i = 0; i < s->n_rows && i < p->top; i++) {
		const struct summary_row *r = &s->rows[i];

		page_put_row_number(&t, s->trace->code[r->code].number);
		table_u64(&t, r->lost_cyc);
		table_pct(&t, r->lost_cyc, all);
		table_u64(&t, r->cycles);
		page_put_clipped(&t, s->trace->code[r->code].text, PAGE_TEXT_MAX);
	}
	return page_finish(p, &t);
}

static bool print_rows(struct page *p)
{
	static const struct table_column columns[] = {
		{"  row", NULL, CELL_RIGHT, false},
		{"exposed", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"hits", NULL, CELL_RIGHT, false},
		{"per hit", NULL, CELL_RIGHT, false},
		{"cause", NULL, CELL_LEFT, false},
		{"instruction", NULL, CELL_LEFT, false},
	};
	const struct summary *s = p->s;
	struct table t;

	page_title(p, "Top instructions by exposed lost cycles");
	table_init(&t, COLUMNS(columns));
	for (uint32_t i = 0; i < s->n_rows && i < p->top; i++) {
		const struct summary_row *r = &s->rows[i];
		const struct cause_cell *x = causes_main_of_row(s->causes, r->code);

		page_put_row_number(&t, s->trace->code[r->code].number);
		table_u64(&t, r->exposed_cyc);
		table_pct(&t, r->exposed_cyc, s->duration_cyc);
		table_u64(&t, r->hits);
		table_double(&t, r->hits ? (double)r->cycles / (double)r->hits : 0, 1);
		table_cstr(&t, x ? s->causes->v[x->cause].name : "");
		page_put_clipped(&t, s->trace->code[r->code].text, PAGE_TEXT_MAX);
	}
	return page_finish(p, &t);
}

static bool print_lines(struct page *p)
{
	static const struct table_column columns[] = {
		{"  exposed", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"cycles", NULL, CELL_RIGHT, false},
		{"cause of its costliest row", NULL, CELL_LEFT, false},
		{"line", NULL, CELL_LEFT, true},
	};
	const struct summary *s = p->s;
	struct table t;

	page_title(p, "Top source lines (an instruction counts for its innermost line)");
	table_init(&t, COLUMNS(columns));
	for (uint32_t i = 0; i < s->n_line_rows && i < p->top; i++) {
		const struct summary_row *r = &s->line_rows[i];
		const struct cause_cell *x = causes_main_of_row(s->causes, r->code);
		struct strbuf b = {0};

		table_u64(&t, r->exposed_cyc);
		table_pct(&t, r->exposed_cyc, s->duration_cyc);
		table_u64(&t, r->cycles);
		table_cstr(&t, x ? s->causes->v[x->cause].name : "");
		source_line_put(&s->lines, &s->lines.lines[r->line], &b);
		page_put_tail(&t, str_of(page_text(p, &b)), 44);
		sb_free(&b);
	}
	return page_finish(p, &t);
}

/* Regions by latency, largest first, without sorting what others own. */
static uint32_t next_region(const struct summary *s, uint64_t below, uint32_t after)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < s->n_regions; i++) {
		uint64_t x = s->regions[i].totals.latency;

		if (x == 0 || x > below || (x == below && i <= after))
			continue;
		if (best == UINT32_MAX || x > s->regions[best].totals.latency)
			best = i;
	}
	return best;
}

static bool print_regions(struct page *p)
{
	static const struct table_column columns[] = {
		{"  latency", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"stall", NULL, CELL_RIGHT, false},
		{"rows", NULL, CELL_RIGHT, false},
		{"region", NULL, CELL_LEFT, true},
	};
	const struct summary *s = p->s;
	uint64_t all = s->hot->all.totals.latency, below = UINT64_MAX;
	uint32_t i = UINT32_MAX;
	struct table t;

	if (!s->n_regions)
		return true;
	page_title(p, s->lines.collapse == COLLAPSE_NO_SOURCE
			      ? "Regions of the code (there is no source)"
			      : "Regions of the code (most of it is mapped to one source line)");
	table_init(&t, COLUMNS(columns));
	for (uint64_t n = 0; n < p->top && (i = next_region(s, below, i)) != UINT32_MAX; n++) {
		const struct region *r = &s->regions[i];
		struct strbuf b = {0};

		below = r->totals.latency;
		region_put_label(r, &b);
		table_u64(&t, r->totals.latency);
		table_pct(&t, r->totals.latency, all);
		table_u64(&t, r->totals.stall);
		table_u64(&t, r->n_executed);
		table_cstr(&t, page_text(p, &b));
		sb_free(&b);
	}
	return page_finish(p, &t);
}

static bool print_code(struct page *p)
{
	const struct summary *s = p->s;

	if (s->trace->n_tracks == 0)
		return print_stated_rows(p);
	return print_rows(p) && (s->lines.collapse == COLLAPSE_NO_SOURCE || print_lines(p)) &&
	       print_regions(p);
}

static void print_loops(struct page *p)
{
	const struct loops *l = p->s->loops;
	const struct cfg *g = &p->s->cfg;
	char a[32], b[32], m[32];

	if (!l->n)
		return;
	page_title(p, "Loops");
	for (uint32_t i = 0; i < l->n && i < p->top; i++) {
		const struct loop_stats *x = &l->v[i];
		long long row =
			(long long)p->s->trace->code[cfg_block_first(g, g->loops[x->loop].header)]
				.number;

		if (!x->iterations) {
			page_line(p, "  ", "at row %lld: reached by %llu wave%s, never repeated",
				row, (unsigned long long)x->waves, plural(x->waves));
			continue;
		}
		page_line(p, "  ",
			"at row %lld: %llu iteration%s in %llu wave%s, cycles each min %s, "
			"median %s, max %s; issue %.1f, wait %.1f, stall %.1f, idle %.1f %%",
			row, (unsigned long long)x->iterations, plural(x->iterations),
			(unsigned long long)x->waves, plural(x->waves), fmt_u64(a, x->min_cyc),
			fmt_u64(m, x->median_cyc), fmt_u64(b, x->max_cyc),
			page_percent(x->all.bucket[BUCKET_ISSUE], x->all.cyc),
			page_percent(x->all.bucket[BUCKET_WAIT], x->all.cyc),
			page_percent(x->all.bucket[BUCKET_STALL], x->all.cyc),
			page_percent(x->all.bucket[BUCKET_IDLE], x->all.cyc));
	}
}

static void print_waves(struct page *p)
{
	const struct clusters *k = p->s->waves->clusters;
	const struct duration_stats *d = &p->s->waves->duration;
	char a[32], b[32], m[32];

	page_title(p, "Waves");
	page_line(p, "  ", "duration min %s, median %s, max %s cycles; standard deviation %.1f %%",
		fmt_u64(a, d->min), fmt_u64(m, d->median), fmt_u64(b, d->max),
		d->mean > 0 ? 100 * d->deviation / d->mean : 0);
	for (uint32_t i = 0; i < k->n && i < p->top; i++)
		page_line(p, "  ",
			"%u wave%s executed %u row%s: %.1f %% of latency, median %s cycle%s, "
			"%u loop count%s",
			k->v[i].n_waves, plural(k->v[i].n_waves), k->v[i].n_rows,
			plural(k->v[i].n_rows), page_percent(k->v[i].latency, k->latency),
			fmt_u64(a, k->v[i].median_dur), plural(k->v[i].median_dur),
			k->v[i].n_variants, plural(k->v[i].n_variants));
}

static void print_barriers(struct page *p)
{
	const struct barriers *b = p->s->waves->barriers;
	char x[32], y[32], z[32];

	if (b->meetings)
		page_line(p, "  ",
			"barriers: %s meeting%s of waves (inferred), arrival skew median %s, max "
			"%s cycles",
			fmt_u64(x, b->meetings), plural(b->meetings),
			fmt_u64(y, b->skew_cyc.median), fmt_u64(z, b->skew_cyc.max));
}

static void print_occupancy(struct page *p)
{
	const struct occupancy *o = &p->s->occupancy;
	struct strbuf b = {0};

	page_title(p, "Occupancy and clocks");
	limits_put_sentence(&p->s->limits, &b);
	page_line(p, "  ", "observed peak %llu wave%s per SIMD; %s",
		(unsigned long long)o->peak_per_simd, plural(o->peak_per_simd),
		b.n ? page_text(p, &b) : "limit not known");
	sb_reset(&b);
	limits_put_next_step(&p->s->limits, &b);
	if (b.n || b.failed)
		page_line(p, "  ", "next step: %s", page_text(p, &b));
	sb_free(&b);
	page_line(p, "  ",
		"waves in all: peak %llu, mean %.1f, below half the peak for %.1f %% of the "
		"span; tail %.1f %%",
		(unsigned long long)o->all.peak, occupancy_mean(o), 100 * occupancy_below_half(o),
		page_percent(o->tail_cyc, o->span_cyc));
	if (trace_clock_mhz(p->s->trace) > 0)
		page_line(p, "  ",
			"clock %.1f MHz (%s); microseconds of a traced run are no benchmark",
			trace_clock_mhz(p->s->trace),
			p->s->trace->meta.clock_source ? p->s->trace->meta.clock_source : "stated");
}

static void print_advice(struct page *p)
{
	const struct summary *s = p->s;

	if (!s->n_advice)
		return;
	page_title(p, "What to try (by exposed cycles; no promise of speed)");
	for (uint32_t i = 0; i < s->n_advice; i++) {
		const struct advice *a = &s->advice[i];
		struct strbuf b = {0};

		summary_put_place(s, a->code, &b);
		page_line(p, "  * ", "%s, %s: %s", s->causes->v[a->cause].name, page_text(p, &b),
			a->evidence);
		page_line(p, "    try ", "%s", a->experiment);
		page_line(p, "    see ", "%s", a->prediction);
		sb_free(&b);
	}
}

/* What the health check only notes: the edges of what this capture can show. */
static void print_limits(struct page *p)
{
	const struct check *k = p->s->check;
	bool has_title = false;

	for (uint32_t i = 0; i < k->n_findings; i++) {
		const struct finding *f = &k->findings[i];

		if (f->severity != SEVERITY_INFO)
			continue;
		if (!has_title)
			page_title(p, "Limits of this capture");
		has_title = true;
		page_line(p, "  - ", "%s: %s", f->id, f->message);
	}
}

static void print_explanation(struct page *p)
{
	const struct bound *b = &p->s->bound;

	page_title(p, "How the verdict is made");
	page_line(p, "  ",
		"The family of causes with most exposed lost cycles, as a share of the sum of "
		"all wave lifetimes. Exposed: no other wave of the SIMD issued. Two families "
		"closer than the noise floor are mixed; the floor is %.1f %% of lifetimes (%s). "
		"An unusable capture gets no verdict.",
		100 * b->noise, b->n_repeats ? "measured on repeats" : "assumed: no repeat");
}

bool summary_print(struct cli *c, const struct summary *s, uint64_t top)
{
	struct page p = {.c = c, .s = s, .top = top, .out = c->out};

	page_wrap(&p, "", s->sentence);
	fputc('\n', p.out);
	print_provenance(&p);
	print_health(&p);
	if (s->duration_cyc) {
		if (!print_accounting(&p))
			return false;
		print_utilization(&p);
		if (!print_causes(&p) || !print_edges(&p))
			return false;
	}
	if (s->n_rows && !print_code(&p))
		return false;
	if (s->duration_cyc) {
		print_loops(&p);
		print_waves(&p);
		print_barriers(&p);
		print_occupancy(&p);
	}
	print_advice(&p);
	print_limits(&p);
	if (cli_flag(c, "explain"))
		print_explanation(&p);
	return !p.is_failed || err_nomem(&c->error);
}
