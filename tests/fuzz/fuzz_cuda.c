/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cuda.c: any bytes as a log of libincore-cuda: an error, or traces whose tables hold together. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "import/import.h"

#define MOST_RESULTS 4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_trace(const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_metrics; i++)
		for (uint32_t k = 0; k < t->metrics[i].n; k++)
			if (t->metrics[i].row[k] >= t->n_code)
				abort();
	for (uint32_t i = 0; i < t->n_code_links; i++)
		if (t->code_links[i].row >= t->n_code || t->code_links[i].to >= t->n_code ||
			(t->code_links[i].reason >= t->n_reasons &&
				t->code_links[i].reason != NO_REASON))
			abort();
	for (code_idx i = 0; t->samples && i < t->n_code; i++) {
		const struct reason_count *r = trace_reasons_of(t, i);

		for (uint32_t k = 0; k < t->n_reasons; k++)
			if (r[k].not_issued > r[k].all)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = P_tmpdir "/incore-fuzz-cuda-XXXXXX";
	struct import_options o = {.want = IMPORT_ALL, .disasm = "none"};
	struct capture_list list;
	struct trace *t;
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (import_find(path, NULL, &list, NULL)) {
		for (size_t i = 0; i < list.n && i < MOST_RESULTS; i++)
			if (import_read(&list.v[i], &o, &t, NULL)) {
				check_trace(t);
				trace_free(t);
			}
		capture_list_deinit(&list);
	}
	unlink(path);
	return 0;
}
