/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_tables.h: what the writers of the container's tables share: the tables that the producer
 * stated, as groups of rows, and the source lines that have figures. Owner: struct insight. All that
 * return bool are false on lack of memory alone.
 */
#pragma once

#include "base/vec.h"
#include "trace/trace.h"

struct insight;

#define INSIGHT_ANY_UNIT (UINT32_MAX - 1) /* a stated row that names no core */

enum insight_dtype { /* of a column, as the viewer numbers them */
	INSIGHT_HIDDEN = 0,
	INSIGHT_INT = 1,
	INSIGHT_FLOAT = 2,
	INSIGHT_TEXT = 3,
	INSIGHT_PERCENT = 4,
	INSIGHT_JSON = 5,
	INSIGHT_DETAILS = 100,
};

/* Rows of a stated table that are one instruction, or one line, on its cores. */
struct insight_group {
	uint32_t first, n;
	uint64_t number;   /* its address, or its line */
	source_idx source; /* of a line; NO_SOURCE: not known */
};

/* What the producer stated per instruction (API_INSTR) or per line (API_FILE). */
struct insight_stated {
	const struct named_table *k; /* NULL: nothing */
	enum insight_dtype *dtype;   /* by column */
	uint32_t *unit;		     /* by row: INSIGHT_NO_UNIT: of none that is written */
	VEC(struct insight_group) groups;
};

struct insight_use { /* a row that a line has a part in, or what is stated of the line */
	source_idx source;
	uint32_t line;
	code_idx code;			    /* NO_CODE: it is stated */
	const struct insight_group *stated; /* or NULL */
};

/* --- insight_stated.c: what the producer said --- */
bool insight_read_stated(struct insight *s);
/* Its column of that name; -1: none. */
int insight_stated_column(const struct insight_stated *d, const char *name);
/* A cell, NULL where nothing is said. */
static inline const char *insight_stated_cell(
	const struct insight_stated *d, uint32_t row, int column)
{
	return column < 0 ? NULL : d->k->cells[(size_t)row * d->k->n_cols + (unsigned)column];
}

/* --- insight_lines.c: source lines, and which sources have any --- */
bool insight_find_lines(struct insight *s);
/* Does the table have a row of code? Without a selection also where it was not executed. */
bool insight_is_written(const struct insight *s, code_idx code);
/* Lines that say that there is no text, as far as there are figures and the page shows lines. */
bool insight_placeholder(const struct insight *s, source_idx i, struct strbuf *out);

/* --- insight_tables.c, insight_details.c --- */
bool insight_put_api_instr(struct insight *s, struct strbuf *out, uint64_t *n_rows);
bool insight_put_api_file(struct insight *s, struct strbuf *out);
/* The block of a type from 0x05 to 0x0F; nothing is added where there is none. */
bool insight_put_detail(struct insight *s, unsigned type, struct strbuf *out);
