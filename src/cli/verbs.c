/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c: the only list of verbs. A question is just one line with its output options, since its
 * answer and its page do the rest. Any other verb is one line and one file cmd_<verb>.c.
 */
#include "cli/cli.h"

#define QUESTIONS(X)                                                                               \
	X(info, OPTIONS_OUTPUT)                                                                    \
	X(check, OPTIONS_OUTPUT | OPTIONS_CSV)                                                     \
	X(hot, OPTIONS_OUTPUT | OPTIONS_CSV)                                                       \
	X(isa, OPTIONS_OUTPUT | OPTIONS_CSV)                                                       \
	X(waves, OPTIONS_OUTPUT | OPTIONS_CSV)                                                     \
	X(whatif, OPTIONS_OUTPUT | OPTIONS_CSV)                                                    \
	X(why, OPTIONS_OUTPUT | OPTIONS_CSV)                                                       \
	X(advise, OPTIONS_OUTPUT | OPTIONS_CSV)                                                    \
	X(occupancy, OPTIONS_OUTPUT | OPTIONS_CSV)                                                 \
	X(summary, OPTIONS_OUTPUT)                                                                 \
	X(doctor, OPTIONS_OUTPUT)

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

#define QUESTION_VERB(NAME, GROUPS)                                                                \
	extern const struct question question_##NAME;                                              \
	static const struct verb verb_##NAME = {                                                   \
		.name = #NAME, .question = &question_##NAME, .groups = (GROUPS)};
QUESTIONS(QUESTION_VERB)

#define DECLARE(NAME) extern const struct verb verb_##NAME;
OTHERS(DECLARE)

#define QUESTION_ENTRY(NAME, GROUPS) &verb_##NAME,
#define ENTRY(NAME) &verb_##NAME,
const struct verb *const verb_table[] = {QUESTIONS(QUESTION_ENTRY) OTHERS(ENTRY) NULL};
