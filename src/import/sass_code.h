/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_code.h: brings the code of an NVIDIA kernel into a trace, for every file format: binaries,
 * their functions that ran, rows with source lines, which rows each row may have waited for. An
 * importer fills binaries, functions and copies, and marks functions as used.
 * Owner: everything borrows the file's bytes and is in the arenas of the trace and of the caller;
 * sass_code_init() .. sass_code_deinit(). Threads: one.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "codec/cubin.h"
#include "import/import.h"

#define SASS_INST_BYTES 16u
#define SASS_NO_FUNCTION UINT32_MAX

struct sass_binary {
	uint64_t id;
	struct str bytes;
	bool is_open;
	struct cubin cubin;
	struct cubin_lines lines;
};

struct sass_function {
	const char *name;
	uint64_t load;	 /* address of its first instruction */
	uint32_t binary; /* into sass_code.binaries */
	uint32_t section;
	const uint8_t *code; /* NULL: not in the binary */
	uint64_t size;
	bool is_used, is_kernel;
	uint32_t n_inst;
	code_idx *row_of; /* by instruction */
};

struct source_copy {
	const char *path;
	struct str text;
};

struct sass_code {
	struct trace *t;
	const struct import_options *options;
	struct arena *scratch;
	const char *path; /* for messages */
	struct str file;  /* all of it: binaries lie inside */
	VEC(struct sass_binary) binaries;
	VEC(struct sass_function) functions; /* sorted by load address after sass_find_code() */
	VEC(struct source_copy) copies;
	VEC(struct code_row) rows;
	VEC(struct frame) frames;
	VEC(const char *) chain_texts; /* by index of chains */
	struct intern opcodes, paths, chains;
	uint64_t n_unsure; /* instructions with an operand that our disassembler does not know */
};

void sass_code_init(struct sass_code *c);
void sass_code_deinit(struct sass_code *c);

/* Opens a binary; an unreadable one becomes a note. */
bool sass_open_binary(struct sass_code *c, struct sass_binary *b, struct incore_error *e);
/* Finds the code of each function and sorts the functions. */
void sass_find_code(struct sass_code *c);
/* The function that holds an address, or SASS_NO_FUNCTION. */
uint32_t sass_function_at(const struct sass_code *c, uint64_t address);
/* Adds rows, lines and texts of all used functions to the trace, kernels first. */
bool sass_list_code(struct sass_code *c, struct incore_error *e);
/* The row of an instruction by its address, or NO_CODE. */
code_idx sass_row_at(const struct sass_code *c, uint64_t address);
/* After samples were added: finds what rows waited for and where they can branch. */
bool sass_link_code(struct sass_code *c, struct incore_error *e);
