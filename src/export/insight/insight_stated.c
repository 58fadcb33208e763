/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_stated.c: finds which rows of the producer's tables are the same instruction or line, the
 * core of each, and the type of each column. The trace keeps the cells as text, but not the types:
 * a column gets the narrowest type that holds all its cells.
 */
#include "codec/trace_events.h"
#include "export/insight/insight.h"

#define MAX_STATED_CORES 256 /* without slices; each costs a cell per instruction */

int insight_stated_column(const struct insight_stated *d, const char *name)
{
	for (uint32_t i = 0; d->k && i < d->k->n_cols; i++)
		if (strcmp(d->k->cols[i], name) == 0)
			return (int)i;
	return -1;
}

/* --- types --- */

/* Columns of JSON objects and lists that the viewer draws. */
static const struct {
	const char *name;
	enum insight_dtype type;
} json_columns[] = {
	{"GPR Status", INSIGHT_JSON},
	{"Address Range", INSIGHT_JSON},
	{"Stall Sampling(All Samples)", INSIGHT_DETAILS},
	{"Stall Sampling(Not Issue)", INSIGHT_DETAILS},
};

static enum insight_dtype type_of_column(const struct insight_stated *d, uint32_t column)
{
	struct str name = str_of(d->k->cols[column]);
	bool is_percent = str_ends(name, " Percentage") || str_ends(name, " Hit Rate");
	enum insight_dtype type = is_percent ? INSIGHT_PERCENT : INSIGHT_INT;
	double v;

	for (size_t i = 0; i < sizeof(json_columns) / sizeof(*json_columns); i++)
		if (str_is(name, json_columns[i].name))
			return json_columns[i].type;
	for (uint32_t i = 0; i < d->k->n_rows; i++) {
		const char *cell = insight_stated_cell(d, i, (int)column);

		if (cell && !trace_event_number(str_of(cell), &v))
			return INSIGHT_TEXT;
		if (cell && !is_percent && strpbrk(cell, ".eE"))
			type = INSIGHT_FLOAT;
	}
	return type;
}

/* --- rows --- */

static bool is_same(const struct insight_stated *d, uint32_t a, uint32_t b, int column)
{
	const char *x = insight_stated_cell(d, a, column), *y = insight_stated_cell(d, b, column);

	return x == y || (x && y && strcmp(x, y) == 0);
}

/* Groups the rows of each instruction or line, which follow each other, one per core. A row whose
 * address or line is not a number is left out and counted. */
static bool make_groups(struct insight *s, struct insight_stated *d, const char *number)
{
	int core = insight_stated_column(d, "Core"), source = insight_stated_column(d, "Source");
	int at = insight_stated_column(d, number);
	struct insight_group *last = NULL;

	for (uint32_t i = 0; i < d->k->n_rows; i++) {
		const char *cell = insight_stated_cell(d, i, at);
		struct insight_group g = {.first = i, .n = 1, .source = NO_SOURCE};

		if (last && last->first + last->n == i && is_same(d, last->first, i, at) &&
			is_same(d, last->first, i, source) && !is_same(d, last->first, i, core)) {
			last->n++;
		} else if (!cell || !str_to_u64(str_of(cell), &g.number)) {
			s->n_stated_left++;
		} else if (!VEC_PUSH(&d->groups, g)) {
			return false;
		} else {
			last = &d->groups.v[d->groups.n - 1];
		}
	}
	return true;
}

/* Finds the unit of a row: that of its core; without a core, any. A core without slices gets a unit
 * that appears only in the tables. False on lack of memory. */
static bool find_unit(struct insight *s, const char *core, uint32_t *unit)
{
	struct insight_unit u = {.name = core, .said = str_of(core)};
	struct ascend_unit known;

	*unit = core ? INSIGHT_NO_UNIT : INSIGHT_ANY_UNIT;
	for (uint32_t i = 0; core && i < s->units.n; i++)
		if (str_is(s->units.v[i].said, core)) {
			*unit = i;
			return true;
		}
	if (!core || s->selection)
		return true;
	if (!ascend_unit_of(u.said, &known) || s->units.n >= s->n_drawn + MAX_STATED_CORES) {
		s->n_stated_left++;
		return true;
	}
	*unit = (uint32_t)s->units.n;
	return VEC_PUSH(&s->units, u);
}

static bool open_table(
	struct insight *s, struct insight_stated *d, const char *name, const char *number)
{
	int core;

	d->k = trace_find_table(s->t, name);
	if (!d->k)
		return true;
	core = insight_stated_column(d, "Core");
	d->dtype = arena_zalloc(&s->arena, (size_t)d->k->n_cols + 1, sizeof(*d->dtype));
	d->unit = arena_zalloc(&s->arena, (size_t)d->k->n_rows + 1, sizeof(*d->unit));
	if (!d->dtype || !d->unit)
		return false;
	for (uint32_t i = 0; i < d->k->n_cols; i++)
		d->dtype[i] = type_of_column(d, i);
	for (uint32_t i = 0; i < d->k->n_rows; i++)
		if (!find_unit(s, insight_stated_cell(d, i, core), &d->unit[i]))
			return false;
	return make_groups(s, d, number);
}

/* Finds the source files of stated lines. The lines of a file follow each other. */
static void find_sources(struct insight *s)
{
	struct insight_stated *d = &s->stated_lines;
	int column = insight_stated_column(d, "Source");
	const char *last = NULL;
	source_idx found = NO_SOURCE;

	EACH (struct insight_group, g, d->groups.v, d->groups.n) {
		const char *path = insight_stated_cell(d, g->first, column);

		if (path && (!last || strcmp(path, last) != 0))
			for (found = 0; found < s->t->n_sources &&
					strcmp(s->t->sources[found].path, path) != 0;)
				found++;
		last = path;
		if (path && found < s->t->n_sources && g->number <= UINT32_MAX)
			g->source = found;
		else
			s->n_stated_left += g->n;
	}
}

bool insight_read_stated(struct insight *s)
{
	if (!open_table(s, &s->instr, ASCEND_TABLE_INSTR, "Address") ||
		!open_table(s, &s->stated_lines, ASCEND_TABLE_LINES, "Line"))
		return false;
	find_sources(s);
	return true;
}
