/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_scopes.c: any bytes as what a kernel recorded about itself: an error, or tracks whose slices are in order and inside of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_track(const struct trace *t, track_idx i, struct track_data *d)
{
	track_data_reset(d);
	if (!trace_load_track(t, i, 0, d, NULL))
		abort();
	if (d->n != t->tracks[i].n_slices)
		abort();
	for (uint32_t k = 0; k < d->n; k++)
		if (d->code[k] >= t->n_code || d->stall_cyc[k] > d->dur_cyc[k] ||
			d->start_cyc[k] < t->tracks[i].begin_cyc ||
			d->start_cyc[k] + d->dur_cyc[k] > t->tracks[i].end_cyc ||
			(k && d->start_cyc[k] < d->start_cyc[k - 1] + d->dur_cyc[k - 1]))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = P_tmpdir "/incore-fuzz-scopes-XXXXXX";
	struct import_options o = {.want = IMPORT_ALL};
	struct track_data d = {0};
	struct trace *t;
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (import_read_as("scopes", path, &o, &t, NULL)) {
		for (track_idx i = 0; i < t->n_tracks; i++)
			check_track(t, i, &d);
		trace_free(t);
	}
	track_data_deinit(&d);
	unlink(path);
	return 0;
}
