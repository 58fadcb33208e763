/* SPDX-License-Identifier: Apache-2.0 */
/* sql_result.c: results of queries for programs and for people, and the description of tables. */
#include "verbs/sql/sql_result.h"

#include <stdio.h>

#include "answer/rows.h"
#include "base/str.h"
#include "codec/csv.h"
#include "page/page.h"

/* --- for programs --- */

static const struct column cell_columns[] = {
	{.name = "", .doc = "a value", .type = COLUMN_ANY, .words = "integer|number|string|null"},
};
static const struct record cell_record = {cell_columns, 1, RECORD_SCALAR, sizeof(struct any)};
static const struct column row_columns[] = {
	{.name = "",
		.doc = "a row, in the order of the columns",
		.of = &cell_record,
		.type = COLUMN_LIST},
};
static const struct record row_record = {row_columns, 1, RECORD_SCALAR, sizeof(struct rows)};

static const struct column sql_columns[] = {
	COLUMN(sql_shown, query, UNIT_NONE, "text of the query"),
	LIST(sql_shown, columns, &text_item_record, "names of the columns"),
	LIST(sql_shown, rows, &row_record,
		"rows of the result, each a list of values; bytes are written as x'..'",
		.flags = COLUMN_BLOCK),
	COLUMN(sql_shown, is_cut, UNIT_NONE, "there are more rows than --rows shows"),
};
const struct record sql_record = RECORD_OF(sql_shown, RECORD_BLOCK, sql_columns);

bool sql_out_rows(
	struct sql_out *o, const struct sql_result *r, struct sql_shown *x, struct incore_error *e)
{
	struct rows *rows = arena_zalloc(&o->arena, (size_t)r->n_rows + 1, sizeof(*rows));

	if (!rows)
		return err_nomem(e);
	for (size_t i = 0; i < r->n_rows; i++)
		rows[i] = (struct rows){&o->cells.v[i * o->n_columns], o->n_columns};
	x->columns = (struct rows){o->names, o->n_columns};
	x->rows = (struct rows){rows, (size_t)r->n_rows};
	x->is_cut = r->is_cut;
	return true;
}

/* --- collecting --- */

void sql_out_init(struct sql_out *o, FILE *csv, uint64_t most_bytes)
{
	*o = (struct sql_out){.csv = csv, .most_bytes = most_bytes};
	arena_init(&o->arena);
}

void sql_out_forget(struct sql_out *o)
{
	arena_deinit(&o->arena);
	arena_init(&o->arena);
	o->cells.n = 0;
	o->n_columns = 0;
	o->bytes = 0;
	sb_reset(&o->line);
}

void sql_out_deinit(struct sql_out *o)
{
	arena_deinit(&o->arena);
	VEC_FREE(&o->cells);
	sb_free(&o->line);
}

bool sql_out_flush(struct sql_out *o, struct incore_error *e)
{
	if (o->line.failed)
		return err_nomem(e);
	if (o->line.n)
		fwrite(o->line.p, 1, o->line.n, o->csv);
	sb_reset(&o->line);
	return !ferror(o->csv) || err_write(e);
}

static bool take_columns(void *ctx, const char *const *names, unsigned n, struct incore_error *e)
{
	struct sql_out *o = ctx;

	o->n_columns = n;
	o->names = arena_zalloc(&o->arena, n + 1, sizeof(*o->names));
	if (!o->names)
		return err_nomem(e);
	for (unsigned i = 0; i < n; i++) {
		o->names[i] = arena_strdup(&o->arena, names[i]);
		if (!o->names[i])
			return err_nomem(e);
		if (o->csv) {
			csv_put_text(&o->line, str_of(names[i]));
			sb_puts(&o->line, i + 1 == n ? "\r\n" : ",");
		}
	}
	return !o->csv || sql_out_flush(o, e);
}

static const char *hex_of(struct arena *a, struct str bytes)
{
	static const char digits[] = "0123456789abcdef";
	char *text = arena_zalloc(a, 2 * bytes.n + 4, 1);

	if (!text)
		return NULL;
	memcpy(text, "x'", 2);
	for (size_t i = 0; i < bytes.n; i++) {
		text[2 + 2 * i] = digits[(uint8_t)bytes.p[i] >> 4];
		text[3 + 2 * i] = digits[(uint8_t)bytes.p[i] & 15];
	}
	text[2 + 2 * bytes.n] = '\'';
	return text;
}

/* Copies a value into the arena; NULL of SQL becomes a text that is NULL. */
static bool keep_value(struct arena *a, const struct sql_value *v, struct any *out)
{
	*out = (struct any){.type = COLUMN_TEXT};
	switch (v->type) {
	case SQL_INT:
		*out = (struct any){.type = COLUMN_I64, .i = v->i};
		return true;
	case SQL_REAL:
		*out = (struct any){.type = COLUMN_F64, .digits = -15, .d = v->d};
		return true;
	case SQL_TEXT:
		out->text = arena_strndup(a, v->bytes.p ? v->bytes.p : "", v->bytes.n);
		return out->text != NULL;
	case SQL_BLOB:
		out->text = hex_of(a, v->bytes);
		return out->text != NULL;
	default:
		return true;
	}
}

/* A number as text, a real number with `digits` significant digits; NULL: not a number. */
static const char *number_text(const struct any *x, int digits, char text[32])
{
	if (x->type == COLUMN_I64)
		snprintf(text, 32, "%lld", (long long)x->i);
	else if (x->type == COLUMN_F64)
		snprintf(text, 32, "%.*g", digits, x->d);
	else
		return NULL;
	return text;
}

static bool write_row(
	struct sql_out *o, const struct sql_value *v, unsigned n, struct incore_error *e)
{
	struct arena a;
	bool ok = true;

	arena_init(&a);
	for (unsigned i = 0; ok && i < n; i++) {
		char text[32];
		struct any x;

		ok = keep_value(&a, &v[i], &x) || err_nomem(e);
		if (ok && number_text(&x, 15, text))
			sb_puts(&o->line, text);
		else if (ok && x.text)
			csv_put_text(&o->line, str_of(x.text));
		sb_puts(&o->line, i + 1 == n ? "\r\n" : ",");
	}
	arena_deinit(&a);
	return ok && (o->line.n < 1 << 16 || sql_out_flush(o, e));
}

static bool take_row(void *ctx, const struct sql_value *v, unsigned n, struct incore_error *e)
{
	struct sql_out *o = ctx;

	if (o->csv)
		return write_row(o, v, n, e);
	for (unsigned i = 0; i < n; i++) {
		struct any x;

		o->bytes += sizeof(x) + v[i].bytes.n * (v[i].type == SQL_BLOB ? 2 : 1);
		if (o->most_bytes && o->bytes > o->most_bytes)
			return err_set(e, INCORE_FAILED, "sql-memory",
				"the result is larger than %llu MiB (--memory; --csv keeps none)",
				(unsigned long long)(o->most_bytes >> 20));
		if (!keep_value(&o->arena, &v[i], &x) || !VEC_PUSH(&o->cells, x))
			return err_nomem(e);
	}
	return true;
}

struct sql_sink sql_out_sink(struct sql_out *o)
{
	return (struct sql_sink){o, take_columns, take_row};
}

/* --- for people --- */

/* Columns of numbers are right-aligned. */
static enum cell_align align_of(const struct sql_out *o, unsigned column)
{
	bool has_number = false;

	for (size_t i = column; i < o->cells.n; i += o->n_columns) {
		if (o->cells.v[i].type == COLUMN_TEXT && o->cells.v[i].text)
			return CELL_LEFT;
		has_number |= o->cells.v[i].type != COLUMN_TEXT;
	}
	return has_number ? CELL_RIGHT : CELL_LEFT;
}

/* A heading may be any text from the query. */
static const char *plain_title(struct page *p, const char *name)
{
	struct strbuf plain = {0};
	const char *title;

	sb_plain(&plain, str_of(name));
	title = plain.failed ? NULL : arena_strndup(&p->arena, plain.p ? plain.p : "", plain.n);
	sb_free(&plain);
	p->is_failed |= !title;
	return title ? title : "";
}

static void put_result(struct page *p, const struct sql_out *o)
{
	struct table_column columns[TABLE_COLUMNS];
	struct table *t;

	for (unsigned i = 0; i < o->n_columns; i++) {
		enum cell_align align = align_of(o, i);

		columns[i] = (struct table_column){.title = plain_title(p, o->names[i]),
			.align = align,
			.may_cut = align == CELL_LEFT};
	}
	t = page_table_of(p, columns, o->n_columns);
	EACH (const struct any, x, o->cells.v, o->cells.n) {
		char text[32];
		const char *number = number_text(x, 8, text);

		table_cstr(t, number ? number : x->text ? x->text : "-");
	}
}

static const struct column table_columns[] = {
	COLUMN(sql_table, name, UNIT_NONE, "name of the table", .title = "table"),
	COLUMN(sql_table, doc, UNIT_NONE, "what the table holds", .title = "holds",
		.flags = COLUMN_WIDE),
};
static const struct record table_record = RECORD_OF(sql_table, RECORD_LINE, table_columns);

static const struct column column_columns[] = {
	COLUMN(sql_column, name, UNIT_NONE, "name of the column", .title = "column"),
	COLUMN(sql_column, type, UNIT_NONE, "type of the column"),
	COLUMN(sql_column, unit, UNIT_NONE, "unit of the column", .flags = COLUMN_BLANK),
	COLUMN(sql_column, doc, UNIT_NONE, "what the column means", .title = "means",
		.flags = COLUMN_WIDE),
	COLUMN(sql_column, is_argument, UNIT_NONE, "the column is an argument of the table"),
};
static const struct record column_record = RECORD_OF(sql_column, RECORD_LINE, column_columns);

static void put_tables(struct page *p, const struct sql *s)
{
	static const char *const columns[] = {"name", "doc", NULL};
	struct rows rows = {0};

	rows.v = sql_tables(s, &rows.n);
	page_records(p, &table_record, rows, columns);
}

static void put_columns(struct page *p, const struct sql_table *t)
{
	static const char *const columns[] = {"name", "type", "unit", "doc", NULL};
	const struct sql_column *v = t->columns.v;
	size_t first = 0;

	while (first < t->columns.n && !v[first].is_argument)
		first++;
	if (first)
		page_records(p, &column_record, (struct rows){v, first}, columns);
	if (first == t->columns.n)
		return;
	page_lines(p, "\narguments, in this order or as columns of a condition\n");
	page_records(p, &column_record, (struct rows){v + first, t->columns.n - first}, columns);
}

const struct sql_table *sql_find_table(
	const struct sql *s, const char *name, struct incore_error *e)
{
	size_t n;
	const struct sql_table *t = sql_tables(s, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(t[i].name, name) == 0)
			return &t[i];
	err_set(e, INCORE_USAGE, "no-such-table", "there is no table '%s'; .tables names them",
		name);
	return NULL;
}

void sql_page(const struct answer *a, struct page *p)
{
	const struct sql_shown *x = a->data;

	if (x->out)
		put_result(p, x->out);
	if (x->file)
		page_line(p, "%s: %s of %s", x->file, COUNTED(x->rows.n, "row"),
			COUNTED(x->columns.n, "column"));
	if (x->tables)
		put_tables(p, x->tables);
	if (x->table)
		put_columns(p, x->table);
	if (x->text)
		page_lines(p, x->text);
}
