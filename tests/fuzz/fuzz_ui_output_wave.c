/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ui_output_wave.c: a wave file of any bytes, against a code table of four rows. */
#include "fuzz_bytes.h"
#include "import/ui_output/ui_output.h"

static const char code[] =
	"{\"code\":[[\"; k\",0,0],[\"s_load_dword s4, s[0:1], 0x0\",0,1],"
	"[\"s_waitcnt lgkmcnt(0)\",0,2],[\"s_endpgm\",0,3]],\"header\":\"ISA, _, LineNumber\"}";

/* What every analysis relies on. */
static void check(const struct track_data *d, uint32_t n_code)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->dur_cyc[i] < d->stall_cyc[i] || d->inst_class[i] >= CLASS_COUNT ||
			(d->code[i] >= n_code && d->code[i] != NO_CODE) ||
			(i && d->start_cyc[i] < d->start_cyc[i - 1]))
			abort();
	for (uint32_t i = 0; i < d->n_states; i++)
		if (d->state[i] >= STATE_COUNT)
			abort();
	for (uint32_t i = 0; i < d->n_stated_waits; i++)
		if (d->stated_waits[i].first + d->stated_waits[i].n > d->n_stated_producers)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ui_bytes in = fuzz_bytes(data, size, "wave.json");
	struct ui_bytes table = fuzz_bytes((const uint8_t *)code, sizeof(code) - 1, "code.json");
	struct track_data d = {0};
	struct ui_code_index x;
	struct json_reader r;
	struct ui_build b;
	uint64_t n;

	fuzz_build_init(&b, NULL);
	if (!ui_code_parse(&b, table, NULL) || !ui_code_index_build(b.trace, &x, &n))
		abort();
	for (unsigned want = 0; want < 8; want++) {
		json_init(&r, in.p, in.n, in.path, 0);
		if (ui_wave_parse(&r, &x, want, &d) && json_finish(&r, NULL))
			check(&d, b.trace->n_code);
		json_deinit(&r);
		track_data_reset(&d);
	}
	track_data_deinit(&d);
	fuzz_build_deinit(&b);
	free((void *)in.p);
	free((void *)table.p);
	return 0;
}
