/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_write.c: turns a log into a manifest: counters first, then the records task by task. */
#include "dump/manifest_write.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "dump/manifest_group.h"
#include "dump/manifest_scan.h"
#include "dump/manifest_text.h"

#define FLUSH_BYTES 65536

struct out {
	const struct manifest_job *job;
	struct scan *scan;
	struct repair_report *report;
	struct strbuf b;
	FILE *f;
	bool has_record;
};

const char *manifest_file_name(bool is_older)
{
	return is_older ? "tensor_dump.json" : "args_dump.json";
}

const char *manifest_bin_name(bool is_older)
{
	return is_older ? "tensor_dump.bin" : "args.bin";
}

static void put_counter(struct strbuf *b, const char *key, uint64_t v)
{
	sb_printf(b, "  \"%s\": %llu,\n", key, (unsigned long long)v);
}

/* Counters, whose names end in "args" or "tensors". */
static void put_counters(struct strbuf *b, const struct scan *s)
{
	static const char *const keys[] = {"total", "input", "output", "inout", "truncated"};
	const char *what = s->job->is_older ? "tensors" : "args";
	uint64_t values[] = {s->total, s->by_role[0], s->by_role[1], s->by_role[2], s->truncated};

	for (unsigned i = 0; i < 5; i++) {
		char key[32];

		snprintf(key, sizeof(key), "%s_%s", keys[i], what);
		put_counter(b, key, values[i]);
		if (i == 0) {
			put_counter(b, "before_dispatch", s->before);
			put_counter(b, "after_completion", s->after);
		}
	}
	put_counter(b, "dropped_records", s->dropped);
	put_counter(b, "dropped_overwrite", s->report->n_lost_payloads);
}

static void put_losses(struct strbuf *b, const struct scan *s)
{
	const char *comma = "";

	sb_puts(b, "  \"threads\": [");
	for (size_t i = 0; i < s->threads.n; i++) {
		const struct scan_thread *t = &s->threads.v[i];

		sb_printf(b,
			"%s\n    {\"thread\": %zu, \"records\": %llu, \"payload_bytes\": %llu, \"dropped_records\": %llu, \"dropped_bytes\": %llu}",
			i ? "," : "", i, (unsigned long long)t->records,
			(unsigned long long)t->payload_bytes,
			(unsigned long long)t->dropped_records,
			(unsigned long long)t->dropped_bytes);
	}
	sb_puts(b, s->threads.n ? "\n  ],\n  \"losses\": [" : "],\n  \"losses\": [");
	EACH (const struct loss, l, s->losses.v, s->losses.n) {
		sb_printf(b, "%s\n    {\"thread\": %u, \"task_id\": ", comma, l->thread);
		if (l->what.task_id == LOSS_NO_TASK)
			sb_puts(b, "null");
		else
			sb_printf(b, "\"0x%016llx\"", (unsigned long long)l->what.task_id);
		sb_printf(b, ", \"cause\": \"%s\", \"records\": %llu, \"bytes\": %llu}",
			log_cause_name(l->what.cause), (unsigned long long)l->what.records,
			(unsigned long long)l->what.bytes);
		comma = ",";
	}
	sb_puts(b, s->losses.n ? "\n  ],\n" : "],\n");
}

static void put_repair(struct strbuf *b, const struct repair_report *r)
{
	sb_puts(b, "  \"repaired\": true,\n");
	sb_printf(b, "  \"closed\": %s,\n", r->is_closed ? "true" : "false");
	put_counter(b, "log_bytes_cut", r->cut_bytes);
	put_counter(b, "payloads_lost", r->n_lost_payloads);
}

static void put_head(struct out *o)
{
	const struct manifest_job *job = o->job;
	struct strbuf *b = &o->b;
	bool has_bin = o->scan->payload_bytes > 0 || o->scan->level != 3;

	sb_puts(b, "{\n");
	if (!job->is_older)
		sb_puts(b, "  \"schema\": \"" MANIFEST_SCHEMA "\",\n");
	sb_puts(b, "  \"run_dir\": ");
	manifest_put_string(b, str_of(path_base(job->dir)));
	sb_puts(b,
		",\n  \"bin_format\": {\"type\": \"logical_contiguous\", \"byte_order\": \"little_endian\"},\n");
	if (!job->is_older)
		put_counter(
			b, "dump_args_level", o->scan->level < 0 ? 2 : (uint64_t)o->scan->level);
	put_counters(b, o->scan);
	if (has_bin)
		sb_printf(b, "  \"bin_file\": \"%s\",\n", manifest_bin_name(job->is_older));
	else
		sb_puts(b, "  \"bin_file\": null,\n");
	if (!job->is_older)
		put_losses(b, o->scan);
	if (job->is_repair)
		put_repair(b, o->report);
	sb_printf(b, "  \"%s\": [", job->is_older ? "tensors" : "args");
}

static bool flush(struct out *o, size_t least, struct incore_error *e)
{
	if (o->b.failed)
		return err_nomem(e);
	if (o->b.n < least)
		return true;
	if (fwrite(o->b.p, 1, o->b.n, o->f) != o->b.n)
		return err_write(e);
	sb_reset(&o->b);
	return true;
}

static bool note_incomplete(struct out *o, const struct repair_task *t, struct incore_error *e)
{
	o->report->n_incomplete++;
	if (o->report->incomplete.n >= REPAIR_LIST_MOST)
		return true;
	return VEC_PUSH(&o->report->incomplete, *t) ? true : err_nomem(e);
}

/* Notes the incomplete dispatches of a task, including those without any record. */
static bool note_group(struct out *o, const struct group *g, struct incore_error *e)
{
	EACH (const struct group_task, t, g->tasks.v, g->tasks.n) {
		struct repair_task r = {g->task_id, t->what.dispatch_id, t->what.block_idx,
			t->what.tensor_count + t->what.scalar_count, t->found};

		if (t->is_incomplete && !note_incomplete(o, &r, e))
			return false;
	}
	for (size_t i = 0; i < g->own.n; i++) {
		const struct group_arg *a = &g->own.v[i], *before = i ? a - 1 : NULL;
		struct repair_task r = {g->task_id, a->dispatch_id, a->block_idx, UINT32_MAX, 0};

		if (before && before->dispatch_id == a->dispatch_id &&
			before->block_idx == a->block_idx)
			continue;
		if (!group_find(g, a->dispatch_id, a->block_idx) && !note_incomplete(o, &r, e))
			return false;
	}
	return true;
}

static bool put_group(struct out *o, struct group *g, struct incore_error *e)
{
	struct log_record rec;

	g->has_loss = u64_map_find(&o->scan->lost_tasks, g->task_id) != NULL;
	if (!group_finish(g, o->scan->level, e) || !note_group(o, g, e))
		return false;
	EACH (const struct group_arg, a, g->args.v, g->args.n) {
		const struct group_task *t = group_find(g, a->dispatch_id, a->block_idx);
		struct manifest_record r = {.task = t ? &t->what : NULL};

		log_at(&o->scan->reader, a->off, &rec);
		if (!log_get_arg(&rec, &r.arg))
			continue;
		r.thread = rec.thread;
		r.is_incomplete = !t || t->is_incomplete;
		r.is_payload_lost = scan_is_payload_lost(o->scan, a->off);
		sb_puts(&o->b, o->has_record ? ",\n    " : "\n    ");
		manifest_put_record(&o->b, &r, o->job->is_older);
		o->has_record = true;
		if (!flush(o, FLUSH_BYTES, e))
			return false;
	}
	return true;
}

static bool put_records(struct out *o, struct group *g, struct incore_error *e)
{
	struct sort_entry entry;
	struct log_record rec;
	bool has, is_open = false;

	for (;;) {
		if (!sorter_next(&o->scan->sorter, &entry, &has, e))
			return false;
		if (is_open && (!has || entry.task_id != g->task_id)) {
			if (!put_group(o, g, e))
				return false;
			is_open = false;
		}
		if (!has)
			return true;
		if (!is_open)
			group_reset(g, entry.task_id);
		is_open = true;
		log_at(&o->scan->reader, entry.off, &rec);
		if (!group_add(g, &rec, e))
			return false;
	}
}

/* Dispatches without records: known only at the end, so written after the records. */
static void put_tail(struct out *o)
{
	const struct repair_report *r = o->report;

	sb_puts(&o->b, o->has_record ? "\n  ]" : "]");
	if (r->n_incomplete && !o->job->is_older) {
		sb_printf(&o->b, ",\n  \"incomplete_count\": %llu,\n  \"incomplete_tasks\": [",
			(unsigned long long)r->n_incomplete);
		for (size_t i = 0; i < r->incomplete.n; i++) {
			const struct repair_task *t = &r->incomplete.v[i];

			sb_printf(&o->b,
				"%s\n    {\"task_id\": \"0x%016llx\", \"dispatch_id\": %llu, \"block_idx\": %u, \"expected\": ",
				i ? "," : "", (unsigned long long)t->task_id,
				(unsigned long long)t->dispatch_id, t->block_idx);
			if (t->expected == UINT32_MAX)
				sb_puts(&o->b, "null}");
			else
				sb_printf(&o->b, "%u, \"found\": %u}", t->expected, t->found);
		}
		sb_puts(&o->b, "\n  ]");
	}
	sb_puts(&o->b, "\n}\n");
}

static bool write_text(struct out *o, struct incore_error *e)
{
	struct group g = {0};
	bool ok;

	put_head(o);
	ok = put_records(o, &g, e);
	if (ok)
		put_tail(o);
	ok = ok && flush(o, 0, e);
	sb_free(&o->b);
	group_deinit(&g);
	return ok;
}

bool manifest_write(
	const struct manifest_job *job, struct repair_report *report, struct incore_error *e)
{
	struct out_file file = {0};
	struct stat st;
	struct scan scan;
	bool ok = scan_log(&scan, job, report, e);

	if (ok) {
		report->manifest = path_join(job->dir, manifest_file_name(job->is_older));
		if (report->manifest && lstat(report->manifest, &st) == 0 && S_ISLNK(st.st_mode))
			ok = err_file(e, "link-outside", report->manifest, INCORE_NO_OFFSET,
				"a link: a dump is not written through links");
		else
			ok = report->manifest ? out_file_open(&file, report->manifest, e)
					      : err_nomem(e);
	}
	if (ok) {
		struct out o = {.job = job, .scan = &scan, .report = report, .f = file.f};

		ok = write_text(&o, e);
		if (ok)
			ok = out_file_commit(&file, e);
		else
			out_file_abort(&file);
	}
	scan_deinit(&scan);
	return ok;
}
