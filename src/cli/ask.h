/* SPDX-License-Identifier: Apache-2.0 */
/* ask.h: asks the question of a verb and prints its answer as JSON, or draws it as text or CSV. */
#pragma once

#include "cli/cli.h"

/* Asks what the command line says, which options_parse() has put into c->request. False fills
 * c->error; c->answer holds the warnings in any case. */
bool cli_ask(struct cli *c);
