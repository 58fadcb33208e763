/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_args_dump.c: a manifest of any generation, from any bytes, down to its check and to
 * the arguments of its tasks. */
#include <stdlib.h>
#include <string.h>

#include "codec/json_reader.h"
#include "dump/read/check.h"
#include "dump/read/task_args.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_args(struct dump *d, uint32_t task)
{
	static uint8_t from[4096], room[4096];
	struct task_args a;

	if (task_args_init(&a, d, task, DUMP_NONE, NULL)) {
		for (size_t i = 0; i < a.args.n; i++) {
			struct arg arg = a.args.v[i];

			if (arg.is_tensor && arg.buffer >= a.buffers.n)
				abort();
			arg.bytes = from; /* a manifest alone has no payload */
			arg.n_bytes = sizeof(from);
			arg_restore(&arg, room, sizeof(room), NULL);
		}
		task_args_refuse(&a, NULL);
	}
	task_args_deinit(&a);
}

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
	for (uint32_t i = 0; d && i < d->tasks.n && i < 64; i++)
		take_args(d, i);
	dump_free(d);
	incore_error_clear(&e);
	free(p);
	return 0;
}
