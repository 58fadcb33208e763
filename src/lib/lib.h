/* SPDX-License-Identifier: Apache-2.0 */
/* lib.h: what the files of libincore's door share. Internal to the room. */
#pragma once

#include <pthread.h>

#include "answer/captures.h"
#include "incore/incore.h"
#include "tables/flat.h"

struct incore {
	pthread_mutex_t lock; /* one question at a time */
	struct captures captures;
	struct pool *pool;
	struct progress *progress; /* carries the wish to stop */
};

struct incore_answer {
	struct arena words; /* paths and options: the answer may show them */
	struct answer answer;
	struct flat_tables tables;
	struct strbuf json; /* made when it is first asked for */
};

/* --- incore.c --- */
/* From now on no link leads out of what the request names, unless it says that links are followed; what
 * was named before is forgotten, as descriptors are few. */
bool lib_fence(struct incore *x, const struct request *r, struct incore_error *e);

/* --- arrow.c --- */
enum incore_type column_kind(const struct column *c);
/* A column of an array while it is built. */
struct arrow_column {
	const char *name;
	enum column_type type;
	bool is_nullable;
};
bool arrow_schema(
	const struct arrow_column *v, size_t n, struct ArrowSchema *out, struct incore_error *e);
/* A struct array with n children of `length` rows, validity bitmaps and values zeroed; texts want
 * arrow_text(). Freed by its release(). */
bool arrow_array(const struct arrow_column *v, size_t n, size_t length, struct ArrowArray *out,
	struct incore_error *e);
void arrow_set_null(struct ArrowArray *child, size_t row);
/* Where the value of a row is written. */
void *arrow_slot(struct ArrowArray *child, enum column_type type, size_t row);
void arrow_set_bool(struct ArrowArray *child, size_t row, bool value);
/* Rows in order: the text of the next one; invalid UTF-8 is replaced. */
bool arrow_add_text(struct ArrowArray *child, size_t row, struct str s, struct incore_error *e);
