/* SPDX-License-Identifier: Apache-2.0 */
/* advise_page.c: what to change, as a numbered list. */
#include "analysis/vendor_report.h"
#include "answer/advise.h"
#include "answer/pages.h"

#define PLACES_SHOWN 4u

static void put_gain(struct page *p, const struct advice_row *x)
{
	const struct advice_gain *g = x->gain;
	const char *head = "   gain      ";

	if (!g)
		page_fact(p, head, "not known: %s", x->no_gain);
	else if (g->does_nothing)
		page_fact(p, head, "none: %s", g->why ? g->why : "something else is as long");
	else if (g->pct > 0)
		page_fact(p, head, "%s -> %s cycles: %.1f %% saved (%.1f to %.1f %%), estimate",
			U64_TEXT(g->before), U64_TEXT(g->after), g->pct, g->least_pct, g->most_pct);
	else
		page_fact(p, head,
			"none expected: %s -> %s cycles (%.1f to %.1f %% saved), estimate",
			U64_TEXT(g->before), U64_TEXT(g->after), g->least_pct, g->most_pct);
}

static void put_where(struct page *p, const struct advice_row *x)
{
	const struct advice_place *v = x->rows.v;

	page_say(p, "%s", x->place);
	if (x->where)
		page_say(p, ": `%s`", x->where->isa);
	if (x->waits_for)
		page_say(
			p, ", for row %lld: `%s`", (long long)x->waits_for->row, x->waits_for->isa);
	for (size_t i = 1; i < x->rows.n && i < PLACES_SHOWN; i++)
		page_say(p, "%s %lld",
			i > 1		 ? ","
			: x->rows.n == 2 ? "; also row"
					 : "; also rows",
			(long long)v[i].at->row);
	if (x->found > PLACES_SHOWN)
		page_say(p, " and %llu more", (unsigned long long)(x->found - PLACES_SHOWN));
	page_fact(p, "   where     ", "%s", "");
}

static void put_advice(struct page *p, size_t i, const struct advice_row *x, const char *path)
{
	page_prose(p, "", "%zu. %s: %s (%s, %.1f %% exposed)", i + 1, x->rule, x->finding, x->cause,
		x->share_pct);
	put_where(p, x);
	page_fact(p, "   evidence  ", "%s", x->evidence);
	page_fact(p, "   change    ", "%s", x->experiment);
	if (x->gain || x->no_gain)
		put_gain(p, x);
	page_fact(p, "   then      ", "%s", x->prediction);
	page_fact(p, "   risk      ", "%s", x->risk);
	if (x->question && !x->no_gain)
		page_command(p, "   ask       ", "incore whatif %s %s", x->question, path);
	page_command(p, "   confirm   ", "%s", x->confirm);
	page_gap(p);
}

static void put_taken(struct page *p, const struct advise_taken *t, const char *unit)
{
	static const char *const columns[] = {"rule", "state", "before_pct=lost before %",
		"after_pct=after %", "promised_pct=promised %", "least_pct=at least",
		"most_pct=at most", NULL};

	page_say(p, "What was done of it: %s", t->verdict);
	if (isfinite(t->f.change_pct))
		page_say(p, ". %s -> %s cycles of %s: %.1f %% %s", U64_TEXT(t->f.before),
			U64_TEXT(t->f.after), unit, fabs(t->f.change_pct),
			t->f.change_pct > 0 ? "longer" : "saved");
	if (isfinite(t->f.least_pct))
		page_say(p, ", promised were %.1f to %.1f %%", t->f.least_pct, t->f.most_pct);
	page_prose(p, "", ".");
	if (t->rows.n)
		page_records(p, &taken_record, t->rows, columns);
}

/* Ours and the vendor's, each by what it promises: the first of both stand in one line. */
static void put_vendor(struct page *p, const struct advise_answer *a)
{
	const struct advice_row *ours = a->advice.v;
	const struct vendor_rule *theirs = a->vendor.v;
	struct table *t;

	page_heading(p, "Beside the vendor's own rules, each by what it promises");
	if (!a->vendor.n)
		page_line(p, "The capture has none.");
	t = page_table(p, "rank|incore<|saves %|interval<|vendor's rule<|estimate %|of<");
	for (size_t i = 0; i < a->advice.n || i < a->vendor.n; i++) {
		const struct advice_gain *g = i < a->advice.n ? ours[i].gain : NULL;
		const struct vendor_rule *r = i < a->vendor.n ? &theirs[i] : NULL;
		char interval[48] = "";

		if (g)
			snprintf(interval, sizeof(interval), "%.0f to %.0f", g->least_pct,
				g->most_pct);
		TABLE_ROW(t, CELL_COUNT(i + 1), CELL_TEXT(i < a->advice.n ? ours[i].rule : ""),
			CELL_DOUBLE(g ? g->pct : NAN, 1), CELL_TEXT(interval),
			CELL_TEXT(r ? r->rule : ""), CELL_DOUBLE(r ? r->speedup_pct : NAN, 1),
			CELL_TEXT(r && r->speedup ? r->speedup : ""));
	}
	for (size_t i = 0; i < a->vendor.n; i++)
		page_item(p, "  - ", "%s: %s", theirs[i].rule, theirs[i].message);
	page_gap(p);
}

void advise_page(const struct answer *answer, struct page *p)
{
	static const char *const columns[] = {"rule", "cause", "place", "exposed", "share_pct",
		"evidence", "experiment", "prediction", "risk", "question", "confirm", NULL};
	const struct advise_answer *a = answer->data;
	const struct trace *t = answer->traces.v[0];
	const struct advice_row *v = a->advice.v;

	if (p->is_csv) {
		page_main_records(p, &advice_record, a->advice, columns);
		return;
	}
	p->breaks_facts = true;
	if (a->verdict) {
		page_prose(p, "", "%s", a->verdict);
		page_gap(p);
	}
	for (size_t i = 0; i < a->advice.n; i++)
		put_advice(p, i, &v[i], t->meta.origin);
	if (!a->advice.n)
		page_line(p, "No rule has anything to say: docs/advise.md has what they look for.");
	if (a->taken)
		put_taken(p, a->taken, a->unit);
	if (a->is_beside_vendor)
		put_vendor(p, a);
	if (a->cycles)
		page_say(p, "%s cycles of %s, ", U64_TEXT(a->cycles), a->unit);
	page_line(p, "%s, told for %s, %u note%s", evidence_text(t, (char[EVIDENCE_TEXT]){0}),
		a->world, answer->n_notes, plural(answer->n_notes));
}
