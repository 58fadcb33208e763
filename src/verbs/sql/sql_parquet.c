/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_parquet.c: the result of a query as a Parquet file. In SQLite each value has its own type, in
 * the file a whole column has one: integers, real numbers if there are any, else texts.
 */
#include <math.h>

#include "base/file.h"
#include "codec/parquet/parquet.h"
#include "verbs/sql/sql_result.h"

#define BATCH 8192u

/* The type that holds every value of a column exactly. */
static enum column_type type_of(const struct sql_out *o, unsigned column)
{
	const int64_t exact = INT64_C(1) << 53; /* limit of integers that a double holds exactly */
	bool has_real = false, has_large = false;

	for (size_t i = column; i < o->cells.n; i += o->n_columns) {
		const struct any *x = &o->cells.v[i];

		if (x->type == COLUMN_TEXT && !x->text)
			continue;
		if (x->type == COLUMN_TEXT || (x->type == COLUMN_I64 && x->i == NO_I64) ||
			(x->type == COLUMN_F64 && !isfinite(x->d)))
			return COLUMN_TEXT;
		has_real |= x->type == COLUMN_F64;
		has_large |= x->type == COLUMN_I64 && (x->i > exact || x->i < -exact);
	}
	return !has_real ? COLUMN_I64 : has_large ? COLUMN_TEXT : COLUMN_F64;
}

/* Parquet readers need column names, and unique ones. */
static const char *name_of(struct sql_out *o, const struct column *before, unsigned i)
{
	const char *name = o->names[i][0] ? o->names[i] : "column";
	const char *unique = name;

	for (unsigned n = 2, k = 0; unique && k < i;) {
		if (strcmp(before[k++].name, unique) != 0)
			continue;
		unique = arena_printf(&o->arena, "%s_%u", name, n++);
		k = 0;
	}
	return unique;
}

static struct column *make_columns(struct sql_out *o)
{
	struct column *v = arena_zalloc(&o->arena, o->n_columns, sizeof(*v));

	for (unsigned i = 0; v && i < o->n_columns; i++) {
		v[i] = (struct column){
			.name = name_of(o, v, i), .doc = "", .type = type_of(o, i), NULLABLE};
		if (!v[i].name)
			return NULL;
	}
	return v;
}

static bool put_value(struct arena *a, const struct any *x, enum column_type type, void *to)
{
	bool is_null = x->type == COLUMN_TEXT && !x->text;

	if (type == COLUMN_I64)
		*(int64_t *)to = is_null ? NO_I64 : x->i;
	else if (type == COLUMN_F64)
		*(double *)to = is_null ? NAN : x->type == COLUMN_F64 ? x->d : (double)x->i;
	else if (is_null || x->type == COLUMN_TEXT)
		*(const char **)to = x->text;
	else
		return (*(char **)to = x->type == COLUMN_I64
					       ? arena_printf(a, "%lld", (long long)x->i)
					       : arena_printf(a, "%.17g", x->d)) != NULL;
	return true;
}

static bool write_rows(
	struct sql_out *o, struct parquet *p, const struct column *columns, struct incore_error *e)
{
	unsigned n = o->n_columns;
	uint64_t *values = arena_zalloc(&o->arena, (size_t)n * BATCH, sizeof(*values));
	const void **vectors = arena_zalloc(&o->arena, n, sizeof(*vectors));
	size_t n_rows = n ? o->cells.n / n : 0;

	if (!values || !vectors)
		return err_nomem(e);
	for (unsigned i = 0; i < n; i++)
		vectors[i] = values + (size_t)i * BATCH;
	for (size_t row = 0; row < n_rows;) {
		uint32_t take = n_rows - row < BATCH ? (uint32_t)(n_rows - row) : BATCH;

		for (size_t k = 0; k < (size_t)take * n; k++)
			if (!put_value(&o->arena, &o->cells.v[row * n + k], columns[k % n].type,
				    values + (k % n) * BATCH + k / n))
				return err_nomem(e);
		if (!parquet_rows(p, vectors, take, e))
			return false;
		row += take;
	}
	return parquet_finish(p, e);
}

static bool write_file(struct sql_out *o, FILE *f, struct incore_error *e)
{
	struct column *columns = make_columns(o);
	struct parquet *p = columns ? parquet_new(f, columns, o->n_columns, 0, e) : NULL;
	bool ok = columns ? p && write_rows(o, p, columns, e) : err_nomem(e);

	parquet_free(p);
	return ok;
}

bool sql_out_parquet(struct sql_out *o, const char *path, struct incore_error *e)
{
	struct out_file out;
	bool ok;

	if (!out_file_open(&out, path, e))
		return false;
	ok = write_file(o, out.f, e) && out_file_commit(&out, e);
	out_file_abort(&out);
	return ok;
}
