/* SPDX-License-Identifier: Apache-2.0 */
/* write_text.c: writes a page to a terminal or pipe; paragraphs are broken if a width is known. */
#include "page/write.h"

#include <stdlib.h>

static bool is_mark(char c)
{
	return c > 0 && c <= STYLE_MARK_END;
}

static void put_mark(const struct text_medium *m, char mark)
{
	if (m->use_color)
		fputs(mark == STYLE_MARK_END
				? style_code_end
				: style_code((enum cell_style)(mark - STYLE_MARK_BASE)),
			m->out);
}

/* Writes n bytes, with style marks turned into codes or dropped. */
static void put_styled(const struct text_medium *m, const char *s, size_t n)
{
	size_t from = 0;

	for (size_t i = 0; i <= n; i++) {
		if (i < n && !is_mark(s[i]))
			continue;
		if (i > from)
			fwrite(s + from, 1, i - from, m->out);
		if (i < n)
			put_mark(m, s[i]);
		from = i + 1;
	}
}

/* Columns that n bytes take: code points, near enough. */
static unsigned columns_of(const char *s, size_t n)
{
	unsigned columns = 0;

	for (size_t i = 0; i < n; i++)
		columns += ((unsigned char)s[i] & 0xc0) != 0x80 && !is_mark(s[i]);
	return columns;
}

void write_wrapped(const struct text_medium *m, const char *head, const char *text, unsigned width)
{
	unsigned indent = columns_of(head, strlen(head)), at = indent;

	put_styled(m, head, strlen(head));
	while (*text) {
		size_t blanks = strspn(text, " "), n = strcspn(text + blanks, " ");
		unsigned columns = columns_of(text + blanks, n);

		if (width && at > indent && at + blanks + columns > width) {
			fprintf(m->out, "\n%*s", (int)indent, "");
			at = indent;
			blanks = 0;
			text += strspn(text, " ");
		}
		put_styled(m, text, blanks + n);
		at += (unsigned)blanks + columns;
		text += blanks + n;
	}
	fputc('\n', m->out);
}

/* Writes one line of a listing, cut at the width. */
static void put_cut_line(const struct text_medium *m, const char *s, size_t n)
{
	unsigned columns = 0;

	while (!m->use_color && n && (s[n - 1] == ' ' || is_mark(s[n - 1])))
		n--;
	for (size_t i = 0; i < n; i++) {
		if (is_mark(s[i])) {
			put_mark(m, s[i]);
			continue;
		}
		columns += ((unsigned char)s[i] & 0xc0) != 0x80;
		if (!m->width || columns <= m->width)
			fputc(s[i], m->out);
	}
	fputc('\n', m->out);
}

static void put_listing(const struct text_medium *m, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		put_cut_line(m, text, n);
		text += n + (text[n] == '\n');
	}
}

struct text_writer {
	const struct text_medium *m;
	unsigned prose_width;
	bool breaks_facts;
};

static void put_block(const struct text_writer *w, const struct block *b)
{
	const struct text_medium *m = w->m;

	switch (b->kind) {
	case BLOCK_GAP:
		fputc('\n', m->out);
		break;
	case BLOCK_HEADING:
		put_mark(m, STYLE_MARK_BASE + CELL_WARM);
		put_styled(m, b->text, strlen(b->text));
		put_mark(m, STYLE_MARK_END);
		fputc('\n', m->out);
		break;
	case BLOCK_LINE:
		write_wrapped(m, b->head, b->text, m->width);
		break;
	case BLOCK_PROSE:
	case BLOCK_ITEM:
		write_wrapped(m, b->head, b->text, w->prose_width);
		break;
	case BLOCK_FACT:
		write_wrapped(m, b->head, b->text, w->breaks_facts ? w->prose_width : m->width);
		break;
	case BLOCK_COMMAND:
		write_wrapped(m, b->head, b->text, 0);
		break;
	case BLOCK_TABLE:
		table_write_text(b->table, m);
		break;
	case BLOCK_LISTING:
		put_listing(m, b->text);
		break;
	}
}

void page_write_text(const struct page *p, const struct text_medium *m)
{
	const bool is_narrow = m->width && m->width < p->prose_width;
	const struct text_writer w = {m, is_narrow ? m->width : p->prose_width, p->breaks_facts};

	for (size_t i = 0; i < p->blocks.n; i++)
		put_block(&w, &p->blocks.v[i]);
}

void blocks_as_text(const struct block *v, size_t n, struct strbuf *out)
{
	char *text = NULL;
	size_t n_bytes = 0;
	struct text_medium m = {.out = open_memstream(&text, &n_bytes)};
	const struct text_writer w = {&m, PROSE_WIDTH, false};

	for (size_t i = 0; m.out && i < n; i++)
		put_block(&w, &v[i]);
	if (!m.out || fclose(m.out) != 0)
		out->failed = true;
	else
		sb_add(out, text, n_bytes);
	free(text);
}
