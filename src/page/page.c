/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: builds a page block by block. */
#include "page/page.h"

#include "base/mem.h"

void page_init(struct page *p)
{
	*p = (struct page){.prose_width = PROSE_WIDTH};
	arena_init(&p->arena);
	table_init(&p->no_table, NULL, 0);
}

void page_deinit(struct page *p)
{
	for (size_t i = 0; i < p->tables.n; i++)
		table_deinit(p->tables.v[i]);
	table_deinit(&p->no_table);
	VEC_FREE(&p->tables);
	VEC_FREE(&p->blocks);
	sb_free(&p->said);
	incore_error_clear(&p->error);
	arena_deinit(&p->arena);
}

bool page_is_whole(struct page *p, struct incore_error *e)
{
	bool is_whole = !p->is_failed;

	if (is_whole && p->columns && !p->has_main)
		return err_set(e, INCORE_USAGE, "no-columns",
			"--columns has no effect: this page has no table to choose columns of");
	for (size_t i = 0; i < p->tables.n; i++)
		is_whole = is_whole && !p->tables.v[i]->is_failed;
	if (is_whole)
		return true;
	if (!p->error.code)
		return err_nomem(e);
	err_move(e, &p->error);
	return false;
}

static void put_block(struct page *p, struct block b)
{
	if (!VEC_PUSH(&p->blocks, b))
		p->is_failed = true;
}

void page_say(struct page *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sb_vsay(&p->said, fmt, ap);
	va_end(ap);
}

void page_end(struct page *p, enum block_kind kind, const char *head, const char *fmt, ...)
{
	struct block b = {.kind = kind};
	va_list ap;

	va_start(ap, fmt);
	sb_vsay(&p->said, fmt, ap);
	va_end(ap);
	b.head = arena_strdup(&p->arena, head);
	b.text = arena_strndup(&p->arena, p->said.p ? p->said.p : "", p->said.n);
	p->is_failed |= p->said.failed || !b.head || !b.text;
	if (b.head && b.text)
		put_block(p, b);
	sb_reset(&p->said);
}

void page_gap(struct page *p)
{
	put_block(p, (struct block){.kind = BLOCK_GAP});
}

static void put_text(struct page *p, enum block_kind kind, const char *text, size_t n)
{
	struct block b = {.kind = kind, .head = "", .text = arena_strndup(&p->arena, text, n)};

	p->is_failed |= !b.text;
	if (b.text)
		put_block(p, b);
}

void page_heading(struct page *p, const char *text)
{
	page_gap(p);
	put_text(p, BLOCK_HEADING, text, strlen(text));
}

void page_lines(struct page *p, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n)
			put_text(p, BLOCK_LINE, text, n);
		else
			page_gap(p);
		text += n + (text[n] == '\n');
	}
}

void page_listing(struct page *p, const char *text)
{
	put_text(p, BLOCK_LISTING, text, strlen(text));
}

/* A table of the page, not yet initialised; NULL when out of memory. */
static struct table *new_table(struct page *p)
{
	struct table *t = arena_zalloc(&p->arena, 1, sizeof(*t));
	struct block b = {.kind = BLOCK_TABLE, .table = t};

	if (t) {
		table_init(t, NULL, 0);
		if (VEC_PUSH(&p->tables, t)) {
			put_block(p, b);
			return t;
		}
	}
	p->is_failed = true;
	return NULL;
}

struct table *page_table(struct page *p, const char *titles)
{
	struct table *t = new_table(p);

	if (!t)
		return &p->no_table;
	table_titles(t, titles);
	return t;
}

struct table *page_table_of(struct page *p, const struct table_column *columns, unsigned n)
{
	struct table *t = new_table(p);

	if (!t)
		return &p->no_table;
	table_take_columns(t, columns, n);
	return t;
}

static void put_records(struct page *p, const struct record *r, struct rows rows,
	const char *const *columns, cell_style_fn style)
{
	const struct record_cells as = {p->is_csv, p->n_waves, style};
	struct table *t = new_table(p);

	if (t && !p->is_failed)
		p->is_failed = !table_of_records(t, r, rows, columns, &as, &p->error);
}

void page_records(
	struct page *p, const struct record *r, struct rows rows, const char *const *columns)
{
	put_records(p, r, rows, columns, NULL);
}

void page_main_records_styled(struct page *p, const struct record *r, struct rows rows,
	const char *const *columns, cell_style_fn style)
{
	p->has_main = true;
	if (p->columns && !p->is_failed)
		columns = columns_chosen(&p->arena, r, p->columns, columns, &p->error);
	if (columns)
		put_records(p, r, rows, columns, style);
	else
		p->is_failed = true;
}

void page_main_records(
	struct page *p, const struct record *r, struct rows rows, const char *const *columns)
{
	page_main_records_styled(p, r, rows, columns, NULL);
}
