/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd_read.c: the tables of rocprofv3's schema, version 3: launches, calls, copies, markers,
 * counters, and the PC samples of our own exports. Names of tables end with the id of their run; a
 * merged database has several sets of tables.
 *
 * Parts: an untrusted database; chunks of thread traces; tables.
 */
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>

#include "codec/json_reader.h"
#include "import/timeline/rocpd.h"

/* --- an untrusted database -------------------------------------------------------------------- */

/* Opens an untrusted database in memory, isolated. */

#define HEADER_BYTES 100
#define WRITE_VERSION 18 /* and 19, the read version: 2 means a write-ahead log */
#define STEPS_AT_ONCE 1000
/* A scan with four lookups per row takes about a hundred steps, and a row at least 8 bytes. */
#define STEPS_PER_BYTE 16
#define SPARE_WORK 10000

static int refuse_all_but_reading(void *ctx, int action, const char *a, const char *b,
	const char *database, const char *inner)
{
	(void)ctx;
	(void)a;
	(void)b;
	(void)database;
	/* nothing is read through views or triggers, only from tables */
	if (inner)
		return SQLITE_DENY;
	return action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

static int rocpd_read_count_work(void *ctx)
{
	struct rocpd_db *x = ctx;

	if (!x->work_left)
		return 1;
	x->work_left--;
	return 0;
}

static void set_walls(struct rocpd_db *x)
{
	static const struct {
		int id, most;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, 4 << 20},
		{SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
		{SQLITE_LIMIT_COLUMN, 200},
		{SQLITE_LIMIT_EXPR_DEPTH, 50},
		{SQLITE_LIMIT_COMPOUND_SELECT, 2},
		{SQLITE_LIMIT_VDBE_OP, 25000},
		{SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
		{SQLITE_LIMIT_WORKER_THREADS, 0},
	};

	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(x->db, limits[i].id, limits[i].most);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_set_authorizer(x->db, refuse_all_but_reading, NULL);
	sqlite3_progress_handler(x->db, STEPS_AT_ONCE, rocpd_read_count_work, x);
}

static bool rocpd_read_fail(struct rocpd_db *x, struct incore_error *e)
{
	int code = x->db ? sqlite3_errcode(x->db) & 0xff : SQLITE_NOMEM;

	if (code == SQLITE_NOMEM)
		return err_nomem(e);
	if (code == SQLITE_INTERRUPT)
		return err_file(e, "bad-database", x->path, INCORE_NO_OFFSET,
			"reading it takes far more work than its size explains");
	return err_file(
		e, "bad-database", x->path, INCORE_NO_OFFSET, "SQLite: %s", sqlite3_errmsg(x->db));
}

/* A database that was left in write-ahead mode is marked by two bytes and then cannot be opened
 * from memory; the rest of the file is the same, so a copy with other bytes is used. */
static bool without_log(struct rocpd_db *x, const void **data, size_t size, struct incore_error *e)
{
	const uint8_t *head = *data;

	if (head[WRITE_VERSION] != 2 && head[WRITE_VERSION + 1] != 2)
		return true;
	x->copy = mem_alloc(size);
	if (!x->copy)
		return err_nomem(e);
	memcpy(x->copy, head, size);
	x->copy[WRITE_VERSION] = x->copy[WRITE_VERSION + 1] = 1;
	*data = x->copy;
	return true;
}

static bool rocpd_db_open(
	struct rocpd_db *x, const void *data, size_t size, const char *path, struct incore_error *e)
{
	*x = (struct rocpd_db){
		.path = path, .work_left = size / (STEPS_AT_ONCE / STEPS_PER_BYTE) + SPARE_WORK};
	if (size < HEADER_BYTES)
		return err_file(e, "bad-database", path, size, "the file ends in its header");
	if (!without_log(x, &data, size, e))
		return false;
	if (sqlite3_open_v2(":memory:", &x->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
		    NULL) != SQLITE_OK ||
		sqlite3_deserialize(x->db, "main", (unsigned char *)(uintptr_t)data,
			(sqlite3_int64)size, (sqlite3_int64)size,
			SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
		return rocpd_read_fail(x, e);
	/* only makes SQLite check more; the first query reports a file that is not a database */
	sqlite3_exec(x->db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
	set_walls(x);
	return true;
}

static void rocpd_db_close(struct rocpd_db *x)
{
	sqlite3_close(x->db);
	mem_free(x->copy);
	*x = (struct rocpd_db){0};
}

/* Prepares SQL formatted as by sqlite3_mprintf(): table names with "%w". */
static bool rocpd_db_prepare(
	struct rocpd_db *x, sqlite3_stmt **q, struct incore_error *e, const char *format, ...)
{
	va_list ap;
	char *sql;
	bool ok;

	va_start(ap, format);
	sql = sqlite3_vmprintf(format, ap);
	va_end(ap);
	*q = NULL;
	if (!sql)
		return err_nomem(e);
	ok = sqlite3_prepare_v2(x->db, sql, -1, q, NULL) == SQLITE_OK;
	sqlite3_free(sql);
	return ok || rocpd_read_fail(x, e);
}

/* True: there is a row. False: the end, or an error in *e; the query is finalised then. */
static bool rocpd_db_step(
	struct rocpd_db *x, sqlite3_stmt **q, bool *at_end, struct incore_error *e)
{
	int code = sqlite3_step(*q);

	*at_end = code == SQLITE_DONE;
	if (code == SQLITE_ROW)
		return true;
	if (!*at_end)
		rocpd_read_fail(x, e);
	sqlite3_finalize(*q);
	*q = NULL;
	return false;
}

/* A non-negative integer of a row; NO_VALUE for anything else. */
static int64_t rocpd_number(sqlite3_stmt *q, int column)
{
	int64_t v = sqlite3_column_type(q, column) == SQLITE_INTEGER
			    ? sqlite3_column_int64(q, column)
			    : -1;

	return v < 0 ? NO_VALUE : v;
}

static struct str rocpd_text(sqlite3_stmt *q, int column)
{
	const char *p = sqlite3_column_type(q, column) == SQLITE_TEXT
				? (const char *)sqlite3_column_text(q, column)
				: NULL;

	return (struct str){p, p ? (size_t)sqlite3_column_bytes(q, column) : 0};
}

/* --- chunks of thread traces ------------------------------------------------------------------ */

/*
 * The rows of "rocpd_gpu_thread_trace_chunk", as rocm-systems PR 8023 describes that table; the
 * columns and their types are not known for certain, so each may be missing and numbers may be
 * texts. Bytes in a row are read on demand.
 */

#define TABLE "rocpd_gpu_thread_trace_chunk"
#define MAX_NAME 200u
#define MAX_RUNS 256u
#define MAX_PATH 4096u

enum column { AGENT, SE, INDEX, DISPATCH, BLOB_ID, PATH, SIZE, N_COLUMNS };
static const char *const names[N_COLUMNS] = {"agent_id", "shader_engine_id", "chunk_id",
	"dispatch_id", "att_blob_id", "binary_chunk_path", "binary_chunk_size"};

static int64_t rocpd_read_number_of(sqlite3_stmt *q, enum column i)
{
	int64_t v = rocpd_number(q, (int)i + 1);

	if (v == NO_VALUE && !str_to_i64(rocpd_text(q, (int)i + 1), &v))
		return NO_VALUE;
	return v < 0 ? NO_VALUE : v;
}

/* Is the path below the directory of the database, and in canonical form? */
static bool rocpd_read_is_inside(struct str path)
{
	struct str rest = path, part;

	if (path.n > MAX_PATH || memchr(path.p, 0, path.n))
		return false;
	while (str_cut(&rest, "/", &part))
		if (!part.n || str_is(part, ".") || str_is(part, ".."))
			return false;
	return true;
}

/* "dispatch:agent:engine:chunk" */
static bool read_blob_id(struct str text, int64_t v[4])
{
	struct str part;

	for (unsigned i = 0; i < 4; i++)
		if (!str_cut(&text, ":", &part) || !str_to_i64(part, &v[i]) || v[i] < 0)
			return false;
	return !text.p;
}

/* Takes values that the columns lack from the name of the blob; a contradiction is an error. */
static void take_blob_id(struct sqtt_chunk *c, struct str text)
{
	int64_t v[4];

	if (!read_blob_id(text, v))
		return;
	c->agent_name = v[1];
	if ((c->dispatch != NO_VALUE && c->dispatch != v[0]) ||
		(c->se != NO_VALUE && c->se != v[2]) || (c->index != NO_VALUE && c->index != v[3]))
		c->wrong = "its att_blob_id names another dispatch, shader engine or chunk";
	c->dispatch = v[0];
	c->se = v[2];
	c->index = v[3];
}

/* Opens the bytes of a chunk in its row. False: the row has none. */
static bool open_bytes(struct rocpd_chunks *x, uint32_t run, int64_t row, sqlite3_blob **blob)
{
	struct strbuf table = {0};
	bool ok;

	*blob = NULL;
	sb_printf(&table, TABLE "%s", x->suffixes.v[run]);
	ok = !table.failed && sqlite3_blob_open(x->db.db, "main", table.p, "binary_chunk", row, 0,
				      blob) == SQLITE_OK;
	sb_free(&table);
	if (!ok)
		sqlite3_blob_close(*blob);
	return ok;
}

static void measure_bytes(struct rocpd_chunks *x, struct sqtt_chunk *c)
{
	sqlite3_blob *blob;
	int64_t size;

	if (!open_bytes(x, c->run, c->row, &blob)) {
		c->wrong = c->wrong ? c->wrong : "neither bytes nor a file";
		return;
	}
	size = sqlite3_blob_bytes(blob);
	sqlite3_blob_close(blob);
	if (c->size != NO_VALUE && c->size != size)
		c->wrong = "binary_chunk_size is not the size of its bytes";
	/* rows that share the same pages would multiply the bytes */
	if ((uint64_t)size > x->room)
		c->wrong = "the bytes of all rows are more than the database";
	else
		x->room -= (uint64_t)size;
	c->size = size;
}

static bool rocpd_read_take_row(
	struct rocpd_chunks *x, sqlite3_stmt *q, uint32_t run, struct incore_error *e)
{
	struct sqtt_chunk c = {.run = run,
		.row = sqlite3_column_int64(q, 0),
		.agent = rocpd_read_number_of(q, AGENT),
		.agent_name = NO_VALUE,
		.dispatch = rocpd_read_number_of(q, DISPATCH),
		.se = rocpd_read_number_of(q, SE),
		.index = rocpd_read_number_of(q, INDEX),
		.size = rocpd_read_number_of(q, SIZE)};
	struct str path = rocpd_text(q, PATH + 1);

	take_blob_id(&c, rocpd_text(q, BLOB_ID + 1));
	if (path.n && !rocpd_read_is_inside(path))
		c.wrong = "its file is not below the directory of the database";
	else if (path.n && !(c.path = arena_strndup(x->arena, path.p, path.n)))
		return err_nomem(e);
	if (!c.path)
		measure_bytes(x, &c);
	return VEC_PUSH(&x->v, c) || err_nomem(e);
}

/* SQLite would take unknown column names for texts, so the existing ones are looked up. */
static bool choose_columns(
	struct rocpd_chunks *x, const char *suffix, struct strbuf *sql, struct incore_error *e)
{
	sqlite3_stmt *q;
	bool has[N_COLUMNS] = {false};

	if (!rocpd_db_prepare(&x->db, &q, e, "SELECT * FROM \"" TABLE "%w\"", suffix))
		return false;
	for (int i = 0; i < sqlite3_column_count(q); i++)
		for (unsigned k = 0; k < N_COLUMNS; k++)
			has[k] |= strcmp(sqlite3_column_name(q, i), names[k]) == 0;
	sqlite3_finalize(q);
	sb_printf(sql, "SELECT rowid");
	for (unsigned k = 0; k < N_COLUMNS; k++)
		sb_printf(sql, ", %s", has[k] ? names[k] : "NULL");
	sb_printf(sql, " FROM \"" TABLE "%%w\"");
	return !sql->failed || err_nomem(e);
}

static bool rocpd_read_rows(struct rocpd_chunks *x, uint32_t run, struct incore_error *e)
{
	struct strbuf sql = {0};
	bool at_end = false, ok;
	sqlite3_stmt *q = NULL;

	ok = choose_columns(x, x->suffixes.v[run], &sql, e) &&
	     rocpd_db_prepare(&x->db, &q, e, sql.p, x->suffixes.v[run]);
	while (ok && rocpd_db_step(&x->db, &q, &at_end, e))
		ok = rocpd_read_take_row(x, q, run, e);
	sqlite3_finalize(q);
	sb_free(&sql);
	return ok && at_end;
}

static bool find_tables(struct rocpd_chunks *x, struct incore_error *e)
{
	bool at_end = false, ok = true;
	sqlite3_stmt *q;

	if (!rocpd_db_prepare(&x->db, &q, e, "SELECT type, name FROM sqlite_master"))
		return false;
	while (ok && rocpd_db_step(&x->db, &q, &at_end, e)) {
		struct str name = rocpd_text(q, 1);
		const char *suffix;

		if (!str_is(rocpd_text(q, 0), "table") || !str_starts(name, TABLE) ||
			name.n > MAX_NAME || x->suffixes.n == MAX_RUNS)
			continue;
		suffix = arena_strndup(x->arena, name.p + strlen(TABLE), name.n - strlen(TABLE));
		ok = (suffix && VEC_PUSH(&x->suffixes, suffix)) || err_nomem(e);
	}
	sqlite3_finalize(q);
	return ok && at_end;
}

bool rocpd_chunks_open(struct rocpd_chunks *x, const void *data, size_t size, const char *path,
	struct incore_error *e)
{
	bool ok;

	x->room = size;
	ok = rocpd_db_open(&x->db, data, size, path, e) && find_tables(x, e);
	for (uint32_t i = 0; ok && i < x->suffixes.n; i++)
		ok = rocpd_read_rows(x, i, e) || err_wrap(e, "reading the chunks of thread traces");
	return ok;
}

bool rocpd_chunk_read(void *ctx, const struct sqtt_chunk *c, uint8_t *to, struct incore_error *e)
{
	struct rocpd_chunks *x = ctx;
	sqlite3_blob *blob = NULL;
	bool ok = open_bytes(x, c->run, c->row, &blob) && sqlite3_blob_bytes(blob) == c->size &&
		  sqlite3_blob_read(blob, to, (int)c->size, 0) == SQLITE_OK;

	sqlite3_blob_close(blob);
	return ok ||
	       err_file(e, "bad-database", x->db.path, INCORE_NO_OFFSET,
		       "the bytes of row %lld of its chunks cannot be read", (long long)c->row);
}

void rocpd_chunks_close(struct rocpd_chunks *x)
{
	rocpd_db_close(&x->db);
	VEC_FREE(&x->v);
	VEC_FREE(&x->suffixes);
}

/* --- tables ----------------------------------------------------------------------------------- */

#define OUR_TRACK "PC samples"

struct rocpd_reading {
	struct roctrace *r;
	struct sample_set *samples;
	struct rocpd_db db;
	struct incore_error *e;
	const char *suffix; /* of the run being read */
	struct strbuf text; /* JSON of a cell, with padding */
	bool is_nomem;	    /* latched by functions that return texts */
};

static bool no_memory(struct rocpd_reading *x)
{
	return err_nomem(x->e);
}

static const char *rocpd_read_copied(struct rocpd_reading *x, struct str s)
{
	return arena_strndup(&x->r->t->arena, s.n ? s.p : "", s.n);
}

/* --- JSON in cells --- */

/* A member of a flat object, as text or number; "": no such member, or not such an object. */
static struct str member_of(
	struct rocpd_reading *x, struct str json, const char *name, uint64_t *number)
{
	struct json_reader r;
	struct str key, found = {"", 0}, s;

	sb_reset(&x->text);
	sb_str(&x->text, json);
	if (!sb_reserve(&x->text, JSON_PAD)) {
		x->is_nomem = true;
		return found;
	}
	memset(x->text.p + x->text.n, 0, JSON_PAD);
	json_init(&r, x->text.p, x->text.n, NULL, 0);
	for (json_enter_object(&r); json_next_key(&r, &key);) {
		bool is_it = str_is(key, name);

		if (is_it && json_peek(&r) == JSON_STRING && json_get_str(&r, &s)) {
			found.p = rocpd_read_copied(x, s);
			found.n = s.n;
			x->is_nomem |= !found.p;
		} else if (is_it && number && json_peek(&r) == JSON_NUMBER) {
			json_get_u64(&r, number);
		} else {
			json_skip(&r);
		}
	}
	x->is_nomem |= r.is_failed && !strcmp(r.fail_code, "no-memory");
	json_deinit(&r);
	return found.p ? found : (struct str){"", 0};
}

/* --- tables: queries, and the content of rows --- */

enum {
	D_START,
	D_END,
	D_PID,
	D_AGENT,
	D_QUEUE,
	D_DISPATCH,
	D_KERNEL,
	D_EVENT,
	D_STACK,
	D_NAME,
	D_DISPLAY,
	D_EXTRA,
	D_LDS,
	D_SCRATCH,
	D_SGPRS,
	D_VGPRS,
	D_ACCUM,
	D_SIZES
};

/* A size that cannot be 0: 0 means unknown. */
static int64_t rocpd_read_size_of(sqlite3_stmt *q, int column)
{
	int64_t v = rocpd_number(q, column);

	return v ? v : NO_VALUE;
}

static struct trace_launch rocpd_read_launch_of(sqlite3_stmt *q)
{
	struct trace_launch l = trace_no_launch();

	l.agent = rocpd_number(q, D_AGENT);
	l.dispatch = rocpd_number(q, D_DISPATCH);
	l.kernel_id = rocpd_number(q, D_KERNEL);
	l.start_ns = rocpd_number(q, D_START);
	l.end_ns = rocpd_number(q, D_END);
	l.lds_bytes = rocpd_number(q, D_LDS);
	l.scratch_bytes = rocpd_number(q, D_SCRATCH);
	l.sgprs = rocpd_read_size_of(q, D_SGPRS);
	l.vgprs = rocpd_read_size_of(q, D_VGPRS);
	l.accum_vgprs = rocpd_number(q, D_ACCUM);
	for (int i = 0; i < 3; i++) {
		l.workgroup[i] = rocpd_read_size_of(q, D_SIZES + i);
		l.grid[i] = rocpd_read_size_of(q, D_SIZES + 3 + i);
	}
	return l;
}

/* Every row of a span begins with start, end, pid, thread or agent. */
static struct roctrace_span rocpd_read_span_of(sqlite3_stmt *q, enum roctrace_lane lane)
{
	return (struct roctrace_span){.lane = lane,
		.from_ns = rocpd_number(q, 0),
		.to_ns = rocpd_number(q, 1),
		.pid = rocpd_number(q, 2),
		.of = rocpd_number(q, 3),
		.queue = NO_VALUE,
		.stack = NO_VALUE,
		.event = NO_VALUE};
}

static bool take_dispatch(struct rocpd_reading *x, sqlite3_stmt *q)
{
	struct roctrace_span s = rocpd_read_span_of(q, LANE_QUEUE);
	struct trace_launch l = rocpd_read_launch_of(q);

	s.queue = rocpd_number(q, D_QUEUE);
	s.event = rocpd_number(q, D_EVENT);
	s.stack = rocpd_number(q, D_STACK);
	s.name = rocpd_text(q, D_DISPLAY).n ? rocpd_text(q, D_DISPLAY) : rocpd_text(q, D_NAME);
	s.category = STR("KERNEL_DISPATCH");
	if (x->r->launch.launch_count == NO_VALUE)
		x->r->evidence = member_of(x, rocpd_text(q, D_EXTRA), "evidence", NULL).p;
	return roctrace_add_launch(x->r, &s, &l) || no_memory(x);
}

/* start, end, pid, target, name, stack */
static bool take_copy(struct rocpd_reading *x, sqlite3_stmt *q)
{
	struct roctrace_span s = rocpd_read_span_of(q, LANE_COPIES);

	s.name = rocpd_text(q, 4);
	s.category = STR("MEMORY_COPY");
	s.stack = rocpd_number(q, 5);
	return roctrace_add(x->r, &s) || no_memory(x);
}

/* start, end, pid, agent, type, level */
static bool take_memory(struct rocpd_reading *x, sqlite3_stmt *q)
{
	struct roctrace_span s = rocpd_read_span_of(q, LANE_MEMORY);
	char name[64];

	snprintf(name, sizeof(name), "%.*s %.*s", STR_ARG(str_sub(rocpd_text(q, 4), 0, 20)),
		STR_ARG(str_sub(rocpd_text(q, 5), 0, 20)));
	s.name = str_trim(str_of(name));
	s.category = STR("MEMORY_ALLOCATION");
	return roctrace_add(x->r, &s) || no_memory(x);
}

/* start, end, pid, tid, name, category, extdata, stack */
static bool take_region(struct rocpd_reading *x, sqlite3_stmt *q)
{
	struct roctrace_span s = rocpd_read_span_of(q, LANE_THREAD);
	struct str message;

	s.name = rocpd_text(q, 4);
	s.category = rocpd_text(q, 5);
	s.stack = rocpd_number(q, 7);
	if (str_starts(s.category, "MARKER")) {
		message = member_of(x, rocpd_text(q, 6), "message", NULL);
		s.name = message.n ? message : s.name;
		s.lane = LANE_MARKERS;
	}
	return roctrace_add(x->r, &s) || no_memory(x);
}

/* One of our samples: the count of a row for a reason. */
static bool take_our_sample(struct rocpd_reading *x, struct str extra)
{
	struct sample_set *s = x->samples;
	struct str isa = member_of(x, extra, "isa", NULL),
		   reason = member_of(x, extra, "reason", NULL);
	struct sampled_row row = {.text = intern_add(&s->texts, isa),
		.where = intern_add(&s->texts, member_of(x, extra, "source", NULL)),
		.kernel = samples_kernel(s, 0)};
	uint64_t count = 0;
	unsigned k = 0;

	member_of(x, extra, "address", &row.address);
	member_of(x, extra, "row", &row.number);
	member_of(x, extra, "count", &count);
	while (k < AMD_STALL_REASONS && !str_is(reason, amd_stall_reasons[k]))
		k++;
	if (str_is(reason, "issued")) {
		k = SAMPLE_ISSUED;
	} else if (str_is(reason, "not-told")) {
		k = SAMPLE_NOT_TOLD;
		s->is_host_trap = true;
	} else if (k == AMD_STALL_REASONS) { /* "stalled", or the reason of another vendor */
		x->r->n_damaged += !str_is(reason, "stalled");
		k = 0;
	}
	return (row.text != INTERN_NONE && row.where != INTERN_NONE && row.kernel != UINT32_MAX &&
		       samples_add(s, &row, k, count)) ||
	       no_memory(x);
}

/* time, event, pid, tid, track name, extdata; without a message it belongs to a counter */
static bool rocpd_read_take_sample(struct rocpd_reading *x, sqlite3_stmt *q)
{
	struct roctrace_span s = rocpd_read_span_of(q, LANE_MARKERS);

	if (str_starts(rocpd_text(q, 4), OUR_TRACK))
		return take_our_sample(x, rocpd_text(q, 5));
	s.event = rocpd_number(q, 1);
	s.to_ns = s.from_ns;
	s.category = rocpd_text(q, 4);
	s.name = member_of(x, rocpd_text(q, 5), "message", NULL);
	return (s.name.n ? roctrace_add(x->r, &s) : roctrace_know_time(x->r, s.event, s.from_ns)) ||
	       no_memory(x);
}

/* id, name, units */
static bool take_counter(struct rocpd_reading *x, sqlite3_stmt *q)
{
	return roctrace_add_counter(x->r, rocpd_number(q, 0), rocpd_text(q, 1), rocpd_text(q, 2)) ||
	       no_memory(x);
}

/* event, counter, value */
static bool rocpd_read_take_value(struct rocpd_reading *x, sqlite3_stmt *q)
{
	return roctrace_add_value(
		       x->r, rocpd_number(q, 0), rocpd_number(q, 1), sqlite3_column_double(q, 2)) ||
	       no_memory(x);
}

/* type, name, product */
static bool take_agent(struct rocpd_reading *x, sqlite3_stmt *q)
{
	if (!str_is(rocpd_text(q, 0), "GPU") || x->r->arch || !rocpd_text(q, 1).n)
		return true;
	x->r->arch = rocpd_read_copied(x, rocpd_text(q, 1));
	x->r->product = rocpd_text(q, 2).n ? rocpd_read_copied(x, rocpd_text(q, 2)) : NULL;
	return x->r->arch || no_memory(x);
}

static bool rocpd_read_take_command(struct rocpd_reading *x, sqlite3_stmt *q)
{
	struct str command = rocpd_text(q, 0);

	if (!x->r->command && command.n)
		x->r->command = rocpd_read_copied(x, command);
	return !command.n || x->r->command || no_memory(x);
}

#define EVENT "LEFT JOIN \"rocpd_event%w\" e ON e.id = "

/* The order matters: calls refer to what they started, counters to the time of their event. */
static const struct {
	const char *sql;
	bool (*take)(struct rocpd_reading *x, sqlite3_stmt *q);
} tables[] = {
	{"SELECT type, name, product_name FROM \"rocpd_info_agent%w\" ORDER BY id", take_agent},
	{"SELECT command FROM \"rocpd_info_process%w\" ORDER BY id", rocpd_read_take_command},
	{"SELECT d.start, d.\"end\", d.pid, d.agent_id, d.queue_id, d.dispatch_id, d.kernel_id, "
	 "d.event_id, e.stack_id, k.kernel_name, k.display_name, d.extdata, d.group_segment_size, "
	 "d.private_segment_size, k.sgpr_count, k.arch_vgpr_count, k.accum_vgpr_count, "
	 "d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, d.grid_size_x, d.grid_size_y, "
	 "d.grid_size_z FROM \"rocpd_kernel_dispatch%w\" d LEFT JOIN \"rocpd_info_kernel_symbol%w\" k "
	 "ON k.id = d.kernel_id " EVENT "d.event_id",
		take_dispatch},
	{"SELECT m.start, m.\"end\", m.pid, m.dst_agent_id, s.string, e.stack_id "
	 "FROM \"rocpd_memory_copy%w\" m LEFT JOIN \"rocpd_string%w\" s ON s.id = m.name_id " EVENT
	 "m.event_id",
		take_copy},
	{"SELECT start, \"end\", pid, agent_id, type, level FROM \"rocpd_memory_allocate%w\"",
		take_memory},
	{"SELECT r.start, r.\"end\", r.pid, r.tid, s.string, c.string, e.extdata, e.stack_id "
	 "FROM \"rocpd_region%w\" r LEFT JOIN \"rocpd_string%w\" s ON s.id = r.name_id " EVENT
	 "r.event_id LEFT JOIN \"rocpd_string%w\" c ON c.id = e.category_id",
		take_region},
	{"SELECT s.timestamp, s.event_id, t.pid, t.tid, n.string, e.extdata "
	 "FROM \"rocpd_sample%w\" s LEFT JOIN \"rocpd_track%w\" t ON t.id = s.track_id LEFT JOIN "
	 "\"rocpd_string%w\" n ON n.id = t.name_id " EVENT "s.event_id",
		rocpd_read_take_sample},
	{"SELECT id, name, units FROM \"rocpd_info_pmc%w\" ORDER BY id", take_counter},
	{"SELECT event_id, pmc_id, value FROM \"rocpd_pmc_event%w\"", rocpd_read_take_value},
};

static bool rocpd_read_table(struct rocpd_reading *x, unsigned i)
{
	const char *s = x->suffix;
	sqlite3_stmt *q;
	bool at_end = false, ok = true;

	/* no query names more than four tables */
	if (!rocpd_db_prepare(&x->db, &q, x->e, tables[i].sql, s, s, s, s))
		return false;
	while (ok && rocpd_db_step(&x->db, &q, &at_end, x->e))
		ok = tables[i].take(x, q) && (!x->is_nomem || no_memory(x));
	sqlite3_finalize(q);
	return ok && at_end;
}

static bool read_version(struct rocpd_reading *x)
{
	const char **to = &x->r->version;
	bool at_end = false;
	sqlite3_stmt *q;

	if (!rocpd_db_prepare(
		    &x->db, &q, x->e, "SELECT tag, value FROM \"rocpd_metadata%w\"", x->suffix))
		return false;
	while (rocpd_db_step(&x->db, &q, &at_end, x->e))
		if (str_is(rocpd_text(q, 0), "schema_version"))
			*to = rocpd_read_copied(x, rocpd_text(q, 1));
	if (!at_end)
		return false;
	if (!*to || (strcmp(*to, "3") != 0 && strncmp(*to, "3.", 2) != 0))
		return err_file(x->e, "unknown-version", x->db.path, INCORE_NO_OFFSET,
			"its schema is of version %s; 3 is what is read", *to ? *to : "(none)");
	return true;
}

static bool read_run(struct rocpd_reading *x)
{
	if (!read_version(x))
		return false;
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!rocpd_read_table(x, i))
			return err_wrap(x->e, "reading the database of rocprofv3");
	return roctrace_end_run(x->r) || no_memory(x);
}

/* Finds the runs of the database: the suffixes of tables named "rocpd_metadata...". */
static bool find_runs(struct rocpd_reading *x, const char **suffixes, uint32_t *n)
{
	bool at_end = false;
	sqlite3_stmt *q;

	if (!rocpd_db_prepare(&x->db, &q, x->e, "SELECT type, name FROM sqlite_master"))
		return false;
	while (rocpd_db_step(&x->db, &q, &at_end, x->e)) {
		struct str name = rocpd_text(q, 1);

		if (!str_is(rocpd_text(q, 0), "table") || !str_starts(name, "rocpd_metadata") ||
			name.n > MAX_NAME || *n == MAX_RUNS)
			continue;
		suffixes[*n] =
			rocpd_read_copied(x, str_sub(name, strlen("rocpd_metadata"), name.n));
		if (!suffixes[(*n)++]) {
			sqlite3_finalize(q);
			return no_memory(x);
		}
	}
	return at_end;
}

static bool read_runs(struct rocpd_reading *x)
{
	const char *suffixes[MAX_RUNS];
	uint32_t n = 0;

	if (!find_runs(x, suffixes, &n))
		return false;
	if (!n)
		return err_file(x->e, "not-rocpd", x->db.path, INCORE_NO_OFFSET,
			"the database has no tables of rocprofv3");
	for (x->r->number = 0; x->r->number < n; x->r->number++) {
		x->suffix = suffixes[x->r->number];
		if (!read_run(x))
			return false;
	}
	return true;
}

bool rocpd_load(
	struct rocpd *r, const void *data, size_t size, const char *path, struct incore_error *e)
{
	struct rocpd_reading x = {.r = &r->run, .samples = &r->samples, .e = e};
	bool ok = rocpd_db_open(&x.db, data, size, path, e) && read_runs(&x);

	ok = ok && (samples_finish(&r->samples) || err_nomem(e));
	rocpd_db_close(&x.db);
	sb_free(&x.text);
	return ok;
}
