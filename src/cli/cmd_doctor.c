/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.c: would a capture work here, and what needs fixing? */
#include "answer/rows.h"
#include "capture/doctor.h"
#include "cli/cli.h"
#include "cli/draw.h"
#include "page/say.h"

static const struct option_def options[] = {
	{0, "tool", OPTION_TEXT, "PATH", NULL, NULL, "path of the rocprofv3 to check"},
	{0, "root", OPTION_TEXT, "DIR", NULL, "",
		OPTION_RARE "root folder for /dev, /sys and /proc"},
	OPTION_END,
};

static const struct column kind_columns[] = {
	COLUMN_AS(text_item, v, "kind", UNIT_NONE, "kinds that were asked about; null: all",
		NULLABLE),
};
static const struct record kind_record = RECORD_OF(text_item, RECORD_BLOCK, kind_columns);

static bool take_kind(struct cli *c, unsigned *kinds)
{
	static const char *const NAMES[] = {"att", "msprof", "cuda"};

	*kinds = c->n_args ? 0 : DOCTOR_ATT | DOCTOR_MSPROF | DOCTOR_CUDA;
	for (unsigned i = 0; c->n_args && i < 3; i++)
		if (strcmp(c->args[0], NAMES[i]) == 0)
			*kinds = 1u << i;
	if (*kinds)
		return true;
	return err_set(&c->error, INCORE_USAGE, "unknown-kind",
		"doctor looks at att, msprof or cuda, not at '%s'", c->args[0]);
}

static void print_text(struct cli *c, const struct doctor_answer *a)
{
	for (size_t i = 0; i < a->findings.n; i++) {
		const struct doctor_finding *f = &a->findings.v[i];
		enum cell_style style = strcmp(f->severity, "error") == 0     ? CELL_BAD
					: strcmp(f->severity, "warning") == 0 ? CELL_WARM
									      : CELL_PLAIN;

		say(c->out, "%-7s %s%-7s%s  %s\n", f->kind, style_on(c, style), f->severity,
			style_off(c), f->message);
		if (f->fix)
			say(c->out, "%-17sfix: %s\n", "", f->fix);
	}
	say(c->out, "%s\n", a->verdict);
}

static bool run(struct cli *c)
{
	struct doctor d;
	unsigned kinds;
	bool ok;

	if (!take_kind(c, &kinds))
		return false;
	ok = doctor_run(&d, kinds, cli_text(c, "tool"), cli_text(c, "root"), &c->error);
	c->is_no = ok && strcmp(d.answer.verdict, "ready") != 0;
	if (ok && c->use_json)
		ok = cli_json(c, &kind_record, &(struct text_item){c->n_args ? c->args[0] : NULL},
			&doctor_record, &d.answer);
	else if (ok)
		print_text(c, &d.answer);
	doctor_deinit(&d);
	return ok;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.args = "[att|msprof|cuda]",
	.summary = "would a capture work here, and what to mend",
	.groups = OPTIONS_OUTPUT,
	.options = options,
	.max_args = 1,
	.run = run,
	.records = RECORDS(&doctor_record),
	.inputs = RECORDS(&kind_record),
};
