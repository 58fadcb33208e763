/* SPDX-License-Identifier: Apache-2.0 */
/* Journals of any bytes: as a file with its hashes, and its lines as if their hashes were right. */
#include "sweep/sweep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sweep_request q;
	struct str all = {(const char *)data, size}, line;
	struct sweep s = {.q = &q, .journal_path = "journal"};

	arena_init(&s.arena);
	if (!sweep_plan_read(&s.plan, STR("matrix: {a: [1, 2, 3]}\nrun: [x]\n"), "p.yaml", NULL))
		return 0;
	s.tasks = mem_zalloc(s.plan.n_tasks, sizeof(*s.tasks));
	s.counts[SWEEP_WAITING] = s.plan.n_tasks;
	if (s.tasks) {
		journal_parse(all, "journal", sweep_apply, &s, NULL);
		while (str_cut(&all, "\n", &line) && sweep_apply(&s, line, NULL))
			;
	}
	sweep_close(&s);
	return 0;
}
