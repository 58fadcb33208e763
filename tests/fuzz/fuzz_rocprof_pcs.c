/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_rocprof_pcs.c: any bytes as PC samples, JSON or CSV: an error, or traces whose counts hold together. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "import/import.h"

#define MOST_KERNELS 4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_trace(const struct trace *t)
{
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct reason_count *r = trace_reasons_of(t, i);
		uint64_t n = 0;

		for (uint32_t k = 0; k < t->n_reasons; k++)
			n += r[k].all;
		if (n != t->samples[i].stalled || n + t->samples[i].issued == 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = P_tmpdir "/incore-fuzz-pcs-XXXXXX";
	struct import_options o = {.want = IMPORT_ALL};
	struct capture_list list;
	struct trace *t;
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (import_find(path, NULL, &list, NULL)) {
		for (size_t i = 0; i < list.n && i < MOST_KERNELS; i++)
			if (import_read(&list.v[i], &o, &t, NULL)) {
				if (t->samples)
					check_trace(t);
				trace_free(t);
			}
		capture_list_deinit(&list);
	}
	unlink(path);
	return 0;
}
