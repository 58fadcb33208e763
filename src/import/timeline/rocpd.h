/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd.h: databases of rocprofv3 (incore-rocpd(7)): what stands in one goes to the builder of
 * timelines as it is read; and the door to SQLite. A database is anybody's file: it is never
 * written, its views and triggers never run, only its tables are scanned, values have a limit of
 * size, and work one that grows with the file.
 * Owner: rocpd_init() .. rocpd_deinit(); the trace is borrowed.
 */
#pragma once

#include "import/chunks.h"
#include "import/pc_samples.h"
#include "import/roctrace.h"
#include "import/timeline/timeline.h"

struct rocpd {
	struct roctrace run;
	struct sample_set samples; /* of our own exports: rocprofv3 writes none into a database */
};

bool rocpd_init(struct rocpd *r, struct trace *t, const char *path);
void rocpd_deinit(struct rocpd *r);
/* All of a database in memory. Codes: "no-sqlite", "not-rocpd", "bad-database", "unknown-version". */
bool rocpd_load(
	struct rocpd *r, const void *data, size_t size, const char *path, struct incore_error *e);

/* --- rocpd_db.c --- */
struct sqlite3;
struct sqlite3_stmt;

struct rocpd_db {
	struct sqlite3 *db;
	const char *path;
	uint8_t *copy;	    /* or NULL */
	uint64_t work_left; /* thousands of SQLite's steps */
};

bool rocpd_db_open(struct rocpd_db *x, const void *data, size_t size, const char *path,
	struct incore_error *e);
void rocpd_db_close(struct rocpd_db *x);
/* SQL as of sqlite3_mprintf(): tables by "%w". */
bool rocpd_db_prepare(struct rocpd_db *x, struct sqlite3_stmt **q, struct incore_error *e,
	const char *format, ...);
/* True: a row is there. False: the end, or an error in *e; the query is over then. */
bool rocpd_db_step(
	struct rocpd_db *x, struct sqlite3_stmt **q, bool *at_end, struct incore_error *e);
/* Integer of a row that is not negative; NO_VALUE for anything else. */
int64_t rocpd_number(struct sqlite3_stmt *q, int column);
struct str rocpd_text(struct sqlite3_stmt *q, int column);

/* --- rocpd_chunks.c --- */
struct rocpd_chunks {
	struct arena *arena; /* of its strings; set before it is opened */
	struct rocpd_db db;  /* borrows the bytes of the file */
	VEC(struct sqtt_chunk) v;
	VEC(const char *) suffixes; /* of the tables, by run */
	uint64_t room;		    /* bytes that further rows may have */
};

/* The rows of all tables of chunks; a database without one has none. */
bool rocpd_chunks_open(struct rocpd_chunks *x, const void *data, size_t size, const char *path,
	struct incore_error *e);
bool rocpd_chunk_read(void *ctx, const struct sqtt_chunk *c, uint8_t *to, struct incore_error *e);
void rocpd_chunks_close(struct rocpd_chunks *x);

/* --- rocpd_traces.c --- */
#define ROCPD_BEST 2u /* bytes of a capture: a trace beats samples, and they the timeline */

extern const struct import_ops import_rocpd;

/* Thread traces whose chunks the database has: *n of them, and in the arena what a look at each says;
 * `path` may name one of its parts. */
bool rocpd_traces(const struct import_options *o, const char *path, struct arena *a,
	struct capture **all, uint32_t *n, struct incore_error *e);
bool rocpd_trace_read(const char *file, uint32_t which, const struct import_options *o,
	struct trace *t, struct incore_error *e);
