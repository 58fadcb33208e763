/* SPDX-License-Identifier: Apache-2.0 */
/* name_filter.c: does a name match a regular expression? */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "analysis/name_filter.h"

/* A regular expression is input, too: limit how long it may run. */
#define MATCH_LIMIT 1000000
#define DEPTH_LIMIT 1000

void name_filter_deinit(struct name_filter *f)
{
	pcre2_match_data_free(f->match);
	pcre2_match_context_free(f->context);
	pcre2_code_free(f->code);
}

bool name_filter_init(struct name_filter *f, const char *regex, struct incore_error *e)
{
	int code;
	PCRE2_SIZE at;
	PCRE2_UCHAR text[120];

	*f = (struct name_filter){0};
	f->code = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
	if (!f->code) {
		pcre2_get_error_message(code, text, sizeof(text));
		return err_set(e, INCORE_USAGE, "bad-regex", "--kernel '%s': %s at character %zu",
			regex, (char *)text, (size_t)at + 1);
	}
	f->match = pcre2_match_data_create_from_pattern(f->code, NULL);
	f->context = pcre2_match_context_create(NULL);
	if (!f->match || !f->context) {
		name_filter_deinit(f);
		return err_nomem(e);
	}
	pcre2_set_match_limit(f->context, MATCH_LIMIT);
	pcre2_set_depth_limit(f->context, DEPTH_LIMIT);
	return true;
}

bool name_filter_match(
	const struct name_filter *f, const char *name, bool *does, struct incore_error *e)
{
	PCRE2_UCHAR text[120];
	int n = pcre2_match(f->code, (PCRE2_SPTR)name, strlen(name), 0, 0, f->match, f->context);

	*does = n >= 0;
	if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
		return true;
	pcre2_get_error_message(n, text, sizeof(text));
	return err_set(e, INCORE_USAGE, "bad-regex", "--kernel: %s", (char *)text);
}
