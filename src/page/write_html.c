/* SPDX-License-Identifier: Apache-2.0 */
/* write_html.c: groups of blocks as HTML, to be styled by the page around them. */
#include "codec/markup.h"
#include "page/write.h"

static void put_unstyled(struct strbuf *b, const char *text)
{
	struct strbuf plain = {0};

	sb_unstyled(&plain, text);
	markup_text(b, str_trim((struct str){plain.p, plain.n}));
	b->failed |= plain.failed;
	sb_free(&plain);
}

static void write_html_put_row(struct strbuf *b, const struct table *t, size_t row, const char *tag)
{
	for (unsigned k = 0; k < t->n_columns; k++) {
		const char *text =
			row ? t->cells.v[(row - 1) * t->n_columns + k].text : t->columns[k].title;

		sb_printf(b, t->columns[k].align == CELL_RIGHT ? "<%s class=\"n\">" : "<%s>", tag);
		markup_text(b, str_trim(str_of(text)));
		sb_printf(b, "</%s>", tag);
	}
}

static void write_html_put_table(struct strbuf *b, const struct table *t)
{
	size_t n_rows = t->n_columns ? t->cells.n / t->n_columns : 0;

	sb_puts(b, "<div class=\"scroll\"><table><thead><tr>");
	write_html_put_row(b, t, 0, "th");
	sb_puts(b, "</tr></thead>\n<tbody>");
	for (size_t row = 1; row <= n_rows; row++) {
		sb_puts(b, "<tr>");
		write_html_put_row(b, t, row, "td");
		sb_puts(b, "</tr>\n");
	}
	sb_puts(b, "</tbody></table></div>\n");
}

static void write_html_put_facts(struct strbuf *b, const struct block_group *g)
{
	sb_puts(b, "<dl>\n");
	for (size_t i = 0; i < g->n; i++) {
		if (block_goes_on(&g->v[i])) {
			sb_putc(b, ' ');
		} else {
			sb_puts(b, i ? "</dd>\n<dt>" : "<dt>");
			markup_text(b, block_name(&g->v[i]));
			sb_puts(b, "</dt><dd>");
		}
		put_unstyled(b, g->v[i].text);
	}
	sb_puts(b, "</dd>\n</dl>\n");
}

/* Further parts of an item begin on a new line with their name. */
static void write_html_put_list(struct strbuf *b, const struct block_group *g)
{
	sb_puts(b, "<ul>\n");
	for (size_t i = 0; i < g->n; i++) {
		struct str name = block_name(&g->v[i]);

		if (block_goes_on(&g->v[i]))
			sb_printf(b, " <br><strong>%.*s</strong> ", STR_ARG(name));
		else
			sb_puts(b, i ? "</li>\n<li>" : "<li>");
		put_unstyled(b, g->v[i].text);
	}
	sb_puts(b, "</li>\n</ul>\n");
}

void html_text(struct strbuf *b, struct str text)
{
	sb_puts(b, "<pre>");
	markup_text(b, text);
	sb_puts(b, "</pre>\n");
}

static void write_html_put_listing(struct strbuf *b, const struct block_group *g)
{
	struct strbuf text = {0};

	blocks_as_text(g->v, g->n, &text);
	html_text(b, (struct str){text.p, text.n});
	b->failed |= text.failed;
	sb_free(&text);
}

static void write_html_put_paragraph(struct strbuf *b, const struct block_group *g)
{
	sb_puts(b, "<p>");
	for (size_t i = 0; i < g->n; i++) {
		if (i)
			sb_puts(b, "<br>\n");
		put_unstyled(b, g->v[i].text);
	}
	sb_puts(b, "</p>\n");
}

void group_write_html(const struct block_group *g, struct strbuf *b)
{
	if (g->heading) {
		sb_puts(b, "<h2>");
		markup_text(b, str_of(g->heading));
		sb_puts(b, "</h2>\n");
	}
	if (!g->n)
		return;
	switch (g->v->kind) {
	case BLOCK_ITEM:
		write_html_put_list(b, g);
		break;
	case BLOCK_FACT:
	case BLOCK_COMMAND:
		write_html_put_facts(b, g);
		break;
	case BLOCK_TABLE:
		write_html_put_table(b, g->v->table);
		break;
	case BLOCK_LISTING:
		write_html_put_listing(b, g);
		break;
	default:
		write_html_put_paragraph(b, g);
	}
}
