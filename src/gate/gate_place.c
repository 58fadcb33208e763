/* SPDX-License-Identifier: Apache-2.0 */
/* gate_place.c: finds a source line that a capture names in the local sources. */
#include <limits.h>

#include "base/file.h"
#include "gate/gate.h"

/* Splits "path:12". */
static bool gate_place_take_line(struct str link, struct gate_place *out)
{
	ptrdiff_t colon = str_rfind_char(link, ':');

	out->is_found = false;
	if (colon <= 0 || !str_to_u64(str_sub(link, (size_t)colon + 1, link.n), &out->line))
		return false;
	out->path = str_sub(link, 0, (size_t)colon);
	return out->line > 0 && out->line <= INT32_MAX;
}

static bool is_below(const char *path)
{
	struct str rest = str_of(path), part;

	while (str_cut(&rest, "/", &part))
		if (str_is(part, ".."))
			return false;
	return *path != '/' && file_exists(path) && !file_is_dir(path);
}

static bool gate_place_find(struct gate_place *p)
{
	char path[PATH_MAX];
	size_t at = 0;

	if (p->path.n >= sizeof(path) || memchr(p->path.p, 0, p->path.n))
		return false;
	memcpy(path, p->path.p, p->path.n);
	path[p->path.n] = 0;
	while (!is_below(path + at)) {
		const char *slash = strchr(path + at, '/');

		if (!slash || !slash[1])
			return false;
		at = (size_t)(slash - path) + 1;
	}
	p->path = str_sub(p->path, at, p->path.n);
	return true;
}

bool gate_place(const char *source, struct gate_place *out)
{
	struct str rest = str_of(source), link;
	struct gate_place p;
	bool has_line = false;

	while (rest.n && str_cut(&rest, " -> ", &link)) {
		if (!gate_place_take_line(str_trim(link), &p))
			continue;
		p.is_found = gate_place_find(&p);
		if (!has_line || p.is_found)
			*out = p;
		has_line = true;
		if (p.is_found)
			break;
	}
	return has_line;
}

void gate_put_uri(struct strbuf *b, struct str path)
{
	if (path.n && path.p[0] == '/')
		sb_puts(b, "file://");
	while (str_starts(path, "./"))
		path = str_sub(path, 2, path.n);
	for (size_t i = 0; i < path.n; i++) {
		char c = path.p[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			(c && strchr("-._~/", c)))
			sb_putc(b, c);
		else
			sb_printf(b, "%%%02X", (unsigned char)c);
	}
}
