/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy_text.c: the line that says how much of the launch was captured, and the names of
 * events. */
#include <inttypes.h>

#include "analysis/occupancy/occupancy.h"

static const char *const event_names[OCCUPANCY_EVENT_TYPES] = {"none", "partial-flush",
	"bottom-of-pipe", "save-context", "dispatch-end", "cache-flush", "packet-loss",
	"code-object-load", "code-object-unload", "trace-stall-begin", "trace-stall-end",
	"trace-flush", "didt-stall-begin", "didt-stall-end", "cluster-barrier", "reserved",
	"gc-rinse", "spm-sample"};

const char *occupancy_event_name(uint32_t type)
{
	return type < OCCUPANCY_EVENT_TYPES ? event_names[type] : "unknown";
}

static double us_of(const struct trace *t, uint64_t cyc)
{
	double mhz = trace_clock_mhz(t);

	return mhz > 0 ? (double)cyc / mhz : 0;
}

bool occupancy_put_coverage(const struct occupancy *o, struct strbuf *out)
{
	const struct trace *t = o->trace;
	uint64_t whole = o->launched_waves ? o->launched_waves : o->all.starts;

	sb_put_u64(out, o->traced_waves);
	sb_puts(out, " of ");
	sb_put_u64(out, whole);
	sb_puts(out,
		o->launched_waves ? " launched waves traced" : " waves of the traced SEs traced");
	if (whole)
		sb_printf(out, " (%.1f %%)", 100.0 * (double)o->traced_waves / (double)whole);
	sb_printf(out, ", %u SE%s", o->n_ses, plural(o->n_ses));
	if (t->meta.target_cu != NO_VALUE)
		sb_printf(out, ", CU %" PRId64, t->meta.target_cu);
	if (trace_clock_mhz(t) > 0)
		sb_printf(out, ", %.1f MHz", trace_clock_mhz(t));
	sb_puts(out, ", span ");
	sb_put_u64(out, o->span_cyc);
	sb_puts(out, " cycles");
	if (trace_clock_mhz(t) > 0)
		sb_printf(out, " = %.2f us", us_of(t, o->span_cyc));
	return !out->failed;
}
