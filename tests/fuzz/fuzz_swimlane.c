/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_swimlane.c: a device's times of any bytes: records, deps.json and name_map.json, one after the
 * other with a zero byte between them. An error, or a step whose indices lead somewhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/device/swimlane.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"l2_swimlane_records.json", "deps.json", "name_map.json"};

static void look(const struct swimlane *s)
{
	for (size_t i = 0; i < s->tasks.n; i++)
		if (s->tasks.v[i].kernel >= s->kernels.n ||
			s->tasks.v[i].first_arg + s->tasks.v[i].n_args > s->args.n)
			abort();
	for (size_t i = 0; i < s->args.n; i++)
		if (s->args.v[i].tensor != SWIM_NONE && s->args.v[i].tensor >= s->tensors.n)
			abort();
	for (size_t i = 0; i < s->edges.n; i++)
		if (s->edges.v[i].before >= s->tasks.n || s->edges.v[i].after >= s->tasks.n)
			abort();
	for (size_t i = 0; i < s->runs.n; i++)
		if (s->runs.v[i].task >= s->tasks.n || s->runs.v[i].core >= s->is_aiv.n ||
			s->runs.v[i].end < s->runs.v[i].start)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char dir[64], path[3][128];
	struct incore_error e = {0};
	struct swimlane s;
	size_t at = 0;

	/* in memory where that is possible: a step is three files */
	snprintf(dir, sizeof(dir), "%s/incore-fuzz-swim-XXXXXX",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(dir))
		abort();
	for (size_t i = 0; i < 3; i++) {
		const uint8_t *end = i < 2 && at < size ? memchr(data + at, 0, size - at) : NULL;
		size_t n = end ? (size_t)(end - data) - at : size - at;
		FILE *f;

		snprintf(path[i], sizeof(path[i]), "%s/%s", dir, names[i]);
		f = fopen(path[i], "wb");
		if (!f || fwrite(data + at, 1, n, f) != n || fclose(f) != 0)
			abort();
		at = end ? at + n + 1 : size;
	}
	if (swimlane_load(&s, path[0], path[1], &e)) {
		look(&s);
		swimlane_deinit(&s);
	}
	for (size_t i = 0; i < 3; i++)
		unlink(path[i]);
	rmdir(dir);
	incore_error_clear(&e);
	return 0;
}
