/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c: runs and ranks every kernel of a build. */
#include "replay/build/profile.h"
#include "answer/rows.h"
#include "base/search.h"
#include "page/page.h"
#include "replay/build/case.h"
#include "replay/msprof/msprof.h"
#include "verbs/means_options.h"

#define DEFAULT_NAME "kernel_insight_all_funcs"

struct profile_params {
	struct profile_request q;
	const char *script, *builds_root; /* runs first, and makes the build below this */
	const char *ptoas_root;
	bool is_list;
};

static const struct option_def options[] = {
	{OPT_BUILD_DIR, NULL, NULL, "the build, with ptoas/ and next_levels/ in it",
		OPTION_FIELD(profile_params, q.build_dir)},
	{OPT_CASE_SCRIPT, NULL, NULL, "run SCRIPT with ARGS first and profile the build it makes",
		OPTION_FIELD(profile_params, script)},
	{OPT_BUILD_OUTPUT_ROOT, NULL, "build_output", OPTION_RARE "folder for the builds of --case",
		OPTION_FIELD(profile_params, builds_root), .only_named = true},
	{OPT_TARGET, PROFILE_TARGETS, "auto", "chip generation; auto: as each .pto says",
		OPTION_FIELD(profile_params, q.target)},
	{OPT_FUNC_NAMES, NULL, NULL, "only this kernel; may be repeated",
		OPTION_FIELD(profile_params, q.funcs)},
	{OPT_LIST, NULL, NULL, "list the kernels and exit", OPTION_FIELD(profile_params, is_list)},
	{OPT_DUMP, NULL, NULL, "take arguments of kernels from this args dump",
		OPTION_FIELD(profile_params, q.dump)},
	OPTION_LINKS(profile_params, q.follow_links),
	{OPT_SET_VALUE, NULL, NULL,
		"value of a parameter, in FUNC or in every kernel that has this parameter",
		OPTION_FIELD(profile_params, q.testcase.set)},
	{OPT_DATA, NULL, NULL, "file with the bytes of a tensor parameter",
		OPTION_FIELD(profile_params, q.testcase.data)},
	{OPT_DYNAMIC_DIM, NULL, "256", "value of dimensions that are parameters",
		OPTION_FIELD(profile_params, q.testcase.dynamic_dim)},
	{OPT_BLOCKS, NULL, "1", "number of blocks to launch",
		OPTION_FIELD(profile_params, q.testcase.n_blocks)},
	{OPT_SEED, NULL, "19", "seed of generated input",
		OPTION_FIELD(profile_params, q.testcase.seed)},
	{OPT_PROFILE, NULL, NULL, "model: machine profile to use",
		OPTION_FIELD(profile_params, q.means.profile)},
	MEANS_COMPILE_OPTIONS(profile_params),
	{OPT_RESUME, NULL, NULL, "continue the last run", OPTION_FIELD(profile_params, q.resumes)},
	{OPT_NAME, NULL, DEFAULT_NAME, "name of the run folder",
		OPTION_FIELD(profile_params, q.name)},
	{OPT_NO_KEEP_GOING, NULL, NULL, "stop at the first kernel that fails",
		OPTION_FIELD(profile_params, q.ends_at_failure)},
	{OPT_BUNDLE, NULL, NULL, "make a folder for each kernel with all of its files, to hand on",
		OPTION_FIELD(profile_params, q.makes_bundles)},
	MEANS_BACKEND_OPTIONS(profile_params),
	{OPT_OUTPUT_FOLDER, NULL, NULL, "folder for the run folder (default: the build)",
		OPTION_FIELD(profile_params, q.output_root)},
	{OPT_LIST_FUNCS, .alias_of = "list"},
	{OPT_OUTPUT_ROOT, .alias_of = "output"},
	{OPT_PTOAS_ROOT, NULL, NULL, OPTION_RARE "refused: arguments are made without PTOAS",
		OPTION_FIELD(profile_params, ptoas_root), .only_named = true},
	OPTION_END,
};

static const struct column build_columns[] = {
	COLUMN_AS(text_item, v, "build_dir", UNIT_NONE, "path of the build"),
};
static const struct record build_record = RECORD_OF(text_item, RECORD_BLOCK, build_columns);

static const struct column kernel_columns[] = {
	COLUMN_AS(build_kernel, name, "func", UNIT_NONE, "name of the kernel"),
	COLUMN(build_kernel, source, UNIT_NONE, "source file of the kernel"),
};
static const struct record kernel_record = RECORD_OF(build_kernel, RECORD_BLOCK, kernel_columns);

struct kernel_list {
	struct rows kernels; /* build_kernel */
};
static const struct column list_columns[] = {
	LIST(kernel_list, kernels, &kernel_record, "the kernels of the build"),
};
static const struct record list_record = RECORD_OF(kernel_list, RECORD_BLOCK, list_columns);

static bool list_kernels(const struct profile_request *q, struct answer *a, struct incore_error *e)
{
	struct kernel_list *all = ANSWER_NEW(a, kernel_list, e);
	build_kernels found = {0};
	struct build_kernel *v;
	bool ok = all && discover_kernels(&a->arena, q->build_dir, &found, e);

	v = ok ? ANSWER_ROWS(a, &all->kernels, found.n, build_kernel, e) : NULL;
	for (size_t i = 0; v && i < found.n; i++)
		v[i] = found.v[i];
	VEC_FREE(&found);
	answer_set(a, &list_record, all);
	return v != NULL;
}

/* --- the answer --- */

struct ranked_row {
	struct profile_row k;
	const char *bundle;				    /* NULL: none */
	const char *bound, *simulator, *workload, *message; /* "" if there is none */
	const char *state;				    /* only in tables */
};
static const struct column ranked_columns[] = {
	COLUMN_AS(ranked_row, k.kernel.name, "func", UNIT_NONE, "name of the kernel"),
	COLUMN_AS(ranked_row, k.kernel.source, "source", UNIT_NONE, "source file of the kernel"),
	COLUMN_AS(ranked_row, k.status, "status", UNIT_NONE, "how far the kernel got",
		.words = "not_run|started|exported|collect_failed|failed"),
	COLUMN_AS(ranked_row, k.is_degenerate, "is_degenerate", UNIT_NONE,
		"the kernel ran but did not do what its source says"),
	COLUMN_AS(ranked_row, k.cycles, "cycles", UNIT_CYCLES,
		"cycles of the longest core; 0: unknown"),
	COLUMN_AS(ranked_row, bound, "bound_by", UNIT_NONE, "pipe that limits the kernel",
		.title = "bound by"),
	COLUMN(ranked_row, simulator, UNIT_NONE, "folder of the kernel's trace"),
	COLUMN_AS(ranked_row, k.made_up, "made_up_control", UNIT_NONE,
		"values that decide how much the kernel does and that nobody gave; empty: none"),
	COLUMN_AS(ranked_row, k.assumed, "assumed_control", UNIT_NONE,
		"values that decide how much it does and follow from its .pto: full shape"),
	COLUMN_AS(ranked_row, k.links_left, "links_left", UNIT_COUNT,
		"links of the trace that have no line in MindStudio Insight"),
	COLUMN(ranked_row, workload, UNIT_NONE, "input that the kernel was given"),
	COLUMN(ranked_row, bundle, UNIT_NONE, "folder with all files of the kernel; with --bundle",
		OPTIONAL),
	COLUMN(ranked_row, message, UNIT_NONE, "what went wrong", .flags = COLUMN_WIDE),
	COLUMN(ranked_row, state, UNIT_NONE, "the status, or that the kernel is degenerate",
		.title = "status", NO_JSON),
};
static const struct record ranked_record = RECORD_OF(ranked_row, RECORD_BLOCK, ranked_columns);

struct profiled {
	const char *run_root, *backend, *evidence;
	uint64_t total, exported;
	struct rows kernels;
};
static const struct column profiled_columns[] = {
	COLUMN(profiled, run_root, UNIT_NONE, "folder of the run"),
	COLUMN(profiled, backend, UNIT_NONE, "backend that ran the kernels",
		.words = "model|msprof"),
	COLUMN(profiled, evidence, UNIT_NONE, "what the figures rest on",
		.words = "estimate|vendor-simulator"),
	COLUMN(profiled, total, UNIT_COUNT, "kernels of the build"),
	COLUMN(profiled, exported, UNIT_COUNT, "kernels that have a trace"),
	LIST(profiled, kernels, &ranked_record, "the kernels, costliest first"),
};
static const struct record profiled_record = RECORD_OF(profiled, RECORD_BLOCK, profiled_columns);

static int by_cost(const void *a, const void *b)
{
	const struct profile_row *x = &((const struct ranked_row *)a)->k;
	const struct profile_row *y = &((const struct ranked_row *)b)->k;

	if ((x->status == PROFILE_EXPORTED) != (y->status == PROFILE_EXPORTED))
		return x->status == PROFILE_EXPORTED ? -1 : 1;
	if (x->cycles != y->cycles)
		return x->cycles < y->cycles ? 1 : -1;
	return strcmp(x->kernel.name, y->kernel.name);
}

static enum cell_style state_style(const void *row, const char *column)
{
	const struct ranked_row *x = row;

	return strcmp(column, "state") == 0 && x->k.status != PROFILE_EXPORTED ? CELL_BAD
									       : CELL_PLAIN;
}

static bool rank(const struct profile_run *r, struct answer *a, struct incore_error *e)
{
	struct profiled *x = ANSWER_NEW(a, profiled, e);
	struct ranked_row *v = x ? ANSWER_ROWS(a, &x->kernels, r->rows.n, ranked_row, e) : NULL;

	if (!v)
		return false;
	x->run_root = r->root;
	x->backend = r->backend->name;
	x->evidence = r->backend->evidence;
	x->total = r->rows.n;
	x->exported = r->n_exported;
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct profile_row *k = &r->rows.v[i];

		v[i] = (struct ranked_row){*k, k->bundle && *k->bundle ? k->bundle : NULL,
			k->bound ? k->bound : "", k->simulator ? k->simulator : "",
			k->workload ? k->workload : "", k->message ? k->message : "",
			k->is_degenerate ? "degenerate"
			: *k->made_up	 ? "made up"
					 : profile_status_name(k->status)};
		a->n_losses += *k->made_up || k->is_degenerate;
	}
	SORT(v, r->rows.n, by_cost);
	a->is_no = r->n_exported < r->rows.n;
	answer_set(a, &profiled_record, x);
	return true;
}

static void drop_run(struct profile_run *r)
{
	profile_run_deinit(r);
	mem_free(r);
}

static bool run_and_rank(const struct profile_request *q, struct answer *a, struct incore_error *e)
{
	struct profile_run *run = mem_zalloc(1, sizeof(*run));

	if (!run)
		return err_nomem(e);
	if (profile_run(q, run, e))
		return ANSWER_KEEP(a, run, drop_run, e) && rank(run, a, e);
	drop_run(run);
	return false;
}

static bool check_words(
	const struct request *r, const struct profile_params *p, struct incore_error *e)
{
	if (!p->q.build_dir == !p->script)
		return err_set(e, INCORE_USAGE, "missing-option",
			"profile needs --build-dir DIR, or --case SCRIPT that makes a build%s",
			p->script ? ", not both" : "");
	if (!*p->q.name || strchr(p->q.name, '/'))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--name: expected the name of a folder, found '%s'", p->q.name);
	if (r->n_paths && !p->script)
		return err_set(e, INCORE_USAGE, "too-many-arguments",
			"'%s' is for a --case SCRIPT, and none is named", r->paths[0]);
	return true;
}

/* Passes on a line about a kernel that is done. */
static void tell_line(void *ctx, const char *line)
{
	const struct request *r = ctx;

	r->tell(r->tell_ctx, line, NULL);
}

static bool profile_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct profile_params *p = r->params;
	struct profile_request q = p->q;
	struct case_request script = {.script = p->script,
		.args = r->paths,
		.n_args = r->n_paths,
		.output_root = p->builds_root};
	struct text_item *build = ANSWER_NEW(a, text_item, e);

	if (!build || !check_words(r, p, e) ||
		(p->script && !case_run(&a->arena, &script, &q.build_dir, e)))
		return false;
	build->v = q.build_dir;
	answer_about(a, &build_record, build);
	if (p->ptoas_root)
		return err_set(e, INCORE_USAGE, "no-ptoas",
			"--ptoas-root %s: cases are made from the .cpp and the .pto here, PTOAS's generator is never run; leave the option out",
			p->ptoas_root);
	if (p->is_list)
		return list_kernels(&q, a, e);
	q.script = p->script;
	q.pool = r->pool;
	q.on_line = r->tell ? tell_line : NULL;
	q.ctx = (void *)r;
	q.means.is_cancelled = request_is_cancelled;
	q.means.cancel_ctx = (void *)r;
	q.testcase.fill_inputs = backend_of(&q.means)->does_compute;
	q.testcase.is_dim_given = request_given(r, &p->q.testcase.dynamic_dim);
	return msprof_check_options(&q.means.msprof, e) && run_and_rank(&q, a, e);
}

/* --- the page --- */

static void list_page(const struct kernel_list *x, struct page *p)
{
	const struct build_kernel *v = x->kernels.v;

	for (size_t i = 0; i < x->kernels.n; i++)
		page_line(p, "%s\t%s", v[i].name, v[i].source);
}

static void ranked_page(const struct profiled *x, struct page *p)
{
	static const char *const columns[] = {
		"func", "state", "cycles", "bound_by", "message", NULL};
	const struct ranked_row *v = x->kernels.v;
	const char *before = "FAILED_FUNCS ";
	uint64_t links_left = 0;

	page_main_records_styled(p, &ranked_record, x->kernels, columns, state_style);
	page_line(p, "RUN_ROOT %s", x->run_root);
	page_line(p, "EXPORTED %llu/%llu", (unsigned long long)x->exported,
		(unsigned long long)x->total);
	for (size_t i = 0; i < x->total; i++)
		links_left += v[i].k.links_left;
	if (links_left)
		page_line(p, "left out by insight: %s links without a line", U64_TEXT(links_left));
	for (size_t i = 0; i < x->total; i++) {
		if (v[i].k.status == PROFILE_EXPORTED)
			continue;
		page_say(p, "%s%s:%s", before, v[i].k.kernel.name,
			profile_status_name(v[i].k.status));
		before = ",";
	}
	if (x->exported < x->total)
		page_line(p, "%s", "");
}

static void profile_page(const struct answer *a, struct page *p)
{
	if (answer_is(a, &list_record))
		list_page(a->data, p);
	else
		ranked_page(a->data, p);
}

const struct question question_profile = {
	.name = "profile",
	.args = "[-- ARGS...]",
	.max_paths = 1000,
	.summary = "run every kernel of a build and rank them by cost",
	.options = options,
	.params_size = sizeof(struct profile_params),
	.records = RECORDS(&list_record, &profiled_record),
	.inputs = RECORDS(&build_record),
	.ask = profile_ask,
	.page = profile_page,
};
