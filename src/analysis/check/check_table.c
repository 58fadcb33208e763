/* SPDX-License-Identifier: Apache-2.0 */
/* check_table.c: all findings there are, in the order of their rules; severity and effect of the
 * usual form. */
#include "analysis/check/check.h"

#define ERROR SEVERITY_ERROR
#define WARNING SEVERITY_WARNING
#define INFO SEVERITY_INFO
#define OK VERDICT_OK
#define SUSPECT VERDICT_SUSPECT
#define UNUSABLE VERDICT_UNUSABLE

const struct finding_def finding_table[] = {
	{"empty-shell", ERROR, UNUSABLE, "nothing was traced"},
	{"missed-cu", ERROR, UNUSABLE, "no wave of the grid ran on the target CU"},
	{"not-executed", ERROR, UNUSABLE, "code without a single execution"},
	{"damaged-file", WARNING, SUSPECT, "a file could not be read; the rest is used"},
	{"missed-se", INFO, OK, "a traced shader engine has no instruction detail"},
	{"truncated", WARNING, SUSPECT, "records were lost; unusable above 10 %"},
	{"missing-wave", WARNING, SUSPECT, "a wave that ran has no file"},
	{"unlisted-wave", WARNING, SUSPECT,
		"a wave file that the manifest or occupancy do not know"},
	{"inconsistent-waves", WARNING, SUSPECT, "wave files contradict manifest or occupancy"},
	{"repeated-capture", INFO, OK, "the same kernel was captured several times"},
	{"several-kernel-ids", INFO, OK, "several kernel ids carry this name"},
	{"no-source", WARNING, OK, "no instruction is mapped to source"},
	{"source-partial", INFO, OK, "some instructions are not mapped to source"},
	{"source-collapsed", WARNING, OK, "most instructions are mapped to one line"},
	{"stale-source", WARNING, OK, "source text may not be what was compiled"},
	{"early-exit", WARNING, SUSPECT, "waves that do no work; unusable when all do none"},
	{"no-matrix-work", WARNING, SUSPECT, "matrix instructions exist, none was executed"},
	{"underfilled", WARNING, SUSPECT, "too few waves to hide any latency"},
	{"partial-coverage", INFO, OK, "the sample is a part of the launched waves"},
	{"throttled-clock", WARNING, SUSPECT, "the shader clock is below its maximum"},
	{"unaligned-clocks", WARNING, SUSPECT, "shader engines cannot be put on one time axis"},
	{"vgpr-count-halved", INFO, OK, "the stated register count is half of the real one"},
	{"short-sample", WARNING, SUSPECT, "too few waves for statistics"},
	{"no-counters", INFO, OK, "no hardware counters were recorded"},
	{"inconsistent-totals", WARNING, SUSPECT, "stated totals differ from the waves'"},
	{"inconsistent-states", WARNING, SUSPECT, "stated state series differ from the waves'"},
	{"inconsistent-waits", WARNING, SUSPECT, "stored wait lists differ from the model"},
	{"no-timeline", INFO, OK, "tables alone: no pipe was traced"},
	{"no-compute", WARNING, SUSPECT, "a core whose engine did no work"},
	{"data-movement-only", INFO, OK, "a core that only moved data"},
	{"near-empty", WARNING, SUSPECT, "compute for under 1,000 cycles and 1 % of the span"},
	{"one-side-empty", WARNING, SUSPECT, "a mixed kernel of which one side did not work"},
	{"no-loop", INFO, OK, "no compute instruction ran more than once"},
	{"zero-byte-moves", WARNING, SUSPECT, "transfers that move nothing"},
	{"sync-bound", WARNING, OK, "every compute pipe waits for 90 % of the span"},
	{"no-flag-events", INFO, OK, "several pipes and no flag: no wait attribution"},
	{"sub-block-collision", WARNING, SUSPECT, "a vector core is missing or overwritten"},
	{"unmatched-flags", WARNING, OK, "waits without a set, sets without a wait"},
	{"reused-flags", WARNING, OK, "a flag stands in more than one pair"},
	{"model-race", WARNING, SUSPECT, "estimate: two pipes touch bytes and nothing orders them"},
	{"model-deadlock", WARNING, SUSPECT, "estimate: no queue could go on"},
	{"model-unmatched-wait", WARNING, SUSPECT, "estimate: a wait that no set ends"},
	{"model-double-set", WARNING, SUSPECT, "estimate: a flag set twice before its wait"},
	{"model-flag-left-set", WARNING, SUSPECT, "estimate: a flag still set at the end"},
	{"model-bad-flag", WARNING, SUSPECT, "estimate: a flag id or pipe that cannot be"},
	{"model-counter-full", WARNING, SUSPECT, "estimate: a cross-core counter beyond 15"},
	{"model-more-findings", WARNING, SUSPECT, "estimate: more of these than are listed"},
	{"model-incomplete", WARNING, SUSPECT, "estimate: the timeline ends before the kernel"},
	{"quantised-time", INFO, OK, "times are rounded to more than a cycle"},
	{"clock-unknown", WARNING, OK, "nothing states the clock"},
	{"inconsistent-busy", WARNING, SUSPECT, "busy cycles differ from the core summary log"},
	{0},
};
