/* SPDX-License-Identifier: Apache-2.0 */
/* Machine profiles of any bytes. */
#include "model/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile p;

	if (profile_read(&p, (struct str){(const char *)data, size}, "fuzz.yaml", ARCH_A2A3, NULL))
		profile_deinit(&p);
	return 0;
}
