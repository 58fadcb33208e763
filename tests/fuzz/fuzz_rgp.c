/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_rgp.c: any bytes as a capture of the Radeon GPU Profiler: an error, or a trace whose tracks load. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = P_tmpdir "/incore-fuzz-rgp-XXXXXX";
	struct import_options o = {.want = IMPORT_ALL, .disasm = "none"};
	struct track_data d = {0};
	struct trace *t;
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (import_read_as("rgp", path, &o, &t, NULL)) {
		for (track_idx i = 0; i < t->n_tracks && i < 64; i++)
			if (!trace_load_track(t, i, TRACK_STATES, &d, NULL))
				abort();
		trace_free(t);
	}
	track_data_deinit(&d);
	unlink(path);
	return 0;
}
