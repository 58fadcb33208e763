/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ui_output_manifest.c: filenames.json of any bytes. */
#include "fuzz_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ui_bytes in = fuzz_bytes(data, size, "filenames.json");
	struct incore_error e = {0};
	struct arena a;
	struct ui_manifest m = {.arena = &a};

	arena_init(&a);
	if (ui_manifest_parse(&m, in, &e))
		for (size_t i = 0; i < m.waves.n; i++)
			if (strchr(m.waves.v[i].name, '/') ||
				m.waves.v[i].end_cyc < m.waves.v[i].begin_cyc)
				abort();
	ui_manifest_deinit(&m);
	arena_deinit(&a);
	incore_error_clear(&e);
	free((void *)in.p);
	return 0;
}
