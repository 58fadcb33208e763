/* SPDX-License-Identifier: Apache-2.0 */
/* flat.c: the lists of an answer as tables. */
#include "lib/flat.h"

struct flattening {
	struct flat_tables *out;
	struct arena *a;
	struct incore_error *e;
};

struct place { /* of a struct in a row */
	const char *prefix;
	uint32_t step[FLAT_STEPS];
	unsigned n_steps;
};

const void *flat_value(const struct flat_table *t, size_t row, const struct flat_column *c)
{
	const char *at = t->rows[row];

	for (unsigned i = 0; at; i++) {
		at += c->step[i];
		if (i + 1 == c->n_steps)
			break;
		at = *(const char *const *)at;
	}
	return at;
}

static bool is_list(const struct column *c)
{
	return c->type == COLUMN_LIST || c->type == COLUMN_MAP;
}

static struct flat_table *find_table(struct flattening *f, const char *name)
{
	for (size_t i = 0; i < f->out->v.n; i++)
		if (strcmp(f->out->v.v[i]->name, name) == 0)
			return f->out->v.v[i];
	return NULL;
}

static struct place place_in(
	struct flattening *f, const struct place *p, const struct column *c, bool is_pointer)
{
	struct place in = *p;

	in.step[in.n_steps - 1] += c->offset;
	if (is_pointer && in.n_steps < FLAT_STEPS)
		in.step[in.n_steps++] = 0;
	if (c->type != COLUMN_PART && c->name && *c->name)
		in.prefix = arena_printf(f->a, "%s%s_", p->prefix, c->name);
	return in;
}

/* Columns of a record that stands at a place of the row. */
static bool add_columns(
	struct flattening *f, struct flat_table *t, const struct record *r, const struct place *p)
{
	for (uint16_t i = 0; i < r->n_columns; i++) {
		const struct column *c = &r->columns[i];
		struct flat_column x = {.column = c, .n_steps = p->n_steps};
		struct place in;

		if (is_list(c))
			continue;
		if (c->of) {
			in = place_in(f, p, c, c->type == COLUMN_POINTER);
			if (!in.prefix || !add_columns(f, t, c->of, &in))
				return err_nomem(f->e);
			continue;
		}
		memcpy(x.step, p->step, sizeof(x.step));
		x.step[x.n_steps - 1] += c->offset;
		x.name = r->style == RECORD_SCALAR && !*p->prefix
				 ? arena_strdup(f->a, c->name ? c->name : "value")
				 : arena_printf(
					   f->a, "%s%s", p->prefix, c->name ? c->name : "value");
		if (!x.name || !VEC_PUSH(&t->columns, x))
			return err_nomem(f->e);
	}
	return true;
}

static struct flat_table *add_table(
	struct flattening *f, const char *name, const char *doc, const struct record *r)
{
	struct place root = {.prefix = "", .n_steps = 1};
	struct flat_table *t = arena_zalloc(f->a, 1, sizeof(*t));

	if (!t) {
		err_nomem(f->e);
		return NULL;
	}
	t->name = name;
	t->doc = doc;
	if (!VEC_PUSH(&f->out->v, t)) {
		err_nomem(f->e);
		return NULL;
	}
	return add_columns(f, t, r, &root) ? t : NULL;
}

/* Room for n more rows in the arena; doubled, so that what is left behind stays small. */
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

static bool add_lists(struct flattening *f, const struct record *r, const void *value,
	const char *path, uint32_t parent);

static bool add_list(struct flattening *f, const struct column *c, const struct rows *rows,
	const char *path, uint32_t parent)
{
	const char *name = arena_printf(f->a, "%s%s%s", path, *path ? "." : "", c->name);
	bool has_parent = parent != NO_PARENT;
	struct flat_table *t = name ? find_table(f, name) : NULL;

	if (!name)
		return err_nomem(f->e);
	if (!t)
		t = add_table(f, name, c->doc, c->of);
	if (!t || !reserve_rows(f, t, rows->n, has_parent))
		return false;
	for (size_t i = 0; i < rows->n; i++) {
		const void *row = (const char *)rows->v + i * c->of->size;

		if (has_parent)
			((uint32_t *)(uintptr_t)t->parent)[t->n_rows] = parent;
		t->rows[t->n_rows++] = row;
		if (!add_lists(f, c->of, row, name, (uint32_t)(t->n_rows - 1)))
			return false;
	}
	return true;
}

/* Every list below a value; also in objects that are held. */
static bool add_lists(struct flattening *f, const struct record *r, const void *value,
	const char *path, uint32_t parent)
{
	for (uint16_t i = 0; i < r->n_columns; i++) {
		const struct column *c = &r->columns[i];
		const void *v = (const char *)value + c->offset;
		const char *below = path;

		if (!c->of)
			continue;
		if (is_list(c)) {
			if (!add_list(f, c, v, path, parent))
				return false;
			continue;
		}
		if (c->type == COLUMN_POINTER)
			v = *(const void *const *)v;
		if (c->type != COLUMN_PART)
			below = arena_printf(f->a, "%s%s%s", path, *path ? "." : "", c->name);
		if (!below)
			return err_nomem(f->e);
		if (v && !add_lists(f, c->of, v, below, parent))
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
	t = add_table(&f, "", "single values of the answer", r);
	if (!t || !reserve_rows(&f, t, 1, false))
		return false;
	t->rows[t->n_rows++] = data;
	return add_lists(&f, r, data, "", NO_PARENT);
}

void flat_deinit(struct flat_tables *t)
{
	for (size_t i = 0; i < t->v.n; i++)
		VEC_FREE(&t->v.v[i]->columns);
	VEC_FREE(&t->v);
}
