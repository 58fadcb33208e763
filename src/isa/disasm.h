/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disasm.h: the text of AMD instructions from a disassembler found at run time (the user's comgr,
 * LLVM 22, LLVM 19; llvm-objdump for a program that loads no libraries). For display alone: decoding, classes and waits never depend on it.
 *
 * The library is loaded in a child process and sees only words that our own table accepts, for
 * targets it is known to know: an unknown one would end its process, and some invalid words crash
 * it. A crash costs the text of one instruction.
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
	uint32_t len_bytes;   /* our length; a disassembler that disagrees is not believed */
	const char *text;     /* out: NULL where no disassembler gave one */
	bool is_accepted;     /* out: our table accepts the words; others are shown to nobody */
};

struct disasm_report {
	const char *source;  /* "LLVM 22.1.8", "comgr", in the arena; NULL: none was found */
	uint32_t n_texts;    /* given */
	uint32_t n_refused;  /* legal words the disassembler does not know */
	uint32_t n_rejected; /* words our table does not accept: never asked */
	uint32_t n_crashes;
	bool gave_up; /* too many crashes: the rest was not asked */
};

/* One kind of disassembler. Both functions run in the child. */
struct disasm_ops {
	const char *name; /* the word of INCORE_DISASM: "llvm", "comgr" */
	/* Loads the library (one of its usual names, or `path`) for a target such as "gfx950"; NULL
	 * if it is not there or must not be asked for this target. `version` gets what it calls
	 * itself. */
	void *(*open)(const char *path, const char *gpu, struct strbuf *version);
	/* Appends the text; false when it refuses the words or takes another length. */
	bool (*text)(void *d, const struct disasm_inst *i, struct strbuf *out);
};

extern const struct disasm_ops disasm_llvm, disasm_comgr;

/* May a version of LLVM be asked for this GPU? */
bool disasm_llvm_knows(unsigned version, const char *gpu);

/* All instructions by a program: `path`, or the first llvm-objdump in PATH that knows the GPU. Fills the
 * report as disasm_texts() does. */
bool disasm_program(struct disasm_inst *v, uint32_t n, const char *gpu, const char *path,
	struct arena *a, struct disasm_report *report, struct incore_error *e);

/* False: this program is static (packaging/static), and loads nothing. */
bool disasm_loads_libraries(void);

/*
 * which: NULL or "auto": the first that works; "none"; "llvm"; "comgr"; "objdump"; or the path of a
 * library or of an llvm-objdump.
 * Instructions must be given once each. False on lack of memory or processes.
 */
bool disasm_texts(struct disasm_inst *v, uint32_t n, const char *gpu, const char *which,
	struct arena *a, struct disasm_report *report, struct incore_error *e);
