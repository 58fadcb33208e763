/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_plain.c: a described value for people: the same, with every text in it plain (base/plain.h).
 * Almost always it is plain already and nothing is copied.
 */
#include "base/arena.h"
#include "base/plain.h"
#include "base/vec.h"
#include "codec/record.h"

static const void *at(const void *row, size_t offset)
{
	return (const char *)row + offset;
}

/* A VEC() begins as rows do, and has no function that makes rows. */
static struct rows rows_of(const struct column *c, const void *value)
{
	struct rows rows = {0};

	memcpy(&rows, value, c->type == COLUMN_VEC ? offsetof(struct rows, at) : sizeof(rows));
	return rows;
}

static bool is_plain(const struct record *r, const void *value);

static bool are_rows_plain(const struct record *r, const struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (!is_plain(r, rows_at(r, rows, i)))
			return false;
	return true;
}

static bool is_column_plain(const struct column *c, const void *value)
{
	const struct any *any = value;
	const void *behind;
	struct rows rows;

	switch (c->type) {
	case COLUMN_TEXT:
		return str_is_plain(str_of(*(const char *const *)value));
	case COLUMN_STR:
		return str_is_plain(*(const struct str *)value);
	case COLUMN_ANY:
		return any->type != COLUMN_TEXT || str_is_plain(str_of(any->text));
	case COLUMN_RECORD:
	case COLUMN_PART:
		return is_plain(c->of, value);
	case COLUMN_POINTER:
	case COLUMN_PART_AT:
		behind = *(const void *const *)value;
		return !behind || is_plain(c->of, behind);
	case COLUMN_LIST:
	case COLUMN_VEC:
	case COLUMN_MAP:
		rows = rows_of(c, value);
		return are_rows_plain(c->of, &rows);
	default:
		return true;
	}
}

static bool is_plain(const struct record *r, const void *value)
{
	for (uint16_t i = 0; i < r->n_columns; i++)
		if (!is_column_plain(&r->columns[i], at(value, r->columns[i].offset)))
			return false;
	return true;
}

static bool make_text(const char **text, size_t *n, struct arena *arena)
{
	struct strbuf b = {0};
	bool ok = sb_plain(&b, (struct str){*text, *n});

	*text = ok ? arena_strndup(arena, b.p ? b.p : "", b.n) : NULL;
	*n = b.n;
	sb_free(&b);
	return *text != NULL;
}

static bool make_cstr(const char **text, struct arena *arena)
{
	size_t n = *text ? strlen(*text) : 0;

	return !*text || make_text(text, &n, arena);
}

static bool make_plain(const struct record *r, void *value, struct arena *arena);

static bool make_copy(const struct record *r, const void **value, struct arena *arena)
{
	void *copy = *value ? arena_alloc(arena, r->size) : NULL;

	if (!copy)
		return !*value;
	memcpy(copy, *value, r->size);
	*value = copy;
	return make_plain(r, copy, arena);
}

static bool make_rows(const struct column *c, void *value, struct arena *arena)
{
	struct rows rows = rows_of(c, value);
	char *copy = arena_alloc(arena, (rows.n ? rows.n : 1) * c->of->size);

	for (size_t i = 0; copy && i < rows.n; i++) {
		memcpy(copy + i * c->of->size, rows_at(c->of, &rows, i), c->of->size);
		if (!make_plain(c->of, copy + i * c->of->size, arena))
			return false;
	}
	rows = (struct rows){.v = copy, .n = rows.n};
	memcpy(value, &rows, c->type == COLUMN_VEC ? offsetof(struct rows, at) : sizeof(rows));
	return copy != NULL;
}

static bool make_column(const struct column *c, void *value, struct arena *arena)
{
	struct str *s = value;
	struct any *any = value;

	switch (c->type) {
	case COLUMN_TEXT:
		return make_cstr(value, arena);
	case COLUMN_STR:
		return make_text(&s->p, &s->n, arena);
	case COLUMN_ANY:
		return make_cstr(&any->text, arena);
	case COLUMN_RECORD:
	case COLUMN_PART:
		return make_plain(c->of, value, arena);
	case COLUMN_POINTER:
	case COLUMN_PART_AT:
		return make_copy(c->of, value, arena);
	default:
		return make_rows(c, value, arena);
	}
}

static bool make_plain(const struct record *r, void *value, struct arena *arena)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		void *held = (char *)value + c->offset;

		if (!is_column_plain(c, held) && !make_column(c, held, arena))
			return false;
	}
	return true;
}

const void *record_plain(const struct record *r, const void *value, struct arena *arena)
{
	if (!is_plain(r, value))
		return make_copy(r, &value, arena) ? value : NULL;
	return value;
}
