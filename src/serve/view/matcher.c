/* SPDX-License-Identifier: Apache-2.0 */
/* matcher.c: matches literal text; /.../ is passed on as a regular expression. */
#include "serve/view/matcher.h"

static char lower(char c)
{
	if (c >= 'A' && c <= 'Z')
		c = (char)(c + 32);
	return c;
}

bool matcher_literal(struct str text, struct str needle)
{
	for (size_t i = 0; i + needle.n <= text.n; i++) {
		size_t k = 0;

		while (k < needle.n && lower(text.p[i + k]) == lower(needle.p[k]))
			k++;
		if (k == needle.n)
			return true;
	}
	return false;
}

bool matcher_init(struct matcher *m, const char *text, struct incore_error *e)
{
	struct str s = str_of(text);

	*m = (struct matcher){.literal = s};
	if (s.n == 0)
		return err_set(e, INCORE_USAGE, "bad-query", "q is empty");
	if (s.n < 3 || s.p[0] != '/' || s.p[s.n - 1] != '/')
		return true;
	m->is_regex = true;
	return regex_init(m, str_sub(s, 1, s.n - 2), e);
}

void matcher_deinit(struct matcher *m)
{
	if (m->is_regex)
		regex_deinit(m);
}

bool matcher_has(struct matcher *m, struct str text)
{
	return m->is_regex ? regex_has(m, text) : matcher_literal(text, m->literal);
}
