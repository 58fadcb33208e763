/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h: what a verb says to a person, as blocks: headings, facts, prose, tables, listings. Who makes
 * a page knows nothing of its medium; a writer (write.h) knows its width, its colours and its form.
 * Text of files is made plain as it comes in (say.h).
 *
 * Owner: the caller; page_deinit() frees. Failures latch: a page is put together without a check, and
 * page_is_whole() tells in the end.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "codec/record.h"
#include "page/say.h"
#include "page/table.h"

#define PROSE_WIDTH 120u /* of paragraphs, unless a page asks for less */

enum block_kind {
	BLOCK_GAP,     /* an empty line */
	BLOCK_HEADING, /* of what follows */
	BLOCK_LINE,    /* a line as it is; broken only where a known width asks for it */
	BLOCK_PROSE,   /* a paragraph, broken at any width */
	BLOCK_ITEM,    /* a paragraph of a list */
	BLOCK_FACT,    /* a name and what is said of it */
	BLOCK_COMMAND, /* a fact that is a command to copy: never broken */
	BLOCK_TABLE,
	BLOCK_LISTING, /* lines whose places matter; cut at a known width, never broken */
};

struct block {
	enum block_kind kind;
	/* What stands before the first line of a paragraph, item or fact with the blanks around it;
	 * the further lines stand below its end. */
	const char *head;
	const char *text;    /* with style marks */
	struct table *table; /* BLOCK_TABLE */
};

struct page {
	/* What the reader asked for: set before the page is made. */
	bool is_csv;	     /* one table, with all its columns, and nothing else */
	bool explains;	     /* how to read it, too */
	const char *columns; /* of its main table: "a,b", "+c,-d"; NULL: as the page has them */
	/* What the page says of itself. */
	uint64_t n_waves;     /* cycles in tables are of the mean of so many; 0: of all together */
	unsigned prose_width; /* of paragraphs where no width is known, and at most */
	bool breaks_facts;    /* facts are broken there, too */
	bool is_long;	      /* better read in a pager, */
	unsigned open_at;     /* which opens at this line; 0: at the top */
	/* Private. */
	struct arena arena;
	VEC(struct block) blocks;
	VEC(struct table *) tables;
	struct table no_table; /* stands in where memory is out */
	struct strbuf said;
	struct incore_error error;
	bool is_failed, has_main;
};

void page_init(struct page *p);
void page_deinit(struct page *p);
/* Is all there that was put? Else *e says why not. */
bool page_is_whole(struct page *p, struct incore_error *e);

/* Adds to the text of the next line, paragraph, item or fact. */
void page_say(struct page *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* End that text, after one more part. */
void page_line(struct page *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
void page_prose(struct page *p, const char *head, const char *fmt, ...) PRINTF_LIKE(3, 4);
void page_item(struct page *p, const char *head, const char *fmt, ...) PRINTF_LIKE(3, 4);
void page_fact(struct page *p, const char *head, const char *fmt, ...) PRINTF_LIKE(3, 4);
void page_command(struct page *p, const char *head, const char *fmt, ...) PRINTF_LIKE(3, 4);

void page_gap(struct page *p);
void page_heading(struct page *p, const char *text); /* below a gap */
void page_lines(struct page *p, const char *text);   /* each its own line */
/* Lines whose places matter; with marks, and plain otherwise. */
void page_listing(struct page *p, const char *text);

/* A table to be filled by the caller; never NULL. */
struct table *page_table(struct page *p, const char *titles);
struct table *page_table_of(struct page *p, const struct table_column *columns, unsigned n);

/*
 * Rows of an answer as a table, by the descriptions of their columns. A column is named by its path in
 * the record; "path=TITLE" heads it otherwise, in CSV too, and "path=TITLE=csv_title" each in its own
 * way. "2?path" is left out as the second where the page is too narrow for all. NULL ends the list.
 */
void page_records(
	struct page *p, const struct record *r, struct rows rows, const char *const *columns);
/* The main table of the page, whose columns the reader may choose (columns above). */
void page_main_records(
	struct page *p, const struct record *r, struct rows rows, const char *const *columns);
/* How a cell stands out: by its row and the name of its column. */
typedef enum cell_style (*cell_style_fn)(const void *row, const char *column);
void page_main_records_styled(struct page *p, const struct record *r, struct rows rows,
	const char *const *columns, cell_style_fn style);
/*
 * The columns that a reader chose instead of the defaults, as specs that live in the arena. NULL with
 * status USAGE where a name is none of r's columns.
 */
const char *const *columns_chosen(struct arena *a, const struct record *r, const char *wanted,
	const char *const *defaults, struct incore_error *e);

/* How numbers of rows are to be read. */
struct record_cells {
	bool is_csv;
	uint64_t n_waves; /* as of a page */
	cell_style_fn style;
};
/* Makes *t of rows; the caller frees it, also after a failure. */
bool table_of_records(struct table *t, const struct record *r, struct rows rows,
	const char *const *columns, const struct record_cells *as, struct incore_error *e);
