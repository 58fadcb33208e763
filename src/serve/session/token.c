/* SPDX-License-Identifier: Apache-2.0 */
/* token.c: the secret token of one run of the server. */
#include "serve/session/token.h"

#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

#define SCHEME "Bearer "

bool token_make(struct token *t, struct incore_error *e)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[TOKEN_LEN / 2];

	if (fault_hit(FAULT_READ) || getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_set(e, INCORE_FAILED, "no-random", "no random bytes for a token");
	for (size_t i = 0; i < sizeof(bytes); i++) {
		t->text[2 * i] = digits[bytes[i] >> 4];
		t->text[2 * i + 1] = digits[bytes[i] & 15];
	}
	t->text[TOKEN_LEN] = 0;
	return true;
}

bool token_is(const struct token *t, const char *authorization)
{
	size_t n = sizeof(SCHEME) - 1;
	unsigned differs = 0;

	if (!authorization || strncmp(authorization, SCHEME, n) != 0 ||
		strlen(authorization) != n + TOKEN_LEN)
		return false;
	for (unsigned i = 0; i < TOKEN_LEN; i++)
		differs |= (unsigned char)authorization[n + i] ^ (unsigned char)t->text[i];
	return differs == 0;
}
