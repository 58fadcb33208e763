/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_packed.c: any bytes as a packed file: an error or a trace whose tracks load or fail; one that
 * loads gives with a filter the slices that it asks for. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The slices about the middle one by their times, or by their rows. */
static void load_part(
	const struct trace *t, track_idx i, const struct track_data *whole, bool is_time)
{
	uint64_t start = whole->start_cyc[whole->n / 2];
	code_idx code = whole->code[whole->n / 2];
	struct slice_filter f = {is_time ? start : 0, is_time ? start + 100 : UINT64_MAX,
		is_time ? 0 : code, is_time ? UINT32_MAX : code};
	struct track_data d = {.filter = &f};
	struct incore_error e = {0};
	uint32_t k = 0;

	if (!trace_load_track(
		    t, i, is_time ? TRACK_NO_CODE | TRACK_NO_CLASS : TRACK_NO_START, &d, &e))
		abort();
	for (uint32_t s = 0; s < whole->n; s++) {
		bool is_there = d.is_part ? k < d.n && d.number[k] == s : s < d.n;
		bool is_wanted = whole->start_cyc[s] >= f.first_cyc &&
				 whole->start_cyc[s] <= f.last_cyc &&
				 whole->code[s] >= f.first_code && whole->code[s] <= f.last_code;

		if ((is_wanted && !is_there) || (is_there && d.dur_cyc[k] != whole->dur_cyc[s]))
			abort();
		k += is_there;
	}
	if (k != d.n)
		abort();
	track_data_deinit(&d);
}

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
			if (trace_load_track(t, i, 0, &d, &e) && d.n) {
				load_part(t, i, &d, true);
				load_part(t, i, &d, false);
			}
			incore_error_clear(&e);
		}
	incore_error_clear(&e);
	track_data_deinit(&d);
	trace_free(t);
	unlink(path);
	return 0;
}
