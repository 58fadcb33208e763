/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_instr_csv.c: CSV files of any bytes, as instr_exe and as code_exe. */
#include "fuzz_ascend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_ascend f;
	bool ok;

	fuzz_ascend_init(&f, data, size);
	ok = asc_read_instr_csv(&f.build, f.bytes, "core0.veccore0_instr_exe.csv", NULL, NULL);
	fuzz_ascend_end(&f, ok);
	fuzz_ascend_init(&f, data, size);
	ok = asc_read_code_csv(&f.build, f.bytes, "core0.veccore0_code_exe.csv", NULL, NULL);
	fuzz_ascend_end(&f, ok);
	return 0;
}
