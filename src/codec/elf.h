/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h: reads the code object of a GPU: executable bytes by address, functions by name, notes. It
 * accepts images without program headers, without a null section and with zeros for machine and
 * entry size, which ELF libraries reject. Owner: the image borrows the bytes it was opened on;
 * tables and names are in the caller's arena. Threads: read-only once open. May fail: elf_open(),
 * on damage or memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#define ELF_MACHINE_AMDGPU 224u
#define ELF_MACHINE_CUDA 190u
#define ELF_NOTE_AMDGPU_METADATA 32u

struct elf_section {
	const char *name; /* "" if it has none */
	uint32_t type;
	uint64_t flags, address;
	const uint8_t *data; /* inside the image; NULL: no bytes in the file */
	uint64_t size;
	uint32_t link, info; /* as in the file */
};

struct elf_function {
	const char *name;
	const char *demangled; /* "" if the name is not mangled */
	uint64_t address, size;
};

struct elf_image {
	uint16_t machine; /* 0 in minimal images */
	uint8_t abi_version;
	uint32_t flags; /* e_flags: AMD keeps the target in the low byte */
	uint32_t n_sections;
	struct elf_section *sections;
	uint32_t n_functions;
	struct elf_function *functions; /* sorted by address, one per address, sizes never 0 */
};

/* `path` is for messages. Data outside the file or tables that do not fit are an error with the
 * offset. */
bool elf_open(struct elf_image *x, struct str bytes, const char *path, struct arena *a,
	struct incore_error *e);
/* Opens a cubin and reads only its sections: all of its code is at address 0 (cubin.h). */
bool elf_open_cuda(struct elf_image *x, struct str bytes, const char *path, struct arena *a,
	struct incore_error *e);

/* The executable section that holds address, or NULL. */
const struct elf_section *elf_code_at(const struct elf_image *x, uint64_t address);
/* The function that holds address, or NULL. */
const struct elf_function *elf_function_at(const struct elf_image *x, uint64_t address);
const struct elf_section *elf_section_named(const struct elf_image *x, const char *name);
/* The content of the first note of that owner and type; an empty string if there is none. */
struct str elf_note(const struct elf_image *x, const char *owner, uint32_t type);
