/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c: how do rows of cells become aligned text or CSV? Columns stand two blanks apart; on a
 * narrow terminal the columns that may be cut give way first, then those that may be left out go,
 * and a line says which. In a pipe nothing is cut.
 */
#include "cli/text/table.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "cli/text/say.h"
#include "codec/csv.h"

#define CUT_LEAST 12 /* a column is never cut below this */
#define LEFT_OUT UINT_MAX
#define TABLE_COLUMNS 64

static const char *const style_codes[] = {
	[CELL_PLAIN] = "",
	[CELL_DIM] = "\033[2m",
	[CELL_HOT] = "\033[1;31m",
	[CELL_WARM] = "\033[33m",
	[CELL_GOOD] = "\033[32m",
	[CELL_BAD] = "\033[31m",
};

const char *style_on(const struct cli *c, enum cell_style style)
{
	return c->use_color ? style_codes[style] : "";
}

static const char style_end[] = "\033[0m";

const char *style_off(const struct cli *c)
{
	return c->use_color ? style_end : "";
}

bool style_is(const char *code)
{
	for (size_t i = 0; i < sizeof(style_codes) / sizeof(style_codes[0]); i++)
		if (code == style_codes[i])
			return true;
	return code == style_end;
}

void table_init(struct table *t, const struct table_column *columns, unsigned n)
{
	*t = (struct table){.columns = columns, .n_columns = n};
	arena_init(&t->arena);
	if (n > TABLE_COLUMNS)
		t->is_failed = true;
}

static void take_title(struct table *t, struct str title, struct table_column *out)
{
	struct str text;

	out->may_cut = str_ends(title, "~");
	out->align = out->may_cut || str_ends(title, "<") ? CELL_LEFT : CELL_RIGHT;
	title.n -= out->align == CELL_LEFT;
	str_cut(&title, "=", &text);
	out->title = arena_strndup(&t->arena, text.p, text.n);
	out->csv_title = title.n ? arena_strndup(&t->arena, title.p, title.n) : out->title;
	t->is_failed |= !out->title || !out->csv_title;
}

void table_titles(struct table *t, const char *titles)
{
	struct table_column *columns;
	struct str rest = str_of(titles), title;
	unsigned n = 0;

	table_init(t, NULL, TABLE_COLUMNS);
	columns = arena_zalloc(&t->arena, TABLE_COLUMNS, sizeof(*columns));
	for (; columns && n < TABLE_COLUMNS && str_cut(&rest, "|", &title); n++)
		take_title(t, title, &columns[n]);
	t->columns = columns;
	t->n_columns = n;
	t->is_failed |= !columns;
}

void table_deinit(struct table *t)
{
	VEC_FREE(&t->cells);
	arena_deinit(&t->arena);
}

static void add_cell(struct table *t, const char *text, const char *csv)
{
	if (!text || !VEC_PUSH(&t->cells, (struct table_cell){.text = text, .csv = csv}))
		t->is_failed = true;
}

void table_str(struct table *t, struct str s)
{
	struct strbuf plain = {0};
	char *text;

	sb_plain(&plain, s);
	text = plain.failed ? NULL : arena_strndup(&t->arena, plain.p ? plain.p : "", plain.n);
	for (size_t i = 0; text && i < plain.n; i++)
		if (text[i] == '\t')
			text[i] = ' ';
	add_cell(t, text, NULL);
	if (!t->is_failed)
		t->cells.v[t->cells.n - 1].is_text = true;
	sb_free(&plain);
}

void table_cstr(struct table *t, const char *s)
{
	table_str(t, str_of(s));
}

void table_u64(struct table *t, uint64_t v)
{
	char buf[32];
	const char *csv = arena_printf(&t->arena, "%llu", (unsigned long long)v);

	add_cell(t, arena_strdup(&t->arena, fmt_u64(buf, v)), csv);
}

void table_i64(struct table *t, int64_t v)
{
	char buf[32];
	uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	const char *csv = arena_printf(&t->arena, "%lld", (long long)v);

	add_cell(t, arena_printf(&t->arena, "%s%s", v < 0 ? "-" : "", fmt_u64(buf, size)), csv);
}

void table_double(struct table *t, double v, int digits)
{
	if (!isfinite(v))
		add_cell(t, "-", "");
	else if (digits < 0)
		add_cell(t, arena_printf(&t->arena, "%.*g", -digits, v), NULL);
	else
		add_cell(t, arena_printf(&t->arena, "%.*f", digits, v), NULL);
}

void table_pct(struct table *t, uint64_t part, uint64_t whole)
{
	if (whole)
		table_double(t, 100.0 * (double)part / (double)whole, 1);
	else
		add_cell(t, "-", "");
}

/* The first or the last `max` bytes of a text, with dots for what is missing. */
static char *shorten(struct table *t, const char *text, size_t max, bool keeps_end)
{
	size_t n = strlen(text);

	if (n <= max)
		return arena_strdup(&t->arena, text);
	return keeps_end ? arena_printf(&t->arena, "...%s", text + n - (max - 3))
			 : arena_printf(&t->arena, "%.*s...", (int)(max - 3), text);
}

static void put_value(struct table *t, const struct cell_value *v)
{
	switch (v->kind) {
	case VALUE_TEXT:
		table_cstr(t, v->text);
		break;
	case VALUE_START:
	case VALUE_END:
		table_cstr(t, shorten(t, v->text, v->whole, v->kind == VALUE_END));
		break;
	case VALUE_COUNT:
		table_u64(t, v->count);
		break;
	case VALUE_NAME:
		add_cell(t, arena_printf(&t->arena, "%lld", (long long)v->count), NULL);
		break;
	case VALUE_ADDRESS:
		add_cell(t, arena_printf(&t->arena, "0x%llx", (unsigned long long)v->count), NULL);
		break;
	case VALUE_PERCENT:
		table_pct(t, v->count, v->whole);
		break;
	case VALUE_DOUBLE:
		table_double(t, v->real, v->digits);
		break;
	}
}

void table_row(struct table *t, const struct cell_value *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_value(t, &v[i]);
}

void table_style(struct table *t, enum cell_style style)
{
	if (t->cells.n)
		t->cells.v[t->cells.n - 1].style = style;
}

/* Code points, near enough to columns for disassembly and paths. */
static unsigned text_width(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* Of the columns that are not left out, each cut as far as it may be if `is_cut`. */
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

static void leave_out(const struct table *t, unsigned width, unsigned *w)
{
	while (width && line_width(t, w, true) > width) {
		unsigned first = t->n_columns;

		for (unsigned k = 0; k < t->n_columns; k++)
			if (t->columns[k].leaves && w[k] != LEFT_OUT &&
				(first == t->n_columns ||
					t->columns[k].leaves < t->columns[first].leaves))
				first = k;
		if (first == t->n_columns)
			return;
		w[first] = LEFT_OUT;
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
	/* The widest column that may be cut loses first. */
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

/* "file:12": what tells it from others stands at its end. */
static bool is_place(const char *s)
{
	const char *colon = strrchr(s, ':');

	return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

/* What is left of a text that takes n columns, with a sign where it was cut. */
static void put_cut(struct cli *c, const char *text, unsigned n, unsigned left)
{
	const bool keeps_end = n > left && is_place(text);
	unsigned from = keeps_end ? n - left + 1 : 0, to = n > left && !keeps_end ? left - 1 : n;
	unsigned at = 0;

	if (keeps_end)
		fputs("\xe2\x80\xa6", c->out);
	for (const char *p = text; *p; p++) {
		at += ((unsigned char)*p & 0xc0) != 0x80;
		if (at > from && at <= to)
			fputc(*p, c->out);
	}
	if (to < n)
		fputs("\xe2\x80\xa6", c->out);
}

/* One cell, padded unless it ends the line. */
static void put_cell(const struct table *t, struct cli *c, const char *text, unsigned k,
	const unsigned *widths, enum cell_style style)
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
		fprintf(c->out, "%*s", padding, "");
	if (style != CELL_PLAIN)
		fputs(style_on(c, style), c->out);
	put_cut(c, text, n, w);
	if (style != CELL_PLAIN)
		fputs(style_off(c), c->out);
	if (t->columns[k].align == CELL_LEFT && !is_last)
		fprintf(c->out, "%*s", padding, "");
	fputs(is_last ? "\n" : "  ", c->out);
}

static void tell_left_out(const struct table *t, struct cli *c, const unsigned *w)
{
	unsigned n = 0;

	for (unsigned k = 0; k < t->n_columns; k++)
		if (w[k] == LEFT_OUT)
			say(c->out, "%s%s", n++ ? ", " : "no room for: ", t->columns[k].title);
	if (n)
		fputs(" (a pipe and --csv have all)\n", c->out);
}

static void print_text(const struct table *t, struct cli *c)
{
	unsigned w[TABLE_COLUMNS];

	column_widths(t, c->width, w);
	for (unsigned k = 0; k < t->n_columns; k++)
		put_cell(t, c, t->columns[k].title, k, w, CELL_DIM);
	for (size_t i = 0; i < t->cells.n; i++)
		put_cell(t, c, t->cells.v[i].text, (unsigned)(i % t->n_columns), w,
			t->cells.v[i].style);
	tell_left_out(t, c, w);
}

static bool print_csv(const struct table *t, struct cli *c)
{
	struct strbuf line = {0};
	bool ok;

	for (unsigned k = 0; k < t->n_columns; k++) {
		const struct table_column *col = &t->columns[k];

		if (k)
			sb_putc(&line, ',');
		csv_put(&line, str_of(col->csv_title ? col->csv_title : col->title));
	}
	sb_puts(&line, "\r\n");
	for (size_t i = 0; i < t->cells.n; i++) {
		const struct table_cell *cell = &t->cells.v[i];

		(cell->is_text ? csv_put_text : csv_put)(
			&line, str_of(cell->csv ? cell->csv : cell->text));
		sb_puts(&line, i % t->n_columns + 1 == t->n_columns ? "\r\n" : ",");
		if (line.n > 1 << 16 && !line.failed) {
			fwrite(line.p, 1, line.n, c->out);
			sb_reset(&line);
		}
	}
	if (line.n && !line.failed)
		fwrite(line.p, 1, line.n, c->out);
	ok = !line.failed;
	sb_free(&line);
	return ok;
}

bool table_print(struct table *t, struct cli *c)
{
	if (t->is_failed || !t->n_columns || (c->use_csv && !print_csv(t, c)))
		return err_nomem(&c->error);
	if (!c->use_csv)
		print_text(t, c);
	return true;
}

bool table_finish(struct table *t, struct cli *c)
{
	bool ok = table_print(t, c);

	table_deinit(t);
	return ok;
}

void cli_wrapped(const struct cli *c, const char *s, unsigned first, unsigned indent)
{
	unsigned width = c->width > 40 ? c->width : 120, at = first;

	while (*s) {
		size_t n = strcspn(s, " ");

		if (at + n + 1 > width && at > indent) {
			say(c->out, "\n%*s", (int)indent, "");
			at = indent;
		}
		say(c->out, "%s%.*s", at > indent ? " " : "", (int)n, s);
		at += (unsigned)n + (at > indent);
		s += n;
		s += strspn(s, " ");
	}
	fputc('\n', c->out);
}
