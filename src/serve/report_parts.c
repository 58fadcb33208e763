/* SPDX-License-Identifier: Apache-2.0 */
/* report_parts.c: text of a written page taken apart, escaped, packed. */
#include <zlib.h>

#include "base/mem.h"
#include "serve/report.h"
#include "serve/view_index.h"

#define LINE_CHARS 120u
#define CONTEXT_LINES 4u
#define TITLE_MAX 70u

static struct str trim_newlines(struct str s)
{
	while (s.n && s.p[0] == '\n')
		s = str_sub(s, 1, s.n);
	while (s.n && s.p[s.n - 1] == '\n')
		s.n--;
	return s;
}

/* A line that only names what follows: no columns, no sentence. */
static bool is_title(struct str line)
{
	return line.n && line.n <= TITLE_MAX && line.p[0] != ' ' && !str_has(line, "  ") &&
	       line.p[0] >= 'A' && line.p[0] <= 'Z' && line.p[line.n - 1] != '.';
}

bool report_next_block(struct str *rest, struct report_block *out)
{
	struct str s = trim_newlines(*rest), first;
	ptrdiff_t end = str_find(s, "\n\n");
	struct str block = end < 0 ? s : str_sub(s, 0, (size_t)end), after;

	if (s.n == 0)
		return false;
	*rest = end < 0 ? STR("") : str_sub(s, (size_t)end + 2, s.n);
	*out = (struct report_block){.text = block};
	after = block;
	str_cut(&after, "\n", &first);
	if (after.n && is_title(first)) {
		out->title = first;
		out->text = after;
	}
	out->is_prose = !out->title.n && !str_has(block, "  ");
	return true;
}

void report_escape(struct strbuf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		switch (text.p[i]) {
		case '&':
			sb_puts(b, "&amp;");
			break;
		case '<':
			sb_puts(b, "&lt;");
			break;
		case '>':
			sb_puts(b, "&gt;");
			break;
		case '"':
			sb_puts(b, "&quot;");
			break;
		case '\'':
			sb_puts(b, "&#39;");
			break;
		default:
			/* what no HTML text may hold is shown as the replacement character */
			if ((unsigned char)text.p[i] < 32 && text.p[i] != '\n' && text.p[i] != '\t')
				sb_puts(b, "\xef\xbf\xbd");
			else
				sb_putc(b, text.p[i]);
		}
	}
}

static bool zip(struct str bytes, uint8_t **out, size_t *n)
{
	z_stream z = {0};
	size_t room;
	bool ok;

	/* 15 + 16: a gzip head, whose time stays 0: the same bytes every time */
	if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	room = deflateBound(&z, bytes.n) + 64;
	*out = mem_alloc(room);
	z.next_in = (Bytef *)(uintptr_t)bytes.p;
	z.avail_in = (uInt)bytes.n;
	z.next_out = *out;
	z.avail_out = (uInt)room;
	ok = *out && bytes.n <= UINT32_MAX && room <= UINT32_MAX &&
	     deflate(&z, Z_FINISH) == Z_STREAM_END;
	*n = room - z.avail_out;
	deflateEnd(&z);
	if (!ok) {
		mem_free(*out);
		*out = NULL;
	}
	return ok;
}

bool report_pack(struct str bytes, struct strbuf *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *p;
	size_t n;

	if (!zip(bytes, &p, &n))
		return false;
	if (!sb_reserve(out, n / 3 * 4 + n / 90 * 2 + 16)) {
		mem_free(p);
		return false;
	}
	for (size_t i = 0; i < n; i += 3) {
		unsigned left = n - i > 2 ? 3 : (unsigned)(n - i);
		uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);
		char four[4] = {digits[v >> 18], digits[v >> 12 & 63],
			left > 1 ? digits[v >> 6 & 63] : '=', left > 2 ? digits[v & 63] : '='};

		sb_add(out, four, sizeof(four));
		if ((i / 3 + 1) * 4 % LINE_CHARS == 0)
			sb_putc(out, '\n');
	}
	mem_free(p);
	return !out->failed;
}

static bool cut_lines(const struct source_file *s, uint32_t line, struct report_source *out)
{
	struct str rest = {s->text, s->text_len}, part;
	const char *from = NULL, *to = NULL;

	out->first = line > CONTEXT_LINES ? line - CONTEXT_LINES : 1;
	out->marked = line;
	out->path = s->path;
	for (uint32_t n = 1; n <= line + CONTEXT_LINES && str_cut(&rest, "\n", &part); n++) {
		if (n == out->first)
			from = part.p;
		if (from)
			to = part.p + part.n;
	}
	if (!from)
		return false;
	out->lines = (struct str){from, (size_t)(to - from)};
	return true;
}

bool report_hottest_source(const struct view *v, struct report_source *out)
{
	const struct trace *t = v->trace;
	uint64_t best = 0;
	bool found = false;

	for (uint32_t i = 0; v->index && v->index->code && i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		const struct frame *f = r->n_frames ? &t->frames[r->first_frame] : NULL;
		struct report_source here;

		if (!f || f->source >= t->n_sources || !t->sources[f->source].text ||
			v->index->code[i].cyc <= best)
			continue;
		if (cut_lines(&t->sources[f->source], f->line, &here)) {
			*out = here;
			best = v->index->code[i].cyc;
			found = true;
		}
	}
	return found;
}
