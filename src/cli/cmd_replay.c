/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_replay.c: one recorded dispatch, run again. */
#include "base/process.h"
#include "cli/output.h"
#include "cli/replay_options.h"
#include "cli/text/table.h"
#include "dump/read/select.h"
#include "dump/read/values.h"
#include "replay/backend_model.h"

#define MAX_FUNCS 16
#define MAX_BLOCKS 4096

static const struct option_def options[] = {
	{0, "dump", OPTION_TEXT, "DIR", NULL, NULL, "the args dump, of any generation"},
	{0, "follow-links", OPTION_FLAG, NULL, NULL, NULL,
		"read also what links of the dump lead to outside of it"},
	{0, "task", OPTION_TEXT, "ID", NULL, NULL, "the task, in hex or decimal"},
	{0, "dispatch", OPTION_COUNT, "N", NULL, NULL, "the dispatch, where the dump numbers them"},
	{0, "func", OPTION_TEXT, "ID[,ID...]", NULL, NULL,
		"the kernel's func id, or all ids of a mixed task"},
	{0, "block", OPTION_COUNT, "N", NULL, NULL,
		"one block of the task; without it all of them"},
	{0, "source", OPTION_MANY, "FILE", NULL, NULL, "the kernel's source; once per func id"},
	{0, "arg-spec", OPTION_TEXT, "FILE", NULL, NULL,
		"arguments as JSON, instead of or over a dump"},
	{0, "set-arg", OPTION_MANY, "SLOT=VALUE", NULL, NULL,
		"set a scalar, or every element of a tensor"},
	{0, "restore-arg", OPTION_MANY, "SLOT", NULL, NULL,
		"insist that the slot's bytes come from the dump"},
	{0, "core", OPTION_TEXT, "TYPE[,TYPE...]", NULL, "auto",
		"where each source runs: aic, aiv, mix, or auto"},
	{0, "target", OPTION_CHOICE, "NAME", "a2a3|a5", "a2a3", "the generation of the chip"},
	{0, "profile", OPTION_TEXT, "NAME", NULL, NULL, "model: the machine profile"},
	{0, "blocks", OPTION_COUNT, "N", NULL, "1", "blocks of a replay without a dump"},
	{'I', "include", OPTION_MANY, "DIR", NULL, NULL, "a folder of the kernel's headers"},
	{0, "force", OPTION_FLAG, NULL, NULL, NULL, "go on with a slot that is known to be wrong"},
	{'g', "debug-line", OPTION_FLAG, NULL, NULL, NULL, "msprof: keep source lines"},
	{0, "dry-run", OPTION_FLAG, NULL, NULL, NULL, "write the workspace, start nothing"},
	REPLAY_BACKEND_OPTIONS,
	{0, "dump-dir", OPTION_TEXT, "DIR", NULL, NULL, OPTION_SAME "dump"},
	{0, "task-id", OPTION_TEXT, "ID", NULL, NULL, OPTION_SAME "task"},
	{0, "dispatch-id", OPTION_COUNT, "N", NULL, NULL, OPTION_SAME "dispatch"},
	{0, "func-id", OPTION_TEXT, "ID[,ID...]", NULL, NULL, OPTION_SAME "func"},
	OPTION_END,
};

static bool take_funcs(struct cli *c, int32_t funcs[MAX_FUNCS], unsigned *n)
{
	struct str rest = str_of(replay_either(c, "func", "func-id")), part;

	for (*n = 0; rest.n && str_cut(&rest, ",", &part); ++*n) {
		int64_t id;

		if (*n == MAX_FUNCS || !str_to_i64(str_trim(part), &id) || id < 0 || id > INT32_MAX)
			return err_set(&c->error, INCORE_USAGE, "bad-option-value",
				"--func: expected func ids with commas between, found '%.*s'",
				STR_ARG(part));
		funcs[*n] = (int32_t)id;
	}
	return true;
}

static bool take_identity(struct cli *c, struct replay_request *q)
{
	const char *task = replay_either(c, "task", "task-id");

	q->has_task = task != NULL;
	if (task && !dump_task_parse(task, &q->task))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--task: expected a task id in hex or decimal, found '%s'", task);
	q->has_dispatch = cli_has(c, "dispatch") || cli_has(c, "dispatch-id");
	q->dispatch = cli_count(c, cli_has(c, "dispatch") ? "dispatch" : "dispatch-id");
	q->has_block = cli_has(c, "block");
	if (cli_count(c, "block") >= UINT32_MAX)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value", "--block: too large");
	q->block = (uint32_t)cli_count(c, "block");
	q->target = strcmp(cli_text(c, "target"), "a5") == 0 ? TARGET_A5 : TARGET_A2A3;
	if (cli_has(c, "blocks") &&
		(!cli_count(c, "blocks") || cli_count(c, "blocks") > MAX_BLOCKS))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--blocks takes 1 to %d", MAX_BLOCKS);
	q->n_blocks = cli_has(c, "blocks") ? (uint32_t)cli_count(c, "blocks") : 0;
	return true;
}

static bool take_cores(struct cli *c, struct replay_request *q)
{
	struct str rest = str_of(cli_text(c, "core")), part;
	unsigned n = 0;

	for (; rest.n && str_cut(&rest, ",", &part); n++)
		if (n == REPLAY_MAX_MEMBERS || !kernel_core_of(str_trim(part), &q->cores[n]))
			return err_set(&c->error, INCORE_USAGE, "bad-option-value",
				"--core: expected auto, aic, aiv or mix, once a source with commas between, found '%s'",
				cli_text(c, "core"));
	if (cli_has(c, "core") && n != q->n_sources)
		return err_set(&c->error, INCORE_USAGE, "cores-and-sources",
			"--core has %u words for %u sources", n, q->n_sources);
	return true;
}

/* --- the answer --- */

static void shape_text(const struct arg *s, char *out, size_t size)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->n_dims && n < size; i++)
		n += (size_t)snprintf(
			out + n, size - n, "%s%llu", i ? "x" : "", (unsigned long long)s->shape[i]);
}

static const char *origin_text(const struct replay_report *r, uint32_t i)
{
	static const char *const TEXTS[] = {"", "dump", "zeros", "set", "arg-spec"};
	const struct arg *s = &r->args.slots[i];

	if (s->origin == ARG_NO_BYTES)
		return s->is_read ? "not supplied" : "zeros";
	return TEXTS[s->origin];
}

static bool print_slots(struct cli *c, const struct replay_report *r)
{
	static const struct table_column columns[] = {{"slot", NULL, CELL_RIGHT, false},
		{"kind", NULL, CELL_LEFT, false}, {"dtype", NULL, CELL_LEFT, false},
		{"shape", NULL, CELL_LEFT, false}, {"bytes", NULL, CELL_RIGHT, false},
		{"value", NULL, CELL_LEFT, false}, {"from", NULL, CELL_LEFT, false}};
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(*columns));
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
		const struct arg *s = &r->args.slots[i];
		char shape[80] = "", value[VALUE_TEXT] = "";

		if (!s->is_used)
			continue;
		if (s->is_tensor)
			shape_text(s, shape, sizeof(shape));
		table_u64(&t, i);
		table_cstr(&t, s->is_tensor ? "tensor" : "scalar");
		table_cstr(&t, dtype_name(s->dtype));
		table_cstr(&t, shape);
		if (s->is_tensor)
			table_u64(&t, r->args.buffers.v[s->buffer].n);
		else
			table_cstr(&t, "");
		if (!s->is_tensor)
			snprintf(value, sizeof(value), "0x%llx", (unsigned long long)s->bits);
		table_cstr(&t, value);
		table_cstr(&t, origin_text(r, i));
	}
	ok = table_print(&t, c);
	table_deinit(&t);
	return ok;
}

static int print_text(struct cli *c, const struct replay_report *r)
{
	if (r->has_task)
		fprintf(c->out, "task 0x%016llx, ", (unsigned long long)r->task);
	fprintf(c->out, "kernel %s, %s (%s), %zu block%s\n", r->label,
		kernel_class_name(r->kernel_class), r->class_reason, r->args.rows.n,
		plural(r->args.rows.n));
	if (!print_slots(c, r))
		return cli_fail(c);
	for (size_t i = 0; i < r->args.remarks.n; i++)
		fprintf(c->out, "note: %s\n", r->args.remarks.v[i]);
	fprintf(c->out, "workspace %s\n", r->workspace);
	if (r->outcome.simulator_dir)
		fprintf(c->out, "insight   %s\n", r->outcome.simulator_dir);
	fprintf(c->out, "%s\n", r->outcome.verdict);
	return INCORE_OK;
}

static void put_slot(struct json_writer *w, const struct replay_report *r, uint32_t i)
{
	const struct arg *s = &r->args.slots[i];

	json_w_object(w);
	json_w_kv_u64(w, "slot", i);
	json_w_kv_cstr(w, "kind", s->is_tensor ? "tensor" : "scalar");
	json_w_kv_cstr(w, "dtype", dtype_name(s->dtype));
	if (s->is_tensor) {
		arg_put_dims(w, "shape", s->shape, s->n_dims);
		arg_put_dims(w, "strides", s->strides, s->n_dims);
		json_w_kv_u64(w, "start_offset", s->start_offset);
		json_w_kv_u64(w, "buffer", s->buffer);
		json_w_kv_u64(w, "buffer_bytes", r->args.buffers.v[s->buffer].n);
	} else {
		json_w_kv_u64(w, "bits", s->bits);
	}
	json_w_kv_cstr(w, "from", origin_text(r, i));
	json_w_end(w);
}

static int print_json(struct cli *c, const struct replay_request *q, const struct replay_report *r)
{
	struct json_writer w;
	char id[32];

	cli_json_head(c, &w);
	json_w_object(&w);
	json_w_kv_cstr(&w, "dump", q->dump ? q->dump : "");
	json_w_kv_cstr(&w, "arg_spec", q->arg_spec ? q->arg_spec : "");
	json_w_end(&w);
	json_w_key(&w, "data");
	json_w_object(&w);
	snprintf(id, sizeof(id), "0x%016llx", (unsigned long long)r->task);
	json_w_kv_cstr(&w, "task", r->has_task ? id : "");
	json_w_kv_cstr(&w, "kernel", r->label);
	json_w_kv_cstr(&w, "class", kernel_class_name(r->kernel_class));
	json_w_kv_cstr(&w, "class_because", r->class_reason);
	json_w_kv_cstr(&w, "backend", q->backend->name);
	json_w_kv_cstr(&w, "target", replay_target_name(r->target));
	json_w_kv_cstr(&w, "evidence", q->backend->evidence);
	json_w_kv_u64(&w, "blocks", r->args.rows.n);
	json_w_key(&w, "slots");
	json_w_array(&w);
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
		if (r->args.slots[i].is_used)
			put_slot(&w, r, i);
	json_w_end(&w);
	json_w_key(&w, "remarks");
	json_w_array(&w);
	for (size_t i = 0; i < r->args.remarks.n; i++)
		json_w_str(&w, str_of(r->args.remarks.v[i]));
	json_w_end(&w);
	json_w_kv_cstr(&w, "workspace", r->workspace);
	json_w_kv_cstr(&w, "simulator", r->outcome.simulator_dir ? r->outcome.simulator_dir : "");
	json_w_kv_bool(&w, "is_partial", r->outcome.is_partial);
	json_w_kv_cstr(&w, "verdict", r->outcome.verdict);
	json_w_end(&w);
	return cli_json_end(c, &w) ? INCORE_OK : cli_fail(c);
}

struct replay_lists { /* options that may be repeated; the request points into them */
	struct replay_words sources, set, restore, includes;
	int32_t funcs[MAX_FUNCS];
};

static bool take_request(struct cli *c, struct replay_lists *l, struct replay_request *q)
{
	if (!replay_take_words(c, "source", &l->sources) ||
		!replay_take_words(c, "set-arg", &l->set) ||
		!replay_take_words(c, "restore-arg", &l->restore) ||
		!replay_take_words(c, "include", &l->includes))
		return false;
	if (!take_funcs(c, l->funcs, &q->n_funcs) || !take_identity(c, q))
		return false;
	q->funcs = l->funcs;
	q->sources = l->sources.v;
	q->n_sources = l->sources.n;
	q->set = l->set.v;
	q->n_set = l->set.n;
	q->restore = l->restore.v;
	q->n_restore = l->restore.n;
	q->include_dirs = l->includes.v;
	q->n_include_dirs = l->includes.n;
	return take_cores(c, q);
}

static int fail_replay(struct cli *c)
{
	int status = cli_fail(c);

	return output_interrupted(NULL) ? INTERRUPTED_STATUS : status;
}

static int answer_replay(
	struct cli *c, const struct replay_request *q, const struct replay_report *r)
{
	if (r->outcome.warning)
		cli_warn(c, "%s", r->outcome.warning);
	return c->use_json ? print_json(c, q, r) : print_text(c, r);
}

static int run_replay(struct cli *c)
{
	struct replay_lists lists;
	struct msprof_options msprof;
	struct model_options model = {.profile = cli_text(c, "profile")};
	struct replay_request q = {.dump = replay_either(c, "dump", "dump-dir"),
		.follow_links = cli_flag(c, "follow-links"),
		.arg_spec = cli_text(c, "arg-spec"),
		.out_dir = cli_text(c, "output"),
		.is_dry = cli_flag(c, "dry-run"),
		.has_debug_lines = cli_flag(c, "debug-line"),
		.force = cli_flag(c, "force"),
		.progress = c->progress,
		.is_cancelled = output_interrupted,
		.backend = backend_find(cli_text(c, "backend"))};
	struct replay_report r = {0};
	struct strbuf command = {0};
	int status;

	if (!take_request(c, &lists, &q) || !replay_backend_options(c, &msprof))
		return cli_fail(c);
	q.backend_options = q.backend == &backend_msprof ? (const void *)&msprof : &model;
	sb_puts(&command, "incore replay ");
	process_quote(c->words, &command);
	q.command = command.p;
	output_finish_on_interrupt();
	if (command.failed) {
		err_nomem(&c->error);
		status = fail_replay(c);
	} else if (!replay_run(&q, &r, &c->error)) {
		status = fail_replay(c);
	} else {
		status = answer_replay(c, &q, &r);
	}
	replay_report_deinit(&r);
	sb_free(&command);
	return status;
}

const struct verb verb_replay = {
	.name = "replay",
	.args = "",
	.summary = "run one recorded dispatch of a kernel again, off its machine",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = options,
	.min_args = 0,
	.max_args = 0,
	.run = run_replay,
};
