/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ascend_trace.c: a trace.json of any bytes, as of a run and as of one core. */
#include "fuzz_ascend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_ascend f;
	bool ok;

	for (int i = 0; i < 2; i++) {
		fuzz_ascend_init(&f, data, size);
		f.build.unit = i ? "core1.veccore0" : NULL;
		ok = asc_read_events(&f.build, f.bytes, "trace.json", 0, NULL);
		fuzz_ascend_end(&f, ok);
	}
	return 0;
}
