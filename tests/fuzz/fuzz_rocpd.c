/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_rocpd.c: any bytes as a database of rocprofv3: an error, or a timeline or samples that hold together. */
#include "fuzz_timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_timeline("rocpd", data, size);
}
