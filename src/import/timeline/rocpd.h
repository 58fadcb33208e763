/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd.h: databases of rocprofv3 (incore-rocpd(7)): their content goes to the builder of
 * timelines as it is read; also the interface to SQLite. A database is untrusted: it is never
 * written, its views and triggers never run, only its tables are scanned, the size of values is
 * limited, and so is the work, in proportion to the file.
 * Owner: rocpd_init() .. rocpd_deinit(); the trace is borrowed.
 */
#pragma once

#include "import/chunks.h"
#include "import/pc_samples.h"
#include "import/roctrace.h"
#include "import/timeline/timeline.h"

struct rocpd {
	struct roctrace run;
	struct sample_set samples; /* only from our exports: rocprofv3 writes none */
};

bool rocpd_init(struct rocpd *r, struct trace *t, const char *path);
void rocpd_deinit(struct rocpd *r);
/* Reads a whole database from memory. Codes: "no-sqlite", "not-rocpd", "bad-database",
 * "unknown-version". */
bool rocpd_load(
	struct rocpd *r, const void *data, size_t size, const char *path, struct incore_error *e);

/* --- rocpd_db.c --- */
struct sqlite3;
struct sqlite3_stmt;

struct rocpd_db {
	struct sqlite3 *db;
	const char *path;
	uint8_t *copy;	    /* or NULL */
	uint64_t work_left; /* thousands of SQLite steps */
};

bool rocpd_db_open(struct rocpd_db *x, const void *data, size_t size, const char *path,
	struct incore_error *e);
void rocpd_db_close(struct rocpd_db *x);
/* Prepares SQL formatted as by sqlite3_mprintf(): table names with "%w". */
bool rocpd_db_prepare(struct rocpd_db *x, struct sqlite3_stmt **q, struct incore_error *e,
	const char *format, ...);
/* True: there is a row. False: the end, or an error in *e; the query is finalised then. */
bool rocpd_db_step(
	struct rocpd_db *x, struct sqlite3_stmt **q, bool *at_end, struct incore_error *e);
/* A non-negative integer of a row; NO_VALUE for anything else. */
int64_t rocpd_number(struct sqlite3_stmt *q, int column);
struct str rocpd_text(struct sqlite3_stmt *q, int column);

/* --- rocpd_chunks.c --- */
struct rocpd_chunks {
	struct arena *arena; /* for its strings; set by the caller before opening */
	struct rocpd_db db;  /* borrows the bytes of the file */
	VEC(struct sqtt_chunk) v;
	VEC(const char *) suffixes; /* of the tables, by run */
	uint64_t room;		    /* bytes that further rows may use */
};

/* Reads the rows of all chunk tables, if there are any. */
bool rocpd_chunks_open(struct rocpd_chunks *x, const void *data, size_t size, const char *path,
	struct incore_error *e);
bool rocpd_chunk_read(void *ctx, const struct sqtt_chunk *c, uint8_t *to, struct incore_error *e);
void rocpd_chunks_close(struct rocpd_chunks *x);

/* --- rocpd_traces.c --- */
#define ROCPD_BEST 2u /* bytes of a capture: trace before samples before timeline */

extern const struct import_ops import_rocpd;

/* Lists the *n thread traces whose chunks are in the database, each as a look describes it, in the
 * arena; `path` may name one of them. */
bool rocpd_traces(const struct import_options *o, const char *path, struct arena *a,
	struct capture **all, uint32_t *n, struct incore_error *e);
bool rocpd_trace_read(const char *file, uint32_t which, const struct import_options *o,
	struct trace *t, struct incore_error *e);
