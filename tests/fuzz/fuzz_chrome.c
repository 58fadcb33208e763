/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_chrome.c: any bytes as a Chrome trace of another tool: an error, or a timeline that holds together. */
#include "fuzz_timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_timeline("chrome", data, size);
}
