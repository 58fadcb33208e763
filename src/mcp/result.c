/* SPDX-License-Identifier: Apache-2.0 */
/* result.c: an answer in short: its single values, the first rows of its tables, and how to get the
 * rest. */
#include <math.h>

#include "mcp/internal.h"
#include "tables/flat.h"

static void mcp_result_put_number(struct json_writer *w, double v)
{
	if (isfinite(v))
		json_w_sig(w, v, 6);
	else
		json_w_null(w);
}

static void mcp_result_put_value(struct json_writer *w, const struct column *c, const void *v)
{
	char hex[COLUMN_HEX_TEXT];

	if (!v || column_is_null(c, v)) {
		json_w_null(w);
		return;
	}
	switch (c->type) {
	case COLUMN_F64:
		mcp_result_put_number(w, *(const double *)v);
		break;
	case COLUMN_I64:
		json_w_i64(w, *(const int64_t *)v);
		break;
	case COLUMN_BOOL:
		json_w_bool(w, *(const bool *)v);
		break;
	case COLUMN_TEXT:
		json_w_cstr(w, *(const char *const *)v);
		break;
	case COLUMN_STR:
		json_w_str(w, *(const struct str *)v);
		break;
	default:
		if (c->unit == UNIT_ADDRESS || (c->flags & COLUMN_HEX))
			json_w_cstr(w, column_hex(c, v, hex));
		else
			json_w_u64(w, column_u64(c, v));
	}
}

static bool mcp_result_is_there(const struct flat_table *t, size_t row, const struct flat_column *c)
{
	const void *v = c->texts ? c->texts[row] : flat_value(t, row, c);

	return v && (c->texts || !column_is_null(c->column, v));
}

/* Does one of the first n rows have a value in this column? */
static bool is_used(const struct flat_table *t, const struct flat_column *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (mcp_result_is_there(t, i, c))
			return true;
	return false;
}

static void mcp_result_put_cell(
	struct json_writer *w, const struct flat_table *t, size_t row, const struct flat_column *c)
{
	if (c->texts)
		json_w_cstr(w, c->texts[row]);
	else
		mcp_result_put_value(w, c->column, flat_value(t, row, c));
}

static void mcp_result_put_values(struct json_writer *w, const struct flat_table *t)
{
	json_w_kv_object(w, "values");
	EACH (const struct flat_column, c, t->columns.v, t->columns.n) {
		if (t->n_rows && mcp_result_is_there(t, 0, c)) {
			json_w_key(w, c->name);
			mcp_result_put_cell(w, t, 0, c);
		}
	}
	json_w_end(w);
}

static void mcp_result_put_table(struct json_writer *w, const struct flat_table *t, size_t n)
{
	json_w_key(w, t->name);
	json_w_object(w);
	json_w_kv_u64(w, "total", t->n_rows);
	if (n) {
		json_w_kv_array(w, "columns");
		if (t->parent)
			json_w_cstr(w, "parent");
		EACH (const struct flat_column, c, t->columns.v, t->columns.n)
			if (is_used(t, c, n))
				json_w_cstr(w, c->name);
		json_w_end(w);
		json_w_kv_array(w, "rows");
		for (size_t i = 0; i < n; i++) {
			json_w_array(w);
			if (t->parent)
				json_w_u64(w, t->parent[i]);
			EACH (const struct flat_column, c, t->columns.v, t->columns.n)
				if (is_used(t, c, n))
					mcp_result_put_cell(w, t, i, c);
			json_w_end(w);
		}
		json_w_end(w);
	}
	json_w_end(w);
}

static bool mcp_result_is_wanted(const struct result_shape *s, const char *name)
{
	for (unsigned i = 0; i < s->n_tables; i++)
		if (strcmp(s->tables[i], name) == 0)
			return true;
	return !s->tables;
}

/* Writes the tables with rows; for those that do not fit or were not requested, only totals.
 * Returns true if something was left out. */
static bool mcp_result_put_tables(
	struct json_writer *w, const struct flat_tables *all, const struct result_shape *s)
{
	bool is_less = false;

	json_w_kv_object(w, "tables");
	for (size_t i = 0; i < all->v.n; i++) {
		const struct flat_table *t = all->v.v[i];
		size_t n = t->n_rows < s->limit ? t->n_rows : s->limit;

		if (!*t->name || !t->n_rows)
			continue;
		if (!mcp_result_is_wanted(s, t->name) || (!s->tables && w->sb->n > RESULT_BYTES))
			n = 0;
		is_less |= n < t->n_rows;
		mcp_result_put_table(w, t, n);
	}
	json_w_end(w);
	return is_less;
}

/* Requested tables must exist in the answer; otherwise the call is invalid. */
static bool mcp_result_check_tables(
	const struct flat_tables *all, const struct result_shape *s, struct incore_error *e)
{
	struct strbuf names = {0};

	for (unsigned i = 0; i < s->n_tables; i++) {
		if (flat_find(all, s->tables[i]))
			continue;
		for (size_t k = 0; k < all->v.n; k++)
			if (*all->v.v[k]->name)
				sb_printf(&names, "%s%s", names.n ? ", " : "", all->v.v[k]->name);
		err_set(e, INCORE_USAGE, "no-such-table", "no table '%s'; there are %s",
			s->tables[i], names.p ? names.p : "none");
		sb_free(&names);
		return false;
	}
	return true;
}

bool result_of_answer(const struct answer *a, const struct result_shape *shape, struct strbuf *out,
	struct incore_error *e)
{
	struct flat_tables tables = {0};
	struct arena arena;
	struct json_writer w;
	bool ok;

	arena_init(&arena);
	ok = flat_make(&tables, a->record, a->data, &arena, e) &&
	     mcp_result_check_tables(&tables, shape, e);
	if (ok) {
		json_w_buf(&w, out, 0);
		json_w_object(&w);
		json_w_kv_cstr(&w, "question", a->question->name);
		json_w_kv_bool(&w, "is_no", a->is_no);
		mcp_result_put_values(&w, flat_find(&tables, ""));
		if (mcp_result_put_tables(&w, &tables, shape))
			json_w_kv_cstr(&w, "more",
				"rows are left out: ask for tables by name and with a larger limit; incore://schema/QUESTION says what columns mean");
		if (a->warnings.n) {
			json_w_kv_array(&w, "warnings");
			for (size_t i = 0; i < a->warnings.n && i < RESULT_ROWS; i++)
				json_w_cstr(&w, a->warnings.v[i]);
			json_w_end(&w);
		}
		json_w_end(&w);
		ok = json_w_finish(&w, e);
	}
	flat_deinit(&tables);
	arena_deinit(&arena);
	return ok;
}

void result_put(struct json_writer *w, struct str object)
{
	json_w_object(w);
	json_w_kv_array(w, "content");
	json_w_object(w);
	json_w_kv_cstr(w, "type", "text");
	json_w_kv_str(w, "text", object);
	json_w_end(w);
	json_w_end(w);
	json_w_key(w, "structuredContent");
	json_w_raw(w, object);
	json_w_end(w);
}

void result_put_error(struct json_writer *w, const struct incore_error *e)
{
	struct strbuf text = {0};

	err_format(e, &text);
	json_w_object(w);
	json_w_kv_array(w, "content");
	json_w_object(w);
	json_w_kv_cstr(w, "type", "text");
	json_w_kv_cstr(w, "text", text.p ? text.p : "no memory");
	json_w_end(w);
	json_w_end(w);
	json_w_kv_bool(w, "isError", true);
	json_w_end(w);
	sb_free(&text);
}
