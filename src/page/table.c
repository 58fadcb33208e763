/* SPDX-License-Identifier: Apache-2.0 */
/* table.c: how values become cells. */
#include "page/table.h"

#include <math.h>

#include "base/plain.h"

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

	if (title.n > 1 && title.p[1] == '?') {
		out->leaves = (unsigned char)(title.p[0] - '0');
		title = str_sub(title, 2, title.n);
	}
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

/* Titles may come from a file, as cells do. */
static const char *plain_title(struct table *t, const char *title)
{
	struct strbuf plain = {0};
	const char *copy;

	sb_plain(&plain, str_of(title));
	copy = plain.failed ? NULL : arena_strndup(&t->arena, plain.p ? plain.p : "", plain.n);
	sb_free(&plain);
	return copy;
}

void table_take_columns(struct table *t, const struct table_column *columns, unsigned n)
{
	struct table_column *mine;

	table_init(t, NULL, n);
	mine = t->is_failed ? NULL : arena_memdup(&t->arena, columns, n * sizeof(*columns));
	for (unsigned k = 0; mine && k < n; k++) {
		mine[k].title = plain_title(t, columns[k].title);
		if (columns[k].csv_title)
			mine[k].csv_title = arena_strdup(&t->arena, columns[k].csv_title);
		t->is_failed |= !mine[k].title || (columns[k].csv_title && !mine[k].csv_title);
	}
	t->columns = mine;
	t->is_failed |= !mine;
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

void table_address(struct table *t, uint64_t v)
{
	add_cell(t, arena_printf(&t->arena, "0x%llx", (unsigned long long)v), NULL);
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
		table_address(t, v->count);
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
