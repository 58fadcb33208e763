/* SPDX-License-Identifier: Apache-2.0 */
/* gate_markdown.c: gates as Markdown for the summary of a CI job: what failed, and what it comes from. */
#include "cli/gate/gate.h"
#include "codec/markup.h"

static const char *const marks[] = {"passed", "**FAILED**", "no claim"};

static void put_cell(struct strbuf *b, void (*put)(struct strbuf *, struct str), const char *text)
{
	sb_puts(b, " ");
	put(b, str_of(text ? text : ""));
	sb_puts(b, " |");
}

static void put_causes(struct strbuf *b, const struct gate_found *g)
{
	const struct gate_cause *v = g->causes.v;

	sb_puts(b, "\nWhat ");
	markup_code(b, str_of(g->metric));
	sb_puts(b, " of ");
	markup_code(b, str_of(g->kernel ? g->kernel : "(no name)"));
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

void gate_put_markdown(const struct gate_report *r, struct strbuf *out)
{
	sb_puts(out, "### ");
	gate_put_title(r, out);
	sb_puts(out,
		"\n\n| | gate | kernel | found | evidence |\n| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < r->n; i++) {
		const struct gate_found *g = &r->v[i];

		sb_printf(out, "| %s |", marks[g->state]);
		put_cell(out, markup_code, g->name);
		put_cell(out, markup_code, g->kernel);
		put_cell(out, markup_prose, g->message);
		put_cell(out, markup_prose, g->evidence);
		sb_putc(out, '\n');
	}
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].state == GATE_FAILED && r->v[i].causes.n)
			put_causes(out, &r->v[i]);
	sb_putc(out, '\n');
}
