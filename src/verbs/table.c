/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c: the only list of questions: those about captures (answer/), the verbs of this room, which
 * act or are about something else, and those of tools/model_lab.
 */
#include "answer/answer.h"

#define QUESTIONS(X)                                                                               \
	X(advise)                                                                                  \
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
	X(summary)                                                                                 \
	X(waves)                                                                                   \
	X(whatif)                                                                                  \
	X(why)

#define DECLARE(NAME) extern const struct question question_##NAME;
QUESTIONS(DECLARE)

#define ENTRY(NAME) &question_##NAME,
const struct question *const question_table[] = {QUESTIONS(ENTRY) NULL};
