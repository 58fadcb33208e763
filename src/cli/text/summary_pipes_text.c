/* SPDX-License-Identifier: Apache-2.0 */
/* summary_pipes_text.c: the page of incore summary on a trace whose tracks are pipes. */
#include "cli/text/pipes_text.h"
#include "cli/text/summary_page.h"
#include "cli/text/summary_text.h"
#include "cli/text/tables_text.h"

static void print_provenance(struct page *p, const struct summary_pipes *s)
{
	const struct trace_meta *m = &p->trace->meta;
	double mhz = trace_clock_mhz(p->trace);

	page_wrap(p, "", s->verdict);
	page_line(p, "kernel     ", "%s%s%s, %s", m->kernel ? m->kernel : "(unnamed kernel)",
		m->arch ? " on " : "", m->arch ? m->arch : "",
		evidence_text(p->trace, (char[EVIDENCE_TEXT]){0}));
	page_line(p, "capture    ", "%s", m->origin);
	if (mhz > 0)
		page_line(p, "clock      ", "%.0f MHz (%s)", mhz,
			m->clock_source ? m->clock_source : "unknown source");
	page_line(p, "health     ", "%s", s->health);
	page_findings(p, s->findings);
}

static bool print_instructions(struct page *p, struct rows rows)
{
	const struct hot_row *v = rows.v;
	struct table t;

	page_title(p, "Instructions");
	table_titles(&t, "row|cycles|%|hit|issue|wait|stall|instruction~|source~");
	for (size_t i = 0; i < rows.n; i++)
		/* What the producer states where no pipe was traced. */
		TABLE_ROW(&t, CELL_NAME(v[i].row == NO_VALUE ? -1 : v[i].row),
			CELL_COUNT(p->trace->n_tracks ? v[i].cycles : v[i].totals.latency),
			CELL_DOUBLE(v[i].share, 1), CELL_COUNT(v[i].totals.hit),
			CELL_COUNT(v[i].buckets.issue), CELL_COUNT(v[i].buckets.wait),
			CELL_COUNT(v[i].buckets.stall), CELL_START(v[i].key, PAGE_TEXT_MAX),
			CELL_END(v[i].source ? v[i].source : "", PAGE_TEXT_MAX));
	return table_finish(&t, p->c);
}

bool summary_print_pipes(struct cli *c, const struct summary_pipes *s, const struct trace *t)
{
	struct page p = {.c = c, .trace = t, .out = c->out};

	print_provenance(&p, s);
	if (s->pipes.totals.pipes) {
		page_title(&p, "Pipes");
		if (!pipes_print_table(c, &s->pipes) || !pipes_print_overlap(c, &s->pipes))
			return false;
	}
	if (s->pipes.pairs.n) {
		page_title(&p, "Waits");
		if (!pipes_print_pairs(c, &s->pipes))
			return false;
	}
	if (!pipes_print_path(c, &s->pipes) || (s->has_rows && !print_instructions(&p, s->rows)))
		return false;
	page_advice(&p, s->advice);
	return tables_print_details(c, t, s->pipes.top) && (!p.is_failed || err_nomem(&c->error));
}
