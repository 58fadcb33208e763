/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_plan.c: what is to be changed: rows named by numbers, lines, classes, opcodes and stall
 * reasons, and what becomes of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "analysis/whatif/whatif_internal.h"
#include "base/mem.h"
#include "base/search.h"
#include "trace/kind.h"

/* --- plans ------------------------------------------------------------------------------------ */

struct whatif_plan *whatif_plan_new(const struct trace *t, struct incore_error *e)
{
	struct whatif_plan *p = mem_zalloc(1, sizeof(*p));

	if (p) {
		p->rows = mem_zalloc((size_t)t->n_code + 1, sizeof(*p->rows));
		p->reasons = mem_zalloc((size_t)t->n_reasons + 1, sizeof(*p->reasons));
	}
	if (!p || !p->rows || !p->reasons) {
		whatif_plan_free(p);
		return err_nomem_null(e);
	}
	p->trace = t;
	for (size_t i = 0; i <= t->n_code; i++)
		p->rows[i].faster_milli = WHATIF_PLAIN;
	for (size_t i = 0; i <= t->n_reasons; i++)
		p->reasons[i].faster_milli = WHATIF_PLAIN;
	return p;
}

void whatif_plan_free(struct whatif_plan *p)
{
	if (p) {
		mem_free(p->rows);
		mem_free(p->reasons);
	}
	mem_free(p);
}

static void change(struct whatif_row *r, const struct whatif_row *to)
{
	r->is_removed |= to->is_removed;
	r->is_even |= to->is_even;
	r->ahead = to->ahead ? to->ahead : r->ahead;
	r->sooner_cyc = to->sooner_cyc ? to->sooner_cyc : r->sooner_cyc;
	r->like = to->like ? to->like : r->like;
	if (to->faster_milli != WHATIF_PLAIN)
		r->faster_milli = to->faster_milli;
}

static bool is_changed(const struct whatif_row *r)
{
	return r->is_removed || r->is_even || r->ahead || r->sooner_cyc || r->like ||
	       r->faster_milli != WHATIF_PLAIN;
}

void whatif_change_row(struct whatif_plan *p, code_idx row, const struct whatif_row *to)
{
	p->n_rows += !is_changed(&p->rows[row]);
	change(&p->rows[row], to);
}

void whatif_change_reason(struct whatif_plan *p, uint32_t reason, const struct whatif_row *to)
{
	change(&p->reasons[reason], to);
}

struct whatif_plan *whatif_plan_other(const struct whatif_plan *p,
	void (*make)(struct whatif_row *r, uint32_t arg), uint32_t arg, struct incore_error *e)
{
	struct whatif_plan *q = whatif_plan_new(p->trace, e);

	if (!q)
		return NULL;
	q->waves = p->waves;
	for (size_t i = 0; i <= p->trace->n_code; i++) {
		q->rows[i] = p->rows[i];
		make(&q->rows[i], arg);
		q->n_rows += i < p->trace->n_code && is_changed(&q->rows[i]);
	}
	for (size_t i = 0; i <= p->trace->n_reasons; i++) {
		q->reasons[i] = p->reasons[i];
		make(&q->reasons[i], arg);
	}
	return q;
}

bool whatif_any_row(const struct whatif_plan *p,
	bool (*is)(const struct whatif_row *r, uint32_t arg), uint32_t arg)
{
	for (size_t i = 0; i < p->trace->n_code; i++)
		if (is(&p->rows[i], arg))
			return true;
	for (size_t i = 0; i < p->trace->n_reasons; i++)
		if (is(&p->reasons[i], arg))
			return true;
	return false;
}

/* --- words for rows --------------------------------------------------------------------------- */

/* Words for several classes at once. */
static const struct {
	const char *word;
	uint64_t classes;
} families[] = {
	{"VMEM", 1u << CLASS_VMEM_LOAD | 1u << CLASS_VMEM_STORE | 1u << CLASS_VMEM_ATOMIC |
			 1u << CLASS_VMEM_TO_LDS},
	{"MEMORY", 1u << CLASS_VMEM_LOAD | 1u << CLASS_VMEM_STORE | 1u << CLASS_VMEM_ATOMIC |
			   1u << CLASS_VMEM_TO_LDS | 1u << CLASS_LDS | 1u << CLASS_LDS_XLANE |
			   1u << CLASS_SMEM | 1u << CLASS_MTE},
	{"COMPUTE", 1u << CLASS_MATRIX | 1u << CLASS_TRANS | 1u << CLASS_VALU | 1u << CLASS_CUBE |
			    1u << CLASS_VECTOR},
};

static uint64_t classes_of(struct str word)
{
	for (unsigned i = 0; i < CLASS_COUNT; i++) {
		const char *name = class_name((enum inst_class)i);

		if (strlen(name) == word.n && strncasecmp(name, word.p, word.n) == 0)
			return UINT64_C(1) << i;
	}
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strlen(families[i].word) == word.n &&
			strncasecmp(families[i].word, word.p, word.n) == 0)
			return families[i].classes;
	return 0;
}

/* Does a place of the inline chain equal the line, or end in it after a slash? */
static bool is_line(const struct code_row *r, struct str line)
{
	const char *at = r->source ? r->source : "";

	while (line.n && *at) {
		const char *arrow = strstr(at, " -> ");
		size_t n = arrow ? (size_t)(arrow - at) : strlen(at);

		if (n >= line.n && memcmp(at + n - line.n, line.p, line.n) == 0 &&
			(n == line.n || at[n - line.n - 1] == '/'))
			return true;
		at += arrow ? n + 4 : n;
	}
	return false;
}

/* "LDG" is LDG, LDG.E and LDG.E.64; "buffer_load" is buffer_load_dwordx4. */
static bool is_opcode(const struct trace *t, const struct code_row *r, struct str word)
{
	const char *op = t->opcodes[r->opcode];
	char next = word.n && strncasecmp(op, word.p, word.n) == 0 ? op[word.n] : 'x';

	return next == '\0' || next == '.' || next == '_';
}

enum named { NAMED_OPCODE = 1, NAMED_ANYHOW = 3 };

static uint32_t change_named(
	struct whatif_plan *p, struct str word, enum named named, const struct whatif_row *to)
{
	const struct trace *t = p->trace;
	const uint64_t classes = named == NAMED_ANYHOW ? classes_of(word) : 0;
	uint32_t n = 0;

	for (uint32_t i = 0; named == NAMED_ANYHOW && i < t->n_reasons; i++)
		if (str_is(word, t->reasons[i])) {
			whatif_change_reason(p, i, to);
			return 1;
		}
	for (code_idx i = 0; word.n && i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		bool is = classes ? classes >> (r->inst_class & 63u) & 1
				  : (named == NAMED_ANYHOW && is_line(r, word)) ||
					    is_opcode(t, r, word);

		if (r->is_label || !is)
			continue;
		whatif_change_row(p, i, to);
		n++;
	}
	return n;
}

/* --- lists of rows ---------------------------------------------------------------------------- */

struct row_range {
	uint64_t first, last;
};
struct row_place {
	int64_t number;
	code_idx code;
};

ORDER(by_first, struct row_range, UP(first) DOWN(last))
ORDER(by_number, struct row_place, UP(number) UP(code))

struct row_list { /* of a target: ranges of rows; and the rows that there are */
	VEC(struct row_range) ranges;
	VEC(struct row_place) places;
};

static bool list_places(const struct trace *t, struct row_list *l)
{
	for (code_idx i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label &&
			!VEC_PUSH(&l->places, (struct row_place){t->code[i].number, i}))
			return false;
	SORT(l->places.v, l->places.n, by_number);
	return true;
}

/* "7" or "12-15". */
static bool parse_range(struct str part, struct row_range *out)
{
	struct str first;

	if (!str_cut(&part, "-", &first) || !str_to_u64(first, &out->first))
		return false;
	out->last = out->first;
	return (!part.n || str_to_u64(part, &out->last)) && out->first <= out->last &&
	       out->last < INT64_MAX;
}

static bool bad_target(struct str word, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "bad-target",
		"'%.*s' is not a row, range of rows, line, class, opcode or stall reason of this kernel",
		STR_ARG(word));
}

/* Each range names a row at least; rows are changed once, however ranges overlap. */
static bool change_ranges(struct whatif_plan *p, struct row_list *l, const struct whatif_row *to,
	struct incore_error *e)
{
	uint64_t next = 0;

	if (!l->ranges.n)
		return true;
	if (!list_places(p->trace, l))
		return err_nomem(e);
	SORT(l->ranges.v, l->ranges.n, by_first);
	EACH (const struct row_range, r, l->ranges.v, l->ranges.n) {
		uint64_t from = r->first > next ? r->first : next;
		size_t lo = 0, hi = l->places.n;

		BISECT(lo, hi, i, l->places.v[i].number < (int64_t)r->first);
		if (lo == l->places.n || l->places.v[lo].number > (int64_t)r->last) {
			char text[48];

			snprintf(text, sizeof(text), "%llu", (unsigned long long)r->first);
			return bad_target(str_of(text), e);
		}
		hi = l->places.n;
		BISECT(lo, hi, i, l->places.v[i].number < (int64_t)from);
		for (; lo < l->places.n && l->places.v[lo].number <= (int64_t)r->last; lo++)
			whatif_change_row(p, l->places.v[lo].code, to);
		next = r->last + 1 > next ? r->last + 1 : next;
	}
	return true;
}

/* A file's name may hold a comma: the whole word first, then its parts. */
static bool apply(struct whatif_plan *p, struct str word, enum named named,
	const struct whatif_row *to, struct incore_error *e)
{
	struct row_list l = {0};
	struct row_range r;
	struct str part;
	bool ok = true;

	if (!parse_range(word, &r) && change_named(p, word, named, to))
		return true;
	if (!word.n)
		return bad_target(word, e);
	for (struct str rest = word; ok && str_cut(&rest, ",", &part);)
		if (named == NAMED_ANYHOW && parse_range(part, &r))
			ok = VEC_PUSH(&l.ranges, r) || err_nomem(e);
		else
			ok = change_named(p, part, named, to) || bad_target(part, e);
	ok = ok && change_ranges(p, &l, to, e);
	VEC_FREE(&l.ranges);
	VEC_FREE(&l.places);
	return ok;
}

void whatif_put_targets(const struct whatif_plan *p, struct strbuf *out)
{
	const struct trace *t = p->trace;
	uint64_t classes = 0;
	const char *between = "";

	for (code_idx i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label)
			classes |= UINT64_C(1) << (t->code[i].inst_class & 63u);
	for (unsigned i = 0; i < CLASS_COUNT; i++)
		if (classes >> i & 1) {
			sb_printf(out, "%s%s", between, class_name((enum inst_class)i));
			between = ", ";
		}
	for (uint32_t i = 0; i < t->n_reasons; i++) {
		sb_printf(out, "%s%s", between, t->reasons[i]);
		between = ", ";
	}
}

/* --- what becomes of them --------------------------------------------------------------------- */

static bool parse_factor(struct str s, uint32_t *milli)
{
	char text[32], *end;
	double k;

	if (s.n == 3 && memcmp(s.p, "inf", 3) == 0) {
		*milli = WHATIF_AT_ONCE;
		return true;
	}
	if (s.n == 0 || s.n >= sizeof(text) || s.p[0] < '0' || s.p[0] > '9')
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	k = strtod(text, &end);
	if (*end || !(k >= 0.01 && k <= 1e6))
		return false;
	*milli = (uint32_t)(k * 1000 + 0.5);
	return true;
}

/* Splits "WHAT=NUMBER": returns the first part; *number: what follows "=", or NULL. */
static struct str whatif_split(const char *target, const char **number)
{
	const char *equals = strrchr(target, '=');

	*number = equals ? equals + 1 : NULL;
	return (struct str){target, equals ? (size_t)(equals - target) : strlen(target)};
}

/* One class by its name. */
static bool class_of(struct str word, uint8_t *out)
{
	uint64_t classes = classes_of(word);

	if (!classes || classes & (classes - 1))
		return false;
	while (!(classes >> *out & 1))
		++*out;
	return true;
}

static bool bad_factor(const char *number, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "bad-factor",
		"'%s' is not a factor: expected K from 0.01 to 1000000, or inf", number);
}

bool whatif_faster(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	struct whatif_row to = {.faster_milli = 2000};
	const char *number;
	struct str word = whatif_split(target, &number);

	if (number && trace_kind(p->trace) == KIND_SAMPLES && class_of(str_of(number), &to.like))
		to.faster_milli = WHATIF_PLAIN;
	else if (number && !parse_factor(str_of(number), &to.faster_milli))
		return bad_factor(number, e);
	return apply(p, word, NAMED_ANYHOW, &to, e);
}

bool whatif_ahead(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	struct whatif_row to = {.faster_milli = WHATIF_PLAIN, .ahead = 1};
	const char *number;
	struct str word = whatif_split(target, &number);
	uint64_t n = 1;

	if (number && (!str_to_u64(str_of(number), &n) || n < 1 || n > 1000))
		return err_set(e, INCORE_USAGE, "bad-ahead",
			"'%s' is not a number of executions: expected 1 to 1000", number);
	to.ahead = (uint32_t)n;
	return apply(p, word, NAMED_ANYHOW, &to, e);
}

bool whatif_sooner(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	struct whatif_row to = {.faster_milli = WHATIF_PLAIN};
	const char *number;
	struct str word = whatif_split(target, &number);
	uint64_t cyc;

	if (!number || !str_to_u64(str_of(number), &cyc) || cyc < 1 || cyc > UINT32_MAX)
		return err_set(e, INCORE_USAGE, "bad-sooner",
			"'%s' does not say how many cycles sooner: expected WHAT=CYCLES", target);
	to.sooner_cyc = (uint32_t)cyc;
	return apply(p, word, NAMED_ANYHOW, &to, e);
}

bool whatif_remove(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	const struct whatif_row to = {.faster_milli = WHATIF_PLAIN, .is_removed = true};

	return apply(p, str_of(target), NAMED_ANYHOW, &to, e);
}

bool whatif_opcode(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	struct whatif_row to = {.faster_milli = WHATIF_PLAIN, .is_removed = true};
	const char *number;
	struct str word = whatif_split(target, &number);

	if (number && !parse_factor(str_of(number), &to.faster_milli))
		return bad_factor(number, e);
	to.is_removed = !number;
	return apply(p, word, NAMED_OPCODE, &to, e);
}

bool whatif_even(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	const struct whatif_row to = {.faster_milli = WHATIF_PLAIN, .is_even = true};

	if (!apply(p, str_of(target), NAMED_ANYHOW, &to, e))
		return false;
	for (code_idx i = 0; i < p->trace->n_code; i++)
		if (p->rows[i].is_even && p->trace->code[i].inst_class != CLASS_BARRIER)
			return err_set(e, INCORE_USAGE, "bad-target",
				"row %lld is no barrier: only the arrival at one can be evened out",
				(long long)p->trace->code[i].number);
	return true;
}

bool whatif_waves(struct whatif_plan *p, const char *n, struct incore_error *e)
{
	char *end;
	long x;

	errno = 0;
	x = strtol(n, &end, 10);
	if (errno || end == n || *end || x < -64 || x > 64)
		return err_set(e, INCORE_USAGE, "bad-waves",
			"'%s' is not a change of the number of waves, such as +1 or -2", n);
	p->waves = (int)x;
	return true;
}
