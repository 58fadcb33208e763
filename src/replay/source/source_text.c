/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_text.c: which parts of a C++ source does a compiler see? One pass, two states: text and
 * #if. Parts: conditions of #if; the text.
 */
#include "replay/source/source_text.h"

#include "base/map.h"
#include "base/vec.h"

/* --- conditions of #if ------------------------------------------------------------------------ */

/*
 * Is the condition of an #if true, false, or unknown? A macro is defined, undefined or never
 * mentioned; the last yields TRUTH_UNKNOWN, unless the rest of the condition decides. Owner: the
 * holder calls cond_deinit(). May fail: returns false when out of memory; a condition that cannot
 * be parsed is unknown, not an error.
 */

enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

struct cond_macro {
	enum truth is_defined;
	bool has_value; /* an integer */
	int64_t value;
};

struct cond_macros {
	struct intern names;
	struct cond_macro *v; /* by index in names */
	size_t cap;
};

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

static void cond_init(struct cond_macros *m)
{
	*m = (struct cond_macros){0};
	intern_init(&m->names);
}

static void cond_deinit(struct cond_macros *m)
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

static bool cond_set(struct cond_macros *m, struct str name, bool is_defined, int64_t value)
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

/* `rest` is the text after #define or #undef. */
static bool cond_define(struct cond_macros *m, struct str rest)
{
	struct str name = take_word(&rest);
	struct cond_macro value = {.is_defined = TRUTH_YES};

	if (!name.n)
		return true;
	value.has_value = integer_of(str_trim(rest), &value.value);
	return set_macro(m, name, value);
}

static bool cond_undef(struct cond_macros *m, struct str rest)
{
	struct str name = take_word(&rest);

	return !name.n || set_macro(m, name, (struct cond_macro){.is_defined = TRUTH_NO});
}

static enum truth truth_not(enum truth t)
{
	return t == TRUTH_UNKNOWN ? t : t == TRUTH_YES ? TRUTH_NO : TRUTH_YES;
}

static const struct cond_macro *find_macro(const struct cond_macros *m, struct str name)
{
	uint32_t i = intern_find(&m->names, name);

	return i == INTERN_NONE ? NULL : &m->v[i];
}

static enum truth cond_defined(const struct cond_macros *m, struct str name)
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

static enum truth cond_value(const struct cond_macros *m, struct str condition)
{
	struct cond_parser p = {.macros = m, .rest = condition};
	struct value v = parse_or(&p);

	if (p.is_bad || str_trim(p.rest).n || !v.is_known)
		return TRUTH_UNKNOWN;
	return v.v ? TRUTH_YES : TRUTH_NO;
}

/* --- the text --------------------------------------------------------------------------------- */

struct region { /* one open #if */
	size_t offset;
	enum truth now;	 /* condition of the current branch */
	bool was_taken;	 /* an earlier branch is certainly the one taken */
	bool is_outside; /* blanked by an enclosing region */
	bool has_else;
};

struct masker {
	struct str src;
	const char *path;
	size_t pos;
	char *out; /* src.n bytes: a copy, to be blanked */
	VEC(struct region) regions;
	struct cond_macros macros;
	const struct source_macros *known;
	struct incore_error *e;
};

uint32_t source_line(struct str text, size_t offset)
{
	uint32_t line = 1;

	for (size_t i = 0; i < offset && i < text.n; i++)
		line += text.p[i] == '\n';
	return line;
}

bool source_find_word(struct str masked, const char *word, size_t *pos)
{
	size_t n = strlen(word);

	while (*pos < masked.n) {
		ptrdiff_t at = str_find(str_sub(masked, *pos, masked.n), word);
		size_t from;

		if (at < 0)
			break;
		from = *pos + (size_t)at;
		*pos = from + n;
		if ((from == 0 || !char_is_word(masked.p[from - 1])) &&
			(*pos == masked.n || !char_is_word(masked.p[*pos])))
			return true;
	}
	*pos = masked.n;
	return false;
}

static char peek(const struct masker *m, size_t ahead)
{
	if (m->pos + ahead >= m->src.n)
		return '\0';
	return m->src.p[m->pos + ahead];
}

static void blank(struct masker *m, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (m->out[i] != '\n')
			m->out[i] = ' ';
}

static bool fail_at(struct masker *m, size_t offset, const char *what)
{
	err_file(m->e, "bad-source", m->path, offset, "%s", what);
	if (m->e)
		m->e->line = source_line(m->src, offset);
	return false;
}

/* Skips a comment that starts here; a line comment continues over a spliced line end. */
static bool skip_comment(struct masker *m)
{
	size_t from = m->pos;
	bool is_block = peek(m, 1) == '*';

	m->pos += 2;
	while (m->pos < m->src.n) {
		if (is_block && peek(m, 0) == '*' && peek(m, 1) == '/') {
			m->pos += 2;
			return true;
		}
		if (!is_block && peek(m, 0) == '\n' && m->src.p[m->pos - 1] != '\\')
			return true;
		m->pos++;
	}
	return is_block ? fail_at(m, from, "comment is not closed") : true;
}

/* R"tag( ... )tag" */
static void skip_raw(struct masker *m)
{
	size_t open = m->pos + 1, tag = open;

	while (tag < m->src.n && tag - open <= 16 && m->src.p[tag] != '(' && m->src.p[tag] != '\n')
		tag++;
	for (size_t i = tag; i + (tag - open) + 1 < m->src.n; i++)
		if (m->src.p[i] == ')' &&
			memcmp(m->src.p + i + 1, m->src.p + open, tag - open) == 0 &&
			m->src.p[i + 1 + tag - open] == '"') {
			m->pos = i + 2 + (tag - open);
			return;
		}
	m->pos = m->src.n;
}

static void skip_literal(struct masker *m)
{
	char quote = peek(m, 0);

	if (quote == '"' && m->pos > 0 && m->src.p[m->pos - 1] == 'R') {
		skip_raw(m);
		return;
	}
	for (m->pos++; m->pos < m->src.n && peek(m, 0) != quote && peek(m, 0) != '\n'; m->pos++)
		if (peek(m, 0) == '\\')
			m->pos++;
	m->pos += m->pos < m->src.n && peek(m, 0) == quote;
	if (m->pos > m->src.n)
		m->pos = m->src.n;
}

static bool is_hidden(const struct masker *m)
{
	const struct region *r = m->regions.n ? &m->regions.v[m->regions.n - 1] : NULL;

	return r && (r->is_outside || r->now == TRUTH_NO);
}

static bool open_region(struct masker *m, size_t at, enum truth now)
{
	struct region r = {.offset = at,
		.now = now,
		.is_outside = is_hidden(m),
		.was_taken = now == TRUTH_YES};

	return VEC_PUSH(&m->regions, r) || err_nomem(m->e);
}

static bool next_branch(struct masker *m, size_t at, struct str rest, bool is_else)
{
	struct region *r = m->regions.n ? &m->regions.v[m->regions.n - 1] : NULL;

	if (!r || r->has_else)
		return fail_at(m, at, is_else ? "#else without #if" : "#elif without #if");
	if (r->was_taken)
		r->now = TRUTH_NO;
	else if (is_else)
		r->now = r->now == TRUTH_UNKNOWN ? TRUTH_UNKNOWN : TRUTH_YES;
	else
		r->now = cond_value(&m->macros, rest);
	r->has_else = is_else;
	r->was_taken |= r->now == TRUTH_YES;
	return true;
}

static bool directive(struct masker *m, size_t at, struct str line)
{
	struct str word = line;
	struct str rest;

	word.n = 0;
	while (word.n < line.n && char_is_word(line.p[word.n]))
		word.n++;
	rest = str_trim(str_sub(line, word.n, line.n));
	if (str_is(word, "if"))
		return open_region(m, at, cond_value(&m->macros, rest));
	if (str_is(word, "ifdef"))
		return open_region(m, at, cond_defined(&m->macros, rest));
	if (str_is(word, "ifndef"))
		return open_region(m, at, truth_not(cond_defined(&m->macros, rest)));
	if (str_is(word, "elif"))
		return next_branch(m, at, rest, false);
	if (str_is(word, "else"))
		return next_branch(m, at, rest, true);
	if (str_is(word, "endif")) {
		if (m->regions.n == 0)
			return fail_at(m, at, "#endif without #if");
		m->regions.n--;
		return true;
	}
	if (is_hidden(m))
		return true;
	if (m->known && m->known->on_directive && !m->known->on_directive(m->known->ctx, line))
		return err_nomem(m->e);
	if (str_is(word, "define"))
		return cond_define(&m->macros, rest) || err_nomem(m->e);
	return !str_is(word, "undef") || cond_undef(&m->macros, rest) || err_nomem(m->e);
}

/* Reads from '#' to the end of the line, without splices and comments. */
static bool read_directive(struct masker *m)
{
	struct strbuf line = {0};
	size_t at = m->pos;
	bool ok = true;

	m->pos++;
	while (ok && m->pos < m->src.n && peek(m, 0) != '\n') {
		if (peek(m, 0) == '/' && (peek(m, 1) == '/' || peek(m, 1) == '*')) {
			ok = skip_comment(m);
			sb_putc(&line, ' ');
		} else if (peek(m, 0) == '\\' && peek(m, 1) == '\n') {
			m->pos += 2;
		} else {
			sb_putc(&line, peek(m, 0));
			m->pos++;
		}
	}
	blank(m, at, m->pos);
	ok = ok && (!line.failed || err_nomem(m->e)) &&
	     directive(m, at, str_trim((struct str){line.p ? line.p : "", line.n}));
	sb_free(&line);
	return ok;
}

static bool mask_all(struct masker *m)
{
	bool at_line_start = true;

	while (m->pos < m->src.n) {
		size_t from = m->pos;
		char c = peek(m, 0);
		bool keep_ends = false;

		if (c == '#' && at_line_start) {
			if (!read_directive(m))
				return false;
			continue;
		}
		if (c == '/' && (peek(m, 1) == '/' || peek(m, 1) == '*')) {
			if (!skip_comment(m))
				return false;
			blank(m, from, m->pos);
			continue;
		}
		/* 1'000 is a number */
		if (c == '"' || (c == '\'' && (from == 0 || !char_is_word(m->src.p[from - 1])))) {
			skip_literal(m);
			keep_ends = m->pos - from >= 2;
			blank(m, from + keep_ends, m->pos - keep_ends);
		} else {
			m->pos++;
		}
		if (is_hidden(m))
			blank(m, from, m->pos);
		at_line_start =
			c == '\n' || (at_line_start && (c == ' ' || c == '\t' || c == '\r'));
	}
	return m->regions.n == 0 ||
	       fail_at(m, m->regions.v[m->regions.n - 1].offset, "#if without #endif");
}

bool source_mask(struct str src, const char *path, const struct source_macros *known,
	struct strbuf *out, struct incore_error *e)
{
	struct masker m = {.src = src, .path = path, .known = known, .e = e};
	bool ok;

	if (!sb_reserve(out, src.n))
		return err_nomem(e);
	sb_add(out, src.p, src.n);
	m.out = out->p + out->n - src.n;
	cond_init(&m.macros);
	ok = true;
	for (size_t i = 0; ok && known && i < known->n; i++)
		ok = cond_set(&m.macros, str_of(known->v[i].name), known->v[i].is_defined,
			known->v[i].value);
	ok = (ok || err_nomem(e)) && mask_all(&m);
	cond_deinit(&m.macros);
	VEC_FREE(&m.regions);
	return ok;
}
