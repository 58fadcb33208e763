/* SPDX-License-Identifier: Apache-2.0 */
/* matcher_pcre.c: regular expressions. They are untrusted input: none may run forever. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/mem.h"
#include "serve/view/matcher.h"

#define MATCH_LIMIT 100000
#define DEPTH_LIMIT 1000

struct regex {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *context;
};

void regex_deinit(struct matcher *m)
{
	struct regex *r = m->regex;

	if (!r)
		return;
	pcre2_match_data_free(r->match);
	pcre2_match_context_free(r->context);
	pcre2_code_free(r->code);
	mem_free(r);
	m->regex = NULL;
}

bool regex_init(struct matcher *m, struct str pattern, struct incore_error *e)
{
	struct regex *r = mem_zalloc(1, sizeof(*r));
	PCRE2_UCHAR text[120];
	PCRE2_SIZE at;
	int code;

	m->regex = r;
	if (!r)
		return err_nomem(e);
	r->code = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, PCRE2_CASELESS, &code, &at, NULL);
	if (!r->code) {
		pcre2_get_error_message(code, text, sizeof(text));
		regex_deinit(m);
		return err_set(e, INCORE_USAGE, "bad-regex", "%s at character %zu", (char *)text,
			(size_t)at + 1);
	}
	r->match = pcre2_match_data_create_from_pattern(r->code, NULL);
	r->context = pcre2_match_context_create(NULL);
	if (!r->match || !r->context) {
		regex_deinit(m);
		return err_nomem(e);
	}
	pcre2_set_match_limit(r->context, MATCH_LIMIT);
	pcre2_set_depth_limit(r->context, DEPTH_LIMIT);
	return true;
}

/* An expression that hits a limit counts as no match. */
bool regex_has(struct matcher *m, struct str text)
{
	struct regex *r = m->regex;

	return pcre2_match(r->code, (PCRE2_SPTR)(text.p ? text.p : ""), text.n, 0, 0, r->match,
		       r->context) >= 0;
}
