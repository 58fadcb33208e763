/* SPDX-License-Identifier: Apache-2.0 */
/* model_validate.c: incore model validate: the model against published measurements. */
#include "model/lab/validate.h"

#include "cli/draw.h"
#include "cli/model/model_build.h"
#include "cli/model/model_report.h"
#include "page/say.h"

static const struct option_def options[] = {
	MODEL_PROFILE_OPTION,
	{OPT_OPS_ONLY, NULL, NULL, "check only single ops, which needs no compiler"},
	MODEL_BUILD_OPTIONS,
	UNSAFE_OPTION,
	OPTION_END,
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
	char published[80], estimate[32], error[32], gate[32] = "";

	snprintf(error, sizeof(error), "%+.1f", (double)r->error_permille / 10);
	if (r->gate_permille)
		snprintf(gate, sizeof(gate), "%s %u %%", r->is_met ? "within" : "MISSED",
			r->gate_permille / 10);
	if (with_role)
		table_cstr(t, validate_role_name(r->role));
	TABLE_ROW(t, CELL_TEXT(r->id), CELL_TEXT(r->name), CELL_TEXT(r->what),
		CELL_TEXT(r->profile), CELL_TEXT(published_text(published, r)),
		CELL_TEXT(fmt_milli(estimate, r->estimate)), CELL_TEXT(r->unit), CELL_TEXT(error),
		CELL_TEXT(gate));
	table_style(t, !r->gate_permille ? CELL_PLAIN : r->is_met ? CELL_GOOD : CELL_BAD);
	table_cstr(t, r->remark);
}

/* role: ROW_ROLES for all of them in one table (CSV). */
static bool put_table(struct cli *c, const struct validate_result *r, enum validate_role role)
{
	static const char titles[] =
		"role<|id<|workload~|what<|profile<|published|estimate|unit<|error %=error_pct|gate<|remark<";
	bool all = role == ROW_ROLES;
	struct table t;

	table_titles(&t, all ? titles : titles + strlen("role<|"));
	for (size_t i = 0; i < r->rows.n; i++)
		if (all || r->rows.v[i].role == role)
			put_row(&t, &r->rows.v[i], all);
	return table_finish(&t, c);
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
	say(c->out, "%s\n", MODEL_TEXT);
	for (unsigned i = 0; i < ROW_ROLES; i++) {
		say(c->out, "\n%s\n", heads[i]);
		if (!put_table(c, r, (enum validate_role)i))
			return false;
	}
	say(c->out, "\n%u gate%s, %u missed", r->n_gates, plural(r->n_gates), r->n_missed);
	if (r->n_findings)
		say(c->out, ", %llu finding%s in its own kernels",
			(unsigned long long)r->n_findings, plural(r->n_findings));
	fputc('\n', c->out);
	return true;
}

struct validated_row {
	struct validate_row r;
	double published, published_to, estimate, error_pct, gate_pct;
	const struct validate_row *rows; /* source of the rows */
};
#define ROW(M, NAME, DOC, ...) COLUMN_AS(validated_row, r.M, NAME, UNIT_NONE, DOC, ##__VA_ARGS__)
static const struct column row_columns[] = {
	ROW(role, "role", "purpose of the row", .words = "FIT|CHECK|OP"),
	ROW(id, "id", "short name of the workload"),
	ROW(name, "workload", "the workload in words"),
	ROW(what, "what", "what was measured"),
	ROW(profile, "profile", "profile that the estimate uses"),
	ROW(unit, "unit", "unit of the published and the estimated values"),
	COLUMN(validated_row, published, UNIT_NONE, "value that was published", .digits = 3),
	COLUMN(validated_row, published_to, UNIT_NONE, "end of the range, if a range was published",
		.digits = 3),
	COLUMN(validated_row, estimate, UNIT_NONE, "value of the model", .digits = 3),
	COLUMN(validated_row, error_pct, UNIT_PERCENT, "how much larger the estimate is",
		.digits = 1),
	COLUMN(validated_row, gate_pct, UNIT_PERCENT, "largest error that is allowed", .digits = 1),
	ROW(is_met, "met", "the error is within the gate"),
	ROW(remark, "remark", "seen, blind, tiny, sets constants, or nothing"),
};
static const struct record row_record = RECORD_OF(validated_row, RECORD_LINE, row_columns);

static const void *row_at(const void *v, size_t i)
{
	struct validated_row *x = (struct validated_row *)v;
	const struct validate_row *r = &x->rows[i];

	x->r = *r;
	x->published = (double)r->published / 1000;
	x->published_to = (double)r->published_to / 1000;
	x->estimate = (double)r->estimate / 1000;
	x->error_pct = (double)r->error_permille / 10;
	x->gate_pct = r->gate_permille ? (double)r->gate_permille / 10 : NAN;
	return x;
}

struct validate_data {
	const char *verb, *text;
	struct validate_result r;
	struct rows rows;
};
#define SUM(M, NAME, DOC) COLUMN_AS(validate_data, r.M, NAME, UNIT_COUNT, DOC)
static const struct column data_columns[] = {
	MODEL_VERB(validate_data, "validate"),
	COLUMN(validate_data, text, UNIT_NONE, "what the figures rest on"),
	SUM(n_gates, "gates", "rows with a gate"),
	SUM(n_missed, "missed", "rows whose error exceeds their gate"),
	SUM(n_kernels, "kernels", "kernels that were timed"),
	SUM(n_ops, "ops", "ops of the kernels that were timed"),
	SUM(n_findings, "findings", "problems found in the kernels; 0 is expected"),
	LIST(validate_data, rows, &row_record, "published values and the values of the model"),
};
static const struct record data_record = RECORD_OF(validate_data, RECORD_BLOCK, data_columns);

static bool tell_json(struct cli *c, const struct validate_result *r)
{
	struct validated_row row = {.rows = r->rows.v};
	struct validate_data x = {"validate", MODEL_TEXT, *r, {&row, r->rows.n, row_at}};

	return model_json(c, NULL, NULL, &data_record, &x);
}

static bool run_model_validate(struct cli *c)
{
	struct validate_options o = {.profile = cli_text(c, "profile"),
		.ops_only = cli_flag(c, "ops-only"),
		.is_unsafe = cli_flag(c, "unsafe-native")};
	struct validate_result r;
	bool ok;

	if (cli_has(c, "build") || cli_has(c, "swimlane"))
		return model_validate_build(c);
	if (!validate_run(&o, &r, &c->error))
		return false;
	c->is_no = r.n_missed || r.n_findings;
	ok = c->use_json ? tell_json(c, &r) : tell_text(c, &r);
	validate_deinit(&r);
	return ok;
}

const struct verb model_verb_validate = {
	.name = "model validate",
	.summary = "the model against published measurements; 1: a gate missed",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = options,
	.run = run_model_validate,
	.records = RECORDS(&data_record, &validate_build_record),
	.inputs = model_inputs,
};
