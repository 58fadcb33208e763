/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_profile.c: runs and ranks every kernel of a build. */

#include "answer/rows.h"
#include "base/search.h"
#include "cli/draw.h"
#include "cli/replay/replay_options.h"
#include "page/say.h"
#include "replay/backend_model.h"
#include "replay/build/case.h"
#include "replay/build/profile.h"

#define DEFAULT_NAME "kernel_insight_all_funcs"

static const struct option_def options[] = {
	{OPT_BUILD_DIR, NULL, NULL, "the build, with ptoas/ and next_levels/ in it"},
	{OPT_CASE_SCRIPT, NULL, NULL, "run SCRIPT with ARGS first and profile the build it makes"},
	{OPT_BUILD_OUTPUT_ROOT, NULL, "build_output", OPTION_RARE "folder for the builds of --case",
		.only_named = true},
	{OPT_TARGET, "auto|a2a3|a5", "auto", "chip generation; auto: as each .pto says"},
	{OPT_FUNC_NAMES, NULL, NULL, "only this kernel; may be repeated"},
	{OPT_LIST, NULL, NULL, "list the kernels and exit"},
	{OPT_DUMP, NULL, NULL, "take arguments of kernels from this args dump"},
	LINKS_OPTION,
	{OPT_SET_VALUE, NULL, NULL,
		"value of a parameter, in FUNC or in every kernel that has this parameter"},
	{OPT_DATA, NULL, NULL, "file with the bytes of a tensor parameter"},
	{OPT_DYNAMIC_DIM, NULL, "256", "value of dimensions that are parameters"},
	{OPT_BLOCKS, NULL, "1", "number of blocks to launch"},
	{OPT_SEED, NULL, "19", "seed of generated input"},
	{OPT_PROFILE, NULL, NULL, "model: machine profile to use"},
	REPLAY_COMPILE_OPTIONS,
	{OPT_RESUME, NULL, NULL, "continue the last run"},
	{OPT_NAME, NULL, DEFAULT_NAME, "name of the run folder"},
	{OPT_NO_KEEP_GOING, NULL, NULL, "stop at the first kernel that fails"},
	REPLAY_BACKEND_OPTIONS,
	{OPT_LIST_FUNCS, NULL, NULL, OPTION_SAME "list"},
	{OPT_PTOAS_ROOT, NULL, NULL, OPTION_RARE "ignored: arguments are made without PTOAS",
		.only_named = true},
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
	build_kernels kernels;
};
static const struct column list_columns[] = {
	VECTOR(kernel_list, kernels, "kernels", &kernel_record, "the kernels of the build"),
};
static const struct record list_record = RECORD_OF(kernel_list, RECORD_BLOCK, list_columns);

static bool list_kernels(struct cli *c, const char *build)
{
	struct kernel_list all = {0};
	struct arena a;
	bool ok;

	arena_init(&a);
	ok = discover_kernels(&a, build, &all.kernels, &c->error);
	if (ok && c->use_json)
		ok = cli_json(c, &build_record, &(struct text_item){build}, &list_record, &all);
	for (size_t i = 0; ok && !c->use_json && i < all.kernels.n; i++)
		say(c->out, "%s\t%s\n", all.kernels.v[i].name, all.kernels.v[i].source);
	VEC_FREE(&all.kernels);
	arena_deinit(&a);
	return ok;
}

/* --- the run to resume --- */

struct latest {
	struct arena *arena;
	const char *dir, *name, *path;
};

static bool take_latest(void *ctx, const char *name, struct incore_error *e)
{
	struct latest *l = ctx;

	if (strncmp(name, l->name, strlen(l->name)) != 0 || name[strlen(l->name)] != '_')
		return true;
	l->path = arena_printf(
		l->arena, "%s/%s", l->dir, name); /* names sort by time: keep the last */
	return l->path || err_nomem(e);
}

static const char *find_latest(struct cli *c, struct arena *a, const char *top)
{
	struct latest l = {.arena = a, .dir = top, .name = cli_text(c, "name")};

	if (!file_is_dir(top) || !dir_each(top, take_latest, &l, NULL) || !l.path) {
		err_set(&c->error, INCORE_BAD_INPUT, "nothing-to-resume",
			"nothing to resume: there is no folder %s_* in %s", l.name, top);
		return NULL;
	}
	return l.path;
}

/* --- the answer --- */

static void show_line(void *ctx, const char *line)
{
	struct cli *c = ctx;

	if (!cli_flag(c, "quiet"))
		fprintf(stderr, "%s\n", line);
}

struct ranked_row {
	struct profile_row k;
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
	COLUMN(ranked_row, workload, UNIT_NONE, "input that the kernel was given"),
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

static bool print_text(struct cli *c, const struct profiled *x)
{
	static const char *const columns[] = {
		"func", "state", "cycles", "bound_by", "message", NULL};
	const struct ranked_row *v = x->kernels.v;
	const char *before = "FAILED_FUNCS ";
	bool ok = record_table_print_styled(c, &ranked_record, x->kernels, columns, state_style);

	say(c->out, "RUN_ROOT %s\nEXPORTED %llu/%llu\n", x->run_root,
		(unsigned long long)x->exported, (unsigned long long)x->total);
	for (size_t i = 0; i < x->total; i++) {
		if (v[i].k.status == PROFILE_EXPORTED)
			continue;
		say(c->out, "%s%s:%s", before, v[i].k.kernel.name,
			profile_status_name(v[i].k.status));
		before = ",";
	}
	if (x->exported < x->total)
		fputc('\n', c->out);
	return ok;
}

static bool answer(struct cli *c, const struct profile_request *q, const struct profile_run *r)
{
	struct ranked_row *v = mem_zalloc(r->rows.n + 1, sizeof(*v));
	struct profiled x = {r->root, q->backend->name, q->backend->evidence, r->rows.n,
		r->n_exported, {v, r->rows.n}};
	bool ok;

	if (!v)
		return err_nomem(&c->error);
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct profile_row *k = &r->rows.v[i];

		v[i] = (struct ranked_row){*k, k->bound ? k->bound : "",
			k->simulator ? k->simulator : "", k->workload ? k->workload : "",
			k->message ? k->message : "",
			k->is_degenerate ? "degenerate" : profile_status_name(k->status)};
	}
	SORT(v, r->rows.n, by_cost);
	ok = c->use_json ? cli_json(c, &build_record, &(struct text_item){q->build_dir},
				   &profiled_record, &x)
			 : print_text(c, &x);
	mem_free(v);
	c->is_no = r->n_exported < r->rows.n;
	return ok;
}

static bool profile(struct cli *c, struct profile_request *q)
{
	struct profile_run r;
	struct arena a;
	bool ok = true;

	arena_init(&a);
	if (cli_flag(c, "resume")) {
		q->resume = find_latest(c, &a, q->output_root ? q->output_root : q->build_dir);
		ok = q->resume != NULL;
	}
	if (ok) {
		ok = profile_run(q, &r, &c->error) && answer(c, q, &r);
		profile_run_deinit(&r);
	}
	arena_deinit(&a);
	return ok;
}

static bool profile_build(struct cli *c, const char *build)
{
	struct replay_words funcs, set, data, defines, includes;
	struct msprof_options msprof;
	struct model_options model = {
		.profile = cli_text(c, "profile"), .is_unsafe = cli_flag(c, "unsafe-native")};
	const char *target = cli_text(c, "target");
	struct profile_request q = {.build_dir = build,
		.dump = cli_text(c, "dump"),
		.follow_links = cli_flag(c, "follow-links"),
		.output_root = cli_text(c, "output"),
		.name = cli_text(c, "name"),
		.ends_at_failure = cli_flag(c, "no-keep-going"),
		.pool = c->pool,
		.on_line = show_line,
		.ctx = c,
		.has_target = strcmp(target, "auto") != 0,
		.target = strcmp(target, "a5") == 0 ? ARCH_A5 : ARCH_A2A3,
		.backend = backend_find(cli_text(c, "backend"))};

	if (!*q.name || strchr(q.name, '/'))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--name: expected the name of a folder, found '%s'", q.name);
	if (cli_has(c, "ptoas-root"))
		cli_warn(c, "--ptoas-root has no effect: arguments are made without PTOAS");
	if (cli_flag(c, "list") || cli_flag(c, "list-funcs"))
		return list_kernels(c, q.build_dir);
	if (!replay_take_words(c, "func", &funcs) || !replay_take_words(c, "set", &set) ||
		!replay_take_words(c, "data", &data) || !replay_take_words(c, "define", &defines) ||
		!replay_take_words(c, "include", &includes) || !replay_backend_options(c, &msprof))
		return false;
	q.funcs = funcs.v;
	q.n_funcs = funcs.n;
	q.defines = defines.v;
	q.n_defines = defines.n;
	q.include_dirs = includes.v;
	q.n_include_dirs = includes.n;
	q.testcase = (struct testcase_options){.dynamic_dim = (int64_t)cli_count(c, "dynamic-dim"),
		.n_blocks = (uint32_t)cli_count(c, "blocks"),
		.seed = cli_count(c, "seed"),
		.fill_inputs = q.backend->does_compute,
		.set = set.v,
		.n_set = set.n,
		.data = data.v,
		.n_data = data.n};
	q.backend_options = q.backend == &backend_msprof ? (const void *)&msprof : &model;
	return profile(c, &q);
}

static bool run_profile(struct cli *c)
{
	const char *build = cli_text(c, "build-dir");
	struct case_request q = {.script = cli_text(c, "case"),
		.args = c->args,
		.n_args = c->n_args,
		.output_root = cli_text(c, "build-output-root")};
	struct arena a;
	bool ok;

	if (!build == !q.script)
		return err_set(&c->error, INCORE_USAGE, "missing-option",
			"profile needs --build-dir DIR, or --case SCRIPT that makes a build%s",
			build ? ", not both" : "");
	if (c->n_args && !q.script)
		return err_set(&c->error, INCORE_USAGE, "too-many-arguments",
			"'%s' is for a --case SCRIPT, and none is named", c->args[0]);
	arena_init(&a);
	ok = (build || case_run(&a, &q, &build, &c->error)) && profile_build(c, build);
	arena_deinit(&a);
	return ok;
}

const struct verb verb_profile = {
	.name = "profile",
	.args = "[-- ARGS...]",
	.max_args = 1000,
	.summary = "run every kernel of a build and rank them by cost",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = options,
	.run = run_profile,
	.records = RECORDS(&list_record, &profiled_record),
	.inputs = RECORDS(&build_record),
};
