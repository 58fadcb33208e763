/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_json_trace.c: any bytes as a JSON export: an error, or a trace whose tracks load or fail. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_track(const struct trace *t, track_idx i, const struct track_data *d)
{
	uint64_t end = t->tracks[i].begin_cyc;

	for (uint32_t k = 0; k < d->n; k++)
		if (d->stall_cyc[k] > d->dur_cyc[k] ||
			(d->code[k] >= t->n_code && d->code[k] != NO_CODE) ||
			d->inst_class[k] >= CLASS_COUNT ||
			(k && d->start_cyc[k] < d->start_cyc[k - 1]))
			abort();
	for (uint32_t k = 0; k < d->n_states; k++) {
		end += d->state_dur_cyc[k];
		if (d->state[k] >= STATE_COUNT || end > INT64_MAX)
			abort();
	}
}

static void check_trace(const struct trace *t)
{
	struct track_data d = {0};

	for (track_idx i = 0; i < t->n_tracks; i++)
		if (trace_load_track(t, i, TRACK_STATES | TRACK_STATED_WAITS, &d, NULL))
			check_track(t, i, &d);
	for (uint32_t i = 0; i < t->n_links; i++)
		if (t->links[i].from_slice >= t->tracks[t->links[i].from_track].n_slices ||
			t->links[i].to_slice >= t->tracks[t->links[i].to_track].n_slices)
			abort();
	track_data_deinit(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = P_tmpdir "/incore-fuzz-json-XXXXXX";
	struct import_options o = {.want = IMPORT_ALL};
	struct trace *t;
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (import_read_as("json", path, &o, &t, NULL)) {
		check_trace(t);
		trace_free(t);
	}
	unlink(path);
	return 0;
}
