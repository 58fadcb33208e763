/* SPDX-License-Identifier: Apache-2.0 */
/* A .pto file of any bytes: read, or refused with a message. */
#include <stdlib.h>

#include "replay/source/pto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct incore_error e = {0};
	struct pto_module m;
	struct arena a;

	arena_init(&a);
	if (!pto_read(&a, (struct str){(const char *)data, size}, "fuzz", NULL, &m, &e) &&
		!e.message)
		abort();
	incore_error_clear(&e);
	arena_deinit(&a);
	return 0;
}
