/* SPDX-License-Identifier: Apache-2.0 */
/* pto_lex.c: splits MLIR text into tokens, one at a time. */
#include "replay/source/pto_lex.h"

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char at(const struct pto_lexer *l, size_t ahead)
{
	if (l->pos + ahead >= l->text.n)
		return '\0';
	return l->text.p[l->pos + ahead];
}

static void skip_blank(struct pto_lexer *l)
{
	while (l->pos < l->text.n) {
		char c = at(l, 0);

		if (c == '\n')
			l->line++;
		else if (c == '/' && at(l, 1) == '/')
			while (l->pos + 1 < l->text.n && at(l, 1) != '\n')
				l->pos++;
		else if (c != ' ' && c != '\t' && c != '\r')
			return;
		l->pos++;
	}
}

static void skip_string(struct pto_lexer *l)
{
	for (l->pos++; l->pos < l->text.n && at(l, 0) != '"' && at(l, 0) != '\n'; l->pos++)
		if (at(l, 0) == '\\' && at(l, 1) != '\n')
			l->pos++;
	l->pos += l->pos < l->text.n && at(l, 0) == '"';
	if (l->pos > l->text.n)
		l->pos = l->text.n;
}

static void skip_number(struct pto_lexer *l)
{
	l->pos++;
	while (is_name(at(l, 0)) ||
		((at(l, 0) == '-' || at(l, 0) == '+') && (l->text.p[l->pos - 1] | 32) == 'e'))
		l->pos++;
}

void pto_lex_next(struct pto_lexer *l)
{
	size_t from;
	char c;

	skip_blank(l);
	from = l->pos;
	c = at(l, 0);
	l->now.line = l->line;
	if (l->pos >= l->text.n) {
		l->now = (struct pto_token){PTO_END, {"", 0}, l->line};
		return;
	}
	if (c == '"') {
		l->now.kind = PTO_STRING;
		skip_string(l);
	} else if (is_digit(c) || (c == '-' && is_digit(at(l, 1)))) {
		l->now.kind = PTO_NUMBER;
		skip_number(l);
	} else if (c == '%' || c == '@' || c == '!' || c == '#' || (is_name(c) && c != '.')) {
		l->now.kind = c == '%' ? PTO_VALUE : c == '@' ? PTO_SYMBOL : PTO_WORD;
		for (l->pos++; is_name(at(l, 0)) || (at(l, 0) == '#' && c == '%') ||
			       (at(l, 0) == '-' && c == '%' && is_name(at(l, 1)));)
			l->pos++;
	} else {
		l->now.kind = PTO_PUNCT;
		l->pos++;
	}
	l->now.text = (struct str){l->text.p + from, l->pos - from};
}

void pto_lex_init(struct pto_lexer *l, struct str text)
{
	*l = (struct pto_lexer){.text = text, .line = 1};
	pto_lex_next(l);
}

bool pto_at(const struct pto_lexer *l, const char *text)
{
	return l->now.kind != PTO_END && l->now.kind != PTO_STRING && str_is(l->now.text, text);
}

bool pto_take(struct pto_lexer *l, const char *text)
{
	if (!pto_at(l, text))
		return false;
	pto_lex_next(l);
	return true;
}
