/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rules_machine.c: what the machine and the profiler did around the capture: repeated
 * captures, kernel ids, clocks, stated registers, counters.
 */
#include "analysis/check/check_internal.h"
#include "isa/amd_regs.h"

void rule_repeated(struct check *c)
{
	const struct check_context *x = c->ctx;
	struct strbuf list = {0};
	struct finding *f;

	if (!x || x->n_siblings < 2)
		return;
	f = check_add(c, "repeated-capture", SEVERITY_INFO, VERDICT_OK);
	for (uint32_t i = 0; i < x->n_siblings; i++) {
		if (x->siblings[i].dispatch != NO_VALUE)
			sb_printf(&list, "%s%lld (%llu wave%s)", i ? ", " : "",
				(long long)x->siblings[i].dispatch,
				(unsigned long long)x->siblings[i].n_tracks,
				plural(x->siblings[i].n_tracks));
		else
			sb_printf(&list, "%s%s (%llu wave%s)", i ? ", " : "",
				x->siblings[i].path ? x->siblings[i].path : "?",
				(unsigned long long)x->siblings[i].n_tracks,
				plural(x->siblings[i].n_tracks));
	}
	finding_say(c, f, "the same kernel was captured %u times: dispatches %s", x->n_siblings,
		check_text(c, &list));
	fact_int(f, "captures", x->n_siblings);
	fact_text(c, f, "dispatches", "%s", check_text(c, &list));
	finding_advise(c, f, "`incore diff` takes the spread of the repeats as its noise floor");
	sb_free(&list);
}

void rule_kernel_ids(struct check *c)
{
	const struct trace *t = c->trace;
	const struct trace_launch *l = &t->meta.launch;
	struct strbuf ids = {0};
	unsigned n = 0;
	struct finding *f;

	for (uint32_t i = 0; t->meta.kernel && i < t->n_kernel_names; i++)
		if (str_is(str_of(t->kernel_names[i].name), t->meta.kernel))
			sb_printf(&ids, "%s%u", n++ ? "," : "", t->kernel_names[i].id);
	if (n < 2) {
		sb_free(&ids);
		return;
	}
	f = check_add(c, "several-kernel-ids", SEVERITY_INFO, VERDICT_OK);
	if (l->launch_index != NO_VALUE && l->launch_count != NO_VALUE)
		finding_say(c, f,
			"%u kernel ids carry this name (%s); this is launch %lld of %lld of kernel id %lld",
			n, check_text(c, &ids), (long long)l->launch_index,
			(long long)l->launch_count, (long long)l->kernel_id);
	else
		finding_say(c, f, "%u kernel ids carry this name: %s", n, check_text(c, &ids));
	fact_int(f, "kernel_ids", n);
	fact_text(c, f, "ids", "%s", check_text(c, &ids));
	finding_advise(c, f,
		"launch ordinals of --kernel-iteration-range count per kernel id, not per name");
	sb_free(&ids);
}

/* The clock this target should reach; 0: unknown, do not judge. */
static double clock_limit(const struct trace *t, const char **source)
{
	if (t->meta.machine.max_clock_mhz != NO_VALUE && t->meta.machine.max_clock_mhz > 0) {
		*source = "stated by the capture";
		return (double)t->meta.machine.max_clock_mhz;
	}
	*source = "assumed for gfx950";
	return str_is(str_of(t->meta.arch), "gfx950") ? 2200 : 0;
}

static const struct check_sibling *unlike_sibling(const struct check *c, double mhz)
{
	for (uint32_t i = 0; c->ctx && i < c->ctx->n_siblings; i++) {
		const struct check_sibling *s = &c->ctx->siblings[i];
		double off = s->clock_mhz - mhz;

		if (!s->is_self && s->clock_mhz > 0 && (off > 0.03 * mhz || off < -0.03 * mhz))
			return s;
	}
	return NULL;
}

void rule_clock(struct check *c)
{
	double mhz = trace_clock_mhz(c->trace), max;
	const char *source = NULL;
	const struct check_sibling *s;
	struct finding *f;

	if (mhz <= 0)
		return;
	max = clock_limit(c->trace, &source);
	s = unlike_sibling(c, mhz);
	if (!(max > 0 && mhz < 0.97 * max) && !s)
		return;
	f = check_add(c, "throttled-clock", SEVERITY_WARNING, VERDICT_SUSPECT);
	if (max > 0 && mhz < 0.97 * max)
		finding_say(c, f, "the shader clock was %.1f MHz, %.1f %% of its maximum", mhz,
			100 * mhz / max);
	else
		finding_say(c, f, "the shader clock was %.1f MHz, that of dispatch %lld %.1f MHz",
			mhz, (long long)s->dispatch, s->clock_mhz);
	fact_real(f, "clock_mhz", mhz, 1);
	if (max > 0) {
		fact_real(f, "max_clock_mhz", max, 0);
		fact_real(f, "share", mhz / max, 6);
		fact_text(c, f, "maximum", "%s", source);
	}
	if (s)
		fact_real(f, "sibling_clock_mhz", s->clock_mhz, 1);
	finding_advise(c, f,
		"cycles stay comparable, microseconds do not; pin the clock or cool the device before timing");
}

struct se_start {
	int64_t first_cyc;
	bool is_used, has_start;
};

static struct se_start *first_starts(struct check *c)
{
	const struct trace *t = c->trace;
	struct se_start *v = arena_zalloc(&c->arena, (size_t)t->n_clocks + 1, sizeof(*v));

	c->is_nomem |= !v;
	if (!v)
		return NULL;
	EACH (const struct occupancy_event, o, t->occupancy, t->n_occupancy) {
		int64_t at = trace_aligned(t, o->clock, o->time_cyc);

		if (o->clock >= t->n_clocks)
			continue;
		v[o->clock].is_used = true;
		if (!o->is_start || (v[o->clock].has_start && v[o->clock].first_cyc <= at))
			continue;
		v[o->clock].has_start = true;
		v[o->clock].first_cyc = at;
	}
	for (track_idx i = 0; i < t->n_tracks; i++)
		if (t->tracks[i].clock < t->n_clocks)
			v[t->tracks[i].clock].is_used = true;
	return v;
}

void rule_alignment(struct check *c)
{
	const struct trace *t = c->trace;
	const struct se_start *v = first_starts(c);
	unsigned n_used = 0, n_loose = 0;
	int64_t lo = INT64_MAX, hi = INT64_MIN;
	struct finding *f;

	if (!v)
		return;
	for (clock_idx k = 0; k < t->n_clocks; k++) {
		n_used += v[k].is_used;
		n_loose += v[k].is_used && !t->clocks[k].is_aligned;
		if (!v[k].has_start || !t->clocks[k].is_aligned)
			continue;
		lo = v[k].first_cyc < lo ? v[k].first_cyc : lo;
		hi = v[k].first_cyc > hi ? v[k].first_cyc : hi;
	}
	if (n_used < 2 || (!n_loose && (lo > hi || hi - lo <= 1000)))
		return;
	f = check_add(c, "unaligned-clocks", SEVERITY_WARNING, VERDICT_SUSPECT);
	if (n_loose)
		finding_say(c, f, "%u of %u shader engines have no clock samples", n_loose, n_used);
	else
		finding_say(c, f, "aligned shader engines start %lld cycles apart",
			(long long)(hi - lo));
	fact_int(f, "ses", n_used);
	fact_int(f, "unaligned_ses", n_loose);
	if (lo <= hi)
		fact_int(f, "start_spread_cycles", hi - lo);
	finding_advise(c, f, "do not overlay shader engines; figures within one are right");
}

/* Targets whose tools report half: one pool for both kinds of registers. */
static bool has_halved_vgprs(const struct trace *t)
{
	static const char *const targets[] = {"gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"};

	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (str_is(str_of(t->meta.arch), targets[i]))
			return true;
	return false;
}

void rule_vgprs(struct check *c)
{
	const struct trace *t = c->trace;
	struct amd_regs r;
	struct finding *f;
	uint32_t real;

	if (t->meta.launch.vgprs == NO_VALUE || t->meta.launch.vgprs <= 0 || !has_halved_vgprs(t))
		return;
	r = amd_regs_of_trace(t);
	real = amd_regs_allocated(&r, 8);
	if (t->meta.launch.vgprs != (int64_t)real / 2 || real % 2)
		return;
	f = check_add(c, "vgpr-count-halved", SEVERITY_INFO, VERDICT_OK);
	finding_say(c, f, "stated are %lld VGPRs, the code uses %u: the tool reports half",
		(long long)t->meta.launch.vgprs, real);
	fact_int(f, "stated_vgprs", t->meta.launch.vgprs);
	fact_int(f, "isa_vgprs", real);
	fact_int(f, "arch", amd_regs_round(r.arch, 8));
	fact_int(f, "accum", amd_regs_round(r.accum, 8));
	finding_advise(c, f, "use the value of the ISA; `incore occupancy` does");
}

void rule_counters(struct check *c)
{
	struct finding *f;
	uint64_t outside = check_notes(c, "pmc-outside-jobs");

	if (c->trace->n_counter_names || c->trace->n_counters || check_is_sampled(c))
		return;
	f = check_add(c, "no-counters", SEVERITY_INFO, VERDICT_OK);
	finding_say(c, f, "no hardware counters were recorded%s",
		outside ? ": the `pmc` list stands outside `jobs` and was ignored" : "");
	fact_int(f, "counter_names", 0);
	finding_advise(c, f, "ask for them with --att-perfcounters or --att-activity (gfx9)");
}
