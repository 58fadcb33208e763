/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h: the output of a verb for people, as blocks: headings, facts, prose, tables, listings.
 * Code that makes a page does not know the medium; writers (write.h) know width, colours and form.
 * Text from files is made plain as it comes in (say.h).
 *
 * Owner: the caller; page_deinit() frees. Failures latch: calls that add to a page need no check,
 * and page_is_whole() reports them in the end.
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
	BLOCK_LINE,    /* a line as it is; broken only if it exceeds a known width */
	BLOCK_PROSE,   /* a paragraph, broken even if no width is known */
	BLOCK_ITEM,    /* a paragraph of a list */
	BLOCK_FACT,    /* a name and its value or description */
	BLOCK_COMMAND, /* a fact that is a command to copy: never broken */
	BLOCK_TABLE,
	BLOCK_LISTING, /* lines whose columns matter; cut at a known width, never broken */
};

struct page_block {
	enum block_kind kind;
	/* Text before the first line of a paragraph, item or fact, with the blanks around it.
	 * Further lines are indented to its end. */
	const char *head;
	const char *text;    /* with style marks */
	struct table *table; /* BLOCK_TABLE */
};

struct page {
	/* Requested by the reader: set before the page is made. */
	bool is_csv;	     /* one table, with all its columns, and nothing else */
	bool explains;	     /* also explain how to read the page */
	const char *columns; /* of the main table: "a,b", "+c,-d"; NULL: the page's own choice */
	/* Set by the code that makes the page. */
	uint64_t n_waves;     /* cycles in tables are the mean of so many waves; 0: sums of all */
	unsigned prose_width; /* most columns of a paragraph, and its width if none is known */
	bool breaks_facts;    /* facts are broken at prose_width, too */
	bool is_long;	      /* better read in a pager */
	unsigned open_at;     /* line at which the pager opens; 0: at the top */
	/* Private. */
	struct arena arena;
	VEC(struct page_block) blocks;
	VEC(struct table *) tables;
	struct table no_table; /* stand-in for a table when out of memory */
	struct strbuf said;
	struct incore_error error;
	bool is_failed, has_main;
};

void page_init(struct page *p);
void page_deinit(struct page *p);
/* Is everything there that was added? If not, *e says why. */
bool page_is_whole(struct page *p, struct incore_error *e);

/* Adds to the text of the next line, paragraph, item or fact. */
void page_say(struct page *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Adds one last part to that text and makes it a block of one of the kinds that have text. */
void page_end(struct page *p, enum block_kind kind, const char *head, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
#define page_line(p, ...) page_end((p), BLOCK_LINE, "", __VA_ARGS__)
#define page_prose(p, head, ...) page_end((p), BLOCK_PROSE, (head), __VA_ARGS__)
#define page_item(p, head, ...) page_end((p), BLOCK_ITEM, (head), __VA_ARGS__)
#define page_fact(p, head, ...) page_end((p), BLOCK_FACT, (head), __VA_ARGS__)
#define page_command(p, head, ...) page_end((p), BLOCK_COMMAND, (head), __VA_ARGS__)

void page_gap(struct page *p);
void page_heading(struct page *p, const char *text); /* below a gap */
void page_lines(struct page *p, const char *text);   /* one block per line */
/* Lines whose columns matter. The text may hold style marks and must otherwise be plain. */
void page_listing(struct page *p, const char *text);

/* A table to be filled by the caller; never NULL. */
struct table *page_table(struct page *p, const char *titles);
struct table *page_table_of(struct page *p, const struct table_column *columns, unsigned n);

/*
 * Rows of an answer as a table, by the descriptions of their columns. A column is named by its path
 * in the record; "path=TITLE" changes its title, in CSV too; "path=TITLE=csv_title" gives each its
 * own. "2?path" is the second to be left out if the page is too narrow. NULL ends the list.
 */
void page_records(
	struct page *p, const struct record *r, struct rows rows, const char *const *columns);
/* The main table of the page, whose columns the reader may choose (page.columns). */
void page_main_records(
	struct page *p, const struct record *r, struct rows rows, const char *const *columns);
/* Style of a cell, given its row and the name of its column. */
typedef enum cell_style (*cell_style_fn)(const void *row, const char *column);
void page_main_records_styled(struct page *p, const struct record *r, struct rows rows,
	const char *const *columns, cell_style_fn style);

/* How the cells of rows are formatted. */
struct record_cells {
	bool is_csv;
	uint64_t n_waves; /* as in struct page */
	cell_style_fn style;
};
/* Makes *t from rows; the caller frees it even after a failure. */
bool table_of_records(struct table *t, const struct record *r, struct rows rows,
	const char *const *columns, const struct record_cells *as, struct incore_error *e);
