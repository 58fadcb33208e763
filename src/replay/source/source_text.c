/* SPDX-License-Identifier: Apache-2.0 */
/* source_text.c: which parts of a C++ source does a compiler see? One pass, two states: text and
 * #if. */
#include "replay/source/source_text.h"

#include "base/vec.h"
#include "replay/source/source_cond.h"

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

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
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
		if ((from == 0 || !is_word(masked.p[from - 1])) &&
			(*pos == masked.n || !is_word(masked.p[*pos])))
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
	return is_block ? fail_at(m, from, "comment without an end") : true;
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
	while (word.n < line.n && is_word(line.p[word.n]))
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
		if (c == '"' || (c == '\'' && (from == 0 || !is_word(m->src.p[from - 1])))) {
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
