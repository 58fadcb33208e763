/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c: would a capture work here, and what needs fixing? */
#include "capture/doctor.h"
#include "answer/answer.h"
#include "answer/rows.h"
#include "page/page.h"

struct doctor_params {
	const char *tool, *root;
};
static const struct option_def options[] = {
	{OPT_TOOL, NULL, NULL, "path of the rocprofv3 to check", OPTION_FIELD(doctor_params, tool)},
	{OPT_ROOT, NULL, "", OPTION_RARE "root folder for /dev, /sys and /proc",
		OPTION_FIELD(doctor_params, root), .only_named = true},
	OPTION_END,
};

static const struct column kind_columns[] = {
	COLUMN_AS(text_item, v, "kind", UNIT_NONE, "kinds that were asked about; null: all",
		NULLABLE),
};
static const struct record kind_record = RECORD_OF(text_item, RECORD_BLOCK, kind_columns);

static bool take_kind(const struct request *r, unsigned *kinds, struct incore_error *e)
{
	static const char *const NAMES[] = {"att", "msprof", "cuda"};

	*kinds = r->n_paths ? 0 : DOCTOR_ATT | DOCTOR_MSPROF | DOCTOR_CUDA;
	for (unsigned i = 0; r->n_paths && i < 3; i++)
		if (strcmp(r->paths[0], NAMES[i]) == 0)
			*kinds = 1u << i;
	if (*kinds)
		return true;
	return err_set(e, INCORE_USAGE, "unknown-kind",
		"doctor looks at att, msprof or cuda, not at '%s'", r->paths[0]);
}

static void drop_doctor(struct doctor *d)
{
	doctor_deinit(d);
	mem_free(d);
}

static bool ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct doctor_params *p = r->params;
	struct text_item *kind = ANSWER_NEW(a, text_item, e);
	struct doctor *d = mem_zalloc(1, sizeof(*d));
	unsigned kinds;

	if (!d)
		return err_nomem(e);
	if (!ANSWER_KEEP(a, d, drop_doctor, e) || !kind || !take_kind(r, &kinds, e) ||
		!doctor_run(d, kinds, p->tool, p->root, e))
		return false;
	kind->v = r->n_paths ? r->paths[0] : NULL;
	a->is_no = strcmp(d->answer.verdict, "ready") != 0;
	answer_about(a, &kind_record, kind);
	answer_set(a, &doctor_record, &d->answer);
	return true;
}

static void page(const struct answer *a, struct page *p)
{
	const struct doctor_answer *d = a->data;

	for (size_t i = 0; i < d->findings.n; i++) {
		const struct doctor_finding *f = &d->findings.v[i];
		enum cell_style style = strcmp(f->severity, "error") == 0     ? CELL_BAD
					: strcmp(f->severity, "warning") == 0 ? CELL_WARM
									      : CELL_PLAIN;

		page_line(p, "%-7s %s%-7s%s  %s", f->kind, style_mark(style), f->severity,
			style_mark_end, f->message);
		if (f->fix)
			page_line(p, "%-17sfix: %s", "", f->fix);
	}
	page_line(p, "%s", d->verdict);
}

const struct question question_doctor = {
	.name = "doctor",
	.summary = "would a capture work here, and what to mend",
	.args = "[att|msprof|cuda]",
	.max_paths = 1,
	.options = options,
	.params_size = sizeof(struct doctor_params),
	.records = RECORDS(&doctor_record),
	.inputs = RECORDS(&kind_record),
	.ask = ask,
	.page = page,
};
