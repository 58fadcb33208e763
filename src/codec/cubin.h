/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cubin.h: the code of a CUDA binary. Each kernel has a section ".text.<name>", all at address 0;
 * functions that were not inlined are symbols inside one, or have a section of their own.
 * Owner: borrows the bytes; tables and names are in the caller's arena. Threads: read-only once
 * open. May fail: cubin_open(), on damage or memory.
 */
#pragma once

#include "codec/elf.h"

struct cubin_symbol { /* a function inside a section of code, at its start too */
	const char *name;
	uint32_t section; /* into elf.sections */
	uint32_t index;	  /* in the table of symbols */
	uint64_t offset, size;
};

struct cubin {
	struct elf_image elf;
	unsigned sm; /* 90; 0: not known */
	uint32_t n_symbols;
	struct cubin_symbol *symbols; /* by section, offset, name */
};

/* A relocation: what stands at `at` of a section is a place in another. */
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
/* The number of ".text.<name>"; UINT32_MAX: there is none. */
uint32_t cubin_find_code(const struct cubin *c, const char *name);
/* The relocations of a section; false on lack of memory. */
bool cubin_targets_of(const struct cubin *c, uint32_t section, struct cubin_targets *out);

/* One place in the source: the innermost first, then where each was inlined. */
struct cubin_frame {
	uint32_t file; /* into cubin_lines.files */
	uint32_t line;
	uint32_t outer; /* index + 1 of the frame that it was inlined into; 0: none */
};

struct cubin_line { /* from `offset` on, up to the next */
	uint32_t section;
	uint64_t offset;
	uint32_t frame; /* into cubin_lines.frames; UINT32_MAX: no source from here */
};

struct cubin_lines {
	uint32_t n_files;
	const char **files; /* absolute where the table tells the directory, "a/.." taken out */
	uint32_t n_frames;
	struct cubin_frame *frames;
	uint32_t n_lines;
	struct cubin_line *lines; /* by section, offset, order of the table */
	const char *problem;	  /* why nothing or only a part was read; NULL: all was */
};

/* The line tables of all sections, with NVIDIA's records of inlined calls. False on lack of memory
 * only: damage is a problem. */
bool cubin_lines_read(
	const struct cubin *c, struct cubin_lines *out, struct arena *a, struct incore_error *e);
/* The frame of an instruction, or NULL. */
const struct cubin_frame *cubin_frame_at(
	const struct cubin_lines *l, uint32_t section, uint64_t offset);
/* A path with "." and "a/.." taken out, in the arena; NULL on lack of memory. */
char *cubin_plain_path(struct arena *a, const char *path);
