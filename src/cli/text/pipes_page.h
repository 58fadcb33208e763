/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes_page.h: what verbs answer on a trace whose tracks are pipes (trace_has_pipes()): the verb
 * opens the trace, makes the selection and calls one of these. False with c->error filled.
 */
#ifndef CLI_TEXT_PIPES_PAGE_H
#define CLI_TEXT_PIPES_PAGE_H

#include "cli/cli.h"

bool pipes_page_occupancy(struct cli *c, const struct trace *t, const struct selection *s);

#endif
