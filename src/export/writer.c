/* SPDX-License-Identifier: Apache-2.0 */
/* writer.c: applies a selection to the side tables. */
#include "export/writer.h"

bool export_has_clock(const struct export *x, clock_idx c)
{
	const struct selection *s = x->options->walk.selection;

	return !s ||
	       number_set_has(&s->level[0], c < x->trace->n_clocks ? x->trace->clocks[c].id : 0);
}

bool export_has_time(const struct export *x, int64_t time)
{
	const struct selection *s = x->options->walk.selection;

	return !s || (!(s->has_from && (time < 0 || (uint64_t)time < s->from_cyc)) &&
			     !(s->has_to && time >= 0 && (uint64_t)time >= s->to_cyc));
}

void export_each_running(struct export *x, export_running_fn fn)
{
	const struct trace *t = x->trace;
	uint64_t running = 0;

	for (uint32_t i = 0; i < t->n_occupancy; i++) {
		const struct occupancy_event *o = &t->occupancy[i];
		bool is_last = i + 1 == t->n_occupancy || o[1].clock != o->clock ||
			       o[1].time_cyc != o->time_cyc;
		int64_t time = trace_aligned(t, o->clock, o->time_cyc) - x->origin_cyc;

		if (i && o[-1].clock != o->clock)
			running = 0;
		if (o->is_start)
			running++;
		else if (running)
			running--;
		if (is_last && export_has_time(x, time) && export_has_clock(x, o->clock))
			fn(x, o->clock, time, running);
	}
}
