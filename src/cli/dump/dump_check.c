/* SPDX-License-Identifier: Apache-2.0 */
/* dump_check.c: incore dump check: can this dump be trusted? Every defect with its task and slot.
 */
#include <string.h>

#include "cli/draw.h"
#include "cli/dump/dump_rows.h"
#include "dump/read/check.h"
#include "page/say.h"

static const struct option_def options[] = {
	DUMP_RECORDS_OPTION,
	LINKS_OPTION,
	{OPT_TOP, NULL, "20", "how many problems of one kind to show"},
	OPTION_END,
};

struct checked {
	struct cli *c;
	struct dump *d;
	struct dump_check check;
};

/* --- JSON --- */

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
	COLUMN_AS(problem_row, p.weight, "weight", UNIT_NONE, "how serious the problem is",
		.words = WEIGHTS),
	COLUMN_AS(
		problem_row, p.code, "code", UNIT_NONE, "stable identifier of the kind of problem"),
	COLUMN_HELD(problem_row, task, "task_id", COLUMN_POINTER, &problem_task_record,
		"task that the problem is about"),
	COLUMN_AS(problem_row, p.slot, "slot", UNIT_INDEX,
		"number of the argument that the problem is about", NULLABLE),
	COLUMN_AS(problem_row, p.record, "index", UNIT_INDEX,
		"index of the record that the problem is about", NULLABLE),
	COLUMN_AS(problem_row, p.at, "offset", UNIT_BYTES,
		"byte offset of the problem in the manifest", NULLABLE),
	COLUMN_AS(problem_row, p.text, "text", UNIT_NONE, "what is wrong"),
};
static const struct record problem_record = RECORD_OF(problem_row, RECORD_LINE, problem_columns);

#define SUM(M, NAME, UNIT, DOC) COLUMN_AS(check_data, sums.M, NAME, UNIT, DOC)
struct check_data {
	const char *verb, *verdict;
	struct dump_check sums;
	struct rows counts, problems;
	struct problem_row row; /* the row made last */
	const struct problem *all;
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
	const struct problem *p = &x->all[i];

	x->row = (struct problem_row){*p, p->has_task ? p : NULL};
	return &x->row;
}

static bool print_json(struct checked *k)
{
	const struct problems *p = &k->d->problems;
	struct check_data x = {.verb = "check",
		.verdict = dump_verdict_name(dump_verdict_of(k->d)),
		.sums = k->check,
		.counts = {p->counts.v, p->counts.n},
		.problems = {&x, p->v.n, problem_at},
		.all = p->v.v};

	return dump_json(k->c, k->d, &data_record, &x);
}

static void print_kind(struct checked *k, const struct problem_count *kind)
{
	static const enum cell_style styles[] = {CELL_DIM, CELL_WARM, CELL_BAD};
	const struct problems *p = &k->d->problems;
	uint64_t top = cli_top(k->c), shown = 0;

	for (size_t i = 0; i < p->v.n && shown < top; i++) {
		const struct problem *x = &p->v.v[i];

		if (x->weight != kind->weight || strcmp(x->code, kind->code) != 0)
			continue;
		say(k->c->out, "%s%-7s%s  %-18s  %s\n", style_on(k->c, styles[x->weight]),
			problem_weight_name(x->weight), style_off(k->c), x->code, x->text);
		shown++;
	}
	if (shown < kind->n)
		say(k->c->out, "         %-18s  ... %s more\n", kind->code,
			U64_TEXT(kind->n - shown));
}

static void print_text(struct checked *k)
{
	const struct problems *p = &k->d->problems;
	const struct dump_check *n = &k->check;
	uint64_t n_defects = problems_count(p, PROBLEM_DEFECT);
	uint64_t n_warnings = problems_count(p, PROBLEM_WARNING);
	uint64_t n_notes = problems_count(p, PROBLEM_NOTE);
	FILE *out = k->c->out;

	dump_text_head(k->c, k->d);
	for (int weight = PROBLEM_DEFECT; weight >= PROBLEM_NOTE; weight--)
		for (size_t i = 0; i < p->counts.n; i++)
			if ((int)p->counts.v[i].weight == weight)
				print_kind(k, &p->counts.v[i]);
	if (k->d->payload && !k->d->is_payload_missing)
		say(out, "%s %s %s of %s", U64_TEXT(n->n_regions),
			n->n_regions == 1 ? "region covers" : "regions cover",
			U64_TEXT(n->covered_bytes), COUNTED(n->payload_bytes, "byte"));
	if (n->n_checksums)
		say(out, ", %s, %s wrong", COUNTED(n->n_checksums, "checksum"),
			U64_TEXT(n->n_bad_checksums));
	if (k->d->payload && !k->d->is_payload_missing)
		fputc('\n', out);
	if (n->n_incomplete_tasks)
		say(out, "%s of %zu task%s %s incomplete: %s %s missing\n",
			U64_TEXT(n->n_incomplete_tasks), k->d->tasks.n, plural(k->d->tasks.n),
			n->n_incomplete_tasks == 1 ? "is" : "are", U64_TEXT(n->n_missing_slots),
			n->n_missing_slots == 1 ? "slot is" : "slots are");
	say(out, "%s: %llu defect%s, %llu warning%s, %llu note%s\n",
		dump_verdict_name(dump_verdict_of(k->d)), (unsigned long long)n_defects,
		plural(n_defects), (unsigned long long)n_warnings, plural(n_warnings),
		(unsigned long long)n_notes, plural(n_notes));
}

/* A file that could not be read says nothing about the dump: also warn about it. */
static void tell_unread(struct checked *k)
{
	const struct problems *p = &k->d->problems;

	for (size_t i = 0; i < p->v.n; i++)
		if (strcmp(p->v.v[i].code, "unreadable-companion") == 0)
			cli_warn(k->c, "%s", p->v.v[i].text);
}

static bool run_dump_check(struct cli *c)
{
	struct checked k = {.c = c};
	/* not dump_cli_open(): what it would warn about is the answer here */
	bool ok =
		dump_cli_open_quietly(c, c->args[0], &k.d) && dump_check(k.d, &k.check, &c->error);

	if (ok) {
		tell_unread(&k);
		c->is_no = dump_verdict_of(k.d) == DUMP_DEFECTIVE;
		if (c->use_json)
			ok = print_json(&k);
		else
			print_text(&k);
	}
	dump_free(k.d);
	return ok;
}

const struct verb dump_verb_check = {
	.name = "dump check",
	.args = "DIR",
	.summary = "can it be trusted: coverage, completeness, roles",
	.groups = OPTIONS_OUTPUT,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run_dump_check,
	.records = RECORDS(&data_record),
	.inputs = dump_inputs,
};
