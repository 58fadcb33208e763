/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c: the only list of verbs. A question is just its name, since its answer and its
 * page do the rest. Any other verb is one line and one file cmd_<verb>.c.
 */
#include "cli/cli.h"

#define QUESTIONS(X)                                                                               \
	X(info)                                                                                    \
	X(check)                                                                                   \
	X(hot)                                                                                     \
	X(isa)                                                                                     \
	X(waves)                                                                                   \
	X(whatif)                                                                                  \
	X(why)                                                                                     \
	X(advise)                                                                                  \
	X(occupancy)                                                                               \
	X(summary)                                                                                 \
	X(doctor)

#define OTHERS(X)                                                                                  \
	X(diff)                                                                                    \
	X(sql)                                                                                     \
	X(mcp)                                                                                     \
	X(store)                                                                                   \
	X(view)                                                                                    \
	X(report)                                                                                  \
	X(clean)                                                                                   \
	X(pack)                                                                                    \
	X(export)                                                                                  \
	X(dump)                                                                                    \
	X(model)                                                                                   \
	X(replay)                                                                                  \
	X(profile)                                                                                 \
	X(capture)                                                                                 \
	X(sweep)

#define QUESTION_VERB(NAME)                                                                        \
	extern const struct question question_##NAME;                                              \
	static const struct verb verb_##NAME = {.name = #NAME, .question = &question_##NAME};
QUESTIONS(QUESTION_VERB)

#define DECLARE(NAME) extern const struct verb verb_##NAME;
OTHERS(DECLARE)

#define ENTRY(NAME) &verb_##NAME,
const struct verb *const verb_table[] = {QUESTIONS(ENTRY) OTHERS(ENTRY) NULL};
