/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_ui_output_occupancy.c: the optional files of a directory, each parser over the same bytes:
 * occupancy, realtime, wstates, snapshots, counters, markers, other SIMDs, spm.
 */
#include "fuzz_bytes.h"
#include "import/ui_output/ui_output.h"

static void run_counters(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	static const ui_parse_fn parsers[] = {
		ui_perfcounter_parse, ui_markers_parse, ui_issues_parse, ui_spm_parse};
	struct counters x = {.b = b, .clock = NO_CLOCK};

	b->counters = &x;
	for (size_t i = 0; i < sizeof(parsers) / sizeof(*parsers); i++)
		parsers[i](b, in, e);
	VEC_FREE(&x.series);
	VEC_FREE(&x.markers);
	VEC_FREE(&x.issues);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ui_bytes in = fuzz_bytes(data, size, "wstates3.json");
	struct incore_error e = {0};
	struct ui_build b;

	fuzz_build_init(&b, NULL);
	b.trace->meta.format = "ui_output";
	b.trace->meta.origin = ".";
	ui_occupancy_parse(&b, in, &e);
	ui_realtime_parse(&b, in, &e);
	ui_wstates_parse(&b, in, &e);
	ui_snapshots_parse(&b, in, &e);
	incore_error_clear(&e);
	if (!ui_clocks_build(&b, &e) || !ui_occupancy_join(&b, &e) || !ui_name_kernel(&b, &e))
		abort();
	run_counters(&b, in, &e);
	incore_error_clear(&e);
	if (!trace_seal(b.trace, &e))
		abort();
	fuzz_build_deinit(&b);
	free((void *)in.p);
	return 0;
}
