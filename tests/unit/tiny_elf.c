/* SPDX-License-Identifier: Apache-2.0 */
#include "tiny_elf.h"

#include "codec/varint.h"

#define HEADER_BYTES 64u
#define SECTION_BYTES 64u
#define SYMBOL_BYTES 24u

static void put_u16(struct strbuf *b, unsigned v)
{
	bytes_put_u8(b, (uint8_t)v);
	bytes_put_u8(b, (uint8_t)(v >> 8));
}

struct section {
	uint32_t name, type;
	uint64_t flags, address, offset, size;
	uint32_t link;
};

static void put_section(struct strbuf *b, struct section s)
{
	bytes_put_u32(b, s.name);
	bytes_put_u32(b, s.type);
	bytes_put_u64(b, s.flags);
	bytes_put_u64(b, s.address);
	bytes_put_u64(b, s.offset);
	bytes_put_u64(b, s.size);
	bytes_put_u32(b, s.link);
	for (unsigned i = 0; i < 5; i++)
		bytes_put_u32(b, 0);
}

static void put_header(struct strbuf *b, const struct tiny_elf *t, uint64_t sections_at)
{
	sb_add(b, "\177ELF\2\1\1\100\4\0\0\0\0\0\0\0", 16);
	put_u16(b, 3);
	put_u16(b, t->machine);
	bytes_put_u32(b, 1);
	bytes_put_u64(b, 0);
	bytes_put_u64(b, 0);
	bytes_put_u64(b, sections_at);
	bytes_put_u32(b, t->flags);
	put_u16(b, HEADER_BYTES);
	for (unsigned i = 0; i < 2; i++)
		put_u16(b, 0);
	put_u16(b, SECTION_BYTES);
	put_u16(b, 4);
	put_u16(b, 3);
}

void tiny_elf_make(const struct tiny_elf *t, struct strbuf *out)
{
	struct strbuf names = {0}, symbols = {0};
	uint64_t code_at = HEADER_BYTES, symbols_at = code_at + t->code_bytes, names_at;

	sb_add(&names, "\0.text\0.symtab\0.strtab", 23);
	for (unsigned i = 0; i < SYMBOL_BYTES; i++)
		bytes_put_u8(&symbols, 0);
	for (uint32_t i = 0; i < t->n_symbols; i++) {
		bytes_put_u32(&symbols, (uint32_t)names.n);
		bytes_put_u8(&symbols, 0x12); /* global function */
		bytes_put_u8(&symbols, 0);
		put_u16(&symbols, 1);
		bytes_put_u64(&symbols, t->symbols[i].address);
		bytes_put_u64(&symbols, t->symbols[i].size);
		sb_add(&names, t->symbols[i].name, strlen(t->symbols[i].name) + 1);
	}
	names_at = symbols_at + symbols.n;
	put_header(out, t, names_at + names.n);
	sb_add(out, (const char *)t->code, t->code_bytes);
	sb_add(out, symbols.p, symbols.n);
	sb_add(out, names.p, names.n);
	put_section(out, (struct section){0, 0, 0, 0, 0, 0, 0});
	put_section(out, (struct section){1, 1, 6, t->address, code_at, t->code_bytes, 0});
	put_section(out, (struct section){7, 2, 0, 0, symbols_at, symbols.n, 3});
	put_section(out, (struct section){15, 3, 0, 0, names_at, names.n, 0});
	sb_free(&names);
	sb_free(&symbols);
}
