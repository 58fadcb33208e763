/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_rocprof_pcs.c: any bytes as PC samples, JSON or CSV: an error, or traces whose counts hold together, or a timeline that
 * does. Behind a zero byte stands the listing of the code beside them.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_timeline.h"

#define MOST_KERNELS 4u
#define SAMPLES_END "ps_file_results.json"

static void check_trace(const struct trace *t, bool has_code)
{
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct reason_count *r = trace_reasons_of(t, i);
		uint64_t n = 0;

		for (uint32_t k = 0; k < t->n_reasons; k++)
			n += r[k].all;
		if (n != t->samples[i].stalled || (!has_code && n + t->samples[i].issued == 0))
			abort();
	}
}

static void put(int fd, const uint8_t *data, size_t size)
{
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = P_tmpdir "/incore-fuzz-pcs-XXXXXX" SAMPLES_END, beside[sizeof(path)];
	const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
	size_t n = zero ? (size_t)(zero - data) : size;
	struct import_options o = {.want = IMPORT_ALL};
	struct capture_list list;
	struct trace *t;

	put(mkstemps(path, sizeof(SAMPLES_END) - 1), data, n);
	snprintf(beside, sizeof(beside), "%.*scode_obj_info.json",
		(int)(strlen(path) - strlen(SAMPLES_END)), path);
	if (zero)
		put(open(beside, O_WRONLY | O_CREAT | O_EXCL, 0600), zero + 1, size - n - 1);
	if (import_find(path, NULL, &list, NULL)) {
		for (size_t i = 0; i < list.n && i < MOST_KERNELS; i++)
			if (import_read(&list.v[i], &o, &t, NULL)) {
				if (t->samples)
					check_trace(t, zero != NULL);
				trace_free(t);
			}
		capture_list_deinit(&list);
	}
	unlink(path);
	if (zero)
		unlink(beside);
	return zero ? 0 : fuzz_timeline("rocprof_pcs", data, size);
}
