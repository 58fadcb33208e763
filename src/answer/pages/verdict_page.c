/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_page.c: the first screen: twelve lines of 80 columns; with --ledger also the tables. */
#include "answer/pages.h"
#include "answer/verdict/verdict.h"

#define NAME_WIDTH 36u
#define TIME_WIDTH 8u

/* Where there is room, the time of a launch stands in the same column on every screen. */
static void put_first_line(struct page *p, const struct verdict_screen *s)
{
	const char *launch = s->launch ? s->launch : "";
	size_t name = strlen(s->kernel), n = strlen(launch), digits = strcspn(launch, " ");
	size_t blanks = name < NAME_WIDTH ? NAME_WIDTH - name + 1 : 2;

	blanks += digits < TIME_WIDTH && name <= NAME_WIDTH ? TIME_WIDTH - digits : 0;
	if (name + 2 + n > VERDICT_WIDTH) {
		page_line(p, "%s", s->kernel);
		page_fact(p, "          ", "%s", launch);
		return;
	}
	if (name + blanks + n > VERDICT_WIDTH)
		blanks = VERDICT_WIDTH - name - n;
	page_line(p, "%s%*s%s", s->kernel, *launch ? (int)blanks : 0, "", launch);
}

void verdict_put_screen(struct page *p, const struct verdict_screen *s)
{
	put_first_line(p, s);
	for (unsigned i = 0; i < VERDICT_LINES; i++) {
		struct verdict_line l = verdict_line(s, i);
		char head[VERDICT_HEAD + 1];

		snprintf(head, sizeof(head), "%-*s", (int)VERDICT_HEAD, l.head);
		if (l.text)
			page_fact(p, head, "%s", l.text);
	}
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
	p->prose_width = VERDICT_WIDTH;
	p->breaks_facts = true;
	verdict_put_screen(p, &a->screen);
	if (a->is_ledger)
		put_ledger(p, a);
}
