/* SPDX-License-Identifier: Apache-2.0 */
/* source_cond.c: is this #if taken? Three-valued logic, so that an unknown macro hides nothing. */
#include "replay/source/source_cond.h"

#include "base/vec.h"

#define COND_DEPTH 32 /* of parentheses; anything deeper is unknown */

struct value {
	bool is_known;
	int64_t v;
};

struct cond_parser {
	const struct cond_macros *macros;
	struct str rest;
	unsigned depth;
	bool is_bad;
};

void cond_init(struct cond_macros *m)
{
	*m = (struct cond_macros){0};
	intern_init(&m->names);
}

void cond_deinit(struct cond_macros *m)
{
	intern_deinit(&m->names);
	mem_free(m->v);
	*m = (struct cond_macros){0};
}

static bool set_macro(struct cond_macros *m, struct str name, struct cond_macro value)
{
	uint32_t i = intern_add(&m->names, name);

	if (i == INTERN_NONE)
		return false;
	if (i >= m->cap && !vec_grow((void **)&m->v, &m->cap, (size_t)i + 1, sizeof(*m->v)))
		return false;
	m->v[i] = value;
	return true;
}

bool cond_set(struct cond_macros *m, struct str name, bool is_defined, int64_t value)
{
	return set_macro(
		m, name, (struct cond_macro){is_defined ? TRUTH_YES : TRUTH_NO, is_defined, value});
}

static struct str take_word(struct str *s)
{
	struct str w = {s->p, 0};

	while (w.n < s->n && (s->p[w.n] == '_' || (s->p[w.n] >= '0' && s->p[w.n] <= '9') ||
				     ((s->p[w.n] | 32) >= 'a' && (s->p[w.n] | 32) <= 'z')))
		w.n++;
	*s = str_sub(*s, w.n, s->n);
	return w;
}

/* 42, 0x2a, 42u: digits with the suffixes C allows */
static bool integer_of(struct str s, int64_t *out)
{
	uint64_t u;

	while (s.n && (strchr("uUlL", s.p[s.n - 1])))
		s.n--;
	if (!s.n || s.p[0] < '0' || s.p[0] > '9' || !str_to_u64(s, &u) || u > INT64_MAX)
		return false;
	*out = (int64_t)u;
	return true;
}

bool cond_define(struct cond_macros *m, struct str rest)
{
	struct str name = take_word(&rest);
	struct cond_macro value = {.is_defined = TRUTH_YES};

	if (!name.n)
		return true;
	value.has_value = integer_of(str_trim(rest), &value.value);
	return set_macro(m, name, value);
}

bool cond_undef(struct cond_macros *m, struct str rest)
{
	struct str name = take_word(&rest);

	return !name.n || set_macro(m, name, (struct cond_macro){.is_defined = TRUTH_NO});
}

enum truth truth_not(enum truth t)
{
	return t == TRUTH_UNKNOWN ? t : t == TRUTH_YES ? TRUTH_NO : TRUTH_YES;
}

static const struct cond_macro *find_macro(const struct cond_macros *m, struct str name)
{
	uint32_t i = intern_find(&m->names, name);

	return i == INTERN_NONE ? NULL : &m->v[i];
}

enum truth cond_defined(const struct cond_macros *m, struct str name)
{
	struct str rest = name;
	const struct cond_macro *found = find_macro(m, take_word(&rest));

	return found ? found->is_defined : TRUTH_UNKNOWN;
}

static bool take_token(struct cond_parser *p, const char *token)
{
	p->rest = str_trim(p->rest);
	if (!str_starts(p->rest, token))
		return false;
	p->rest = str_sub(p->rest, strlen(token), p->rest.n);
	return true;
}

static struct value parse_or(struct cond_parser *p);

static struct value parse_defined(struct cond_parser *p)
{
	bool has_paren = take_token(p, "(");
	struct str name;
	enum truth t;

	p->rest = str_trim(p->rest);
	name = take_word(&p->rest);
	if (has_paren && !take_token(p, ")"))
		p->is_bad = true;
	t = cond_defined(p->macros, name);
	return (struct value){t != TRUTH_UNKNOWN, t == TRUTH_YES};
}

static struct value parse_primary(struct cond_parser *p)
{
	struct value v = {0};
	struct str word;
	const struct cond_macro *macro;

	if (p->depth >= COND_DEPTH) {
		p->is_bad = true;
		return v;
	}
	p->depth++;
	if (take_token(p, "!")) {
		v = parse_primary(p);
		v.v = !v.v;
	} else if (take_token(p, "(")) {
		v = parse_or(p);
		p->is_bad |= !take_token(p, ")");
	} else {
		word = take_word(&p->rest);
		macro = find_macro(p->macros, word);
		if (str_is(word, "defined"))
			v = parse_defined(p);
		else if (str_is(word, "true") || integer_of(word, &v.v))
			v = (struct value){true, str_is(word, "true") ? 1 : v.v};
		else if (str_is(word, "false") || (macro && macro->is_defined == TRUTH_NO))
			v = (struct value){true, 0};
		else if (macro && macro->has_value)
			v = (struct value){true, macro->value};
		else if (!word.n || take_token(p, "("))
			p->is_bad = true;
	}
	p->depth--;
	return v;
}

static struct value parse_compare(struct cond_parser *p)
{
	static const char *const OPS[] = {"==", "!=", "<=", ">=", "<", ">"};
	struct value a = parse_primary(p), b;

	for (size_t i = 0; i < sizeof(OPS) / sizeof(*OPS); i++) {
		if (!take_token(p, OPS[i]))
			continue;
		b = parse_primary(p);
		a.is_known &= b.is_known;
		switch (i) {
		case 0:
			a.v = a.v == b.v;
			break;
		case 1:
			a.v = a.v != b.v;
			break;
		case 2:
			a.v = a.v <= b.v;
			break;
		case 3:
			a.v = a.v >= b.v;
			break;
		case 4:
			a.v = a.v < b.v;
			break;
		default:
			a.v = a.v > b.v;
			break;
		}
		break;
	}
	return a;
}

static struct value parse_and(struct cond_parser *p)
{
	struct value a = parse_compare(p);

	while (take_token(p, "&&")) {
		struct value b = parse_compare(p);
		bool is_false = (a.is_known && !a.v) || (b.is_known && !b.v);

		a = (struct value){is_false || (a.is_known && b.is_known), !is_false && a.v && b.v};
	}
	return a;
}

static struct value parse_or(struct cond_parser *p)
{
	struct value a = parse_and(p);

	while (take_token(p, "||")) {
		struct value b = parse_and(p);
		bool is_true = (a.is_known && a.v) || (b.is_known && b.v);

		a = (struct value){is_true || (a.is_known && b.is_known), is_true};
	}
	return a;
}

enum truth cond_value(const struct cond_macros *m, struct str condition)
{
	struct cond_parser p = {.macros = m, .rest = condition};
	struct value v = parse_or(&p);

	if (p.is_bad || str_trim(p.rest).n || !v.is_known)
		return TRUTH_UNKNOWN;
	return v.v ? TRUTH_YES : TRUTH_NO;
}
