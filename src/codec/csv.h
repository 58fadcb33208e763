/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h: RFC 4180 reader, row by row, over bytes in memory, and field quoting for writers.
 * Fields are valid until the next csv_row(). Limit: CSV_MAX_FIELDS fields per row; more are an
 * error. Lines end in LF or CRLF; empty lines and a byte order mark are skipped; a quote inside an
 * unquoted field is a plain character.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#define CSV_MAX_FIELDS 1024

struct csv_reader {
	const char *p, *start, *end;
	const char *path;
	uint32_t line;		/* 1-based line where the last row read begins */
	uint32_t next_line;	/* line of p */
	VEC(struct str) fields; /* of the last row read */
	VEC(struct str) header;
	struct strbuf scratch; /* unquoted text of the current row */
	struct strbuf header_scratch;
};

void csv_init(struct csv_reader *c, const void *data, size_t size, const char *path);
void csv_deinit(struct csv_reader *c);
/* Reads the first row as header. */
bool csv_header(struct csv_reader *c, struct incore_error *e);
/* True: c->fields has a row. False: end of input (e untouched, *at_end set) or an error. */
bool csv_row(struct csv_reader *c, bool *at_end, struct incore_error *e);
/* Column of that name or -1. */
int csv_column(const struct csv_reader *c, const char *name);
/* Field of the current row, or an empty string when the column is -1 or missing. */
struct str csv_field(const struct csv_reader *c, int column);
/* Appends one field, quoted if necessary. */
bool csv_put(struct strbuf *out, struct str field);
/* csv_put() for untrusted text: a text that a spreadsheet would take for a formula (it begins with
 * = + - @ and is not a number) is prefixed with an apostrophe. */
bool csv_put_text(struct strbuf *out, struct str field);
