/* SPDX-License-Identifier: Apache-2.0 */
/* marker_names.c: the names of markers, from text lines or the rows of a decoder. */
#include "import/marker_names.h"

#include <stdio.h>

static const char *const columns[] = {"code_object", "kind", "id", "name", "source"};
#define N_COLUMNS 5u

/* The meaning of the first letter of a kind. */
static const char *kind_word(struct str kind)
{
	switch (kind.n ? kind.p[0] | 0x20 : 0) {
	case 'f':
		return "function";
	case 'u':
		return "scope";
	case 'p':
		return "point";
	case 'k':
		return "kernel";
	case 'm':
		return "clock-bits";
	case 'r':
		return "payload";
	default:
		return NULL;
	}
}

static bool marker_names_put_cell(struct marker_names *m, struct str text)
{
	const char *s = arena_strndup(&m->trace->arena, text.n ? text.p : "", text.n);

	return s && VEC_PUSH(&m->cells, s);
}

bool marker_names_add(struct marker_names *m, uint64_t object, struct str kind, struct str id,
	struct str name, struct str source)
{
	const char *word = kind_word(kind);
	char number[24];
	int n = snprintf(number, sizeof(number), "%llu", (unsigned long long)object);

	return !word || m->cells.n / N_COLUMNS >= UINT32_MAX / N_COLUMNS ||
	       (marker_names_put_cell(m, (struct str){number, (size_t)n}) &&
		       marker_names_put_cell(m, str_of(word)) && marker_names_put_cell(m, id) &&
		       marker_names_put_cell(m, name) && marker_names_put_cell(m, source));
}

/* "M:shader_clock_bits=12;shader_clock_shift=4" and "R:7:extra_payload_count=2": the number after
 * the first '='. */
static struct str number_in(struct str s)
{
	ptrdiff_t at = str_find(s, "=");
	size_t n = 0;

	s = at < 0 ? (struct str){"", 0} : str_sub(s, (size_t)at + 1, s.n);
	while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	return str_sub(s, 0, n);
}

/* "F:12:name@file.hip:7", "K:name", "M:...". */
static bool marker_names_add_line(struct marker_names *m, uint64_t object, struct str line)
{
	struct str kind = str_sub(line, 0, 1), id = {"", 0}, rest, source = {"", 0};
	ptrdiff_t at;

	if (line.n < 3 || line.p[1] != ':')
		return true;
	rest = str_sub(line, 2, line.n);
	if (kind.p[0] == 'M')
		return marker_names_add(m, object, kind, number_in(rest), rest, source);
	if (kind.p[0] != 'K' && (!str_has(rest, ":") || !str_cut(&rest, ":", &id)))
		return true;
	if (kind.p[0] == 'R')
		return marker_names_add(m, object, kind, id, number_in(rest), source);
	at = kind.p[0] == 'U' ? -1 : str_find(rest, "@");
	if (at >= 0) {
		source = str_sub(rest, (size_t)at + 1, rest.n);
		rest.n = (size_t)at;
	}
	return marker_names_add(m, object, kind, id, rest, source);
}

bool marker_names_section(struct marker_names *m, uint64_t object, struct str text)
{
	for (size_t from = 0; from < text.n;) {
		size_t end = from;

		while (end < text.n && text.p[end] != '\n' && text.p[end] != '\0')
			end++;
		if (!marker_names_add_line(m, object, str_trim(str_sub(text, from, end - from))))
			return false;
		from = end + 1;
	}
	return true;
}

void marker_names_drop(struct marker_names *m)
{
	VEC_FREE(&m->cells);
}

bool marker_names_put(struct marker_names *m, const char *origin)
{
	struct trace *t = m->trace;
	struct named_table k = {.name = MARKER_NAMES,
		.origin = origin,
		.n_cols = N_COLUMNS,
		.cols = columns,
		.n_rows = (uint32_t)(m->cells.n / N_COLUMNS)};
	struct named_table *v;
	bool ok = true;

	if (k.n_rows) {
		k.cells = arena_memdup(&t->arena, m->cells.v, m->cells.n * sizeof(*m->cells.v));
		v = arena_zalloc(&t->arena, (size_t)t->n_tables + 1, sizeof(*v));
		ok = k.cells && v;
		if (ok && t->n_tables)
			memcpy(v, t->tables, t->n_tables * sizeof(*v));
		if (ok) {
			v[t->n_tables++] = k;
			t->tables = v;
		}
	}
	marker_names_drop(m);
	return ok;
}
