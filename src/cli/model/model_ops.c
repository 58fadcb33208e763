/* SPDX-License-Identifier: Apache-2.0 */
/* model_ops.c: incore model ops: which ops and intrinsics are known, where they run, how they are
 * priced, and how well that price is founded. */
#include "cli/draw.h"
#include "cli/model/model_report.h"
#include "model/profile/price.h"
#include "page/say.h"

static const struct option_def options[] = {
	MODEL_ARCH_OPTION,
	MODEL_PROFILE_OPTION,
	OPTION_END,
};

static const char *kind_of(const struct op_info *o)
{
	return o->traits & OPT_INTRINSIC ? "intrinsic" : o->traits & OPT_MEMBER ? "member" : "op";
}

/* What a price rests on. A fallback or a guess is marked in every trace that uses it. */
static const char *price_note(const struct op_info *o, const struct op_price *p)
{
	if (o->price == PRICE_FREE || o->price == PRICE_EXT)
		return "none";
	return p->is_fallback ? "fallback" : prof_status_name((enum prof_status)p->status);
}

struct op_row {
	const char *name, *kind, *pipe, *price_class, *status, *arch, *operands;
	bool is_public, is_recorded;
};
static const struct column op_columns[] = {
	COLUMN(op_row, name, UNIT_NONE, "name of the op or intrinsic"),
	COLUMN(op_row, kind, UNIT_NONE, "kind of the op or intrinsic",
		.words = "op|intrinsic|member"),
	COLUMN(op_row, pipe, UNIT_NONE, "pipe that runs the op, or pipes with their conditions",
		.flags = COLUMN_WIDE),
	COLUMN_AS(op_row, price_class, "class", UNIT_NONE, "rule that determines the price"),
	COLUMN(op_row, status, UNIT_NONE, "what the price rests on",
		.words = MODEL_STATUS "|fallback|none"),
	COLUMN(op_row, arch, UNIT_NONE, "chip generations that have the op", .words = "all|a5"),
	COLUMN_AS(op_row, is_public, "public", UNIT_NONE, "the op is in the public headers"),
	COLUMN_AS(op_row, is_recorded, "recorded", UNIT_NONE, "the recorder records the op"),
	COLUMN(op_row, operands, UNIT_NONE, "operands of the op in order", .flags = COLUMN_WIDE),
};
static const struct record op_record = RECORD_OF(op_row, RECORD_LINE, op_columns);

struct ops_data {
	const char *verb;
	struct profile_row profile;
	struct rows ops;
};
static const struct column data_columns[] = {
	MODEL_VERB(ops_data, "ops"),
	RECORD(ops_data, profile, &profile_record, "profile that the prices come from"),
	LIST(ops_data, ops, &op_record, "all known ops and intrinsics"),
};
static const struct record data_record = RECORD_OF(ops_data, RECORD_BLOCK, data_columns);

static bool fill_rows(struct cli *c, const struct profile *p, const struct op_info *table, size_t n,
	struct op_row *rows)
{
	for (unsigned i = 1; i < n; i++) {
		const struct op_info *o = &table[i];
		struct op_price price;

		if (!op_status(p, i, &price, &c->error))
			return false;
		rows[i] = (struct op_row){.name = o->name,
			.kind = kind_of(o),
			.pipe = o->pipe,
			.price_class = price_class_name(o->price),
			.status = price_note(o, &price),
			.arch = o->traits & OPT_A5 ? "a5" : "all",
			.is_public = o->traits & OPT_IN_PUBLIC,
			.is_recorded = !(o->traits & OPT_SILENT),
			.operands = o->operands};
	}
	return true;
}

static bool tell(struct cli *c, const struct profile *p, struct rows rows)
{
	static const char *const columns[] = {
		"name", "kind", "pipe", "class", "status", "arch", "operands", NULL};
	struct ops_data x = {"ops", profile_row_of(p), rows};

	if (c->use_json)
		return model_json(c, NULL, op_arch_name(p->arch), &data_record, &x);
	if (!record_table_print(c, &op_record, rows, columns))
		return false;
	if (!c->use_csv)
		say(c->out, "\n%zu name%s; prices of profile %s (%s), for float 64 x 64\n", rows.n,
			plural(rows.n), p->name, p->calibration);
	return true;
}

static bool fill_and_tell(struct cli *c, const struct profile *p)
{
	size_t n;
	const struct op_info *table = op_table(&n);
	struct op_row *rows = mem_zalloc(n, sizeof(*rows));
	bool ok = rows || err_nomem(&c->error);

	ok = ok && fill_rows(c, p, table, n, rows) && tell(c, p, (struct rows){rows + 1, n - 1});
	mem_free(rows);
	return ok;
}

static bool run_model_ops(struct cli *c)
{
	enum opstream_arch arch;
	struct profile p;
	bool ok;

	if (!model_cli_arch(c, &arch) || !model_cli_profile(c, arch, &p))
		return false;
	ok = fill_and_tell(c, &p);
	profile_deinit(&p);
	return ok;
}

const struct verb model_verb_ops = {
	.name = "model ops",
	.summary = "list the ops and intrinsics that the model knows",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = options,
	.run = run_model_ops,
	.records = RECORDS(&data_record),
	.inputs = model_inputs,
};
