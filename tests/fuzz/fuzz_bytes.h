/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_bytes.h: fuzz input as readers want it: followed by zero bytes, in memory of its own. */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/ui_output/ui_output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline struct ui_bytes fuzz_bytes(const uint8_t *data, size_t size, const char *path)
{
	char *p = calloc(1, size + JSON_PAD);

	if (!p)
		abort();
	if (size)
		memcpy(p, data, size);
	return (struct ui_bytes){p, size, path};
}

static inline void fuzz_build_init(struct ui_build *b, const struct import_options *o)
{
	*b = (struct ui_build){.trace = trace_new(), .options = o, .dir = ".", .root.fd = -1};
	if (!b->trace)
		abort();
	arena_init(&b->scratch);
}

static inline void fuzz_build_deinit(struct ui_build *b)
{
	VEC_FREE(&b->names);
	VEC_FREE(&b->realtime);
	file_unload(&b->file);
	arena_deinit(&b->scratch);
	trace_free(b->trace);
}

#endif
