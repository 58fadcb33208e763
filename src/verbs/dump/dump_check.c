/* SPDX-License-Identifier: Apache-2.0 */
/* dump_check.c: can this dump be trusted? Every defect with its task and slot. */
#include <string.h>

#include "dump/read/check.h"
#include "verbs/dump/dump_rows.h"

struct dump_check_params {
	struct dump_source source;
	uint64_t top;
};
static const struct option_def options[] = {
	DUMP_RECORDS_OPTIONS(dump_check_params),
	OPTION_LINKS(dump_check_params, source.follow_links),
	{OPT_TOP, NULL, "20", "how many problems of one kind to show",
		OPTION_FIELD(dump_check_params, top)},
	OPTION_END,
};

#define WEIGHTS "note|warning|defect"

static const struct column count_columns[] = {
	COLUMN(problem_count, code, UNIT_NONE, "stable identifier of the kind of problem"),
	COLUMN(problem_count, weight, UNIT_NONE, "how serious the problem is", .words = WEIGHTS),
	COLUMN_AS(problem_count, n, "count", UNIT_COUNT, "number of problems of this kind"),
};
static const struct record count_record = RECORD_OF(problem_count, RECORD_LINE, count_columns);

struct problem_row {
	struct problem p;
	const struct problem *task; /* NULL: not about a task */
};
static const struct column problem_task_columns[] = {DUMP_TASK_ID(problem)};
static const struct record problem_task_record =
	RECORD_OF(problem, RECORD_SCALAR, problem_task_columns);
static const struct column problem_columns[] = {
	COLUMN_AS(problem_row, p.note.weight, "weight", UNIT_NONE, "how serious the problem is",
		.words = WEIGHTS),
	COLUMN_AS(problem_row, p.note.code, "code", UNIT_NONE,
		"stable identifier of the kind of problem"),
	COLUMN_HELD(problem_row, task, "task_id", COLUMN_POINTER, &problem_task_record,
		"task that the problem is about"),
	COLUMN_AS(problem_row, p.slot, "slot", UNIT_INDEX,
		"number of the argument that the problem is about", NULLABLE),
	COLUMN_AS(problem_row, p.record, "index", UNIT_INDEX,
		"index of the record that the problem is about", NULLABLE),
	COLUMN_AS(problem_row, p.note.offset, "offset", UNIT_BYTES,
		"byte offset of the problem in the manifest", NULLABLE),
	COLUMN_AS(problem_row, p.note.message, "text", UNIT_NONE, "what is wrong"),
};
static const struct record problem_record = RECORD_OF(problem_row, RECORD_LINE, problem_columns);

#define SUM(M, NAME, UNIT, DOC) COLUMN_AS(check_data, sums.M, NAME, UNIT, DOC)
struct check_data {
	const char *verb, *verdict;
	struct dump_check sums;
	struct rows counts, problems;
	struct problem_row row; /* the row made last */
	const struct dump *d;
	uint64_t top; /* of one kind on the page */
};
static const struct column data_columns[] = {
	DUMP_VERB(check_data, "check"),
	COLUMN(check_data, verdict, UNIT_NONE, "whether the dump can be trusted",
		.words = "sound|suspect|defective"),
	SUM(n_regions, "regions", UNIT_COUNT, "regions of the payload file"),
	SUM(covered_bytes, "covered_bytes", UNIT_BYTES,
		"bytes of the payload file that are in a region"),
	SUM(uncovered_bytes, "uncovered_bytes", UNIT_BYTES,
		"bytes of the payload file that are in no region"),
	SUM(overlapping, "overlapping_regions", UNIT_COUNT, "regions that share bytes"),
	SUM(n_checksums, "checksums", UNIT_COUNT, "records that state a checksum"),
	SUM(n_bad_checksums, "bad_checksums", UNIT_COUNT,
		"records whose bytes do not match their checksum"),
	SUM(n_incomplete_tasks, "incomplete_tasks", UNIT_COUNT,
		"tasks that were not dumped completely"),
	SUM(n_missing_slots, "missing_slots", UNIT_COUNT, "arguments that are missing"),
	LIST(check_data, counts, &count_record, "problems by kind"),
	LIST(check_data, problems, &problem_record, "the first problems of each kind"),
};
static const struct record data_record = RECORD_OF(check_data, RECORD_BLOCK, data_columns);

static const void *problem_at(const void *v, size_t i)
{
	struct check_data *x = (struct check_data *)v;
	const struct problem *p = &x->d->problems.v.v[i];

	x->row = (struct problem_row){*p, p->has_task ? p : NULL};
	return &x->row;
}

static void page_kind(struct page *p, const struct check_data *k, const struct problem_count *kind)
{
	static const enum cell_style styles[] = {CELL_DIM, CELL_WARM, CELL_BAD};
	const struct problems *all = &k->d->problems;
	uint64_t shown = 0;

	for (size_t i = 0; i < all->v.n && shown < k->top; i++) {
		const struct problem *x = &all->v.v[i];

		if (x->note.weight != kind->weight || strcmp(x->note.code, kind->code) != 0)
			continue;
		page_line(p, "%s%-7s%s  %-18s  %s", style_mark(styles[x->note.weight]),
			problem_weight_name(x->note.weight), style_mark_end, x->note.code,
			x->note.message);
		shown++;
	}
	if (shown < kind->n)
		page_line(p, "         %-18s  ... %s more", kind->code, U64_TEXT(kind->n - shown));
}

static void page_sums(struct page *p, const struct check_data *k)
{
	const struct dump_check *n = &k->sums;
	bool has_payload = k->d->payload && !k->d->is_payload_missing;

	if (has_payload)
		page_say(p, "%s %s %s of %s", U64_TEXT(n->n_regions),
			n->n_regions == 1 ? "region covers" : "regions cover",
			U64_TEXT(n->covered_bytes), COUNTED(n->payload_bytes, "byte"));
	if (has_payload && n->n_checksums)
		page_say(p, ", %s, %s wrong", COUNTED(n->n_checksums, "checksum"),
			U64_TEXT(n->n_bad_checksums));
	if (has_payload)
		page_line(p, "%s", "");
	if (n->n_incomplete_tasks)
		page_line(p, "%s of %zu task%s %s incomplete: %s %s missing",
			U64_TEXT(n->n_incomplete_tasks), k->d->tasks.n, plural(k->d->tasks.n),
			n->n_incomplete_tasks == 1 ? "is" : "are", U64_TEXT(n->n_missing_slots),
			n->n_missing_slots == 1 ? "slot is" : "slots are");
}

static void dump_check_page(const struct answer *a, struct page *p)
{
	const struct check_data *k = a->data;
	const struct problems *all = &k->d->problems;
	uint64_t n_defects = problems_count(all, WEIGHT_ERROR);
	uint64_t n_warnings = problems_count(all, WEIGHT_WARNING);
	uint64_t n_notes = problems_count(all, WEIGHT_INFO);

	dump_page_head(p, k->d);
	for (int weight = WEIGHT_ERROR; weight >= WEIGHT_INFO; weight--)
		for (size_t i = 0; i < all->counts.n; i++)
			if ((int)all->counts.v[i].weight == weight)
				page_kind(p, k, &all->counts.v[i]);
	page_sums(p, k);
	page_line(p, "%s: %llu defect%s, %llu warning%s, %llu note%s", k->verdict,
		(unsigned long long)n_defects, plural(n_defects), (unsigned long long)n_warnings,
		plural(n_warnings), (unsigned long long)n_notes, plural(n_notes));
}

/* A file that could not be read says nothing about the dump: also warn about it. */
static void warn_unread(struct answer *a, const struct dump *d)
{
	const struct problems *p = &d->problems;

	for (size_t i = 0; i < p->v.n; i++)
		if (strcmp(p->v.v[i].note.code, "unreadable-companion") == 0)
			answer_warn(a, "%s", p->v.v[i].note.message);
}

static bool dump_check_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct dump_check_params *o = r->params;
	struct check_data *x = ANSWER_NEW(a, check_data, e);
	struct dump *d;

	/* quietly: what would be warned about is the answer here */
	if (!x || !dump_ask_open_quietly(a, r->paths[0], &o->source, &d, e) ||
		!dump_check(d, &x->sums, e))
		return false;
	warn_unread(a, d);
	a->is_no = dump_verdict_of(d) == DUMP_DEFECTIVE;
	x->verb = "check";
	x->verdict = dump_verdict_name(dump_verdict_of(d));
	x->d = d;
	x->top = o->top;
	x->counts = (struct rows){d->problems.counts.v, d->problems.counts.n};
	x->problems = (struct rows){x, d->problems.v.n, problem_at};
	return dump_answer(a, d, &data_record, x, e);
}

const struct question question_dump_check = {
	.name = "dump check",
	.summary = "can it be trusted: coverage, completeness, roles",
	.args = "DIR",
	.min_paths = 1,
	.max_paths = 1,
	.options = options,
	.params_size = sizeof(struct dump_check_params),
	.records = RECORDS(&data_record),
	.inputs = dump_inputs,
	.ask = dump_check_ask,
	.page = dump_check_page,
};
