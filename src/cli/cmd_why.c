/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_why.c: incore why: what lost cycles waited for, drawn as tables. */
#include "answer/why.h"

#include "cli/ask.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"

static const char *const causes[] = {"cause", "2?cause_cycles", "why", "confidence", "cycles",
	"share", "1?hidden", "4?exposed", "3?hit", NULL};
static const char *const *const words = causes + 2;

static bool draw_rows(struct cli *c, const struct answer *answer)
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
		return record_table_print(c, &why_reason_record, a->reasons, reasons);
	return record_table_print(c, &why_part_record, a->rows,
		a->by[0] == 'c'	  ? causes
		: a->by[0] == 'r' ? rows
		: a->by[0] == 'l' ? lines
				  : waves);
}

static bool draw_words(struct cli *c, const struct why_answer *a)
{
	say(c->out, "what lost cycles waited for (waits, barriers and drains are not split)\n");
	return record_table_print(c, &why_part_record, a->words, words) &&
	       fputc('\n', c->out) != EOF;
}

static void draw_footer(struct cli *c, const struct why_answer *a, const struct trace *t)
{
	const struct why_totals *n = &a->totals;
	char evidence[EVIDENCE_TEXT], text[EVIDENCE_TEXT + 160];

	if (a->rows.n < a->found && a->rows.v)
		say(c->out, "%s of %s shown (--top all shows every one)\n", U64_TEXT(a->rows.n),
			U64_TEXT(a->found));
	if (n->cycles)
		say(c->out, "%s of %s have parts, %.1f %% of them unknown, residue %lld\n",
			COUNTED(n->cycles, "cycle"), U64_TEXT(n->duration), n->unknown_pct,
			(long long)n->residue);
	snprintf(text, sizeof(text), "%s%s %s, %s",
		a->reasons.v ? "samples have no timeline: the sampler's reasons, in our words"
			     : COUNTED(n->waves, "wave"),
		a->reasons.v ? ";" : ",", evidence_text(t, evidence), COUNTED(c->n_notes, "note"));
	cli_wrapped(c, text, 0, 0);
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

static bool draw_why(struct cli *c, const struct answer *answer)
{
	const struct why_answer *a = answer->data;

	if (c->use_csv)
		return draw_rows(c, answer);
	if (a->words.n && !draw_words(c, a))
		return false;
	if ((a->rows.n || a->reasons.n) && !draw_rows(c, answer))
		return false;
	draw_footer(c, a, answer->traces.v[0]);
	if (cli_flag(c, "explain"))
		fputs(explanation, c->out);
	return true;
}

extern const struct question question_why;
const struct verb verb_why = {
	.name = "why",
	.question = &question_why,
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.draw = draw_why,
};
