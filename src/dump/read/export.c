/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c: writes the arguments of a dump as files. Parts: csv; npy; raw; txt; the files.
 */
#include "dump/read/export.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map_guard.h"
#include "dump/read/values.h"

/* Data of a record: its payload, or the slot of a scalar as 8 bytes in *scalar. *n elements. */
static bool dump_export_data(const struct dump *d, uint32_t record, const uint8_t **p, uint64_t *n,
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

/* --- csv -------------------------------------------------------------------------------------- */

/*
 * A record as rows: one column per dimension, then the value with enough digits to read it back
 * exactly.
 */

static bool write_csv(const struct dump *d, uint32_t record, FILE *f, struct incore_error *e)
{
	const struct dump_record *r = &d->records.v[record];
	uint64_t at[DUMP_MAX_RANK] = {0}, n;
	struct dump_geometry g;
	const uint8_t *p;
	uint8_t scalar[8];
	char text[ELEMENT_TEXT];

	if (!dump_export_data(d, record, &p, &n, scalar, e))
		return false;
	dump_geometry_of(d, r, &g);
	for (unsigned k = 0; k < g.rank; k++)
		fprintf(f, "i%u,", k);
	fputs("value\r\n", f);
	for (uint64_t i = 0; i < n && !ferror(f); i++) {
		for (unsigned k = 0; k < g.rank; k++)
			fprintf(f, "%llu,", (unsigned long long)at[k]);
		if (r->kind == DUMP_SCALAR)
			scalar_text(r->dtype, r->bits, text);
		else
			value_text(r->dtype, value_bits(r->dtype, p, i), VALUE_ROUND_TRIP, text);
		fprintf(f, "%s\r\n", text);
		for (unsigned k = g.rank; k-- > 0;) {
			if (++at[k] < g.shape[k])
				break;
			at[k] = 0;
		}
	}
	return true;
}

const struct dump_export_ops dump_export_csv = {"csv", "csv", false, write_csv};

/* --- npy -------------------------------------------------------------------------------------- */

/*
 * A record as a NumPy array, format 1.0. BFLOAT16 and the FP8 types, which NumPy does not know, are
 * widened to float32, exactly; FP4E2M1 stays bytes. A truncated tensor is flat.
 */

static const char *descr_of(unsigned dtype)
{
	static const char *const descr[DTYPE_COUNT] = {
		[DTYPE_FLOAT32] = "<f4",
		[DTYPE_FLOAT16] = "<f2",
		[DTYPE_INT32] = "<i4",
		[DTYPE_INT16] = "<i2",
		[DTYPE_INT8] = "|i1",
		[DTYPE_UINT8] = "|u1",
		[DTYPE_BFLOAT16] = "<f4",
		[DTYPE_INT64] = "<i8",
		[DTYPE_UINT64] = "<u8",
		[DTYPE_UINT16] = "<u2",
		[DTYPE_UINT32] = "<u4",
		[DTYPE_BOOL] = "|b1",
		[DTYPE_FP8E4M3FN] = "<f4",
		[DTYPE_FP8E8M0] = "<f4",
		[DTYPE_FP4E2M1] = "|u1",
	};

	return dtype < DTYPE_COUNT ? descr[dtype] : "|u1";
}

static bool is_widened(unsigned dtype)
{
	return dtype == DTYPE_BFLOAT16 || dtype == DTYPE_FP8E4M3FN || dtype == DTYPE_FP8E8M0;
}

static bool dump_npy_write_head(FILE *f, const char *descr, const struct dump_geometry *g)
{
	struct strbuf b = {0};
	uint8_t head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
	bool ok;

	sb_printf(&b, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
	for (unsigned i = 0; i < g->rank; i++)
		sb_printf(&b, "%s%llu%s", i ? " " : "", (unsigned long long)g->shape[i],
			i + 1 < g->rank || g->rank == 1 ? "," : "");
	sb_puts(&b, "), }");
	while ((sizeof(head) + b.n + 1) % 64 && !b.failed)
		sb_putc(&b, ' ');
	sb_putc(&b, '\n');
	head[8] = (uint8_t)b.n;
	head[9] = (uint8_t)(b.n >> 8);
	ok = !b.failed;
	if (ok) {
		fwrite(head, 1, sizeof(head), f);
		fwrite(b.p, 1, b.n, f);
	}
	sb_free(&b);
	return ok;
}

static void write_wide(FILE *f, unsigned dtype, const uint8_t *p, uint64_t n)
{
	for (uint64_t i = 0; i < n && !ferror(f); i++) {
		float v = (float)value_double(dtype, p, i, 0);
		uint32_t bits;
		uint8_t out[4];

		memcpy(&bits, &v, sizeof(bits));
		for (unsigned k = 0; k < 4; k++)
			out[k] = (uint8_t)(bits >> 8 * k);
		fwrite(out, 1, sizeof(out), f);
	}
}

static bool write_npy(const struct dump *d, uint32_t record, FILE *f, struct incore_error *e)
{
	const struct dump_record *r = &d->records.v[record];
	struct dump_geometry g;
	const uint8_t *p;
	uint8_t scalar[8];
	uint64_t n;

	if (!dump_export_data(d, record, &p, &n, scalar, e))
		return false;
	dump_geometry_of(d, r, &g);
	if (r->kind == DUMP_SCALAR)
		g.rank = 0;
	else if (n != g.numel) /* a truncated tensor has no shape */
		g = (struct dump_geometry){.rank = 1, .shape = {n}, .numel = n};
	if (!dump_npy_write_head(f, descr_of(r->dtype), &g))
		return err_nomem(e);
	if (is_widened(r->dtype))
		write_wide(f, r->dtype, p, n);
	else if (n)
		fwrite(p, dtype_bytes(r->dtype) ? dtype_bytes(r->dtype) : 1, n, f);
	return true;
}

const struct dump_export_ops dump_export_npy = {"npy", "npy", false, write_npy};

/* --- raw -------------------------------------------------------------------------------------- */

/*
 * The bytes of a record as they are: a tensor dense and row-major, a scalar as its slot.
 */

static bool write_raw(const struct dump *d, uint32_t record, FILE *f, struct incore_error *e)
{
	const uint8_t *p;
	uint8_t scalar[8];
	uint64_t n;

	if (!dump_export_data(d, record, &p, &n, scalar, e))
		return false;
	n = d->records.v[record].kind == DUMP_SCALAR ? 8 : d->records.v[record].bin_size;
	if (n)
		fwrite(p, 1, n, f); /* errors are reported when the file is committed */
	return true;
}

const struct dump_export_ops dump_export_raw = {"raw", "bin", false, write_raw};

/* --- txt -------------------------------------------------------------------------------------- */

/*
 * A record as the legacy viewer writes it: a head of "# key: value" lines, the rows of the last
 * dimension, then every element with its indices. Floats have that viewer's few digits.
 */

static void dump_txt_put_dims(FILE *f, const char *name, unsigned rank, const uint64_t *v)
{
	fprintf(f, "# %s: [", name);
	for (unsigned i = 0; i < rank; i++)
		fprintf(f, "%s%llu", i ? ", " : "", (unsigned long long)v[i]);
	fputs("]\n", f);
}

static void dump_txt_put_head(FILE *f, const struct dump_record *r, const struct dump_geometry *g)
{
	static const char *const stages[] = {"before_dispatch", "after_completion", "other"};

	fprintf(f, "# task_id: 0x%016llx\n", (unsigned long long)r->task_id);
	fprintf(f, "# role: %s\n# stage: %s\n# arg_index: %u\n# dtype: %s\n# kind: %s\n",
		dump_role_name(r->role), stages[r->stage], r->slot, dtype_name(r->dtype),
		dump_kind_name(r->kind));
	/* that viewer is a Python program, hence True and False */
	fprintf(f, "# is_contiguous: %s\n", r->flags & DUMP_CONTIGUOUS ? "True" : "False");
	dump_txt_put_dims(f, "shape", g->rank, g->shape);
	dump_txt_put_dims(f, "strides", g->rank, g->strides);
	fprintf(f, "# start_offset: %llu\n", (unsigned long long)r->start_offset);
}

static const char *dump_txt_text_of(
	unsigned dtype, const uint8_t *p, uint64_t i, char buf[ELEMENT_TEXT])
{
	return value_text(dtype, value_bits(dtype, p, i), VALUE_LEGACY, buf);
}

static void put_overview(FILE *f, unsigned dtype, const uint8_t *p, uint64_t n, uint64_t row)
{
	size_t width = 0;
	char text[ELEMENT_TEXT];

	for (uint64_t i = 0; i < n; i++) {
		size_t w = strlen(dump_txt_text_of(dtype, p, i, text));

		width = w > width ? w : width;
	}
	fputs("# Overview:\n", f);
	for (uint64_t i = 0; i < n && !ferror(f); i++)
		fprintf(f, "%*s%c", (int)width, dump_txt_text_of(dtype, p, i, text),
			(i + 1) % row == 0 || i + 1 == n ? '\n' : ' ');
}

static void put_detail(
	FILE *f, unsigned dtype, const uint8_t *p, uint64_t n, const struct dump_geometry *g)
{
	uint64_t at[DUMP_MAX_RANK] = {0};
	char text[ELEMENT_TEXT];

	fputs("# Detail:\n", f);
	for (uint64_t i = 0; i < n && !ferror(f); i++) {
		fputc('[', f);
		for (unsigned k = 0; k < g->rank; k++)
			fprintf(f, "%s%llu", k ? ", " : "", (unsigned long long)at[k]);
		fprintf(f, "] %s\n", dump_txt_text_of(dtype, p, i, text));
		for (unsigned k = g->rank; k-- > 0;) {
			if (++at[k] < g->shape[k])
				break;
			at[k] = 0;
		}
	}
}

static bool write_txt(const struct dump *d, uint32_t record, FILE *f, struct incore_error *e)
{
	const struct dump_record *r = &d->records.v[record];
	struct dump_geometry g;
	const uint8_t *p;
	uint8_t scalar[8];
	char text[ELEMENT_TEXT];
	uint64_t n;

	if (!dump_export_data(d, record, &p, &n, scalar, e))
		return false;
	dump_geometry_of(d, r, &g);
	dump_txt_put_head(f, r, &g);
	if (r->flags & DUMP_OVERWRITTEN) {
		fputs("# DATA OVERWRITTEN (host too slow)\n", f);
		return true;
	}
	if (r->flags & DUMP_TRUNCATED)
		fputs("# DATA TRUNCATED (tensor too large for arena)\n", f);
	if (r->kind == DUMP_SCALAR) {
		fprintf(f, "# value: %s\n", scalar_text(r->dtype, r->bits, text));
	} else if (!n) {
		fputs("# (no data)\n", f);
	} else {
		put_overview(
			f, r->dtype, p, n, g.rank && g.shape[g.rank - 1] ? g.shape[g.rank - 1] : 1);
		put_detail(f, r->dtype, p, n, &g);
	}
	return true;
}

const struct dump_export_ops dump_export_txt = {"txt", "txt", true, write_txt};

/* --- the files -------------------------------------------------------------------------------- */

/*
 * One file per record; either all of them appear or no file does.
 */

void dump_export_name(const struct dump *d, uint32_t record, const char *suffix, char buf[96])
{
	static const char *const roles[] = {"in", "out", "inout"};
	const struct dump_record *r = &d->records.v[record];

	snprintf(buf, 96, "task_0x%016llx_%s_%s%u_i%u.%s", (unsigned long long)r->task_id,
		dump_stage_name(r->stage), roles[r->role], r->slot, record, suffix);
}

static bool has_data(const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];

	if (r->kind == DUMP_SCALAR)
		return true;
	return r->bin_size > 0 || (dump_full_size(d, record) == 0 && r->dtype != DTYPE_UNKNOWN);
}

static bool dump_export_write_file(const struct dump_export_job *job, const char *dir,
	uint32_t record, struct dump_export_result *out, struct incore_error *e)
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
static void dump_export_remove_files(const struct dump_export_job *job, const char *dir, size_t n)
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
		if (!dump_export_write_file(job, dir, job->records[i], out, e)) {
			if (!job->may_replace)
				dump_export_remove_files(job, dir, i);
			return err_wrap(e, "export of record %u", job->records[i]);
		}
	}
	return true;
}

/* Checks that no target file exists already. */
static bool dump_export_check_free(const struct dump_export_job *job, struct incore_error *e)
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

static bool dump_export_see_name(void *ctx, const char *name, struct incore_error *e)
{
	(void)name;
	(void)e;
	*(bool *)ctx = true;
	return true;
}

static bool is_empty_dir(const char *path)
{
	bool has_name = false;

	return file_is_dir(path) && dir_each(path, dump_export_see_name, &has_name, NULL) &&
	       !has_name;
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
	return (job->may_replace || dump_export_check_free(job, e)) &&
	       write_all_files(job, job->dir, out, e);
}
