/* SPDX-License-Identifier: Apache-2.0 */
/* dump_check.c: incore dump check: can this dump be trusted? Every defect with its task and slot.
 */
#include <string.h>

#include "cli/dump/dump_job.h"
#include "cli/text/table.h"
#include "dump/read/check.h"

static const struct option_def options[] = {
	DUMP_RECORDS_OPTION,
	{0, "top", OPTION_TEXT, "N|all", NULL, "20", "how many problems of one kind to show"},
	OPTIONS_END,
};

struct checked {
	struct cli *c;
	struct dump *d;
	struct dump_check check;
};

static void json_problem(struct json_writer *w, const struct problem *p)
{
	json_w_row_object(w);
	json_w_kv_cstr(w, "weight", problem_weight_name(p->weight));
	json_w_kv_cstr(w, "code", p->code);
	if (p->has_task)
		dump_json_hex(w, "task_id", p->task_id, 16);
	else
		json_w_kv_null(w, "task_id");
	json_w_key(w, "slot");
	if (p->slot == UINT32_MAX)
		json_w_null(w);
	else
		json_w_u64(w, p->slot);
	json_w_key(w, "index");
	if (p->record == UINT32_MAX)
		json_w_null(w);
	else
		json_w_u64(w, p->record);
	json_w_key(w, "offset");
	if (p->at == UINT64_MAX)
		json_w_null(w);
	else
		json_w_u64(w, p->at);
	json_w_kv_cstr(w, "text", p->text);
	json_w_end(w);
}

static void json_sums(struct json_writer *w, const struct checked *k)
{
	const struct dump_check *n = &k->check;

	json_w_kv_u64(w, "regions", n->n_regions);
	json_w_kv_u64(w, "covered_bytes", n->covered_bytes);
	json_w_kv_u64(w, "uncovered_bytes", n->uncovered_bytes);
	json_w_kv_u64(w, "overlapping_regions", n->overlapping);
	json_w_kv_u64(w, "checksums", n->n_checksums);
	json_w_kv_u64(w, "bad_checksums", n->n_bad_checksums);
	json_w_kv_u64(w, "incomplete_tasks", n->n_incomplete_tasks);
	json_w_kv_u64(w, "missing_slots", n->n_missing_slots);
}

static bool print_json(struct checked *k)
{
	const struct problems *p = &k->d->problems;
	struct json_writer w;

	dump_json_begin(k->c, &w, k->d);
	json_w_kv_cstr(&w, "verdict", dump_verdict_name(dump_verdict_of(k->d)));
	json_sums(&w, k);
	json_w_key(&w, "counts");
	json_w_array(&w);
	for (size_t i = 0; i < p->counts.n; i++) {
		json_w_row_object(&w);
		json_w_kv_cstr(&w, "code", p->counts.v[i].code);
		json_w_kv_cstr(&w, "weight", problem_weight_name(p->counts.v[i].weight));
		json_w_kv_u64(&w, "count", p->counts.v[i].n);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_key(&w, "problems");
	json_w_array(&w);
	for (size_t i = 0; i < p->v.n; i++)
		json_problem(&w, &p->v.v[i]);
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(k->c, &w);
}

static void print_kind(struct checked *k, const struct problem_count *kind)
{
	static const enum cell_style styles[] = {CELL_DIM, CELL_WARM, CELL_BAD};
	const struct problems *p = &k->d->problems;
	uint64_t top = cli_top(k->c), shown = 0;
	char a[32];

	for (size_t i = 0; i < p->v.n && shown < top; i++) {
		const struct problem *x = &p->v.v[i];

		if (x->weight != kind->weight || strcmp(x->code, kind->code) != 0)
			continue;
		fprintf(k->c->out, "%s%-7s%s  %-18s  %s\n", style_on(k->c, styles[x->weight]),
			problem_weight_name(x->weight), style_off(k->c), x->code, x->text);
		shown++;
	}
	if (shown < kind->n)
		fprintf(k->c->out, "         %-18s  ... %s more\n", kind->code,
			fmt_u64(a, kind->n - shown));
}

static void print_text(struct checked *k)
{
	const struct problems *p = &k->d->problems;
	const struct dump_check *n = &k->check;
	uint64_t n_defects = problems_count(p, PROBLEM_DEFECT);
	uint64_t n_warnings = problems_count(p, PROBLEM_WARNING);
	uint64_t n_notes = problems_count(p, PROBLEM_NOTE);
	char a[32], b[32], m[32];
	FILE *out = k->c->out;

	dump_text_head(k->c, k->d);
	for (int weight = PROBLEM_DEFECT; weight >= PROBLEM_NOTE; weight--)
		for (size_t i = 0; i < p->counts.n; i++)
			if ((int)p->counts.v[i].weight == weight)
				print_kind(k, &p->counts.v[i]);
	if (k->d->payload && !k->d->is_payload_missing)
		fprintf(out, "%s %s %s of %s byte%s", fmt_u64(a, n->n_regions),
			n->n_regions == 1 ? "region covers" : "regions cover",
			fmt_u64(b, n->covered_bytes), fmt_u64(m, n->payload_bytes),
			plural(n->payload_bytes));
	if (n->n_checksums)
		fprintf(out, ", %s checksum%s, %s wrong", fmt_u64(a, n->n_checksums),
			plural(n->n_checksums), fmt_u64(b, n->n_bad_checksums));
	if (k->d->payload && !k->d->is_payload_missing)
		fputc('\n', out);
	if (n->n_incomplete_tasks)
		fprintf(out, "%s of %zu task%s %s incomplete: %s %s missing\n",
			fmt_u64(a, n->n_incomplete_tasks), k->d->tasks.n, plural(k->d->tasks.n),
			n->n_incomplete_tasks == 1 ? "is" : "are", fmt_u64(b, n->n_missing_slots),
			n->n_missing_slots == 1 ? "slot is" : "slots are");
	fprintf(out, "%s: %llu defect%s, %llu warning%s, %llu note%s\n",
		dump_verdict_name(dump_verdict_of(k->d)), (unsigned long long)n_defects,
		plural(n_defects), (unsigned long long)n_warnings, plural(n_warnings),
		(unsigned long long)n_notes, plural(n_notes));
}

/* What could not be looked at says nothing about the dump: also a warning. */
static void tell_unread(struct checked *k)
{
	const struct problems *p = &k->d->problems;

	for (size_t i = 0; i < p->v.n; i++)
		if (strcmp(p->v.v[i].code, "unreadable-companion") == 0)
			cli_warn(k->c, "%s", p->v.v[i].text);
}

static int run_dump_check(struct cli *c)
{
	struct checked k = {.c = c};
	int status = INCORE_OK;

	/* not dump_cli_open(): what it would warn of is the answer here */
	if (!dump_cli_open_quietly(c, c->args[0], &k.d) || !dump_check(k.d, &k.check, &c->error)) {
		status = cli_fail(c);
	} else {
		tell_unread(&k);
		if (!c->use_json)
			print_text(&k);
		else if (!print_json(&k))
			status = cli_fail(c);
		if (status == INCORE_OK && dump_verdict_of(k.d) == DUMP_DEFECTIVE)
			status = INCORE_NO;
	}
	dump_free(k.d);
	return status;
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
};
