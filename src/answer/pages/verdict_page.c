/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_page.c: the first screen: twelve lines of 80 columns; with --ledger also the tables. */
#include "answer/pages.h"
#include "answer/verdict/verdict.h"

#define SCREEN_WIDTH 80

static void put_line(struct page *p, const char *head, const char *text)
{
	if (text)
		page_fact(p, head, "%s", text);
}

static void put_head(struct page *p, const struct verdict_answer *a)
{
	const char *name = a->kernel ? a->kernel : "kernel";
	int width = 36;

	if (isfinite(a->us))
		page_say(p, "%-*.*s %8.1f us", width, width, name, a->us);
	else
		page_say(p, "%s", name);
	page_line(p, "%s%s", a->size ? "  " : "", a->size ? a->size : "");
}

static void put_screen_lines(struct page *p, const struct verdict_screen *s)
{
	put_line(p, "Bound by  ", s->bound_by);
	put_line(p, "Of peak   ", s->of_peak);
	put_line(p, "Waits     ", s->waits);
	put_line(p, "At        ", s->at);
	put_line(p, "Change    ", s->change);
	put_line(p, "Gain      ", s->gain);
	put_line(p, "Sure      ", s->sure);
	put_line(p, "Else      ", s->other);
	put_line(p, "Health    ", s->health);
}

static void put_ledger(struct page *p, const struct verdict_answer *a)
{
	static const char *const units[] = {"name=unit", "full_pct=of time %", "peak_pct=of peak %",
		"busiest_pct=busiest %", "practical_pct=practical %", "2?cycles", NULL};
	static const char *const waits[] = {"words=waits for", "exposed_pct=exposed %",
		"1?queued_pct=queued %", "2?latency", "2?idle_latency=when idle", NULL};
	static const char *const changes[] = {"rule", "pct=saved %", "least_pct=at least",
		"most_pct=at most", "1?basis", "2?next=next bound", "3?found=rows", "4?place=where",
		NULL};

	if (a->units.n) {
		page_heading(p, "Units, by the time that each needs at its practical rate");
		page_records(p, &verdict_unit_record, a->units, units);
		if (a->rates)
			page_prose(p, "", "Practical rates: %s, %s.", a->rates, a->rates_evidence);
	}
	if (a->waits.n) {
		page_heading(p, "Waits while nothing was issued");
		page_records(p, &verdict_wait_record, a->waits, waits);
	}
	if (a->changes.n) {
		page_heading(p, "Changes");
		page_records(p, &verdict_change_record, a->changes, changes);
	}
}

void verdict_page(const struct answer *answer, struct page *p)
{
	static const char *const all[] = {"rule", "pct", "least_pct", "most_pct", "after_us",
		"low_us", "high_us", "sure", "basis", "next", "found", "step", "counted", "change",
		"place", NULL};
	const struct verdict_answer *a = answer->data;

	if (p->is_csv) {
		page_main_records(p, &verdict_change_record, a->changes, all);
		return;
	}
	p->prose_width = SCREEN_WIDTH;
	p->breaks_facts = true;
	put_head(p, a);
	put_screen_lines(p, &a->screen);
	put_line(p, "Missing   ", a->missing);
	if (a->is_ledger)
		put_ledger(p, a);
}
