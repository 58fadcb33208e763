/* SPDX-License-Identifier: Apache-2.0 */
/* Op streams of any bytes: what is read is timed, judged and made a trace. */
#include <stdlib.h>

#include "base/file.h"
#include "model/engine/to_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct profile *profile(void)
{
	static struct profile p;
	static bool is_loaded;

	/* INCORE_PROFILES names the folder; without it nothing would be tested */
	if (!is_loaded && !profile_load(&p, "910b1", ARCH_A2A3, NULL))
		abort();
	is_loaded = true;
	return &p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct engine_options o = {.profile = profile(),
		.keep_slices = true,
		.find_races = true,
		.allow_unknown = true};
	struct opstream_set set;
	struct trace *trace = NULL;
	struct timed t;
	uint8_t *copy = calloc(1, size + FILE_PAD);

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	opstream_set_init(&set);
	if (opstream_read(&set, copy, size, "fuzz", NULL) && engine_run(&set, &o, &t, NULL)) {
		if (timed_to_trace(&set, &t, profile(), &trace, NULL))
			trace_free(trace);
		timed_deinit(&t);
	}
	opstream_set_deinit(&set);
	free(copy);
	return 0;
}
