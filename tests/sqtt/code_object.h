/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_object.h: a program as the code object that a runtime loads: an ELF file for amdgcn with
 * symbols, kernel metadata and, where lines are given, DWARF 4 line information.
 */
#ifndef TESTS_SQTT_CODE_OBJECT_H
#define TESTS_SQTT_CODE_OBJECT_H

#include "base/str.h"
#include "program.h"

struct sq_object {
	const struct sq_program *program;
	const char *kernel;
	unsigned vgprs, agprs, sgprs, lds_bytes, wave_size, workgroup;
	const char *dir, *source; /* of the lines; NULL: no line information */
	const uint8_t *lines;	  /* one a program line; 0: none */
	/* Program lines [inlined_from, inlined_to) are the body of `inlined`, called on call_line.
	 */
	const char *inlined;
	uint32_t inlined_from, inlined_to;
	uint8_t call_line;
};

/* Appends the file's bytes; false on lack of memory. */
bool sq_write_object(const struct sq_object *o, struct strbuf *out);

#endif
