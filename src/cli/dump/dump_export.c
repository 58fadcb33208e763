/* SPDX-License-Identifier: Apache-2.0 */
/* dump_export.c: incore dump export: records as files for other programs, one a record. */
#include <stdlib.h>
#include <string.h>

#include "cli/dump/dump_job.h"
#include "cli/text/table.h"
#include "dump/read/export.h"

static const struct option_def options[] = {
	{0, "to", OPTION_CHOICE, "FORMAT", DUMP_EXPORT_CHOICES, "npy", "file format"},
	{'o', "output", OPTION_TEXT, "DIR", NULL, NULL,
		"directory for the files; default: the dump's name and the format"},
	{0, "force", OPTION_FLAG, NULL, NULL, NULL, "replace files that are there"},
	DUMP_SELECT_OPTIONS,
	DUMP_RECORDS_OPTION,
	OPTIONS_END,
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

static bool print_json(
	struct cli *c, const struct dump_export_job *job, const struct dump_export_result *r)
{
	struct json_writer w;
	char name[96];

	dump_json_begin(c, &w, job->d);
	json_w_kv_cstr(&w, "format", job->ops->name);
	json_w_kv_cstr(&w, "directory", job->dir);
	json_w_kv_u64(&w, "files", r->n_files);
	json_w_kv_u64(&w, "without_payload", r->n_skipped);
	json_w_kv_u64(&w, "truncated", r->n_truncated);
	json_w_key(&w, "written");
	json_w_array(&w);
	for (size_t i = 0; i < job->n; i++) {
		const struct dump_record *k = &job->d->records.v[job->records[i]];

		if (k->kind == DUMP_TENSOR && !k->bin_size && !job->ops->holds_nothing &&
			dump_full_size(job->d, job->records[i]))
			continue;
		dump_export_name(job->d, job->records[i], job->ops->suffix, name);
		json_w_row_object(&w);
		json_w_kv_u64(&w, "index", job->records[i]);
		json_w_kv_cstr(&w, "file", name);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(c, &w);
}

static void print_text(
	struct cli *c, const struct dump_export_job *job, const struct dump_export_result *r)
{
	char a[32], b[32];

	fprintf(c->out, "%s: %s %s file%s", job->dir, fmt_u64(a, r->n_files), job->ops->name,
		plural(r->n_files));
	if (r->n_skipped)
		fprintf(c->out, ", %s record%s without payload left out", fmt_u64(b, r->n_skipped),
			plural(r->n_skipped));
	if (r->n_truncated)
		fprintf(c->out, ", %llu hold%s a prefix only", (unsigned long long)r->n_truncated,
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
		return true; /* nothing is written; the program says why */
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

static int run_dump_export(struct cli *c)
{
	struct dump *d = NULL;
	struct dump_select select;
	record_list list = {0};
	int status = INCORE_OK;

	if (!dump_cli_select(c, &select) || !dump_cli_open(c, c->args[0], &d) ||
		!dump_select_list(&select, d, &list, &c->error) || !export_records(c, d, &list))
		status = cli_fail(c);
	VEC_FREE(&list);
	dump_select_deinit(&select);
	dump_free(d);
	return status;
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
};
