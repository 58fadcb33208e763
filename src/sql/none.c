/* SPDX-License-Identifier: Apache-2.0 */
/* none.c: implements sql.h in builds without SQLite. */
#include "sql/sql.h"

bool sql_is_built(void)
{
	return false;
}

struct sql *sql_open(const struct request *like, struct answer *about, const char *const *paths,
	unsigned n_paths, const struct sql_limits *limits, struct incore_error *e)
{
	(void)like;
	(void)about;
	(void)paths;
	(void)n_paths;
	(void)limits;
	err_set(e, INCORE_MISSING, "no-sqlite", "this incore was built without SQLite");
	return NULL;
}

void sql_close(struct sql *s)
{
	(void)s;
}

bool sql_run(struct sql *s, const char *text, const char **rest, const struct sql_sink *sink,
	struct sql_result *out, struct incore_error *e)
{
	(void)s;
	(void)text;
	(void)rest;
	(void)sink;
	(void)out;
	(void)e;
	return false;
}

bool sql_has_more(const char *text)
{
	(void)text;
	return false;
}

bool sql_is_complete(const char *text)
{
	(void)text;
	return true;
}

uint64_t sql_failed(const struct sql *s)
{
	(void)s;
	return 0;
}

const struct sql_table *sql_tables(const struct sql *s, size_t *n)
{
	(void)s;
	*n = 0;
	return NULL;
}
