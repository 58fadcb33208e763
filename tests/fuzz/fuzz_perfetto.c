/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_perfetto.c: any bytes as a Perfetto trace: an error, or a timeline that holds together. */
#include "fuzz_timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_timeline("perfetto", data, size);
}
