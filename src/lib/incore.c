/* SPDX-License-Identifier: Apache-2.0 */
/* incore.c: public interface of libincore: ask, and read answers by table, row and column. */
#include "lib/lib.h"

#include "base/map_guard.h"

const char *incore_version(void)
{
	return INCORE_VERSION;
}

bool incore_map_files(void)
{
	return map_guard_install();
}

struct incore *incore_new(unsigned threads, struct incore_error *e)
{
	struct incore *x = mem_zalloc(1, sizeof(*x));

	if (!x)
		return err_nomem_null(e);
	x->progress = progress_new(NULL, NULL);
	x->pool = x->progress ? pool_new(threads, e) : NULL;
	if (!x->pool) {
		if (!x->progress)
			err_nomem(e);
		progress_free(x->progress);
		mem_free(x);
		return NULL;
	}
	pthread_mutex_init(&x->lock, NULL);
	captures_init(&x->captures);
	return x;
}

void incore_free(struct incore *x)
{
	if (!x)
		return;
	captures_deinit(&x->captures);
	pool_free(x->pool);
	progress_free(x->progress);
	pthread_mutex_destroy(&x->lock);
	mem_free(x);
}

void incore_cancel(struct incore *x)
{
	progress_cancel(x->progress);
}

const char *incore_question(size_t i)
{
	size_t n = 0;

	while (n < i && question_table[n])
		n++;
	return question_table[n] ? question_table[n]->name : NULL;
}

char *incore_schema(const char *question, struct incore_error *e)
{
	const struct question *q = question_find(question);
	struct strbuf text = {0};
	struct json_writer w;

	if (!q) {
		err_set(e, INCORE_USAGE, "no-such-question", "there is no question '%s'", question);
		return NULL;
	}
	json_w_buf(&w, &text, 2);
	envelope_schema(q->name, q->inputs ? q->inputs : capture_inputs, q->records, &w);
	if (json_w_finish(&w, e))
		return text.p;
	sb_free(&text);
	return NULL;
}

void incore_text_free(char *text)
{
	mem_free(text);
}

/* --- asking --- */

#define MAX_PATHS 64u

/* Splits a list of paths, one per line; the lines are in the arena. */
static bool split_paths(const char *path, struct arena *a, const char *out[MAX_PATHS], unsigned *n,
	struct incore_error *e)
{
	struct str rest = str_of(path), line;

	*n = 0;
	while (str_cut(&rest, "\n", &line)) {
		if (!line.n)
			continue;
		if (*n == MAX_PATHS)
			return err_set(e, INCORE_USAGE, "too-many-arguments", "more than %u paths",
				MAX_PATHS);
		out[*n] = arena_strndup(a, line.p, line.n);
		if (!out[(*n)++])
			return err_nomem(e);
	}
	return true;
}

static bool lib_check_paths(const struct question *q, unsigned n, struct incore_error *e)
{
	if (n >= q->min_paths && n <= q->max_paths)
		return true;
	return err_set(e, INCORE_USAGE, "missing-argument", "%s expects %s, not %u path%s", q->name,
		q->args, n, plural(n));
}

bool lib_fence(struct incore *x, const struct request *r, struct incore_error *e)
{
	captures_unfence(&x->captures);
	for (unsigned i = 0; i < r->n_paths; i++)
		if (!captures_fence_named(&x->captures, r->paths[i], e))
			return false;
	return true;
}

static bool lib_ask(struct incore *x, const struct question *q, const char *path,
	const char *options, struct incore_answer *out, struct incore_error *e)
{
	const char *paths[MAX_PATHS];
	struct request r;
	unsigned n;
	bool ok = split_paths(path, &out->words, paths, &n, e) && lib_check_paths(q, n, e) &&
		  request_init(&r, q, e);

	if (ok) {
		r.paths = paths;
		r.n_paths = n;
		r.captures = &x->captures;
		r.pool = x->pool;
		r.progress = x->progress;
		ok = request_set_json(&r, options, &out->words, e) && lib_fence(x, &r, e) &&
		     answer_ask(&r, &out->answer, e) &&
		     flat_make(&out->tables, out->answer.record, out->answer.data,
			     &out->answer.arena, e);
		request_deinit(&r);
	}
	return ok;
}

struct incore_answer *incore_ask(struct incore *x, const char *question, const char *path,
	const char *options, struct incore_error *e)
{
	const struct question *q = question_find(question);
	struct incore_answer *a;
	bool ok;

	if (!q) {
		err_set(e, INCORE_USAGE, "no-such-question", "there is no question '%s'", question);
		return NULL;
	}
	a = mem_zalloc(1, sizeof(*a));
	if (!a)
		return err_nomem_null(e);
	arena_init(&a->words);
	pthread_mutex_lock(&x->lock);
	progress_restart(x->progress);
	ok = lib_ask(x, q, path, options, a, e);
	pthread_mutex_unlock(&x->lock);
	if (ok)
		return a;
	incore_answer_free(a);
	return NULL;
}

void incore_answer_free(struct incore_answer *a)
{
	if (!a)
		return;
	flat_deinit(&a->tables);
	answer_deinit(&a->answer);
	arena_deinit(&a->words);
	sb_free(&a->json);
	mem_free(a);
}

/* --- reading --- */

enum incore_status incore_answer_status(const struct incore_answer *a)
{
	return a->answer.failure.status ? a->answer.failure.status
	       : a->answer.is_no	? INCORE_NO
					: INCORE_OK;
}

const char *incore_answer_json(struct incore_answer *a, size_t *n, struct incore_error *e)
{
	struct json_writer w;

	if (!a->json.n) {
		json_w_buf(&w, &a->json, 1);
		answer_json(&a->answer, &w);
		if (!json_w_finish(&w, e)) {
			sb_free(&a->json);
			return NULL;
		}
	}
	if (n)
		*n = a->json.n;
	return a->json.p;
}

size_t incore_warning_count(const struct incore_answer *a)
{
	return a->answer.warnings.n;
}

const char *incore_warning(const struct incore_answer *a, size_t i)
{
	return i < a->answer.warnings.n ? a->answer.warnings.v[i] : NULL;
}

static const struct flat_table *lib_table_at(const struct incore_answer *a, size_t i)
{
	return i < a->tables.v.n ? a->tables.v.v[i] : NULL;
}

size_t incore_table_count(const struct incore_answer *a)
{
	return a->tables.v.n;
}

const char *incore_table_name(const struct incore_answer *a, size_t table)
{
	const struct flat_table *t = lib_table_at(a, table);

	return t ? t->name : NULL;
}

size_t incore_table_find(const struct incore_answer *a, const char *name)
{
	for (size_t i = 0; i < a->tables.v.n; i++)
		if (strcmp(a->tables.v.v[i]->name, name) == 0)
			return i;
	return SIZE_MAX;
}

size_t incore_row_count(const struct incore_answer *a, size_t table)
{
	const struct flat_table *t = lib_table_at(a, table);

	return t ? t->n_rows : 0;
}

/* Index of the table's first own column: a list inside rows has its parent's row as column 0. */
static size_t own_first(const struct flat_table *t)
{
	return t->parent ? 1 : 0;
}

size_t incore_column_count(const struct incore_answer *a, size_t table)
{
	const struct flat_table *t = lib_table_at(a, table);

	return t ? t->columns.n + own_first(t) : 0;
}

struct str column_text(const struct column *c, const void *value)
{
	if (c->type == COLUMN_STR)
		return *(const struct str *)value;
	if (c->type == COLUMN_TEXT)
		return str_of(*(const char *const *)value);
	return column_word(c, column_u64(c, value));
}

static enum incore_type column_kind(const struct column *c)
{
	if (column_is_text(c))
		return INCORE_TEXT;
	switch (c->type) {
	case COLUMN_I64:
		return INCORE_SIGNED;
	case COLUMN_F64:
		return INCORE_REAL;
	case COLUMN_BOOL:
		return INCORE_BOOL;
	default:
		return INCORE_UNSIGNED;
	}
}

struct incore_column incore_column(const struct incore_answer *a, size_t table, size_t column)
{
	const struct flat_table *t = lib_table_at(a, table);
	const struct flat_column *c;

	if (t && t->parent && column == 0)
		return (struct incore_column){
			"parent", "", "row of the table that this list stands in", INCORE_UNSIGNED};
	if (!t || column - own_first(t) >= t->columns.n)
		return (struct incore_column){"", "", "", INCORE_UNSIGNED};
	c = &t->columns.v[column - own_first(t)];
	return (struct incore_column){c->name, unit_name(c->column->unit),
		c->column->doc ? c->column->doc : "", column_kind(c->column)};
}

/* The value; NULL if it has another type or is missing. */
static const void *lib_value_of(const struct incore_answer *a, size_t table, size_t row,
	size_t column, enum incore_type type, const struct column **of)
{
	const struct flat_table *t = lib_table_at(a, table);
	const struct flat_column *c;
	const void *v;

	if (!t || row >= t->n_rows || column < own_first(t) ||
		column - own_first(t) >= t->columns.n)
		return NULL;
	c = &t->columns.v[column - own_first(t)];
	v = flat_value(t, row, c);
	*of = c->column;
	return column_kind(c->column) == type && !column_is_null(c->column, v) ? v : NULL;
}

bool incore_get_unsigned(
	const struct incore_answer *a, size_t table, size_t row, size_t column, uint64_t *out)
{
	const struct flat_table *t = lib_table_at(a, table);
	const struct column *c;
	const void *v;

	if (t && t->parent && column == 0 && row < t->n_rows) {
		*out = t->parent[row];
		return true;
	}
	v = lib_value_of(a, table, row, column, INCORE_UNSIGNED, &c);
	if (v)
		*out = column_u64(c, v);
	return v != NULL;
}

bool incore_get_signed(
	const struct incore_answer *a, size_t table, size_t row, size_t column, int64_t *out)
{
	const struct column *c;
	const int64_t *v = lib_value_of(a, table, row, column, INCORE_SIGNED, &c);

	if (v)
		*out = *v;
	return v != NULL;
}

bool incore_get_real(
	const struct incore_answer *a, size_t table, size_t row, size_t column, double *out)
{
	const struct column *c;
	const double *v = lib_value_of(a, table, row, column, INCORE_REAL, &c);

	if (v)
		*out = *v;
	return v != NULL;
}

bool incore_get_bool(
	const struct incore_answer *a, size_t table, size_t row, size_t column, bool *out)
{
	const struct column *c;
	const bool *v = lib_value_of(a, table, row, column, INCORE_BOOL, &c);

	if (v)
		*out = *v;
	return v != NULL;
}

bool incore_get_text(const struct incore_answer *a, size_t table, size_t row, size_t column,
	const char **out, size_t *n)
{
	const struct column *c;
	const void *v = lib_value_of(a, table, row, column, INCORE_TEXT, &c);
	struct str s;

	if (!v)
		return false;
	s = column_text(c, v);
	*out = s.p;
	*n = s.n;
	return true;
}
