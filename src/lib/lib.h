/* SPDX-License-Identifier: Apache-2.0 */
/* lib.h: shared by the files of libincore's public interface. Internal to this folder. */
#pragma once

#include <pthread.h>

#include "answer/captures.h"
#include "incore/incore.h"
#include "tables/flat.h"

struct incore {
	pthread_mutex_t lock; /* one question at a time */
	struct captures captures;
	struct pool *pool;
	struct progress *progress; /* carries the request to cancel */
};

struct incore_answer {
	struct arena words; /* paths and options: the answer may show them */
	struct answer answer;
	struct flat_tables tables;
	struct strbuf json; /* made on first use */
};

/* --- incore.c --- */
/* From now on no symbolic link leads out of the paths that the request names, unless the request
 * allows to follow links. Forgets the paths of earlier requests, as file descriptors are scarce. */
bool lib_fence(struct incore *x, const struct request *r, struct incore_error *e);

/* --- arrow.c --- */
enum incore_type column_kind(const struct column *c);
/* A column of an array that is being built. */
struct arrow_column {
	const char *name;
	enum column_type type;
	bool is_nullable;
};
bool arrow_schema(
	const struct arrow_column *v, size_t n, struct ArrowSchema *out, struct incore_error *e);
/* Makes a struct array with n children of `length` rows; validity bitmaps and values are zeroed,
 * texts are filled with arrow_add_text(). Freed by its release(). */
bool arrow_array(const struct arrow_column *v, size_t n, size_t length, struct ArrowArray *out,
	struct incore_error *e);
void arrow_set_null(struct ArrowArray *child, size_t row);
/* Address to write the value of a row to. */
void *arrow_slot(struct ArrowArray *child, enum column_type type, size_t row);
void arrow_set_bool(struct ArrowArray *child, size_t row, bool value);
/* Sets the text of a row; rows must come in order. Invalid UTF-8 is replaced. */
bool arrow_add_text(struct ArrowArray *child, size_t row, struct str s, struct incore_error *e);
