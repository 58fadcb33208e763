/* SPDX-License-Identifier: Apache-2.0 */
/* Arg-specs of any bytes, and any bytes as the word of an argument. */
#include <stdlib.h>

#include "args/spec.h"
#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = calloc(1, size + FILE_PAD);
	struct args a;

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	args_init(&a);
	args_read_spec(&a, copy, size, "fuzz", NULL);
	args_add_word(&a, copy, NULL);
	for (uint32_t i = 0; i < ARG_SLOTS; i++)
		if (a.slots[i].is_used && (a.slots[i].slot != i || i >= ARG_CONTEXT_SLOT))
			abort();
	args_deinit(&a);
	free(copy);
	return 0;
}
