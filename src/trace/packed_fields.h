/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_fields.h: one description of a table serves writing and reading. Each call moves one value
 * between a variable and the bytes, in the direction of the struct; so a field cannot be written
 * and forgotten by the reader. Failures latch (is_failed: bad bytes, is_nomem: no memory).
 * Owner: strings and arrays that are read go to the arena; fields_deinit() frees the rest.
 */
#ifndef TRACE_PACKED_FIELDS_H
#define TRACE_PACKED_FIELDS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "codec/varint.h"

struct fields {
	bool is_reading;
	bool is_failed, is_nomem;
	struct strbuf *out; /* when writing */
	struct bytes_reader in;
	struct arena *arena;	/* when reading */
	struct intern dict;	/* strings written so far */
	VEC(const char *) strs; /* strings read so far */
};

void fields_init_write(struct fields *f, struct strbuf *out);
void fields_init_read(struct fields *f, const uint8_t *p, size_t n, struct arena *arena);
void fields_deinit(struct fields *f);
/* Reading: everything used up and nothing wrong. Writing: nothing wrong. */
bool fields_end(const struct fields *f, const char *what, struct incore_error *e);

void fields_u64(struct fields *f, uint64_t *v);
void fields_u32(struct fields *f, uint32_t *v);
void fields_u16(struct fields *f, uint16_t *v);
void fields_u8(struct fields *f, uint8_t *v);
void fields_bool(struct fields *f, bool *v);
void fields_i64(struct fields *f, int64_t *v);
void fields_size(struct fields *f, size_t *v);
/* Difference to *prev, which then becomes *v. */
void fields_delta_u64(struct fields *f, uint64_t *v, uint64_t *prev);
void fields_delta_u32(struct fields *f, uint32_t *v, uint32_t *prev);
/* A string or NULL; one seen before costs its number only. */
void fields_str(struct fields *f, const char **s);
/* Bytes with a length (may hold NUL) or NULL. */
void fields_bytes(struct fields *f, const char **p, size_t *n);
/*
 * An array of *n elements: writing returns `array`; reading makes a zeroed one in the arena, after
 * checking that *n elements of at least min_bytes each can still follow. NULL when *n is 0 or on
 * failure (then *n is 0).
 */
void *fields_array(struct fields *f, void *array, uint32_t *n, size_t elem_size, size_t min_bytes);

#endif
