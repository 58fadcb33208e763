/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c: the list of questions that other programs may ask: those about captures (answer/), the
 * verbs of this room, which act or are about something else, and those of tools/model_lab. `sql`,
 * `view`, `mcp` and `sweep cell` need the program's own terminal (answer/terminal.h): only
 * cli/verbs.c lists them.
 */
#include "answer/answer.h"

#ifdef INCORE_SQLITE
#define STORE(X)                                                                                   \
	X(store_accept)                                                                            \
	X(store_add)                                                                               \
	X(store_export)                                                                            \
	X(store_files)                                                                             \
	X(store_gate)                                                                              \
	X(store_history)                                                                           \
	X(store_ls)                                                                                \
	X(store_prune)                                                                             \
	X(store_regressions)                                                                       \
	X(store_series)                                                                            \
	X(store_show)
#else
#define STORE(X)
#endif

#define QUESTIONS(X)                                                                               \
	X(advise)                                                                                  \
	X(capture_att)                                                                             \
	X(capture_cuda)                                                                            \
	X(capture_msprof)                                                                          \
	X(capture_ncu)                                                                             \
	X(capture_pcs)                                                                             \
	X(capture_pmc)                                                                             \
	X(capture_sys)                                                                             \
	X(check)                                                                                   \
	X(clean)                                                                                   \
	X(diff)                                                                                    \
	X(doctor)                                                                                  \
	X(dump_check)                                                                              \
	X(dump_diff)                                                                               \
	X(dump_export)                                                                             \
	X(dump_ls)                                                                                 \
	X(dump_repair)                                                                             \
	X(dump_show)                                                                               \
	X(export)                                                                                  \
	X(hot)                                                                                     \
	X(info)                                                                                    \
	X(isa)                                                                                     \
	X(model_calibrate)                                                                         \
	X(model_compare)                                                                           \
	X(model_ops)                                                                               \
	X(model_record)                                                                            \
	X(model_run)                                                                               \
	X(model_step)                                                                              \
	X(model_time)                                                                              \
	X(model_validate)                                                                          \
	X(occupancy)                                                                               \
	X(pack)                                                                                    \
	X(profile)                                                                                 \
	X(replay)                                                                                  \
	X(report)                                                                                  \
	STORE(X)                                                                                   \
	X(summary)                                                                                 \
	X(sweep_cancel)                                                                            \
	X(sweep_run)                                                                               \
	X(sweep_status)                                                                            \
	X(verdict)                                                                                 \
	X(waves)                                                                                   \
	X(whatif)                                                                                  \
	X(why)

#define DECLARE(NAME) extern const struct question question_##NAME;
QUESTIONS(DECLARE)

#define ENTRY(NAME) &question_##NAME,
const struct question *const question_table[] = {QUESTIONS(ENTRY) NULL};
