/* SPDX-License-Identifier: Apache-2.0 */
/* dump_repair.c: incore dump repair: the manifest of a dump that was not closed, and what is lost.
 */
#include "cli/dump/dump_job.h"
#include "cli/text/table.h"
#include "dump/repair.h"

static const struct option_def options[] = {OPTIONS_END};

static void json_lists(struct json_writer *w, const struct repair_report *r)
{
	json_w_key(w, "payloads_lost");
	json_w_array(w);
	for (size_t i = 0; i < r->lost_payloads.n; i++) {
		const struct repair_lost *x = &r->lost_payloads.v[i];

		json_w_row_object(w);
		dump_json_hex(w, "task_id", x->task_id, 16);
		json_w_kv_u64(w, "slot", x->slot);
		json_w_kv_cstr(w, "stage", dump_stage_name(x->stage));
		json_w_kv_cstr(w, "why", x->why);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_key(w, "tasks_incomplete");
	json_w_array(w);
	for (size_t i = 0; i < r->incomplete.n; i++) {
		const struct repair_task *x = &r->incomplete.v[i];

		json_w_row_object(w);
		dump_json_hex(w, "task_id", x->task_id, 16);
		json_w_kv_u64(w, "dispatch_id", x->dispatch_id);
		json_w_kv_u64(w, "block_idx", x->block_idx);
		json_w_key(w, "expected");
		if (x->expected == UINT32_MAX)
			json_w_null(w);
		else
			json_w_u64(w, x->expected);
		json_w_kv_u64(w, "found", x->found);
		json_w_end(w);
	}
	json_w_end(w);
}

static bool print_json(struct cli *c, const struct repair_report *r)
{
	struct json_writer w;

	cli_json_head(c, &w);
	json_w_object(&w);
	json_w_kv_cstr(&w, "path", c->args[0]);
	json_w_end(&w);
	json_w_key(&w, "data");
	json_w_object(&w);
	json_w_kv_cstr(&w, "verb", "repair");
	json_w_kv_cstr(&w, "manifest", r->manifest);
	json_w_kv_u64(&w, "records", r->records);
	json_w_kv_bool(&w, "closed", r->is_closed);
	json_w_kv_u64(&w, "flushes", r->flushes);
	json_w_kv_u64(&w, "log_bytes", r->log_bytes);
	json_w_key(&w, "cut");
	if (r->cut_why) {
		json_w_row_object(&w);
		json_w_kv_u64(&w, "offset", r->cut_off);
		json_w_kv_u64(&w, "bytes", r->cut_bytes);
		json_w_kv_cstr(&w, "why", r->cut_why);
		json_w_end(&w);
	} else {
		json_w_null(&w);
	}
	json_w_kv_u64(&w, "payload_bytes", r->bin_bytes);
	json_w_kv_u64(&w, "lost_payloads", r->n_lost_payloads);
	json_w_kv_u64(&w, "incomplete_tasks", r->n_incomplete);
	json_w_kv_u64(&w, "lost_records", r->lost_records);
	json_w_kv_u64(&w, "lost_bytes", r->lost_bytes);
	json_lists(&w, r);
	json_w_end(&w);
	return cli_json_end(c, &w);
}

static void print_lists(FILE *out, const struct repair_report *r)
{
	for (size_t i = 0; i < r->lost_payloads.n; i++) {
		const struct repair_lost *x = &r->lost_payloads.v[i];

		fprintf(out, "lost payload     task 0x%016llx slot %u %s: %s\n",
			(unsigned long long)x->task_id, x->slot, dump_stage_name(x->stage), x->why);
	}
	if (r->lost_payloads.n < r->n_lost_payloads)
		fprintf(out, "lost payload     ... %llu more\n",
			(unsigned long long)(r->n_lost_payloads - r->lost_payloads.n));
	for (size_t i = 0; i < r->incomplete.n; i++) {
		const struct repair_task *x = &r->incomplete.v[i];

		fprintf(out, "incomplete task  0x%016llx dispatch %llu block %u: %u argument%s",
			(unsigned long long)x->task_id, (unsigned long long)x->dispatch_id,
			x->block_idx, x->found, plural(x->found));
		if (x->expected != UINT32_MAX)
			fprintf(out, " of %u%s", x->expected,
				x->found >= x->expected ? ", not all at every stage" : "");
		fputc('\n', out);
	}
	if (r->incomplete.n < r->n_incomplete)
		fprintf(out, "incomplete task  ... %llu more\n",
			(unsigned long long)(r->n_incomplete - r->incomplete.n));
}

static void print_text(struct cli *c, const struct repair_report *r)
{
	char a[32], b[32];
	FILE *out = c->out;

	fprintf(out, "%s: %s record%s, %s byte%s of payload\n", r->manifest, fmt_u64(a, r->records),
		plural(r->records), fmt_u64(b, r->bin_bytes), plural(r->bin_bytes));
	fprintf(out, "the dump was %s, %s flush%s\n", r->is_closed ? "closed" : "not closed",
		fmt_u64(a, r->flushes), r->flushes == 1 ? "" : "es");
	if (r->cut_why)
		fprintf(out, "the log is used up to byte %llu; %s %s not: %s\n",
			(unsigned long long)r->cut_off, fmt_u64(a, r->cut_bytes),
			r->cut_bytes == 1 ? "byte after it is" : "bytes after it are", r->cut_why);
	if (r->lost_records)
		fprintf(out, "the producer counted %s record%s and %s byte%s as lost\n",
			fmt_u64(a, r->lost_records), plural(r->lost_records),
			fmt_u64(b, r->lost_bytes), plural(r->lost_bytes));
	print_lists(out, r);
	fprintf(out, "%s payload%s lost, %s task%s incomplete\n", fmt_u64(a, r->n_lost_payloads),
		plural(r->n_lost_payloads), fmt_u64(b, r->n_incomplete), plural(r->n_incomplete));
}

static int run_dump_repair(struct cli *c)
{
	struct repair_report r = {0};
	int status = INCORE_OK;

	if (!dump_repair(c->args[0], &r, &c->error)) {
		status = cli_fail(c);
	} else {
		if (r.cut_why || r.n_lost_payloads || r.n_incomplete || r.lost_records)
			c->n_losses++;
		if (!c->use_json)
			print_text(c, &r);
		else if (!print_json(c, &r))
			status = cli_fail(c);
	}
	repair_report_deinit(&r);
	return status;
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
};
