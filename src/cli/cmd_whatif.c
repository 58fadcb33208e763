/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_whatif.c: incore whatif: how long the kernel would take, and what would then limit it. */
#include "answer/change/whatif.h"

#include "cli/ask.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"

static const char *const limits[] = {
	"part", "before", "after", "change", "share", "row", "isa", NULL};

static void draw_figures(struct cli *c, const struct whatif_answer *a)
{
	say(c->out, "%s: %s -> %s cycles", a->change, U64_TEXT(a->before), U64_TEXT(a->after));
	if (strcmp(a->verdict, "does-nothing") == 0)
		say(c->out, ": does nothing");
	else
		say(c->out, ", %+.1f %%", 0.0 - a->saved);
	say(c->out, " (between %s and %s, %+.1f to %+.1f %%)\n", U64_TEXT(a->low),
		U64_TEXT(a->high), 0.0 - a->saved_high, 0.0 - a->saved_low);
}

static bool draw_tables(struct cli *c, const struct whatif_answer *a)
{
	static const char *const units[] = {
		"unit", "before", "after", "low", "high", "waves", "reproduced", "coupling", NULL};

	if (a->limits.n) {
		say(c->out, "\nwhat the kernel's time is made of, before and after\n");
		if (!record_table_print(c, &whatif_limit_record, a->limits, limits))
			return false;
	}
	if (a->units.n > 1) {
		fputc('\n', c->out);
		return record_table_print(c, &whatif_unit_record, a->units, units);
	}
	return true;
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

static bool draw_whatif(struct cli *c, const struct answer *answer)
{
	const struct whatif_answer *a = answer->data;

	if (c->use_csv)
		return record_table_print(c, &whatif_limit_record, a->limits, limits);
	if (a->before == NO_U64)
		say(c->out, "%s: no answer: %s\n", a->change, a->why);
	else
		draw_figures(c, a);
	if (a->before != NO_U64 && a->why)
		say(c->out, "%s\n", a->why);
	if (!draw_tables(c, a))
		return false;
	if (a->limits.n && a->limits.n < a->found)
		say(c->out, "%s of %s shown (--top all shows every one)\n", U64_TEXT(a->limits.n),
			U64_TEXT(a->found));
	if (a->identity.waves)
		say(c->out, "%s of %s reproduced with nothing changed; ",
			U64_TEXT(a->identity.reproduced),
			COUNTED(a->identity.waves,
				strcmp(a->method, "pipes") == 0 ? "pipe" : "wave"));
	say(c->out, "an estimate, based on %s, %u note%s\n",
		evidence_text(answer->traces.v[0], (char[EVIDENCE_TEXT]){0}), c->n_notes,
		plural(c->n_notes));
	if (cli_flag(c, "explain"))
		fputs(explanation, c->out);
	return true;
}

extern const struct question question_whatif;
const struct verb verb_whatif = {
	.name = "whatif",
	.question = &question_whatif,
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.draw = draw_whatif,
};
