/* SPDX-License-Identifier: Apache-2.0 */
/* flat.c: the lists of an answer as tables. */
#include "tables/flat.h"

struct flattening {
	struct flat_tables *out;
	struct arena *a;
	struct incore_error *e;
};

struct holding { /* a struct nested in a row */
	const char *prefix;
	bool is_value; /* it is its only field, which has its name */
	struct flat_place place;
	const struct column *holder;
	struct flat_place holder_place;
};

static const void *flat_follow(const struct flat_place *p, const void *row)
{
	const char *at = row;

	for (unsigned i = 0; at; i++) {
		at += p->step[i];
		if (i + 1 == p->n_steps)
			break;
		at = *(const char *const *)at;
	}
	return at;
}

const void *flat_value(const struct flat_table *t, size_t row, const struct flat_column *c)
{
	if (c->holder && column_is_null(c->holder, flat_follow(&c->holder_place, t->rows[row])))
		return NULL;
	return c->texts ? &c->texts[row] : flat_follow(&c->place, t->rows[row]);
}

static bool is_list(const struct column *c)
{
	return c->type == COLUMN_LIST || c->type == COLUMN_MAP || c->type == COLUMN_VEC;
}

/* Are its fields those of what is around it? */
static bool is_part(const struct column *c)
{
	return c->type == COLUMN_PART || c->type == COLUMN_PART_AT;
}

static bool is_pointer(const struct column *c)
{
	return c->type == COLUMN_POINTER || c->type == COLUMN_PART_AT;
}

struct flat_table *flat_find(const struct flat_tables *t, const char *name)
{
	for (size_t i = 0; i < t->v.n; i++)
		if (strcmp(t->v.v[i]->name, name) == 0)
			return t->v.v[i];
	return NULL;
}

static const char *flat_join(struct flattening *f, const char *path, const char *name)
{
	return arena_printf(f->a, "%s%s%s", path, *path ? "." : "", name);
}

static struct holding hold(struct flattening *f, const struct holding *p, const struct column *c)
{
	struct holding in = *p;
	struct flat_place *at = &in.place;

	at->step[at->n_steps - 1] += c->offset;
	if (c->type == COLUMN_RECORD && (c->flags & (COLUMN_NULLABLE | COLUMN_OPTIONAL))) {
		in.holder = c;
		in.holder_place = *at;
	}
	if (is_pointer(c) && at->n_steps < FLAT_STEPS)
		at->step[at->n_steps++] = 0;
	if (!is_part(c) && c->name && *c->name)
		in.prefix = arena_printf(f->a, "%s%s_", p->prefix, c->name);
	in.is_value = c->of->style == RECORD_SCALAR && !is_part(c);
	return in;
}

static bool flat_add_column(
	struct flattening *f, struct flat_table *t, const struct column *c, const struct holding *p)
{
	struct flat_column x = {.column = c,
		.place = p->place,
		.holder = p->holder,
		.holder_place = p->holder_place};

	x.place.step[x.place.n_steps - 1] += c->offset;
	x.name = p->is_value ? arena_strndup(f->a, p->prefix, strlen(p->prefix) - 1)
			     : arena_printf(f->a, "%s%s", p->prefix, c->name ? c->name : "value");
	if (!x.name)
		return err_nomem(f->e);
	/* a column only for text tables gives way to the nested column of the same flat name */
	EACH (struct flat_column, known, t->columns.v, t->columns.n) {
		if ((known->column->flags & COLUMN_NO_JSON) && strcmp(known->name, x.name) == 0) {
			*known = x;
			return true;
		}
	}
	return VEC_PUSH(&t->columns, x) || err_nomem(f->e);
}

/* Adds the columns of a nested record. */
static bool flat_add_columns(
	struct flattening *f, struct flat_table *t, const struct record *r, const struct holding *p)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		struct holding in;

		if (is_list(c))
			continue;
		if (!c->of) {
			if (!flat_add_column(f, t, c, p))
				return false;
			continue;
		}
		in = hold(f, p, c);
		if (!in.prefix)
			return err_nomem(f->e);
		if (!flat_add_columns(f, t, c->of, &in))
			return false;
	}
	return true;
}

static struct flat_table *flat_add_table(
	struct flattening *f, const char *name, const char *doc, const struct record *r)
{
	struct holding root = {.prefix = "", .place.n_steps = 1};
	struct flat_table *t = arena_zalloc(f->a, 1, sizeof(*t));

	if (!t)
		return err_nomem_null(f->e);
	t->name = name;
	t->doc = doc;
	if (!VEC_PUSH(&f->out->v, t))
		return err_nomem_null(f->e);
	return flat_add_columns(f, t, r, &root) ? t : NULL;
}

/* Reserves n more rows in the arena; the capacity doubles to limit the memory left unused. */
static bool reserve_rows(struct flattening *f, struct flat_table *t, size_t n, bool has_parent)
{
	size_t cap = t->cap ? t->cap : 16;
	const void **rows;
	uint32_t *parent = NULL;

	if (t->n_rows + n <= t->cap)
		return true;
	while (cap < t->n_rows + n)
		cap *= 2;
	rows = arena_zalloc(f->a, cap, sizeof(*rows));
	if (has_parent)
		parent = arena_zalloc(f->a, cap, sizeof(*parent));
	if (!rows || (has_parent && !parent))
		return err_nomem(f->e);
	if (t->n_rows)
		memcpy(rows, t->rows, t->n_rows * sizeof(*rows));
	if (t->n_rows && has_parent)
		memcpy(parent, t->parent, t->n_rows * sizeof(*parent));
	t->rows = rows;
	t->parent = parent;
	t->cap = cap;
	return true;
}

#define NO_PARENT UINT32_MAX

static bool own_fields(struct flattening *f, const struct record *r, char *row);

static bool own_field(struct flattening *f, const struct column *c, char *v)
{
	const char **text = (const char **)v;
	struct str *s = (struct str *)v;
	struct any *any = (struct any *)v;

	switch (c->type) {
	case COLUMN_TEXT:
		return !*text || (*text = arena_strdup(f->a, *text)) || err_nomem(f->e);
	case COLUMN_STR:
		return !s->p || (s->p = arena_strndup(f->a, s->p, s->n)) || err_nomem(f->e);
	case COLUMN_ANY:
		return any->type != COLUMN_TEXT || !any->text ||
		       (any->text = arena_strdup(f->a, any->text)) || err_nomem(f->e);
	case COLUMN_RECORD:
	case COLUMN_PART:
		return own_fields(f, c->of, v);
	case COLUMN_POINTER:
	case COLUMN_PART_AT:
		if (!*text)
			return true;
		*text = arena_memdup(f->a, *text, c->of->size);
		return *text ? own_fields(f, c->of, (char *)*text) : err_nomem(f->e);
	default:
		return true;
	}
}

/* A row that is made lives until the next one: copies what it points to, except for lists, whose
 * rows are copied when they are added. */
static bool own_fields(struct flattening *f, const struct record *r, char *row)
{
	EACH (const struct column, c, r->columns, r->n_columns)
		if (!own_field(f, c, row + c->offset))
			return false;
	return true;
}

static const void *flat_row_at(struct flattening *f, const struct record *r,
	const struct rows *rows, size_t i, bool is_made)
{
	const void *row = rows_at(r, rows, i);
	char *copy;

	if (!is_made)
		return row;
	copy = arena_memdup(f->a, row, r->size);
	if (!copy)
		return err_nomem_null(f->e);
	return own_fields(f, r, copy) ? copy : NULL;
}

static bool flat_add_lists(struct flattening *f, const struct record *r, const void *value,
	const char *path, uint32_t parent, bool is_made);

static bool flat_add_list(struct flattening *f, const struct column *c, const struct rows *rows,
	const char *path, uint32_t parent, bool is_made)
{
	const char *name = flat_join(f, path, c->name);
	bool has_parent = parent != NO_PARENT;
	struct flat_table *t = name ? flat_find(f->out, name) : NULL;

	if (!name)
		return err_nomem(f->e);
	if (!t)
		t = flat_add_table(f, name, c->doc, c->of);
	if (!t || !reserve_rows(f, t, rows->n, has_parent))
		return false;
	for (size_t i = 0; i < rows->n; i++) {
		const void *row = flat_row_at(f, c->of, rows, i, is_made || rows->at);

		if (!row)
			return false;
		if (has_parent)
			((uint32_t *)(uintptr_t)t->parent)[t->n_rows] = parent;
		t->rows[t->n_rows++] = row;
		if (!flat_add_lists(
			    f, c->of, row, name, (uint32_t)(t->n_rows - 1), is_made || rows->at))
			return false;
	}
	return true;
}

/* Adds every list below a value, including lists in nested objects. */
static bool flat_add_lists(struct flattening *f, const struct record *r, const void *value,
	const char *path, uint32_t parent, bool is_made)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		const void *v = (const char *)value + c->offset;
		const char *below = path;
		struct rows rows = {0};

		if (!c->of)
			continue;
		if (is_list(c)) { /* a VEC() begins like struct rows */
			memcpy(&rows, v,
				c->type == COLUMN_VEC ? offsetof(struct rows, at) : sizeof(rows));
			if (!flat_add_list(f, c, &rows, path, parent, is_made))
				return false;
			continue;
		}
		if (is_pointer(c) && !*(const void *const *)v)
			continue;
		if (is_pointer(c))
			v = *(const void *const *)v;
		if (!is_part(c))
			below = flat_join(f, path, c->name);
		if (!below)
			return err_nomem(f->e);
		if (!flat_add_lists(f, c->of, v, below, parent, is_made))
			return false;
	}
	return true;
}

#define ANY_DIGITS 9 /* of each half of a pair */

static const char *any_as_text(struct arena *a, const struct any *x)
{
	if (x->type == COLUMN_TEXT)
		return x->text ? x->text : "";
	if (x->type == COLUMN_I64)
		return arena_printf(a, "%lld", (long long)x->i);
	if (x->type == COLUMN_U64)
		return arena_printf(a, "%llu", (unsigned long long)x->u);
	if (x->type == COLUMN_BOOL)
		return x->is ? "true" : "false";
	if (x->type == COLUMN_RECORD)
		return arena_printf(
			a, "[%.*g, %.*g]", ANY_DIGITS, x->pair[0], ANY_DIGITS, x->pair[1]);
	if (x->digits < 0)
		return arena_printf(a, "%.*g", -x->digits, x->d);
	return arena_printf(a, "%.*f", x->digits, x->d);
}

/* Are its values numbers that have names, or of different types? */
static bool is_text_to_be(const struct column *c)
{
	return c->type == COLUMN_ANY ||
	       (c->words && c->type != COLUMN_TEXT && c->type != COLUMN_STR);
}

static const char *as_text(struct arena *a, const struct column *c, const void *v)
{
	struct str word;

	if (c->type == COLUMN_ANY)
		return any_as_text(a, v);
	word = column_word(c, column_u64(c, v));
	return arena_strndup(a, word.p, word.n);
}

static bool make_texts(struct flattening *f, struct flat_table *t, struct flat_column *c)
{
	const char **texts = arena_zalloc(f->a, t->n_rows + 1, sizeof(*texts));
	struct column *text = arena_memdup(f->a, c->column, sizeof(*text));

	for (size_t i = 0; texts && i < t->n_rows; i++) {
		const void *v = flat_value(t, i, c);
		bool is_there = v && !column_is_null(c->column, v);

		texts[i] = is_there ? as_text(f->a, c->column, v) : NULL;
		if (is_there && !texts[i])
			return err_nomem(f->e);
	}
	if (!texts || !text)
		return err_nomem(f->e);
	text->words = c->column->type == COLUMN_ANY ? NULL : c->column->words;
	text->type = COLUMN_TEXT;
	c->texts = texts;
	c->column = text;
	return true;
}

static bool make_all_texts(struct flattening *f)
{
	for (size_t i = 0; i < f->out->v.n; i++) {
		struct flat_table *t = f->out->v.v[i];

		for (size_t k = 0; k < t->columns.n; k++)
			if (is_text_to_be(t->columns.v[k].column) &&
				!make_texts(f, t, &t->columns.v[k]))
				return false;
	}
	return true;
}

bool flat_make(struct flat_tables *out, const struct record *r, const void *data, struct arena *a,
	struct incore_error *e)
{
	struct flattening f = {out, a, e};
	struct flat_table *t;

	*out = (struct flat_tables){0};
	t = flat_add_table(&f, "", "single values of the answer", r);
	if (!t || !reserve_rows(&f, t, 1, false))
		return false;
	t->rows[t->n_rows++] = data;
	return flat_add_lists(&f, r, data, "", NO_PARENT, false) && make_all_texts(&f);
}

/* Like add_lists(), but without a value: adds tables without rows. */
static bool shape_lists(struct flattening *f, const struct record *r, const char *path)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		const char *below = c->of && !is_part(c) ? flat_join(f, path, c->name) : path;

		if (!c->of)
			continue;
		if (!below)
			return err_nomem(f->e);
		if (!is_list(c) ? !shape_lists(f, c->of, below)
				: !flat_find(f->out, below) &&
					  !flat_add_table(f, below, c->doc, c->of))
			return false;
	}
	return true;
}

bool flat_shape(
	struct flat_tables *out, const struct record *r, struct arena *a, struct incore_error *e)
{
	struct flattening f = {out, a, e};

	*out = (struct flat_tables){0};
	return flat_add_table(&f, "", "single values of the answer", r) && shape_lists(&f, r, "");
}

void flat_deinit(struct flat_tables *t)
{
	for (size_t i = 0; i < t->v.n; i++)
		VEC_FREE(&t->v.v[i]->columns);
	VEC_FREE(&t->v);
}
