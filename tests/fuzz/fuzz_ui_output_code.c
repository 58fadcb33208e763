/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ui_output_code.c: code.json of any bytes, down to the index of its line numbers. */
#include "fuzz_bytes.h"
#include "import/code_json.h"
#include "import/ui_output/ui_output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ui_bytes in = fuzz_bytes(data, size, "code.json");
	struct incore_error e = {0};
	struct capture look = {0};
	struct ui_code_index x;
	struct ui_build b;
	uint64_t n;

	fuzz_build_init(&b, NULL);
	b.trace->meta.format = "ui_output";
	b.trace->meta.origin = ".";
	b.trace->meta.gfx_major = 9;
	if (ui_code_parse(&b, in, &e) && ui_code_index_build(b.trace, &x, &n)) {
		ui_guess_arch(&b);
		if (!ui_name_kernel(&b, &e) || !trace_seal(b.trace, &e))
			abort();
	}
	code_json_look((struct str){in.p, in.n}, in.path, &look, &n);
	incore_error_clear(&e);
	fuzz_build_deinit(&b);
	free((void *)in.p);
	return 0;
}
