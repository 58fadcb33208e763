/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf.h: which source line an address comes from, with the chain of calls that were inlined.
 * Read by elfutils in a child process: a crash there on damaged debug info costs the source lines.
 * Owner: tables and strings are in the caller's arena.
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

struct dwarf_chain { /* of one address: innermost first */
	uint32_t first, n;
};

struct dwarf_lines {
	uint32_t n_files;
	const char **files; /* absolute where the debug info tells the directory */
	uint32_t n_frames;
	struct dwarf_frame *frames;
	uint32_t n_chains;
	struct dwarf_chain *chains; /* one per asked address; n 0: no source */
	const char *problem;	    /* why nothing or only a part was found; NULL: all was read */
};

/* Does the image hold debug info at all? A quick look at its section names. */
static inline bool dwarf_is_there(const struct elf_image *x)
{
	return elf_section_named(x, ".debug_line") != NULL;
}

/* Was the program built with a reader of debug info? Without one no address has a source. */
bool dwarf_is_built(void);

/* Looks up `n` ELF addresses. False on lack of memory or processes only. */
bool dwarf_lookup(struct dwarf_lines *out, struct str bytes, const uint64_t *addresses, uint32_t n,
	struct arena *a, struct incore_error *e);
