/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h: one description of a table serves writing and reading. Each call moves values between
 * variables and the bytes, in the direction of the struct; so a field cannot be written and
 * forgotten by the reader. The packed file and the columns of a report are both made of this.
 * Failures latch (is_failed: bad bytes, is_nomem: no memory).
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
	const struct trace *of; /* FORMAT_BLOB: whose clocks and sources are pointed at */
};

/* Strings are stored in place, each time, unless fields_use_dict() is called. */
void fields_init_write(struct fields *f, enum field_format format, struct strbuf *out);
void fields_init_read(struct fields *f, enum field_format format, const uint8_t *p, size_t n,
	struct arena *arena);
/* A string that was seen before costs its number only, and NULL comes back as NULL. */
void fields_use_dict(struct fields *f);
void fields_deinit(struct fields *f);
bool fields_ok(const struct fields *f); /* nothing wrong so far */
/* Reading: everything used up and nothing wrong. Writing: nothing wrong. */
bool fields_end(const struct fields *f, const char *what, struct incore_error *e);

void fields_u64(struct fields *f, uint64_t *v);
void fields_u32(struct fields *f, uint32_t *v);
void fields_bool(struct fields *f, bool *v);
void fields_i64(struct fields *f, int64_t *v);
/* Difference to *prev, which then becomes *v. */
void fields_delta_u64(struct fields *f, uint64_t *v, uint64_t *prev);
void fields_delta_u32(struct fields *f, uint32_t *v, uint32_t *prev);
/* A string or NULL, which comes back as "" without a dictionary. */
void fields_str(struct fields *f, const char **s);
/* Bytes with a length (may hold NUL) or NULL. */
void fields_bytes(struct fields *f, const char **p, size_t *n);
/*
 * An array of *n elements: writing returns `array`; reading makes a zeroed one in the arena, after
 * checking that *n elements of at least min_bytes each can still follow. NULL when *n is 0 or on
 * failure (then *n is 0).
 */
void *fields_array(struct fields *f, void *array, uint32_t *n, size_t elem_size, size_t min_bytes);

/* --- the fields of field_list.h --- */

/* One struct or row. prev: FIELD_MAX values of the row before, zero at first; NULL: no such field. */
void fields_row(struct fields *f, const struct field_table *d, void *row, uint64_t *prev);
/* n rows, whose number is known. */
void fields_cells(struct fields *f, const struct field_table *d, void *rows, uint32_t n);
/* What is AS_LATER in n rows, if it is there. */
void fields_later(struct fields *f, const struct field_table *d, void *rows, uint32_t n);
/* Whether anything follows what old files end with; is_there: whether there is something to write. */
bool fields_has_more(const struct fields *f, bool is_there);
/* The array of a table in the trace, as by fields_array(); `more`: bytes that follow each row. */
void *fields_rows(struct fields *f, const struct field_table *d, struct trace *t, size_t more);
/* A whole table: fields_rows() and fields_cells(). */
void fields_table(struct fields *f, const struct field_table *d, struct trace *t);
