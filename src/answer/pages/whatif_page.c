/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_page.c: how long the kernel would take, and what would then limit it. */
#include "answer/pages.h"
#include "answer/whatif.h"

static const char *const limits[] = {
	"part", "before", "after", "change", "share", "row", "isa", NULL};

static void whatif_page_put_figures(struct page *p, const struct whatif_answer *a)
{
	page_say(p, "%s: %s -> %s cycles", a->change, U64_TEXT(a->before), U64_TEXT(a->after));
	if (strcmp(a->verdict, "does-nothing") == 0)
		page_say(p, ": does nothing");
	else if (strcmp(a->verdict, "not-known") == 0)
		page_say(p, ": not known");
	else
		page_say(p, ", %+.1f %%", 0.0 - a->saved);
	page_line(p, " (between %s and %s, %+.1f to %+.1f %%)", U64_TEXT(a->low), U64_TEXT(a->high),
		0.0 - a->saved_high, 0.0 - a->saved_low);
}

static void whatif_page_put_tables(struct page *p, const struct whatif_answer *a)
{
	static const char *const units[] = {
		"unit", "before", "after", "low", "high", "waves", "reproduced", "coupling", NULL};

	if (a->limits.n) {
		page_gap(p);
		page_line(p, "what the kernel's time is made of, before and after");
		page_main_records(p, &whatif_limit_record, a->limits, limits);
	}
	if (a->units.n > 1) {
		page_gap(p);
		page_records(p, &whatif_unit_record, a->units, units);
	}
}

static const char explanation[] =
	"\nHow to read this\n"
	"  before, after  from the first to the last cycle of the longest unit that was captured\n"
	"  between        memory that the device shares moves not at all, or as early as it is asked;\n"
	"                 and what such estimates missed the truth by (docs/whatif.md)\n"
	"  part           latency: from a producer to the end of the wait for it; own-pipe,\n"
	"                 other-wave: who held the instruction; stall: measured, unexplained\n"
	"  reproduced     waves that the replay without the change gives within 1 %\n"
	"  coupling       how far memory is taken not to move: instructions that met 16 or more on\n"
	"                 their way, times the part of their latency above the least\n";

void whatif_page(const struct answer *answer, struct page *p)
{
	const struct whatif_answer *a = answer->data;

	if (p->is_csv) {
		page_main_records(p, &whatif_limit_record, a->limits, limits);
		return;
	}
	if (a->before == NO_U64)
		page_line(p, "%s: no answer: %s", a->change, a->why);
	else
		whatif_page_put_figures(p, a);
	if (a->before != NO_U64 && a->why)
		page_line(p, "%s", a->why);
	if (a->differs)
		page_line(p, "%s", a->differs);
	whatif_page_put_tables(p, a);
	if (a->limits.n && a->limits.n < a->found)
		page_line(p, "%s of %s shown (--top all shows every one)", U64_TEXT(a->limits.n),
			U64_TEXT(a->found));
	if (a->identity.waves)
		page_say(p, "%s of %s reproduced with nothing changed; ",
			U64_TEXT(a->identity.reproduced),
			COUNTED(a->identity.waves,
				strcmp(a->method, "pipes") == 0 ? "pipe" : "wave"));
	page_line(p, "an estimate, based on %s, %u note%s",
		evidence_text(answer->traces.v[0], (char[EVIDENCE_TEXT]){0}), answer->n_notes,
		plural(answer->n_notes));
	if (p->explains)
		page_lines(p, explanation);
}
