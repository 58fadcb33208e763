/* SPDX-License-Identifier: Apache-2.0 */
/* isa_page.c: the disassembly with its costs, wait arrows, branches and loops. */
#include "answer/isa.h"

#include "answer/pages.h"
#include "answer/pages/isa_listing.h"

static void put_csv(struct page *p, const struct isa_answer *a)
{
	static const char *const cycles[] = {"row", "address", "isa", "class", "hit", "latency",
		"stall", "idle=idle=idle_cycles", "weight_pct=%=share_of_latency_pct", "loop_depth",
		"target", "waits_for", "source", NULL};
	static const char *const samples[] = {"row", "address", "isa", "class", "all_samples",
		"stalled", "weight_pct=%=share_of_samples_pct", "loop_depth", "target", "waits_for",
		"source", NULL};

	page_main_records(
		p, &isa_row_record, a->rows, a->listing->trace->samples ? samples : cycles);
}

static const void *pointed_row(const void *v, size_t i)
{
	return ((const struct isa_row *const *)v)[i];
}

/* Rows with latencies from level counters, beside the median that needs no counter. */
static void put_levels(struct page *p, const struct isa_answer *a)
{
	static const char *const columns[] = {"row", "class", "levels.n", "levels.mean",
		"levels.error", "load_to_wait", "isa", NULL};
	const struct isa_row *rows = a->rows.v, **known = mem_zalloc(a->rows.n + 1, sizeof(*known));
	size_t n = 0;

	for (size_t i = 0; known && i < a->rows.n; i++)
		if (rows[i].levels)
			known[n++] = &rows[i];
	page_gap(p);
	page_line(p, "memory latency by %s", a->levels_from);
	p->is_failed |= !known;
	if (known)
		page_records(p, &isa_row_record, (struct rows){known, n, pointed_row}, columns);
	mem_free(known);
}

static const char explanation[] =
	"\nlatency, stall: sums over all executions, as recorded (stall is part of latency); % is the "
	"row's\nshare of all latency. An arrow into a wait comes from the instruction whose return "
	"released it most\nof the time; \"group\": one of several that return in any order. Bars left "
	"of the arrows are loops.\n";

void isa_page(const struct answer *answer, struct page *p)
{
	const struct isa_answer *a = answer->data;
	struct strbuf listing = {0};

	p->n_waves = a->per ? a->totals.waves : 0;
	if (p->is_csv) {
		put_csv(p, a);
		return;
	}
	p->is_long = true;
	if (isa_listing_make(a, p->n_waves, answer->n_notes, &listing, &p->open_at, &p->error))
		page_listing(p, listing.p ? listing.p : "");
	else
		p->is_failed = true;
	if (a->levels_from)
		put_levels(p, a);
	if (p->explains)
		page_lines(p, explanation);
	sb_free(&listing);
}
