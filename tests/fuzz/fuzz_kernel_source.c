/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel source of any bytes: masked to the same length, then searched for its kernel. */
#include <stdlib.h>

#include "replay/source/signature.h"
#include "replay/source/source_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct incore_error e = {0};
	struct kernel_signature s;
	struct strbuf b = {0};
	struct arena a;

	arena_init(&a);
	if (source_mask((struct str){(const char *)data, size}, "fuzz", NULL, &b, &e)) {
		if (b.n != size)
			abort();
		if (!signature_read(&a, (struct str){b.p ? b.p : "", b.n}, "fuzz", &s, &e) &&
			!e.message)
			abort();
	}
	incore_error_clear(&e);
	sb_free(&b);
	arena_deinit(&a);
	return 0;
}
