/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c: the tables of traces as virtual tables of SQLite. Only the columns that a query names
 * are filled; conditions on capture, track, slice, row and start are passed to the cursors, so that
 * rows outside them are not read. SQLite also checks every condition itself, except for conditions
 * on slices with integers.
 */
#include <math.h>

#include "sql/internal.h"

struct table_module { /* one per table, lives as long as the session */
	struct sql *sql;
	const struct table *table;
	const char *declaration;
	uint64_t n_rows; /* estimate for all captures */
	uint64_t n_tracks, n_code;
};

struct table_vtab {
	sqlite3_vtab base;
	const struct table_module *module;
};

struct table_reader {
	sqlite3_vtab_cursor base;
	const struct table_module *module;
	struct table_cursor **open; /* by capture; kept from scan to scan */
	struct table_scan scan;
	uint64_t columns;
	unsigned capture, last_capture; /* capture: the current one, from 0 */
	struct table_batch batch;
	uint32_t row;
	int64_t rowid;
	bool is_end;
};

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
	sqlite3_vtab **out, char **message)
{
	const struct table_module *m = aux;
	struct table_vtab *v = sqlite3_malloc(sizeof(*v));

	(void)db;
	(void)argc;
	(void)argv;
	(void)message;
	if (v)
		*v = (struct table_vtab){.module = m};
	return sql_connect(m->sql, m->declaration, v, out);
}

static int disconnect_table(sqlite3_vtab *v)
{
	sqlite3_free(v);
	return SQLITE_OK;
}

/* --- planning --- */

/* Keys that conditions can limit a scan by; the plan has a letter for each. */
#define BY_CLASS '*' /* at the end of a plan: rows sorted by class */
enum limit_key { KEY_CAPTURE, KEY_TRACK, KEY_SLICE, KEY_ROW, KEY_TIME, KEY_COUNT };
static const char *const key_columns[KEY_COUNT] = {
	TABLE_CAPTURE, TABLE_TRACK, TABLE_SLICE, TABLE_ROW, TABLE_TIME};

static int sql_tables_key_of(const struct table *t, int column)
{
	for (int k = 0; column >= 0 && k < KEY_COUNT; k++)
		if (table_column(t, key_columns[k]) == column)
			return k;
	return -1;
}

static bool is_limit(unsigned char op)
{
	return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
	       op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
	       op == SQLITE_INDEX_CONSTRAINT_LE;
}

/* May SQLite skip re-checking this constraint? Integer limits on slices are applied exactly. */
static bool is_exact(const struct table_module *m, sqlite3_index_info *x, int constraint)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	sqlite3_value *v = NULL;

	return m->table == table_find("slices") &&
	       sqlite3_vtab_rhs_value(x, constraint, &v) == SQLITE_OK && v &&
	       sqlite3_value_type(v) == SQLITE_INTEGER;
#else
	(void)m;
	(void)x;
	(void)constraint;
	return false;
#endif
}

/* Estimated number of rows returned, and of rows read for them. */
struct plan {
	double rows, read;
	bool is_equal[KEY_COUNT], is_range[KEY_COUNT];
};

static double left_by(const struct plan *p, int key, double parts, double range)
{
	if (p->is_equal[key])
		return 1 / (parts > 1 ? parts : 1);
	return p->is_range[key] ? range : 1;
}

static void estimate(const struct table_module *m, struct plan *p)
{
	bool is_long = m->table == table_find("slices") || m->table == table_find("links");
	double captures = left_by(p, KEY_CAPTURE, m->sql->n_captures, 0.5);
	double tracks = left_by(p, KEY_TRACK, (double)m->n_tracks, 0.25);
	double slices = left_by(
		p, KEY_SLICE, m->n_tracks ? (double)m->n_rows / (double)m->n_tracks : 1, 0.25);
	double rows = left_by(p, KEY_ROW, (double)m->n_code, 0.25);
	double time = left_by(p, KEY_TIME, (double)m->n_rows, 0.1);

	p->read = (double)m->n_rows * captures * tracks;
	p->rows = p->read * slices * rows * time;
	/* a track is read as a whole, but fast; rows of small tables are found by bisection */
	p->read = is_long ? p->read * (0.05 + 0.1 * time) : p->rows;
	p->read += p->rows + 5;
}

/* Does the query want one capture ordered by class? Sorting millions of rows would cost more. */
static bool wants_classes(const struct table_module *m, const sqlite3_index_info *x)
{
	return m->table == table_find("slices") && m->sql->n_captures == 1 && x->nOrderBy == 1 &&
	       !x->aOrderBy[0].desc && x->aOrderBy[0].iColumn == table_column(m->table, "class");
}

/* Does the requested order match the natural order of the rows? */
static bool comes_in_order(
	const struct table_module *m, const struct plan *p, const sqlite3_index_info *x)
{
	bool is_one = m->sql->n_captures == 1 || p->is_equal[KEY_CAPTURE];
	int next = KEY_CAPTURE;

	if (m->table != table_find("slices"))
		return false;
	for (int i = 0; i < x->nOrderBy; i++) {
		int key = sql_tables_key_of(m->table, x->aOrderBy[i].iColumn);

		if (x->aOrderBy[i].desc || key < 0)
			return false;
		if (next == KEY_CAPTURE && key == KEY_TRACK && is_one)
			next = KEY_TRACK;
		if (key == KEY_TIME && next == KEY_SLICE)
			key = KEY_SLICE; /* slices of a track are sorted by start */
		if (key != next)
			return false;
		next = key + 1;
		if (key == KEY_SLICE)
			return i + 1 == x->nOrderBy;
	}
	return x->nOrderBy > 0;
}

static int plan_table(sqlite3_vtab *base, sqlite3_index_info *x)
{
	const struct table_module *m = ((struct table_vtab *)base)->module;
	char *text = sqlite3_malloc(2 * x->nConstraint + 2), *end = text;
	bool is_by_class = wants_classes(m, x);
	struct plan p = {0};
	int n = 0;

	if (!text)
		return SQLITE_NOMEM;
	for (int i = 0; i < x->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &x->aConstraint[i];
		int key = sql_tables_key_of(m->table, c->iColumn);

		if (!c->usable || key < 0 || !is_limit(c->op))
			continue;
		*end++ = (char)('a' + key);
		*end++ = (char)c->op;
		x->aConstraintUsage[i].argvIndex = ++n;
		x->aConstraintUsage[i].omit = is_exact(m, x, i);
		*(c->op == SQLITE_INDEX_CONSTRAINT_EQ ? &p.is_equal[key] : &p.is_range[key]) = true;
	}
	if (is_by_class)
		*end++ = BY_CLASS;
	*end = 0;
	estimate(m, &p);
	x->idxStr = text;
	x->needToFreeIdxStr = 1;
	x->idxNum = (int)(x->colUsed & INT32_MAX); /* tables have fewer columns: see add_table() */
	x->orderByConsumed = is_by_class || comes_in_order(m, &p, x);
	x->estimatedCost = p.read;
	x->estimatedRows = (sqlite3_int64)p.rows + 1;
	return SQLITE_OK;
}

/* --- reading --- */

static int open_reader(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	const struct table_module *m = ((struct table_vtab *)base)->module;
	struct table_reader *r = sqlite3_malloc(sizeof(*r));
	size_t bytes = (m->sql->n_captures + 1) * sizeof(*r->open);

	if (!r)
		return SQLITE_NOMEM;
	*r = (struct table_reader){.module = m, .open = sqlite3_malloc64(bytes)};
	if (!r->open) {
		sqlite3_free(r);
		return SQLITE_NOMEM;
	}
	memset(r->open, 0, bytes);
	*out = &r->base;
	return SQLITE_OK;
}

static void close_cursors(struct table_reader *r)
{
	for (unsigned i = 0; i < r->module->sql->n_captures; i++) {
		if (r->open[i])
			r->module->sql->n_failed += table_failed(r->open[i]);
		table_close(r->open[i]);
		r->open[i] = NULL;
	}
}

static int close_reader(sqlite3_vtab_cursor *base)
{
	struct table_reader *r = (struct table_reader *)base;

	close_cursors(r);
	sqlite3_free(r->open);
	sqlite3_free(r);
	return SQLITE_OK;
}

/* Cache for the tracks that are read; NULL for a single pass, which would not use them again. */
static struct table_keep *sql_tables_keep_of(const struct table_reader *r, bool is_again)
{
	struct sql *s = r->module->sql;
	uint64_t most =
		(s->limits.memory_bytes ? s->limits.memory_bytes : UINT64_MAX) / s->n_captures;

	if (!s->n_run && !is_again && !r->scan.is_by_class)
		return NULL;
	if (!s->kept[r->capture])
		s->kept[r->capture] = table_keep_new(s->traces[r->capture], most);
	return s->kept[r->capture];
}

static bool begin_capture(struct table_reader *r, struct incore_error *e)
{
	struct sql *s = r->module->sql;
	struct table_cursor **c = &r->open[r->capture];

	r->scan.capture = r->capture + 1;
	r->scan.keep = sql_tables_keep_of(r, *c != NULL);
	if (*c) {
		table_rescan(*c, &r->scan);
		return true;
	}
	*c = table_open(r->module->table, s->traces[r->capture], &r->scan, e);
	return *c != NULL;
}

/* Reads the next non-empty batch, of this capture or of a later one. */
static int read_batch(struct table_reader *r)
{
	struct incore_error e = {0};

	r->row = 0;
	for (;;) {
		if (!table_next(r->open[r->capture], &r->batch, &e))
			return sql_table_failed(r->module->sql, &e);
		if (r->batch.n)
			return SQLITE_OK;
		if (r->capture == r->last_capture) {
			r->is_end = true;
			return SQLITE_OK;
		}
		r->capture++;
		if (!begin_capture(r, &e))
			return sql_table_failed(r->module->sql, &e);
	}
}

bool sql_narrow(unsigned char op, sqlite3_value *v, int64_t *first, int64_t *last)
{
	double d;
	int64_t x;

	switch (sqlite3_value_type(v)) {
	case SQLITE_INTEGER:
		x = sqlite3_value_int64(v);
		break;
	case SQLITE_FLOAT:
		d = floor(sqlite3_value_double(v));
		if (!(d > -9e18 && d < 9e18))
			return true; /* SQLite itself decides which rows match */
		x = (int64_t)d;
		/* between two integers: no row is equal; compare with the lower integer */
		if (op == SQLITE_INDEX_CONSTRAINT_GE && d != sqlite3_value_double(v))
			op = SQLITE_INDEX_CONSTRAINT_GT;
		else if (op == SQLITE_INDEX_CONSTRAINT_LT && d != sqlite3_value_double(v))
			op = SQLITE_INDEX_CONSTRAINT_LE;
		break;
	case SQLITE_NULL:
		return false;
	default:
		return true;
	}
	if (op == SQLITE_INDEX_CONSTRAINT_GT) {
		if (x == INT64_MAX)
			return false;
		x++;
	} else if (op == SQLITE_INDEX_CONSTRAINT_LT) {
		if (x == INT64_MIN)
			return false;
		x--;
	}
	if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
		op == SQLITE_INDEX_CONSTRAINT_GE)
		*first = *first > x ? *first : x;
	if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LT ||
		op == SQLITE_INDEX_CONSTRAINT_LE)
		*last = *last < x ? *last : x;
	return *first <= *last;
}

/* Clips a range to [0, UINT32_MAX]; false: nothing is left. */
static bool to_u32(int64_t first, int64_t last, uint32_t *out_first, uint32_t *out_last)
{
	if (last < 0 || first > UINT32_MAX)
		return false;
	*out_first = first < 0 ? 0 : (uint32_t)first;
	*out_last = last > UINT32_MAX ? UINT32_MAX : (uint32_t)last;
	return true;
}

/* Sets the limits of r->scan from the conditions; false: no row can match. */
static bool limit_scan(struct table_reader *r, const char *plan, sqlite3_value **v)
{
	int64_t first[KEY_COUNT], last[KEY_COUNT];
	uint32_t a, b;

	for (int k = 0; k < KEY_COUNT; k++) {
		first[k] = INT64_MIN;
		last[k] = INT64_MAX;
	}
	for (; *plan && *plan != BY_CLASS; plan += 2, v++)
		if (!sql_narrow(
			    (unsigned char)plan[1], *v, &first[*plan - 'a'], &last[*plan - 'a']))
			return false;
	if (!to_u32(first[KEY_TRACK], last[KEY_TRACK], &r->scan.first_track, &r->scan.last_track) ||
		!to_u32(first[KEY_SLICE], last[KEY_SLICE], &r->scan.first_slice,
			&r->scan.last_slice) ||
		!to_u32(first[KEY_CAPTURE], last[KEY_CAPTURE], &a, &b) ||
		a > r->module->sql->n_captures)
		return false;
	r->scan.first_row = first[KEY_ROW];
	r->scan.last_row = last[KEY_ROW];
	r->scan.first_cyc = first[KEY_TIME];
	r->scan.last_cyc = last[KEY_TIME];
	r->capture = a ? a - 1 : 0;
	r->last_capture = (b < r->module->sql->n_captures ? b : r->module->sql->n_captures) - 1;
	return b >= 1 && r->capture <= r->last_capture;
}

static int filter_table(
	sqlite3_vtab_cursor *base, int columns, const char *plan, int argc, sqlite3_value **argv)
{
	struct table_reader *r = (struct table_reader *)base;
	struct incore_error e = {0};

	(void)argc;
	if (r->columns != (uint64_t)columns)
		close_cursors(r);
	r->columns = (uint64_t)columns;
	r->scan = (struct table_scan)TABLE_SCAN_ALL;
	r->scan.columns = r->columns;
	r->scan.pool = r->module->sql->like->pool;
	r->scan.progress = r->module->sql->progress;
	r->scan.is_by_class = strchr(plan, BY_CLASS) != NULL;
	r->rowid = 0;
	r->is_end = !limit_scan(r, plan, argv);
	if (r->is_end)
		return SQLITE_OK;
	if (!begin_capture(r, &e))
		return sql_table_failed(r->module->sql, &e);
	return read_batch(r);
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct table_reader *r = (struct table_reader *)base;

	r->rowid++;
	return ++r->row < r->batch.n ? SQLITE_OK : read_batch(r);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	return ((struct table_reader *)base)->is_end;
}

void sql_result_value(sqlite3_context *ctx, const struct column *c, const void *value,
	sqlite3_destructor_type texts)
{
	char hex[COLUMN_HEX_TEXT];
	struct str s;
	uint64_t u;

	if (!value || column_is_null(c, value))
		return; /* a missing result means NULL in SQLite */
	switch (c->type) {
	case COLUMN_F64:
		sqlite3_result_double(ctx, *(const double *)value);
		return;
	case COLUMN_I64:
		sqlite3_result_int64(ctx, *(const int64_t *)value);
		return;
	case COLUMN_TEXT:
		sqlite3_result_text(ctx, *(const char *const *)value, -1, texts);
		return;
	case COLUMN_STR:
		s = *(const struct str *)value;
		sqlite3_result_text(ctx, s.p, (int)s.n, texts);
		return;
	default:
		break;
	}
	u = column_u64(c, value);
	if (c->words) {
		s = column_word(c, u);
		sqlite3_result_text(ctx, s.p, (int)s.n, SQLITE_TRANSIENT);
	} else if (c->flags & COLUMN_HEX) {
		sqlite3_result_text(ctx, column_hex(c, value, hex), -1, SQLITE_TRANSIENT);
	} else {
		sqlite3_result_int64(ctx, (int64_t)u); /* 64-bit addresses are stored as signed */
	}
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	const struct table_reader *r = (const struct table_reader *)base;
	const struct table *t = r->module->table;

	/* Fast path for common types: a scan calls this for millions of rows. */
	if (!r->batch.column[i])
		return SQLITE_OK;
	if (t->record->columns[i].type == COLUMN_U32)
		sqlite3_result_int64(ctx, ((const uint32_t *)r->batch.column[i])[r->row]);
	else
		sql_result_value(ctx, &t->record->columns[i],
			table_value(t, &r->batch, (unsigned)i, r->row),
			t->has_lasting_texts ? SQLITE_STATIC : SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = ((struct table_reader *)base)->rowid;
	return SQLITE_OK;
}

static const sqlite3_module table_methods = {
	.iVersion = 0,
	.xConnect = connect_table,
	.xBestIndex = plan_table,
	.xDisconnect = disconnect_table,
	.xOpen = open_reader,
	.xClose = close_reader,
	.xFilter = filter_table,
	.xNext = next_row,
	.xEof = is_at_end,
	.xColumn = give_column,
	.xRowid = give_rowid,
};

static bool sql_tables_add_table(struct sql *s, const struct table *t, struct incore_error *e)
{
	struct table_module *m = arena_zalloc(&s->arena, 1, sizeof(*m));
	struct sql_declaration d = {.sql = s};
	bool ok = true;

	_Static_assert(sizeof(int) >= 4, "a bit for each of 31 columns");
	if (!m || t->record->n_columns > 31)
		return err_nomem(e);
	*m = (struct table_module){.sql = s, .table = t};
	for (unsigned i = 0; i < s->n_captures; i++) {
		m->n_rows += table_estimate(t, s->traces[i]);
		m->n_tracks += s->traces[i]->n_tracks;
		m->n_code += s->traces[i]->n_code;
	}
	for (uint16_t i = 0; ok && i < t->record->n_columns; i++)
		ok = sql_declare(&d, t->record->columns[i].name, &t->record->columns[i], false, e);
	ok = sql_declared(&d, t->name, t->doc, &m->declaration, e) && ok;
	return ok && (sqlite3_create_module(s->db, t->name, &table_methods, m) == SQLITE_OK ||
			     err_nomem(e));
}

bool sql_add_tables(struct sql *s, struct incore_error *e)
{
	for (const struct table *const *t = table_list; *t; t++)
		if (!sql_tables_add_table(s, *t, e))
			return false;
	return true;
}
