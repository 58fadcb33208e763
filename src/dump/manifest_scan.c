/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_scan.c: totals of a log, and which of its payloads still exist. */
#include "dump/manifest_scan.h"
#include "base/search.h"

#include <errno.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"

#define SORT_BYTES ((size_t)64 << 20)

void scan_deinit(struct scan *s)
{
	u64_map_deinit(&s->lost_tasks);
	VEC_FREE(&s->lost_payloads);
	VEC_FREE(&s->losses);
	VEC_FREE(&s->threads);
	sorter_deinit(&s->sorter);
	file_unload(&s->bin);
	file_unload(&s->log);
}

static struct scan_thread *thread_of(struct scan *s, uint16_t thread)
{
	while (s->threads.n <= thread)
		if (!VEC_PUSH(&s->threads, (struct scan_thread){0}))
			return NULL;
	return &s->threads.v[thread];
}

/* Why the payload does not match its record, or NULL. */
static const char *payload_problem(const struct scan *s, const struct log_arg *a)
{
	if (a->flags & LOG_PAYLOAD_LOST)
		return "its write failed";
	if (!s->job->is_repair || a->bin_size == 0)
		return NULL;
	if (a->bin_offset > s->bin.size || a->bin_size > s->bin.size - a->bin_offset)
		return "beyond the end of the payload file";
	if (crc32c(0, s->bin.data + a->bin_offset, (size_t)a->bin_size) != a->crc32c)
		return "checksum differs";
	return NULL;
}

static bool check_payload(struct scan *s, const struct log_record *rec, const struct log_arg *a,
	struct incore_error *e)
{
	const char *why = payload_problem(s, a);
	struct repair_lost lost = {a->task_id, a->slot, a->stage, why};

	if (!why) {
		s->payload_bytes += a->bin_size;
		return true;
	}
	s->report->n_lost_payloads++;
	if (s->report->lost_payloads.n < REPAIR_LIST_MOST &&
		!VEC_PUSH(&s->report->lost_payloads, lost))
		return err_nomem(e);
	return VEC_PUSH(&s->lost_payloads, rec->off) ? true : err_nomem(e);
}

static bool add_arg(struct scan *s, const struct log_record *rec, struct incore_error *e)
{
	struct scan_thread *t = thread_of(s, rec->thread);
	struct log_arg a;

	if (!t)
		return err_nomem(e);
	if (!log_get_arg(rec, &a))
		return true;
	s->total++;
	t->records++;
	t->payload_bytes += a.bin_size;
	s->before += a.stage == 0;
	s->after += a.stage == 1;
	s->by_role[a.role]++;
	s->truncated += (a.flags & LOG_TRUNCATED) != 0;
	if (s->level < 0)
		s->level = (int)(a.flags >> LOG_LEVEL_SHIFT & 3);
	return a.is_scalar || check_payload(s, rec, &a, e);
}

static bool add_loss(struct scan *s, const struct log_record *rec, struct incore_error *e)
{
	struct scan_thread *t = thread_of(s, rec->thread);
	struct loss l = {.thread = rec->thread};
	uint64_t *mark;

	if (!t)
		return err_nomem(e);
	if (!log_get_loss(rec, &l.what))
		return true;
	t->dropped_records += l.what.records;
	t->dropped_bytes += l.what.bytes;
	s->dropped += l.what.records;
	s->report->lost_records += l.what.records;
	s->report->lost_bytes += l.what.bytes;
	mark = u64_map_at(&s->lost_tasks, l.what.task_id);
	if (!mark)
		return err_nomem(e);
	*mark = 1;
	return VEC_PUSH(&s->losses, l) ? true : err_nomem(e);
}

static bool add_record(struct scan *s, const struct log_record *rec, struct incore_error *e)
{
	switch (rec->type) {
	case LOG_TENSOR:
	case LOG_SCALAR:
		if (!add_arg(s, rec, e))
			return false;
		break;
	case LOG_TASK:
		break;
	case LOG_LOSS:
		return add_loss(s, rec, e);
	case LOG_FLUSH:
		s->report->flushes++;
		return true;
	case LOG_CLOSE:
		s->report->is_closed = true;
		return true;
	default:
		return true;
	}
	return sorter_add(&s->sorter, (struct sort_entry){log_task_id(rec), rec->off}, e);
}

ORDER(compare_losses, struct loss, UP(thread) UP(what.task_id) UP(what.cause))

static void merge_losses(struct scan *s)
{
	size_t n = 0;

	if (s->losses.n == 0)
		return;
	SORT(s->losses.v, s->losses.n, compare_losses);
	for (size_t i = 1; i < s->losses.n; i++) {
		if (compare_losses(&s->losses.v[n], &s->losses.v[i]) == 0) {
			s->losses.v[n].what.records += s->losses.v[i].what.records;
			s->losses.v[n].what.bytes += s->losses.v[i].what.bytes;
		} else {
			s->losses.v[++n] = s->losses.v[i];
		}
	}
	s->losses.n = n + 1;
}

/* Loads a file; no link may lead out of the dump. */
static bool load(struct file_data *f, const char *dir, const char *name, struct incore_error *e)
{
	char *path = path_join(dir, name);
	struct file_root root;
	bool ok = path || err_nomem(e);

	if (ok && !file_root_open(&root, dir, false))
		ok = err_errno(e, errno, dir, "open");
	else if (ok) {
		ok = file_load_at(f, root, name, path, e);
		close(root.fd);
	}
	mem_free(path);
	return ok;
}

static bool load_files(struct scan *s, struct incore_error *e)
{
	const struct manifest_job *job = s->job;
	char *bin;

	s->log.is_own = true; /* written by this process, or by one that has ended */
	if (!load(&s->log, job->dir, LOG_FILE, e))
		return false;
	s->report->log_bytes = s->log.size;
	s->report->payload_file = manifest_bin_name(job->is_older);
	if (!job->is_repair)
		return true;
	bin = path_join(job->dir, s->report->payload_file);
	if (!bin)
		return err_nomem(e);
	if (file_exists(bin) && !load(&s->bin, job->dir, s->report->payload_file, e)) {
		mem_free(bin);
		return false;
	}
	mem_free(bin);
	s->report->bin_bytes = s->bin.size;
	return true;
}

bool scan_log(struct scan *s, const struct manifest_job *job, struct repair_report *report,
	struct incore_error *e)
{
	struct log_record rec;

	*s = (struct scan){.job = job, .report = report, .level = job->level};
	sorter_init(&s->sorter, job->dir, job->sort_bytes ? job->sort_bytes : SORT_BYTES);
	if (!load_files(s, e) ||
		!log_reader_init(&s->reader, s->log.data, s->log.size, LOG_FILE, e))
		return false;
	while (log_next(&s->reader, &rec))
		if (!add_record(s, &rec, e))
			return false;
	report->records = s->total;
	report->cut_off = s->reader.at;
	report->cut_bytes = s->log.size - s->reader.at;
	report->cut_why = s->reader.why;
	merge_losses(s);
	return sorter_finish(&s->sorter, e);
}

bool scan_is_payload_lost(const struct scan *s, uint64_t off)
{
	size_t lo = 0, hi = s->lost_payloads.n;

	BISECT(lo, hi, i, s->lost_payloads.v[i] < off);
	return lo < s->lost_payloads.n && s->lost_payloads.v[lo] == off;
}
