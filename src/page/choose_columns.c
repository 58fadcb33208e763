/* SPDX-License-Identifier: Apache-2.0 */
/* choose_columns.c: which columns of a record did the reader ask for? */
#include "page/page.h"

#define PATH_MAX_BYTES 64u
#define NAMES_TOLD 600u /* bytes of the names in an error */

/* A column as the writers show it: its path and its title. */
struct named_column {
	char path[PATH_MAX_BYTES];
	const struct column *column;
};

typedef VEC(struct named_column) named_columns;

static bool is_one_value(const struct column *c)
{
	return c->type <= COLUMN_STR;
}

/* Adds every column below r whose value is one cell, in the order of the description. */
static bool add_columns(const struct record *r, const char *prefix, named_columns *out)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		struct named_column x = {.column = c};
		char below[PATH_MAX_BYTES];

		if (!c->name || (c->type == COLUMN_PART && !add_columns(c->of, prefix, out)))
			return c->name == NULL;
		if (c->type == COLUMN_RECORD || c->type == COLUMN_POINTER) {
			snprintf(below, sizeof(below), "%s%s.", prefix, c->name);
			if (!add_columns(c->of, below, out))
				return false;
		}
		if (!is_one_value(c))
			continue;
		snprintf(x.path, sizeof(x.path), "%s%s", prefix, c->name);
		if (!VEC_PUSH(out, x))
			return false;
	}
	return true;
}

/* The path in a spec of page_records(). */
static struct str path_of(const char *spec)
{
	struct str rest = str_of(spec[0] && spec[1] == '?' ? spec + 2 : spec), path;

	str_cut(&rest, "=", &path);
	return path;
}

static bool is_title(const struct column *c, struct str name)
{
	return str_is(name, c->name) || str_is(name, c->title ? c->title : c->name) ||
	       str_is(name, c->csv     ? c->csv
			    : c->title ? c->title
				       : c->name);
}

/* Columns that the reader sees come first: one of the table by path or title; then any other by
 * path, then any other by its default title. */
static const struct named_column *find_column(
	const named_columns *all, const char *const *defaults, struct str name)
{
	for (unsigned i = 0; defaults[i]; i++)
		EACH (const struct named_column, x, all->v, all->n)
			if (str_is(path_of(defaults[i]), x->path) &&
				(str_is(name, x->path) || is_title(x->column, name)))
				return x;
	EACH (const struct named_column, x, all->v, all->n)
		if (str_is(name, x->path))
			return x;
	EACH (const struct named_column, x, all->v, all->n)
		if (is_title(x->column, name))
			return x;
	return NULL;
}

static bool no_such_column(const named_columns *all, struct str name, struct incore_error *e)
{
	struct strbuf names = {0};

	EACH (const struct named_column, x, all->v, all->n)
		if (names.n < NAMES_TOLD)
			sb_printf(&names, "%s%s", names.n ? ", " : "", x->path);
	err_set(e, INCORE_USAGE, "no-such-column",
		"--columns: there is no column '%.*s'; there are %s", STR_ARG(name),
		names.p ? names.p : "none");
	sb_free(&names);
	return false;
}

/* Index of a path among the specs so far; n: not found. */
static unsigned place_of(const char *const *specs, unsigned n, const char *path)
{
	unsigned i = 0;

	while (i < n && !str_is(path_of(specs[i]), path))
		i++;
	return i;
}

struct choice {
	struct arena *arena;
	const char **specs;
	unsigned n, most;
};

static bool take_word(
	struct choice *k, const struct named_column *x, bool is_less, const char *const *defaults)
{
	unsigned at = place_of(k->specs, k->n, x->path), i = 0;

	if (is_less && at < k->n) {
		memmove(&k->specs[at], &k->specs[at + 1], (k->n - at) * sizeof(*k->specs));
		k->n--;
	}
	if (is_less || at < k->n || k->n == k->most)
		return true;
	/* with its default title */
	while (defaults[i] && !str_is(path_of(defaults[i]), x->path))
		i++;
	k->specs[k->n++] = defaults[i] ? defaults[i] : arena_strdup(k->arena, x->path);
	return k->specs[k->n - 1] != NULL;
}

static bool choose(struct choice *k, const named_columns *all, const char *wanted,
	const char *const *defaults, struct incore_error *e)
{
	struct str rest = str_of(wanted), word;
	bool starts_empty = wanted[0] != '+' && wanted[0] != '-';

	for (; defaults[k->n] && k->n < k->most; k->n++)
		k->specs[k->n] = defaults[k->n];
	if (starts_empty)
		k->n = 0;
	while (str_cut(&rest, ",", &word)) {
		bool has_sign = str_starts(word, "+") || str_starts(word, "-");
		struct str name = str_trim(str_sub(word, has_sign, word.n));
		const struct named_column *x = find_column(all, defaults, name);

		if (!x)
			return no_such_column(all, name, e);
		if (!take_word(k, x, str_starts(word, "-"), defaults))
			return err_nomem(e);
	}
	k->specs[k->n] = NULL;
	return k->n > 0 || err_set(e, INCORE_USAGE, "no-columns", "--columns leaves no column");
}

const char *const *columns_chosen(struct arena *a, const struct record *r, const char *wanted,
	const char *const *defaults, struct incore_error *e)
{
	struct choice k = {.arena = a, .most = TABLE_COLUMNS - 1};
	named_columns all = {0};
	bool ok;

	k.specs = arena_zalloc(a, TABLE_COLUMNS, sizeof(*k.specs));
	ok = (k.specs && add_columns(r, "", &all)) || err_nomem(e);
	ok = ok && choose(&k, &all, wanted, defaults, e);
	VEC_FREE(&all);
	return ok ? k.specs : NULL;
}
