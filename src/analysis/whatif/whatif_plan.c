/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_plan.c: parses targets and changes the rows they mean. */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "analysis/whatif/whatif.h"
#include "base/mem.h"
#include "trace/kind.h"

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

/* --- targets -------------------------------------------------------------------------------- */

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

struct target {		/* a parsed target, matching by one of these */
	int64_t number; /* number of a row, or NO_VALUE */
	uint64_t classes;
	struct str line;
};

static struct target target_of(struct str word)
{
	struct target x = {.number = NO_VALUE, .classes = classes_of(word)};
	uint64_t number;

	if (!x.classes && str_to_u64(word, &number) && number < INT64_MAX)
		x.number = (int64_t)number;
	else if (!x.classes)
		x.line = word;
	return x;
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

static bool means(const struct target *x, const struct code_row *r)
{
	if (r->is_label)
		return false;
	if (x->number != NO_VALUE)
		return r->number == x->number;
	return x->classes ? x->classes >> (r->inst_class & 63u) & 1 : is_line(r, x->line);
}

static void change(struct whatif_row *r, const struct whatif_row *to)
{
	r->is_removed |= to->is_removed;
	r->ahead = to->ahead ? to->ahead : r->ahead;
	r->like = to->like ? to->like : r->like;
	if (to->faster_milli != WHATIF_PLAIN)
		r->faster_milli = to->faster_milli;
}

static bool is_changed(const struct whatif_row *r)
{
	return r->is_removed || r->ahead || r->like || r->faster_milli != WHATIF_PLAIN;
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

static bool apply(
	struct whatif_plan *p, struct str word, const struct whatif_row *to, struct incore_error *e)
{
	const struct target x = target_of(word);
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->trace->n_reasons; i++)
		if (str_is(word, p->trace->reasons[i])) {
			whatif_change_reason(p, i, to);
			return true;
		}
	for (code_idx i = 0; word.n && i < p->trace->n_code; i++) {
		if (!means(&x, &p->trace->code[i]))
			continue;
		whatif_change_row(p, i, to);
		n++;
	}
	return n || err_set(e, INCORE_USAGE, "bad-target",
			    "'%.*s' is not a row, line, class or stall reason of this kernel",
			    STR_ARG(word));
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

/* --- what becomes of them ------------------------------------------------------------------- */

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
static struct str split(const char *target, const char **number)
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

bool whatif_faster(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	struct whatif_row to = {.faster_milli = 2000};
	const char *number;
	struct str word = split(target, &number);

	if (number && trace_kind(p->trace) == KIND_SAMPLES && class_of(str_of(number), &to.like))
		to.faster_milli = WHATIF_PLAIN;
	else if (number && !parse_factor(str_of(number), &to.faster_milli))
		return err_set(e, INCORE_USAGE, "bad-factor",
			"'%s' is not a factor: expected K from 0.01 to 1000000, or inf", number);
	return apply(p, word, &to, e);
}

bool whatif_ahead(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	struct whatif_row to = {.faster_milli = WHATIF_PLAIN, .ahead = 1};
	const char *number;
	struct str word = split(target, &number);
	uint64_t n = 1;

	if (number && (!str_to_u64(str_of(number), &n) || n < 1 || n > 1000))
		return err_set(e, INCORE_USAGE, "bad-ahead",
			"'%s' is not a number of executions: expected 1 to 1000", number);
	to.ahead = (uint32_t)n;
	return apply(p, word, &to, e);
}

bool whatif_remove(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	const struct whatif_row to = {.faster_milli = WHATIF_PLAIN, .is_removed = true};

	return apply(p, str_of(target), &to, e);
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
