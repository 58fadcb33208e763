/* SPDX-License-Identifier: Apache-2.0 */
/* Arg-specs of any bytes, and any bytes as the word of an argument. */
#include <stdlib.h>

#include "base/file.h"
#include "model/record/argspec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = calloc(1, size + FILE_PAD);
	struct argspec a;

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	argspec_init(&a);
	argspec_read(&a, copy, size, "fuzz", NULL);
	argspec_add_word(&a, copy, NULL);
	for (size_t i = 0; i < a.slots.n; i++)
		if (a.slots.v[i].slot >= 48 || (i && a.slots.v[i].slot <= a.slots.v[i - 1].slot))
			abort();
	argspec_deinit(&a);
	free(copy);
	return 0;
}
