/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_profile.c: every kernel of a build, run and ranked. */
#include <stdlib.h>

#include "cli/replay_options.h"
#include "cli/text/table.h"
#include "replay/backend_model.h"
#include "replay/build/profile.h"

#define ROOT_PREFIX "kernel_insight_all_funcs_"

static const struct option_def options[] = {
	{0, "build-dir", OPTION_TEXT, "DIR", NULL, NULL,
		"the build: ptoas/ and next_levels/ in it"},
	{0, "target", OPTION_CHOICE, "NAME", "auto|a2a3|a5", "auto",
		"the generation of the chip; auto: as each .pto says"},
	{0, "func", OPTION_MANY, "NAME", NULL, NULL, "only this kernel; may be repeated"},
	{0, "list", OPTION_FLAG, NULL, NULL, NULL, "list the kernels and end"},
	{0, "dump", OPTION_TEXT, "DIR", NULL, NULL, "take the arguments of kernels that it has"},
	{0, "follow-links", OPTION_FLAG, NULL, NULL, NULL,
		"read also what links of the dump lead to outside of it"},
	{0, "set", OPTION_MANY, "NAME=VALUE", NULL, NULL,
		"value of a parameter, in every kernel that has one of that name"},
	{0, "data", OPTION_MANY, "NAME=FILE", NULL, NULL, "bytes of a tensor parameter"},
	{0, "dynamic-dim", OPTION_COUNT, "N", NULL, "256",
		"what a dimension counts as that is a parameter"},
	{0, "blocks", OPTION_COUNT, "N", NULL, "1", "blocks to launch"},
	{0, "seed", OPTION_COUNT, "N", NULL, "19", "of made-up input"},
	{0, "profile", OPTION_TEXT, "NAME", NULL, NULL, "model: the machine profile"},
	{'I', "include", OPTION_MANY, "DIR", NULL, NULL, "a folder of the kernels' headers"},
	{0, "resume", OPTION_FLAG, NULL, NULL, NULL, "take the last run up again"},
	REPLAY_BACKEND_OPTIONS,
	OPTION_END,
};

static int list_kernels(struct cli *c, const char *build)
{
	build_kernels all = {0};
	struct arena a;
	int status = INCORE_OK;

	arena_init(&a);
	if (!discover_kernels(&a, build, &all, &c->error)) {
		status = cli_fail(c);
	} else if (c->use_json) {
		struct json_writer w;

		cli_json_head(c, &w);
		json_w_object(&w);
		json_w_kv_cstr(&w, "build_dir", build);
		json_w_end(&w);
		json_w_key(&w, "data");
		json_w_object(&w);
		json_w_key(&w, "kernels");
		json_w_array(&w);
		for (size_t i = 0; i < all.n; i++) {
			json_w_object(&w);
			json_w_kv_cstr(&w, "func", all.v[i].name);
			json_w_kv_cstr(&w, "source", all.v[i].source);
			json_w_end(&w);
		}
		json_w_end(&w);
		json_w_end(&w);
		status = cli_json_end(c, &w) ? INCORE_OK : cli_fail(c);
	} else {
		for (size_t i = 0; i < all.n; i++)
			fprintf(c->out, "%s\t%s\n", all.v[i].name, all.v[i].source);
	}
	VEC_FREE(&all);
	arena_deinit(&a);
	return status;
}

/* --- the run to take up again --- */

struct latest {
	struct arena *arena;
	const char *dir, *path;
};

static bool take_latest(void *ctx, const char *name, struct incore_error *e)
{
	struct latest *l = ctx;

	if (strncmp(name, ROOT_PREFIX, strlen(ROOT_PREFIX)) != 0)
		return true;
	l->path = arena_printf(
		l->arena, "%s/%s", l->dir, name); /* in order of time: the last stays */
	return l->path || err_nomem(e);
}

static const char *find_latest(struct cli *c, struct arena *a, const char *top)
{
	struct latest l = {.arena = a, .dir = top};

	if (!file_is_dir(top) || !dir_each(top, take_latest, &l, NULL) || !l.path) {
		err_set(&c->error, INCORE_BAD_INPUT, "nothing-to-resume",
			"nothing to take up again: no folder " ROOT_PREFIX "* in %s", top);
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

static int by_cost(const void *a, const void *b)
{
	const struct profile_row *x = *(const struct profile_row *const *)a;
	const struct profile_row *y = *(const struct profile_row *const *)b;

	if ((x->status == PROFILE_EXPORTED) != (y->status == PROFILE_EXPORTED))
		return x->status == PROFILE_EXPORTED ? -1 : 1;
	if (x->cycles != y->cycles)
		return x->cycles < y->cycles ? 1 : -1;
	return strcmp(x->kernel.name, y->kernel.name);
}

static bool print_text(struct cli *c, const struct profile_run *r, const struct profile_row **order)
{
	static const struct table_column columns[] = {{"func", NULL, CELL_LEFT, false},
		{"status", NULL, CELL_LEFT, false}, {"cycles", NULL, CELL_RIGHT, false},
		{"bound by", NULL, CELL_LEFT, false}, {"message", NULL, CELL_LEFT, true}};
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct profile_row *k = order[i];

		table_cstr(&t, k->kernel.name);
		table_cstr(&t, k->is_degenerate ? "degenerate" : profile_status_name(k->status));
		table_style(&t, k->status == PROFILE_EXPORTED ? CELL_PLAIN : CELL_BAD);
		table_u64(&t, k->cycles);
		table_cstr(&t, k->bound ? k->bound : "");
		table_cstr(&t, k->message ? k->message : "");
	}
	ok = table_print(&t, c);
	table_deinit(&t);
	fprintf(c->out, "RUN_ROOT %s\nEXPORTED %u/%zu\n", r->root, r->n_exported, r->rows.n);
	if (r->n_exported < r->rows.n) {
		bool is_first = true;

		fputs("FAILED_FUNCS ", c->out);
		for (size_t i = 0; i < r->rows.n; i++)
			if (order[i]->status != PROFILE_EXPORTED) {
				fprintf(c->out, "%s%s:%s", is_first ? "" : ",",
					order[i]->kernel.name,
					profile_status_name(order[i]->status));
				is_first = false;
			}
		fputc('\n', c->out);
	}
	return ok;
}

static bool print_json(struct cli *c, const struct profile_request *q, const struct profile_run *r,
	const struct profile_row **order)
{
	struct json_writer w;

	cli_json_head(c, &w);
	json_w_object(&w);
	json_w_kv_cstr(&w, "build_dir", q->build_dir);
	json_w_end(&w);
	json_w_key(&w, "data");
	json_w_object(&w);
	json_w_kv_cstr(&w, "run_root", r->root);
	json_w_kv_cstr(&w, "backend", q->backend->name);
	json_w_kv_cstr(&w, "evidence", q->backend->evidence);
	json_w_kv_u64(&w, "total", r->rows.n);
	json_w_kv_u64(&w, "exported", r->n_exported);
	json_w_key(&w, "kernels");
	json_w_array(&w);
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct profile_row *k = order[i];

		json_w_object(&w);
		json_w_kv_cstr(&w, "func", k->kernel.name);
		json_w_kv_cstr(&w, "source", k->kernel.source);
		json_w_kv_cstr(&w, "status", profile_status_name(k->status));
		json_w_kv_bool(&w, "is_degenerate", k->is_degenerate);
		json_w_kv_u64(&w, "cycles", k->cycles);
		json_w_kv_cstr(&w, "bound_by", k->bound ? k->bound : "");
		json_w_kv_cstr(&w, "simulator", k->simulator ? k->simulator : "");
		json_w_kv_cstr(&w, "workload", k->workload ? k->workload : "");
		json_w_kv_cstr(&w, "message", k->message ? k->message : "");
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(c, &w);
}

static int answer(struct cli *c, const struct profile_request *q, const struct profile_run *r)
{
	const struct profile_row **order = mem_zalloc(r->rows.n + 1, sizeof(*order));
	bool ok;

	if (!order) {
		err_nomem(&c->error);
		return cli_fail(c);
	}
	for (size_t i = 0; i < r->rows.n; i++)
		order[i] = &r->rows.v[i];
	qsort(order, r->rows.n, sizeof(*order), by_cost);
	ok = c->use_json ? print_json(c, q, r, order) : print_text(c, r, order);
	mem_free(order);
	if (!ok)
		return cli_fail(c);
	return r->n_exported == r->rows.n ? INCORE_OK : INCORE_NO;
}

static int profile(struct cli *c, struct profile_request *q)
{
	struct profile_run r;
	struct arena a;
	int status;

	arena_init(&a);
	if (cli_flag(c, "resume"))
		q->resume = find_latest(c, &a, q->output_root ? q->output_root : q->build_dir);
	if (cli_flag(c, "resume") && !q->resume) {
		arena_deinit(&a);
		return cli_fail(c);
	}
	status = profile_run(q, &r, &c->error) ? answer(c, q, &r) : cli_fail(c);
	profile_run_deinit(&r);
	arena_deinit(&a);
	return status;
}

static int run_profile(struct cli *c)
{
	struct replay_words funcs, set, data, includes;
	struct msprof_options msprof;
	struct model_options model = {.profile = cli_text(c, "profile")};
	const char *target = cli_text(c, "target");
	struct profile_request q = {.build_dir = cli_text(c, "build-dir"),
		.dump = cli_text(c, "dump"),
		.follow_links = cli_flag(c, "follow-links"),
		.output_root = cli_text(c, "output"),
		.pool = c->pool,
		.on_line = show_line,
		.ctx = c,
		.has_target = strcmp(target, "auto") != 0,
		.target = strcmp(target, "a5") == 0 ? TARGET_A5 : TARGET_A2A3,
		.backend = backend_find(cli_text(c, "backend"))};

	if (!q.build_dir) {
		err_set(&c->error, INCORE_USAGE, "missing-option", "profile needs --build-dir DIR");
		return cli_fail(c);
	}
	if (cli_flag(c, "list"))
		return list_kernels(c, q.build_dir);
	if (!replay_take_words(c, "func", &funcs) || !replay_take_words(c, "set", &set) ||
		!replay_take_words(c, "data", &data) ||
		!replay_take_words(c, "include", &includes) || !replay_backend_options(c, &msprof))
		return cli_fail(c);
	q.funcs = funcs.v;
	q.n_funcs = funcs.n;
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

const struct verb verb_profile = {
	.name = "profile",
	.args = "",
	.summary = "run every kernel of a build and rank them by cost",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = options,
	.min_args = 0,
	.max_args = 0,
	.run = run_profile,
};
