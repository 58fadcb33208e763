/* SPDX-License-Identifier: Apache-2.0 */
/* report_text.c: the text of a verb taken apart: paragraphs, facts, tables, lists. */
#include "serve/report/report.h"

#define TITLE_MAX 80u
#define FACT_INDENT 8u

static struct str trim_newlines(struct str s)
{
	while (s.n && s.p[0] == '\n')
		s = str_sub(s, 1, s.n);
	while (s.n && s.p[s.n - 1] == '\n')
		s.n--;
	return s;
}

static size_t indent_of(struct str line)
{
	size_t n = 0;

	while (n < line.n && line.p[n] == ' ')
		n++;
	return n;
}

/* A line that only names what follows: no columns, no sentence. */
static bool is_title(struct str line)
{
	return line.n && line.n <= TITLE_MAX && line.p[0] != ' ' && !str_has(line, "  ") &&
	       line.p[0] >= 'A' && line.p[0] <= 'Z' && line.p[line.n - 1] != '.';
}

static bool is_item(struct str line)
{
	struct str s = str_trim(line);

	return indent_of(line) <= 2 && (str_starts(s, "- ") || str_starts(s, "* "));
}

static bool has_columns(struct str line)
{
	return str_has(str_trim(line), "  ");
}

static bool is_ascii(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80)
			return false;
	return true;
}

static struct str first_line(struct str s)
{
	struct str line = {0};

	str_cut(&s, "\n", &line);
	return line;
}

static enum report_kind kind_of(struct str s)
{
	struct str line = first_line(s), second;

	if (is_item(line))
		return REPORT_LIST;
	if (str_starts(line, "kernel  ") || str_starts(line, "A  "))
		return REPORT_FACTS;
	str_cut(&s, "\n", &line);
	second = first_line(s);
	if (str_is(second, "text")) /* a table of one column */
		return REPORT_PLAIN;
	return has_columns(line) && has_columns(second) && !is_item(second) ? REPORT_TABLE
									    : REPORT_PROSE;
}

/* Does a line go on with what the lines before it began? `rest` starts with it. */
static bool goes_on(enum report_kind kind, struct str rest)
{
	struct str line = first_line(rest);

	switch (kind) {
	case REPORT_LIST:
		return is_item(line) || indent_of(line) > 2;
	case REPORT_FACTS:
		return indent_of(line) >= FACT_INDENT ||
		       (indent_of(line) == 0 && has_columns(line));
	case REPORT_TABLE:
		return has_columns(line) && !is_item(line);
	case REPORT_PLAIN:
		return true;
	default:
		return kind_of(rest) == REPORT_PROSE;
	}
}

bool report_next_block(struct str *rest, struct report_block *out)
{
	struct str s = trim_newlines(*rest), line;
	size_t begin = 0, end = 0;

	if (s.n == 0)
		return false;
	*out = (struct report_block){0};
	line = first_line(s);
	/* a title stands after an empty line and has something below it */
	if (s.p != rest->p && is_title(line) && line.n + 1 < s.n && s.p[line.n + 1] != '\n') {
		out->title = line;
		begin = line.n + 1;
	}
	out->kind = kind_of(str_sub(s, begin, s.n));
	for (end = begin; end < s.n;) {
		struct str left = str_sub(s, end, s.n);

		line = first_line(left);
		if (line.n == 0 || (end > begin && !goes_on(out->kind, left)))
			break;
		end += line.n + (end + line.n < s.n);
	}
	out->text = trim_newlines(str_sub(s, begin, end - begin));
	if (out->kind == REPORT_TABLE && !is_ascii(out->text))
		out->kind = REPORT_PLAIN; /* columns are counted in bytes */
	*rest = str_sub(s, end, s.n);
	return true;
}

bool report_next_item(struct str *rest, struct str *item)
{
	struct str s = trim_newlines(*rest), line;
	size_t end = 0;

	if (s.n == 0)
		return false;
	while (end < s.n) {
		struct str left = str_sub(s, end, s.n);

		line = first_line(left);
		if (end && is_item(line))
			break;
		end += line.n + (end + line.n < s.n);
	}
	*item = str_trim(str_sub(s, 0, end));
	*item = str_sub(*item, 2, item->n);
	*rest = str_sub(s, end, s.n);
	return true;
}

/* --- tables: columns are what blanks in all lines keep apart --- */

static bool is_blank_at(struct str text, size_t x)
{
	struct str line;

	while (str_cut(&text, "\n", &line))
		if (x < line.n && line.p[x] != ' ')
			return false;
	return true;
}

unsigned report_columns(struct str text, struct report_column *out, unsigned max)
{
	struct str rest = text, line;
	size_t wide = 0, blanks = 2;
	unsigned n = 0;

	while (str_cut(&rest, "\n", &line))
		wide = line.n > wide ? line.n : wide;
	for (size_t x = 0; x < wide; x++) {
		if (is_blank_at(text, x)) {
			blanks++;
			continue;
		}
		if (blanks >= 2 && n < max)
			out[n++].from = x;
		out[n - 1].to = x + 1;
		blanks = 0;
	}
	if (n)
		out[n - 1].to = wide;
	return n;
}

struct str report_cell(struct str line, const struct report_column *c)
{
	return str_trim(str_sub(line, c->from, c->to - c->from));
}

/* "1,555", "57.0", "-", "0x1f40": to be lined up by their ends. */
bool report_is_number(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((s.p[i] < '0' || s.p[i] > '9') && s.p[i] != ',' && s.p[i] != '.' &&
			s.p[i] != '-')
			return false;
	return true;
}
