/* SPDX-License-Identifier: Apache-2.0 */
/* export.c: one file per record; either all of them appear or no file does. */
#include "dump/read/export.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map_guard.h"
#include "dump/read/values.h"

const struct dump_export_ops *dump_export_find(const char *name)
{
	static const struct dump_export_ops *const all[] = {
		&dump_export_npy, &dump_export_raw, &dump_export_csv, &dump_export_txt};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}

void dump_export_name(const struct dump *d, uint32_t record, const char *suffix, char buf[96])
{
	static const char *const roles[] = {"in", "out", "inout"};
	const struct dump_record *r = &d->records.v[record];

	snprintf(buf, 96, "task_0x%016llx_%s_%s%u_i%u.%s", (unsigned long long)r->task_id,
		dump_stage_name(r->stage), roles[r->role], r->slot, record, suffix);
}

bool dump_export_data(const struct dump *d, uint32_t record, const uint8_t **p, uint64_t *n,
	uint8_t scalar[8], struct incore_error *e)
{
	const struct dump_record *r = &d->records.v[record];
	unsigned size = dtype_bytes(r->dtype);

	if (r->kind == DUMP_SCALAR) {
		for (unsigned i = 0; i < 8; i++)
			scalar[i] = (uint8_t)(r->bits >> 8 * i);
		*p = scalar;
		*n = 1;
		return true;
	}
	if (!dump_payload(d, record, p, n, e))
		return false;
	*n = size ? *n / size : 0;
	return true;
}

static bool has_data(const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];

	if (r->kind == DUMP_SCALAR)
		return true;
	return r->bin_size > 0 || (dump_full_size(d, record) == 0 && r->dtype != DTYPE_UNKNOWN);
}

static bool write_file(const struct dump_export_job *job, const char *dir, uint32_t record,
	struct dump_export_result *out, struct incore_error *e)
{
	struct out_file f = {0};
	char name[96], *path;
	bool ok;

	dump_export_name(job->d, record, job->ops->suffix, name);
	path = path_join(dir, name);
	if (!path)
		return err_nomem(e);
	ok = out_file_open(&f, path, e);
	if (ok)
		ok = job->ops->write(job->d, record, f.f, e) && out_file_commit(&f, e);
	out_file_abort(&f);
	mem_free(path);
	out->n_files += ok;
	out->n_truncated += ok && job->d->records.v[record].flags & DUMP_TRUNCATED;
	return ok;
}

/* Removes the first n files of this run. */
static void remove_files(const struct dump_export_job *job, const char *dir, size_t n)
{
	char name[96], *path;

	for (size_t i = 0; i < n; i++) {
		if (!has_data(job->d, job->records[i]) && !job->ops->holds_nothing)
			continue;
		dump_export_name(job->d, job->records[i], job->ops->suffix, name);
		path = path_join(dir, name);
		if (path)
			unlink(path);
		mem_free(path);
	}
}

/* Skips a record without data, and counts the reason. */
static bool is_skipped(
	const struct dump_export_job *job, uint32_t record, struct dump_export_result *out)
{
	if (has_data(job->d, record) || job->ops->holds_nothing)
		return false;
	out->n_skipped++;
	out->n_overwritten +=
		(job->d->records.v[record].flags & (DUMP_OVERWRITTEN | DUMP_LOST)) != 0;
	return true;
}

static bool write_all_files(const struct dump_export_job *job, const char *dir,
	struct dump_export_result *out, struct incore_error *e)
{
	for (size_t i = 0; i < job->n; i++) {
		if (is_skipped(job, job->records[i], out))
			continue;
		if (!write_file(job, dir, job->records[i], out, e)) {
			if (!job->may_replace)
				remove_files(job, dir, i);
			return err_wrap(e, "export of record %u", job->records[i]);
		}
	}
	return true;
}

/* Checks that no target file exists already. */
static bool check_free(const struct dump_export_job *job, struct incore_error *e)
{
	for (size_t i = 0; i < job->n; i++) {
		char name[96], *path;
		struct stat st;
		bool is_there;

		dump_export_name(job->d, job->records[i], job->ops->suffix, name);
		path = path_join(job->dir, name);
		if (!path)
			return err_nomem(e);
		is_there = lstat(path, &st) == 0;
		if (is_there)
			err_set(e, INCORE_FAILED, "exists",
				"%s already exists; --force replaces it", path);
		mem_free(path);
		if (is_there)
			return false;
	}
	return true;
}

static bool write_into(const struct dump_export_job *job, struct out_dir *dir, uint32_t record,
	struct dump_export_result *out, struct incore_error *e)
{
	char name[96];
	bool ok;
	FILE *f;

	dump_export_name(job->d, record, job->ops->suffix, name);
	f = out_dir_file(dir, name, e);
	if (!f)
		return false;
	ok = job->ops->write(job->d, record, f, e);
	/* the file is closed in any case; only the first error is reported */
	ok = out_dir_done(dir, f, name, ok ? e : NULL) && ok;
	out->n_files += ok;
	out->n_truncated += ok && job->d->records.v[record].flags & DUMP_TRUNCATED;
	return ok;
}

static bool write_new_dir(
	const struct dump_export_job *job, struct dump_export_result *out, struct incore_error *e)
{
	struct out_dir dir = {0};
	bool ok = out_dir_open(&dir, job->dir, 0666, e);

	for (size_t i = 0; ok && i < job->n; i++) {
		if (is_skipped(job, job->records[i], out))
			continue;
		if (!write_into(job, &dir, job->records[i], out, e))
			ok = err_wrap(e, "export of record %u", job->records[i]);
	}
	ok = ok && map_guard_check_map(job->d->bytes.map, e) && out_dir_commit(&dir, e);
	out_dir_abort(&dir);
	return ok;
}

static bool see_name(void *ctx, const char *name, struct incore_error *e)
{
	(void)name;
	(void)e;
	*(bool *)ctx = true;
	return true;
}

static bool is_empty_dir(const char *path)
{
	bool has_name = false;

	return file_is_dir(path) && dir_each(path, see_name, &has_name, NULL) && !has_name;
}

bool dump_export_run(
	const struct dump_export_job *job, struct dump_export_result *out, struct incore_error *e)
{
	struct stat st;

	*out = (struct dump_export_result){0};
	if (lstat(job->dir, &st) != 0 || is_empty_dir(job->dir))
		return write_new_dir(job, out, e);
	if (!file_is_dir(job->dir))
		return err_set(
			e, INCORE_FAILED, "exists", "%s exists and is not a directory", job->dir);
	return (job->may_replace || check_free(job, e)) && write_all_files(job, job->dir, out, e);
}
