/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_markdown.c: groups of blocks as Markdown that suits a pull request: no line is broken
 * inside a sentence, and tables are fenced text, since Markdown has none that lines up.
 */
#include "codec/markup.h"
#include "page/write.h"

#define TEXT_MAX 600u /* per fact or title: names of kernels and paths may be very long */

void markdown_short(struct strbuf *b, struct str text)
{
	markup_prose(b, str_sub(text, 0, TEXT_MAX));
	if (text.n > TEXT_MAX)
		sb_puts(b, "...");
}

void markdown_fenced(struct strbuf *b, struct str text)
{
	unsigned longest = 2, run = 0;

	for (size_t i = 0; i < text.n; i++) {
		run = text.p[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	for (unsigned i = 0; i <= longest; i++)
		sb_putc(b, '`');
	sb_puts(b, "text\n");
	sb_str(b, text);
	if (text.n && text.p[text.n - 1] != '\n')
		sb_putc(b, '\n');
	for (unsigned i = 0; i <= longest; i++)
		sb_putc(b, '`');
	sb_puts(b, "\n\n");
}

void markdown_heading(struct strbuf *b, struct str title)
{
	sb_puts(b, "## ");
	markup_prose(b, title);
	sb_puts(b, "\n\n");
}

static void write_markdown_put_paragraph(struct strbuf *b, const struct block_group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct strbuf plain = {0};

		if (i)
			sb_puts(b, "\\\n"); /* a backslash breaks the line */
		sb_unstyled(&plain, g->v[i].text);
		markup_prose(b, str_trim((struct str){plain.p, plain.n}));
		b->failed |= plain.failed;
		sb_free(&plain);
	}
	sb_puts(b, "\n\n");
}

static void write_markdown_put_list(struct strbuf *b, const struct block_group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct str name = block_name(&g->v[i]);

		if (block_goes_on(&g->v[i]))
			sb_printf(b, "  - %.*s ", STR_ARG(name));
		else
			sb_puts(b, "- ");
		markup_prose(b, str_of(g->v[i].text));
		sb_putc(b, '\n');
	}
	sb_putc(b, '\n');
}

/* "- **kernel** text" */
static void write_markdown_put_facts(struct strbuf *b, const struct block_group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		if (block_goes_on(&g->v[i])) {
			sb_puts(b, "  ");
		} else {
			sb_puts(b, "- **");
			markup_prose(b, block_name(&g->v[i]));
			sb_puts(b, "** ");
		}
		markdown_short(b, str_trim(str_of(g->v[i].text)));
		sb_putc(b, '\n');
	}
	sb_putc(b, '\n');
}

static void put_blocks_as_text(struct strbuf *b, const struct block_group *g, unsigned max_lines)
{
	struct strbuf text = {0};
	struct str rest, line;
	size_t n = 0;

	blocks_as_text(g->v, g->n, &text);
	rest = (struct str){text.p, text.n};
	for (unsigned i = 0; (!max_lines || i < max_lines) && str_cut(&rest, "\n", &line); i++)
		n = (size_t)(line.p + line.n - text.p);
	markdown_fenced(b, (struct str){text.p, n});
	b->failed |= text.failed;
	sb_free(&text);
}

void group_write_markdown(const struct block_group *g, unsigned max_lines, struct strbuf *b)
{
	if (g->heading)
		markdown_heading(b, str_of(g->heading));
	if (!g->n)
		return;
	switch (g->v->kind) {
	case BLOCK_ITEM:
		write_markdown_put_list(b, g);
		break;
	case BLOCK_FACT:
	case BLOCK_COMMAND:
		write_markdown_put_facts(b, g);
		break;
	case BLOCK_TABLE:
	case BLOCK_LISTING:
		put_blocks_as_text(b, g, max_lines);
		break;
	default:
		write_markdown_put_paragraph(b, g);
	}
}
