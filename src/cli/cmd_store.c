/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_store.c: incore store: captures over time. Its verbs are questions (verbs/store). */
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/cli.h"

#define ARGS "VERB ..."
#define SUMMARY "keep captures over time: their history, what got worse, a gate for CI"

#ifdef INCORE_SQLITE
extern const struct question question_store_accept, question_store_add, question_store_export,
	question_store_files, question_store_gate, question_store_history, question_store_ls,
	question_store_prune, question_store_regressions, question_store_series,
	question_store_show;

/* Each capture that is added needs the memory of the one before: the C library would return it to
 * the system in between and request it again, 240 page faults each. Setting this stops the C library
 * from raising its mmap threshold as it runs, so that is set to the highest value that it would
 * choose. */
static void keep_memory(struct cli *c, struct request *r)
{
	(void)c;
	(void)r;
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}
static const struct verb add_verb = {
	.name = "store add", .question = &question_store_add, .prepare = keep_memory};

static const struct verb *const subs[] = {&add_verb, SUB_VERB("store ls", store_ls),
	SUB_VERB("store show", store_show), SUB_VERB("store files", store_files),
	SUB_VERB("store series", store_series), SUB_VERB("store history", store_history),
	SUB_VERB("store regressions", store_regressions), SUB_VERB("store gate", store_gate),
	SUB_VERB("store accept", store_accept), SUB_VERB("store prune", store_prune),
	SUB_VERB("store export", store_export), NULL};
#else
static bool refuse(const struct request *r, struct answer *a, struct incore_error *e)
{
	(void)r;
	(void)a;
	return err_set(e, INCORE_MISSING, "no-sqlite", "this incore was built without SQLite");
}

static const struct question refused = {
	.name = "store", .args = ARGS, .summary = SUMMARY, .max_paths = UINT32_MAX, .ask = refuse};
#endif

const struct verb verb_store = {
	.name = "store",
#ifdef INCORE_SQLITE
	.args = ARGS,
	.summary = SUMMARY,
	.subs = subs,
#else
	.question = &refused,
#endif
};
