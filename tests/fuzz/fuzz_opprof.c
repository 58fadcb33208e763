/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_opprof.c: the side file of a run, a summary log, of any bytes. */
#include "fuzz_ascend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_ascend f;
	bool ok;

	fuzz_ascend_init(&f, data, size);
	ok = asc_read_summary(&f.build, f.bytes, "core0_summary_log", NULL);
	fuzz_ascend_end(&f, ok);
	return 0;
}
