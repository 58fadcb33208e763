/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_bin.c: visualize_data.bin, the container that msprof op and its simulator write.
 *
 * Parts: data per instruction and per line; tables of a run on a device; the container.
 */
#include <math.h>

#include "base/hash.h"
#include "codec/insight_blocks.h"
#include "import/ascend/ascend.h"

/* --- data per instruction and per line -------------------------------------------------------- */

/*
 * API_INSTR and API_FILE, the producer's data per instruction and per line. A cell is one value for
 * all cores or a list with one per core; the column decides which, never the length. A row of the
 * table here is one instruction (or line) on one core that executed it.
 */

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
	struct str file;	    /* file of the following lines */
	uint64_t n_short;	    /* lists whose length is not the number of cores */
	uint64_t n_left_out;	    /* columns beyond MAX_COLUMNS */
	uint64_t n_rows, row_added; /* row_added: the last whose file is known */
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

static struct api_column *insight_find_column(struct api *a, struct str name)
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
static struct str insight_raw_value(struct json_reader *r, enum json_type *type)
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
			struct api_column *c = insight_find_column(a, keep_key(a, key));

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

static void insight_read_cores(struct api *a, struct json_reader *r)
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
			insight_find_column(a, keep_key(a, key));
}

/* --- rows --- */

/* Splits a per-core list. */
static bool insight_split(struct api *a, struct api_cell *c)
{
	struct json_reader r;
	enum json_type type;
	bool ok = true;

	c->first = a->items.n;
	json_init(&r, c->raw.p, c->raw.n, NULL, 0);
	for (json_enter_array(&r); ok && json_next_item(&r);)
		ok = VEC_PUSH(&a->items, insight_raw_value(&r, &type));
	json_deinit(&r);
	c->n = a->items.n - c->first;
	a->n_short += a->cores.n && c->n != a->cores.n;
	return ok;
}

static double insight_number_of(struct str raw)
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

static void insight_put_cell(struct api *a, struct str raw, bool is_per_core)
{
	struct strbuf text = {0};

	if (!raw.p || str_is(raw, "null") || (is_per_core && insight_number_of(raw) == -1)) {
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
	double v = insight_number_of(raw);

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

/* A second row of an instruction may be of another file, which its frames do not name. */
static bool keep_other_file(struct api *a, const struct asc_stated *have)
{
	struct str place;
	ptrdiff_t colon;

	if (a->row_added == a->n_rows)
		return true;
	a->row_added = a->n_rows;
	place = plain_text(a, column_index(a, "AscendC Inner Code"));
	colon = str_rfind_char(place, ':');
	return str_eq(place, have->source) || colon <= 0 ||
	       intern_add(&a->b->sources, str_sub(place, 0, (size_t)colon)) != INTERN_NONE;
}

/* Adds this row's totals for the kind of core k to those of its PC. */
static bool insight_add_stated(struct api *a, size_t k, int64_t calls, int64_t cycles)
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
		return keep_other_file(a, have);
	}
	a->row_added = a->n_rows;
	s.text = plain_text(a, column_index(a, "Source"));
	s.source = plain_text(a, column_index(a, "AscendC Inner Code"));
	s.pipe = plain_text(a, column_index(a, "Pipe"));
	return VEC_PUSH(&a->b->stated, s);
}

/* Are all values zero or "not available"? */
static bool is_silent(const struct api *a, size_t k)
{
	for (unsigned c = 0; c < a->n_cols; c++) {
		double v = a->cols[c].is_per_core ? insight_number_of(cell_of(a, c, k)) : NAN;

		if (v < -1 || v > 0)
			return false;
	}
	return true;
}

static bool insight_put_row(struct api *a, bool is_instr)
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
		if (is_instr && !insight_add_stated(a, k, calls, cycles))
			return false;
		asc_put(a->b, &a->table, k < a->cores.n ? a->cores.v[k] : (struct str){NULL, 0});
		if (!is_instr)
			asc_put(a->b, &a->table, a->file);
		for (unsigned c = 0; c < a->n_cols; c++)
			insight_put_cell(a, cell_of(a, c, k), a->cols[c].is_per_core);
	}
	return !a->table.is_failed;
}

static bool insight_read_row(struct api *a, struct json_reader *r, bool is_instr)
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
		cell.raw = insight_raw_value(r, &cell.type);
		if (at < 0 || !cell.raw.p)
			continue;
		if (cell.type == JSON_ARRAY && a->cols[at].is_per_core && !insight_split(a, &cell))
			return json_reject(r, "no-memory", "no memory");
		a->cells[at] = cell;
	}
	if (r->is_failed)
		return false;
	return insight_put_row(a, is_instr) || json_reject(r, "no-memory", "no memory");
}

/* {"Source": path, "Lines": [...]}: in any order. */
static bool insight_read_file(struct api *a, struct json_reader *r, bool is_first_pass)
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
				insight_read_row(a, r, false);
		}
	}
	return !r->is_failed;
}

/* --- the block --- */

static bool insight_pass(struct api *a, bool is_first, bool is_instr, struct incore_error *e)
{
	struct json_reader r;
	struct str key;
	bool ok;

	json_init(&r, a->json.p, a->json.n, a->path, 0);
	for (json_enter_object(&r); json_next_key(&r, &key);) {
		if (is_first && str_is(key, "Cores")) {
			insight_read_cores(a, &r);
		} else if (is_first && str_is(key, a->dtype_key)) {
			read_dtypes(a, &r);
		} else if (!str_is(key, a->rows_key) || json_peek(&r) != JSON_ARRAY) {
			json_skip(&r);
		} else {
			for (json_enter_array(&r); json_next_item(&r);) {
				if (!is_instr)
					insight_read_file(a, &r, is_first);
				else if (is_first)
					read_row_keys(a, &r);
				else
					insight_read_row(a, &r, true);
			}
		}
	}
	ok = json_finish(&r, e);
	if (!ok)
		asc_error_at(e, a->base);
	json_deinit(&r);
	return ok;
}

/* Keeps the order of the cores unless it is that of their numbers. */
static bool keep_cores(struct api *a)
{
	struct ascend_unit last = {0}, u;
	struct asc_table k;
	bool is_sorted = true;

	for (size_t i = 0; i < a->cores.n; i++, last = u) {
		if (!ascend_unit_of(a->cores.v[i], &u))
			return true;
		is_sorted &=
			!i || u.core > last.core || (u.core == last.core && u.unit > last.unit);
	}
	if (is_sorted)
		return true;
	asc_table_open(a->b, &k, ASCEND_TABLE_CORES, a->path, "Core");
	for (size_t i = 0; i < a->cores.n; i++)
		asc_put(a->b, &k, a->cores.v[i]);
	return asc_table_close(a->b, &k);
}

static bool read_both(struct api *a, bool is_instr, struct incore_error *e)
{
	struct asc_build *b = a->b;

	if (!insight_pass(a, true, is_instr, e))
		return false;
	if (is_instr && !keep_cores(a))
		return err_nomem(e);
	asc_table_open(b, &a->table, is_instr ? ASCEND_TABLE_INSTR : ASCEND_TABLE_LINES, a->path,
		is_instr ? "Core" : "Core|Source");
	for (unsigned c = 0; c < a->n_cols; c++)
		asc_table_column(b, &a->table, a->cols[c].name);
	if (!insight_pass(a, false, is_instr, e))
		return false;
	if (a->n_short && !trace_note(b->trace, "list-length", a->path, a->base, a->n_short,
				  "%llu lists have another length than the %zu cores",
				  (unsigned long long)a->n_short, a->cores.n))
		return err_nomem(e);
	if (a->n_left_out && !trace_note(b->trace, "too-many-columns", a->path, a->base,
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

static bool asc_read_api_instr(struct asc_build *b, struct str json, const char *path,
	uint64_t base, struct incore_error *e)
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

static bool asc_read_api_file(struct asc_build *b, struct str json, const char *path, uint64_t base,
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

/* --- tables of a run on a device -------------------------------------------------------------- */

/*
 * The blocks of an on-device run (types 0x05 to 0x0F) as tables: base info, compute load, memory,
 * occupancy, roofline, cache lines, stall reasons. Numbers and numeric strings are equivalent here,
 * and older files are nested differently; a missing member leaves its cell empty.
 */

struct details {
	struct asc_build *b;
	struct str json;
	const char *origin;  /* "DETAILS_MEMORY_GRAPH" */
	struct str row_name; /* name of the memory table's current row */
	bool is_failed;	     /* out of memory */
};

static void insight_put_text(struct details *d, struct asc_table *k, struct str raw)
{
	struct strbuf text = {0};

	if (!raw.p || str_is(raw, "null")) {
		asc_put(d->b, k, (struct str){NULL, 0});
		return;
	}
	trace_event_text(&text, raw);
	k->is_failed |= text.failed;
	asc_put(d->b, k, (struct str){text.p ? text.p : "", text.n});
	sb_free(&text);
}

/* Adds a cell for each name in `cols` ("a|b"), from `inner` if `o` lacks the member. */
static void insight_put_members(
	struct details *d, struct asc_table *k, struct str o, struct str inner, const char *cols)
{
	struct str rest = str_of(cols), name;
	char key[40];

	while (str_cut(&rest, "|", &name)) {
		struct str v;

		if (name.n >= sizeof(key))
			continue;
		memcpy(key, name.p, name.n);
		key[name.n] = '\0';
		v = trace_event_find(o, key);
		insight_put_text(d, k, v.p || !inner.p ? v : trace_event_find(inner, key));
	}
}

static void close_table(struct details *d, struct asc_table *k)
{
	d->is_failed |= !asc_table_close(d->b, k);
}

/* Adds an advice, a string or a list of strings. */
static void insight_put_advice(struct details *d, struct str advice)
{
	struct asc_table k;
	struct str v;
	size_t pos = 0;

	if (!advice.n)
		return;
	asc_table_open(d->b, &k, ASCEND_TABLE_ADVICE, d->origin, "text");
	if (advice.p[0] != '[')
		insight_put_text(d, &k, advice);
	while (trace_event_item(advice, &pos, &v))
		insight_put_text(d, &k, v);
	close_table(d, &k);
}

/* --- 0x05 --- */

static const char *insight_keep_text(struct details *d, struct str raw)
{
	struct strbuf text = {0};
	const char *s = NULL;

	if (raw.n && trace_event_text(&text, raw))
		s = arena_strndup(&d->b->trace->arena, text.p, text.n);
	d->is_failed |= raw.n && !s;
	sb_free(&text);
	return s;
}

static void put_block_detail(struct details *d, struct str o)
{
	struct asc_table k;
	struct str row, cell, heads, rows;
	size_t pos = 0, at;
	bool is_table = o.n && o.p[0] == '{';

	if (!o.n)
		return;
	asc_table_open(d->b, &k, ASCEND_TABLE_BLOCK_DETAIL, d->origin,
		is_table ? "" : "block_id|duration");
	if (is_table)
		k.cols.n = 0;
	heads = trace_event_find(o, "head_name");
	rows = is_table ? trace_event_find(o, "row") : o;
	while (is_table && trace_event_item(heads, &pos, &cell))
		asc_table_column(d->b, &k, cell);
	pos = 0;
	while (trace_event_item(rows, &pos, &row)) {
		struct str values = trace_event_find(row, is_table ? "value" : "duration");
		size_t n = is_table ? 0 : 1;

		if (!is_table)
			insight_put_text(d, &k, trace_event_find(row, "block_id"));
		for (at = 0; n < k.cols.n && trace_event_item(values, &at, &cell); n++)
			insight_put_text(d, &k, cell);
		for (; n < k.cols.n; n++)
			asc_put(d->b, &k, (struct str){NULL, 0});
	}
	close_table(d, &k);
}

static void read_base(struct details *d)
{
	struct trace_meta *m = &d->b->trace->meta;
	struct asc_table k;
	struct str key, v;
	size_t pos = 0;
	uint64_t n;

	asc_table_open(d->b, &k, ASCEND_TABLE_BASE, d->origin, "key|value");
	while (trace_event_member(d->json, &pos, &key, &v)) {
		if (v.n && (v.p[0] == '{' || v.p[0] == '['))
			continue;
		insight_put_text(d, &k, key);
		insight_put_text(d, &k, v);
	}
	close_table(d, &k);
	if (!d->b->soc)
		d->b->soc = insight_keep_text(d, trace_event_find(d->json, "soc"));
	if (!m->kernel)
		m->kernel = insight_keep_text(d, trace_event_find(d->json, "name"));
	v = trace_event_find(d->json, "block_dim");
	if (v.n && str_to_u64(v, &n) && n < UINT32_MAX)
		m->launch.workgroups = (int64_t)n;
	put_block_detail(d, trace_event_find(d->json, "block_detail"));
	put_block_detail(d, trace_event_find(d->json, "mix_block_detail"));
}

/* --- 0x06 .. 0x09 --- */

static void read_compute(struct details *d, const char *name)
{
	static const char cols[] = "block_id|block_type|name|unit|value|origin_value";
	struct str all = trace_event_find(d->json, "subblock_detail"), o;
	struct asc_table k;
	size_t pos = 0;

	asc_table_open(d->b, &k, name, d->origin, cols);
	while (trace_event_item(all, &pos, &o))
		insight_put_members(d, &k, o, trace_event_find(o, "data_detail"), cols);
	close_table(d, &k);
}

/* memory_path -> source and destination */
static const char *const memory_paths[] = {"HBM->L2", "L2->HBM", "L2->L1", "L1->L2", "GM/L1->L0A",
	"GM/L1->L0B", "L0A->CUBE", "L0B->CUBE", "CUBE->L0C", "L0C->L1", "L0C->L2", "L0C->CUBE",
	"L2->UB", "UB->L2", "UB->VEC", "VEC->UB", "L2->UB (vec1)", "UB->L2 (vec1)",
	"UB->VEC (vec1)", "VEC->UB (vec1)", "L2/UB->L1", "L1->L0A", "L2/L1->L0B", "VEC->L0C",
	"L0C->VEC", "L2/L1->UB", [35] = "GM/L1->L0A", "GM/L1->L0B", "GM/L1->L0A", "GM/L1->L0B",
	"L0C->FIXP", "FIXP->L2", "FIXP->L1", "FIXP->UB", "FIXP->UB (vec1)", "L1->UB",
	"L1->UB (vec1)", "UB->L1", "UB->L1 (vec1)", "L2->Dcache", "L2->Dcache (vec1)", "Dcache->L2",
	"Dcache->L2 (vec1)", "VEC->Dcache", "VEC->Dcache (vec1)", "Dcache->VEC",
	"Dcache->VEC (vec1)"};

static void put_memory_units(struct details *d, struct asc_table *k, struct str core)
{
	struct str units = trace_event_find(core, "memory_unit"), o;
	struct str number = trace_event_find(core, "core_no");
	size_t pos = 0;

	while (trace_event_item(units, &pos, &o)) {
		const size_t n_paths = sizeof(memory_paths) / sizeof(memory_paths[0]);
		uint64_t path = n_paths;

		insight_put_text(d, k, number);
		str_to_u64(trace_event_find(o, "memory_path"), &path);
		insight_put_text(d, k,
			path < n_paths && memory_paths[path] ? str_of(memory_paths[path])
							     : (struct str){NULL, 0});
		insight_put_members(d, k, o, (struct str){NULL, 0},
			"memory_path|request|request_suffix|bandwidth|bandwidth_suffix|peak_ratio|display");
	}
}

static void put_memory_core(struct details *d, struct asc_table *k, struct str core)
{
	struct str key, v, name, value, number = trace_event_find(core, "core_no");
	size_t pos = 0, at;

	while (trace_event_member(core, &pos, &key, &v)) {
		if (!v.n || v.p[0] != '{')
			continue;
		for (at = 0; trace_event_member(v, &at, &name, &value);) {
			insight_put_text(d, k, number);
			insight_put_text(d, k, key);
			insight_put_text(d, k, name);
			insight_put_text(d, k, value);
		}
	}
}

static void insight_read_memory(struct details *d)
{
	struct str all = trace_event_find(d->json, "core_memory_map"), core;
	struct asc_table units, cores;
	size_t pos = 0;

	asc_table_open(d->b, &units, ASCEND_TABLE_MEMORY, d->origin,
		"core_no|path|memory_path|request|request_suffix|bandwidth|bandwidth_suffix|peak_ratio|display");
	asc_table_open(
		d->b, &cores, ASCEND_TABLE_MEMORY_CORE, d->origin, "core_no|unit|name|value");
	while (trace_event_item(all, &pos, &core)) {
		put_memory_units(d, &units, core);
		put_memory_core(d, &cores, core);
		insight_put_advice(d, trace_event_find(core, "advice"));
	}
	close_table(d, &units);
	close_table(d, &cores);
}

/* The cells of one row; header_name begins with the row's own column. */
static void put_memory_row(struct details *d, struct asc_table *k, const struct str at[4])
{
	struct str value, head = {NULL, 0};
	size_t pos = 0, head_pos = 0;

	trace_event_item(at[3], &head_pos, &head);
	while (trace_event_item(at[2], &pos, &value)) {
		if (!trace_event_item(at[3], &head_pos, &head))
			head = (struct str){NULL, 0};
		insight_put_text(d, k, at[0]);
		insight_put_text(d, k, at[1]);
		insight_put_text(d, k, d->row_name);
		insight_put_text(d, k, head);
		insight_put_text(d, k, value);
	}
}

static void put_memory_table(struct details *d, struct asc_table *k, struct str block, struct str t)
{
	struct str rows = trace_event_find(t, "row"), row;
	struct str at[4] = {block, trace_event_find(t, "table_name"), {NULL, 0},
		trace_event_find(t, "header_name")};
	size_t pos = 0;

	while (trace_event_item(rows, &pos, &row)) {
		d->row_name = trace_event_find(row, "name");
		at[2] = trace_event_find(row, "value");
		put_memory_row(d, k, at);
	}
}

static void read_memory_tables(struct details *d)
{
	struct str all = trace_event_find(d->json, "table_per_block"), block, t;
	struct asc_table k;
	size_t pos = 0, at;

	asc_table_open(
		d->b, &k, ASCEND_TABLE_MEMORY_ALL, d->origin, "block_id|table|row|column|value");
	while (trace_event_item(all, &pos, &block)) {
		struct str tables = trace_event_find(block, "table_detail");
		struct str id = trace_event_find(block, "block_id");

		for (at = 0; trace_event_item(tables, &at, &t);)
			put_memory_table(d, &k, id, t);
		insight_put_advice(d, trace_event_find(block, "advice"));
	}
	close_table(d, &k);
}

/* --- 0x0C .. 0x0F --- */

static void insight_read_occupancy(struct details *d)
{
	struct str all = trace_event_find(d->json, "op_detail"), core, sub;
	struct asc_table k;
	size_t pos = 0, at;

	asc_table_open(d->b, &k, ASCEND_TABLE_OCCUPANCY, d->origin,
		"core_id|subcore_id|subcore_type|cycles|throughput|L2cache_hit_rate|instructions|instruction_per_cycle");
	while (trace_event_item(all, &pos, &core)) {
		struct str subs = trace_event_find(core, "core_detail");
		struct str id = trace_event_find(core, "core_id");

		for (at = 0; trace_event_item(subs, &at, &sub);) {
			insight_put_text(d, &k, id);
			insight_put_members(d, &k, sub,
				trace_event_find(sub, "simt_vf_instructions"),
				"subcore_id|subcore_type|cycles|throughput|L2cache_hit_rate|instructions|instruction_per_cycle");
		}
	}
	close_table(d, &k);
	if (!d->b->soc)
		d->b->soc = insight_keep_text(d, trace_event_find(d->json, "soc"));
}

static void read_roofline(struct details *d)
{
	struct str all = trace_event_find(d->json, "multiple_rooflines"), group, o, v;
	struct asc_table k;
	size_t pos = 0, at;

	asc_table_open(d->b, &k, ASCEND_TABLE_ROOFLINE, d->origin,
		"title|x|y|bw|bw_name|computility|computility_name|ratio");
	while (trace_event_item(all, &pos, &group)) {
		struct str lines = trace_event_find(group, "rooflines");
		struct str title = trace_event_find(group, "title");

		for (at = 0; trace_event_item(lines, &at, &o);) {
			struct str point = trace_event_find(o, "point");
			size_t p = 0;

			insight_put_text(d, &k, title);
			for (int i = 0; i < 2; i++)
				insight_put_text(d, &k,
					trace_event_item(point, &p, &v) ? v
									: (struct str){NULL, 0});
			insight_put_members(d, &k, o, (struct str){NULL, 0},
				"bw|bw_name|computility|computility_name|ratio");
		}
	}
	close_table(d, &k);
}

static void read_cache(struct details *d)
{
	struct str all = trace_event_find(d->json, "Cacheline Records"), o, key, v, cell;
	struct asc_table k;
	size_t pos = 0, at;

	asc_table_open(d->b, &k, ASCEND_TABLE_CACHE, d->origin, "line|event|count|ratio|ranges");
	while (trace_event_item(all, &pos, &o)) {
		struct str id = trace_event_find(o, "Cacheline Id");

		for (at = 0; trace_event_member(o, &at, &key, &v);) {
			struct str pair = trace_event_find(v, "Value");
			size_t p = 0;

			if (!pair.p)
				continue;
			insight_put_text(d, &k, id);
			insight_put_text(d, &k, key);
			for (int i = 0; i < 2; i++)
				insight_put_text(d, &k,
					trace_event_item(pair, &p, &cell) ? cell
									  : (struct str){NULL, 0});
			insight_put_text(d, &k, trace_event_find(v, "Address Range"));
		}
	}
	close_table(d, &k);
}

static void read_stalls(struct details *d)
{
	struct str all = trace_event_find(d->json, "top_stall_reason_table"), key, v;
	struct asc_table k;
	size_t pos = 0;

	asc_table_open(d->b, &k, ASCEND_TABLE_STALL, d->origin, "reason|count");
	while (trace_event_member(all, &pos, &key, &v)) {
		insight_put_text(d, &k, key);
		insight_put_text(d, &k, v);
	}
	close_table(d, &k);
}

static void insight_read_type(struct details *d, unsigned type)
{
	switch (type) {
	case INSIGHT_BASE_INFO:
		read_base(d);
		break;
	case INSIGHT_COMPUTE_GRAPH:
		read_compute(d, ASCEND_TABLE_COMPUTE);
		break;
	case INSIGHT_COMPUTE_TABLE:
		read_compute(d, ASCEND_TABLE_COMPUTE_ALL);
		break;
	case INSIGHT_MEMORY_GRAPH:
		insight_read_memory(d);
		break;
	case INSIGHT_MEMORY_TABLE:
		read_memory_tables(d);
		break;
	case INSIGHT_OCCUPANCY:
		insight_read_occupancy(d);
		break;
	case INSIGHT_ROOFLINE:
		read_roofline(d);
		break;
	case INSIGHT_CACHE:
		read_cache(d);
		break;
	default:
		read_stalls(d);
		break;
	}
}

static bool asc_read_details(struct asc_build *b, unsigned type, struct str json, const char *path,
	uint64_t base, struct incore_error *e)
{
	struct details d = {.b = b, .json = str_trim(json), .origin = insight_type_name(type)};
	struct json_reader r;
	bool ok;

	/* Validates with the strict reader, so that the scans below can rely on the syntax. */
	json_init(&r, json.p, json.n, path, 0);
	if (json_peek(&r) == JSON_OBJECT)
		json_skip(&r);
	else
		json_enter_object(&r);
	ok = json_finish(&r, e);
	if (!ok)
		asc_error_at(e, base);
	json_deinit(&r);
	if (!ok)
		return false;
	d.is_failed = !VEC_PUSH(&b->details, (struct asc_detail){type, d.json});
	insight_read_type(&d, type);
	insight_put_advice(&d, trace_event_find(d.json, "advice"));
	return d.is_failed ? err_nomem(e) : true;
}

/* --- the container ---------------------------------------------------------------------------- */

static bool insight_put_blocks(
	struct asc_build *b, const struct insight_blocks *k, const char *path)
{
	struct asc_table t;

	asc_table_open(b, &t, ASCEND_TABLE_BLOCKS, path, "offset|type|name|bytes|padding|version");
	EACH (const struct insight_block, v, k->v.v, k->v.n) {
		asc_putf(b, &t, "%llu", (unsigned long long)v->offset);
		asc_putf(b, &t, "%u", v->type);
		asc_put(b, &t, str_of(insight_type_name(v->type)));
		asc_putf(b, &t, "%llu", (unsigned long long)v->size);
		asc_putf(b, &t, "%u", v->padding);
		asc_putf(b, &t, "%u", v->version);
	}
	return asc_table_close(b, &t);
}

static bool note_blocks(struct asc_build *b, const struct insight_blocks *k)
{
	uint64_t n_unknown = 0, n_legacy = 0;

	for (size_t i = 0; i < k->v.n; i++) {
		unsigned type = k->v.v[i].type;

		n_unknown += type == 0 || type == 0x0a || type == 0x0b ||
			     (type >= INSIGHT_FREE && type != INSIGHT_TABLES);
		n_legacy += k->v.v[i].is_legacy;
	}
	if (k->rest_bytes && !trace_note(b->trace, "trailing-bytes", b->path, k->rest_offset, 1,
				     "%llu bytes after the last block: %s",
				     (unsigned long long)k->rest_bytes, k->rest_why))
		return false;
	if (k->n_odd_reserve &&
		!trace_note(b->trace, "odd-reserve", b->path, INCORE_NO_OFFSET, k->n_odd_reserve,
			"%u blocks have a reserve byte other than 0x5a", k->n_odd_reserve))
		return false;
	if (n_legacy && !trace_note(b->trace, "legacy-source", b->path, INCORE_NO_OFFSET, n_legacy,
				"legacy SOURCE layout: the size counts the path too"))
		return false;
	return !n_unknown || trace_note(b->trace, "unknown-blocks", b->path, INCORE_NO_OFFSET,
				     n_unknown, "%llu blocks of a type that is not interpreted",
				     (unsigned long long)n_unknown);
}

/* An unreadable details or API block is a loss, not a failure. */
static bool forgive(struct asc_build *b, const struct insight_block *k, struct incore_error *why)
{
	struct strbuf text = {0};
	bool ok;

	if (why->status != INCORE_BAD_INPUT)
		return false;
	err_format(why, &text);
	ok = !text.failed && asc_note(b, "bad-block", k->offset, "block %s is not read: %s",
				     insight_type_name(k->type), text.p ? text.p : "");
	sb_free(&text);
	incore_error_clear(why);
	return ok;
}

static bool insight_read_block(struct asc_build *b, const struct insight_block *k, const char *path,
	uint32_t *seen, struct incore_error *e)
{
	uint64_t base = k->offset + INSIGHT_HEADER_BYTES;
	bool is_first = k->type < 32 && !(*seen & 1u << k->type);

	if (k->type < 32)
		*seen |= 1u << k->type;
	if (k->type == INSIGHT_SOURCE)
		return asc_add_source(b, k->path, k->payload) || err_nomem(e);
	if (!is_first && k->type <= INSIGHT_TOP_STALL && k->type != INSIGHT_TRACE)
		return asc_note(b, "second-block", k->offset,
			       "another block %s: only the first is read",
			       insight_type_name(k->type)) ||
		       err_nomem(e);
	switch (k->type) {
	case INSIGHT_TABLES:
		return asc_read_own(b, k->payload, path, base, e);
	case INSIGHT_API_FILE:
		return asc_read_api_file(b, k->payload, path, base, e);
	case INSIGHT_API_INSTR:
		return asc_read_api_instr(b, k->payload, path, base, e);
	case INSIGHT_BASE_INFO:
	case INSIGHT_COMPUTE_GRAPH:
	case INSIGHT_COMPUTE_TABLE:
	case INSIGHT_MEMORY_GRAPH:
	case INSIGHT_MEMORY_TABLE:
	case INSIGHT_OCCUPANCY:
	case INSIGHT_ROOFLINE:
	case INSIGHT_CACHE:
	case INSIGHT_TOP_STALL:
		return asc_read_details(b, k->type, k->payload, path, base, e);
	default:
		return true;
	}
}

static bool read_others(struct asc_build *b, const struct insight_blocks *k, const char *path,
	struct incore_error *e)
{
	uint32_t seen = 0;

	for (size_t i = 0; i < k->v.n; i++) {
		struct incore_error why = {0};

		if (k->v.v[i].type != INSIGHT_TRACE &&
			!insight_read_block(b, &k->v.v[i], path, &seen, &why) &&
			!forgive(b, &k->v.v[i], &why)) {
			err_move(e, &why);
			return false;
		}
	}
	return true;
}

static bool read_traces(struct asc_build *b, const struct insight_blocks *k, const char *path,
	bool with_trace, struct incore_error *e)
{
	size_t n = 0;

	EACH (const struct insight_block, v, k->v.v, k->v.n) {
		if (v->type != INSIGHT_TRACE)
			continue;
		b->trace_text = n++ ? (struct str){NULL, 0} : v->payload;
		if (with_trace &&
			!asc_read_events(b, v->payload, path, v->offset + INSIGHT_HEADER_BYTES, e))
			return err_wrap(
				e, "block TRACE at byte %llu", (unsigned long long)v->offset);
	}
	if (n == 0) {
		b->has_trace = false;
		return true;
	}
	b->has_trace = true;
	return b->has_api ||
	       asc_note(b, "no-api-instr", INCORE_NO_OFFSET,
		       "no API_INSTR: nothing is stated per instruction") ||
	       err_nomem(e);
}

bool asc_read_bin(struct asc_build *b, const struct file_data *f, const char *path, bool with_trace,
	struct incore_error *e)
{
	struct insight_blocks k = {0};
	bool ok;

	b->path = path;
	b->file = f;
	ok = insight_blocks_read(&k, f->data, f->size, path, e);
	if (ok && (!insight_put_blocks(b, &k, path) || !note_blocks(b, &k)))
		ok = err_nomem(e);
	ok = ok && read_others(b, &k, path, e) && read_traces(b, &k, path, with_trace, e);
	insight_blocks_deinit(&k);
	b->file = NULL;
	return ok;
}

/* --- ops --- */

static int insight_bin_sniff(const struct probe *p)
{
	const char *base = path_base(p->path);

	if (insight_is_head(p->head, p->head_size))
		return str_ends(str_of(base), ".bin") ? 90 : 60;
	/* A damaged file is accepted so that its error is reported. */
	return strcmp(base, "visualize_data.bin") == 0 ? 30 : 0;
}

static bool insight_bin_read_file(
	struct asc_build *b, struct file_data *f, const char *path, struct incore_error *e)
{
	if (!import_load(b->options, f, path, e) || !asc_read_bin(b, f, path, true, e))
		return false;
	/* An on-device run has details but no trace; its counters are sampled. */
	if (!b->has_trace)
		b->trace->meta.evidence = EVIDENCE_HARDWARE_SAMPLE;
	return asc_finish(b, e);
}

static bool insight_bin_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct asc_build b;
	struct file_data f = {0};
	bool ok = asc_init(&b, t, o, e) && insight_bin_read_file(&b, &f, path, e);

	asc_deinit(&b);
	file_unload(&f);
	return ok;
}

static const struct signature insight_bin_signs[] = {
	{.begins = "\x5a", .at = INSIGHT_HEADER_BYTES - 1}, /* INSIGHT_MARK */
	{.name = "visualize_data.bin"},
	{0},
};

const struct import_ops import_insight_bin = {
	.name = "insight_bin",
	.summary = "Ascend visualize_data.bin, of msprof op and msprof op simulator",
	.looks_for = "a visualize_data.bin",
	.signs = insight_bin_signs,
	.sniff = insight_bin_sniff,
	.look = asc_look,
	.read = insight_bin_read,
	.lost = import_lost_noted,
};
