/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disasm.h: the text of AMD instructions from a disassembler found at run time (the user's comgr,
 * LLVM 22, LLVM 19; llvm-objdump for a program that loads no libraries). For display only:
 * decoding, classes and waits never depend on it.
 *
 * The library is loaded in a child process and sees only words that our own table accepts, for
 * targets it is known to support: an unknown target would end the process, and some invalid words
 * crash it. A crash costs the text of one instruction.
 * Owner: texts are in the caller's arena.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "isa/amd_code.h"

struct disasm_inst {
	const uint8_t *bytes; /* borrowed */
	uint64_t address;     /* ELF address */
	uint32_t len_bytes;   /* our length; text for another length is rejected */
	const char *text;     /* out: NULL if no disassembler gave one */
	bool is_accepted;     /* out: our table accepts the words; others are never disassembled */
};

struct disasm_report {
	const char *source;  /* "LLVM 22.1.8", "comgr", in the arena; NULL: not found */
	uint32_t n_texts;    /* texts obtained */
	uint32_t n_refused;  /* valid words the disassembler does not know */
	uint32_t n_rejected; /* words our table does not accept: not passed on */
	uint32_t n_crashes;
	bool gave_up; /* too many crashes: the rest was skipped */
};

/* One kind of disassembler. Both functions run in the child. */
struct disasm_ops {
	const char *name; /* the word of INCORE_DISASM: "llvm", "comgr" */
	/* Loads the library (one of its usual names, or `path`) for a target such as "gfx950"; NULL
	 * if it is missing or must not be used for this target. `version` gets its version
	 * string. */
	void *(*open)(const char *path, const char *gpu, struct strbuf *version);
	/* Appends the text; false if the library refuses the words or reads another length. */
	bool (*text)(void *d, const struct disasm_inst *i, struct strbuf *out);
};

/* False if this program is static (packaging/static) and cannot load libraries. */
bool disasm_loads_libraries(void);

/*
 * which: NULL or "auto": the first that works; "none"; "llvm"; "comgr"; "objdump"; or the path of a
 * library or of an llvm-objdump. Each instruction must be passed only once. False on lack of memory
 * or processes.
 */
bool disasm_texts(struct disasm_inst *v, uint32_t n, const char *gpu, const char *which,
	struct arena *a, struct disasm_report *report, struct incore_error *e);
