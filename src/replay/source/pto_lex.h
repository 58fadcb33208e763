/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pto_lex.h: the tokens of MLIR text. Comments are gone, strings keep their quotes. Tokens borrow
 * from the text; reading never fails: an unexpected byte is a token of its own.
 */
#pragma once

#include "base/str.h"

enum pto_token_kind {
	PTO_END,
	PTO_VALUE,  /* %name, %name#1 */
	PTO_SYMBOL, /* @name */
	PTO_WORD,   /* func.func, !pto.ptr, #pto.layout, index */
	PTO_NUMBER, /* -12, 1.0 */
	PTO_STRING,
	PTO_PUNCT, /* one byte */
};

struct pto_token {
	enum pto_token_kind kind;
	struct str text;
	uint32_t line;
};

struct pto_lexer {
	struct str text;
	size_t pos;
	uint32_t line;
	struct pto_token now; /* the current token */
};

void pto_lex_init(struct pto_lexer *l, struct str text);
void pto_lex_next(struct pto_lexer *l);
bool pto_at(const struct pto_lexer *l, const char *text); /* is this the current token? */
bool pto_take(struct pto_lexer *l, const char *text);	  /* same test; skips it if so */
