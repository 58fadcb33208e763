/* SPDX-License-Identifier: Apache-2.0 */
/* handover.c: captures of finished tasks, with the parameters that they were taken with. */
#include "sweep/handover.h"

#include "sweep/sweep.h"

static bool handover_hand_over(const struct sweep *s, uint32_t task, sweep_capture_fn fn, void *ctx,
	struct incore_error *e)
{
	const struct sweep_plan *p = &s->plan;
	struct sweep_place at = {.out = "", .base = s->base, .attempt = s->tasks[task].attempts};
	struct sweep_cell cell;
	struct arena a;
	bool ok;

	arena_init(&a);
	ok = sweep_expand(p, task, &at, &a, &cell, e);
	for (const char *const *path = s->tasks[task].captures; ok && *path; path++)
		ok = fn(ctx,
			&(struct sweep_capture){.path = *path,
				.sweep = s->name,
				.dir = s->dir,
				.cell = sweep_cell_of(p, task),
				.repeat = task % p->repeats,
				.params = cell.params},
			e);
	arena_deinit(&a);
	return ok;
}

bool sweep_each_capture(const char *dir, sweep_capture_fn fn, void *ctx, struct incore_error *e)
{
	struct sweep_request q = {.dir = dir};
	struct sweep s;
	bool ok = sweep_look(&s, &q, e);

	for (uint32_t i = 0; ok && i < s.plan.n_tasks; i++)
		if (s.tasks[i].state == SWEEP_OK && s.tasks[i].captures)
			ok = handover_hand_over(&s, i, fn, ctx, e);
	sweep_close(&s);
	return ok;
}
