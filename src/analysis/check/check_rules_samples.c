/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rules_samples.c: can the samples of a profiler be trusted? Too few, lost, from a kernel
 * shorter than a few sampling periods, from passes at different clocks, without lines.
 */
#include "analysis/check/check_internal.h"

#include "analysis/code/samples.h"
#include "analysis/producer_tables.h"

#define FEW_SAMPLES 1000u    /* with these the hottest tenth is known to 10 % */
#define TOO_FEW_SAMPLES 100u /* with fewer no row is known well */
#define CLOCK_TOLERANCE 1.05 /* equal passes were seen to differ by up to 1.02 */
#define SHORT_PERIODS 20u    /* sampling periods of an SM within the kernel */

static uint64_t all_samples(const struct trace *t)
{
	uint64_t n = 0;

	for (code_idx i = 0; t->samples && i < t->n_code; i++)
		n += t->samples[i].issued + t->samples[i].stalled;
	return n;
}

void rule_few_samples(struct check *c)
{
	uint64_t n = all_samples(c->trace);
	bool is_hopeless = n < TOO_FEW_SAMPLES;
	struct finding *f;

	if (n >= FEW_SAMPLES)
		return;
	f = check_add(c, n ? "few-samples" : "no-samples",
		is_hopeless ? SEVERITY_WARNING : SEVERITY_INFO,
		is_hopeless ? VERDICT_SUSPECT : VERDICT_OK);
	if (n)
		finding_say(c, f,
			"%llu samples in all: a row with a tenth of them is off by %.0f %%",
			(unsigned long long)n, samples_error_pct(n / 10 ? n / 10 : 1));
	else
		finding_say(c, f,
			"no instruction was sampled: there are figures of the whole kernel alone");
	fact_int(f, "samples", (int64_t)n);
	finding_advise(c, f,
		n ? "sample more often (ncu --sampling-interval 0) or profile a larger launch"
		  : "profile with --set full, or with the section SourceCounters");
}

void rule_dropped_samples(struct check *c)
{
	struct finding *f;

	if (!c->trace->sampling.n_dropped)
		return;
	f = check_add(c, "dropped-samples", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(c, f, "the sampler lost %llu bytes of samples: shares of rows may be wrong",
		(unsigned long long)c->trace->sampling.n_dropped);
	fact_int(f, "dropped_bytes", (int64_t)c->trace->sampling.n_dropped);
	finding_advise(c, f,
		"sample less often (ncu --sampling-interval) or give it a larger buffer (--sampling-buffer-size)");
}

void rule_short_sampled(struct check *c)
{
	const struct trace *t = c->trace;
	const struct trace_launch *l = &t->meta.launch;
	double mhz = trace_clock_mhz(t), cycles;
	struct finding *f;

	if (!t->sampling.period_cyc || mhz <= 0 || l->end_ns == NO_VALUE)
		return;
	cycles = (double)(l->end_ns - l->start_ns) * mhz / 1000;
	if (cycles >= (double)t->sampling.period_cyc * SHORT_PERIODS)
		return;
	f = check_add(c, "short-kernel", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(c, f,
		"the kernel lives for %.1f periods of the sampler: what it does at its start and end is mostly missed",
		cycles / (double)t->sampling.period_cyc);
	fact_real(f, "kernel_cycles", cycles, 0);
	fact_int(f, "period_cycles", (int64_t)t->sampling.period_cyc);
	finding_advise(
		c, f, "sample more often (ncu --sampling-interval 0), or profile a larger launch");
}

void rule_clock_locked(struct check *c)
{
	struct finding *f;

	if (!check_notes(c, "clock-not-locked"))
		return;
	f = check_add(c, "clock-not-locked", SEVERITY_INFO, VERDICT_OK);
	finding_say(c, f,
		"the clock was not locked: figures of different passes may be of different clocks");
	finding_advise(
		c, f, "lock it (ncu --clock-control base), or compare ratios of one pass alone");
}

/* Compares units of one clock whose cycles were counted in different passes. */
void rule_pass_clocks(struct check *c)
{
	static const char *const names[] = {"gpc__cycles_elapsed.avg.per_second",
		"sm__cycles_elapsed.avg.per_second", "l1tex__cycles_elapsed.avg.per_second"};
	double low = 0, high = 0;
	struct finding *f;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		double hz = table_metric(c->trace, names[i]);

		if (!(hz > 0))
			continue;
		low = low > 0 && low < hz ? low : hz;
		high = high > hz ? high : hz;
	}
	if (high <= low * CLOCK_TOLERANCE)
		return;
	f = check_add(c, "different-clocks", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(c, f,
		"passes ran at different clocks, %.0f to %.0f MHz: figures of one pass do not fit those of another",
		low / 1e6, high / 1e6);
	fact_real(f, "slowest_mhz", low / 1e6, 1);
	fact_real(f, "fastest_mhz", high / 1e6, 1);
	finding_advise(c, f,
		"lock the clock (ncu --clock-control base), and let the device neither heat up nor sleep between passes");
}

/* Kernels are replayed for each group of counters: caches are in the state left by the profiler. */
void rule_replay(struct check *c)
{
	double passes = table_metric(c->trace, "profiler__replayer_passes");
	struct finding *f;

	if (!(passes >= 2))
		return;
	f = check_add(c, "replayed", SEVERITY_INFO, VERDICT_OK);
	finding_say(c, f,
		"the kernel was run %lld times, for one group of counters each: unless told otherwise the profiler flushes the caches before every pass",
		(long long)passes);
	fact_int(f, "passes", (int64_t)passes);
	finding_advise(c, f,
		"if the kernel finds its data in the cache in real life, profile with ncu --cache-control none");
}

void rule_no_lines(struct check *c)
{
	const struct trace *t = c->trace;
	struct finding *f;

	for (code_idx i = 0; i < t->n_code; i++)
		if (t->code[i].n_frames)
			return;
	if (!t->n_code)
		return;
	f = check_add(c, "no-line-info", SEVERITY_INFO, VERDICT_OK);
	finding_say(
		c, f, "the code has no line table: no instruction can be shown with its source");
	finding_advise(c, f, "compile with nvcc -lineinfo");
}

void rule_cut_report(struct check *c)
{
	const struct trace *t = c->trace;
	struct finding *f;

	for (uint32_t i = 0; i < t->n_notes; i++) {
		if (t->notes[i].kind != NOTE_TRUNCATED || !t->notes[i].message)
			continue;
		f = check_add(c, "truncated", SEVERITY_WARNING, VERDICT_SUSPECT);
		finding_say(c, f, "%s: everything after it is missing", t->notes[i].message);
		finding_advise(c, f, "copy the report again, or profile again");
		return;
	}
}

void rule_unmapped(struct check *c)
{
	uint64_t n = check_notes(c, "unmapped-addresses");
	struct finding *f;

	if (!n)
		return;
	f = check_add(c, "unmapped-addresses", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(c, f, "%llu counts are at addresses that no function of the report holds",
		(unsigned long long)n);
	fact_int(f, "counts", (int64_t)n);
	finding_advise(c, f, "profile again with the code in the report (ncu --import-sass yes)");
}
