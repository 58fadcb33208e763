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

/* Reads a whole database from memory. Codes: "no-sqlite", "not-rocpd", "bad-database",
 * "unknown-version". */
bool rocpd_load(
	struct rocpd *r, const void *data, size_t size, const char *path, struct incore_error *e);

/* --- an untrusted database --- */
struct sqlite3;
struct sqlite3_stmt;

struct rocpd_db {
	struct sqlite3 *db;
	const char *path;
	uint8_t *copy;	    /* or NULL */
	uint64_t work_left; /* thousands of SQLite steps */
};

/* --- chunks of thread traces --- */
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

#define ROCPD_BEST 2u /* bytes of a capture: trace before samples before timeline */

extern const struct import_ops import_rocpd;
