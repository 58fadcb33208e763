/* SPDX-License-Identifier: Apache-2.0 */
/* query.c: parses the question in a URL. */
#include "serve/view/query.h"

#define API "/api/1/"

static bool query_bad(struct incore_error *e, const char *what)
{
	return err_set(e, INCORE_USAGE, "bad-query", "%s", what);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Unescapes s to *out, ends it with NUL, and advances *out. */
static bool unescape(struct str s, bool is_value, char **out, struct incore_error *e)
{
	char *p = *out;

	for (size_t i = 0; i < s.n; i++) {
		int c = (unsigned char)s.p[i];

		if (c == '%') {
			int hi = i + 2 < s.n ? hex(s.p[i + 1]) : -1;
			int lo = hi >= 0 ? hex(s.p[i + 2]) : -1;

			if (lo < 0)
				return query_bad(
					e, "a percent sign expects two hexadecimal digits");
			c = hi << 4 | lo;
			i += 2;
		} else if (c == '+' && is_value) {
			c = ' ';
		}
		if (c < 32 || c == 127)
			return query_bad(e, "a request must not contain control characters");
		*p++ = (char)c;
	}
	*p++ = 0;
	*out = p;
	return true;
}

static bool query_add_pair(struct query *q, struct str part, char **out, struct incore_error *e)
{
	ptrdiff_t eq = str_find(part, "=");
	struct str key = eq < 0 ? part : str_sub(part, 0, (size_t)eq);
	struct str value = eq < 0 ? STR("") : str_sub(part, (size_t)eq + 1, part.n);
	struct query_pair *pair = &q->pair[q->n];

	if (q->n == QUERY_MAX_PAIRS)
		return query_bad(e, "too many keys");
	pair->key = *out;
	if (!unescape(key, false, out, e))
		return false;
	pair->value = *out;
	if (!unescape(value, true, out, e))
		return false;
	if (!*pair->key || query_text(q, pair->key))
		return query_bad(e, "a key is empty or given twice");
	q->n++;
	return true;
}

bool query_parse(struct query *q, struct str target, struct incore_error *e)
{
	struct str path = target, rest = {0}, part;
	ptrdiff_t mark = str_find(target, "?");
	char *out = q->text;

	q->n = 0;
	q->name = q->path = "";
	/* each part grows only by its NUL, which takes the place of the separator before it */
	if (target.n + 2 > QUERY_MAX_BYTES)
		return query_bad(e, "the request is too long");
	if (mark >= 0) {
		path = str_sub(target, 0, (size_t)mark);
		rest = str_sub(target, (size_t)mark + 1, target.n);
	}
	q->path = out;
	if (!unescape(path, false, &out, e))
		return false;
	if (strncmp(q->path, API, sizeof(API) - 1) == 0)
		q->name = q->path + sizeof(API) - 1;
	while (str_cut(&rest, "&", &part)) {
		/* "key" without a value needs one byte more */
		if ((size_t)(out - q->text) + part.n + 2 > sizeof(q->text))
			return query_bad(e, "the request is too long");
		if (part.n && !query_add_pair(q, part, &out, e))
			return false;
	}
	return true;
}

const char *query_text(const struct query *q, const char *key)
{
	for (unsigned i = 0; i < q->n; i++)
		if (strcmp(q->pair[i].key, key) == 0)
			return q->pair[i].value;
	return NULL;
}

bool query_number(const struct query *q, const char *key, uint64_t fallback, uint64_t max,
	uint64_t *out, struct incore_error *e)
{
	const char *text = query_text(q, key);

	if (!text && fallback == QUERY_NEEDED)
		return err_set(e, INCORE_USAGE, "bad-query", "%s is missing", key);
	*out = fallback;
	if (text && (!str_to_u64(str_of(text), out) || *out > max))
		return err_set(e, INCORE_USAGE, "bad-query", "%s expects a whole number up to %llu",
			key, (unsigned long long)max);
	return true;
}

static bool query_add_range(struct query_ranges *r, struct str part, uint32_t limit)
{
	ptrdiff_t dash = str_find(part, "-");
	uint64_t first, last;

	if (r->n == QUERY_MAX_RANGES)
		return false;
	if (!str_to_u64(dash < 0 ? part : str_sub(part, 0, (size_t)dash), &first))
		return false;
	last = first;
	if (dash >= 0 && !str_to_u64(str_sub(part, (size_t)dash + 1, part.n), &last))
		return false;
	if (last < first || last >= limit)
		return false;
	r->v[r->n].first = (uint32_t)first;
	r->v[r->n++].last = (uint32_t)last;
	return true;
}

bool query_set(const struct query *q, const char *key, uint32_t limit, struct query_ranges *out,
	struct incore_error *e)
{
	const char *text = query_text(q, key);
	struct str rest = str_of(text), part;

	*out = (struct query_ranges){0};
	if (!text) {
		out->n = limit > 0;
		out->v[0].last = limit - 1;
		return true;
	}
	while (str_cut(&rest, ",", &part))
		if (!query_add_range(out, part, limit))
			return err_set(e, INCORE_USAGE, "bad-query",
				"%s expects ranges a-b of numbers below %u", key, limit);
	return out->n > 0 || err_set(e, INCORE_USAGE, "bad-query", "%s is empty", key);
}

bool query_word(const struct query *q, const char *key, const char *words, unsigned *out,
	struct incore_error *e)
{
	const char *text = query_text(q, key);
	struct str rest = str_of(words), part;

	*out = 0;
	if (!text)
		return true;
	for (unsigned i = 0; str_cut(&rest, "|", &part); i++)
		if (str_is(part, text)) {
			*out = i;
			return true;
		}
	return err_set(e, INCORE_USAGE, "bad-query", "%s expects one of %s", key, words);
}
