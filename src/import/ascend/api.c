/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.c: API_INSTR and API_FILE, the producer's data per instruction and per line. A cell is one
 * value for all cores or a list with one per core; the column decides which, never the length. A
 * row of the table here is one instruction (or line) on one core that executed it.
 */
#include <math.h>

#include "base/hash.h"
#include "import/ascend/ascend.h"

#define MAX_COLUMNS 64

struct api_column {
	struct str name; /* raw, borrowed from the block */
	int dtype;	 /* -1: not stated */
	bool is_per_core;
};

struct api_cell {
	struct str raw; /* p NULL: missing in this row */
	enum json_type type;
	size_t first, n; /* a per-core list: its items */
};

struct api {
	struct asc_build *b;
	const char *path;
	uint64_t base;
	struct str json;
	const char *rows_key, *dtype_key; /* e.g. "Instructions", "Instructions Dtype" */
	VEC(struct str) cores;
	struct api_column cols[MAX_COLUMNS];
	struct api_cell cells[MAX_COLUMNS];
	unsigned n_cols;
	VEC(struct str) items; /* items of the per-core lists of the row */
	struct asc_table table;
	struct str file;     /* file of the following lines */
	uint64_t n_short;    /* lists whose length is not the number of cores */
	uint64_t n_left_out; /* columns beyond MAX_COLUMNS */
	uint64_t n_rows;
};

static bool is_known_per_core(struct str s)
{
	static const char *const names[] = {"Cycles", "Instructions Executed", "GPR Count",
		"Process Bytes", "Vector Utilization Percentage", "UB Read Conflict",
		"UB Write Conflict", "ICacheCycles", "CcuCycles", "ScalarCycles", "RealStallCycles",
		"TheoreticalStallCycles", "L2Cache Hit Rate"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(s, names[i]))
			return true;
	return false;
}

static struct api_column *find_column(struct api *a, struct str name)
{
	for (unsigned i = 0; i < a->n_cols; i++)
		if (str_eq(a->cols[i].name, name))
			return &a->cols[i];
	if (a->n_cols == MAX_COLUMNS) {
		a->n_left_out++;
		return NULL;
	}
	a->cols[a->n_cols] = (struct api_column){name, -1, is_known_per_core(name)};
	return &a->cols[a->n_cols++];
}

/* The raw bytes of the next value. */
static struct str raw_value(struct json_reader *r, enum json_type *type)
{
	const char *start;

	*type = json_peek(r);
	start = r->p;
	if (!json_skip(r))
		return (struct str){NULL, 0};
	return (struct str){start, (size_t)(r->p - start)};
}

/* Returns a key that outlives the reader's scratch buffer: borrowed from the block, or a copy if it
 * has escapes. */
static struct str keep_key(struct api *a, struct str key)
{
	const char *end = a->json.p + a->json.n;
	char *copy;

	if (key.p >= a->json.p && key.p < end)
		return key;
	copy = arena_strndup(&a->b->trace->arena, key.p, key.n);
	return (struct str){copy ? copy : "", copy ? key.n : 0};
}

static void read_dtypes(struct api *a, struct json_reader *r)
{
	struct str key;
	int64_t dtype;

	if (json_peek(r) != JSON_OBJECT) {
		json_skip(r);
		return;
	}
	/* {"Instructions": {column: dtype}} */
	for (json_enter_object(r); json_next_key(r, &key);) {
		if (json_peek(r) != JSON_OBJECT) {
			json_skip(r);
			continue;
		}
		for (json_enter_object(r); json_next_key(r, &key);) {
			struct api_column *c = find_column(a, keep_key(a, key));

			if (json_peek(r) != JSON_NUMBER || !c) {
				json_skip(r);
				continue;
			}
			if (!json_get_i64(r, &dtype))
				return;
			c->dtype = dtype >= 0 && dtype < 1000 ? (int)dtype : -1;
			c->is_per_core = dtype == 1 || dtype == 2 || dtype == 4 ||
					 is_known_per_core(c->name);
			if (str_is(c->name, "Address Range") || str_is(c->name, "Line"))
				c->is_per_core = false;
		}
	}
}

static void read_cores(struct api *a, struct json_reader *r)
{
	struct str name;

	a->cores.n = 0;
	if (json_peek(r) != JSON_ARRAY) {
		json_skip(r);
		return;
	}
	for (json_enter_array(r); json_next_item(r);) {
		if (json_peek(r) != JSON_STRING) {
			json_skip(r);
			continue;
		}
		if (json_get_str(r, &name) && !VEC_PUSH(&a->cores, keep_key(a, name)))
			json_reject(r, "no-memory", "no memory");
	}
}

/* Adds columns that occur only in the rows, not in the Dtype list. */
static void read_row_keys(struct api *a, struct json_reader *r)
{
	struct str key;

	if (json_peek(r) != JSON_OBJECT) {
		json_skip(r);
		return;
	}
	for (json_enter_object(r); json_next_key(r, &key); json_skip(r))
		if (!str_is(key, "Lines") && !(a->file.p && str_is(key, "Source")))
			find_column(a, keep_key(a, key));
}

/* --- rows --- */

/* Splits a per-core list. */
static bool split(struct api *a, struct api_cell *c)
{
	struct json_reader r;
	enum json_type type;
	bool ok = true;

	c->first = a->items.n;
	json_init(&r, c->raw.p, c->raw.n, NULL, 0);
	for (json_enter_array(&r); ok && json_next_item(&r);)
		ok = VEC_PUSH(&a->items, raw_value(&r, &type));
	json_deinit(&r);
	c->n = a->items.n - c->first;
	a->n_short += a->cores.n && c->n != a->cores.n;
	return ok;
}

static double number_of(struct str raw)
{
	double v;

	if (raw.n >= 2 && raw.p[0] == '"')
		raw = str_sub(raw, 1, raw.n - 2);
	return raw.p && trace_event_number(raw, &v) ? v : NAN;
}

/* The value of column c for core k. */
static struct str cell_of(const struct api *a, unsigned c, size_t k)
{
	const struct api_cell *cell = &a->cells[c];

	if (!cell->raw.p || cell->type != JSON_ARRAY || !a->cols[c].is_per_core || !a->cores.n)
		return cell->raw;
	return k < cell->n ? a->items.v[cell->first + k] : (struct str){NULL, 0};
}

static void put_cell(struct api *a, struct str raw, bool is_per_core)
{
	struct strbuf text = {0};

	if (!raw.p || str_is(raw, "null") || (is_per_core && number_of(raw) == -1)) {
		asc_put(a->b, &a->table, (struct str){NULL, 0});
	} else if (raw.n >= 2 && raw.p[0] == '"') {
		trace_event_text(&text, str_sub(raw, 1, raw.n - 2));
		a->table.is_failed |= text.failed;
		asc_put(a->b, &a->table, (struct str){text.p ? text.p : "", text.n});
		sb_free(&text);
	} else {
		asc_put(a->b, &a->table, raw);
	}
}

static int column_index(const struct api *a, const char *name)
{
	for (unsigned i = 0; i < a->n_cols; i++)
		if (str_is(a->cols[i].name, name))
			return (int)i;
	return -1;
}

static int64_t whole_number(struct str raw)
{
	double v = number_of(raw);

	return v >= 0 && v < 9e15 ? (int64_t)(v + 0.5) : -1;
}

static struct str plain_text(struct api *a, int column)
{
	struct strbuf text = {0};
	struct str raw = column >= 0 ? a->cells[column].raw : (struct str){NULL, 0};
	char *p;

	if (!raw.p || raw.n < 2 || raw.p[0] != '"')
		return STR("");
	trace_event_text(&text, str_sub(raw, 1, raw.n - 2));
	p = arena_strndup(&a->b->trace->arena, text.p ? text.p : "", text.n);
	a->table.is_failed |= text.failed || !p;
	sb_free(&text);
	return str_of(p ? p : "");
}

/* Adds this row's totals for the kind of core k to those of its PC. */
static bool add_stated(struct api *a, size_t k, int64_t calls, int64_t cycles)
{
	struct ascend_unit u = {0};
	struct asc_stated s = {.calls = calls, .cycles = cycles};
	struct asc_stated *v = a->b->stated.v;
	struct str pc = plain_text(a, column_index(a, "Address"));

	if (!pc.n || !str_to_u64(pc, &s.pc))
		return true;
	s.is_kind_known = k < a->cores.n && ascend_unit_of(a->cores.v[k], &u);
	s.kind = u.kind;
	for (size_t i = a->b->stated.n; i > 0 && v[i - 1].pc == s.pc; i--) {
		struct asc_stated *have = &v[i - 1];

		if (have->kind != s.kind)
			continue;
		have->calls += calls > 0 ? calls : 0;
		have->cycles += cycles > 0 ? cycles : 0;
		return true;
	}
	s.text = plain_text(a, column_index(a, "Source"));
	s.source = plain_text(a, column_index(a, "AscendC Inner Code"));
	s.pipe = plain_text(a, column_index(a, "Pipe"));
	return VEC_PUSH(&a->b->stated, s);
}

/* Are all values zero or "not available"? */
static bool is_silent(const struct api *a, size_t k)
{
	for (unsigned c = 0; c < a->n_cols; c++) {
		double v = a->cols[c].is_per_core ? number_of(cell_of(a, c, k)) : NAN;

		if (v < -1 || v > 0)
			return false;
	}
	return true;
}

static bool put_row(struct api *a, bool is_instr)
{
	bool is_put = false;
	int calls_at = column_index(a, "Instructions Executed"),
	    cycles_at = column_index(a, "Cycles");
	size_t n = a->cores.n ? a->cores.n : 1;

	a->n_rows++;
	for (size_t k = 0; k < n; k++) {
		int64_t calls =
			calls_at >= 0 ? whole_number(cell_of(a, (unsigned)calls_at, k)) : -1;
		int64_t cycles =
			cycles_at >= 0 ? whole_number(cell_of(a, (unsigned)cycles_at, k)) : -1;

		/* An instruction that no core executed still gets one row. */
		if (calls == 0 && cycles <= 0 && is_silent(a, k) && (is_put || k + 1 < n))
			continue;
		is_put = true;
		if (is_instr && !add_stated(a, k, calls, cycles))
			return false;
		asc_put(a->b, &a->table, k < a->cores.n ? a->cores.v[k] : (struct str){NULL, 0});
		if (!is_instr)
			asc_put(a->b, &a->table, a->file);
		for (unsigned c = 0; c < a->n_cols; c++)
			put_cell(a, cell_of(a, c, k), a->cols[c].is_per_core);
	}
	return !a->table.is_failed;
}

static bool read_row(struct api *a, struct json_reader *r, bool is_instr)
{
	struct str key;

	if (json_peek(r) != JSON_OBJECT)
		return json_skip(r);
	for (unsigned c = 0; c < a->n_cols; c++)
		a->cells[c] = (struct api_cell){.type = JSON_NULL};
	a->items.n = 0;
	for (json_enter_object(r); json_next_key(r, &key);) {
		struct api_cell cell = {.type = JSON_NULL};
		int at = -1;

		for (unsigned c = 0; c < a->n_cols && at < 0; c++)
			at = str_eq(a->cols[c].name, key) ? (int)c : -1;
		cell.raw = raw_value(r, &cell.type);
		if (at < 0 || !cell.raw.p)
			continue;
		if (cell.type == JSON_ARRAY && a->cols[at].is_per_core && !split(a, &cell))
			return json_reject(r, "no-memory", "no memory");
		a->cells[at] = cell;
	}
	if (r->is_failed)
		return false;
	return put_row(a, is_instr) || json_reject(r, "no-memory", "no memory");
}

/* {"Source": path, "Lines": [...]}: in any order. */
static bool read_file(struct api *a, struct json_reader *r, bool is_first_pass)
{
	struct json_reader again = *r;
	struct str key, path = {NULL, 0};

	if (json_peek(r) != JSON_OBJECT)
		return json_skip(r);
	again = *r;
	again.scratch = again.key_scratch = (struct strbuf){0};
	for (json_enter_object(&again); json_next_key(&again, &key);) {
		if (str_is(key, "Source") && json_peek(&again) == JSON_STRING)
			json_get_str(&again, &path);
		else
			json_skip(&again);
	}
	a->file = path.p ? keep_key(a, path) : STR("");
	if (a->file.n && intern_add(&a->b->sources, a->file) == INTERN_NONE)
		return json_reject(r, "no-memory", "no memory");
	json_deinit(&again);
	for (json_enter_object(r); json_next_key(r, &key);) {
		if (!str_is(key, "Lines") || json_peek(r) != JSON_ARRAY) {
			json_skip(r);
			continue;
		}
		for (json_enter_array(r); json_next_item(r);) {
			if (is_first_pass)
				read_row_keys(a, r);
			else
				read_row(a, r, false);
		}
	}
	return !r->is_failed;
}

/* --- the block --- */

static bool pass(struct api *a, bool is_first, bool is_instr, struct incore_error *e)
{
	struct json_reader r;
	struct str key;
	bool ok;

	json_init(&r, a->json.p, a->json.n, a->path, 0);
	for (json_enter_object(&r); json_next_key(&r, &key);) {
		if (is_first && str_is(key, "Cores")) {
			read_cores(a, &r);
		} else if (is_first && str_is(key, a->dtype_key)) {
			read_dtypes(a, &r);
		} else if (!str_is(key, a->rows_key) || json_peek(&r) != JSON_ARRAY) {
			json_skip(&r);
		} else {
			for (json_enter_array(&r); json_next_item(&r);) {
				if (!is_instr)
					read_file(a, &r, is_first);
				else if (is_first)
					read_row_keys(a, &r);
				else
					read_row(a, &r, true);
			}
		}
	}
	ok = json_finish(&r, e);
	if (!ok)
		asc_error_at(e, a->base);
	json_deinit(&r);
	return ok;
}

static bool read_both(struct api *a, bool is_instr, struct incore_error *e)
{
	struct asc_build *b = a->b;

	if (!pass(a, true, is_instr, e))
		return false;
	asc_table_open(b, &a->table, is_instr ? ASCEND_TABLE_INSTR : ASCEND_TABLE_LINES, a->path,
		is_instr ? "Core" : "Core|Source");
	for (unsigned c = 0; c < a->n_cols; c++)
		asc_table_column(b, &a->table, a->cols[c].name);
	if (!pass(a, false, is_instr, e))
		return false;
	if (a->n_short && !trace_note(b->trace, NOTE_CONTRADICTORY, "list-length", a->path, a->base,
				  a->n_short, "%llu lists have another length than the %zu cores",
				  (unsigned long long)a->n_short, a->cores.n))
		return err_nomem(e);
	if (a->n_left_out && !trace_note(b->trace, NOTE_LOST, "too-many-columns", a->path, a->base,
				     a->n_left_out, "more than %d columns", MAX_COLUMNS))
		return err_nomem(e);
	return asc_table_close(b, &a->table) || err_nomem(e);
}

static bool read_api(struct api *a, bool is_instr, struct incore_error *e)
{
	bool ok = read_both(a, is_instr, e);

	asc_table_drop(&a->table);
	VEC_FREE(&a->cores);
	VEC_FREE(&a->items);
	return ok;
}

bool asc_read_api_instr(struct asc_build *b, struct str json, const char *path, uint64_t base,
	struct incore_error *e)
{
	struct api a = {.b = b,
		.path = path,
		.base = base,
		.json = json,
		.rows_key = "Instructions",
		.dtype_key = "Instructions Dtype"};

	b->path = path;
	b->has_api = true;
	return read_api(&a, true, e);
}

bool asc_read_api_file(struct asc_build *b, struct str json, const char *path, uint64_t base,
	struct incore_error *e)
{
	struct api a = {.b = b,
		.path = path,
		.base = base,
		.json = json,
		.rows_key = "Files",
		.dtype_key = "Files Dtype"};

	b->path = path;
	return read_api(&a, false, e);
}
