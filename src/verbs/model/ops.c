/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c: incore model ops: which ops and intrinsics are known, where they run, how they are priced,
 * and how well that price is founded. */
#include "model/profile/price.h"
#include "page/page.h"
#include "verbs/model/options.h"

struct model_ops_params {
	struct model_machine machine;
};

static const struct option_def options[] = {
	MODEL_ARCH_OPTION(model_ops_params),
	MODEL_PROFILE_OPTION(model_ops_params),
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
	struct machine_row profile;
	struct rows ops;
};
static const struct column ops_columns[] = {
	MODEL_VERB(ops_data, "ops"),
	RECORD(ops_data, profile, &machine_record, "profile that the prices come from"),
	LIST(ops_data, ops, &op_record, "all known ops and intrinsics"),
};
static const struct record ops_record = RECORD_OF(ops_data, RECORD_BLOCK, ops_columns);

static bool fill_ops(
	const struct profile *p, struct ops_data *x, struct answer *a, struct incore_error *e)
{
	size_t n;
	const struct op_info *table = op_table(&n);
	struct op_row *rows = ANSWER_ROWS(a, &x->ops, n - 1, op_row, e);

	for (unsigned i = 1; rows && i < n; i++) {
		const struct op_info *o = &table[i];
		struct op_price price;

		if (!op_status(p, i, &price, e))
			return false;
		rows[i - 1] = (struct op_row){.name = o->name,
			.kind = kind_of(o),
			.pipe = o->pipe,
			.price_class = price_class_name(o->price),
			.status = price_note(o, &price),
			.arch = o->traits & OPT_A5 ? "a5" : "all",
			.is_public = o->traits & OPT_IN_PUBLIC,
			.is_recorded = !(o->traits & OPT_SILENT),
			.operands = o->operands};
	}
	return rows != NULL;
}

static void drop_profile(struct profile *p)
{
	profile_deinit(p);
	mem_free(p);
}

static bool ops_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct model_ops_params *params = r->params;
	struct ops_data *x = ANSWER_NEW(a, ops_data, e);
	struct profile *p = mem_zalloc(1, sizeof(*p));
	enum opstream_arch arch;

	if (!p)
		return err_nomem(e);
	if (!x || !model_arch(&params->machine, &arch, e) ||
		!model_profile(&params->machine, NULL, arch, p, e)) {
		mem_free(p);
		return false;
	}
	if (!ANSWER_KEEP(a, p, drop_profile, e) || !fill_ops(p, x, a, e) ||
		!model_about(a, NULL, op_arch_name(p->arch), e))
		return false;
	x->verb = "ops";
	x->profile = machine_row_of(p);
	answer_set(a, &ops_record, x);
	return true;
}

static void ops_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {
		"name", "kind", "pipe", "class", "status", "arch", "operands", NULL};
	const struct ops_data *x = a->data;

	page_main_records(p, &op_record, x->ops, columns);
	if (p->is_csv)
		return;
	page_gap(p);
	page_line(p, "%zu name%s; prices of profile %s (%s), for float 64 x 64", x->ops.n,
		plural(x->ops.n), x->profile.name, x->profile.calibration);
}

const struct question question_model_ops = {
	.name = "model ops",
	.args = "",
	.summary = "list the ops and intrinsics that the model knows",
	.groups = OPTIONS_CSV,
	.options = options,
	.params_size = sizeof(struct model_ops_params),
	.records = RECORDS(&ops_record),
	.inputs = model_inputs,
	.ask = ops_ask,
	.page = ops_page,
};
