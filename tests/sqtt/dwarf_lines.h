/* SPDX-License-Identifier: Apache-2.0 */
/* dwarf_lines.h: DWARF 4 of one source file, one kernel and one call that was inlined. */
#ifndef TESTS_SQTT_DWARF_LINES_H
#define TESTS_SQTT_DWARF_LINES_H

#include "code_object.h"

void sq_put_dwarf(
	const struct sq_object *o, struct strbuf *abbrev, struct strbuf *info, struct strbuf *line);
/* code_object.c: little-endian integer */
void sq_put_int(struct strbuf *b, uint64_t v, unsigned n_bytes);

#endif
