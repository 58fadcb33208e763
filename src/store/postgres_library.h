/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_library.h: libpq, loaded when the first PostgreSQL store is opened: if it were linked,
 * it and its libraries would be loaded in every run of the program. Also converts texts: bytes that
 * are not UTF-8, which PostgreSQL refuses, become characters of a private range.
 */
#pragma once

#include <libpq-fe.h>

#include "base/arena.h"
#include "base/str.h"

#define PQ_FUNCTIONS(X)                                                                            \
	X(PQclear)                                                                                 \
	X(PQcmdStatus)                                                                             \
	X(PQconnectdbParams)                                                                       \
	X(PQconninfoFree)                                                                          \
	X(PQconninfoParse)                                                                         \
	X(PQerrorMessage)                                                                          \
	X(PQexec)                                                                                  \
	X(PQfinish)                                                                                \
	X(PQgetResult)                                                                             \
	X(PQgetisnull)                                                                             \
	X(PQgetvalue)                                                                              \
	X(PQparameterStatus)                                                                       \
	X(PQpass)                                                                                  \
	X(PQprepare)                                                                               \
	X(PQputCopyData)                                                                           \
	X(PQputCopyEnd)                                                                            \
	X(PQresultErrorField)                                                                      \
	X(PQresultStatus)                                                                          \
	X(PQsendQueryPrepared)                                                                     \
	X(PQsetNoticeProcessor)                                                                    \
	X(PQsetSingleRowMode)                                                                      \
	X(PQstatus)

struct pq {
#define PQ_MEMBER(NAME) __typeof__(&NAME) NAME;
	PQ_FUNCTIONS(PQ_MEMBER)
#undef PQ_MEMBER
};

/* Loads libpq, for good. NULL with *e filled (MISSING) if the system does not have it. */
const struct pq *pq_load(struct incore_error *e);

/* Appends a text in a form that PostgreSQL accepts: each byte that is not part of a UTF-8 character
 * becomes U+10FE00 plus its value, and so do the bytes of characters U+10FE80 to U+10FEFF, so that
 * the original can be restored. */
void pg_put_text(struct strbuf *out, const char *text);
/* Restores the original: the text itself if nothing was replaced, otherwise a copy in the arena;
 * NULL: no memory. */
const char *pg_plain_text(const char *text, struct arena *a);
