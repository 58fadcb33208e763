/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_insight_bin.c: a visualize_data.bin of any bytes, with all kinds of blocks. */
#include "fuzz_ascend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_ascend f;
	struct file_data bin;
	bool ok;

	fuzz_ascend_init(&f, data, size);
	bin = (struct file_data){.data = (const uint8_t *)f.bytes.p, .size = f.bytes.n};
	ok = asc_read_bin(&f.build, &bin, "x.bin", true, NULL);
	fuzz_ascend_end(&f, ok);
	return 0;
}
