/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_args_dump.c: a manifest of any generation, from any bytes, down to its check. */
#include <stdlib.h>
#include <string.h>

#include "codec/json_reader.h"
#include "dump/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *p = calloc(1, size + JSON_PAD);
	struct incore_error e = {0};
	struct dump_check check;
	struct dump *d;

	if (!p)
		abort();
	if (size)
		memcpy(p, data, size);
	d = dump_from_bytes(p, size, "args_dump.json", &e);
	if (!d && e.status == INCORE_OK)
		abort();
	for (size_t i = 0; d && i < d->slots.n; i++)
		if (!d->slots.v[i].n || d->slots.v[i].first + d->slots.v[i].n > d->records.n)
			abort();
	if (d && !dump_check(d, &check, &e))
		abort();
	dump_free(d);
	incore_error_clear(&e);
	free(p);
	return 0;
}
