/* SPDX-License-Identifier: Apache-2.0 */
/* summary_pipes_page.c: the page of a trace whose tracks are pipes, and what both pages share. */
#include "answer/pages/pipes_page.h"
#include "answer/pages/summary_parts_page.h"
#include "answer/pages/tables_page.h"

double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void put_finding_items(struct page *p, struct rows findings)
{
	const struct finding_row *v = findings.v;

	for (size_t i = 0; i < findings.n; i++)
		if (v[i].level != SEVERITY_INFO)
			page_item(p, "  - ", "%s: %s; %s", v[i].id, v[i].message,
				v[i].advice ? v[i].advice : "");
}

void put_advice_items(struct page *p, struct rows advice)
{
	const struct advice_row *v = advice.v;

	if (!advice.n)
		return;
	page_heading(
		p, "What to try (by exposed cycles; incore advise asks what each would bring)");
	for (size_t i = 0; i < advice.n; i++) {
		page_item(p, "  * ", "%s, %s, %s: %s", v[i].rule, v[i].cause, v[i].place,
			v[i].evidence);
		page_item(p, "    try ", "%s", v[i].experiment);
		page_item(p, "    see ", "%s", v[i].prediction);
	}
}

static void put_provenance(struct page *p, const struct summary_pipes *s, const struct trace *t)
{
	const struct trace_meta *m = &t->meta;
	double mhz = trace_clock_mhz(t);

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

void summary_pipes_page(const struct summary_pipes *s, const struct trace *t, struct page *p)
{
	put_provenance(p, s, t);
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
