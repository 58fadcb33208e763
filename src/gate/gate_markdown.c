/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_markdown.c: gates as Markdown for the summary of a CI job: what failed, and why. A job takes
 * at most 1 MiB of it, so failed gates come first, and very long names are cut.
 */
#include "codec/markup.h"
#include "gate/gate.h"

#define ROWS_MAX 200u
#define CAUSES_MAX 20u /* for the failures */
#define TEXT_MAX 400u

static const char *const marks[] = {"passed", "**FAILED**", "no claim"};

static void put_cut(struct strbuf *b, void (*put)(struct strbuf *, struct str), const char *text)
{
	struct str s = str_of(text ? text : "");

	put(b, str_sub(s, 0, TEXT_MAX));
	sb_puts(b, s.n > TEXT_MAX ? "..." : "");
}

static void put_cell(struct strbuf *b, void (*put)(struct strbuf *, struct str), const char *text)
{
	sb_putc(b, ' ');
	put_cut(b, put, text);
	sb_puts(b, " |");
}

static void put_causes(struct strbuf *b, const struct gate_outcome *g)
{
	const struct gate_cause *v = g->causes.v;

	sb_puts(b, "\nWhat ");
	put_cut(b, markup_code, g->metric);
	sb_puts(b, " of ");
	put_cut(b, markup_code, g->kernel ? g->kernel : "(no name)");
	sb_puts(b, " comes from most:\n\n| change | what | source |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < g->causes.n; i++) {
		sb_putc(b, '|');
		put_cell(b, markup_prose, v[i].figure);
		put_cell(b, markup_code, v[i].what);
		put_cell(b, markup_code, v[i].source);
		sb_putc(b, '\n');
	}
	if (!g->command)
		return;
	sb_puts(b, "\nTo look closer: ");
	markup_code(b, str_of(g->command));
	sb_putc(b, '\n');
}

static void gate_markdown_put_row(struct strbuf *b, const struct gate_outcome *g)
{
	sb_printf(b, "| %s |", marks[g->state]);
	put_cell(b, markup_code, g->name);
	put_cell(b, markup_code, g->kernel);
	put_cell(b, markup_prose, g->message);
	put_cell(b, markup_prose, g->evidence);
	sb_putc(b, '\n');
}

void gate_put_markdown(const struct gate_report *r, struct strbuf *out)
{
	size_t rows = 0, causes = 0;

	sb_puts(out, "### ");
	gate_put_title(r, out);
	sb_puts(out,
		"\n\n| | gate | kernel | found | evidence |\n| --- | --- | --- | --- | --- |\n");
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < r->n && rows < ROWS_MAX; i++)
			if ((r->v[i].state == GATE_FAILED) == (pass == 0)) {
				gate_markdown_put_row(out, &r->v[i]);
				rows++;
			}
	if (rows < r->n)
		sb_printf(out, "\n%zu more\n", r->n - rows);
	for (size_t i = 0; i < r->n && causes < CAUSES_MAX; i++)
		if (r->v[i].state == GATE_FAILED && r->v[i].causes.n) {
			put_causes(out, &r->v[i]);
			causes++;
		}
	sb_putc(out, '\n');
}
