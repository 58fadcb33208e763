/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf.h: the source line of an address, with its chain of inlined calls. elfutils reads it in a
 * child process: if damaged debug info makes it crash, only the source lines are lost. Owner:
 * tables and strings are in the caller's arena.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "codec/elf.h"

struct dwarf_frame {
	uint32_t file; /* into dwarf_lines.files */
	uint32_t line, column;
};

struct dwarf_chain { /* frames of one address, innermost first */
	uint32_t first, n;
};

struct dwarf_lines {
	uint32_t n_files;
	const char **files; /* absolute if the debug info has the directory */
	uint32_t n_frames;
	struct dwarf_frame *frames;
	uint32_t n_chains;
	struct dwarf_chain *chains; /* one per requested address; n 0: no source */
	const char *problem;	    /* why lines are missing; NULL: all was read */
};

/* Does the image hold debug info at all? A quick look at its section names. */
static inline bool dwarf_is_there(const struct elf_image *x)
{
	return elf_section_named(x, ".debug_line") != NULL;
}

/* Was the program built with a reader of debug info? Without it no address has a source. */
bool dwarf_is_built(void);

/* Looks up `n` ELF addresses. False only when out of memory or processes. */
bool dwarf_lookup(struct dwarf_lines *out, struct str bytes, const uint64_t *addresses, uint32_t n,
	struct arena *a, struct incore_error *e);
