/* SPDX-License-Identifier: Apache-2.0 */
/* dump_export.c: records as files for other programs, one per record. */
#include <stdlib.h>
#include <string.h>

#include "dump/read/export.h"
#include "verbs/dump/dump_rows.h"

struct dump_export_params {
	struct dump_filter filter;
	struct dump_source source;
	unsigned format;
	const char *dir;
	bool may_replace;
};
static const struct option_def options[] = {
	{OPT_TO_CHOICE, DUMP_EXPORT_CHOICES, "npy", "file format",
		OPTION_FIELD(dump_export_params, format)},
	{OPT_OUTPUT_FOLDER, NULL, NULL,
		"directory for the files (default: the dump's name and the format)",
		OPTION_FIELD(dump_export_params, dir)},
	{OPT_FORCE, NULL, NULL, "replace existing files",
		OPTION_FIELD(dump_export_params, may_replace)},
	DUMP_FILTER_OPTIONS(dump_export_params),
	DUMP_RECORDS_OPTIONS(dump_export_params),
	OPTION_LINKS(dump_export_params, source.follow_links),
	OPTION_END,
};

/* "dir/args_dump" -> "args_dump-npy", in the current directory; on the heap. */
static char *default_dir(const struct dump *d, const char *format)
{
	struct strbuf b = {0};
	char *real = realpath(d->dir, NULL);
	const char *base = path_base(real ? real : "dump");

	sb_printf(&b, "%s-%s", *base ? base : "dump", format);
	free(real);
	if (b.failed) {
		sb_free(&b);
		return NULL;
	}
	return b.p;
}

struct written_file {
	uint32_t index;
	const char *file;
	char name[96];
};
static const struct column file_columns[] = {
	COLUMN(written_file, index, UNIT_INDEX, "number of the record in the manifest"),
	COLUMN(written_file, file, UNIT_NONE, "name of its file in the directory"),
};
static const struct record file_record = RECORD_OF(written_file, RECORD_LINE, file_columns);

struct export_data {
	const char *verb, *format, *directory;
	struct dump_export_result sums;
	struct rows written;
	/* source of the rows, and owner of what the job names */
	struct dump_export_job job;
	struct dump_select select;
	record_list list;
	char *dir;
	size_t at, next; /* the next row, and the record to look at for it */
	struct written_file row;
};
static const struct column data_columns[] = {
	DUMP_VERB(export_data, "export"),
	COLUMN(export_data, format, UNIT_NONE, "format of the files", .words = DUMP_EXPORT_CHOICES),
	COLUMN(export_data, directory, UNIT_NONE, "directory of the files"),
	COLUMN_AS(export_data, sums.n_files, "files", UNIT_COUNT, "files written"),
	COLUMN_AS(export_data, sums.n_skipped, "without_payload", UNIT_COUNT,
		"records without payload, which were left out"),
	COLUMN_AS(export_data, sums.n_truncated, "truncated", UNIT_COUNT,
		"files that hold only the first part of a tensor"),
	LIST(export_data, written, &file_record, "the files that were written"),
};
static const struct record data_record = RECORD_OF(export_data, RECORD_BLOCK, data_columns);

static bool has_file(const struct dump_export_job *job, uint32_t record)
{
	const struct dump_record *k = &job->d->records.v[record];

	return k->kind != DUMP_TENSOR || k->bin_size || job->ops->holds_nothing ||
	       !dump_full_size(job->d, record);
}

/* The files are made in order; the first one begins anew. */
static const void *file_at(const void *v, size_t i)
{
	struct export_data *x = (struct export_data *)v;
	const struct dump_export_job *job = &x->job;

	if (i != x->at)
		x->at = x->next = 0;
	x->at++;
	while (!has_file(job, job->records[x->next]))
		x->next++;
	x->row.index = job->records[x->next++];
	dump_export_name(job->d, x->row.index, job->ops->suffix, x->row.name);
	x->row.file = x->row.name;
	return &x->row;
}

static void dump_export_page(const struct answer *a, struct page *p)
{
	const struct export_data *x = a->data;
	const struct dump_export_result *r = &x->sums;

	page_say(p, "%s: %s %s file%s", x->directory, U64_TEXT(r->n_files), x->format,
		plural(r->n_files));
	if (r->n_skipped > r->n_overwritten)
		page_say(p, ", %s without payload left out",
			COUNTED(r->n_skipped - r->n_overwritten, "record"));
	if (r->n_overwritten)
		page_say(p, ", %s left out whose payload was overwritten or lost",
			COUNTED(r->n_overwritten, "record"));
	if (r->n_truncated)
		page_say(p, ", %llu hold%s a prefix only", (unsigned long long)r->n_truncated,
			r->n_truncated == 1 ? "s" : "");
	page_line(p, "%s", "");
}

static void drop_export(struct export_data *x)
{
	VEC_FREE(&x->list);
	dump_select_deinit(&x->select);
	mem_free(x->dir);
	mem_free(x);
}

static bool write_files(const struct request *r, struct answer *a, struct export_data *x,
	struct dump *d, struct incore_error *e)
{
	static const struct dump_export_ops *const formats[] = {
		&dump_export_npy, &dump_export_raw, &dump_export_csv, &dump_export_txt};
	const struct dump_export_params *o = r->params;

	x->job = (struct dump_export_job){.d = d,
		.ops = formats[o->format],
		.records = x->list.v,
		.n = x->list.n,
		.may_replace = o->may_replace};
	x->dir = o->dir ? mem_strndup(o->dir, strlen(o->dir)) : default_dir(d, x->job.ops->name);
	x->job.dir = x->dir;
	if (!x->dir)
		return err_nomem(e);
	a->is_written = answer_may_write(r, a, e) && dump_export_run(&x->job, &x->sums, e);
	return a->is_written;
}

static bool dump_export_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct dump_export_params *o = r->params;
	struct export_data *x = mem_zalloc(1, sizeof(*x));
	struct dump *d;

	if (!x)
		return err_nomem(e);
	if (!ANSWER_KEEP(a, x, drop_export, e) || !dump_ask_select(r, &o->filter, &x->select, e) ||
		!dump_ask_open(a, r->paths[0], &o->source, &d, e) ||
		!dump_select_list(&x->select, d, &x->list, e) || !write_files(r, a, x, d, e))
		return false;
	if (x->sums.n_truncated) {
		a->n_losses++;
		answer_warn(a, "%llu %s a prefix of a tensor",
			(unsigned long long)x->sums.n_truncated,
			x->sums.n_truncated == 1 ? "file holds" : "files hold");
	}
	x->verb = "export";
	x->format = x->job.ops->name;
	x->directory = x->dir;
	x->written = (struct rows){x, 0, file_at};
	for (size_t i = 0; i < x->job.n; i++)
		x->written.n += has_file(&x->job, x->job.records[i]);
	return dump_answer(a, d, &data_record, x, e);
}

const struct question question_dump_export = {
	.name = "dump export",
	.summary = "write records as npy, raw, csv or txt files",
	.args = "DIR",
	.min_paths = 1,
	.max_paths = 1,
	.options = options,
	.params_size = sizeof(struct dump_export_params),
	.records = RECORDS(&data_record),
	.inputs = dump_inputs,
	.ask = dump_export_ask,
	.page = dump_export_page,
};
