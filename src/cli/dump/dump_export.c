/* SPDX-License-Identifier: Apache-2.0 */
/* dump_export.c: incore dump export: records as files for other programs, one per record. */
#include <stdlib.h>
#include <string.h>

#include "cli/draw.h"
#include "cli/dump/dump_rows.h"
#include "dump/read/export.h"
#include "page/say.h"

static const struct option_def options[] = {
	{OPT_TO_CHOICE, DUMP_EXPORT_CHOICES, "npy", "file format"},
	{OPT_OUTPUT_FOLDER, NULL, NULL,
		"directory for the files (default: the dump's name and the format)"},
	{OPT_FORCE, NULL, NULL, "replace existing files"},
	DUMP_SELECT_OPTIONS,
	DUMP_RECORDS_OPTION,
	LINKS_OPTION,
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
	/* source of the rows */
	const struct dump_export_job *job;
	size_t next; /* next record to look at */
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

/* The next file; files are requested in order. */
static const void *file_at(const void *v, size_t i)
{
	struct export_data *x = (struct export_data *)v;
	const struct dump_export_job *job = x->job;

	(void)i;
	while (!has_file(job, job->records[x->next]))
		x->next++;
	x->row.index = job->records[x->next++];
	dump_export_name(job->d, x->row.index, job->ops->suffix, x->row.name);
	x->row.file = x->row.name;
	return &x->row;
}

static bool print_json(
	struct cli *c, const struct dump_export_job *job, const struct dump_export_result *r)
{
	struct export_data x = {.verb = "export",
		.format = job->ops->name,
		.directory = job->dir,
		.sums = *r,
		.written = {&x, 0, file_at},
		.job = job};

	for (size_t i = 0; i < job->n; i++)
		x.written.n += has_file(job, job->records[i]);
	return dump_json(c, job->d, &data_record, &x);
}

static void print_text(
	struct cli *c, const struct dump_export_job *job, const struct dump_export_result *r)
{
	say(c->out, "%s: %s %s file%s", job->dir, U64_TEXT(r->n_files), job->ops->name,
		plural(r->n_files));
	if (r->n_skipped > r->n_overwritten)
		say(c->out, ", %s without payload left out",
			COUNTED(r->n_skipped - r->n_overwritten, "record"));
	if (r->n_overwritten)
		say(c->out, ", %s left out whose payload was overwritten or lost",
			COUNTED(r->n_overwritten, "record"));
	if (r->n_truncated)
		say(c->out, ", %llu hold%s a prefix only", (unsigned long long)r->n_truncated,
			r->n_truncated == 1 ? "s" : "");
	fputc('\n', c->out);
}

static bool export_records(struct cli *c, struct dump *d, const record_list *list)
{
	const char *dir = cli_text(c, "output");
	char *name = dir ? mem_strndup(dir, strlen(dir)) : default_dir(d, cli_text(c, "to"));
	struct dump_export_job job = {
		.d = d,
		.ops = dump_export_find(cli_text(c, "to")),
		.records = list->v,
		.n = list->n,
		.dir = name,
		.may_replace = cli_flag(c, "force"),
	};
	struct dump_export_result r;
	bool ok;

	if (!name)
		return err_nomem(&c->error);
	if (cli_flag(c, "strict") && c->n_losses) {
		mem_free(name);
		return true; /* nothing is written; main.c reports why */
	}
	ok = dump_export_run(&job, &r, &c->error);
	if (ok && r.n_truncated) {
		c->n_losses++;
		cli_warn(c, "%llu %s a prefix of a tensor", (unsigned long long)r.n_truncated,
			r.n_truncated == 1 ? "file holds" : "files hold");
	}
	if (ok && c->use_json)
		ok = print_json(c, &job, &r);
	else if (ok)
		print_text(c, &job, &r);
	mem_free(name);
	return ok;
}

static bool run_dump_export(struct cli *c)
{
	struct dump *d = NULL;
	struct dump_select select;
	record_list list = {0};
	bool ok = dump_cli_select(c, &select) && dump_cli_open(c, c->args[0], &d) &&
		  dump_select_list(&select, d, &list, &c->error) && export_records(c, d, &list);

	VEC_FREE(&list);
	dump_select_deinit(&select);
	dump_free(d);
	return ok;
}

const struct verb dump_verb_export = {
	.name = "dump export",
	.args = "DIR",
	.summary = "write records as npy, raw, csv or txt files",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run_dump_export,
	.records = RECORDS(&data_record),
	.inputs = dump_inputs,
};
