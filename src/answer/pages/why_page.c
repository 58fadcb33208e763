/* SPDX-License-Identifier: Apache-2.0 */
/* why_page.c: what lost cycles waited for, as tables. */
#include "answer/why.h"

#include "answer/pages.h"

static const char *const causes[] = {"cause", "2?cause_cycles", "why", "confidence", "cycles",
	"share", "1?hidden", "4?exposed", "3?hit", NULL};
static const char *const *const words = causes + 2;

static void why_page_put_rows(struct page *p, const struct answer *answer)
{
	static const char *const rows[] = {"row", "cycles", "share", "2?exposed", "3?hit",
		"4?cause", "why", "confidence", "of_row", "5?latency", "isa", "1?of_isa", NULL};
	static const char *const lines[] = {"source", "cycles", "share", "1?hidden", "4?exposed",
		"3?hit", "why", "confidence", "of_row", "2?of_isa", NULL};
	static const char *const waves[] = {
		"wave", "why", "cycles", "share", "1?hidden", "2?exposed", "3?of_wave", NULL};
	static const char *const reasons[] = {"reason", "samples", "exposed", "cause", "why", NULL};
	const struct why_answer *a = answer->data;

	if (a->reasons.v)
		page_main_records(p, &why_reason_record, a->reasons, reasons);
	else
		page_main_records(p, &why_part_record, a->rows,
			a->by[0] == 'c'	  ? causes
			: a->by[0] == 'r' ? rows
			: a->by[0] == 'l' ? lines
					  : waves);
}

static void why_page_put_words(struct page *p, const struct why_answer *a)
{
	page_line(p, "what lost cycles waited for (waits, barriers and drains are not split)");
	page_records(p, &why_part_record, a->words, words);
	page_gap(p);
}

static void why_page_put_footer(struct page *p, const struct answer *answer)
{
	const struct why_answer *a = answer->data;
	const struct why_totals *n = &a->totals;

	if (a->rows.n < a->found && a->rows.v)
		page_line(p, "%s of %s shown (--top all shows every one)", U64_TEXT(a->rows.n),
			U64_TEXT(a->found));
	if (n->cycles)
		page_line(p, "%s of %s have parts, %.1f %% of them unknown, residue %lld",
			COUNTED(n->cycles, "cycle"), U64_TEXT(n->duration), n->unknown_pct,
			(long long)n->residue);
	page_prose(p, "", "%s%s %s, %s",
		a->reasons.v ? "samples have no timeline: the sampler's reasons, in our words"
			     : COUNTED(n->waves, "wave"),
		a->reasons.v ? ";" : ",",
		evidence_text(answer->traces.v[0], (char[EVIDENCE_TEXT]){0}),
		COUNTED(answer->n_notes, "note"));
}

static const char explanation[] =
	"\nHow to read this\n"
	"  why        register: a result was not there; own-pipe: the wave's own instruction held the\n"
	"             pipe; other-wave: another wave of the SIMD issued there; other-simd: the SIMDs\n"
	"             took turns; queue: memory instructions were outstanding; wake: the memory pipe\n"
	"             had slept; fetch: the instruction had to come; hazard-padding: s_nop\n"
	"  confidence certain: seen in that cycle, or over in the cycle that the rule names; likely:\n"
	"             the rule fits; weak: its circumstances, no more\n"
	"  hidden     another wave of the SIMD issued meanwhile; exposed: none did\n"
	"  of row     whom to blame; after: cycles from its issue to this one's\n"
	"The parts of a cause add up to it, in every wave; docs/why.md has the rules and their proof.\n";

void why_page(const struct answer *answer, struct page *p)
{
	const struct why_answer *a = answer->data;

	if (p->is_csv) {
		why_page_put_rows(p, answer);
		return;
	}
	if (a->words.n)
		why_page_put_words(p, a);
	if (a->rows.n || a->reasons.n)
		why_page_put_rows(p, answer);
	why_page_put_footer(p, answer);
	if (p->explains)
		page_lines(p, explanation);
}
