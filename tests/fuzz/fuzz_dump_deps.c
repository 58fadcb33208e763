/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_dump_deps.c: deps.json of any bytes. */
#include <stdlib.h>
#include <string.h>

#include "codec/json_reader.h"
#include "dump/read/deps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *p = calloc(1, size + JSON_PAD);
	struct incore_error e = {0};
	struct deps *d;

	if (!p)
		abort();
	if (size)
		memcpy(p, data, size);
	d = deps_read(p, size, "deps.json", &e);
	for (size_t i = 0; d && i < d->tasks.n; i++)
		if (!deps_task_find(d, d->tasks.v[i].id))
			abort();
	deps_free(d);
	incore_error_clear(&e);
	free(p);
	return 0;
}
