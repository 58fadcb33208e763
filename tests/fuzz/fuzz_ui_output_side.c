/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_ui_output_side.c: the files around a directory, each parser over the same bytes: agent info,
 * kernel trace, results.json, stats, input yaml.
 */
#include "fuzz_bytes.h"
#include "import/ui_output/side_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const ui_parse_fn parsers[] = {ui_results_parse, ui_kernel_trace_parse,
		ui_agent_info_parse, ui_stats_parse, ui_input_parse};
	struct ui_bytes in = fuzz_bytes(data, size, "out_results.json");
	struct incore_error e = {0};
	struct ui_build b;
	struct side_reader s;

	fuzz_build_init(&b, NULL);
	s = (struct side_reader){.b = &b,
		.machine = side_no_machine(),
		.launch = side_no_launch(),
		.symbol = side_no_launch(),
		.yaml_cu = NO_VALUE};
	b.side = &s;
	b.trace->meta.kernel = "kern";
	b.kernel_demangled = "void ns::kern<int>(float*)";
	b.trace->meta.launch.agent = 70;
	b.trace->meta.launch.dispatch = 5;
	for (size_t i = 0; i < sizeof(parsers) / sizeof(*parsers); i++)
		parsers[i](&b, in, &e);
	incore_error_clear(&e);
	VEC_FREE(&s.traced);
	VEC_FREE(&s.pmc);
	fuzz_build_deinit(&b);
	free((void *)in.p);
	return 0;
}
