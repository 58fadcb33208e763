/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c: which verbs are there? The only list: a new verb is one line in VERBS and one file
 * cmd_<verb>.c.
 */
#include "cli/cli.h"

#define VERBS(X)                                                                                   \
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
	X(sweep)                                                                                   \
	X(doctor)

#define DECLARE(name) extern const struct verb verb_##name;
VERBS(DECLARE)

#define VERB_ENTRIES(name) &verb_##name,
const struct verb *const verb_table[] = {VERBS(VERB_ENTRIES) NULL};
