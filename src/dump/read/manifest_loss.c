/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_loss.c: what the producer itself reports as missing: records that did not fit or could
 * not be written, and tasks with fewer recorded arguments than described. */
#include "dump/read/manifest_read.h"

static struct problem of_task(uint64_t id, bool is_known)
{
	return (struct problem){.task_id = id,
		.has_task = is_known,
		.slot = UINT32_MAX,
		.record = UINT32_MAX,
		.at = UINT64_MAX};
}

static bool read_loss(struct manifest_reader *m)
{
	uint64_t task = 0, records = 0, bytes = 0;
	struct str key, s = {0};
	char cause[40] = "unknown";
	bool has_task = false;

	for (json_enter_object(&m->r); json_next_key(&m->r, &key);) {
		if (str_is(key, "task_id") && json_peek(&m->r) != JSON_NULL) {
			has_task = manifest_number(m, "task_id", &task);
		} else if (str_is(key, "records")) {
			json_get_u64(&m->r, &records);
		} else if (str_is(key, "bytes")) {
			json_get_u64(&m->r, &bytes);
		} else if (str_is(key, "cause") && json_get_str(&m->r, &s)) {
			snprintf(cause, sizeof(cause), "%.*s", (int)(s.n < 39 ? s.n : 39), s.p);
		} else if (!m->r.is_failed) {
			json_skip(&m->r);
		}
	}
	if (m->r.is_failed)
		return false;
	if (has_task)
		problems_add(&m->d->problems, PROBLEM_DEFECT, "producer-loss", of_task(task, true),
			"task 0x%016llx: the producer lost %llu records and %llu bytes (%s)",
			(unsigned long long)task, (unsigned long long)records,
			(unsigned long long)bytes, cause);
	else
		problems_add(&m->d->problems, PROBLEM_DEFECT, "producer-loss", of_task(0, false),
			"the producer lost %llu records and %llu bytes (%s)",
			(unsigned long long)records, (unsigned long long)bytes, cause);
	return true;
}

bool manifest_losses(struct manifest_reader *m)
{
	for (json_enter_array(&m->r); json_next_item(&m->r);)
		if (!read_loss(m))
			return false;
	return !m->r.is_failed;
}

static bool read_incomplete(struct manifest_reader *m)
{
	uint64_t task = 0, expected = UINT64_MAX, found = 0, block = 0;
	struct str key;

	for (json_enter_object(&m->r); json_next_key(&m->r, &key);) {
		if (str_is(key, "task_id"))
			manifest_number(m, "task_id", &task);
		else if (str_is(key, "block_idx"))
			json_get_u64(&m->r, &block);
		else if (str_is(key, "expected") && json_peek(&m->r) != JSON_NULL)
			json_get_u64(&m->r, &expected);
		else if (str_is(key, "found"))
			json_get_u64(&m->r, &found);
		else
			json_skip(&m->r);
	}
	if (m->r.is_failed)
		return false;
	if (expected == UINT64_MAX)
		problems_add(&m->d->problems, PROBLEM_DEFECT, "undescribed-task",
			of_task(task, true),
			"task 0x%016llx block %llu: %llu arguments of a task that was never described",
			(unsigned long long)task, (unsigned long long)block,
			(unsigned long long)found);
	else
		problems_add(&m->d->problems, PROBLEM_DEFECT, "incomplete-task",
			of_task(task, true),
			"task 0x%016llx block %llu: %llu of %llu arguments were recorded%s",
			(unsigned long long)task, (unsigned long long)block,
			(unsigned long long)found, (unsigned long long)expected,
			found >= expected ? ", not all at every stage" : "");
	return true;
}

bool manifest_incomplete(struct manifest_reader *m)
{
	for (json_enter_array(&m->r); json_next_item(&m->r);)
		if (!read_incomplete(m))
			return false;
	return !m->r.is_failed;
}
