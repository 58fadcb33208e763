/* SPDX-License-Identifier: Apache-2.0 */
/* store_common.c: shared by the verbs of `incore store`: opening, the rule, parts of pages. */
#include "verbs/store/store_verbs.h"

#include <math.h>
#include <stdlib.h>

const char *store_path(const struct store_params *p)
{
	const char *set = getenv("INCORE_STORE");

	return p->store ? p->store : set && *set ? set : "incore.store";
}

const char *store_shown(struct answer *a, const char *path, struct incore_error *e)
{
	char *shown = store_shown_path(path);
	const char *out = shown ? arena_strdup(&a->arena, shown) : NULL;

	mem_free(shown);
	if (!out)
		err_nomem(e);
	return out;
}

/* --- the rule --- */

static bool real_option(const char *name, const char *text, double *out, struct incore_error *e)
{
	char *end = NULL;

	*out = NAN;
	if (!text)
		return true;
	*out = strtod(text, &end);
	return (end != text && !*end && isfinite(*out) && *out >= 0) ||
	       err_set(e, INCORE_USAGE, "bad-option", "--%s takes a number, not '%s'", name, text);
}

static bool take_rule(struct store_job *j, struct incore_error *e)
{
	const struct store_params *p = j->p;
	struct store_ask *x = &j->ask;
	double floor_pct;

	*x = (struct store_ask){.store = j->store,
		.arena = &j->answer->arena,
		.figure = p->figure < STORE_FIGURES ? p->figure : STORE_FIGURES,
		.movers = (unsigned)(p->movers < 100 ? p->movers : 100),
		.is_new_alone = p->is_new_alone};
	if (!real_option("sigmas", p->sigmas, &x->history.sigmas, e) ||
		!real_option("floor", p->floor, &floor_pct, e) ||
		!real_option("max", p->max, &x->most_pct, e))
		return false;
	x->history.floor = floor_pct / 100;
	return true;
}

/* --- one request --- */

static void drop_entries(struct store_job *j)
{
	VEC_FREE(&j->entries.v);
}

static bool open_store(struct store_job *j, struct incore_error *e)
{
	const char *path = store_path(j->p);

	j->about->store = store_shown(j->answer, path, e);
	if (!j->about->store)
		return false;
	answer_about(j->answer, &store_input_record, j->about);
	j->store = store_open(path, false, e);
	return j->store && store_list(j->store, &j->p->select, &j->answer->arena, &j->entries, e) &&
	       take_rule(j, e);
}

bool store_answer(const struct request *r, struct answer *a,
	bool (*put)(struct store_job *j, struct incore_error *e), struct incore_error *e)
{
	struct store_job *j = ANSWER_NEW(a, store_job, e);
	bool ok;

	if (!j || !ANSWER_KEEP(a, j, drop_entries, e))
		return false;
	*j = (struct store_job){.request = r, .p = r->params, .answer = a};
	j->about = ANSWER_NEW(a, store_input, e);
	ok = j->about && open_store(j, e) && put(j, e);
	store_close(j->store);
	return ok;
}

bool store_capture_number(const char *text, uint64_t *out, struct incore_error *e)
{
	if (str_to_u64(str_of(text), out))
		return true;
	return err_set(e, INCORE_USAGE, "bad-capture",
		"'%s' is not the number of a capture: incore store ls lists them", text);
}

bool store_part(struct store_job *j, struct rows *rows, size_t row_size, struct incore_error *e)
{
	uint64_t from = j->p->from == NO_COUNT ? 0 : j->p->from;
	uint64_t most = request_top(j->request, UINT64_MAX, UINT64_MAX);

	if (from > rows->n)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--from expects a whole number up to %llu", (unsigned long long)rows->n);
	j->about->from = from;
	j->about->total = rows->n;
	rows->v = (const char *)rows->v + from * row_size;
	rows->n -= from;
	rows->n = rows->n < most ? rows->n : (size_t)most;
	return true;
}

/* --- parts of pages --- */

void store_page_series(struct page *p, const struct store_series *s)
{
	page_say(p, "%s%s%s, %s%s%s: %s of %s", s->kernel ? s->kernel : "(no name)",
		s->arch ? " on " : "", s->arch ? s->arch : "", s->evidence, *s->labels ? ", " : "",
		s->labels, s->figure, COUNTED(s->captures, "capture"));
	if (isfinite(s->noise_pct))
		page_line(p, ", noise %.2f %%", s->noise_pct);
	else
		page_line(p, ", too few to tell noise from change");
}

void store_page_why(struct page *p, const struct store_why *w)
{
	const struct store_mover *v = w->movers.v;

	for (size_t i = 0; i < w->movers.n; i++) {
		page_say(p, "    %+lld cycles  %s  %s", (long long)v[i].change, v[i].cause,
			v[i].isa ? v[i].isa : "(no instruction)");
		if (v[i].waits_for)
			page_say(p, "  <- %s", v[i].waits_for);
		page_line(p, "%s%s", v[i].line ? "  " : "", v[i].line ? v[i].line : "");
	}
	if (w->command)
		page_command(p, "    ", "%s", w->command);
}

/* "accepted 2026-11-08T10:00:00Z by me, cycles up to 8270032896 of capture 30: because" */
static void put_acceptance(struct page *p, const char *before, const struct store_acceptance *a)
{
	page_line(p, "%saccepted %s by %s, %s up to %.0f of capture %llu: %s", before, a->time,
		a->who, a->figure, a->level, (unsigned long long)a->capture, a->because);
}

void store_page_accepted(struct page *p, struct rows accepted)
{
	const struct store_acceptance *v = accepted.v;

	for (size_t i = 0; i < accepted.n; i++)
		put_acceptance(p, "  ", &v[i]);
}

void store_page_accepted_series(struct page *p, struct rows accepted)
{
	const struct store_acceptance *v = accepted.v;

	for (size_t i = 0; i < accepted.n; i++) {
		page_line(p, "%s%s%s, %s%s%s", v[i].kernel ? v[i].kernel : "(no name)",
			v[i].arch ? " on " : "", v[i].arch ? v[i].arch : "", v[i].evidence,
			*v[i].labels ? ", " : "", v[i].labels);
		put_acceptance(p, "  ", &v[i]);
	}
}

void store_page_regression(struct page *p, const struct store_regression *r)
{
	const struct store_change *x = &r->change;

	store_page_series(p, &r->series);
	page_say(p, "  %s%s%s: %s%+.2f %%%s since capture %llu (%s, revision %s), %s%s",
		style_mark(r->is < STORE_ACCEPTED ? CELL_WARM : CELL_DIM), r->kind, style_mark_end,
		style_mark(CELL_BAD), x->change_pct, style_mark_end, (unsigned long long)x->capture,
		x->time, x->revision ? x->revision : "-", x->state,
		x->is_same_code ? "" : ", other code");
	if (r->is != STORE_OVER && r->now != x->after)
		page_say(p, ", now %+.2f %%", r->cost_pct);
	page_line(p, "%s", "");
	if (r->accepted)
		put_acceptance(p, "    ", r->accepted);
	store_page_why(p, &x->why);
}
