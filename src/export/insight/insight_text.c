/* SPDX-License-Identifier: Apache-2.0 */
/* insight_text.c: formats times, arguments and names for trace.json and the tables. */
#include <errno.h>
#include <iconv.h>

#include "base/file.h"
#include "codec/json_writer.h"
#include "export/insight/insight.h"

/* Writes microseconds with six decimals (four without a clock): rounding gives the exact cycles. */
void insight_put_us(struct insight *s, struct text_out *o, uint64_t cyc)
{
	const struct trace_meta *m = &s->t->meta;
	char text[48];
	unsigned __int128 ps;

	if (s->is_cycles) {
		snprintf(text, sizeof(text), "%llu.%03llu0", (unsigned long long)(cyc / 1000),
			(unsigned long long)(cyc % 1000));
		text_puts(o, text);
		return;
	}
	ps = ((unsigned __int128)cyc * m->clock_hz_den * 1000000000000u + m->clock_hz_num / 2) /
	     m->clock_hz_num;
	snprintf(text, sizeof(text), "%llu.%06llu", (unsigned long long)(ps / 1000000),
		(unsigned long long)(ps % 1000000));
	text_puts(o, text);
}

struct str insight_opcode(const struct insight *s, code_idx code)
{
	return code < s->t->n_code ? str_of(s->t->opcodes[s->t->code[code].opcode])
				   : STR("UNKNOWN");
}

bool insight_is_instruction(const struct insight *s, code_idx code)
{
	return s->t->code[code].inst_class != CLASS_CACHE_MISS &&
	       s->t->code[code].inst_class != CLASS_USERMARK;
}

struct str insight_event_name(const struct insight *s, code_idx code)
{
	struct str opcode = insight_opcode(s, code), text, rest;
	ptrdiff_t blank;
	size_t skip;

	if (code >= s->t->n_code || insight_is_instruction(s, code))
		return opcode;
	text = (struct str){s->t->code[code].text, s->t->code[code].text_len};
	rest = str_sub(text, opcode.n + 1, text.n);
	if (!str_starts(rest, "0x"))
		return opcode;
	blank = str_find(rest, " ");
	skip = str_is(opcode, "CACHEMISS") ? opcode.n + 1 : 0;
	return str_sub(text, skip, text.n - skip - (blank > 0 ? rest.n - (size_t)blank : 0));
}

/* --- UTF-8 --- */

static bool is_utf8(struct str text)
{
	size_t i = 0, n = 1;

	for (; i < text.n && n; i += n)
		n = utf8_length((const unsigned char *)text.p + i, text.n - i);
	return n != 0;
}

/* Appends GBK as UTF-8; false, and nothing is appended, if it is no GBK or the system has no table
 * of it. */
static bool put_gbk(struct strbuf *b, struct str text)
{
	iconv_t table = iconv_open("UTF-8", "GBK");
	char *in = (char *)(uintptr_t)text.p, buf[512];
	size_t left = text.n, was = b->n;
	bool ok = table != (iconv_t)-1;

	while (ok && left) {
		char *out = buf;
		size_t room = sizeof(buf), n = iconv(table, &in, &left, &out, &room);

		ok = n != (size_t)-1 || errno == E2BIG;
		sb_add(b, buf, sizeof(buf) - room);
	}
	if (table != (iconv_t)-1)
		iconv_close(table);
	if (!ok && !b->failed && b->p) {
		b->n = was;
		b->p[was] = 0;
	}
	return ok;
}

uint64_t insight_put_utf8(struct strbuf *b, struct str text)
{
	uint64_t n_bad = 0;
	size_t from = 0;

	if (!is_utf8(text) && put_gbk(b, text))
		return 0;
	for (size_t i = 0; i < text.n;) {
		size_t n = utf8_length((const unsigned char *)text.p + i, text.n - i);

		i += n ? n : 1;
		if (n)
			continue;
		sb_add(b, text.p + from, i - 1 - from);
		sb_puts(b, "\xef\xbf\xbd");
		from = i;
		n_bad++;
	}
	sb_add(b, text.p + from, text.n - from);
	return n_bad;
}

static bool make_text(struct insight *s, const char **text)
{
	struct strbuf b = {0};

	if (!*text || is_utf8(str_of(*text)))
		return true;
	s->n_bytes_replaced += insight_put_utf8(&b, str_of(*text));
	*text = b.failed ? NULL : arena_strndup(&s->arena, b.p, b.n);
	sb_free(&b);
	return *text != NULL;
}

/* The opcode and the operands are events' own texts, so each is converted by itself. */
static bool make_row_text(struct insight *s, struct code_row *r, struct str opcode)
{
	struct str text = {r->text, r->text_len};
	struct strbuf b = {0};

	if (is_utf8(text))
		return true;
	insight_put_utf8(&b, str_sub(text, 0, opcode.n));
	s->n_bytes_replaced += insight_put_utf8(&b, str_sub(text, opcode.n, text.n));
	r->text = b.failed ? NULL : arena_strndup(&s->arena, b.p, b.n);
	r->text_len = (uint32_t)b.n;
	sb_free(&b);
	return r->text != NULL;
}

static bool has_other_text(const struct trace *t)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < t->n_opcodes; i++)
		ok = is_utf8(str_of(t->opcodes[i]));
	for (code_idx i = 0; ok && i < t->n_code; i++)
		ok = is_utf8((struct str){t->code[i].text, t->code[i].text_len});
	for (uint32_t k = 0; ok && k < t->n_tables; k++) {
		const struct named_table *d = &t->tables[k];

		for (size_t i = 0; ok && i < (size_t)d->n_rows * d->n_cols; i++)
			ok = !d->cells[i] || is_utf8(str_of(d->cells[i]));
	}
	return !ok;
}

static bool make_table_texts(struct insight *s, struct trace *t)
{
	bool ok = true;

	t->tables = arena_memdup(&s->arena, t->tables, t->n_tables * sizeof(*t->tables));
	for (uint32_t k = 0; ok && t->tables && k < t->n_tables; k++) {
		size_t n = (size_t)t->tables[k].n_rows * t->tables[k].n_cols;
		const char **cells =
			arena_memdup(&s->arena, t->tables[k].cells, n * sizeof(*cells));

		ok = cells || !n;
		for (size_t i = 0; ok && i < n; i++)
			ok = make_text(s, &cells[i]);
		t->tables[k].cells = cells;
	}
	return ok && (t->tables || !t->n_tables);
}

bool insight_make_texts(struct insight *s)
{
	struct trace *t = &s->shown;
	bool ok;

	if (!has_other_text(s->t))
		return true;
	*t = *s->t;
	t->opcodes = arena_memdup(&s->arena, t->opcodes, t->n_opcodes * sizeof(*t->opcodes));
	t->code = arena_memdup(&s->arena, t->code, t->n_code * sizeof(*t->code));
	ok = (t->opcodes || !t->n_opcodes) && (t->code || !t->n_code);
	for (code_idx i = 0; ok && i < t->n_code; i++)
		ok = make_row_text(s, &t->code[i], str_of(s->t->opcodes[t->code[i].opcode]));
	for (uint32_t i = 0; ok && i < t->n_opcodes; i++)
		ok = make_text(s, &t->opcodes[i]);
	s->t = t;
	return ok && make_table_texts(s, t);
}

/* --- paths --- */

#define MAX_PATH 500		     /* the viewer's server rejects requests with a longer word */
#define REFUSED "|;&$><`\\!\"'\x7f:" /* or with one of these; ':' separates path and line */

/* The last part of a path, which is the most telling, that fits into `room`; whole characters. */
static const char *path_end(const struct strbuf *b, size_t room)
{
	const char *p = b->p;

	if (p && b->n > room)
		for (p += b->n - room; (*p & 0xc0) == 0x80;)
			p++;
	return p;
}

/* Makes a path unique: if another source has it, the number of the source stands before its
 * extension, by which the viewer chooses how to colour a text. */
static const char *distinct_path(struct strbuf *b, source_idx number, struct intern *known)
{
	uint32_t n = known->n, at = intern_add(known, str_of(path_end(b, MAX_PATH)));
	char tail[16];

	for (source_idx k = number; at < n; k++) {
		struct strbuf again = {0};
		int room = MAX_PATH - snprintf(tail, sizeof(tail), "~%u", k);
		const char *path = path_end(b, (size_t)room);
		const char *dot = strrchr(path_base(path), '.');
		size_t stem = dot && dot > path_base(path) ? (size_t)(dot - path) : strlen(path);

		sb_printf(&again, "%.*s%s%s", (int)stem, path, tail, path + stem);
		at = again.failed ? INTERN_NONE : intern_add(known, str_of(again.p));
		sb_free(&again);
	}
	return at == INTERN_NONE ? NULL : known->strs[at].p;
}

bool insight_make_paths(struct insight *s)
{
	struct strbuf b = {0};
	struct intern known;
	bool ok = true;

	s->paths = arena_zalloc(&s->arena, (size_t)s->t->n_sources + 1, sizeof(*s->paths));
	intern_init(&known);
	for (source_idx i = 0; ok && s->paths && i < s->t->n_sources; i++) {
		const char *path = s->t->sources[i].path;

		sb_reset(&b);
		/* the viewer rejects a block without a path */
		insight_put_utf8(&b, str_of(path && *path ? path : "unnamed"));
		for (size_t k = 0; k < b.n; k++)
			if ((unsigned char)b.p[k] < 0x20 || strchr(REFUSED, b.p[k]))
				b.p[k] = '_';
		path = b.failed ? NULL : distinct_path(&b, i, &known);
		s->paths[i] = path ? arena_strdup(&s->arena, path) : NULL;
		ok = s->paths[i] != NULL;
	}
	intern_deinit(&known);
	sb_free(&b);
	return ok && s->paths;
}

/* --- arguments --- */

/* Writes the frames as "a.cpp:12\nb.h:3", innermost first. */
static bool insight_text_put_stack(struct insight *s, const struct code_row *r, struct strbuf *b)
{
	for (uint16_t i = 0; i < r->n_frames; i++) {
		const struct frame *f = &s->t->frames[r->first_frame + i];

		sb_printf(b, "%s%s:%u", i ? "\n" : "",
			f->source < s->t->n_sources ? s->paths[f->source] : "", f->line);
	}
	return !b->failed;
}

const char *insight_row_args(struct insight *s, code_idx code)
{
	const struct code_row *r;
	struct strbuf b = {0}, stack = {0};
	struct json_writer w;
	struct str name = insight_event_name(s, code), text;
	size_t end;
	char pc[24];

	if (code >= s->t->n_code)
		return "{\"code\":\"\",\"detail\":\"\",\"pc_addr\":\"0x0\"";
	if (s->row_args[code])
		return s->row_args[code];
	r = &s->t->code[code];
	text = (struct str){r->text, r->text_len};
	/* end of the name, which points into the text if it is more than the opcode */
	end = name.p == insight_opcode(s, code).p ? name.n : (size_t)(name.p + name.n - text.p);
	snprintf(pc, sizeof(pc), "0x%llx", (unsigned long long)r->address);
	json_w_buf(&w, &b, 0);
	json_w_object(&w);
	if (insight_text_put_stack(s, r, &stack))
		json_w_kv_str(&w, "code", (struct str){stack.p ? stack.p : "", stack.n});
	json_w_kv_str(&w, "detail", str_sub(text, end + 1, text.n));
	json_w_kv_cstr(&w, "pc_addr", pc);
	if (!b.failed && !stack.failed)
		s->row_args[code] = arena_strndup(&s->arena, b.p, b.n);
	sb_free(&b);
	sb_free(&stack);
	return s->row_args[code];
}

/* Bytes moved by the executions of a row on one core; 0: not known. A trace that states them per
 * instruction alone has them for the only core that executed it. */
uint64_t insight_row_bytes(const struct insight *s, code_idx code, uint32_t unit)
{
	const struct insight_cell *c = &s->cells[(size_t)code * s->units.n];
	size_t n = 0;

	if (s->t->n_moved || s->selection)
		return c[unit].bytes;
	for (size_t i = 0; i < s->units.n; i++)
		n += c[i].hit != 0;
	return n == 1 && c[unit].hit ? s->t->code[code].bytes : 0;
}
