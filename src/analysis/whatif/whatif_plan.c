/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_plan.c: which rows does a target mean, and what becomes of them? */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "analysis/whatif/whatif.h"
#include "base/mem.h"

struct whatif_plan *whatif_plan_new(const struct trace *t, struct incore_error *e)
{
	struct whatif_plan *p = mem_zalloc(1, sizeof(*p));

	if (p)
		p->rows = mem_zalloc((size_t)t->n_code + 1, sizeof(*p->rows));
	if (!p || !p->rows) {
		whatif_plan_free(p);
		return err_nomem_null(e);
	}
	p->trace = t;
	for (size_t i = 0; i <= t->n_code; i++)
		p->rows[i].faster_milli = WHATIF_PLAIN;
	return p;
}

void whatif_plan_free(struct whatif_plan *p)
{
	if (p)
		mem_free(p->rows);
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

struct target {		/* one of them */
	int64_t number; /* of a row; NO_VALUE: not one */
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

/* The innermost place of a row is the line, or ends in it behind a slash. */
static bool is_line(const struct code_row *r, struct str line)
{
	struct str s = str_of(r->source ? r->source : "");
	const char *arrow = s.n ? strstr(s.p, " -> ") : NULL;

	if (arrow)
		s.n = (size_t)(arrow - s.p);
	return line.n && s.n >= line.n && memcmp(s.p + s.n - line.n, line.p, line.n) == 0 &&
	       (s.n == line.n || s.p[s.n - line.n - 1] == '/');
}

static bool means(const struct target *x, const struct code_row *r)
{
	if (r->is_label)
		return false;
	if (x->number != NO_VALUE)
		return r->number == x->number;
	return x->classes ? x->classes >> (r->inst_class & 63u) & 1 : is_line(r, x->line);
}

static bool apply(
	struct whatif_plan *p, struct str word, struct whatif_row to, struct incore_error *e)
{
	const struct target x = target_of(word);
	uint32_t n = 0;

	for (code_idx i = 0; word.n && i < p->trace->n_code; i++) {
		struct whatif_row *r = &p->rows[i];

		if (!means(&x, &p->trace->code[i]))
			continue;
		p->n_rows += r->faster_milli == WHATIF_PLAIN && !r->is_removed;
		if (to.is_removed)
			r->is_removed = true;
		else
			r->faster_milli = to.faster_milli;
		n++;
	}
	return n || err_set(e, INCORE_USAGE, "bad-target",
			    "'%.*s' is no row, line or class of this kernel", STR_ARG(word));
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

bool whatif_faster(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	const char *equals = strrchr(target, '=');
	struct str word = str_of(target);
	struct whatif_row to = {.faster_milli = 2000};

	if (equals) {
		word.n = (size_t)(equals - target);
		if (!parse_factor(str_of(equals + 1), &to.faster_milli))
			return err_set(e, INCORE_USAGE, "bad-factor",
				"'%s' is no factor: K from 0.01 to 1000000, or inf", equals + 1);
	}
	return apply(p, word, to, e);
}

bool whatif_remove(struct whatif_plan *p, const char *target, struct incore_error *e)
{
	return apply(p, str_of(target), (struct whatif_row){.is_removed = true}, e);
}

bool whatif_waves(struct whatif_plan *p, const char *n, struct incore_error *e)
{
	char *end;
	long x;

	errno = 0;
	x = strtol(n, &end, 10);
	if (errno || end == n || *end || x < -64 || x > 64)
		return err_set(
			e, INCORE_USAGE, "bad-waves", "'%s' is no number of waves: +1, -2", n);
	p->waves = (int)x;
	return true;
}
