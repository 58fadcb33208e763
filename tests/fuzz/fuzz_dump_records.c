/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_dump_records.c: device records of any bytes; the first byte chooses the layout. */
#include <stdlib.h>

#include "dump/read/record_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct device_record r;

	for (size_t i = 1; size && i + DEVICE_RECORD_BYTES <= size; i += DEVICE_RECORD_BYTES) {
		device_record_get(data + i, (enum device_layout)(data[0] % DEVICE_LAYOUTS), &r);
		if (r.ndims > DEVICE_MAX_RANK || r.n_funcs > DEVICE_MAX_FUNCS)
			abort();
	}
	return 0;
}
