/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_timeline.h: any bytes to one of the readers of timelines. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_track(const struct trace *t, track_idx i, const struct track_data *d)
{
	const struct track *k = &t->tracks[i];

	if (d->n != k->n_slices)
		abort();
	for (uint32_t s = 0; s < d->n; s++)
		if (d->code[s] >= t->n_code || d->stall_cyc[s] ||
			(s && d->start_cyc[s] < d->start_cyc[s - 1]) ||
			d->start_cyc[s] < k->begin_cyc ||
			d->start_cyc[s] + d->dur_cyc[s] > k->end_cyc)
			abort();
}

static void check_timeline(const struct trace *t)
{
	struct track_data d = {0};

	for (track_idx i = 0; i < t->n_tracks; i++) {
		if (!trace_load_track(t, i, 0, &d, NULL))
			abort();
		check_track(t, i, &d);
	}
	track_data_deinit(&d);
	for (uint32_t i = 0; i < t->n_links; i++)
		if (t->links[i].from_slice >= t->tracks[t->links[i].from_track].n_slices ||
			t->links[i].to_slice >= t->tracks[t->links[i].to_track].n_slices)
			abort();
	for (uint32_t i = 0; i < t->n_counters; i++)
		for (uint32_t k = 1; k < t->counters[i].n; k++)
			if (t->counters[i].time_cyc[k] < t->counters[i].time_cyc[k - 1])
				abort();
}

/* What a file of timelines has besides them, thread traces and samples: whatever is read can be walked. */
static void read_parts(const struct capture_list *l, const struct import_options *o)
{
	struct track_data d = {0};
	struct trace *t;

	for (uint32_t i = 0; i < l->n && i < 4; i++) {
		if (!import_read(&l->v[i], o, &t, NULL))
			continue;
		for (track_idx k = 0; k < t->n_tracks; k++)
			if (!trace_load_track(t, k, TRACK_STATES, &d, NULL) ||
				d.n != t->tracks[k].n_slices)
				abort();
		trace_free(t);
	}
	track_data_deinit(&d);
}

static int fuzz_timeline(const char *format, const uint8_t *data, size_t size)
{
	char path[] = P_tmpdir "/incore-fuzz-timeline-XXXXXX";
	struct import_options o = {.want = IMPORT_ALL};
	struct capture_list found;
	struct trace *t;
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (import_find(path, NULL, &found, NULL)) {
		if (found.n > 1)
			read_parts(&found, &o);
		capture_list_deinit(&found);
	}
	if (import_read_as(format, path, &o, &t, NULL)) {
		check_timeline(t);
		trace_free(t);
	}
	unlink(path);
	return 0;
}
