/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_packed.c: any bytes as a packed file: an error or a trace whose tracks load or fail. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = P_tmpdir "/incore-fuzz-packed-XXXXXX";
	struct trace *t = trace_new();
	struct track_data d = {0};
	struct incore_error e = {0};
	int fd = mkstemp(path);

	if (fd < 0 || !t || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	t->meta.origin = path;
	if (packed_read(path, 0, t, &e) && trace_seal(t, &e))
		for (track_idx i = 0; i < t->n_tracks && i < 256; i++) {
			trace_load_track(t, i, TRACK_STATES | TRACK_STATED_WAITS, &d, &e);
			incore_error_clear(&e);
		}
	incore_error_clear(&e);
	track_data_deinit(&d);
	trace_free(t);
	unlink(path);
	return 0;
}
