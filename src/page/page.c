/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c: builds a page block by block.
 *
 * Parts: which columns; blocks.
 */
#include "page/page.h"
#include "base/mem.h"

/* --- which columns ---------------------------------------------------------------------------- */

/* Which columns of a record did the reader ask for? */

#define PATH_MAX_BYTES 64u
#define NAMES_TOLD 600u /* bytes of the names in an error */

/* A column as the writers show it: its path and its title. */
struct named_column {
	char path[PATH_MAX_BYTES];
	const struct column *column;
};

typedef VEC(struct named_column) named_columns;

static bool page_is_one_value(const struct column *c)
{
	return c->type <= COLUMN_STR;
}

/* Adds every column below r whose value is one cell, in the order of the description. */
static bool page_add_columns(const struct record *r, const char *prefix, named_columns *out)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		struct named_column x = {.column = c};
		char below[PATH_MAX_BYTES];

		if (!c->name || (c->type == COLUMN_PART && !page_add_columns(c->of, prefix, out)))
			return c->name == NULL;
		if (c->type == COLUMN_RECORD || c->type == COLUMN_POINTER) {
			snprintf(below, sizeof(below), "%s%s.", prefix, c->name);
			if (!page_add_columns(c->of, below, out))
				return false;
		}
		if (!page_is_one_value(c))
			continue;
		snprintf(x.path, sizeof(x.path), "%s%s", prefix, c->name);
		if (!VEC_PUSH(out, x))
			return false;
	}
	return true;
}

/* The path in a spec of page_records(). */
static struct str page_path_of(const char *spec)
{
	struct str rest = str_of(spec[0] && spec[1] == '?' ? spec + 2 : spec), path;

	str_cut(&rest, "=", &path);
	return path;
}

static bool is_title(const struct column *c, struct str name)
{
	return str_is(name, c->name) || str_is(name, c->title ? c->title : c->name) ||
	       str_is(name, c->csv     ? c->csv
			    : c->title ? c->title
				       : c->name);
}

/* Columns that the reader sees come first: one of the table by path or title; then any other by
 * path, then any other by its default title. */
static const struct named_column *page_find_column(
	const named_columns *all, const char *const *defaults, struct str name)
{
	for (unsigned i = 0; defaults[i]; i++)
		EACH (const struct named_column, x, all->v, all->n)
			if (str_is(page_path_of(defaults[i]), x->path) &&
				(str_is(name, x->path) || is_title(x->column, name)))
				return x;
	EACH (const struct named_column, x, all->v, all->n)
		if (str_is(name, x->path))
			return x;
	EACH (const struct named_column, x, all->v, all->n)
		if (is_title(x->column, name))
			return x;
	return NULL;
}

static bool no_such_column(const named_columns *all, struct str name, struct incore_error *e)
{
	struct strbuf names = {0};

	EACH (const struct named_column, x, all->v, all->n)
		if (names.n < NAMES_TOLD)
			sb_printf(&names, "%s%s", names.n ? ", " : "", x->path);
	err_set(e, INCORE_USAGE, "no-such-column",
		"--columns: there is no column '%.*s'; there are %s", STR_ARG(name),
		names.p ? names.p : "none");
	sb_free(&names);
	return false;
}

/* Index of a path among the specs so far; n: not found. */
static unsigned page_place_of(const char *const *specs, unsigned n, const char *path)
{
	unsigned i = 0;

	while (i < n && !str_is(page_path_of(specs[i]), path))
		i++;
	return i;
}

struct choice {
	struct arena *arena;
	const char **specs;
	unsigned n, most;
};

static bool page_take_word(
	struct choice *k, const struct named_column *x, bool is_less, const char *const *defaults)
{
	unsigned at = page_place_of(k->specs, k->n, x->path), i = 0;

	if (is_less && at < k->n) {
		memmove(&k->specs[at], &k->specs[at + 1], (k->n - at) * sizeof(*k->specs));
		k->n--;
	}
	if (is_less || at < k->n || k->n == k->most)
		return true;
	/* with its default title */
	while (defaults[i] && !str_is(page_path_of(defaults[i]), x->path))
		i++;
	k->specs[k->n++] = defaults[i] ? defaults[i] : arena_strdup(k->arena, x->path);
	return k->specs[k->n - 1] != NULL;
}

static bool page_choose(struct choice *k, const named_columns *all, const char *wanted,
	const char *const *defaults, struct incore_error *e)
{
	struct str rest = str_of(wanted), word;
	bool starts_empty = wanted[0] != '+' && wanted[0] != '-';

	for (; defaults[k->n] && k->n < k->most; k->n++)
		k->specs[k->n] = defaults[k->n];
	if (starts_empty)
		k->n = 0;
	while (str_cut(&rest, ",", &word)) {
		bool has_sign = str_starts(word, "+") || str_starts(word, "-");
		struct str name = str_trim(str_sub(word, has_sign, word.n));
		const struct named_column *x = page_find_column(all, defaults, name);

		if (!x)
			return no_such_column(all, name, e);
		if (!page_take_word(k, x, str_starts(word, "-"), defaults))
			return err_nomem(e);
	}
	k->specs[k->n] = NULL;
	return k->n > 0 || err_set(e, INCORE_USAGE, "no-columns", "--columns leaves no column");
}

/* The columns that a reader chose instead of the defaults, as specs that live in the arena. NULL
 * with status USAGE if a name is not a column of r. */
static const char *const *columns_chosen(struct arena *a, const struct record *r,
	const char *wanted, const char *const *defaults, struct incore_error *e)
{
	struct choice k = {.arena = a, .most = TABLE_COLUMNS - 1};
	named_columns all = {0};
	bool ok;

	k.specs = arena_zalloc(a, TABLE_COLUMNS, sizeof(*k.specs));
	ok = (k.specs && page_add_columns(r, "", &all)) || err_nomem(e);
	ok = ok && page_choose(&k, &all, wanted, defaults, e);
	VEC_FREE(&all);
	return ok ? k.specs : NULL;
}

/* --- blocks ----------------------------------------------------------------------------------- */

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

static void page_put_block(struct page *p, struct page_block b)
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
	struct page_block b = {.kind = kind};
	va_list ap;

	va_start(ap, fmt);
	sb_vsay(&p->said, fmt, ap);
	va_end(ap);
	b.head = arena_strdup(&p->arena, head);
	b.text = arena_strndup(&p->arena, p->said.p ? p->said.p : "", p->said.n);
	p->is_failed |= p->said.failed || !b.head || !b.text;
	if (b.head && b.text)
		page_put_block(p, b);
	sb_reset(&p->said);
}

void page_gap(struct page *p)
{
	page_put_block(p, (struct page_block){.kind = BLOCK_GAP});
}

static void page_put_text(struct page *p, enum block_kind kind, const char *text, size_t n)
{
	struct page_block b = {.kind = kind, .head = "", .text = arena_strndup(&p->arena, text, n)};

	p->is_failed |= !b.text;
	if (b.text)
		page_put_block(p, b);
}

void page_heading(struct page *p, const char *text)
{
	page_gap(p);
	page_put_text(p, BLOCK_HEADING, text, strlen(text));
}

void page_lines(struct page *p, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n)
			page_put_text(p, BLOCK_LINE, text, n);
		else
			page_gap(p);
		text += n + (text[n] == '\n');
	}
}

void page_listing(struct page *p, const char *text)
{
	page_put_text(p, BLOCK_LISTING, text, strlen(text));
}

/* A table of the page, not yet initialised; NULL when out of memory. */
static struct table *new_table(struct page *p)
{
	struct table *t = arena_zalloc(&p->arena, 1, sizeof(*t));
	struct page_block b = {.kind = BLOCK_TABLE, .table = t};

	if (t) {
		table_init(t, NULL, 0);
		if (VEC_PUSH(&p->tables, t)) {
			page_put_block(p, b);
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

static void page_put_records(struct page *p, const struct record *r, struct rows rows,
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
	page_put_records(p, r, rows, columns, NULL);
}

void page_main_records_styled(struct page *p, const struct record *r, struct rows rows,
	const char *const *columns, cell_style_fn style)
{
	p->has_main = true;
	if (p->columns && !p->is_failed)
		columns = columns_chosen(&p->arena, r, p->columns, columns, &p->error);
	if (columns)
		page_put_records(p, r, rows, columns, style);
	else
		p->is_failed = true;
}

void page_main_records(
	struct page *p, const struct record *r, struct rows rows, const char *const *columns)
{
	page_main_records_styled(p, r, rows, columns, NULL);
}
