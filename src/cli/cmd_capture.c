/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_capture.c: incore capture: takes captures with a vendor's tool (verbs/capture). */
#include "cli/cli.h"

extern const struct question question_capture_att, question_capture_pmc, question_capture_pcs,
	question_capture_sys, question_capture_msprof, question_capture_cuda, question_capture_ncu;

const struct verb verb_capture = {
	.name = "capture",
	.args = "KIND -- APP [ARG...]",
	.summary = "take a capture with a vendor's tool, and judge it",
	.subs = (const struct verb *const[]){SUB_VERB("capture att", capture_att),
		SUB_VERB("capture pmc", capture_pmc), SUB_VERB("capture pcs", capture_pcs),
		SUB_VERB("capture sys", capture_sys), SUB_VERB("capture msprof", capture_msprof),
		SUB_VERB("capture cuda", capture_cuda), SUB_VERB("capture ncu", capture_ncu), NULL},
};
