/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_metrics.c: converts the table of instructions (API_INSTR) from "a row with a list per core"
 * to "a list of rows per core". A list is per core if its column is numeric or known to be per
 * core; any other list is one value. Cells are copied as text; a cell remembers how far its list
 * has been used, so the text is read once and stepped through once.
 */
#include "base/mem.h"
#include "codec/json_reader.h"
#include "export/clean/clean_write.h"
#include "export/text_out.h"

struct column {
	struct str name; /* raw, in the input or the arena */
	char *key;	 /* name in the output */
	bool is_per_core;
};

struct cell {
	const char *next; /* rest of the list, or the value */
	uint32_t n;	  /* bytes of the value; lists: 0 */
	uint32_t column;
	bool is_list;
};

struct metrics {
	struct json_reader r;
	struct arena arena;
	struct intern names;
	VEC(struct column) columns;
	VEC(struct str) cores; /* raw */
	VEC(struct cell) cells;
	VEC(size_t) rows;			 /* first cell of each */
	struct str types, instructions, numeric; /* raw values */
	struct clean_metrics out;
	bool is_nomem;
};

static struct str raw_value(struct json_reader *r)
{
	const char *from;

	json_peek(r);
	from = r->p;
	if (!json_skip(r))
		return (struct str){0};
	return (struct str){from, (size_t)(r->p - from)};
}

static bool is_known_list(struct str name)
{
	static const char *const known[] = {"Cycles", "Instructions Executed", "GPR Count",
		"GPR Status", "Process Bytes", "Vector Utilization Percentage", "UB Read Conflict",
		"UB Write Conflict", "ICacheCycles", "CcuCycles", "ScalarCycles", "RealStallCycles",
		"TheoreticalStallCycles", "L2Cache Hit Rate", "Stall Sampling(All Samples)",
		"Stall Sampling(Not Issue)"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (str_is(name, known[i]))
			return true;
	return false;
}

/* Is the column numeric? dtype: 1 int, 2 float, 4 percentage. */
static bool is_numeric(const struct metrics *m, struct str name)
{
	struct json_reader r;
	struct str key;
	int64_t type = 0;

	if (!m->numeric.n)
		return false;
	json_init(&r, m->numeric.p, m->numeric.n, NULL, 0);
	for (json_enter_object(&r); json_next_key(&r, &key);) {
		if (!str_eq(key, name) || json_peek(&r) != JSON_NUMBER)
			json_skip(&r);
		else if (!json_get_i64(&r, &type))
			break;
	}
	json_deinit(&r);
	return type == 1 || type == 2 || type == 4;
}

static uint32_t column_of(struct metrics *m, struct str name)
{
	uint32_t n = m->names.n, k = intern_add(&m->names, name);
	struct column c = {0};

	if (k == INTERN_NONE || k < n)
		return k;
	c.name = m->names.strs[k];
	c.key = arena_strndup(&m->arena, name.p, name.n);
	if (!c.key)
		return INTERN_NONE;
	for (char *p = c.key; *p; p++)
		if (*p == ' ')
			*p = '_';
		else if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p + 32);
	c.is_per_core =
		!str_is(name, "Address Range") && (is_known_list(name) || is_numeric(m, name));
	return VEC_PUSH(&m->columns, c) ? k : INTERN_NONE;
}

/* --- reading --- */

static bool read_cores(struct metrics *m)
{
	for (json_enter_array(&m->r); json_next_item(&m->r);) {
		struct str core =
			json_peek(&m->r) == JSON_STRING ? raw_value(&m->r) : (struct str){0};

		if (!core.n)
			return json_reject(&m->r, "bad-shape", "Cores: expected strings");
		if (!VEC_PUSH(&m->cores, core))
			return !(m->is_nomem = true);
	}
	return !m->r.is_failed;
}

/* Reads the types of the columns: {"Instructions": {column: type}}. */
static void read_types(struct metrics *m)
{
	struct json_reader r;
	struct str key;

	if (!m->types.n || m->types.p[0] != '{')
		return;
	json_init(&r, m->types.p, m->types.n, NULL, 0);
	for (json_enter_object(&r); json_next_key(&r, &key);) {
		if (str_is(key, "Instructions") && json_peek(&r) == JSON_OBJECT)
			m->numeric = raw_value(&r);
		else
			json_skip(&r);
	}
	json_deinit(&r);
}

static bool read_top(struct metrics *m)
{
	struct str key;

	for (json_enter_object(&m->r); json_next_key(&m->r, &key);) {
		if (str_is(key, "Cores"))
			read_cores(m);
		else if (str_is(key, "Instructions Dtype"))
			m->types = raw_value(&m->r);
		else if (str_is(key, "Instructions"))
			m->instructions = raw_value(&m->r);
		else
			json_skip(&m->r);
		if (m->is_nomem)
			return false;
	}
	return !m->r.is_failed;
}

static uint32_t list_length(struct str raw)
{
	struct json_reader r;
	uint32_t n = 0;

	json_init(&r, raw.p, raw.n, NULL, 0);
	for (json_enter_array(&r); json_next_item(&r); n++)
		if (!json_skip(&r))
			break;
	json_deinit(&r);
	return n;
}

static bool add_cell(struct metrics *m, struct str name, struct str raw)
{
	uint32_t k = column_of(m, name);
	struct cell c = {.next = raw.p, .n = (uint32_t)raw.n, .column = k};

	if (k == INTERN_NONE || raw.n > UINT32_MAX)
		return false;
	c.is_list = raw.p[0] == '[' && m->columns.v[k].is_per_core;
	if (c.is_list && list_length(raw) != m->cores.n)
		m->out.n_short_lists++;
	if (c.is_list)
		c.next = raw.p + 1;
	return VEC_PUSH(&m->cells, c);
}

static bool read_rows(struct metrics *m, struct json_reader *r)
{
	struct str key;

	if (!m->instructions.n)
		return true;
	for (json_enter_array(r); json_next_item(r); m->out.n_rows++) {
		if (!VEC_PUSH(&m->rows, m->cells.n))
			return !(m->is_nomem = true);
		for (json_enter_object(r); json_next_key(r, &key);) {
			struct str raw;
			char *name = NULL;

			if (key.p == r->key_scratch.p) { /* had escapes: will be overwritten */
				name = arena_strndup(&m->arena, key.p, key.n);
				key.p = name;
			}
			raw = raw_value(r);
			if (!raw.n)
				break;
			if (!key.p || !add_cell(m, key, raw))
				return !(m->is_nomem = true);
		}
	}
	return VEC_PUSH(&m->rows, m->cells.n) || !(m->is_nomem = true);
}

/* --- writing --- */

/* The next item of a list; n 0: end of the list. Lists were already parsed, so they are valid. */
static struct str next_item(struct cell *c)
{
	const char *p = c->next;
	struct str item;
	unsigned depth = 0;

	while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == ',')
		p++;
	item = (struct str){p, 0};
	for (; depth || (*p != ',' && *p != ']'); p++) {
		if (*p == '"')
			for (p++; *p != '"'; p++)
				p += *p == '\\';
		else if (*p == '[' || *p == '{')
			depth++;
		else if (*p == ']' || *p == '}')
			depth--;
	}
	c->next = p;
	while (p > item.p && strchr(" \t\r\n", p[-1]))
		p--;
	item.n = (size_t)(p - item.p);
	return item;
}

static void put_record(struct text_out *o, struct metrics *m, size_t row)
{
	bool has_one = false;

	text_puts(o, "{");
	for (size_t i = m->rows.v[row]; i < m->rows.v[row + 1]; i++) {
		struct cell *c = &m->cells.v[i];
		struct str v = c->is_list ? next_item(c) : (struct str){c->next, c->n};

		if (!v.n)
			continue;
		text_puts(o, has_one ? ", " : "");
		text_put_quoted(o, str_of(m->columns.v[c->column].key));
		text_puts(o, ": ");
		text_put_json(o, v.p, v.n);
		has_one = true;
	}
	text_puts(o, "}");
}

static void put_all(struct text_out *o, struct metrics *m)
{
	text_puts(o, "{\"cores\": [");
	for (size_t i = 0; i < m->cores.n; i++) {
		text_puts(o, i ? ", " : "");
		text_put_json(o, m->cores.v[i].p, m->cores.v[i].n);
	}
	text_puts(o, "],\n\"instructions\": {");
	for (size_t i = 0; i < m->cores.n; i++) {
		text_puts(o, i ? ",\n" : "\n");
		text_put_json(o, m->cores.v[i].p, m->cores.v[i].n);
		text_puts(o, ": [");
		for (size_t k = 0; k < m->out.n_rows; k++) {
			text_puts(o, k ? ",\n" : "\n");
			put_record(o, m, k);
		}
		text_puts(o, "]");
	}
	text_puts(o, "},\n\"column_types\": ");
	if (m->types.n)
		text_put_json(o, m->types.p, m->types.n);
	else
		text_puts(o, "{}");
	text_puts(o, "}\n");
}

static bool write_all_rows(struct metrics *m, FILE *f, struct incore_error *e)
{
	struct text_out o;

	m->out.n_cores = (uint32_t)m->cores.n;
	if (!text_out_open(&o, f, e))
		return false;
	put_all(&o, m);
	return text_out_close(&o, e);
}

bool clean_write_metrics(struct str api, const char *path, uint64_t offset, FILE *f,
	struct clean_metrics *out, struct incore_error *e)
{
	struct metrics m = {0};
	struct json_reader rows;
	bool ok;

	arena_init(&m.arena);
	intern_init(&m.names);
	json_init(&m.r, api.p, api.n, path, 0);
	ok = read_top(&m) && json_finish(&m.r, e);
	if (!ok && m.r.is_failed && json_fail(&m.r, e))
		ok = false;
	read_types(&m);
	json_init(&rows, api.p, api.n, path, 0);
	rows.p = ok && m.instructions.n ? m.instructions.p : rows.p;
	if (ok && !(read_rows(&m, &rows) && !rows.is_failed)) {
		ok = false;
		if (rows.is_failed)
			json_fail(&rows, e);
	}
	if (m.is_nomem)
		err_nomem(e);
	else if (!ok && e && offset) {
		e->offset += offset;
		e->line = 0;
	}
	ok = ok && write_all_rows(&m, f, e);
	*out = m.out;
	json_deinit(&rows);
	json_deinit(&m.r);
	intern_deinit(&m.names);
	VEC_FREE(&m.columns);
	VEC_FREE(&m.cores);
	VEC_FREE(&m.cells);
	VEC_FREE(&m.rows);
	arena_deinit(&m.arena);
	return ok;
}
