/* SPDX-License-Identifier: Apache-2.0 */
/* series.c: the history of a series. */
#include "store/series_columns.h"

#include <math.h>

static const struct column why_columns[] = {
	LIST(store_why, movers, &store_mover_record, "instructions that changed most, by cause"),
	COLUMN(store_why, command, UNIT_NONE,
		"command that compares the captures before and after, row by row", NULLABLE),
};
const struct record store_why_record = RECORD_OF(store_why, RECORD_BLOCK, why_columns);

static const struct column point_columns[] = {
	PART(store_point, entry, &store_entry_record),
	COLUMN(store_point, index, UNIT_INDEX, "index of the capture in the series, from 0"),
	COLUMN(store_point, value, UNIT_CYCLES, "value of the figure"),
	COLUMN(store_point, level, UNIT_CYCLES, "level of the captures around this time"),
	COLUMN(store_point, off_pct, UNIT_PERCENT, "distance of the value from the level",
		.title = "off %", .csv = "off_pct", .digits = 2),
	COLUMN(store_point, mark, UNIT_NONE, "role of the capture in its series",
		.words = "|change|outlier|unconfirmed"),
};
const struct record store_point_record = RECORD_OF(store_point, RECORD_LINE, point_columns);

static const struct column level_columns[] = {
	COLUMN(store_level, index, UNIT_INDEX,
		"index of the first capture of the level in the series"),
	COLUMN(store_level, captures, UNIT_COUNT, "number of captures with this level"),
	COLUMN(store_level, level, UNIT_CYCLES, "median of the first captures of the level"),
	COLUMN(store_level, limit, UNIT_CYCLES,
		"largest distance from the level that is normal; null: too few captures", NULLABLE,
		.digits = 1),
};
static const struct record level_record = RECORD_OF(store_level, RECORD_LINE, level_columns);

static const struct column change_columns[] = {
	COLUMN(store_change, capture, UNIT_INDEX, "first capture of the new level"),
	COLUMN(store_change, from, UNIT_INDEX, "last capture before the new level"),
	COLUMN(store_change, index, UNIT_INDEX,
		"index of the first capture of the new level in the series, from 0"),
	COLUMN(store_change, time, UNIT_NONE, "time at which the capture was taken, UTC"),
	COLUMN(store_change, revision, UNIT_NONE, "revision of the source of the capture",
		NULLABLE),
	COLUMN(store_change, state, UNIT_NONE, "whether more than one capture confirms the change",
		.words = "confirmed|unconfirmed"),
	COLUMN(store_change, is_same_code, UNIT_NONE, "the listings before and after are equal"),
	COLUMN(store_change, before, UNIT_CYCLES, "level before the change"),
	COLUMN(store_change, after, UNIT_CYCLES,
		"level after the change; for an unconfirmed change the value of its capture"),
	COLUMN(store_change, change, UNIT_CYCLES, "level after minus level before"),
	COLUMN(store_change, change_pct, UNIT_PERCENT, "change as a share of the level before",
		.title = "change %", .csv = "change_pct", .digits = 2),
	PART(store_change, why, &store_why_record),
};
const struct record store_change_record = RECORD_OF(store_change, RECORD_BLOCK, change_columns);

static const struct column history_columns[] = {
	STORE_SERIES_COLUMNS(store_history),
	COLUMN(store_history, level, UNIT_CYCLES, "newest level of the series", NULLABLE),
	LIST(store_history, points, &store_point_record,
		"captures of the series in the order of time"),
	LIST(store_history, levels, &level_record, "periods of time with one level"),
	LIST(store_history, changes, &store_change_record, "changes of the level"),
};
const struct record store_history_record = RECORD_OF(store_history, RECORD_BLOCK, history_columns);

/* --- the figures of a series --- */

struct values {
	double *v;
	const struct store_entry **entry; /* entries that have the figure */
	size_t n;
};

static bool take_values(const struct store_ask *x, const struct store_entry *v, size_t n,
	struct store_series *series, struct values *out)
{
	unsigned f = x->figure;

	if (f == STORE_FIGURES)
		f = v[n - 1].figure[STORE_DURATION] != NO_I64 ? STORE_DURATION : STORE_CYCLES;
	*series = (struct store_series){
		v->kernel, v->arch, v->evidence, v->labels, store_figures[f], 0, NAN, NAN, {0}};
	out->n = 0;
	out->v = arena_zalloc(x->arena, n, sizeof(*out->v));
	out->entry = arena_zalloc(x->arena, n, sizeof(*out->entry));
	if (!out->v || !out->entry)
		return false;
	for (size_t i = 0; i < n; i++)
		if (v[i].figure[f] != NO_I64) {
			out->v[out->n] = (double)v[i].figure[f];
			out->entry[out->n++] = &v[i];
		}
	series->captures = out->n;
	return true;
}

static void store_series_put_quoted(struct strbuf *b, const char *word)
{
	sb_puts(b, " '");
	for (; *word; word++)
		if (*word == '\'')
			sb_puts(b, "'\\''");
		else
			sb_putc(b, *word);
	sb_putc(b, '\'');
}

bool store_explain(const struct store_ask *x, struct store_change *c, struct incore_error *e)
{
	struct store_pair p = {c->last, c->first, c->change < 0, x->movers};
	struct strbuf b = {0};

	sb_puts(&b, "incore diff");
	store_series_put_quoted(&b, p.before->path);
	store_series_put_quoted(&b, p.after->path);
	c->why.command = b.failed ? NULL : arena_strndup(x->arena, b.p, b.n);
	sb_free(&b);
	if (!c->why.command)
		return err_nomem(e);
	return store_movers(x->store, &p, x->arena, &c->why.movers, e);
}

/* --- history --- */

static const char *const marks[] = {"", "change", "outlier", "unconfirmed"};

static bool series_put_points(const struct store_ask *ask, const struct values *x,
	const struct history *h, struct store_history *out, struct incore_error *e)
{
	struct store_point *v = arena_zalloc(ask->arena, x->n + 1, sizeof(*v));
	struct store_level *levels = arena_zalloc(ask->arena, h->stretches.n + 1, sizeof(*levels));

	if (!v || !levels)
		return err_nomem(e);
	for (size_t k = 0; k < h->stretches.n; k++) {
		const struct history_stretch *t = &h->stretches.v[k];

		for (size_t i = t->first; i < t->first + t->n; i++)
			v[i] = (struct store_point){*x->entry[i], i, x->v[i], t->level,
				store_percent(x->v[i] - t->level, t->level), marks[h->marks[i]]};
		out->level = t->level;
		levels[k] = (struct store_level){t->first, t->n, t->level,
			history_limit(&ask->history, h->noise, t->level, 1 + 2.0 / t->n_level)};
		if (!isfinite(h->noise))
			levels[k].limit = NAN;
	}
	out->points = (struct rows){v, x->n};
	out->levels = (struct rows){levels, h->stretches.n};
	return true;
}

/* Fills in the change that begins at value `at`; its levels are already in *out. */
static void store_series_put_change(const struct values *v, size_t at, struct store_change *out)
{
	const struct store_entry *first = v->entry[at], *last = v->entry[at - 1];

	out->first = first;
	out->last = last;
	out->capture = first->capture;
	out->from = last->capture;
	out->index = at;
	out->at = first->at;
	out->time = first->time;
	out->revision = first->revision;
	out->is_same_code = strcmp(first->code, last->code) == 0;
	out->change = out->after - out->before;
	out->change_pct = store_percent(out->change, out->before);
}

static bool series_put_changes(const struct store_ask *x, const struct values *v,
	const struct history *h, struct store_history *out)
{
	struct store_change *c = arena_zalloc(x->arena, h->stretches.n + 1, sizeof(*c));
	size_t n = 0;

	if (!c)
		return false;
	for (size_t k = 1; k < h->stretches.n; k++, n++) {
		const struct history_stretch *t = &h->stretches.v[k];

		c[n] = (struct store_change){
			.before = t[-1].level, .after = t->level, .state = "confirmed"};
		store_series_put_change(v, t->first, &c[n]);
	}
	if (v->n && h->marks[v->n - 1] == HISTORY_UNCONFIRMED) {
		c[n] = (struct store_change){
			.before = out->level, .after = v->v[v->n - 1], .state = "unconfirmed"};
		store_series_put_change(v, v->n - 1, &c[n]);
		n++;
	}
	out->changes = (struct rows){c, n};
	return true;
}

bool store_history(const struct store_ask *x, const struct store_entries *entries, size_t at,
	struct store_history *out, struct incore_error *e)
{
	struct values values;
	struct history h;
	bool ok;

	*out = (struct store_history){.level = NAN};
	if (!take_values(x, &entries->v.v[at], store_series(entries, at), &out->series, &values))
		return err_nomem(e);
	ok = history_find(&h, values.v, values.n, &x->history, e) &&
	     series_put_points(x, &values, &h, out, e);
	out->series.accepted = store_accepted_of(&entries->accepted, &entries->v.v[at]);
	out->series.noise = h.noise;
	out->series.noise_pct = store_percent(h.noise, out->level);
	ok = ok && (series_put_changes(x, &values, &h, out) || err_nomem(e));
	history_deinit(&h);
	return ok;
}
