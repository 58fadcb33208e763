/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_model.c: incore model: the embedded in-core model. */
#include "cli/cli.h"

#define MODEL_VERBS(X) X(run) X(record) X(time) X(calibrate) X(compare) X(validate) X(step) X(ops)

#define DECLARE_MODEL(NAME) extern const struct question question_model_##NAME;
MODEL_VERBS(DECLARE_MODEL)

#define MODEL_ENTRY(NAME) SUB_VERB("model " #NAME, model_##NAME),
static const struct verb *const subs[] = {MODEL_VERBS(MODEL_ENTRY) NULL};

const struct verb verb_model = {
	.name = "model",
	.args = "VERB ...",
	.summary = "estimate an Ascend kernel's timeline from its source",
	.subs = subs,
};
