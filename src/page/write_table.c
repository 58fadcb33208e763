/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_table.c: an aligned table as text. Columns are two blanks apart. If the width is known and
 * too small, texts in columns that may be cut are shortened first, then whole columns are left out,
 * and a line says which. In a pipe nothing is cut.
 */
#include <limits.h>

#include "page/write.h"

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
static void put_cut(const struct text_medium *m, const char *text, unsigned n, unsigned left)
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
static void put_cell(const struct table *t, const struct text_medium *m, const char *text,
	unsigned k, const unsigned *widths, enum cell_style style)
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
	put_cut(m, text, n, w);
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
		put_cell(t, m, t->columns[k].title, k, w, CELL_DIM);
	for (size_t i = 0; i < t->cells.n; i++)
		put_cell(t, m, t->cells.v[i].text, (unsigned)(i % t->n_columns), w,
			t->cells.v[i].style);
	tell_left_out(t, m, w);
}
