/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of any bytes, and the first and last task of those that are plans. */
#include "sweep/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sweep_place at = {.out = "out", .base = "/base", .devices = "sim:0", .attempt = 1};
	struct sweep_plan p;
	struct sweep_cell cell;
	struct arena a;

	if (!sweep_plan_read(&p, (struct str){(const char *)data, size}, "fuzz.yaml", NULL))
		return 0;
	arena_init(&a);
	sweep_expand(&p, 0, &at, &a, &cell, NULL);
	sweep_expand(&p, p.n_tasks - 1, &at, &a, &cell, NULL);
	sweep_is_excluded(&p, p.n_cells - 1);
	arena_deinit(&a);
	sweep_plan_deinit(&p);
	return 0;
}
