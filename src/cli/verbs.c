/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c: the only list of verbs, in the order of --help. A question is just its name, since its
 * answer and its page do the rest. A verb with subcommands has a file cmd_<verb>.c that lists them.
 */
#include "cli/cli.h"

/* Q: a question; V: a verb with subcommands. */
#define VERBS(Q, V)                                                                                \
	Q(info)                                                                                    \
	Q(check)                                                                                   \
	Q(hot)                                                                                     \
	Q(isa)                                                                                     \
	Q(waves)                                                                                   \
	Q(whatif)                                                                                  \
	Q(why)                                                                                     \
	Q(advise)                                                                                  \
	Q(verdict)                                                                                 \
	Q(occupancy)                                                                               \
	Q(summary)                                                                                 \
	Q(doctor)                                                                                  \
	Q(diff)                                                                                    \
	Q(sql)                                                                                     \
	Q(mcp)                                                                                     \
	V(store)                                                                                   \
	Q(view)                                                                                    \
	Q(report)                                                                                  \
	Q(clean)                                                                                   \
	Q(pack)                                                                                    \
	Q(export)                                                                                  \
	V(dump)                                                                                    \
	V(model)                                                                                   \
	Q(replay)                                                                                  \
	Q(profile)                                                                                 \
	V(capture)                                                                                 \
	V(sweep)

#define DECLARE_QUESTION(NAME)                                                                     \
	extern const struct question question_##NAME;                                              \
	static const struct verb verb_##NAME = {.name = #NAME, .question = &question_##NAME};
#define DECLARE(NAME) extern const struct verb verb_##NAME;
VERBS(DECLARE_QUESTION, DECLARE)

#define ENTRY(NAME) &verb_##NAME,
const struct verb *const verb_table[] = {VERBS(ENTRY, ENTRY) NULL};
