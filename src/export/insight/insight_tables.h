/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_tables.h: shared by the writers of the container's tables: the tables stated by the
 * producer, as groups of rows, and the source lines that have figures. Owner: struct insight.
 * Functions that return bool are false only on lack of memory.
 */
#pragma once

#include "base/vec.h"
#include "trace/trace.h"

struct insight;

#define INSIGHT_ANY_UNIT (UINT32_MAX - 1) /* a stated row that names no core */

enum insight_dtype { /* types of columns, as numbered by the viewer */
	INSIGHT_HIDDEN = 0,
	INSIGHT_INT = 1,
	INSIGHT_FLOAT = 2,
	INSIGHT_TEXT = 3,
	INSIGHT_PERCENT = 4,
	INSIGHT_JSON = 5,
	INSIGHT_DETAILS = 100,
};

/* Rows of a stated table for the same instruction or line on different cores. */
struct insight_group {
	uint32_t first, n;
	uint64_t number;   /* address or line */
	source_idx source; /* of a line; NO_SOURCE: not known */
};

/* What the producer stated per instruction (API_INSTR) or per line (API_FILE). */
struct insight_stated {
	const struct named_table *k; /* NULL: nothing stated */
	enum insight_dtype *dtype;   /* by column */
	uint32_t *unit;		     /* by row; INSIGHT_NO_UNIT: its unit is not written */
	VEC(struct insight_group) groups;
};

struct insight_use { /* a code row that belongs to a line, or the line's stated figures */
	source_idx source;
	uint32_t line;
	code_idx code;			    /* NO_CODE: stated figures */
	const struct insight_group *stated; /* or NULL */
};

/* --- insight_stated.c: tables of the producer --- */
bool insight_read_stated(struct insight *s);
/* Index of the column of that name; -1: no such column. */
int insight_stated_column(const struct insight_stated *d, const char *name);
/* A cell; NULL if it is empty. */
static inline const char *insight_stated_cell(
	const struct insight_stated *d, uint32_t row, int column)
{
	return column < 0 ? NULL : d->k->cells[(size_t)row * d->k->n_cols + (unsigned)column];
}

/* --- insight_lines.c: source lines, and which sources have any --- */
bool insight_find_lines(struct insight *s);
/* Is a row of code written to the table? Without a selection also if it was not executed. */
bool insight_is_written(const struct insight *s, code_idx code);
/* Writes placeholder lines for a missing text, up to the last line with figures that is shown. */
bool insight_placeholder(const struct insight *s, source_idx i, struct strbuf *out);

/* --- insight_tables.c, insight_details.c --- */
bool insight_put_api_instr(struct insight *s, struct strbuf *out, uint64_t *n_rows);
bool insight_put_api_file(struct insight *s, struct strbuf *out);
/* Appends the block of a type from 0x05 to 0x0F; nothing if there is no such block. */
bool insight_put_detail(struct insight *s, unsigned type, struct strbuf *out);
