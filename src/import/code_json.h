/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_json.h: code.json of rocprofv3, the table of the instructions of the symbols that ran. It
 * stands in decoded directories and beside raw streams.
 * Bytes are followed by JSON_PAD zero bytes.
 */
#pragma once

#include "import/import.h"

struct code_json {
	bool has_samples; /* PC samples, which the trace then has */
	uint64_t hash;	  /* of text, number, source, code object and address of all rows */
};

/* Fills in code, opcodes, frames, sources, samples and names of markers of t; on failure *t may
 * have some of them. */
bool code_json_read(struct trace *t, struct str in, const char *path, struct code_json *out,
	struct incore_error *e);
/* Finds the number of rows and of mapped instruction rows, and the hash. */
bool code_json_look(struct str in, const char *path, struct capture *c, uint64_t *hash);
