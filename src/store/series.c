/* SPDX-License-Identifier: Apache-2.0 */
/* series.c: the history of a series, its regressions, and the gate. */
#include "store/series.h"

#include <math.h>

#define SERIES_COLUMNS(S)                                                                          \
	COLUMN_AS(S, series.kernel, "kernel", UNIT_NONE, "name of the kernel", NULLABLE),          \
		COLUMN_AS(S, series.arch, "arch", UNIT_NONE, "architecture", NULLABLE),            \
		COLUMN_AS(S, series.evidence, "evidence", UNIT_NONE, "what the figures rest on"),  \
		COLUMN_AS(S, series.labels, "labels", UNIT_NONE, "labels of its captures"),        \
		COLUMN_AS(S, series.figure, "figure", UNIT_NONE, "what is compared, in cycles",    \
			.words = STORE_FIGURE_CHOICES),                                            \
		COLUMN_AS(S, series.captures, "captures", UNIT_COUNT, "that have this figure"),    \
		COLUMN_AS(S, series.noise, "noise", UNIT_CYCLES,                                   \
			"standard deviation, from the distances of neighbours; null: too few",     \
			NULLABLE, .digits = 1),                                                    \
		COLUMN_AS(S, series.noise_pct, "noise_pct", UNIT_PERCENT, "of the level",          \
			NULLABLE, .digits = 2)

static const struct column why_columns[] = {
	LIST(store_why, movers, &store_mover_record, "instructions that changed most, by cause"),
	COLUMN(store_why, command, UNIT_NONE, "compares the captures before and after, row by row",
		NULLABLE),
};
static const struct record why_record = RECORD_OF(store_why, RECORD_BLOCK, why_columns);

static const struct column point_columns[] = {
	PART(store_point, entry, &store_entry_record),
	COLUMN(store_point, index, UNIT_INDEX, "its place in the series, from 0"),
	COLUMN(store_point, value, UNIT_CYCLES, "the figure"),
	COLUMN(store_point, level, UNIT_CYCLES, "level of its stretch of time"),
	COLUMN(store_point, off_pct, UNIT_PERCENT, "how far it is from that level",
		.title = "off %", .csv = "off_pct", .digits = 2),
	COLUMN(store_point, mark, UNIT_NONE, "what it is", .words = "|change|outlier|unconfirmed"),
};
const struct record store_point_record = RECORD_OF(store_point, RECORD_LINE, point_columns);

static const struct column level_columns[] = {
	COLUMN(store_level, index, UNIT_INDEX, "place of its first capture in the series"),
	COLUMN(store_level, captures, UNIT_COUNT, "how many have it"),
	COLUMN(store_level, level, UNIT_CYCLES, "median of the first of them"),
	COLUMN(store_level, limit, UNIT_CYCLES,
		"a figure further from the level is off; null: too few captures", NULLABLE,
		.digits = 1),
};
static const struct record level_record = RECORD_OF(store_level, RECORD_LINE, level_columns);

static const struct column change_columns[] = {
	COLUMN(store_change, capture, UNIT_INDEX, "first capture of the new level"),
	COLUMN(store_change, from, UNIT_INDEX, "the capture before it"),
	COLUMN(store_change, index, UNIT_INDEX, "place of the first in the series, from 0"),
	COLUMN(store_change, time, UNIT_NONE, "when it was taken, UTC"),
	COLUMN(store_change, revision, UNIT_NONE, "of the source", NULLABLE),
	COLUMN(store_change, state, UNIT_NONE, "does more than one capture say so",
		.words = "confirmed|unconfirmed"),
	COLUMN(store_change, is_same_code, UNIT_NONE, "the listings are equal"),
	COLUMN(store_change, before, UNIT_CYCLES, "level before"),
	COLUMN(store_change, after, UNIT_CYCLES, "level after; of an unconfirmed one its value"),
	COLUMN(store_change, change, UNIT_CYCLES, "difference of the two"),
	COLUMN(store_change, change_pct, UNIT_PERCENT, "of the level before", .title = "change %",
		.csv = "change_pct", .digits = 2),
	PART(store_change, why, &why_record),
};
const struct record store_change_record = RECORD_OF(store_change, RECORD_BLOCK, change_columns);

static const struct column history_columns[] = {
	SERIES_COLUMNS(store_history),
	COLUMN(store_history, level, UNIT_CYCLES, "of the last stretch of time", NULLABLE),
	LIST(store_history, points, &store_point_record, "its captures in the order of time"),
	LIST(store_history, levels, &level_record, "stretches of time with one level"),
	LIST(store_history, changes, &store_change_record, "where the level changed"),
};
const struct record store_history_record = RECORD_OF(store_history, RECORD_BLOCK, history_columns);

static const struct column regression_columns[] = {
	SERIES_COLUMNS(store_regression),
	COLUMN(store_regression, is_open, UNIT_NONE, "the level of now is still above that before",
		.title = "open", .csv = "is_open"),
	PART(store_regression, change, &store_change_record),
};
const struct record store_regression_record =
	RECORD_OF(store_regression, RECORD_BLOCK, regression_columns);

static const struct column gate_columns[] = {
	SERIES_COLUMNS(store_gate),
	COLUMN(store_gate, verdict, UNIT_NONE, "no-claim: fewer than four captures before",
		.words = "passed|better|worse|no-claim"),
	COLUMN(store_gate, capture, UNIT_INDEX, "the newest capture"),
	COLUMN(store_gate, from, UNIT_INDEX, "the last one before the new; 0: there is none"),
	COLUMN(store_gate, captures_new, UNIT_COUNT, "new captures: the newest of one revision",
		.title = "new", .csv = "captures_new"),
	COLUMN(store_gate, revision, UNIT_NONE, "theirs", NULLABLE),
	COLUMN(store_gate, before, UNIT_CYCLES, "level before them", NULLABLE),
	COLUMN(store_gate, after, UNIT_CYCLES, "their median", NULLABLE),
	COLUMN(store_gate, change_pct, UNIT_PERCENT, "of the level before", NULLABLE,
		.title = "change %", .csv = "change_pct", .digits = 2),
	COLUMN(store_gate, limit_pct, UNIT_PERCENT, "a change beyond it is none of noise", NULLABLE,
		.title = "limit %", .csv = "limit_pct", .digits = 2),
	PART(store_gate, why, &why_record),
};
const struct record store_gate_record = RECORD_OF(store_gate, RECORD_BLOCK, gate_columns);

/* --- the figures of a series --- */

struct values {
	double *v;
	const struct store_entry **entry; /* those that have the figure */
	size_t n;
};

static bool take_values(const struct store_ask *x, const struct store_entry *v, size_t n,
	struct store_series *series, struct values *out)
{
	unsigned f = x->figure;

	if (f == STORE_FIGURES)
		f = v[n - 1].figure[STORE_DURATION] != NO_I64 ? STORE_DURATION : STORE_CYCLES;
	*series = (struct store_series){
		v->kernel, v->arch, v->evidence, v->labels, store_figures[f], 0, NAN, NAN};
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

static double percent(double part, double whole)
{
	return whole != 0 ? 100 * part / whole : NAN;
}

static void put_quoted(struct strbuf *b, const char *word)
{
	sb_puts(b, " '");
	for (; *word; word++)
		if (*word == '\'')
			sb_puts(b, "'\\''");
		else
			sb_putc(b, *word);
	sb_putc(b, '\'');
}

static bool explain(const struct store_ask *x, const struct store_pair *p, struct store_why *out,
	struct incore_error *e)
{
	struct strbuf b = {0};

	sb_puts(&b, "incore diff");
	put_quoted(&b, p->before->path);
	put_quoted(&b, p->after->path);
	out->command = b.failed ? NULL : arena_strndup(x->arena, b.p, b.n);
	sb_free(&b);
	if (!out->command)
		return err_nomem(e);
	return store_movers(x->store, p, x->arena, &out->movers, e);
}

/* --- history --- */

static const char *const marks[] = {"", "change", "outlier", "unconfirmed"};

static bool put_points(const struct store_ask *ask, const struct values *x, const struct history *h,
	struct store_history *out, struct incore_error *e)
{
	struct store_point *v = arena_zalloc(ask->arena, x->n + 1, sizeof(*v));
	struct store_level *levels = arena_zalloc(ask->arena, h->stretches.n + 1, sizeof(*levels));

	if (!v || !levels)
		return err_nomem(e);
	for (size_t k = 0; k < h->stretches.n; k++) {
		const struct history_stretch *t = &h->stretches.v[k];

		for (size_t i = t->first; i < t->first + t->n; i++)
			v[i] = (struct store_point){*x->entry[i], i, x->v[i], t->level,
				percent(x->v[i] - t->level, t->level), marks[h->marks[i]]};
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

/* The change that begins with a value: its levels are in *out. */
static bool put_change(const struct store_ask *x, const struct values *v, size_t at,
	struct store_change *out, struct incore_error *e)
{
	const struct store_entry *to = v->entry[at], *from = v->entry[at - 1];

	out->capture = to->capture;
	out->from = from->capture;
	out->index = at;
	out->at = to->at;
	out->time = to->time;
	out->revision = to->revision;
	out->is_same_code = strcmp(to->code, from->code) == 0;
	out->change = out->after - out->before;
	out->change_pct = percent(out->change, out->before);
	return explain(x, &(struct store_pair){from, to, out->change < 0, x->movers}, &out->why, e);
}

static bool put_changes(const struct store_ask *x, const struct values *v, const struct history *h,
	struct store_history *out, struct incore_error *e)
{
	struct store_change *c = arena_zalloc(x->arena, h->stretches.n + 1, sizeof(*c));
	size_t n = 0;
	bool ok = c != NULL;

	if (!c)
		return err_nomem(e);
	for (size_t k = 1; ok && k < h->stretches.n; k++, n++) {
		const struct history_stretch *t = &h->stretches.v[k];

		c[n] = (struct store_change){
			.before = t[-1].level, .after = t->level, .state = "confirmed"};
		ok = put_change(x, v, t->first, &c[n], e);
	}
	if (ok && v->n && h->marks[v->n - 1] == HISTORY_UNCONFIRMED) {
		c[n] = (struct store_change){
			.before = out->level, .after = v->v[v->n - 1], .state = "unconfirmed"};
		ok = put_change(x, v, v->n - 1, &c[n], e);
		n++;
	}
	out->changes = (struct rows){c, n};
	return ok;
}

bool store_history(const struct store_ask *x, const struct store_entry *v, size_t n,
	struct store_history *out, struct incore_error *e)
{
	struct values values;
	struct history h;
	bool ok;

	*out = (struct store_history){.level = NAN};
	if (!take_values(x, v, n, &out->series, &values))
		return err_nomem(e);
	ok = history_find(&h, values.v, values.n, &x->history, e) &&
	     put_points(x, &values, &h, out, e);
	out->series.noise = h.noise;
	out->series.noise_pct = percent(h.noise, out->level);
	ok = ok && put_changes(x, &values, &h, out, e);
	history_deinit(&h);
	return ok;
}

bool store_regressions(
	const struct store_history *h, const struct store_ask *x, bool is_all, regression_list *out)
{
	const struct store_change *v = h->changes.v;

	for (size_t i = 0; i < h->changes.n; i++) {
		double limit = history_limit(&x->history, h->series.noise, v[i].before, 1);
		bool is_last = strcmp(v[i].state, "unconfirmed") == 0;
		bool is_open = (is_last ? v[i].after : h->level) > v[i].before + limit;

		if (v[i].change > 0 && (is_open || is_all) &&
			!VEC_PUSH(out, (struct store_regression){h->series, v[i], is_open}))
			return false;
	}
	return true;
}

/* --- the gate --- */

static size_t count_new(const struct values *x)
{
	const char *last = x->n ? x->entry[x->n - 1]->revision : NULL;
	size_t n = x->n ? 1 : 0;

	while (last && n < x->n && x->entry[x->n - n - 1]->revision &&
		strcmp(x->entry[x->n - n - 1]->revision, last) == 0)
		n++;
	return n;
}

static void put_gate(struct store_gate *out, const struct history_gate *g)
{
	out->before = g->before;
	out->after = g->after;
	out->change_pct = percent(g->after - g->before, g->before);
	out->limit_pct = percent(g->limit, g->before);
	out->series.noise = g->noise;
	out->series.noise_pct = percent(g->noise, g->before);
}

bool store_gate(const struct store_ask *x, const struct store_entry *v, size_t n,
	struct store_gate *out, struct incore_error *e)
{
	static const char *const words[] = {"no-claim", "passed", "better", "worse"};
	const struct store_entry *last, *before;
	struct values values;
	struct history_gate g;
	size_t n_new;

	*out = (struct store_gate){.verdict = words[GATE_NO_CLAIM],
		.before = NAN,
		.after = NAN,
		.change_pct = NAN,
		.limit_pct = NAN};
	if (!take_values(x, v, n, &out->series, &values))
		return err_nomem(e);
	n_new = count_new(&values);
	if (!n_new)
		return true;
	if (!history_judge(&g, values.v, values.n, n_new, &x->history, e))
		return false;
	put_gate(out, &g);
	if (out->change_pct > x->most_pct)
		g.verdict = GATE_WORSE;
	last = values.entry[values.n - 1];
	before = n_new < values.n ? values.entry[values.n - n_new - 1] : NULL;
	out->capture = last->capture;
	out->revision = last->revision;
	out->captures_new = n_new;
	out->verdict = words[g.verdict];
	out->from = before ? before->capture : 0;
	return !before || g.verdict != GATE_WORSE ||
	       explain(x, &(struct store_pair){before, last, false, x->movers}, &out->why, e);
}
