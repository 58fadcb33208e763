/* SPDX-License-Identifier: Apache-2.0 */
/* diff_gate.c: parses, checks and explains conditions on a diff. */
#include "analysis/diff/diff_gate.h"

#include <math.h>
#include <stdlib.h>

static bool bad_gate(const char *text, const char *at, const char *want, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "bad-gate",
		"--gate '%s': expected %s at character %zu; a gate reads like 'stall_per_hit<+5%%'",
		text, want, (size_t)(at - text) + 1);
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

static bool is_metric_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool parse_op(const char **p, enum gate_op *op)
{
	bool is_less = **p == '<';

	if (!is_less && **p != '>')
		return false;
	(*p)++;
	*op = is_less ? GATE_LT : GATE_GT;
	if (**p == '=') {
		(*p)++;
		*op = is_less ? GATE_LE : GATE_GE;
	}
	return true;
}

/* Digits with an optional fraction: no locale, no exponent, no inf. */
static bool parse_number(const char **p, double *out)
{
	double v = 0, unit = 1;
	const char *start = *p;
	unsigned n = 0;

	for (; **p >= '0' && **p <= '9' && n < 15; (*p)++, n++)
		v = v * 10 + (**p - '0');
	if (**p == '.')
		for ((*p)++; **p >= '0' && **p <= '9' && n < 15; (*p)++, n++) {
			unit /= 10;
			v += unit * (**p - '0');
		}
	*out = v;
	return n > 0 && *p > start && !(**p >= '0' && **p <= '9');
}

bool gate_parse(struct gate *g, const char *text, struct incore_error *e)
{
	const char *p = skip_blanks(text), *name = p;
	char sign = 0;
	bool is_pct;
	size_t n;

	while (is_metric_char(*p))
		p++;
	n = (size_t)(p - name);
	if (!n || n >= sizeof(g->metric))
		return bad_gate(text, name, "the name of a value", e);
	*g = (struct gate){.text = text};
	memcpy(g->metric, name, n);
	p = skip_blanks(p);
	if (!parse_op(&p, &g->op))
		return bad_gate(text, p, "<, <=, > or >=", e);
	p = skip_blanks(p);
	if (*p == '+' || *p == '-')
		sign = *p++;
	if (!parse_number(&p, &g->limit))
		return bad_gate(text, p, "a number", e);
	p = skip_blanks(p);
	is_pct = *p == '%';
	p = skip_blanks(p + is_pct);
	if (*p)
		return bad_gate(text, p, "the end", e);
	g->limit = sign == '-' ? -g->limit : g->limit;
	g->kind = !sign ? GATE_VALUE : is_pct ? GATE_CHANGE_PCT : GATE_CHANGE;
	if (!sign && is_pct) {
		g->limit /= 100;
		if (!strstr(g->metric, "_share"))
			return bad_gate(text, text, "a share (or a sign before the percentage)", e);
	}
	return true;
}

static const struct diff_value *find_value(const struct diff *d, const char *name)
{
	for (uint32_t i = 0; i < d->n_values; i++)
		if (strcmp(d->values[i].name, name) == 0)
			return &d->values[i];
	return NULL;
}

static bool unknown_metric(const struct gate *g, const struct diff *d, struct incore_error *e)
{
	struct strbuf names = {0};

	for (uint32_t i = 0; i < d->n_values; i++)
		sb_printf(&names, "%s%s", i ? ", " : "", d->values[i].name);
	err_set(e, INCORE_USAGE, "bad-gate", "--gate '%s': no value '%s'; there are %s", g->text,
		g->metric, names.p ? names.p : "none");
	sb_free(&names);
	return false;
}

static bool holds(enum gate_op op, double x, double limit)
{
	switch (op) {
	case GATE_LT:
		return x < limit;
	case GATE_LE:
		return x <= limit;
	case GATE_GT:
		return x > limit;
	case GATE_GE:
		return x >= limit;
	}
	return false;
}

bool gate_check(
	const struct gate *g, const struct diff *d, struct gate_result *out, struct incore_error *e)
{
	const struct diff_value *v = find_value(d, g->metric);
	struct gate_result r = {.gate = g, .value = v, .limit = g->limit};

	if (!v)
		return unknown_metric(g, d, e);
	if (!v->is_known)
		return err_set(e, INCORE_BAD_INPUT, "not-comparable",
			"--gate '%s': the captures do not contain %s", g->text, g->metric);
	if (g->kind == GATE_CHANGE_PCT && v->a == 0 && v->b != 0)
		return err_set(e, INCORE_BAD_INPUT, "not-comparable",
			"--gate '%s': %s is 0 in the first capture, a change in percent has no meaning",
			g->text, g->metric);
	r.got = g->kind == GATE_VALUE ? v->b : g->kind == GATE_CHANGE ? v->change : v->change_pct;
	r.noise = d->options->noise_factor * (g->kind == GATE_CHANGE_PCT ? v->noise_pct : v->noise);
	r.is_passed = holds(g->op, r.got, r.limit);
	if (!r.is_passed && d->has_noise && g->kind != GATE_VALUE && fabs(r.got) <= r.noise)
		r.is_passed = r.is_saved_by_noise = true;
	*out = r;
	return true;
}

static const char *op_text(enum gate_op op)
{
	static const char *const names[] = {"<", "<=", ">", ">="};

	return names[op];
}

bool gate_put(const struct gate_result *r, const struct diff *d, struct strbuf *out)
{
	const struct gate *g = r->gate;
	const struct diff_value *v = r->value;
	double by = v->is_share ? 100 : 1;
	const char *unit = v->is_share ? " %" : "";

	sb_printf(out, "%s: %s %.3f%s -> %.3f%s (%+.2f %%), limit %s ",
		r->is_passed ? "passed" : "FAILED", v->name, by * v->a, unit, by * v->b, unit,
		v->change_pct, op_text(g->op));
	if (g->kind == GATE_CHANGE_PCT)
		sb_printf(out, "%+g %%", r->limit);
	else if (g->kind == GATE_CHANGE)
		sb_printf(out, "%+g", r->limit);
	else
		sb_printf(out, "%g%s", by * r->limit, unit);
	if (!d->has_noise)
		sb_puts(out, "; no repeat: noise unknown");
	else
		sb_printf(out, "; noise %.3f%s (%.2f %%)", by * v->noise, unit, v->noise_pct);
	if (r->is_saved_by_noise)
		sb_puts(out, ": beyond the limit but within the noise");
	return !out->failed;
}
