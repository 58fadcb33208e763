/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_screen.c: the sentences of the first screen about the best changes, of all captures. */
#include "answer/verdict/verdict.h"

#define ELSE_LEAST 2 /* per cent: a second change is named from this gain on */

bool verdict_keep(struct answer *a, struct strbuf *b, const char **out, struct incore_error *e)
{
	*out = answer_text(a, b, e);
	*b = (struct strbuf){0};
	return *out != NULL;
}

static void say_us(double us, struct strbuf *b)
{
	sb_printf(b, us < 10 ? "%.2f" : us < 100 ? "%.1f" : "%.0f", us);
}

static void say_time(
	const struct verdict_answer *to, double pct, const char *unit, struct strbuf *b)
{
	if (isfinite(to->us))
		say_us(to->us * (1 - pct / 100), b);
	else
		sb_printf(b, "%.0f", to->cycles * (1 - pct / 100));
	sb_puts(b, unit);
}

static const char *unit_words(const char *code)
{
	for (unsigned u = 0; u < MACHINE_UNITS; u++)
		if (strcmp(machine_unit_code(u), code) == 0)
			return machine_unit_name(u);
	return code;
}

static void say_gain(const struct verdict_answer *to, struct strbuf *b)
{
	const struct verdict_change_row *r = to->changes.v;

	if (!isfinite(r->pct)) {
		sb_puts(b, "not known: this capture cannot be timed with the change");
		return;
	}
	sb_printf(b, "%.0f %% (%.0f to %.0f)", r->pct, r->least_pct, r->most_pct);
	if (isfinite(to->cycles)) {
		sb_puts(b, ": ");
		say_time(to, 0, isfinite(to->us) ? " us -> " : " cycles -> ", b);
		say_time(to, r->pct, " (", b);
		say_time(to, r->most_pct, " to ", b);
		say_time(to, r->least_pct, ")", b);
	}
	if (r->next)
		sb_printf(b, "; next bound: %s", unit_words(r->next));
}

static void say_at(const struct verdict_change_row *r, struct strbuf *b)
{
	struct str source = str_of(r->where->source ? r->where->source : "");

	source = str_sub(source, (size_t)(str_rfind_char(source, '/') + 1), source.n);
	if (source.n)
		sb_printf(b, "%.*s  ", STR_ARG(source));
	sb_printf(b, "row %lld  %s", (long long)r->where->row, r->where->isa);
	if (r->waits_for)
		sb_printf(b, ", for row %lld  %s", (long long)r->waits_for->row, r->waits_for->isa);
}

static void say_sure(const struct verdict_change_row *r, struct strbuf *b)
{
	const char *why = strcmp(r->basis, "cause") == 0   ? "the cause is a count, not an estimate"
			  : strcmp(r->basis, "waste") == 0 ? "the waste is counted"
			  : strcmp(r->basis, "replay") == 0
				  ? "the capture was timed again with the change"
				  : "the algorithm may not have this parallelism";

	sb_printf(b, "%s: %s; interval of %.0f points", r->sure, why, r->most_pct - r->least_pct);
}

static bool say_first(struct answer *a, struct verdict_answer *to, struct incore_error *e)
{
	const struct verdict_change_row *v = to->changes.v;
	struct verdict_screen *s = &to->screen;
	struct strbuf b = {0};

	sb_printf(&b, "%s: %s%s%s%s", v->counted, v->change, v->step ? " (" : "",
		v->step ? v->step : "", v->step ? ")" : "");
	if (!verdict_keep(a, &b, &s->change, e))
		return false;
	say_gain(to, &b);
	if (!verdict_keep(a, &b, &s->gain, e))
		return false;
	if (isfinite(v->pct))
		say_sure(v, &b);
	else
		sb_puts(&b, "low: a rule found it, and nothing was computed");
	if (!verdict_keep(a, &b, &s->sure, e))
		return false;
	if (!v->where)
		return true;
	say_at(v, &b);
	return verdict_keep(a, &b, &s->at, e);
}

bool verdict_put_first(struct answer *a, struct verdict_answer *to, struct incore_error *e)
{
	const struct verdict_change_row *v = to->changes.v;
	struct strbuf b = {0};

	if (!to->changes.n) {
		to->screen.change = to->is_counted
					    ? "nothing here is wasted: only less work helps"
					    : "no rule has anything to say about this capture";
		return true;
	}
	if (!say_first(a, to, e))
		return false;
	if (to->changes.n < 2 || !(v[1].pct >= ELSE_LEAST))
		return true;
	sb_printf(&b, "%s, %.0f %% (%.0f to %.0f)", v[1].change, v[1].pct, v[1].least_pct,
		v[1].most_pct);
	return verdict_keep(a, &b, &to->screen.other, e);
}
