/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_screen.c: the first screen, of all captures: its lines, what makes a sentence fit into
 * them, the sentences about the best changes, the first line and the last.
 */
#include "answer/verdict/verdict.h"

#define ELSE_LEAST 2 /* per cent: a second change is named from this gain on */
#define CHANGE_LINES 3u
#define TEXT_WIDTH (VERDICT_WIDTH - VERDICT_HEAD)

/* --- lines ------------------------------------------------------------------------------------ */

struct verdict_line verdict_line(const struct verdict_screen *s, unsigned i)
{
	const struct verdict_line lines[VERDICT_LINES] = {{"Bound by", s->bound_by},
		{"Of peak", s->of_peak}, {"Waits", s->waits}, {"At", s->at}, {"Change", s->change},
		{"Gain", s->gain}, {"Sure", s->sure}, {"Noise", s->noise}, {"Else", s->other},
		{"Health", s->health}, {"Missing", s->missing}};

	return lines[i];
}

/* Code points, as the writer of pages counts columns. */
static unsigned width_of(struct str s)
{
	unsigned n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

/* Lines that a text takes beside its head, broken at blanks. */
static unsigned lines_of(struct str rest)
{
	unsigned n = 1, column = 0;
	struct str word;

	while (str_cut(&rest, " ", &word)) {
		unsigned w = width_of(word);

		if (column && column + 1 + w > TEXT_WIDTH) {
			n++;
			column = w;
		} else {
			column += w + (column > 0);
		}
	}
	return n;
}

/* Where the last clause of a text begins, behind the first so many bytes; 0: it has only one. */
static size_t last_clause(struct str s, size_t from)
{
	unsigned depth = 0;

	for (size_t i = s.n - 1; s.n && i > from; i--) {
		bool is_end = strchr(",;:", s.p[i]) && i + 1 < s.n && s.p[i + 1] == ' ';

		depth += s.p[i] == ')';
		if (s.p[i] == '(' && depth)
			depth--;
		if (!depth && is_end)
			return i;
		if (!depth && s.p[i] == ' ' && s.p[i + 1] == '(')
			return i;
	}
	return 0;
}

/* Takes clauses off the end of b until the text has at most so many lines or is one clause. */
static void shorten(struct strbuf *b, unsigned lines, size_t from)
{
	while (!b->failed && b->n && lines_of((struct str){b->p, b->n}) > lines) {
		size_t at = last_clause((struct str){b->p, b->n}, from);

		if (!at)
			return;
		b->n = at;
		b->p[at] = 0;
	}
}

bool verdict_keep(struct answer *a, struct strbuf *b, const char **out, struct incore_error *e)
{
	*out = answer_text(a, b, e);
	*b = (struct strbuf){0};
	return *out != NULL;
}

bool verdict_keep_lines(struct answer *a, struct strbuf *b, unsigned lines, const char **out,
	struct incore_error *e)
{
	shorten(b, lines, 0);
	return verdict_keep(a, b, out, e);
}

/* The first of the texts that fits into a line, else the last; frees the others. */
static void first_that_fits(struct strbuf *texts, unsigned n, struct strbuf *out)
{
	unsigned best = 0;

	while (best + 1 < n &&
		(!texts[best].n || lines_of((struct str){texts[best].p, texts[best].n}) > 1))
		best++;
	*out = texts[best];
	for (unsigned i = 0; i < n; i++) {
		out->failed |= texts[i].failed;
		if (i != best)
			sb_free(&texts[i]);
	}
}

/* --- changes ---------------------------------------------------------------------------------- */

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

static void say_gain_with(const struct verdict_answer *to, const char *next, struct strbuf *b)
{
	const struct verdict_change_row *r = to->changes.v;

	sb_printf(b, "%.0f %% (%.0f to %.0f)", r->pct, r->least_pct, r->most_pct);
	if (isfinite(to->cycles)) {
		sb_puts(b, ": ");
		say_time(to, 0, isfinite(to->us) ? " us -> " : " cycles -> ", b);
		say_time(to, r->pct, " (", b);
		say_time(to, r->most_pct, " to ", b);
		say_time(to, r->least_pct, ")", b);
	}
	if (next && r->next)
		sb_printf(b, "%s%s", next, unit_words(r->next));
}

static void say_gain(const struct verdict_answer *to, struct strbuf *b)
{
	const struct verdict_change_row *r = to->changes.v;
	struct strbuf texts[3] = {{0}};

	if (!isfinite(r->pct)) {
		sb_printf(b, "not known: %s",
			r->no_gain ? r->no_gain : "this capture cannot be timed with the change");
		shorten(b, 1, 0);
		return;
	}
	say_gain_with(to, "; next bound: ", &texts[0]);
	say_gain_with(to, "; next: ", &texts[1]);
	say_gain_with(to, NULL, &texts[2]);
	first_that_fits(texts, 3, b);
}

enum at_detail { AT_ALL, AT_SHORT_PRODUCER, AT_SHORT, AT_ROW, AT_NO_FILE, AT_DETAILS };

/* Bytes of an instruction up to the end of its opcode, behind the guard. */
static int opcode_end(const char *isa)
{
	size_t guard = *isa == '@' ? strcspn(isa, " ") : 0;

	guard += strspn(isa + guard, " ");
	return (int)(guard + strcspn(isa + guard, " "));
}

/* "pairs.cu:21  row 171  LDS.128 R8, [R2+0x20], for row 160  LDG R2, ...", or less of it. */
static void say_at_with(const struct verdict_change_row *r, enum at_detail detail, struct strbuf *b)
{
	struct str source = str_of(r->where->source ? r->where->source : "");
	const char *isa = r->where->isa;

	source = str_sub(source, (size_t)(str_rfind_char(source, '/') + 1), source.n);
	if (source.n && detail < AT_NO_FILE)
		sb_printf(b, "%.*s  ", STR_ARG(source));
	sb_printf(b, "row %lld  %.*s", (long long)r->where->row,
		detail < AT_SHORT ? (int)strlen(isa) : opcode_end(isa), isa);
	if (r->waits_for && detail < AT_ROW) {
		isa = r->waits_for->isa;
		sb_printf(b, ", for row %lld  %.*s", (long long)r->waits_for->row,
			detail < AT_SHORT_PRODUCER ? (int)strlen(isa) : opcode_end(isa), isa);
	}
}

static void say_at(const struct verdict_change_row *r, struct strbuf *b)
{
	struct strbuf texts[AT_DETAILS] = {{0}};

	for (unsigned i = 0; i < AT_DETAILS; i++)
		say_at_with(r, (enum at_detail)i, &texts[i]);
	first_that_fits(texts, AT_DETAILS, b);
}

static void say_sure(const struct verdict_change_row *r, struct strbuf *b)
{
	const char *why = strcmp(r->basis, "cause") == 0   ? "the cause is a count, not an estimate"
			  : strcmp(r->basis, "waste") == 0 ? "the waste is counted"
			  : strcmp(r->basis, "replay") == 0
				  ? "timed again with the change"
				  : "the algorithm may not have this parallelism";

	sb_printf(b, "%s: %s; interval of %.0f points", r->sure, why, r->most_pct - r->least_pct);
}

/* What was counted, what to do, for which step; alternatives at the end of what to do go if the
 * whole is too long. */
static void say_change(const struct verdict_change_row *v, struct strbuf *b)
{
	struct strbuf words = {0};

	sb_puts(&words, v->change);
	for (;;) {
		size_t at;

		sb_reset(b);
		sb_printf(b, "%s: %s", v->counted, words.p ? words.p : "");
		if (v->step)
			sb_printf(b, " (%s)", v->step);
		at = words.n ? last_clause((struct str){words.p, words.n}, 0) : 0;
		if (!at || b->failed || lines_of((struct str){b->p, b->n}) <= CHANGE_LINES)
			break;
		words.n = at;
		words.p[at] = 0;
	}
	b->failed |= words.failed;
	sb_free(&words);
}

static bool say_first(struct answer *a, struct verdict_answer *to, struct incore_error *e)
{
	const struct verdict_change_row *v = to->changes.v;
	struct verdict_screen *s = &to->screen;
	struct strbuf b = {0};

	say_change(v, &b);
	if (!verdict_keep(a, &b, &s->change, e))
		return false;
	say_gain(to, &b);
	if (!verdict_keep(a, &b, &s->gain, e))
		return false;
	if (isfinite(v->pct))
		say_sure(v, &b);
	else
		sb_puts(&b, "low: a rule found it, and nothing was computed");
	if (!verdict_keep_lines(a, &b, 1, &s->sure, e))
		return false;
	if (!v->where)
		return true;
	say_at(v, &b);
	return verdict_keep(a, &b, &s->at, e);
}

/* "9 % (2 to 17): what to do", or the name of the rule where no part of that fits. */
static void say_other(const struct verdict_change_row *v, struct strbuf *b)
{
	struct strbuf texts[2] = {{0}};

	for (unsigned i = 0; i < 2; i++) {
		size_t from;

		sb_printf(&texts[i], "%.0f %% (%.0f to %.0f): ", v->pct, v->least_pct, v->most_pct);
		from = texts[i].n;
		sb_puts(&texts[i], i ? v->rule : v->change);
		shorten(&texts[i], 1, from);
	}
	first_that_fits(texts, 2, b);
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
	say_other(&v[1], &b);
	return verdict_keep(a, &b, &to->screen.other, e);
}

/* --- the first line and the last -------------------------------------------------------------- */

/* A name that does not fit is shown without the arguments of its templates. */
static void say_kernel(const char *name, unsigned room, struct strbuf *b)
{
	bool is_short = width_of(str_of(name)) <= room;
	unsigned depth = 0;

	for (const char *p = name; *p; p++) {
		bool opens = *p == '<' && p > name && p[-1] != ' ' && p[-1] != '<';

		if (is_short || (!depth && !opens))
			sb_putc(b, *p);
		else if (!depth)
			sb_puts(b, "<...>");
		depth += *p == '<';
		depth -= *p == '>' && depth;
	}
}

static void say_launch(const struct verdict_answer *to, struct strbuf *b)
{
	if (isfinite(to->us))
		sb_printf(b, to->us < 1 ? "%.3f us" : to->us < 10 ? "%.2f us" : "%.1f us", to->us);
	else if (isfinite(to->cycles))
		sb_printf(b, "%s cycles", U64_TEXT((uint64_t)to->cycles));
	if (to->size)
		sb_printf(b, "%s%s", b->n ? "  " : "", to->size);
}

bool verdict_put_frame(
	struct answer *a, const char *health, struct verdict_answer *to, struct incore_error *e)
{
	struct verdict_screen *s = &to->screen;
	unsigned room = VERDICT_WIDTH;
	struct strbuf b = {0};

	say_launch(to, &b);
	if (b.n) {
		room -= width_of((struct str){b.p, b.n}) + 2;
		if (!verdict_keep(a, &b, &s->launch, e))
			return false;
	}
	say_kernel(to->kernel, room, &b);
	if (!verdict_keep(a, &b, &s->kernel, e))
		return false;
	sb_puts(&b, health);
	if (!verdict_keep_lines(a, &b, 1, &s->health, e))
		return false;
	if (!to->missing)
		return true;
	sb_puts(&b, to->missing);
	return verdict_keep_lines(a, &b, 1, &s->missing, e);
}
