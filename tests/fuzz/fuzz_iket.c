/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_iket.c: any bytes as the JSON of run-iket: an error, or a timeline that holds together. */
#include "fuzz_timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_timeline("iket", data, size);
}
