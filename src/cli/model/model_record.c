/* SPDX-License-Identifier: Apache-2.0 */
/* model_record.c: incore model record: writes what a kernel does, op by op, to a file. */
#include "cli/model/model_job.h"
#include "page/say.h"

static const struct option_def options[] = {
	MODEL_KERNEL_OPTIONS,
	MODEL_ARCH_OPTION,
	MODEL_PROFILE_OPTION,
	{OPT_FORMAT_OPS, "binary|jsonl", "binary", "format of the op stream"},
	OPTION_END,
};

static bool write_streams(struct cli *c, const struct opstream_set *set, const char *path)
{
	bool is_text = strcmp(cli_text(c, "format"), "jsonl") == 0;
	struct out_file out = {0};
	bool ok;

	if (!out_file_open(&out, path, &c->error))
		return err_wrap(&c->error, "cannot write the op stream");
	ok = is_text ? opstream_write_jsonl(set, out.f, &c->error)
		     : opstream_write_binary(set, out.f, &c->error);
	ok = ok && out_file_commit(&out, &c->error);
	out_file_abort(&out);
	return ok;
}

struct record_data {
	const char *verb, *file, *format;
	struct rows streams;
};
static const struct column data_columns[] = {
	MODEL_VERB(record_data, "record"),
	COLUMN(record_data, file, UNIT_NONE, "path of the op stream that was written"),
	COLUMN(record_data, format, UNIT_NONE, "format of the op stream", .words = "binary|jsonl"),
	LIST(record_data, streams, &stream_record, "op streams of the cores"),
};
static const struct record data_record = RECORD_OF(record_data, RECORD_BLOCK, data_columns);

static bool tell(
	struct cli *c, const struct opstream_set *set, const char *path, enum opstream_arch arch)
{
	struct stream_row row;
	struct record_data x = {"record", path, cli_text(c, "format"), stream_rows(set, &row)};

	if (c->use_json)
		return model_json(c, c->args[0], op_arch_name(arch), &data_record, &x);
	say(c->out, "%s: %s\n", path, op_arch_name(arch));
	return model_text_streams(c, set);
}

static bool run_model_record(struct cli *c)
{
	const char *path = cli_text(c, "output");
	struct opstream_set set;
	enum opstream_arch arch;
	bool ok;

	if (!path || (c->use_json && strcmp(path, "-") == 0))
		return err_set(
			&c->error, INCORE_USAGE, "missing-option", "model record needs -o FILE");
	opstream_set_init(&set);
	ok = model_cli_arch(c, &arch) && model_cli_record(c, arch, &set) &&
	     write_streams(c, &set, path) && (strcmp(path, "-") == 0 || tell(c, &set, path, arch));
	opstream_set_deinit(&set);
	return ok;
}

const struct verb model_verb_record = {
	.name = "model record",
	.args = "KERNEL.cpp",
	.summary = "write what a kernel does as an op stream",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run_model_record,
	.records = RECORDS(&data_record),
	.inputs = model_inputs,
};
