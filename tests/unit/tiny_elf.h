/* SPDX-License-Identifier: Apache-2.0 */
/* tiny_elf.h: the smallest code objects for tests, made in memory. Owner: the caller's strbuf. */
#ifndef TESTS_UNIT_TINY_ELF_H
#define TESTS_UNIT_TINY_ELF_H

#include <stdint.h>

#include "base/str.h"

struct tiny_symbol {
	const char *name;
	uint64_t address, size;
};

struct tiny_elf {
	uint32_t flags;	  /* e_flags: 0x4f is gfx950 */
	uint16_t machine; /* 224 */
	uint64_t address; /* of the code */
	const uint8_t *code;
	uint32_t code_bytes;
	const struct tiny_symbol *symbols;
	uint32_t n_symbols;
};

/* Sections: null, .text, .symtab, .strtab; the section names are in .strtab too. */
void tiny_elf_make(const struct tiny_elf *t, struct strbuf *out);

#endif
