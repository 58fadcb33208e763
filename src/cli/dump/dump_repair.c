/* SPDX-License-Identifier: Apache-2.0 */
/* dump_repair.c: incore dump repair: writes the manifest of a dump that was not closed, and reports
 * what is lost. */
#include "cli/draw.h"
#include "cli/dump/dump_rows.h"
#include "dump/repair.h"
#include "page/say.h"

static const struct option_def options[] = {OPTION_END};

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

static bool print_json(struct cli *c, const struct repair_report *r)
{
	struct repair_data x = {"repair", *r, r->cut_why ? r : NULL};

	return cli_json(c, &path_record, &(struct text_item){c->args[0]}, &data_record, &x);
}

static void print_lists(FILE *out, const struct repair_report *r)
{
	for (size_t i = 0; i < r->lost_payloads.n; i++) {
		const struct repair_lost *x = &r->lost_payloads.v[i];

		say(out, "lost payload     task 0x%016llx slot %u %s: %s\n",
			(unsigned long long)x->task_id, x->slot, dump_stage_name(x->stage), x->why);
	}
	if (r->lost_payloads.n < r->n_lost_payloads)
		say(out, "lost payload     ... %llu more\n",
			(unsigned long long)(r->n_lost_payloads - r->lost_payloads.n));
	for (size_t i = 0; i < r->incomplete.n; i++) {
		const struct repair_task *x = &r->incomplete.v[i];

		say(out, "incomplete task  0x%016llx dispatch %llu block %u: %u argument%s",
			(unsigned long long)x->task_id, (unsigned long long)x->dispatch_id,
			x->block_idx, x->found, plural(x->found));
		if (x->expected != UINT32_MAX)
			say(out, " of %u%s", x->expected,
				x->found >= x->expected ? ", not all at every stage" : "");
		fputc('\n', out);
	}
	if (r->incomplete.n < r->n_incomplete)
		say(out, "incomplete task  ... %llu more\n",
			(unsigned long long)(r->n_incomplete - r->incomplete.n));
}

static void print_text(struct cli *c, const struct repair_report *r)
{
	FILE *out = c->out;

	say(out, "%s: %s, %s of payload\n", r->manifest, COUNTED(r->records, "record"),
		COUNTED(r->bin_bytes, "byte"));
	say(out, "the dump was %s, %s flush%s\n", r->is_closed ? "closed" : "not closed",
		U64_TEXT(r->flushes), r->flushes == 1 ? "" : "es");
	if (r->cut_why)
		say(out, "the log is used up to byte %llu; %s %s not: %s\n",
			(unsigned long long)r->cut_off, U64_TEXT(r->cut_bytes),
			r->cut_bytes == 1 ? "byte after it is" : "bytes after it are", r->cut_why);
	if (r->lost_records)
		say(out, "the producer counted %s and %s as lost\n",
			COUNTED(r->lost_records, "record"), COUNTED(r->lost_bytes, "byte"));
	print_lists(out, r);
	say(out, "%s lost, %s incomplete\n", COUNTED(r->n_lost_payloads, "payload"),
		COUNTED(r->n_incomplete, "task"));
}

static bool run_dump_repair(struct cli *c)
{
	struct repair_report r = {0};
	bool ok = dump_repair(c->args[0], &r, &c->error);

	if (ok) {
		if (r.cut_why || r.n_lost_payloads || r.n_incomplete || r.lost_records)
			c->n_losses++;
		if (c->use_json)
			ok = print_json(c, &r);
		else
			print_text(c, &r);
	}
	repair_report_deinit(&r);
	return ok;
}

const struct verb dump_verb_repair = {
	.name = "dump repair",
	.args = "DIR",
	.summary = "rebuild the manifest from the log of a dump not closed",
	.groups = OPTIONS_OUTPUT,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run_dump_repair,
	.records = RECORDS(&data_record),
	.inputs = RECORDS(&path_record),
};
