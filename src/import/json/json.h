/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h: reads the JSON export (schema incore.trace/1), see incore-json(7). Tables are read with
 * the same list of fields that wrote them (cells.c); the slices of a track are read on demand from
 * the mapped file, at the remembered place (tracks.c). Failures latch in the JSON reader. Data
 * goes to the trace's arena.
 */
#pragma once

#include "base/vec.h"
#include "codec/json_reader.h"
#include "import/import.h"
#include "trace/field_list.h"

struct doc { /* trace.loader_ctx, in the trace's arena */
	struct file_data file;
	const char *path;
	int64_t origin_cyc;
	const struct doc_track *tracks;
};

struct doc_samples {
	struct code_samples sums;
	size_t first[2], n[2]; /* range in reading.counts: [0] all, [1] not issued */
};

struct reading {
	struct json_reader r;
	struct trace *t;
	struct doc *doc;
	unsigned want; /* enum import_want */
	VEC(struct frame) frames;
	VEC(struct doc_samples) samples; /* of the code rows that have samples */
	VEC(uint64_t) counts;		 /* of their stall reasons */
};

/* --- cells.c --- */

/* Reads the value of a member that is not a field of the table; false: unknown member. */
typedef bool (*more_fn)(struct reading *x, struct str key, void *row);

bool doc_no_memory(struct json_reader *r);
bool doc_is_null(struct json_reader *r); /* and skips the null */
/* Reads a number; fields named "..._cycles" are limited so that sums cannot overflow. */
void doc_read_int(struct json_reader *r, const struct field *d, int64_t *p);
void doc_read_text(struct json_reader *r, struct arena *a, const char **p, size_t *n);
/* Sets all fields of a row to their absent values. */
void doc_clear_row(const struct field_table *d, void *row);
/* Reads a row that is an array of its fields; a is NULL for a table without text. */
void doc_read_cells(struct json_reader *r, struct arena *a, const struct field_table *d, void *row);
/* Reads a row that is an object; more may be NULL. */
void doc_read_members(struct reading *x, const struct field_table *d, more_fn more, void *row);
/* Reads an array of rows into the arena; NULL: no rows, or the reader has failed. */
void *doc_read_rows(struct reading *x, const struct field_table *d, more_fn more, uint32_t *n);

/* Tables that only this format has. */
#define CELL(s, member, kind, shown)                                                               \
	{                                                                                          \
		.name = shown, .offset = offsetof(struct s, member),                               \
		.size = sizeof(((struct s *)0)->member), .type = FIELD_##kind                      \
	}
#define CELLS(s, list)                                                                             \
	{                                                                                          \
		.fields = list, .n_fields = sizeof(list) / sizeof(struct field),                   \
		.row_size = sizeof(struct s)                                                       \
	}

/* --- tracks.c --- */

void doc_read_tracks(struct reading *x);
/* To be called at the end: sets times and links of the tracks, and the loader. */
bool doc_finish_tracks(struct reading *x, struct incore_error *e);
