/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_advise.c: incore advise: what to change, as a numbered list. */
#include "answer/change/advise.h"

#include "cli/ask.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"
#include "cli/text/table.h"

#define PLACES_SHOWN 4u

/* A line of an advice; the text is freed. */
static void draw_part(struct cli *c, const char *head, struct strbuf *b)
{
	say(c->out, "   %-10s", head);
	cli_wrapped(c, b->p ? b->p : "", 13, 13);
	sb_free(b);
}

static void draw_text(struct cli *c, const char *head, const char *text)
{
	struct strbuf b = {0};

	sb_puts(&b, text);
	draw_part(c, head, &b);
}

static void draw_gain(struct cli *c, const struct advice_row *x)
{
	const struct advice_gain *g = x->gain;
	struct strbuf b = {0};

	if (!g)
		sb_printf(&b, "not known: %s", x->no_gain);
	else if (g->does_nothing)
		sb_printf(&b, "none: %s", g->why ? g->why : "something else is as long");
	else if (g->pct > 0)
		sb_printf(&b, "%s -> %s cycles: %.1f %% saved (%.1f to %.1f %%), estimate",
			U64_TEXT(g->before), U64_TEXT(g->after), g->pct, g->least_pct, g->most_pct);
	else
		sb_printf(&b, "none expected: %s -> %s cycles (%.1f to %.1f %% saved), estimate",
			U64_TEXT(g->before), U64_TEXT(g->after), g->least_pct, g->most_pct);
	draw_part(c, "gain", &b);
}

static void draw_where(struct cli *c, const struct advice_row *x)
{
	const struct advice_place *v = x->rows.v;
	struct strbuf b = {0};

	sb_puts(&b, x->place);
	if (x->where)
		sb_printf(&b, ": `%s`", x->where->isa);
	if (x->waits_for)
		sb_printf(&b, ", for row %lld: `%s`", (long long)x->waits_for->row,
			x->waits_for->isa);
	for (size_t i = 1; i < x->rows.n && i < PLACES_SHOWN; i++)
		sb_printf(&b, "%s %lld",
			i > 1		 ? ","
			: x->rows.n == 2 ? "; also row"
					 : "; also rows",
			(long long)v[i].at->row);
	if (x->found > PLACES_SHOWN)
		sb_printf(&b, " and %llu more", (unsigned long long)(x->found - PLACES_SHOWN));
	draw_part(c, "where", &b);
}

static void draw_advice(struct cli *c, size_t i, const struct advice_row *x, const char *path)
{
	struct strbuf b = {0};

	sb_printf(&b, "%zu. %s: %s (%s, %.1f %% exposed)", i + 1, x->rule, x->finding, x->cause,
		x->share_pct);
	cli_wrapped(c, b.p ? b.p : "", 0, 0);
	sb_free(&b);
	draw_where(c, x);
	draw_text(c, "evidence", x->evidence);
	draw_text(c, "change", x->experiment);
	if (x->gain || x->no_gain)
		draw_gain(c, x);
	draw_text(c, "then", x->prediction);
	draw_text(c, "risk", x->risk);
	if (x->question && !x->no_gain)
		say(c->out, "   ask       incore whatif %s %s\n", x->question, path);
	say(c->out, "   confirm   %s\n\n", x->confirm);
}

static bool draw_taken(struct cli *c, const struct advise_taken *t, const char *unit)
{
	static const char *const columns[] = {"rule", "state", "before_pct=lost before %",
		"after_pct=after %", "promised_pct=promised %", "least_pct=at least",
		"most_pct=at most", NULL};
	struct strbuf b = {0};

	sb_printf(&b, "What was done of it: %s", t->verdict);
	if (isfinite(t->change_pct))
		sb_printf(&b, ". %s -> %s cycles of %s: %.1f %% %s", U64_TEXT(t->before),
			U64_TEXT(t->after), unit, fabs(t->change_pct),
			t->change_pct > 0 ? "longer" : "saved");
	if (isfinite(t->least_pct))
		sb_printf(&b, ", promised were %.1f to %.1f %%", t->least_pct, t->most_pct);
	sb_putc(&b, '.');
	cli_wrapped(c, b.p ? b.p : "", 0, 0);
	sb_free(&b);
	return !t->rows.n || record_table_print(c, &taken_record, t->rows, columns);
}

static bool draw(struct cli *c, const struct answer *answer)
{
	static const char *const columns[] = {"rule", "cause", "place", "exposed", "share_pct",
		"evidence", "experiment", "prediction", "risk", "question", "confirm", NULL};
	const struct advise_answer *a = answer->data;
	const struct trace *t = answer->traces.v[0];
	const struct advice_row *v = a->advice.v;

	if (c->use_csv)
		return record_table_print(c, &advice_record, a->advice, columns);
	if (a->verdict) {
		cli_wrapped(c, a->verdict, 0, 0);
		fputc('\n', c->out);
	}
	for (size_t i = 0; i < a->advice.n; i++)
		draw_advice(c, i, &v[i], t->meta.origin);
	if (!a->advice.n)
		say(c->out,
			"No rule has anything to say: docs/advise.md has what they look for.\n");
	if (a->taken && !draw_taken(c, a->taken, a->unit))
		return false;
	if (a->cycles)
		say(c->out, "%s cycles of %s, ", U64_TEXT(a->cycles), a->unit);
	say(c->out, "%s, told for %s, %u note%s\n", evidence_text(t, (char[EVIDENCE_TEXT]){0}),
		a->world, c->n_notes, plural(c->n_notes));
	return true;
}

extern const struct question question_advise;
const struct verb verb_advise = {
	.name = "advise",
	.question = &question_advise,
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.draw = draw,
};
