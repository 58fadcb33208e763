/* SPDX-License-Identifier: Apache-2.0 */
/* gfx9 thread traces: any tokens behind a good header, under each set of rules. */
#include "fuzz_sqtt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t header[8] = {0x11, 0x80, 0x0f, 0, 0, 0, 0, 0};

	fuzz_decode(data, size, header);
	return 0;
}
