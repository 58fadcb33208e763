/* SPDX-License-Identifier: Apache-2.0 */
/* model_validate.c: incore model validate: the model against published measurements. */
#include "model/profile/validate.h"

#include "cli/model/model_report.h"
#include "cli/text/table.h"

static const struct option_def options[] = {
	MODEL_PROFILE_OPTION,
	{0, "ops-only", OPTION_FLAG, NULL, NULL, NULL, "single ops alone: needs no compiler"},
	MODEL_OPTIONS_END,
};

static const char *fmt_milli(char buf[32], int64_t v)
{
	snprintf(buf, 32, "%.3f", (double)v / 1000);
	for (size_t n = strlen(buf); n > 1 && (buf[n - 1] == '0' || buf[n - 1] == '.'); n--) {
		bool is_dot = buf[n - 1] == '.';

		buf[n - 1] = 0;
		if (is_dot)
			break;
	}
	return buf;
}

static const char *published_text(char buf[80], const struct validate_row *r)
{
	char a[32], b[32];

	if (r->published == r->published_to)
		snprintf(buf, 80, "%s", fmt_milli(a, r->published));
	else
		snprintf(buf, 80, "%s-%s", fmt_milli(a, r->published),
			fmt_milli(b, r->published_to));
	return buf;
}

static void put_row(struct table *t, const struct validate_row *r, bool with_role)
{
	char buf[80], a[32];

	if (with_role)
		table_cstr(t, validate_role_name(r->role));
	table_cstr(t, r->id);
	table_cstr(t, r->name);
	table_cstr(t, r->what);
	table_cstr(t, r->profile);
	table_cstr(t, published_text(buf, r));
	table_cstr(t, fmt_milli(a, r->estimate));
	table_cstr(t, r->unit);
	snprintf(buf, sizeof(buf), "%+.1f", (double)r->error_permille / 10);
	table_cstr(t, buf);
	if (r->gate_permille)
		snprintf(buf, sizeof(buf), "%s %u %%", r->is_met ? "within" : "MISSED",
			r->gate_permille / 10);
	else
		buf[0] = 0;
	table_cstr(t, buf);
	table_style(t, !r->gate_permille ? CELL_PLAIN : r->is_met ? CELL_GOOD : CELL_BAD);
	table_cstr(t, r->remark);
}

static const struct table_column columns[] = {
	{"role", NULL, CELL_LEFT, false},
	{"id", NULL, CELL_LEFT, false},
	{"workload", NULL, CELL_LEFT, true},
	{"what", NULL, CELL_LEFT, false},
	{"profile", NULL, CELL_LEFT, false},
	{"published", NULL, CELL_RIGHT, false},
	{"estimate", NULL, CELL_RIGHT, false},
	{"unit", NULL, CELL_LEFT, false},
	{"error %", "error_pct", CELL_RIGHT, false},
	{"gate", NULL, CELL_LEFT, false},
	{"remark", NULL, CELL_LEFT, false},
};

/* role: ROW_ROLES for all of them in one table (CSV). */
static bool put_table(struct cli *c, const struct validate_result *r, enum validate_role role)
{
	bool all = role == ROW_ROLES;
	struct table t;
	bool ok;

	table_init(&t, columns + !all, 10 + all);
	for (size_t i = 0; i < r->rows.n; i++)
		if (all || r->rows.v[i].role == role)
			put_row(&t, &r->rows.v[i], all);
	ok = table_print(&t, c) || err_nomem(&c->error);
	table_deinit(&t);
	return ok;
}

static bool tell_text(struct cli *c, const struct validate_result *r)
{
	static const char *const heads[ROW_ROLES] = {
		"FIT: rows that constants were fitted to",
		"CHECK: rows that set no constant; \"blind\": never looked at while fitting",
		"OP: single ops; they test the prices, not the model",
	};

	if (c->use_csv)
		return put_table(c, r, ROW_ROLES);
	fprintf(c->out, "%s\n", MODEL_TEXT);
	for (unsigned i = 0; i < ROW_ROLES; i++) {
		fprintf(c->out, "\n%s\n", heads[i]);
		if (!put_table(c, r, (enum validate_role)i))
			return false;
	}
	fprintf(c->out, "\n%u gate%s, %u missed", r->n_gates, plural(r->n_gates), r->n_missed);
	if (r->n_findings)
		fprintf(c->out, ", %llu finding%s in its own kernels",
			(unsigned long long)r->n_findings, plural(r->n_findings));
	fputc('\n', c->out);
	return true;
}

static void json_milli(struct json_writer *w, const char *key, int64_t v)
{
	json_w_kv_double(w, key, (double)v / 1000, 3);
}

static bool tell_json(struct cli *c, const struct validate_result *r)
{
	struct json_writer w;

	model_json_begin(c, &w, NULL, NULL);
	json_w_kv_cstr(&w, "text", MODEL_TEXT);
	json_w_kv_u64(&w, "gates", r->n_gates);
	json_w_kv_u64(&w, "missed", r->n_missed);
	json_w_kv_u64(&w, "kernels", r->n_kernels);
	json_w_kv_u64(&w, "ops", r->n_ops);
	json_w_kv_u64(&w, "findings", r->n_findings);
	json_w_key(&w, "rows");
	json_w_array(&w);
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct validate_row *x = &r->rows.v[i];

		json_w_row_object(&w);
		json_w_kv_cstr(&w, "role", validate_role_name(x->role));
		json_w_kv_cstr(&w, "id", x->id);
		json_w_kv_cstr(&w, "workload", x->name);
		json_w_kv_cstr(&w, "what", x->what);
		json_w_kv_cstr(&w, "profile", x->profile);
		json_w_kv_cstr(&w, "unit", x->unit);
		json_milli(&w, "published", x->published);
		json_milli(&w, "published_to", x->published_to);
		json_milli(&w, "estimate", x->estimate);
		json_w_kv_double(&w, "error_pct", (double)x->error_permille / 10, 1);
		json_w_key(&w, "gate_pct");
		if (x->gate_permille)
			json_w_double(&w, (double)x->gate_permille / 10, 1);
		else
			json_w_null(&w);
		json_w_kv_bool(&w, "met", x->is_met);
		json_w_kv_cstr(&w, "remark", x->remark);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(c, &w);
}

static int run_model_validate(struct cli *c)
{
	struct validate_options o = {
		.profile = cli_text(c, "profile"), .ops_only = cli_flag(c, "ops-only")};
	struct validate_result r;
	bool is_met;

	if (!validate_run(&o, &r, &c->error))
		return cli_fail(c);
	is_met = !r.n_missed && !r.n_findings;
	if (!(c->use_json ? tell_json(c, &r) : tell_text(c, &r))) {
		validate_deinit(&r);
		return cli_fail(c);
	}
	validate_deinit(&r);
	return is_met ? INCORE_OK : INCORE_NO;
}

const struct verb model_verb_validate = {
	.name = "model validate",
	.args = "",
	.summary = "the model against published measurements; 1: a gate missed",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = options,
	.min_args = 0,
	.max_args = 0,
	.run = run_model_validate,
};
