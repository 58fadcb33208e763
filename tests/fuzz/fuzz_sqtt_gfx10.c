/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gfx10, gfx11, gfx12 and MI400 thread traces: any tokens behind a good header, under each set of
 * rules. The high bits of byte 0 give the generation and whether barrier waits are left out.
 */
#include "fuzz_sqtt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t versions[4] = {1, 3, 4, 5};
	uint8_t header[8] = {0x11, 0, 0, 0x10, 0, 0, 0, 0};
	unsigned version;

	if (size < 1)
		return 0;
	version = versions[data[0] >> 4 & 3];
	header[0] |= (uint8_t)(version << 7);
	header[1] = (uint8_t)(version >> 1);
	header[7] = data[0] >> 6 & 1 ? 0x08 : 0;
	fuzz_decode(data, size, header);
	return 0;
}
