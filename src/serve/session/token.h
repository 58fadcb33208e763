/* SPDX-License-Identifier: Apache-2.0 */
/* token.h: the secret token of clients: 128 bits per run; the printed URL has it in its
 * fragment. */
#pragma once

#include "base/error.h"

#define TOKEN_LEN 32u

struct token {
	char text[TOKEN_LEN + 1]; /* hexadecimal */
};

bool token_make(struct token *t, struct incore_error *e);
/* Does the value of an Authorization header contain it? Runs in constant time. */
bool token_is(const struct token *t, const char *authorization);
