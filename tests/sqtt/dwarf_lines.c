/* SPDX-License-Identifier: Apache-2.0 */
/* dwarf_lines.c: which source line each instruction comes from, as a compiler would write it. */
#include "dwarf_lines.h"

enum tag { TAG_UNIT = 0x11, TAG_INLINED = 0x1d, TAG_FUNCTION = 0x2e };
enum attribute {
	AT_NAME = 0x03,
	AT_STMT_LIST = 0x10,
	AT_LOW_PC = 0x11,
	AT_HIGH_PC = 0x12,
	AT_COMP_DIR = 0x1b,
	AT_INLINE = 0x20,
	AT_ORIGIN = 0x31,
	AT_CALL_FILE = 0x58,
	AT_CALL_LINE = 0x59,
};
enum form {
	ADDR = 0x01,
	DATA4 = 0x06,
	STRING = 0x08,
	DATA1 = 0x0b,
	REF4 = 0x13,
	SEC_OFFSET = 0x17
};
enum opcode { COPY = 1, ADVANCE_PC = 2, ADVANCE_LINE = 3, END_SEQUENCE = 1, SET_ADDRESS = 2 };
enum abbreviation { A_UNIT = 1, A_ABSTRACT, A_FUNCTION, A_INLINED };

static void put_abbreviations(struct strbuf *b)
{
	static const uint8_t bytes[] = {A_UNIT, TAG_UNIT, 1, AT_NAME, STRING, AT_COMP_DIR, STRING,
		AT_STMT_LIST, SEC_OFFSET, AT_LOW_PC, ADDR, AT_HIGH_PC, DATA4, 0, 0, A_ABSTRACT,
		TAG_FUNCTION, 0, AT_NAME, STRING, AT_INLINE, DATA1, 0, 0, A_FUNCTION, TAG_FUNCTION,
		1, AT_NAME, STRING, AT_LOW_PC, ADDR, AT_HIGH_PC, DATA4, 0, 0, A_INLINED,
		TAG_INLINED, 0, AT_ORIGIN, REF4, AT_LOW_PC, ADDR, AT_HIGH_PC, DATA4, AT_CALL_FILE,
		DATA1, AT_CALL_LINE, DATA1, 0, 0, 0};

	sb_add(b, (const char *)bytes, sizeof(bytes));
}

static void put_text(struct strbuf *b, const char *s)
{
	sb_add(b, s, strlen(s) + 1);
}

static uint64_t vaddr_of(const struct sq_program *p, uint32_t line)
{
	return line < p->n ? p->lines[line].vaddr : p->vaddr + p->size;
}

static void put_info(struct strbuf *b, const struct sq_object *o)
{
	const struct sq_program *p = o->program;
	struct strbuf d = {0};
	size_t origin;

	sq_put_int(&d, 4, 2); /* version */
	sq_put_int(&d, 0, 4); /* abbreviations */
	sq_put_int(&d, 8, 1); /* address size */
	sb_putc(&d, A_UNIT);
	put_text(&d, o->source);
	put_text(&d, o->dir);
	sq_put_int(&d, 0, 4);
	sq_put_int(&d, p->vaddr, 8);
	sq_put_int(&d, p->size, 4);
	origin = d.n + 4; /* of the unit, its length included */
	if (o->inlined) {
		sb_putc(&d, A_ABSTRACT);
		put_text(&d, o->inlined);
		sb_putc(&d, 1);
	}
	sb_putc(&d, A_FUNCTION);
	put_text(&d, o->kernel);
	sq_put_int(&d, p->vaddr, 8);
	sq_put_int(&d, p->size, 4);
	if (o->inlined) {
		uint64_t from = vaddr_of(p, o->inlined_from), to = vaddr_of(p, o->inlined_to);

		sb_putc(&d, A_INLINED);
		sq_put_int(&d, origin, 4);
		sq_put_int(&d, from, 8);
		sq_put_int(&d, to - from, 4);
		sb_putc(&d, 1);
		sb_putc(&d, (char)o->call_line);
	}
	sb_add(&d, "\0\0", 2);
	sq_put_int(b, d.n, 4);
	if (!d.failed)
		sb_add(b, d.p, d.n);
	b->failed |= d.failed;
	sb_free(&d);
}

/* Signed number in groups of seven bits; lines differ by less than 64. */
static void put_line_step(struct strbuf *b, int step)
{
	sb_putc(b, ADVANCE_LINE);
	sb_putc(b, (char)(step & 0x7f));
}

static void put_rows(struct strbuf *b, const struct sq_object *o)
{
	const struct sq_program *p = o->program;
	uint64_t at = p->vaddr;
	int line = 1;

	sb_add(b, "\0\11", 2);
	sb_putc(b, SET_ADDRESS);
	sq_put_int(b, at, 8);
	for (uint32_t i = 0; i < p->n; i++) {
		sb_putc(b, ADVANCE_PC);
		sb_putc(b, (char)(p->lines[i].vaddr - at));
		at = p->lines[i].vaddr;
		put_line_step(b, o->lines[i] - line);
		line = o->lines[i];
		sb_putc(b, COPY);
	}
	sb_putc(b, ADVANCE_PC);
	sb_putc(b, (char)(p->vaddr + p->size - at));
	sb_add(b, "\0\1", 2);
	sb_putc(b, END_SEQUENCE);
}

static void put_lines(struct strbuf *b, const struct sq_object *o)
{
	static const char lengths[] = "\0\1\1\1\1\0\0\0\1\0\0\1";
	struct strbuf head = {0}, rows = {0};

	sb_add(&head, "\1\1\1\373\16\15", 6); /* units of 1 byte, statements, -5, 14, 13 opcodes */
	sb_add(&head, lengths, sizeof(lengths) - 1);
	sb_putc(&head, 0); /* no directories but the unit's */
	put_text(&head, o->source);
	sb_add(&head, "\0\0\0\0", 4); /* directory, time, size; end of files */
	put_rows(&rows, o);
	sq_put_int(b, 2 + 4 + head.n + rows.n, 4);
	sq_put_int(b, 4, 2);
	sq_put_int(b, head.n, 4);
	b->failed |= head.failed || rows.failed;
	if (!b->failed) {
		sb_add(b, head.p, head.n);
		sb_add(b, rows.p, rows.n);
	}
	sb_free(&head);
	sb_free(&rows);
}

void sq_put_dwarf(
	const struct sq_object *o, struct strbuf *abbrev, struct strbuf *info, struct strbuf *line)
{
	put_abbreviations(abbrev);
	put_info(info, o);
	put_lines(line, o);
}
