/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h: one description of a table serves for writing and reading. Each call moves values
 * between variables and bytes, in the direction set in the struct, so a field cannot be written but
 * forgotten when reading. Used by the packed file and by the columns of a report. Failures latch
 * (is_failed: bad bytes, is_nomem: no memory).
 * Owner: strings and arrays that are read go to the arena; fields_deinit() frees the rest.
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "codec/varint.h"
#include "trace/field_list.h"

struct fields {
	enum field_format format;
	bool is_reading;
	bool is_failed, is_nomem;
	struct strbuf *out; /* when writing */
	struct bytes_reader in;
	struct arena *arena;				    /* when reading */
	void (*dict_str)(struct fields *f, const char **s); /* NULL: no dictionary */
	struct intern dict;				    /* strings written so far */
	VEC(const char *) strs;				    /* strings read so far */
	const struct trace *of; /* FORMAT_BLOB: the trace whose clocks and sources are referred
				   to */
};

/* Strings are stored in place, each time, unless fields_use_dict() is called. */
void fields_init_write(struct fields *f, enum field_format format, struct strbuf *out);
void fields_init_read(struct fields *f, enum field_format format, const uint8_t *p, size_t n,
	struct arena *arena);
/* Strings seen before are stored as a number only, and NULL comes back as NULL. */
void fields_use_dict(struct fields *f);
void fields_deinit(struct fields *f);
bool fields_ok(const struct fields *f); /* no failure so far */
/* True without failures; when reading, all bytes must be used up, too. */
bool fields_end(const struct fields *f, const char *what, struct incore_error *e);

void fields_u64(struct fields *f, uint64_t *v);
void fields_u32(struct fields *f, uint32_t *v);
void fields_bool(struct fields *f, bool *v);
void fields_i64(struct fields *f, int64_t *v);
/* Moves the difference to *prev, then sets *prev to *v. */
void fields_delta_u64(struct fields *f, uint64_t *v, uint64_t *prev);
void fields_delta_u32(struct fields *f, uint32_t *v, uint32_t *prev);
/* A string or NULL, which comes back as "" without a dictionary. */
void fields_str(struct fields *f, const char **s);
/* Bytes with a length (may hold NUL) or NULL. */
void fields_bytes(struct fields *f, const char **p, size_t *n);
/*
 * An array of *n elements: writing returns `array`; reading allocates a zeroed one in the arena,
 * after checking that *n elements of at least min_bytes each can still follow. NULL when *n is 0 or
 * on failure (then *n is 0).
 */
void *fields_array(struct fields *f, void *array, uint32_t *n, size_t elem_size, size_t min_bytes);

/* --- the fields of field_list.h --- */

/* Moves one struct or row. prev: FIELD_MAX values of the previous row, initially zero; NULL: no
 * field needs it. */
void fields_row(struct fields *f, const struct field_table *d, void *row, uint64_t *prev);
/* Moves n rows; their number is known. */
void fields_cells(struct fields *f, const struct field_table *d, void *rows, uint32_t n);
/* Moves the AS_LATER fields of n rows, if present. */
void fields_later(struct fields *f, const struct field_table *d, void *rows, uint32_t n);
/* Is there more data than in old files? When writing, is_there says whether there is something to
 * write. */
bool fields_has_more(const struct fields *f, bool is_there);
/* The array of a table in the trace, handled as by fields_array(); `more`: further bytes per
 * row. */
void *fields_rows(struct fields *f, const struct field_table *d, struct trace *t, size_t more);
/* Moves a whole table: fields_rows() and fields_cells(). */
void fields_table(struct fields *f, const struct field_table *d, struct trace *t);
