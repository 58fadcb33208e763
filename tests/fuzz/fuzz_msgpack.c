/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_msgpack.c: any bytes as MessagePack and as kernel metadata. */
#include "codec/msgpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = {(const char *)data, size};
	struct incore_error e = {0};
	struct code_facts f;
	struct msgpack m;
	struct arena a;

	arena_init(&a);
	msgpack_init(&m, bytes);
	while (msgpack_skip(&m) && m.p < m.end)
		;
	code_facts_read(&f, bytes, "fuzz", &a, &e);
	incore_error_clear(&e);
	arena_deinit(&a);
	return 0;
}
