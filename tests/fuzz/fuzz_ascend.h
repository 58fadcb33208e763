/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ascend.h: a builder for bytes of any kind, and what every trace made of them must keep. */
#ifndef FUZZ_ASCEND_H
#define FUZZ_ASCEND_H

#include <stdlib.h>

#include "import/ascend/ascend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_ascend {
	struct trace *trace;
	struct import_options options;
	struct asc_build build;
	struct str bytes; /* a copy of the input, followed by zeros */
};

static inline void fuzz_ascend_start(
	struct fuzz_ascend *f, const uint8_t *data, size_t size, unsigned want)
{
	char *p = calloc(1, size + JSON_PAD);

	*f = (struct fuzz_ascend){.trace = trace_new(), .options = {.want = want}};
	if (!p || !f->trace || !asc_init(&f->build, f->trace, &f->options, NULL))
		abort();
	if (size)
		memcpy(p, data, size);
	f->bytes = (struct str){p, size};
	f->trace->meta.format = f->trace->meta.origin = "fuzz";
}

static inline void fuzz_ascend_init(struct fuzz_ascend *f, const uint8_t *data, size_t size)
{
	fuzz_ascend_start(f, data, size, IMPORT_ALL);
}

static inline void fuzz_ascend_check(const struct trace *t)
{
	struct track_data d = {0};

	for (track_idx i = 0; i < t->n_tracks; i++) {
		if (!trace_load_track(t, i, 0, &d, NULL))
			abort();
		for (uint32_t k = 0; k < d.n; k++)
			if (d.stall_cyc[k] > d.dur_cyc[k] || d.code[k] >= t->n_code ||
				d.inst_class[k] >= CLASS_COUNT ||
				d.start_cyc[k] < t->tracks[i].begin_cyc ||
				d.start_cyc[k] + d.dur_cyc[k] > t->tracks[i].end_cyc ||
				(k && d.start_cyc[k] < d.start_cyc[k - 1]))
				abort();
	}
	for (uint32_t i = 0; i < t->n_links; i++)
		if (t->links[i].from_slice >= t->tracks[t->links[i].from_track].n_slices ||
			t->links[i].to_slice >= t->tracks[t->links[i].to_track].n_slices)
			abort();
	track_data_deinit(&d);
}

/* Finishes what a reader took, checks it, frees all. */
static inline void fuzz_ascend_end(struct fuzz_ascend *f, bool is_read)
{
	if (is_read && asc_finish(&f->build, NULL)) {
		if (!trace_seal(f->trace, NULL))
			abort();
		fuzz_ascend_check(f->trace);
	}
	asc_deinit(&f->build);
	trace_free(f->trace);
	free((void *)f->bytes.p);
}

#endif
