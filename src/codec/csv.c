/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c: parses rows and fields of RFC 4180 text. */
#include "codec/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void csv_init(struct csv_reader *c, const void *data, size_t size, const char *path)
{
	*c = (struct csv_reader){.p = data, .start = data, .path = path, .next_line = 1};
	c->end = c->p + size;
	if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		c->p += 3;
}

void csv_deinit(struct csv_reader *c)
{
	VEC_FREE(&c->fields);
	VEC_FREE(&c->header);
	sb_free(&c->scratch);
	sb_free(&c->header_scratch);
}

static bool csv_fail(struct csv_reader *c, const char *at, const char *code, const char *text,
	struct incore_error *e)
{
	const char *line = at;

	while (line > c->start && line[-1] != '\n')
		line--;
	err_file(e, code, c->path, (uint64_t)(at - c->start), "%s", text);
	if (e) {
		e->line = c->next_line;
		e->column = (uint32_t)(at - line) + 1;
	}
	return false;
}

static bool at_line_end(const struct csv_reader *c)
{
	return c->p >= c->end || *c->p == '\n' ||
	       (*c->p == '\r' && c->end - c->p > 1 && c->p[1] == '\n');
}

static void take_line_end(struct csv_reader *c)
{
	if (c->p < c->end && *c->p == '\r')
		c->p++;
	if (c->p < c->end)
		c->p++;
	c->next_line++;
}

/*
 * Reserves room for all unquoted text of this row at once, because earlier fields point into the
 * scratch buffer; p is inside a quoted field.
 */
static bool reserve_rest_of_row(struct csv_reader *c, const char *p)
{
	bool is_quoted = true;

	if (c->scratch.n)
		return true;
	for (; p < c->end; p++) {
		bool is_doubled = c->end - p > 1 && p[0] == '"' && p[1] == '"';

		if (is_quoted && is_doubled)
			p++;
		else if (is_quoted && *p == '"')
			is_quoted = false;
		else if (!is_quoted && *p == '"')
			is_quoted = p[-1] == ',';
		else if (!is_quoted && *p == '\n')
			break;
	}
	return sb_reserve(&c->scratch, (size_t)(p - c->p));
}

/* Reads a field whose opening quote is at c->p. */
static bool quoted_field(struct csv_reader *c, struct str *out, struct incore_error *e)
{
	const char *open = c->p, *from = open + 1, *quote;
	uint32_t open_line = c->next_line;
	size_t start = c->scratch.n;
	bool has_doubled = false;

	for (const char *p = from;; p = quote + 2) {
		quote = p < c->end ? memchr(p, '"', (size_t)(c->end - p)) : NULL;
		if (!quote) {
			c->next_line = open_line;
			return csv_fail(c, open, "truncated", "quoted field is not closed", e);
		}
		for (; p < quote; p++)
			c->next_line += *p == '\n';
		if (c->end - quote < 2 || quote[1] != '"')
			break;
		if (!has_doubled && !reserve_rest_of_row(c, from))
			return err_nomem(e);
		has_doubled = true;
		sb_add(&c->scratch, from, (size_t)(quote + 1 - from));
		from = quote + 2;
	}
	if (has_doubled) {
		sb_add(&c->scratch, from, (size_t)(quote - from));
		*out = (struct str){c->scratch.p + start, c->scratch.n - start};
	} else {
		*out = (struct str){from, (size_t)(quote - from)};
	}
	c->p = quote + 1;
	if (!at_line_end(c) && *c->p != ',')
		return csv_fail(c, c->p, "bad-csv", "text after a quoted field", e);
	return true;
}

static void plain_field(struct csv_reader *c, struct str *out)
{
	const char *from = c->p;

	while (!at_line_end(c) && *c->p != ',')
		c->p++;
	*out = (struct str){from, (size_t)(c->p - from)};
}

bool csv_row(struct csv_reader *c, bool *at_end, struct incore_error *e)
{
	struct str field = {0};

	*at_end = false;
	c->fields.n = 0;
	sb_reset(&c->scratch);
	while (c->p < c->end && at_line_end(c))
		take_line_end(c);
	if (c->p >= c->end) {
		*at_end = true;
		return false;
	}
	c->line = c->next_line;
	for (;;) {
		if (c->fields.n >= CSV_MAX_FIELDS)
			return csv_fail(c, c->p, "bad-csv", "more than 1024 fields in a row", e);
		if (c->p < c->end && *c->p == '"') {
			if (!quoted_field(c, &field, e))
				return false;
		} else {
			plain_field(c, &field);
		}
		if (!VEC_PUSH(&c->fields, field))
			return err_nomem(e);
		if (at_line_end(c))
			break;
		c->p++; /* the comma */
	}
	if (c->p < c->end)
		take_line_end(c);
	return c->scratch.failed ? err_nomem(e) : true;
}

bool csv_header(struct csv_reader *c, struct incore_error *e)
{
	size_t at = 0;
	bool at_end;

	if (!csv_row(c, &at_end, e))
		return at_end ? csv_fail(c, c->p, "truncated", "empty file, expected a header line",
					e)
			      : false;
	sb_reset(&c->header_scratch);
	for (size_t i = 0; i < c->fields.n; i++)
		sb_str(&c->header_scratch, c->fields.v[i]);
	if (c->header_scratch.failed || !VEC_RESERVE(&c->header, c->fields.n))
		return err_nomem(e);
	c->header.n = 0;
	for (size_t i = 0; i < c->fields.n; i++) {
		c->header.v[c->header.n++] =
			(struct str){c->header_scratch.p + at, c->fields.v[i].n};
		at += c->fields.v[i].n;
	}
	return true;
}

int csv_column(const struct csv_reader *c, const char *name)
{
	for (size_t i = 0; i < c->header.n; i++)
		if (str_is(c->header.v[i], name))
			return (int)i;
	return -1;
}

struct str csv_field(const struct csv_reader *c, int column)
{
	if (column < 0 || (size_t)column >= c->fields.n)
		return STR("");
	return c->fields.v[column];
}

static bool is_formula(struct str s)
{
	char text[64] = "", *end;

	if (s.n < 2 || !s.p[0] || !strchr("=+-@", s.p[0]))
		return false;
	if (s.n >= sizeof(text))
		return true;
	snprintf(text, sizeof(text), "%.*s", STR_ARG(s));
	strtod(text, &end);
	return end != text + s.n;
}

static bool csv_put_field(struct strbuf *out, const char *before, struct str field)
{
	bool needs_quotes = false;

	for (size_t i = 0; i < field.n; i++)
		needs_quotes |= field.p[i] && strchr(",\"\r\n", field.p[i]);
	sb_puts(out, needs_quotes ? "\"" : "");
	sb_puts(out, before);
	for (size_t i = 0; needs_quotes && i < field.n; i++) {
		if (field.p[i] == '"')
			sb_putc(out, '"');
		sb_putc(out, field.p[i]);
	}
	return needs_quotes ? sb_putc(out, '"') : sb_str(out, field);
}

bool csv_put(struct strbuf *out, struct str field)
{
	return csv_put_field(out, "", field);
}

bool csv_put_text(struct strbuf *out, struct str field)
{
	return csv_put_field(out, is_formula(field) ? "'" : "", field);
}
