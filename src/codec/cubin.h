/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cubin.h: the code of a CUDA binary. Each kernel has a section ".text.<name>", all at address 0;
 * functions that were not inlined are symbols inside one, or have a section of their own.
 * Owner: borrows the bytes; tables and names are in the caller's arena. Threads: read-only once
 * open. May fail: cubin_open(), on damage or memory.
 */
#pragma once

#include "codec/elf.h"

struct cubin_symbol { /* a function inside a code section, also one at its start */
	const char *name;
	uint32_t section; /* into elf.sections */
	uint32_t index;	  /* in the symbol table */
	uint64_t offset, size;
};

struct cubin {
	struct elf_image elf;
	unsigned sm; /* 90; 0: unknown */
	uint32_t n_symbols;
	struct cubin_symbol *symbols; /* by section, offset, name */
};

/* A relocation: the value at offset `at` of a section is a place in another section. */
struct cubin_target {
	uint64_t at;
	uint32_t section;
	uint64_t offset;
};

struct cubin_targets {
	struct cubin_target *v; /* by `at`; the caller frees it (VEC_FREE) */
	size_t n, cap;
};

bool cubin_open(struct cubin *c, struct str bytes, const char *path, struct arena *a,
	struct incore_error *e);
/* The index of the section ".text.<name>"; UINT32_MAX: not found. */
uint32_t cubin_find_code(const struct cubin *c, const char *name);
/* Lists the relocations of a section; false when out of memory. */
bool cubin_targets_of(const struct cubin *c, uint32_t section, struct cubin_targets *out);

/* One place in the source. Chains go from the innermost frame outwards to the callers. */
struct cubin_frame {
	uint32_t file; /* into cubin_lines.files */
	uint32_t line;
	uint32_t outer; /* index + 1 of the frame it was inlined into; 0: none */
};

struct cubin_line { /* valid from `offset` up to the next entry */
	uint32_t section;
	uint64_t offset;
	uint32_t frame; /* into cubin_lines.frames; UINT32_MAX: no source from here */
};

struct cubin_lines {
	uint32_t n_files;
	const char **files; /* absolute if the table has the directory; "a/.." removed */
	uint32_t n_frames;
	struct cubin_frame *frames;
	uint32_t n_lines;
	struct cubin_line *lines; /* sorted by section, offset, order in the table */
	const char *problem;	  /* why nothing or only a part was read; NULL: all was read */
};

/* Reads the line tables of all sections, with NVIDIA's records of inlined calls. False only when
 * out of memory: damage is reported in `problem`. */
bool cubin_lines_read(
	const struct cubin *c, struct cubin_lines *out, struct arena *a, struct incore_error *e);
/* The frame of an instruction, or NULL. */
const struct cubin_frame *cubin_frame_at(
	const struct cubin_lines *l, uint32_t section, uint64_t offset);
/* Returns the path without "." and "a/..", in the arena; NULL when out of memory. */
char *cubin_plain_path(struct arena *a, const char *path);
