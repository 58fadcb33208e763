/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_text.c: writes a page to a terminal or pipe; paragraphs are broken if a width is known.
 *
 * Parts: an aligned table; a page.
 */
#include <limits.h>
#include <stdlib.h>

#include "page/write.h"

/* --- an aligned table ------------------------------------------------------------------------- */

/*
 * An aligned table as text. Columns are two blanks apart. If the width is known and too small,
 * texts in columns that may be cut are shortened first, then whole columns are left out, and a line
 * says which. In a pipe nothing is cut.
 */

static void write_wrapped(
	const struct text_medium *m, const char *head, const char *text, unsigned width);

#define CUT_LEAST 12 /* a column is never cut below this */
#define LEFT_OUT UINT_MAX

/* Code points, near enough to columns for disassembly and paths. */
static unsigned text_width(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* Width of the columns that are not left out; with is_cut, each is cut as far as allowed. */
static unsigned line_width(const struct table *t, const unsigned *w, bool is_cut)
{
	unsigned total = 0;

	for (unsigned k = 0; k < t->n_columns; k++) {
		bool is_short = is_cut && t->columns[k].may_cut && w[k] > CUT_LEAST;

		if (w[k] != LEFT_OUT)
			total += (total ? 2 : 0) + (is_short ? CUT_LEAST : w[k]);
	}
	return total;
}

/* The column to leave out next: in the stated order, then the last of those that cannot be cut. The
 * first column stays, since it says what a row is. */
static unsigned next_to_leave(const struct table *t, const unsigned *w)
{
	unsigned first = t->n_columns;

	for (unsigned k = 0; k < t->n_columns; k++)
		if (t->columns[k].leaves && w[k] != LEFT_OUT &&
			(first == t->n_columns || t->columns[k].leaves < t->columns[first].leaves))
			first = k;
	for (unsigned k = t->n_columns; first == t->n_columns && k-- > 1;)
		if (!t->columns[k].may_cut && w[k] != LEFT_OUT)
			first = k;
	return first;
}

static void leave_out(const struct table *t, unsigned width, unsigned *w)
{
	while (width && line_width(t, w, true) > width) {
		unsigned next = next_to_leave(t, w);

		if (next == t->n_columns)
			return;
		w[next] = LEFT_OUT;
	}
}

static void column_widths(const struct table *t, unsigned width, unsigned *w)
{
	unsigned total;

	for (unsigned k = 0; k < t->n_columns; k++)
		w[k] = text_width(t->columns[k].title);
	for (size_t i = 0; i < t->cells.n; i++) {
		unsigned n = text_width(t->cells.v[i].text);

		if (n > w[i % t->n_columns])
			w[i % t->n_columns] = n;
	}
	leave_out(t, width, w);
	total = line_width(t, w, false);
	/* Shorten the widest column that may be cut first. */
	while (width && total > width) {
		unsigned widest = t->n_columns;

		for (unsigned k = 0; k < t->n_columns; k++) {
			if (t->columns[k].may_cut && w[k] != LEFT_OUT && w[k] > CUT_LEAST &&
				(widest == t->n_columns || w[k] > w[widest]))
				widest = k;
		}
		if (widest == t->n_columns)
			break;
		w[widest]--;
		total--;
	}
}

/* Is it a place like "file.py:12", identified by its end? "offset:12" of an instruction is not. */
static bool is_place(const char *s)
{
	const char *colon = strrchr(s, ':'), *blank = strrchr(s, ' '),
		   *word = blank ? blank + 1 : s;

	return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) &&
	       strcspn(word, "./") < (size_t)(colon - word);
}

/* Writes at most `left` of the n columns of a text, with a sign where it was cut. */
static void write_text_put_cut(
	const struct text_medium *m, const char *text, unsigned n, unsigned left)
{
	const bool keeps_end = n > left && is_place(text);
	unsigned from = keeps_end ? n - left + 1 : 0, to = n > left && !keeps_end ? left - 1 : n;
	unsigned at = 0;

	if (keeps_end)
		fputs("\xe2\x80\xa6", m->out);
	for (const char *p = text; *p; p++) {
		at += ((unsigned char)*p & 0xc0) != 0x80;
		if (at > from && at <= to)
			fputc(*p, m->out);
	}
	if (to < n)
		fputs("\xe2\x80\xa6", m->out);
}

/* Writes one cell, padded unless it ends the line. */
static void write_text_put_cell(const struct table *t, const struct text_medium *m,
	const char *text, unsigned k, const unsigned *widths, enum cell_style style)
{
	unsigned n = text_width(text), w = widths[k], next = k + 1;
	int padding = n < w ? (int)(w - n) : 0;
	bool is_last;

	if (w == LEFT_OUT)
		return;
	while (next < t->n_columns && widths[next] == LEFT_OUT)
		next++;
	is_last = next == t->n_columns;
	if (t->columns[k].align == CELL_RIGHT)
		fprintf(m->out, "%*s", padding, "");
	if (style != CELL_PLAIN && m->use_color)
		fputs(style_code(style), m->out);
	write_text_put_cut(m, text, n, w);
	if (style != CELL_PLAIN && m->use_color)
		fputs(style_code_end, m->out);
	if (t->columns[k].align == CELL_LEFT && !is_last)
		fprintf(m->out, "%*s", padding, "");
	fputs(is_last ? "\n" : "  ", m->out);
}

static void tell_left_out(const struct table *t, const struct text_medium *m, const unsigned *w)
{
	struct strbuf names = {0};

	for (unsigned k = 0; k < t->n_columns; k++)
		if (w[k] == LEFT_OUT)
			sb_printf(&names, "%s%s", names.n ? ", " : "", t->columns[k].title);
	if (names.n) {
		sb_puts(&names, " (a pipe and --csv have all)");
		write_wrapped(m, "no room for: ", names.failed ? "all columns" : names.p, m->width);
	}
	sb_free(&names);
}

void table_write_text(const struct table *t, const struct text_medium *m)
{
	unsigned w[TABLE_COLUMNS];

	if (!t->n_columns)
		return;
	column_widths(t, m->width, w);
	for (unsigned k = 0; k < t->n_columns; k++)
		write_text_put_cell(t, m, t->columns[k].title, k, w, CELL_DIM);
	for (size_t i = 0; i < t->cells.n; i++)
		write_text_put_cell(t, m, t->cells.v[i].text, (unsigned)(i % t->n_columns), w,
			t->cells.v[i].style);
	tell_left_out(t, m, w);
}

/* --- a page ----------------------------------------------------------------------------------- */

static bool write_text_is_mark(char c)
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
		if (i < n && !write_text_is_mark(s[i]))
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
		columns += ((unsigned char)s[i] & 0xc0) != 0x80 && !write_text_is_mark(s[i]);
	return columns;
}

/* Bytes of the next word; one that fits on no line of `room` columns is broken after a '|' of its
 * choices. */
static size_t write_text_next_part(const char *word, unsigned room)
{
	size_t n = strcspn(word, " "), part = 0;

	if (columns_of(word, n) <= room)
		return n;
	for (size_t i = 1; i <= n && columns_of(word, i) <= room; i++)
		if (word[i - 1] == '|')
			part = i;
	return part ? part : n;
}

/* A paragraph of at most `width` columns (0: no limit): `head`, then the words of the text, with
 * further lines indented to the end of head. Ends with a newline. */
static void write_wrapped(
	const struct text_medium *m, const char *head, const char *text, unsigned width)
{
	unsigned indent = columns_of(head, strlen(head)), at = indent;

	put_styled(m, head, strlen(head));
	while (*text) {
		size_t blanks = strspn(text, " ");
		size_t n = write_text_next_part(
			text + blanks, width > indent ? width - indent : UINT_MAX);
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

	while (!m->use_color && n && (s[n - 1] == ' ' || write_text_is_mark(s[n - 1])))
		n--;
	for (size_t i = 0; i < n; i++) {
		if (write_text_is_mark(s[i])) {
			put_mark(m, s[i]);
			continue;
		}
		columns += ((unsigned char)s[i] & 0xc0) != 0x80;
		if (!m->width || columns <= m->width)
			fputc(s[i], m->out);
	}
	fputc('\n', m->out);
}

static void write_text_put_listing(const struct text_medium *m, const char *text)
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

static void write_text_put_block(const struct text_writer *w, const struct page_block *b)
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
		write_text_put_listing(m, b->text);
		break;
	}
}

void page_write_text(const struct page *p, const struct text_medium *m)
{
	const bool is_narrow = m->width && m->width < p->prose_width;
	const struct text_writer w = {m, is_narrow ? m->width : p->prose_width, p->breaks_facts};

	for (size_t i = 0; i < p->blocks.n; i++)
		write_text_put_block(&w, &p->blocks.v[i]);
}

void blocks_as_text(const struct page_block *v, size_t n, struct strbuf *out)
{
	char *text = NULL;
	size_t n_bytes = 0;
	struct text_medium m = {.out = open_memstream(&text, &n_bytes)};
	const struct text_writer w = {&m, PROSE_WIDTH, false};

	for (size_t i = 0; m.out && i < n; i++)
		write_text_put_block(&w, &v[i]);
	if (!m.out || fclose(m.out) != 0)
		out->failed = true;
	else
		sb_add(out, text, n_bytes);
	free(text);
}
