/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c: how values become cells.
 *
 * Parts: values become cells; a table from rows of an answer.
 */
#include "page/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "page/page.h"

/* --- values become cells ---------------------------------------------------------------------- */

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
static const char *table_plain_title(struct table *t, const char *title)
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
		mine[k].title = table_plain_title(t, columns[k].title);
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

static void page_table_add_cell(struct table *t, const char *text, const char *csv)
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
	page_table_add_cell(t, text, NULL);
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

	page_table_add_cell(t, arena_strdup(&t->arena, fmt_u64(buf, v)), csv);
}

void table_i64(struct table *t, int64_t v)
{
	char buf[32];
	uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	const char *csv = arena_printf(&t->arena, "%lld", (long long)v);

	page_table_add_cell(
		t, arena_printf(&t->arena, "%s%s", v < 0 ? "-" : "", fmt_u64(buf, size)), csv);
}

/* In hexadecimal. */
static void table_address(struct table *t, uint64_t v)
{
	page_table_add_cell(t, arena_printf(&t->arena, "0x%llx", (unsigned long long)v), NULL);
}

void table_double(struct table *t, double v, int digits)
{
	if (!isfinite(v))
		page_table_add_cell(t, "-", "");
	else if (digits < 0)
		page_table_add_cell(t, arena_printf(&t->arena, "%.*g", -digits, v), NULL);
	else
		page_table_add_cell(t, arena_printf(&t->arena, "%.*f", digits, v), NULL);
}

/* One digit; "-" when whole is 0. */
static void table_pct(struct table *t, uint64_t part, uint64_t whole)
{
	if (whole)
		table_double(t, 100.0 * (double)part / (double)whole, 1);
	else
		page_table_add_cell(t, "-", "");
}

/* The first or the last `max` bytes of a text, with dots for what is missing. */
static char *table_shorten(struct table *t, const char *text, size_t max, bool keeps_end)
{
	size_t n = strlen(text);

	if (n <= max)
		return arena_strdup(&t->arena, text);
	return keeps_end ? arena_printf(&t->arena, "...%s", text + n - (max - 3))
			 : arena_printf(&t->arena, "%.*s...", (int)(max - 3), text);
}

static void page_table_put_value(struct table *t, const struct cell_value *v)
{
	switch (v->kind) {
	case VALUE_TEXT:
		table_cstr(t, v->text);
		break;
	case VALUE_START:
	case VALUE_END:
		table_cstr(t, table_shorten(t, v->text, v->whole, v->kind == VALUE_END));
		break;
	case VALUE_COUNT:
		table_u64(t, v->count);
		break;
	case VALUE_NAME:
		page_table_add_cell(t, arena_printf(&t->arena, "%lld", (long long)v->count), NULL);
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
		page_table_put_value(t, &v[i]);
}

void table_style(struct table *t, enum cell_style style)
{
	if (t->cells.n)
		t->cells.v[t->cells.n - 1].style = style;
}

/* --- a table from rows of an answer ----------------------------------------------------------- */

/* Makes a table from rows of an answer, by the descriptions of their columns. */

#define MAX_COLUMNS 48u

struct drawn_column {
	struct leaf leaf;
	unsigned char leaves;
	char title[40], csv[64];
};

static void copy_part(char *out, size_t size, struct str s)
{
	snprintf(out, size, "%.*s", STR_ARG(s));
}

static bool choose_column(const struct record *r, const char *spec, struct drawn_column *out)
{
	struct str rest = str_of(spec), part;
	char path[64];
	const struct column *c;

	out->leaves = 0;
	if (spec[0] && spec[1] == '?') {
		out->leaves = (unsigned char)(spec[0] - '0');
		rest = str_of(spec + 2);
	}
	str_cut(&rest, "=", &part);
	copy_part(path, sizeof(path), part);
	if (!record_find(r, path, &out->leaf))
		return false;
	c = out->leaf.column;
	copy_part(out->title, sizeof(out->title), str_of(c->title ? c->title : c->name));
	copy_part(out->csv, sizeof(out->csv), str_of(c->csv ? c->csv : out->title));
	if (str_cut(&rest, "=", &part)) {
		copy_part(out->title, sizeof(out->title), part);
		copy_part(out->csv, sizeof(out->csv), part);
	}
	if (str_cut(&rest, "=", &part))
		copy_part(out->csv, sizeof(out->csv), part);
	return true;
}

static enum cell_style page_table_heat(double percentage)
{
	if (percentage < 2)
		return CELL_PLAIN;
	return percentage < 10 ? CELL_WARM : CELL_HOT;
}

static void put_text_cell(struct table *t, bool is_csv, struct str s)
{
	table_str(t, s.p ? s : str_of(is_csv ? "" : "-"));
}

/* Row numbers are names: no thousands separators. */
static void put_name_cell(struct table *t, int64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, v);
	table_cstr(t, text);
}

/* A bar of at most 20 cells, in eighths. */
static const char *bar(char buf[64], double percentage)
{
	static const char *const eighths[] = {"", "\xe2\x96\x8f", "\xe2\x96\x8e", "\xe2\x96\x8d",
		"\xe2\x96\x8c", "\xe2\x96\x8b", "\xe2\x96\x8a", "\xe2\x96\x89"};
	unsigned n = percentage > 0 ? (unsigned)(percentage * 1.6 + 0.5) : 0;
	char *p = buf;

	for (n = n < 160 ? n : 160; n >= 8; n -= 8, p += 3)
		snprintf(p, 4, "\xe2\x96\x88");
	snprintf(p, 4, "%s", eighths[n]);
	return buf;
}

static bool is_per_wave(const struct record_cells *as, const struct column *c)
{
	return as->n_waves && c->unit == UNIT_CYCLES && c->type == COLUMN_U64;
}

static void page_table_put_cell(
	struct table *t, const struct record_cells *as, const struct leaf *l, const void *row)
{
	const struct column *c = l->column;
	const void *value = leaf_value(l, row);
	bool is_blank;
	char text[64];

	if (value && (c->flags & COLUMN_BAR) && !as->is_csv) {
		table_cstr(t, bar(text, *(const double *)value));
		return;
	}
	if (!value || column_is_null(c, value)) {
		is_blank = as->is_csv ? !(c->flags & COLUMN_DASH) : c->flags & COLUMN_BLANK;
		table_cstr(t, is_blank ? "" : "-");
		return;
	}
	switch (c->type) {
	case COLUMN_I64:
		if (c->unit == UNIT_ROW)
			put_name_cell(t, *(const int64_t *)value);
		else
			table_i64(t, *(const int64_t *)value);
		break;
	case COLUMN_F64:
		table_double(
			t, *(const double *)value, c->table_digits ? c->table_digits : c->digits);
		if (c->flags & COLUMN_HEAT)
			table_style(t, page_table_heat(*(const double *)value));
		break;
	case COLUMN_TEXT:
		put_text_cell(t, as->is_csv, str_of(*(const char *const *)value));
		break;
	case COLUMN_STR:
		put_text_cell(t, as->is_csv, *(const struct str *)value);
		break;
	case COLUMN_BOOL:
		table_cstr(t, *(const bool *)value ? "true" : "false");
		break;
	default:
		if (c->words)
			table_str(t, column_word(c, column_u64(c, value)));
		else if (c->flags & COLUMN_HEX)
			table_cstr(t, column_hex(c, value, text));
		else if (c->unit == UNIT_ADDRESS && !as->is_csv)
			table_address(t, column_u64(c, value));
		else if (c->unit == UNIT_ROW || c->unit == UNIT_INDEX)
			put_name_cell(t, (int64_t)column_u64(c, value));
		else if (is_per_wave(as, c))
			table_double(t, (double)column_u64(c, value) / (double)as->n_waves, 1);
		else
			table_u64(t, column_u64(c, value));
	}
}

static bool is_left(const struct column *c)
{
	if (c->flags & COLUMN_RIGHT)
		return false;
	return c->type == COLUMN_TEXT || c->type == COLUMN_STR || c->type == COLUMN_BOOL ||
	       (c->type <= COLUMN_U8 && c->words) || (c->flags & (COLUMN_BAR | COLUMN_HEX));
}

/* Finds a column and its title and alignment in the table; false: no column of that name. */
static bool head_column(const struct record *r, const char *spec, const struct record_cells *as,
	struct drawn_column *d, struct table_column *out)
{
	if (!choose_column(r, spec, d))
		return false;
	if (is_per_wave(as, d->leaf.column) && strlen(d->csv) + 10 < sizeof(d->csv))
		memcpy(d->csv + strlen(d->csv), "_per_wave", 10);
	*out = (struct table_column){d->title, d->csv,
		is_left(d->leaf.column) ? CELL_LEFT : CELL_RIGHT,
		d->leaf.column->flags & COLUMN_WIDE, d->leaves};
	return true;
}

bool table_of_records(struct table *t, const struct record *r, struct rows rows,
	const char *const *columns, const struct record_cells *as, struct incore_error *e)
{
	struct drawn_column drawn[MAX_COLUMNS];
	struct table_column heads[MAX_COLUMNS];
	unsigned n = 0;

	table_init(t, NULL, 0);
	for (; n < MAX_COLUMNS && columns[n]; n++)
		if (!head_column(r, columns[n], as, &drawn[n], &heads[n]))
			return err_set(e, INCORE_FAILED, "no-such-column",
				"the answer has no column %s", columns[n]);
	table_take_columns(t, heads, n);
	for (size_t i = 0; i < rows.n && !t->is_failed; i++) {
		const void *row = rows_at(r, &rows, i);

		for (unsigned k = 0; k < n; k++) {
			page_table_put_cell(t, as, &drawn[k].leaf, row);
			if (as->style)
				table_style(t, as->style(row, drawn[k].leaf.column->name));
		}
	}
	return !t->is_failed || err_nomem(e);
}
