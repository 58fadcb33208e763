/* SPDX-License-Identifier: Apache-2.0 */
/* row.c: reads rows of a store into structs and writes them. */
#include "store/row.h"

#include <time.h>

const char *store_text_at(struct store_row *r, int at)
{
	struct store_value v = r->s->backend->value(r->q, at, STORE_TEXT);
	const char *copy = v.text ? arena_strdup(r->a, v.text) : NULL;

	r->ok = r->ok && (copy || v.type == STORE_NULL);
	return copy;
}

const char *store_text_or(struct store_row *r, int at, const char *nothing)
{
	const char *text = store_text_at(r, at);

	return text ? text : nothing;
}

const char *store_time_text(int64_t at, struct arena *a)
{
	time_t t = (time_t)at;
	struct tm tm;

	if (at < 0 || at > INT64_C(253402300799) || !gmtime_r(&t, &tm))
		return "?";
	return arena_printf(a, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900, tm.tm_mon + 1,
		tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

struct store_value store_value_of(const struct column *c, const void *value)
{
	if (c->flags && column_is_null(c, value))
		return V_NULL;
	switch (c->type) {
	case COLUMN_TEXT:
		return V_TEXT(*(const char *const *)value);
	case COLUMN_F64:
		return V_REAL(*(const double *)value);
	case COLUMN_I64:
		return V_INT(*(const int64_t *)value);
	default:
		return V_INT(column_u64(c, value));
	}
}

void store_put_values(struct store *s, const struct record *r, const void *value)
{
	for (uint16_t i = 0; i < r->n_columns; i++) {
		const struct column *c = &r->columns[i];
		struct store_value v = store_value_of(c, (const char *)value + c->offset);

		s->backend->put(s, &v);
	}
}

bool store_run_with(struct store *s, const char *sql, uint64_t number, struct incore_error *e)
{
	struct store_query *q = store_ask(s, sql, e, V_INT(number));
	bool ok = q && !store_step(s, q, e) && !e->code;

	store_done(s, q);
	return ok;
}
