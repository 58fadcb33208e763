/* SPDX-License-Identifier: Apache-2.0 */
/* record.c: incore model record: writes what a kernel does, op by op, to a file. */
#include "base/file.h"
#include "page/page.h"
#include "verbs/model/options.h"

struct model_record_params {
	struct model_kernel kernel;
	struct model_machine machine;
	unsigned format; /* 0: binary, 1: jsonl */
	const char *file;
};

static const struct option_def options[] = {
	MODEL_KERNEL_OPTIONS(model_record_params),
	MODEL_ARCH_OPTION(model_record_params),
	MODEL_PROFILE_OPTION(model_record_params),
	{OPT_FORMAT_OPS, "binary|jsonl", "binary", "format of the op stream",
		OPTION_FIELD(model_record_params, format)},
	{OPT_OUTPUT, NULL, NULL, "file for the op stream; -: standard output",
		OPTION_FIELD(model_record_params, file)},
	OPTION_END,
};

struct recorded_data {
	const char *verb, *file, *format;
	const char *arch; /* for the page */
	struct rows streams;
};
static const struct column recorded_columns[] = {
	MODEL_VERB(recorded_data, "record"),
	COLUMN(recorded_data, file, UNIT_NONE, "path of the op stream that was written"),
	COLUMN(recorded_data, format, UNIT_NONE, "format of the op stream",
		.words = "binary|jsonl"),
	LIST(recorded_data, streams, &stream_record, "op streams of the cores"),
};
static const struct record recorded_record =
	RECORD_OF(recorded_data, RECORD_BLOCK, recorded_columns);

static bool put_streams(
	const struct opstream_set *set, unsigned format, FILE *out, struct incore_error *e)
{
	return format ? opstream_write_jsonl(set, out, e) : opstream_write_binary(set, out, e);
}

static bool write_streams(
	const struct opstream_set *set, const struct model_record_params *p, struct incore_error *e)
{
	struct out_file out = {0};
	bool ok;

	if (!out_file_open(&out, p->file, e))
		return err_wrap(e, "cannot write the op stream");
	ok = put_streams(set, p->format, out.f, e) && out_file_commit(&out, e);
	out_file_abort(&out);
	return ok;
}

static bool set_recorded(const struct request *r, const struct opstream_set *set,
	enum opstream_arch arch, struct answer *a, struct incore_error *e)
{
	static const char *const FORMATS[] = {"binary", "jsonl"};
	const struct model_record_params *p = r->params;
	struct recorded_data *x = ANSWER_NEW(a, recorded_data, e);

	if (!x || !model_streams(a, set, &x->streams, e) ||
		!model_about(a, r->paths[0], op_arch_name(arch), e))
		return false;
	x->verb = "record";
	x->arch = op_arch_name(arch);
	x->file = p->file;
	x->format = FORMATS[p->format];
	answer_set(a, &recorded_record, x);
	return true;
}

static void drop_set(struct opstream_set *set)
{
	opstream_set_deinit(set);
	mem_free(set);
}

static bool record_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct model_record_params *p = r->params;
	struct opstream_set *set;
	enum opstream_arch arch;

	a->is_streamed = p->file && strcmp(p->file, "-") == 0;
	if (!p->file || (a->is_streamed && (!r->out || !r->is_for_people)))
		return err_set(e, INCORE_USAGE, "missing-option", "model record needs -o FILE");
	set = mem_zalloc(1, sizeof(*set));
	if (!set)
		return err_nomem(e);
	opstream_set_init(set);
	return ANSWER_KEEP(a, set, drop_set, e) && model_arch(&p->machine, &arch, e) &&
	       model_record(&p->kernel, r->paths[0], arch, a, set, e) &&
	       (a->is_streamed ? put_streams(set, p->format, r->out, e)
			       : (a->is_written = write_streams(set, p, e))) &&
	       set_recorded(r, set, arch, a, e);
}

static void record_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {
		"block_idx", "core", "ops", "forms", "bytes", "macs", NULL};
	const struct recorded_data *x = a->data;

	page_line(p, "%s: %s", x->file, x->arch);
	page_records(p, &stream_record, x->streams, columns);
}

const struct question question_model_record = {
	.name = "model record",
	.args = "KERNEL.cpp",
	.summary = "write what a kernel does as an op stream",
	.min_paths = 1,
	.max_paths = 1,
	.options = options,
	.params_size = sizeof(struct model_record_params),
	.records = RECORDS(&recorded_record),
	.inputs = model_inputs,
	.ask = record_ask,
	.page = record_page,
};
