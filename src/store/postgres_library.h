/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_library.h: libpq, loaded when the first store of PostgreSQL is opened: linked, it and the
 * the libraries below it would start with every run of the program. Texts for it: bytes that
 * are no UTF-8, which PostgreSQL refuses, become characters of a private range.
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

/* NULL with *e filled (MISSING) where the system has it not. It stays. */
const struct pq *pq_load(struct incore_error *e);

/* Appends it as PostgreSQL takes it: each byte that is not of a UTF-8 character becomes U+10FE00 plus
 * its value, and so do those of characters U+10FE80 to U+10FEFF: what is kept can be told back. */
void pg_put_text(struct strbuf *out, const char *text);
/* Told back: the text itself where nothing was replaced, else in the arena; NULL: no memory. */
const char *pg_plain_text(const char *text, struct arena *a);
