/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_elf.c: any bytes as a code object: an error, or tables that hold together. */
#include <stdlib.h>

#include "codec/elf.h"
#include "codec/msgpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct incore_error e = {0};
	struct elf_image x;
	struct code_facts f;
	struct arena a;
	struct str note;

	arena_init(&a);
	if (elf_open(&x, (struct str){(const char *)data, size}, "fuzz", &a, &e)) {
		for (uint32_t i = 0; i < x.n_functions; i++) {
			const struct elf_function *k = &x.functions[i];

			if (!k->size || elf_function_at(&x, k->address) != k ||
				!elf_code_at(&x, k->address + k->size - 1))
				abort();
		}
		note = elf_note(&x, "AMDGPU", ELF_NOTE_AMDGPU_METADATA);
		if (note.p)
			code_facts_read(&f, note, "fuzz", &a, &e);
	}
	incore_error_clear(&e);
	arena_deinit(&a);
	return 0;
}
