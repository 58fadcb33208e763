/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of derived counters from any bytes, over a trace with two series. */
#include <stdlib.h>

#include "analysis/counters/derived.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t time[] = {0, 64, 128, 192}, value[] = {1, 2, 3, 4};
	static const int64_t samples[][2] = {{0, 0}, {640, 100}};
	static struct clock_domain clocks[] = {{.n_samples = 2, .samples = samples}, {.id = 1}};
	static struct counter_series series[] = {
		{.name = "SQ_A", .clock = 0, .n = 4, .time_cyc = time, .value = value},
		{.name = "B:1", .clock = 1, .cu = 3, .n = 4, .time_cyc = time, .value = value}};
	const struct trace t = {
		.n_clocks = 2, .clocks = clocks, .n_counters = 2, .counters = series};
	struct incore_error e = {0};
	struct strbuf out = {0};
	struct json_writer w;
	struct derived *d;

	if (size > 4096)
		return 0;
	d = derived_new(&t, (struct str){(const char *)data, size}, size & 1, &e);
	if (!d)
		abort(); /* memory alone can fail it */
	json_w_buf(&w, &out, 0);
	derived_json(d, 16, &w);
	if (!json_w_finish(&w, &e))
		abort();
	sb_free(&out);
	derived_free(d);
	return 0;
}
