/* SPDX-License-Identifier: Apache-2.0 */
/* summary_text.h: the page of `incore summary` as text, at most 100 columns but for code and paths.
 */
#pragma once

#include "answer/summary.h"
#include "cli/cli.h"

bool summary_print(struct cli *c, const struct summary_answer *s, const struct trace *t);
/* The same of a trace whose tracks are pipes. */
bool summary_print_pipes(struct cli *c, const struct summary_pipes *s, const struct trace *t);
