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

/* A column of numbers that have names is one of texts. */
static inline bool column_is_text(const struct column *c)
{
	return c->type == COLUMN_TEXT || c->type == COLUMN_STR ||
	       (c->words && c->type <= COLUMN_U8);
}
struct str column_text(const struct column *c, const void *value); /* of a column of texts */
