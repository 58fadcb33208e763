/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_model.c: incore model: the embedded in-core model. One file per subcommand: model_<verb>.c.
 */
#include "cli/model/model_job.h"

static const struct verb *const subs[] = {&model_verb_run, &model_verb_record, &model_verb_time,
	&model_verb_calibrate, &model_verb_compare, &model_verb_validate, &model_verb_step,
	&model_verb_ops, NULL};

const struct verb verb_model = {
	.name = "model",
	.args = "VERB ...",
	.summary = "estimate an Ascend kernel's timeline from its source",
	.subs = subs,
};
