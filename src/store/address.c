/* SPDX-License-Identifier: Apache-2.0 */
/* address.c: the name of a store as shown to others, never with a password. */
#include "store/backend.h"

#define HIDDEN "postgresql://..."

static const char *const schemes[] = {"postgresql://", "postgres://"};

static struct str behind_scheme(const char *path)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (str_starts(str_of(path), schemes[i]))
			return str_of(path + strlen(schemes[i]));
	return (struct str){NULL, 0};
}

bool store_is_postgres(const char *path)
{
	return behind_scheme(path).p != NULL;
}

/* Does it consist only of hosts with ports and a database, and of nothing else? */
static bool is_plain(struct str s)
{
	static const char digits[] = "0123456789";
	bool is_port = false, is_in_brackets = false;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		is_in_brackets = (is_in_brackets || c == '[') && c != ']';
		is_port = (is_port || (c == ':' && !is_in_brackets)) && c != ',' && c != '/';
		if (is_port && c != ':' && !strchr(digits, c))
			return false;
		if (c <= ' ' || c == 0x7f || strchr("@?&=\"'\\", c))
			return false;
	}
	return true;
}

char *store_shown_path(const char *path)
{
	struct str rest = behind_scheme(path), place = rest;
	ptrdiff_t query = str_find(rest, "?"), at;
	struct strbuf b = {0};

	if (!rest.p)
		return mem_strndup(path, strlen(path));
	if (query >= 0)
		place.n = (size_t)query;
	at = str_rfind_char(place, '@');
	if (at >= 0)
		place = str_sub(place, (size_t)at + 1, place.n);
	/* with an '@' after the '?' it is not clear which one ends a password */
	if ((query >= 0 && at < 0 && str_has(rest, "@")) || !is_plain(place))
		return mem_strndup(HIDDEN, strlen(HIDDEN));
	sb_printf(&b, "%s%.*s", schemes[0], STR_ARG(place));
	if (b.failed)
		sb_free(&b);
	return b.p;
}
