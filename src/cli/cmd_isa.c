/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_isa.c: incore isa: the disassembly with its costs, wait arrows, branches and loops. */
#include "answer/isa.h"

#include "cli/ask.h"
#include "cli/text/isa_text.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"

static bool draw_csv(struct cli *c, const struct isa_answer *a)
{
	static const char *const cycles[] = {"row", "address", "isa", "class", "hit", "latency",
		"stall", "idle=idle=idle_cycles", "weight_pct=%=share_of_latency_pct", "loop_depth",
		"target", "waits_for", "source", NULL};
	static const char *const samples[] = {"row", "address", "isa", "class", "all_samples",
		"stalled", "weight_pct=%=share_of_samples_pct", "loop_depth", "target", "waits_for",
		"source", NULL};

	return record_table_print(
		c, &isa_row_record, a->rows, a->listing->trace->samples ? samples : cycles);
}

static const void *pointed_row(const void *v, size_t i)
{
	return ((const struct isa_row *const *)v)[i];
}

/* The rows that level counters tell of, beside what needs no counter. */
static bool draw_levels(struct cli *c, const struct isa_answer *a)
{
	static const char *const columns[] = {"row", "class", "levels.n", "levels.mean",
		"levels.error", "load_to_wait", "isa", NULL};
	const struct isa_row *rows = a->rows.v, **known = mem_zalloc(a->rows.n + 1, sizeof(*known));
	size_t n = 0;
	bool ok;

	for (size_t i = 0; known && i < a->rows.n; i++)
		if (rows[i].levels)
			known[n++] = &rows[i];
	say(c->out, "\nmemory latency by %s\n", a->levels_from);
	ok = known ? record_table_print(
			     c, &isa_row_record, (struct rows){known, n, pointed_row}, columns)
		   : err_nomem(&c->error);
	mem_free(known);
	return ok;
}

static void draw_explanation(FILE *out)
{
	fputs("\nlatency, stall: sums over all executions, as recorded (stall is part of latency); "
	      "% is the row's\nshare of all latency. An arrow into a wait comes from the "
	      "instruction "
	      "whose return released it most\nof the time; \"group\": one of several that return "
	      "in "
	      "any order. Bars left of the arrows are loops.\n",
		out);
}

static bool draw_isa(struct cli *c, const struct answer *answer)
{
	const struct isa_answer *a = answer->data;
	struct isa_text text = {.cli = c,
		.listing = a->listing,
		.shown = a->shown,
		.n_notes = c->n_notes,
		.is_ascii = cli_flag(c, "ascii")};
	struct strbuf out = {0};
	unsigned line = 0;
	bool ok;

	c->n_waves = a->per ? a->totals.waves : 0;
	if (c->use_csv)
		return draw_csv(c, a);
	ok = isa_text_make(&text, &out, &line, &c->error);
	if (ok) {
		cli_page(c, line);
		fwrite(out.p, 1, out.n, c->out);
		ok = !a->levels_from || draw_levels(c, a);
		if (cli_flag(c, "explain"))
			draw_explanation(c->out);
	}
	sb_free(&out);
	return ok;
}

extern const struct question question_isa;
const struct verb verb_isa = {
	.name = "isa",
	.question = &question_isa,
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.draw = draw_isa,
};
