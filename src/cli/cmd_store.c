/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_store.c: incore store: captures over time. Subcommands are in store_<kind>.c. */
#include "cli/store/store_job.h"
#include "serve/session/board.h"

#ifdef INCORE_SQLITE
static const struct verb *const subs[] = {&store_verb_add, &store_verb_ls, &store_verb_show,
	&store_verb_history, &store_verb_regressions, &store_verb_gate, &store_verb_accept,
	&store_verb_prune, &store_verb_export, NULL};
#else
static bool refuse(struct cli *c)
{
	return err_set(
		&c->error, INCORE_MISSING, "no-sqlite", "this incore was built without SQLite");
}
#endif

const struct verb verb_store = {
	.name = "store",
	.args = "VERB ...",
	.summary = "keep captures over time: their history, what got worse, a gate for CI",
#ifdef INCORE_SQLITE
	.subs = subs,
	.records = board_records,
	.inputs = board_inputs,
#else
	.max_args = UINT32_MAX,
	.run = refuse,
#endif
};
