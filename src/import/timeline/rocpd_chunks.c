/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd_chunks.c: the rows of "rocpd_gpu_thread_trace_chunk", as rocm-systems PR 8023 describes that
 * table; the columns and their types are not known for certain, so each may be missing and numbers
 * may be texts. Bytes in a row are read on demand.
 */
#include <sqlite3.h>

#include "import/timeline/rocpd.h"

#define TABLE "rocpd_gpu_thread_trace_chunk"
#define MAX_NAME 200u
#define MAX_RUNS 256u
#define MAX_PATH 4096u

enum column { AGENT, SE, INDEX, DISPATCH, BLOB_ID, PATH, SIZE, N_COLUMNS };
static const char *const names[N_COLUMNS] = {"agent_id", "shader_engine_id", "chunk_id",
	"dispatch_id", "att_blob_id", "binary_chunk_path", "binary_chunk_size"};

static int64_t number_of(sqlite3_stmt *q, enum column i)
{
	int64_t v = rocpd_number(q, (int)i + 1);

	if (v == NO_VALUE && !str_to_i64(rocpd_text(q, (int)i + 1), &v))
		return NO_VALUE;
	return v < 0 ? NO_VALUE : v;
}

/* Is the path below the directory of the database, and in canonical form? */
static bool is_inside(struct str path)
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

static bool take_row(struct rocpd_chunks *x, sqlite3_stmt *q, uint32_t run, struct incore_error *e)
{
	struct sqtt_chunk c = {.run = run,
		.row = sqlite3_column_int64(q, 0),
		.agent = number_of(q, AGENT),
		.agent_name = NO_VALUE,
		.dispatch = number_of(q, DISPATCH),
		.se = number_of(q, SE),
		.index = number_of(q, INDEX),
		.size = number_of(q, SIZE)};
	struct str path = rocpd_text(q, PATH + 1);

	take_blob_id(&c, rocpd_text(q, BLOB_ID + 1));
	if (path.n && !is_inside(path))
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

static bool read_rows(struct rocpd_chunks *x, uint32_t run, struct incore_error *e)
{
	struct strbuf sql = {0};
	bool at_end = false, ok;
	sqlite3_stmt *q = NULL;

	ok = choose_columns(x, x->suffixes.v[run], &sql, e) &&
	     rocpd_db_prepare(&x->db, &q, e, sql.p, x->suffixes.v[run]);
	while (ok && rocpd_db_step(&x->db, &q, &at_end, e))
		ok = take_row(x, q, run, e);
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
		ok = read_rows(x, i, e) || err_wrap(e, "reading the chunks of thread traces");
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
