/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_summary.c: incore summary: the one-page verdict, drawn by text/summary_text.c. */
#include "cli/ask.h"
#include "cli/text/summary_text.h"

static bool draw_summary(struct cli *c, const struct answer *a)
{
	return answer_is(a, &summary_pipes_record) ? summary_print_pipes(c, a->data, a->traces.v[0])
						   : summary_print(c, a->data, a->traces.v[0]);
}

extern const struct question question_summary;
const struct verb verb_summary = {
	.name = "summary",
	.question = &question_summary,
	.groups = OPTIONS_OUTPUT,
	.draw = draw_summary,
};
