/* SPDX-License-Identifier: Apache-2.0 */
/* store_common.c: shared by the verbs of `incore store`. */
#include <math.h>
#include <stdlib.h>

#include "answer/rows.h"
#include "cli/draw.h"
#include "cli/store/store_job.h"
#include "page/say.h"

static const struct column input_columns[] = {
	COLUMN_AS(text_item, v, "store", UNIT_NONE, "the store that was read"),
};
static const struct record input_record = RECORD_OF(text_item, RECORD_BLOCK, input_columns);
const struct record *const store_inputs[] = {&input_record, NULL};

const char *store_path(const struct cli *c)
{
	const char *given = cli_text(c, "store"), *set = getenv("INCORE_STORE");

	return given ? given : set && *set ? set : "incore.store";
}

const char *store_shown(const char *path, struct arena *a)
{
	char *shown = store_shown_path(path);
	const char *out = shown ? arena_strdup(a, shown) : NULL;

	mem_free(shown);
	return out;
}

bool store_job_open(struct store_job *j, struct cli *c)
{
	*j = (struct store_job){.c = c};
	arena_init(&j->arena);
	j->path = store_shown(store_path(c), &j->arena);
	if (!j->path)
		return err_nomem(&c->error);
	j->select.kernel = cli_text(c, "kernel");
	j->select.arch = cli_text(c, "arch");
	j->select.revision = cli_text(c, "revision");
	j->select.since = cli_text(c, "since");
	for (unsigned i = 0; i < cli_many(c, "label"); i++)
		if (!VEC_PUSH(&j->select.labels, cli_many_at(c, "label", i)))
			return err_nomem(&c->error);
	j->store = store_open(store_path(c), false, &c->error);
	return j->store && store_list(j->store, &j->select, &j->arena, &j->entries, &c->error);
}

void store_job_close(struct store_job *j)
{
	store_close(j->store);
	VEC_FREE(&j->entries.v);
	VEC_FREE(&j->select.labels);
	arena_deinit(&j->arena);
}

bool store_real(struct cli *c, const char *name, double *out)
{
	const char *text = cli_text(c, name);
	char *end = NULL;

	*out = NAN;
	if (!text)
		return true;
	*out = strtod(text, &end);
	if (end != text && !*end && isfinite(*out) && *out >= 0)
		return true;
	return err_set(
		&c->error, INCORE_USAGE, "bad-option", "--%s takes a number, not '%s'", name, text);
}

bool store_number(struct cli *c, const char *text, uint64_t *out)
{
	if (str_to_u64(str_of(text), out))
		return true;
	return err_set(&c->error, INCORE_USAGE, "bad-capture",
		"'%s' is not the number of a capture: incore store ls lists them", text);
}

bool store_job_rule(struct store_job *j)
{
	static const struct option_def figure = {.choices = STORE_FIGURE_CHOICES};
	const char *text = cli_text(j->c, "figure");
	struct store_ask *x = &j->ask;
	double floor_pct;

	*x = (struct store_ask){.store = j->store,
		.arena = &j->arena,
		.figure = STORE_FIGURES,
		.movers = (unsigned)(cli_count(j->c, "movers") < 100 ? cli_count(j->c, "movers")
								     : 100),
		.most_pct = NAN};
	for (unsigned i = 0; text && i < STORE_FIGURES; i++)
		if (str_is(option_choice(&figure, i), text))
			x->figure = i;
	if (!store_real(j->c, "sigmas", &x->history.sigmas) ||
		!store_real(j->c, "floor", &floor_pct))
		return false;
	x->history.floor = floor_pct / 100;
	return true;
}

bool store_job_json(struct cli *c, const char *path, const struct record *r, const void *value)
{
	return cli_json(c, &input_record, &(struct text_item){path}, r, value);
}

void store_say_series(struct cli *c, const struct store_series *s)
{
	say(c->out, "%s%s%s", s->kernel ? s->kernel : "(no name)", s->arch ? " on " : "",
		s->arch ? s->arch : "");
	say(c->out, ", %s%s%s: %s of %s", s->evidence, *s->labels ? ", " : "", s->labels, s->figure,
		COUNTED(s->captures, "capture"));
	if (isfinite(s->noise_pct))
		say(c->out, ", noise %.2f %%\n", s->noise_pct);
	else
		say(c->out, ", too few to tell noise from change\n");
}

void store_say_why(struct cli *c, const struct store_why *w)
{
	const struct store_mover *v = w->movers.v;

	for (size_t i = 0; i < w->movers.n; i++) {
		say(c->out, "    %+lld cycles  %s  %s", (long long)v[i].change, v[i].cause,
			v[i].isa ? v[i].isa : "(no instruction)");
		if (v[i].waits_for)
			say(c->out, "  <- %s", v[i].waits_for);
		say(c->out, "%s%s\n", v[i].line ? "  " : "", v[i].line ? v[i].line : "");
	}
	if (w->command)
		say(c->out, "    %s\n", w->command);
}

void store_say_acceptance(struct cli *c, const struct store_acceptance *a)
{
	say(c->out, "accepted %s by %s, %s up to %.0f of capture %llu: %s\n", a->time, a->who,
		a->figure, a->level, (unsigned long long)a->capture, a->because);
}

void store_say_accepted(struct cli *c, struct rows accepted)
{
	const struct store_acceptance *v = accepted.v;

	for (size_t i = 0; i < accepted.n; i++) {
		say(c->out, "  ");
		store_say_acceptance(c, &v[i]);
	}
}

void store_say_accepted_series(struct cli *c, struct rows accepted)
{
	const struct store_acceptance *v = accepted.v;

	for (size_t i = 0; i < accepted.n; i++) {
		say(c->out, "%s%s%s, %s%s%s\n  ", v[i].kernel ? v[i].kernel : "(no name)",
			v[i].arch ? " on " : "", v[i].arch ? v[i].arch : "", v[i].evidence,
			*v[i].labels ? ", " : "", v[i].labels);
		store_say_acceptance(c, &v[i]);
	}
}

void store_say_regression(struct cli *c, const struct store_regression *r)
{
	const struct store_change *x = &r->change;

	store_say_series(c, &r->series);
	say(c->out, "  %s%s%s: %s%+.2f %%%s since capture %llu (%s, revision %s), %s%s",
		style_on(c, r->is < STORE_ACCEPTED ? CELL_WARM : CELL_DIM), r->kind, style_off(c),
		style_on(c, CELL_BAD), x->change_pct, style_off(c), (unsigned long long)x->capture,
		x->time, x->revision ? x->revision : "-", x->state,
		x->is_same_code ? "" : ", other code");
	if (r->is != STORE_OVER && r->now != x->after)
		say(c->out, ", now %+.2f %%", r->cost_pct);
	say(c->out, "\n");
	if (r->accepted) {
		say(c->out, "    ");
		store_say_acceptance(c, r->accepted);
	}
	store_say_why(c, &x->why);
}
