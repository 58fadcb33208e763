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
	static const struct table_column columns[] = {
		{"row", NULL, CELL_RIGHT, false},
		{"cycles", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"hit", NULL, CELL_RIGHT, false},
		{"issue", NULL, CELL_RIGHT, false},
		{"wait", NULL, CELL_RIGHT, false},
		{"stall", NULL, CELL_RIGHT, false},
		{"instruction", NULL, CELL_LEFT, true},
		{"source", NULL, CELL_LEFT, true},
	};
	const struct hot_row *v = rows.v;
	struct table t;

	page_title(p, "Instructions");
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < rows.n; i++) {
		page_put_row_number(&t, v[i].row == NO_VALUE ? -1 : v[i].row);
		/* What the producer states where no pipe was traced. */
		table_u64(&t, p->trace->n_tracks ? v[i].cycles : v[i].totals.latency);
		table_double(&t, v[i].share, 1);
		table_u64(&t, v[i].totals.hit);
		table_u64(&t, v[i].buckets.issue);
		table_u64(&t, v[i].buckets.wait);
		table_u64(&t, v[i].buckets.stall);
		page_put_clipped(&t, v[i].key, PAGE_TEXT_MAX);
		page_put_tail(&t, str_of(v[i].source ? v[i].source : ""), PAGE_TEXT_MAX);
	}
	return page_finish(p, &t) || err_nomem(&p->c->error);
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
	return tables_print_details(c, t, s->pipes.top) && (!p.is_failed || err_nomem(&c->error));
}
