/* SPDX-License-Identifier: Apache-2.0 */
/* insight_text.c: times, arguments and names as trace.json and the tables spell them. */
#include "codec/insight_blocks.h"
#include "codec/json_writer.h"
#include "export/insight/insight.h"

/* Microseconds with six decimals (four without a clock): cycles come back exactly by rounding. */
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

const char *insight_source_path(struct insight *s, source_idx i)
{
	const char *path = s->t->sources[i].path ? s->t->sources[i].path : "";
	size_t n = strlen(path);
	char *out;

	if (n == 0)
		return "unnamed"; /* the viewer takes no block without a path */
	if (n >= INSIGHT_PATH_BYTES)
		path += n - (INSIGHT_PATH_BYTES - 1); /* its end tells most */
	if (!strchr(path, ':'))
		return path;
	out = arena_strdup(&s->arena, path);
	for (char *p = out; p && *p; p++)
		if (*p == ':')
			*p = '_';
	return out;
}

/* "a.cpp:12\nb.h:3", innermost first. */
static bool put_stack(struct insight *s, const struct code_row *r, struct strbuf *b)
{
	for (uint16_t i = 0; i < r->n_frames; i++) {
		const struct frame *f = &s->t->frames[r->first_frame + i];
		const char *path =
			f->source < s->t->n_sources ? insight_source_path(s, f->source) : "";

		if (!path)
			return false;
		sb_printf(b, "%s%s:%u", i ? "\n" : "", path, f->line);
	}
	return !b->failed;
}

const char *insight_row_args(struct insight *s, code_idx code)
{
	const struct code_row *r;
	struct strbuf b = {0}, stack = {0};
	struct json_writer w;
	struct str opcode = insight_opcode(s, code), text;
	char pc[24];

	if (code >= s->t->n_code)
		return "{\"code\":\"\",\"detail\":\"\",\"pc_addr\":\"0x0\"";
	if (s->row_args[code])
		return s->row_args[code];
	r = &s->t->code[code];
	text = (struct str){r->text, r->text_len};
	snprintf(pc, sizeof(pc), "0x%llx", (unsigned long long)r->address);
	json_w_buf(&w, &b, 0);
	json_w_object(&w);
	if (put_stack(s, r, &stack))
		json_w_kv_str(&w, "code", (struct str){stack.p ? stack.p : "", stack.n});
	json_w_kv_str(
		&w, "detail", text.n > opcode.n ? str_sub(text, opcode.n + 1, text.n) : STR(""));
	json_w_kv_cstr(&w, "pc_addr", pc);
	if (!b.failed && !stack.failed)
		s->row_args[code] = arena_strndup(&s->arena, b.p, b.n);
	sb_free(&b);
	sb_free(&stack);
	return s->row_args[code];
}

/* Bytes that the executions on one core moved, where they divide evenly; 0: not stated. */
uint64_t insight_row_bytes(const struct insight *s, code_idx code, uint32_t unit)
{
	const struct insight_cell *c = &s->cells[(size_t)code * s->units.n];
	uint64_t hits = 0;

	if (code >= s->t->n_code || !s->t->code[code].bytes)
		return 0;
	for (size_t i = 0; i < s->units.n; i++)
		hits += c[i].hit;
	if (!hits || s->t->code[code].bytes % hits)
		return 0;
	return s->t->code[code].bytes / hits * c[unit].hit;
}
