/* SPDX-License-Identifier: Apache-2.0 */
/* code.h: the code of a result while it is read; shared by code.c, figures.c and sass.c alone. */
#pragma once

#include "base/map.h"
#include "import/ncu/ncu.h"

#define NCU_INST_BYTES 16u

struct ncu_binary {
	uint64_t id;
	struct str bytes;
	bool is_open;
	struct cubin cubin;
	struct cubin_lines lines;
};

struct ncu_function {
	const char *name;
	uint64_t load;	 /* address of its first instruction in the device's memory */
	uint32_t binary; /* into code_build.binaries */
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

struct code_build {
	struct ncu_build *b;
	VEC(struct ncu_binary) binaries;
	VEC(struct ncu_function) functions; /* by load address */
	VEC(struct source_copy) copies;
	VEC(struct code_row) rows;
	VEC(struct frame) frames;
	VEC(const char *) chain_texts; /* by index of chains */
	struct intern opcodes, paths, chains;
	uint64_t n_unsure; /* instructions with an operand that our text does not know */
};

/* The row of an instruction by its address, or NO_CODE. */
code_idx ncu_row_at(const struct code_build *c, uint64_t address);
/* Executions, samples and other figures, once the rows are in the trace. */
bool ncu_read_figures(struct code_build *c, struct incore_error *e);
/* Texts of rows from nvdisasm, where it is installed and INCORE_DISASM does not say otherwise. */
bool ncu_ask_nvdisasm(struct code_build *c, struct incore_error *e);
/* Text, opcode and class of each row; a text that is there stays. */
bool ncu_write_texts(struct code_build *c, struct incore_error *e);
/* Once samples are there: whom rows waited for, and where they can go. */
bool ncu_link_code(struct code_build *c, struct incore_error *e);
