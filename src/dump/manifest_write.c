/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_write.c: writes the manifest of a dump from its log, in the order of tasks, whatever the
 * order of the log. Parts: records in the order of tasks; one pass over the log; the records of one
 * task; the manifest.
 */
#include "dump/manifest_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/str.h"
#include "base/vec.h"
#include "dump/loss.h"
#include "dump/manifest_text.h"

struct sort_entry {
	uint64_t task_id;
	uint64_t off; /* of the record in the log */
};

struct sort_run {
	uint64_t at, left;	/* entries in the file */
	struct sort_entry *buf; /* part of the sorter's buffer */
	size_t n, next;
};

struct sorter {
	const char *dir; /* where the temporary file is created */
	size_t most;	 /* maximum number of entries in memory */
	VEC(struct sort_entry) buf;
	VEC(struct sort_run) runs;
	uint64_t in_file;
	size_t next; /* while reading, without runs */
	int fd;
};

struct scan_thread {
	uint64_t records, payload_bytes, dropped_records, dropped_bytes;
};

struct manifest_scan {
	const struct manifest_job *job;
	struct repair_report *report;
	struct file_data log, bin; /* bin: for repair only */
	struct log_reader reader;
	struct sorter sorter;
	int level; /* -1: no record states it */
	uint64_t total, before, after, by_role[3], truncated, dropped, payload_bytes;
	VEC(struct scan_thread) threads; /* by thread number */
	VEC(struct loss) losses;	 /* sorted by thread, task, cause; no duplicates */
	VEC(uint64_t) lost_payloads;	 /* offsets of records in the log, ascending */
	struct u64_map lost_tasks;	 /* tasks that lost something */
};

struct group_arg {
	uint64_t dispatch_id, off;
	uint32_t block_idx, slot;
	uint8_t stage, role;
};

struct group_task {
	struct log_task what;
	uint64_t off;
	uint32_t found; /* arguments */
	bool is_incomplete;
};

struct manifest_group {
	uint64_t task_id;
	bool has_loss;
	VEC(struct group_task) tasks; /* by dispatch, block */
	VEC(struct group_arg) args;   /* by stage, slot, block, dispatch, place in the log */
	VEC(struct group_arg) own;    /* copy of args, by dispatch, block, slot */
	VEC(uint32_t) after;	      /* slots with an after copy, ascending */
};

/* --- records in the order of tasks ------------------------------------------------------------ */

/*
 * An external merge sort of 16-byte entries.
 */

#define SORT_LEAST 1024

static void sorter_init(struct sorter *s, const char *dir, size_t bytes)
{
	*s = (struct sorter){.dir = dir, .fd = -1};
	s->most = bytes / 2 / sizeof(struct sort_entry); /* sorting needs the same amount again */
	if (s->most < SORT_LEAST)
		s->most = SORT_LEAST;
}

static void sorter_deinit(struct sorter *s)
{
	if (s->fd >= 0)
		close(s->fd);
	VEC_FREE(&s->buf);
	VEC_FREE(&s->runs);
	s->fd = -1;
}

ORDER(compare, struct sort_entry, UP(task_id) UP(off))

static int sorter_open_unnamed(const char *dir)
{
	struct strbuf name = {0};
	int fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	sb_printf(&name, "%s/.sort.XXXXXX", dir);
	fd = name.failed ? -1 : mkostemp(name.p, O_CLOEXEC);
	if (fd >= 0)
		unlink(name.p);
	sb_free(&name);
	return fd;
}

static bool sorter_spill(struct sorter *s, struct incore_error *e)
{
	const uint8_t *p = (const uint8_t *)s->buf.v;
	size_t left = s->buf.n * sizeof(struct sort_entry);
	uint64_t at = s->in_file * sizeof(struct sort_entry);

	qsort(s->buf.v, s->buf.n, sizeof(struct sort_entry), compare);
	if (s->fd < 0)
		s->fd = sorter_open_unnamed(s->dir);
	if (s->fd < 0)
		return err_errno(e, errno, s->dir, "cannot create a file to sort in");
	while (left > 0) {
		ssize_t n = fault_hit(FAULT_WRITE) ? (errno = ENOSPC, -1)
						   : pwrite(s->fd, p, left, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, errno, s->dir, "cannot write a file to sort in");
		p += n;
		at += (uint64_t)n;
		left -= (size_t)n;
	}
	if (!VEC_PUSH(&s->runs, (struct sort_run){.at = s->in_file, .left = s->buf.n}))
		return err_nomem(e);
	s->in_file += s->buf.n;
	s->buf.n = 0;
	return true;
}

static bool sorter_add(struct sorter *s, struct sort_entry entry, struct incore_error *e)
{
	if (s->buf.n == s->most && !sorter_spill(s, e))
		return false;
	if (s->buf.n == s->buf.cap && s->buf.cap > 0) { /* do not exceed the budget */
		size_t want = s->buf.cap * 2 < s->most ? s->buf.cap * 2 : s->most;
		struct sort_entry *p = mem_resize(s->buf.v, want, sizeof(*p));

		if (!p)
			return err_nomem(e);
		s->buf.v = p;
		s->buf.cap = want;
	}
	return VEC_PUSH(&s->buf, entry) ? true : err_nomem(e);
}

/* Call after the last add. */
static bool sorter_finish(struct sorter *s, struct incore_error *e)
{
	size_t share;

	if (s->runs.n == 0) {
		if (s->buf.n > 1)
			qsort(s->buf.v, s->buf.n, sizeof(struct sort_entry), compare);
		return true;
	}
	if (s->buf.n && !sorter_spill(s, e))
		return false;
	share = s->buf.cap / s->runs.n;
	if (share == 0)
		return err_set(e, INCORE_FAILED, "too-large",
			"too many records for %zu bytes to sort in", s->most * 32);
	for (size_t i = 0; i < s->runs.n; i++) {
		s->runs.v[i].buf = s->buf.v + i * share;
		s->runs.v[i].n = 0;
	}
	return true;
}

static bool refill(struct sorter *s, struct sort_run *r, struct incore_error *e)
{
	size_t share = s->buf.cap / s->runs.n, want = r->left < share ? (size_t)r->left : share;
	size_t bytes = want * sizeof(struct sort_entry), got = 0;

	while (got < bytes) {
		ssize_t n = pread(s->fd, (uint8_t *)r->buf + got, bytes - got,
			(off_t)(r->at * sizeof(struct sort_entry) + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(
				e, n < 0 ? errno : EIO, s->dir, "cannot read a file to sort in");
		got += (size_t)n;
	}
	r->at += want;
	r->left -= want;
	r->n = want;
	r->next = 0;
	return true;
}

/* Returns the next entry in order; *has is false at the end. */
static bool sorter_next(struct sorter *s, struct sort_entry *out, bool *has, struct incore_error *e)
{
	struct sort_run *best = NULL;

	if (s->runs.n == 0) {
		*has = s->next < s->buf.n;
		if (*has)
			*out = s->buf.v[s->next++];
		return true;
	}
	EACH (struct sort_run, r, s->runs.v, s->runs.n) {
		if (r->next == r->n && r->left && !refill(s, r, e))
			return false;
		if (r->next < r->n &&
			(!best || compare(&r->buf[r->next], &best->buf[best->next]) < 0))
			best = r;
	}
	*has = best != NULL;
	if (best)
		*out = best->buf[best->next++];
	return true;
}

/* --- one pass over the log -------------------------------------------------------------------- */

/*
 * Totals of a log, and which of its payloads still exist.
 */

#define SORT_BYTES ((size_t)64 << 20)

static void scan_deinit(struct manifest_scan *s)
{
	u64_map_deinit(&s->lost_tasks);
	VEC_FREE(&s->lost_payloads);
	VEC_FREE(&s->losses);
	VEC_FREE(&s->threads);
	sorter_deinit(&s->sorter);
	file_unload(&s->bin);
	file_unload(&s->log);
}

static struct scan_thread *thread_of(struct manifest_scan *s, uint16_t thread)
{
	while (s->threads.n <= thread)
		if (!VEC_PUSH(&s->threads, (struct scan_thread){0}))
			return NULL;
	return &s->threads.v[thread];
}

/* Why the payload does not match its record, or NULL. */
static const char *payload_problem(const struct manifest_scan *s, const struct log_arg *a)
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

static bool check_payload(struct manifest_scan *s, const struct log_record *rec,
	const struct log_arg *a, struct incore_error *e)
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

static bool add_arg(struct manifest_scan *s, const struct log_record *rec, struct incore_error *e)
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

static bool add_loss(struct manifest_scan *s, const struct log_record *rec, struct incore_error *e)
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

static bool scan_add_record(
	struct manifest_scan *s, const struct log_record *rec, struct incore_error *e)
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

static void merge_losses(struct manifest_scan *s)
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
static bool scan_load(
	struct file_data *f, const char *dir, const char *name, struct incore_error *e)
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

static bool load_files(struct manifest_scan *s, struct incore_error *e)
{
	const struct manifest_job *job = s->job;
	char *bin;

	s->log.is_own = true; /* written by this process, or by one that has ended */
	if (!scan_load(&s->log, job->dir, LOG_FILE, e))
		return false;
	s->report->log_bytes = s->log.size;
	s->report->payload_file = manifest_bin_name(job->is_older);
	if (!job->is_repair)
		return true;
	bin = path_join(job->dir, s->report->payload_file);
	if (!bin)
		return err_nomem(e);
	if (file_exists(bin) && !scan_load(&s->bin, job->dir, s->report->payload_file, e)) {
		mem_free(bin);
		return false;
	}
	mem_free(bin);
	s->report->bin_bytes = s->bin.size;
	return true;
}

static bool scan_log(struct manifest_scan *s, const struct manifest_job *job,
	struct repair_report *report, struct incore_error *e)
{
	struct log_record rec;

	*s = (struct manifest_scan){.job = job, .report = report, .level = job->level};
	sorter_init(&s->sorter, job->dir, job->sort_bytes ? job->sort_bytes : SORT_BYTES);
	if (!load_files(s, e) ||
		!log_reader_init(&s->reader, s->log.data, s->log.size, LOG_FILE, e))
		return false;
	while (log_next(&s->reader, &rec))
		if (!scan_add_record(s, &rec, e))
			return false;
	report->records = s->total;
	report->cut_off = s->reader.at;
	report->cut_bytes = s->log.size - s->reader.at;
	report->cut_why = s->reader.why;
	merge_losses(s);
	return sorter_finish(&s->sorter, e);
}

static bool scan_is_payload_lost(const struct manifest_scan *s, uint64_t off)
{
	size_t lo = 0, hi = s->lost_payloads.n;

	BISECT(lo, hi, i, s->lost_payloads.v[i] < off);
	return lo < s->lost_payloads.n && s->lost_payloads.v[lo] == off;
}

/* --- the records of one task ------------------------------------------------------------------ */

/*
 * One task: the order of its records, and whether all its arguments exist.
 */

#define LEVEL_SELECTED 1

static void group_reset(struct manifest_group *g, uint64_t task_id)
{
	g->task_id = task_id;
	g->has_loss = false;
	g->tasks.n = g->args.n = g->own.n = g->after.n = 0;
}

static void group_deinit(struct manifest_group *g)
{
	VEC_FREE(&g->tasks);
	VEC_FREE(&g->args);
	VEC_FREE(&g->own);
	VEC_FREE(&g->after);
}

/* Adds a TASK, TENSOR or SCALAR record of this task. */
static bool manifest_group_add(
	struct manifest_group *g, const struct log_record *rec, struct incore_error *e)
{
	struct group_task t = {.off = rec->off};
	struct log_arg a;

	if (log_get_task(rec, &t.what))
		return VEC_PUSH(&g->tasks, t) ? true : err_nomem(e);
	if (!log_get_arg(rec, &a))
		return true;
	return VEC_PUSH(&g->args, (struct group_arg){a.dispatch_id, rec->off, a.block_idx, a.slot,
					  a.stage, a.role})
		       ? true
		       : err_nomem(e);
}

ORDER(compare_args, struct group_arg, UP(stage) UP(slot) UP(block_idx) UP(dispatch_id) UP(off))
ORDER(compare_own, struct group_arg, UP(dispatch_id) UP(block_idx) UP(slot) THEN(compare_args))
ORDER(compare_tasks, struct group_task, UP(what.dispatch_id) UP(what.block_idx) UP(off))

/* If a task is described twice (by two threads, for example), only the first counts. */
static void sort_tasks(struct manifest_group *g)
{
	size_t n = 0;

	if (g->tasks.n == 0)
		return;
	SORT(g->tasks.v, g->tasks.n, compare_tasks);
	for (size_t i = 1; i < g->tasks.n; i++)
		if (g->tasks.v[i].what.dispatch_id != g->tasks.v[n].what.dispatch_id ||
			g->tasks.v[i].what.block_idx != g->tasks.v[n].what.block_idx)
			g->tasks.v[++n] = g->tasks.v[i];
	g->tasks.n = n + 1;
}

static bool sort_args(struct manifest_group *g, struct incore_error *e)
{
	size_t n = g->args.n;

	if (n == 0)
		return true;
	if (!VEC_RESERVE(&g->own, n))
		return err_nomem(e);
	SORT(g->args.v, n, compare_args);
	memcpy(g->own.v, g->args.v, n * sizeof(*g->args.v));
	g->own.n = n;
	SORT(g->own.v, n, compare_own);
	for (size_t i = 0; i < n; i++) { /* sorted by stage and slot: ascending */
		const struct group_arg *a = &g->args.v[i];

		if (a->stage == 1 && (g->after.n == 0 || g->after.v[g->after.n - 1] != a->slot) &&
			!VEC_PUSH(&g->after, a->slot))
			return err_nomem(e);
	}
	return true;
}

static bool has_after(const struct manifest_group *g, uint32_t slot)
{
	size_t lo = 0, hi = g->after.n;

	BISECT(lo, hi, i, g->after.v[i] < slot);
	return lo < g->after.n && g->after.v[lo] == slot;
}

/* Index of the first entry of `own` with this dispatch and block, or of a later one. */
static size_t find_own(const struct manifest_group *g, uint64_t dispatch_id, uint32_t block_idx)
{
	size_t lo = 0, hi = g->own.n;

	BISECT(lo, hi, i,
		g->own.v[i].dispatch_id < dispatch_id ||
			(g->own.v[i].dispatch_id == dispatch_id &&
				g->own.v[i].block_idx < block_idx));
	return lo;
}

/* Copies from before belong to the block itself; after the task there is one copy for all
 * blocks. */
static void count_found(const struct manifest_group *g, struct group_task *t)
{
	uint32_t expected = t->what.tensor_count + t->what.scalar_count;
	size_t i = find_own(g, t->what.dispatch_id, t->what.block_idx), k = 0;
	bool is_wrong = false;
	uint32_t last = UINT32_MAX;

	for (; i < g->own.n && g->own.v[i].dispatch_id == t->what.dispatch_id &&
		g->own.v[i].block_idx == t->what.block_idx;
		i++) {
		const struct group_arg *a = &g->own.v[i];

		for (; k < g->after.n && g->after.v[k] < a->slot; k++)
			t->found++;
		k += k < g->after.n && g->after.v[k] == a->slot;
		t->found += a->slot != last;
		last = a->slot;
		is_wrong = is_wrong || a->slot >= expected ||
			   (a->role == 2 && a->stage == 0 && !has_after(g, a->slot));
	}
	t->found += (uint32_t)(g->after.n - k);
	t->is_incomplete = is_wrong || t->found != expected;
}

/* After the last add: sorts, and marks incomplete tasks (level 1 records no full argument list). */
static bool group_finish(struct manifest_group *g, int level, struct incore_error *e)
{
	sort_tasks(g);
	if (!sort_args(g, e))
		return false;
	for (size_t i = 0; i < g->tasks.n; i++) {
		count_found(g, &g->tasks.v[i]);
		if (level == LEVEL_SELECTED)
			g->tasks.v[i].is_incomplete = false;
		if (g->has_loss)
			g->tasks.v[i].is_incomplete = true;
	}
	return true;
}

/* The task description of a dispatch and block, or NULL. */
static const struct group_task *group_find(
	const struct manifest_group *g, uint64_t dispatch_id, uint32_t block_idx)
{
	const struct log_task *t;
	size_t lo = 0, hi = g->tasks.n;

	BISECT(lo, hi, i,
		g->tasks.v[i].what.dispatch_id < dispatch_id ||
			(g->tasks.v[i].what.dispatch_id == dispatch_id &&
				g->tasks.v[i].what.block_idx < block_idx));
	t = lo < g->tasks.n ? &g->tasks.v[lo].what : NULL;
	return t && t->dispatch_id == dispatch_id && t->block_idx == block_idx ? &g->tasks.v[lo]
									       : NULL;
}

/* --- the manifest ----------------------------------------------------------------------------- */

/*
 * Turns a log into a manifest: counters first, then the records task by task.
 */

#define FLUSH_BYTES 65536

struct out {
	const struct manifest_job *job;
	struct manifest_scan *scan;
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

static void manifest_put_counter(struct strbuf *b, const char *key, uint64_t v)
{
	sb_printf(b, "  \"%s\": %llu,\n", key, (unsigned long long)v);
}

/* Counters, whose names end in "args" or "tensors". */
static void manifest_put_counters(struct strbuf *b, const struct manifest_scan *s)
{
	static const char *const keys[] = {"total", "input", "output", "inout", "truncated"};
	const char *what = s->job->is_older ? "tensors" : "args";
	uint64_t values[] = {s->total, s->by_role[0], s->by_role[1], s->by_role[2], s->truncated};

	for (unsigned i = 0; i < 5; i++) {
		char key[32];

		snprintf(key, sizeof(key), "%s_%s", keys[i], what);
		manifest_put_counter(b, key, values[i]);
		if (i == 0) {
			manifest_put_counter(b, "before_dispatch", s->before);
			manifest_put_counter(b, "after_completion", s->after);
		}
	}
	manifest_put_counter(b, "dropped_records", s->dropped);
	manifest_put_counter(b, "dropped_overwrite", s->report->n_lost_payloads);
}

static void put_losses(struct strbuf *b, const struct manifest_scan *s)
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
	manifest_put_counter(b, "log_bytes_cut", r->cut_bytes);
	manifest_put_counter(b, "payloads_lost", r->n_lost_payloads);
}

static void manifest_put_head(struct out *o)
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
		manifest_put_counter(
			b, "dump_args_level", o->scan->level < 0 ? 2 : (uint64_t)o->scan->level);
	manifest_put_counters(b, o->scan);
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
static bool note_group(struct out *o, const struct manifest_group *g, struct incore_error *e)
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

static bool manifest_put_group(struct out *o, struct manifest_group *g, struct incore_error *e)
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

static bool manifest_put_records(struct out *o, struct manifest_group *g, struct incore_error *e)
{
	struct sort_entry entry;
	struct log_record rec;
	bool has, is_open = false;

	for (;;) {
		if (!sorter_next(&o->scan->sorter, &entry, &has, e))
			return false;
		if (is_open && (!has || entry.task_id != g->task_id)) {
			if (!manifest_put_group(o, g, e))
				return false;
			is_open = false;
		}
		if (!has)
			return true;
		if (!is_open)
			group_reset(g, entry.task_id);
		is_open = true;
		log_at(&o->scan->reader, entry.off, &rec);
		if (!manifest_group_add(g, &rec, e))
			return false;
	}
}

/* Dispatches without records: known only at the end, so written after the records. */
static void manifest_put_tail(struct out *o)
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

static bool manifest_write_text(struct out *o, struct incore_error *e)
{
	struct manifest_group g = {0};
	bool ok;

	manifest_put_head(o);
	ok = manifest_put_records(o, &g, e);
	if (ok)
		manifest_put_tail(o);
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
	struct manifest_scan scan;
	bool ok = scan_log(&scan, job, report, e);

	if (ok) {
		report->manifest = path_join(job->dir, manifest_file_name(job->is_older));
		if (report->manifest && lstat(report->manifest, &st) == 0 && S_ISLNK(st.st_mode))
			ok = err_file(e, "link-outside", report->manifest, INCORE_NO_OFFSET,
				"is a symbolic link, through which no dump is written: remove it");
		else
			ok = report->manifest ? out_file_open(&file, report->manifest, e)
					      : err_nomem(e);
	}
	if (ok) {
		struct out o = {.job = job, .scan = &scan, .report = report, .f = file.f};

		ok = manifest_write_text(&o, e);
		if (ok)
			ok = out_file_commit(&file, e);
		else
			out_file_abort(&file);
	}
	scan_deinit(&scan);
	return ok;
}
