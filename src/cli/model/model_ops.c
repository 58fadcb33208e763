/* SPDX-License-Identifier: Apache-2.0 */
/* model_ops.c: incore model ops: which ops and intrinsics are known, where they run, how they are
 * priced, and how well that price is founded. */
#include "cli/model/model_report.h"
#include "cli/text/table.h"
#include "model/stream/ops_status.h"

static const struct option_def options[] = {
	MODEL_ARCH_OPTION,
	MODEL_PROFILE_OPTION,
	MODEL_OPTIONS_END,
};

static const char *kind_of(const struct op_info *o)
{
	return o->traits & OPT_INTRINSIC ? "intrinsic" : o->traits & OPT_MEMBER ? "member" : "op";
}

/* A price that is another op's, or nobody's: marked in every trace it gets into. */
static const char *price_note(const struct op_info *o, const struct op_price *p)
{
	if (o->price == PRICE_FREE || o->price == PRICE_EXT)
		return "none";
	return p->is_fallback ? "fallback" : prof_status_name((enum prof_status)p->status);
}

struct op_row {
	const struct op_info *info;
	struct op_price price;
};

static bool put_table(struct cli *c, const struct op_row *rows, size_t n)
{
	static const struct table_column columns[] = {
		{"name", NULL, CELL_LEFT, false},
		{"kind", NULL, CELL_LEFT, false},
		{"pipe", NULL, CELL_LEFT, true},
		{"class", NULL, CELL_LEFT, false},
		{"status", NULL, CELL_LEFT, false},
		{"arch", NULL, CELL_LEFT, false},
		{"operands", NULL, CELL_LEFT, true},
	};
	struct table t;
	bool ok;

	table_init(&t, columns, 7);
	for (size_t i = 0; i < n; i++) {
		const struct op_info *o = rows[i].info;

		table_cstr(&t, o->name);
		table_cstr(&t, kind_of(o));
		table_cstr(&t, o->pipe);
		table_cstr(&t, price_class_name(o->price));
		table_cstr(&t, price_note(o, &rows[i].price));
		table_cstr(&t, o->traits & OPT_A5 ? "a5" : "all");
		table_cstr(&t, o->operands);
	}
	ok = table_print(&t, c) || err_nomem(&c->error);
	table_deinit(&t);
	return ok;
}

static int put_json(struct cli *c, const struct profile *p, const struct op_row *rows, size_t n)
{
	struct json_writer w;

	model_json_begin(c, &w, NULL, op_arch_name(p->arch));
	model_json_profile(&w, p);
	json_w_key(&w, "ops");
	json_w_array(&w);
	for (size_t i = 0; i < n; i++) {
		const struct op_info *o = rows[i].info;

		json_w_row_object(&w);
		json_w_kv_cstr(&w, "name", o->name);
		json_w_kv_cstr(&w, "kind", kind_of(o));
		json_w_kv_cstr(&w, "pipe", o->pipe);
		json_w_kv_cstr(&w, "class", price_class_name(o->price));
		json_w_kv_cstr(&w, "status", price_note(o, &rows[i].price));
		json_w_kv_cstr(&w, "arch", o->traits & OPT_A5 ? "a5" : "all");
		json_w_kv_bool(&w, "public", o->traits & OPT_IN_PUBLIC);
		json_w_kv_bool(&w, "recorded", !(o->traits & OPT_SILENT));
		json_w_kv_cstr(&w, "operands", o->operands);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(c, &w) ? INCORE_OK : cli_fail(c);
}

static int tell(struct cli *c, const struct profile *p)
{
	size_t n;
	const struct op_info *table = op_table(&n);
	struct op_row *rows = mem_zalloc(n, sizeof(*rows));
	int status = INCORE_OK;

	if (!rows) {
		err_nomem(&c->error);
		return cli_fail(c);
	}
	for (unsigned i = 1; i < n; i++) {
		rows[i].info = &table[i];
		if (!op_status(p, i, &rows[i].price, &c->error)) {
			mem_free(rows);
			return cli_fail(c);
		}
	}
	if (c->use_json)
		status = put_json(c, p, rows + 1, n - 1);
	else if (!put_table(c, rows + 1, n - 1))
		status = cli_fail(c);
	else if (!c->use_csv)
		fprintf(c->out, "\n%zu name%s; prices of profile %s (%s), for float 64 x 64\n",
			n - 1, plural(n - 1), p->name, p->calibration);
	mem_free(rows);
	return status;
}

static int run_model_ops(struct cli *c)
{
	enum opstream_arch arch;
	struct profile p;
	int status;

	if (!model_cli_arch(c, &arch) || !model_cli_profile(c, arch, &p))
		return cli_fail(c);
	status = tell(c, &p);
	profile_deinit(&p);
	return status;
}

const struct verb model_verb_ops = {
	.name = "model ops",
	.args = "",
	.summary = "list the ops and intrinsics that the model knows",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = options,
	.min_args = 0,
	.max_args = 0,
	.run = run_model_ops,
};
