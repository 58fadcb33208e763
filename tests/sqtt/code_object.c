/* SPDX-License-Identifier: Apache-2.0 */
/* code_object.c: sections first, each a buffer; then the file around them. */
#include "code_object.h"

#include <stdio.h>

#include "dwarf_lines.h"

enum section {
	S_NULL,
	S_NOTE,
	S_RODATA,
	S_TEXT,
	S_SYMTAB,
	S_STRTAB,
	S_ABBREV,
	S_INFO,
	S_LINE,
	S_SHSTRTAB,
	S_COUNT
};

static const struct {
	const char *name;
	uint32_t type, flags, link, info, entry_size, align;
} sections[S_COUNT] = {
	[S_NULL] = {"", 0, 0, 0, 0, 0, 0},
	[S_NOTE] = {".note", 7, 2, 0, 0, 0, 4},
	[S_RODATA] = {".rodata", 1, 2, 0, 0, 0, 64},
	[S_TEXT] = {".text", 1, 6, 0, 0, 0, 256},
	[S_SYMTAB] = {".symtab", 2, 0, S_STRTAB, 1, 24, 8},
	[S_STRTAB] = {".strtab", 3, 0, 0, 0, 0, 1},
	[S_ABBREV] = {".debug_abbrev", 1, 0, 0, 0, 0, 1},
	[S_INFO] = {".debug_info", 1, 0, 0, 0, 0, 1},
	[S_LINE] = {".debug_line", 1, 0, 0, 0, 0, 1},
	[S_SHSTRTAB] = {".shstrtab", 3, 0, 0, 0, 0, 1},
};

#define EM_AMDGPU 224
#define EHDR_SIZE 64u
#define PHDR_SIZE 56u
#define SHDR_SIZE 64u
#define RODATA_ADDRESS 0x400u
#define NOTE_ADDRESS 0x200u

struct image {
	struct strbuf s[S_COUNT];
	uint32_t name[S_COUNT]; /* in .shstrtab */
	uint64_t offset[S_COUNT];
};

void sq_put_int(struct strbuf *b, uint64_t v, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		sb_putc(b, (char)(v >> 8 * i));
}

static void pad(struct strbuf *b, size_t align)
{
	while (align && b->n % align && !b->failed)
		sb_putc(b, 0);
}

/* --- MessagePack --- */

static void pack_str(struct strbuf *b, const char *s)
{
	size_t n = strlen(s);

	if (n < 32) {
		sb_putc(b, (char)(0xa0 | n));
	} else {
		sb_putc(b, (char)0xd9);
		sb_putc(b, (char)n);
	}
	sb_add(b, s, n);
}

static void pack_uint(struct strbuf *b, uint32_t v)
{
	if (v < 128) {
		sb_putc(b, (char)v);
		return;
	}
	sb_putc(b, (char)0xce);
	for (int i = 3; i >= 0; i--)
		sb_putc(b, (char)(v >> 8 * i));
}

static void pack_fact(struct strbuf *b, const char *key, uint32_t v)
{
	pack_str(b, key);
	pack_uint(b, v);
}

static void put_metadata(struct strbuf *b, const struct sq_object *o)
{
	char text[128];

	sb_putc(b, (char)0x83);
	pack_str(b, "amdhsa.kernels");
	sb_putc(b, (char)0x91);
	sb_putc(b, (char)0x8a);
	pack_fact(b, ".agpr_count", o->agprs);
	pack_fact(b, ".group_segment_fixed_size", o->lds_bytes);
	pack_fact(b, ".kernarg_segment_size", 24);
	pack_fact(b, ".max_flat_workgroup_size", o->workgroup);
	pack_str(b, ".name");
	pack_str(b, o->kernel);
	pack_fact(b, ".private_segment_fixed_size", 0);
	pack_fact(b, ".sgpr_count", o->sgprs);
	pack_str(b, ".symbol");
	snprintf(text, sizeof(text), "%s.kd", o->kernel);
	pack_str(b, text);
	pack_fact(b, ".vgpr_count", o->vgprs);
	pack_fact(b, ".wavefront_size", o->wave_size);
	pack_str(b, "amdhsa.target");
	snprintf(text, sizeof(text), "amdgcn-amd-amdhsa--%s", sq_gpu_name(o->program->gen));
	pack_str(b, text);
	pack_str(b, "amdhsa.version");
	sb_putc(b, (char)0x92);
	pack_uint(b, 1);
	pack_uint(b, 2);
}

static void put_note(struct strbuf *b, const struct sq_object *o)
{
	struct strbuf text = {0};

	put_metadata(&text, o);
	sq_put_int(b, 7, 4); /* "AMDGPU" */
	sq_put_int(b, text.n, 4);
	sq_put_int(b, 32, 4); /* NT_AMDGPU_METADATA */
	sb_add(b, "AMDGPU\0", 8);
	sb_add(b, text.p, text.n);
	pad(b, 4);
	b->failed |= text.failed;
	sb_free(&text);
}

/* --- ELF --- */

static void put_symbol(struct image *m, const char *name, unsigned info, unsigned section,
	uint64_t value, uint64_t size)
{
	struct strbuf *b = &m->s[S_SYMTAB];

	sq_put_int(b, m->s[S_STRTAB].n, 4);
	sq_put_int(b, info, 1);
	sq_put_int(b, 0, 1);
	sq_put_int(b, section, 2);
	sq_put_int(b, value, 8);
	sq_put_int(b, size, 8);
	sb_add(&m->s[S_STRTAB], name, strlen(name) + 1);
}

static void put_sections(struct image *m, const struct sq_object *o)
{
	const struct sq_program *p = o->program;
	char kd[128];

	snprintf(kd, sizeof(kd), "%s.kd", o->kernel);
	put_note(&m->s[S_NOTE], o);
	for (int i = 0; i < 64; i++) /* a descriptor nobody reads here */
		sb_putc(&m->s[S_RODATA], 0);
	sb_add(&m->s[S_TEXT], (const char *)p->bytes, p->size);
	sb_putc(&m->s[S_STRTAB], 0);
	for (int i = 0; i < 24; i++)
		sb_putc(&m->s[S_SYMTAB], 0);
	put_symbol(m, o->kernel, 0x12, S_TEXT, p->vaddr, p->size); /* global function */
	put_symbol(m, kd, 0x11, S_RODATA, RODATA_ADDRESS, 64);	   /* global object */
	if (o->source)
		sq_put_dwarf(o, &m->s[S_ABBREV], &m->s[S_INFO], &m->s[S_LINE]);
	for (int i = 0; i < S_COUNT; i++) {
		m->name[i] = (uint32_t)m->s[S_SHSTRTAB].n;
		sb_add(&m->s[S_SHSTRTAB], sections[i].name, strlen(sections[i].name) + 1);
	}
}

static uint64_t address_of(const struct sq_object *o, int section)
{
	return section == S_TEXT     ? o->program->vaddr
	       : section == S_RODATA ? RODATA_ADDRESS
	       : section == S_NOTE   ? NOTE_ADDRESS
				     : 0;
}

static void put_file_header(struct strbuf *b, const struct sq_object *o, uint64_t sections_at)
{
	sb_add(b, "\177ELF\2\1\1\100\4\0\0\0\0\0\0\0", 16); /* 64 bit, little endian, HSA */
	sq_put_int(b, 3, 2);				    /* ET_DYN */
	sq_put_int(b, EM_AMDGPU, 2);
	sq_put_int(b, 1, 4);
	sq_put_int(b, 0, 8);
	sq_put_int(b, EHDR_SIZE, 8);
	sq_put_int(b, sections_at, 8);
	sq_put_int(b, sq_elf_flags(o->program->gen), 4);
	sq_put_int(b, EHDR_SIZE, 2);
	sq_put_int(b, PHDR_SIZE, 2);
	sq_put_int(b, 1, 2);
	sq_put_int(b, SHDR_SIZE, 2);
	sq_put_int(b, S_COUNT, 2);
	sq_put_int(b, S_SHSTRTAB, 2);
}

/* What is loaded: the code. */
static void put_program_header(
	struct strbuf *b, const struct image *m, const struct sq_object *o, size_t at)
{
	struct strbuf h = {0};

	sq_put_int(&h, 1, 4); /* PT_LOAD */
	sq_put_int(&h, 5, 4); /* read, execute */
	sq_put_int(&h, m->offset[S_TEXT], 8);
	sq_put_int(&h, o->program->vaddr, 8);
	sq_put_int(&h, o->program->vaddr, 8);
	sq_put_int(&h, m->s[S_TEXT].n, 8);
	sq_put_int(&h, m->s[S_TEXT].n, 8);
	sq_put_int(&h, 256, 8);
	if (!h.failed && !b->failed)
		memcpy(b->p + at, h.p, h.n);
	b->failed |= h.failed;
	sb_free(&h);
}

static void put_section_header(
	struct strbuf *b, const struct image *m, const struct sq_object *o, int i)
{
	sq_put_int(b, m->name[i], 4);
	sq_put_int(b, sections[i].type, 4);
	sq_put_int(b, sections[i].flags, 8);
	sq_put_int(b, address_of(o, i), 8);
	sq_put_int(b, m->offset[i], 8);
	sq_put_int(b, m->s[i].n, 8);
	sq_put_int(b, sections[i].link, 4);
	sq_put_int(b, sections[i].info, 4);
	sq_put_int(b, sections[i].align, 8);
	sq_put_int(b, sections[i].entry_size, 8);
}

bool sq_write_object(const struct sq_object *o, struct strbuf *out)
{
	struct image m = {.name = {0}};
	struct strbuf b = {0};
	uint64_t at = EHDR_SIZE + PHDR_SIZE;

	put_sections(&m, o);
	for (int i = 1; i < S_COUNT; i++) {
		uint32_t align = sections[i].align;

		m.offset[i] = at = (at + align - 1) / align * align;
		at += m.s[i].n;
	}
	at = (at + 7) / 8 * 8;
	put_file_header(&b, o, at);
	for (int i = 1; i < S_COUNT; i++) {
		while (b.n < m.offset[i] && !b.failed)
			sb_putc(&b, 0);
		if (m.s[i].n)
			sb_add(&b, m.s[i].p, m.s[i].n);
	}
	pad(&b, 8);
	put_program_header(&b, &m, o, EHDR_SIZE);
	for (int i = 0; i < S_COUNT; i++) {
		put_section_header(&b, &m, o, i);
		b.failed |= m.s[i].failed;
		sb_free(&m.s[i]);
	}
	if (!b.failed)
		sb_add(out, b.p, b.n);
	at = b.failed;
	sb_free(&b);
	return !at && !out->failed;
}
