/* SPDX-License-Identifier: Apache-2.0 */
/* config.c: the user's settings. */
#include "verbs/config.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"

#define CONFIG_MAX_BYTES ((size_t)1 << 20)

struct config_line {
	const char *path;
	struct str all, line; /* line is a part of all */
	uint32_t number;
};

/* The path of the file, on the heap; NULL: there is none, or an error in *e. */
static char *config_path(struct incore_error *e)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	bool is_own = base && base[0] == '/';
	char *path;

	if (!is_own && !(home && home[0] == '/'))
		return NULL;
	path = path_join(is_own ? base : home, is_own ? "incore/config" : ".config/incore/config");
	if (!path)
		err_nomem(e);
	else if (file_exists(path))
		return path;
	mem_free(path);
	return NULL;
}

static bool wrong(const struct config_line *l, struct str at, struct incore_error *e,
	const char *what, struct str found)
{
	err_file(e, "bad-config", l->path, (uint64_t)(at.p - l->all.p), "%s, not '%.*s'", what,
		(int)(found.n < 60 ? found.n : 60), found.p);
	if (e) {
		e->line = l->number;
		e->column = (uint32_t)(at.p - l->line.p) + 1;
	}
	return false;
}

static bool take_color(const struct config_line *l, struct str key, struct str value,
	struct colors *out, struct incore_error *e)
{
	struct str rest = key, word;
	enum theme theme;
	unsigned color;

	str_cut(&rest, ".", &word); /* "color" */
	if (!str_cut(&rest, ".", &word) || !theme_of(word, &theme))
		return wrong(l, word, e, "a theme is light, dark or contrast", word);
	if (!color_of_name(rest, &color))
		return wrong(l, rest.p ? rest : word, e,
			"a colour is one of scalar smem valu matrix vmem store lds cross-lane "
			"branch "
			"sync end other issue stall wait idle drain",
			rest);
	if (!colors_set(out, theme, color, value))
		return wrong(l, value, e, "a colour looks like #1a2b3c", value);
	return true;
}

static bool take_line(const struct config_line *l, struct config *out, struct incore_error *e)
{
	struct str rest = l->line, text = str_trim(l->line), key, value;

	if (text.n == 0 || text.p[0] == '#')
		return true;
	if (str_find(text, "=") < 0)
		return wrong(l, text, e, "a line reads: key = value", text);
	str_cut(&rest, "=", &key);
	key = str_trim(key);
	value = str_trim(rest);
	if (str_starts(key, "color."))
		return take_color(l, key, value, &out->colors, e);
	return wrong(l, key, e, "known keys are color.THEME.NAME", key);
}

bool config_read(struct config *out, struct incore_error *e)
{
	struct incore_error own = {0};
	char *path = config_path(&own);
	struct file_data f = {0};
	struct config_line l = {.path = path};
	struct str rest;
	bool ok = true;

	*out = (struct config){0};
	if (!path) {
		ok = own.status == INCORE_OK;
		err_move(e, &own);
		return ok;
	}
	ok = file_load(&f, path, e);
	if (ok && f.size > CONFIG_MAX_BYTES)
		ok = err_file(e, "bad-config", path, INCORE_NO_OFFSET, "is larger than 1 MiB");
	l.all = rest = (struct str){(const char *)f.data, ok ? f.size : 0};
	while (ok && str_cut(&rest, "\n", &l.line)) {
		l.number++;
		ok = take_line(&l, out, e);
	}
	file_unload(&f);
	mem_free(path);
	return ok;
}
