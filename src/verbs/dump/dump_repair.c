/* SPDX-License-Identifier: Apache-2.0 */
/* dump_repair.c: writes the manifest of a dump that was not closed, and reports what is lost. */
#include "dump/repair.h"
#include "verbs/dump/dump_rows.h"

static const struct column lost_columns[] = {
	DUMP_TASK_ID(repair_lost),
	COLUMN(repair_lost, slot, UNIT_INDEX, "whether it was copied before or after the task"),
	COLUMN(repair_lost, stage, UNIT_NONE, "whether it was copied before or after the task",
		.words = DUMP_STAGES),
	COLUMN(repair_lost, why, UNIT_NONE, "what is wrong with the bytes of the record"),
};
static const struct record lost_record = RECORD_OF(repair_lost, RECORD_LINE, lost_columns);

static const struct column task_columns[] = {
	DUMP_TASK_ID(repair_task),
	COLUMN(repair_task, dispatch_id, UNIT_NONE, "dispatch that the task belongs to"),
	COLUMN(repair_task, block_idx, UNIT_INDEX, "number of the block"),
	COLUMN(repair_task, expected, UNIT_COUNT, "arguments of the task; null: never described",
		NULLABLE),
	COLUMN(repair_task, found, UNIT_COUNT, "arguments of the task that were found"),
};
static const struct record task_record = RECORD_OF(repair_task, RECORD_LINE, task_columns);

static const struct column cut_columns[] = {
	COLUMN_AS(repair_report, cut_off, "offset", UNIT_BYTES,
		"offset in the log at which the unused end begins"),
	COLUMN_AS(
		repair_report, cut_bytes, "bytes", UNIT_BYTES, "size of the unused end of the log"),
	COLUMN_AS(repair_report, cut_why, "why", UNIT_NONE, "why the end of the log is not used"),
};
static const struct record cut_record = RECORD_OF(repair_report, RECORD_LINE, cut_columns);

struct repair_data {
	const char *verb;
	struct repair_report r;
	const struct repair_report *cut; /* NULL: all of the log is used */
};
#define REPORTED(M, NAME, UNIT, DOC) COLUMN_AS(repair_data, r.M, NAME, UNIT, DOC)
static const struct column data_columns[] = {
	DUMP_VERB(repair_data, "repair"),
	REPORTED(manifest, "manifest", UNIT_NONE, "path of the manifest that was written"),
	REPORTED(records, "records", UNIT_COUNT, "tensors and scalars in the manifest"),
	REPORTED(is_closed, "closed", UNIT_NONE, "the run had closed the dump"),
	REPORTED(flushes, "flushes", UNIT_COUNT, "times the log was flushed"),
	REPORTED(log_bytes, "log_bytes", UNIT_BYTES, "size of the log"),
	POINTER(repair_data, cut, &cut_record, "end of the log that is not used"),
	REPORTED(bin_bytes, "payload_bytes", UNIT_BYTES, "size of the payload file"),
	REPORTED(n_lost_payloads, "lost_payloads", UNIT_COUNT, "records whose bytes were lost"),
	REPORTED(n_incomplete, "incomplete_tasks", UNIT_COUNT,
		"tasks that were not dumped completely"),
	REPORTED(lost_records, "lost_records", UNIT_COUNT, "records the run counted as lost"),
	REPORTED(lost_bytes, "lost_bytes", UNIT_BYTES, "bytes the run counted as lost"),
	VECTOR(repair_data, r.lost_payloads, "payloads_lost", &lost_record,
		"the first records whose payloads were lost"),
	VECTOR(repair_data, r.incomplete, "tasks_incomplete", &task_record,
		"the first incomplete tasks"),
};
static const struct record data_record = RECORD_OF(repair_data, RECORD_BLOCK, data_columns);

static const struct column path_columns[] = {
	COLUMN_AS(text_item, v, "path", UNIT_NONE, "directory of the dump"),
};
static const struct record path_record = RECORD_OF(text_item, RECORD_BLOCK, path_columns);

static void page_lists(struct page *p, const struct repair_report *r)
{
	for (size_t i = 0; i < r->lost_payloads.n; i++) {
		const struct repair_lost *x = &r->lost_payloads.v[i];

		page_line(p, "lost payload     task 0x%016llx slot %u %s: %s",
			(unsigned long long)x->task_id, x->slot, dump_stage_name(x->stage), x->why);
	}
	if (r->lost_payloads.n < r->n_lost_payloads)
		page_line(p, "lost payload     ... %llu more",
			(unsigned long long)(r->n_lost_payloads - r->lost_payloads.n));
	for (size_t i = 0; i < r->incomplete.n; i++) {
		const struct repair_task *x = &r->incomplete.v[i];

		page_say(p, "incomplete task  0x%016llx dispatch %llu block %u: %u argument%s",
			(unsigned long long)x->task_id, (unsigned long long)x->dispatch_id,
			x->block_idx, x->found, plural(x->found));
		if (x->expected != UINT32_MAX)
			page_say(p, " of %u%s", x->expected,
				x->found >= x->expected ? ", not all at every stage" : "");
		page_line(p, "%s", "");
	}
	if (r->incomplete.n < r->n_incomplete)
		page_line(p, "incomplete task  ... %llu more",
			(unsigned long long)(r->n_incomplete - r->incomplete.n));
}

static void dump_repair_page(const struct answer *a, struct page *p)
{
	const struct repair_report *r = &((const struct repair_data *)a->data)->r;

	page_line(p, "%s: %s, %s of payload", r->manifest, COUNTED(r->records, "record"),
		COUNTED(r->bin_bytes, "byte"));
	page_line(p, "the dump was %s, %s flush%s", r->is_closed ? "closed" : "not closed",
		U64_TEXT(r->flushes), r->flushes == 1 ? "" : "es");
	if (r->cut_why)
		page_line(p, "the log is used up to byte %llu; %s %s not: %s",
			(unsigned long long)r->cut_off, U64_TEXT(r->cut_bytes),
			r->cut_bytes == 1 ? "byte after it is" : "bytes after it are", r->cut_why);
	if (r->lost_records)
		page_line(p, "the producer counted %s and %s as lost",
			COUNTED(r->lost_records, "record"), COUNTED(r->lost_bytes, "byte"));
	page_lists(p, r);
	page_line(p, "%s lost, %s incomplete", COUNTED(r->n_lost_payloads, "payload"),
		COUNTED(r->n_incomplete, "task"));
}

static void drop_repair(struct repair_data *x)
{
	repair_report_deinit(&x->r);
	mem_free(x);
}

static bool dump_repair_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct repair_data *x = mem_zalloc(1, sizeof(*x));
	struct text_item *path = ANSWER_NEW(a, text_item, e);

	if (!x)
		return err_nomem(e);
	if (!ANSWER_KEEP(a, x, drop_repair, e) || !path || !dump_repair(r->paths[0], &x->r, e))
		return false;
	x->verb = "repair";
	x->cut = x->r.cut_why ? &x->r : NULL;
	if (x->r.cut_why || x->r.n_lost_payloads || x->r.n_incomplete || x->r.lost_records)
		a->n_losses++;
	path->v = r->paths[0];
	answer_about(a, &path_record, path);
	answer_set(a, &data_record, x);
	return true;
}

const struct question question_dump_repair = {
	.name = "dump repair",
	.summary = "rebuild the manifest from the log of a dump not closed",
	.args = "DIR",
	.min_paths = 1,
	.max_paths = 1,
	.records = RECORDS(&data_record),
	.inputs = RECORDS(&path_record),
	.ask = dump_repair_ask,
	.page = dump_repair_page,
};
