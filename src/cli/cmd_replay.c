/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_replay.c: runs one recorded dispatch again. */
#include "answer/rows.h"
#include "base/process.h"
#include "cli/draw.h"
#include "cli/output.h"
#include "cli/replay/replay_options.h"
#include "dump/read/select.h"
#include "dump/read/values.h"
#include "page/say.h"
#include "replay/backend_model.h"
#include "replay/source/kernel_config.h"

#define MAX_FUNCS 16
#define MAX_BLOCKS 4096

static const struct option_def options[] = {
	{OPT_DUMP, NULL, NULL, "path of the args dump, of any generation"},
	LINKS_OPTION,
	{OPT_TASK, NULL, NULL, "task to replay, in hex or decimal"},
	{OPT_DISPATCH, NULL, NULL, "dispatch to replay, if the dump numbers dispatches"},
	{OPT_FUNC_IDS, NULL, NULL, "the kernel's func id, or all ids of a mixed task"},
	{OPT_BLOCK, NULL, NULL, "replay one block of the task; default: all"},
	{OPT_SOURCE, NULL, NULL, "source file of the kernel; once per func id"},
	{OPT_CASE, NULL, NULL,
		OPTION_RARE "path of the kernel_config.py with the sources of --func or --kernel",
		.only_named = true},
	{OPT_IMPORT_CASE, NULL, NULL, OPTION_RARE "--case is a scene test: import it in a sandbox",
		.only_named = true},
	{OPT_KERNEL_NAME, NULL, NULL, OPTION_RARE "name of the kernel in --case",
		.only_named = true},
	{OPT_ARG_SPEC, NULL, NULL, "arguments as JSON, instead of or on top of a dump"},
	{OPT_SET_ARG, NULL, NULL, "set a scalar, or every element of a tensor"},
	{OPT_RESTORE_ARG, NULL, NULL, "require that the slot's bytes come from the dump"},
	{OPT_CORE_TYPES, NULL, "auto", "where each source runs: aic, aiv, mix, or auto"},
	{OPT_TARGET, "a2a3|a5", "a2a3", "chip generation"},
	{OPT_PROFILE, NULL, NULL, "model: machine profile to use"},
	{OPT_BLOCKS, NULL, "1", "number of blocks of a replay without a dump"},
	REPLAY_COMPILE_OPTIONS,
	{OPT_FORCE, NULL, NULL, "continue with a slot that is known to be wrong"},
	{OPT_DEBUG_LINE, NULL, NULL, "msprof: keep source lines"},
	{OPT_DRY_RUN, NULL, NULL, "write the workspace, but start nothing"},
	REPLAY_BACKEND_OPTIONS,
	{OPT_DUMP_DIR, NULL, NULL, OPTION_SAME "dump"},
	{OPT_TASK_ID, NULL, NULL, OPTION_SAME "task"},
	{OPT_DISPATCH_ID, NULL, NULL, OPTION_SAME "dispatch"},
	{OPT_FUNC_ID, NULL, NULL, OPTION_SAME "func"},
	{OPT_KERNEL_SOURCE, NULL, NULL, OPTION_SAME "source"},
	{OPT_PLATFORM, "a2a3|a2a3sim|a5|a5sim", NULL, OPTION_SAME "target"},
	{OPT_OUTPUT_DIR, NULL, NULL, OPTION_SAME "output"},
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
	const char *task = replay_either(c, "task", "task-id"), *target;

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
	target = cli_text(c, cli_has(c, "platform") ? "platform" : "target");
	q->has_target = cli_has(c, "platform") || cli_has(c, "target");
	q->form = strcmp(cli_text(c, "backend"), "ptoas") == 0	   ? FORM_TYPED
		  : strcmp(cli_text(c, "backend"), "simpler") == 0 ? FORM_ENTRY
								   : FORM_ANY;
	q->target = strncmp(target, "a5", 2) == 0 ? ARCH_A5 : ARCH_A2A3;
	if (cli_has(c, "blocks") &&
		(!cli_count(c, "blocks") || cli_count(c, "blocks") > MAX_BLOCKS))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--blocks takes 1 to %d", MAX_BLOCKS);
	q->n_blocks = cli_has(c, "blocks") ? (uint32_t)cli_count(c, "blocks") : 0;
	return true;
}

/* Parses a core, and the lanes of a vector core if they are given. */
static bool take_core(struct str word, enum kernel_core *core, uint8_t *lanes)
{
	static const char *const NAMES[] = {"aiv0", "aiv1", "aiv01"};

	for (uint8_t i = 0; i < 3; i++)
		if (str_is(word, NAMES[i])) {
			*core = KERNEL_ON_AIV;
			*lanes = i + 1;
			return true;
		}
	return kernel_core_of(word, core);
}

static bool take_cores(struct cli *c, struct replay_request *q)
{
	struct str rest = str_of(cli_text(c, "core")), part;
	unsigned n = 0;

	for (; rest.n && str_cut(&rest, ",", &part); n++)
		if (n == REPLAY_MAX_MEMBERS ||
			!take_core(str_trim(part), &q->cores[n], &q->lanes[n]))
			return err_set(&c->error, INCORE_USAGE, "bad-option-value",
				"--core: expected auto, aic, aiv, aiv0, aiv1, aiv01 or mix, once a source with commas between, found '%s'",
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

static const char *origin_text(const struct arg *s)
{
	static const char *const TEXTS[] = {"", "dump", "zeros", "set", "arg-spec"};

	if (s->origin == ARG_NO_BYTES)
		return s->is_read ? "not supplied" : "zeros";
	return TEXTS[s->origin];
}

struct slot_row {
	uint32_t slot;
	const char *kind, *dtype, *from;
	/* tensors only */
	struct rows shape, strides;
	uint64_t start_offset, buffer, buffer_bytes;
	const uint64_t *bits;		/* scalars only */
	const char *shape_line, *value; /* only in tables */
	char shape_held[80], value_held[ELEMENT_TEXT];
};
static const struct column slot_columns[] = {
	COLUMN(slot_row, slot, UNIT_INDEX, "number of the argument"),
	COLUMN(slot_row, kind, UNIT_NONE, "kind of the argument", .words = "tensor|scalar"),
	COLUMN(slot_row, dtype, UNIT_NONE, "type of the argument's elements"),
	LIST(slot_row, shape, &number_item_record, "dimensions of the tensor, in elements",
		OPTIONAL),
	LIST(slot_row, strides, &number_item_record, "strides of the dimensions, in elements",
		OPTIONAL),
	COLUMN(slot_row, start_offset, UNIT_COUNT,
		"elements of the buffer before the first one of the tensor", OPTIONAL),
	COLUMN(slot_row, buffer, UNIT_INDEX, "number of the buffer that holds the tensor",
		OPTIONAL),
	COLUMN(slot_row, buffer_bytes, UNIT_BYTES, "size of the buffer that holds the tensor",
		.title = "bytes", .flags = COLUMN_OPTIONAL | COLUMN_BLANK),
	POINTER(slot_row, bits, &number_item_record, "bits of the scalar", OPTIONAL),
	COLUMN(slot_row, from, UNIT_NONE, "source of the argument's contents",
		.words = "dump|zeros|not supplied|set|arg-spec"),
	COLUMN(slot_row, shape_line, UNIT_NONE, "dimensions of the tensor as text",
		.title = "shape", NO_JSON),
	COLUMN(slot_row, value, UNIT_NONE, "bits of the scalar", NO_JSON),
};
static const struct record slot_record = RECORD_OF(slot_row, RECORD_BLOCK, slot_columns);

static void fill_slot(struct slot_row *x, const struct args *args, uint32_t slot)
{
	const struct arg *s = &args->slots[slot];

	*x = (struct slot_row){.slot = slot,
		.kind = s->is_tensor ? "tensor" : "scalar",
		.dtype = dtype_name(s->dtype),
		.from = origin_text(s),
		.start_offset = NO_U64,
		.buffer = NO_U64,
		.buffer_bytes = NO_U64,
		.shape_line = x->shape_held,
		.value = x->value_held};
	if (s->is_tensor) {
		x->shape = (struct rows){s->shape, s->n_dims};
		x->strides = (struct rows){s->strides, s->n_dims};
		x->start_offset = s->start_offset;
		x->buffer = s->buffer;
		x->buffer_bytes = args->buffers.v[s->buffer].n;
		shape_text(s, x->shape_held, sizeof(x->shape_held));
	} else {
		x->bits = &s->bits;
		snprintf(x->value_held, ELEMENT_TEXT, "0x%llx", (unsigned long long)s->bits);
	}
}

struct replayed {
	const char *task, *kernel, *class_name, *class_because, *backend, *target, *evidence;
	uint64_t blocks;
	struct rows slots, remarks;
	const char *workspace, *simulator, *verdict;
	bool is_partial;
};
static const struct column replayed_columns[] = {
	COLUMN(replayed, task, UNIT_NONE, "id of the task; empty: no task was asked for"),
	COLUMN(replayed, kernel, UNIT_NONE, "name of the kernel in traces and folders"),
	COLUMN_AS(replayed, class_name, "class", UNIT_NONE, "cores that the kernel needs",
		.words = "aic-only|aiv-only|spmd-mix"),
	COLUMN(replayed, class_because, UNIT_NONE, "where the class comes from"),
	COLUMN(replayed, backend, UNIT_NONE, "backend that ran the kernel",
		.words = "model|msprof"),
	COLUMN(replayed, target, UNIT_NONE, "generation of the chip", .words = "a2a3|a5"),
	COLUMN(replayed, evidence, UNIT_NONE, "what the figures of the result rest on",
		.words = "estimate|vendor-simulator"),
	COLUMN(replayed, blocks, UNIT_COUNT, "blocks that ran"),
	LIST(replayed, slots, &slot_record, "arguments of the kernel"),
	LIST(replayed, remarks, &text_item_record, "remarks that matter for reading the result",
		.flags = COLUMN_BLOCK),
	COLUMN(replayed, workspace, UNIT_NONE, "folder of the run"),
	COLUMN(replayed, simulator, UNIT_NONE, "folder of the trace; empty: nothing was run"),
	COLUMN(replayed, is_partial, UNIT_NONE,
		"the run was cut off by a time limit, so there is no total time"),
	COLUMN(replayed, verdict, UNIT_NONE, "result of the replay"),
};
static const struct record replayed_record = RECORD_OF(replayed, RECORD_BLOCK, replayed_columns);

struct replay_input {
	const char *dump, *arg_spec;
};
static const struct column input_columns[] = {
	COLUMN(replay_input, dump, UNIT_NONE, "path of the args dump; empty: none"),
	COLUMN(replay_input, arg_spec, UNIT_NONE, "path of the arguments as JSON; empty: none"),
};
static const struct record input_record = RECORD_OF(replay_input, RECORD_BLOCK, input_columns);

static bool print_text(struct cli *c, const struct replayed *x)
{
	static const char *const columns[] = {
		"slot", "kind", "dtype", "shape_line", "buffer_bytes", "value", "from", NULL};
	const struct text_item *remarks = x->remarks.v;

	if (*x->task)
		say(c->out, "task %s, ", x->task);
	say(c->out, "kernel %s, %s (%s), %llu block%s\n", x->kernel, x->class_name,
		x->class_because, (unsigned long long)x->blocks, plural(x->blocks));
	if (!record_table_print(c, &slot_record, x->slots, columns))
		return false;
	for (size_t i = 0; i < x->remarks.n; i++)
		say(c->out, "note: %s\n", remarks[i].v);
	say(c->out, "workspace %s\n", x->workspace);
	if (*x->simulator)
		say(c->out, "insight   %s\n", x->simulator);
	say(c->out, "%s\n", x->verdict);
	return true;
}

struct replay_lists { /* options that may be repeated; the request points into them */
	struct arena arena;
	config_kernels kernels; /* from --case */
	struct replay_words sources, set, restore, defines, includes;
	int32_t funcs[MAX_FUNCS];
};

/* Takes the sources of the func ids, or of a kernel name, from the list of the build (--case). */
static bool take_case(struct cli *c, struct replay_lists *l, struct replay_request *q)
{
	const char *file = cli_text(c, "case"), *name = cli_text(c, "kernel");
	const struct config_kernel *k;
	enum config_way way = !cli_flag(c, "import-case")    ? CONFIG_PARSED
			      : cli_flag(c, "unsafe-native") ? CONFIG_IMPORTED_UNSAFE
							     : CONFIG_IMPORTED;

	if (!file)
		return (!name && way == CONFIG_PARSED) ||
		       err_set(&c->error, INCORE_USAGE, "missing-option",
			       "%s is for --case FILE, and none is named",
			       name ? "--kernel NAME" : "--import-case");
	if (l->sources.n || !name == !q->n_funcs)
		return err_set(&c->error, INCORE_USAGE, "contradiction",
			"--case takes --func or --kernel, one of them, and no --source");
	if (!kernel_config_read(&l->arena, file, way, &l->kernels, &c->error))
		return false;
	q->n_funcs += name != NULL;
	for (unsigned i = 0; i < q->n_funcs; i++) {
		k = kernel_config_find(&l->kernels, name, l->funcs[i], &c->error);
		if (!k)
			return false;
		l->funcs[i] = (int32_t)k->func;
		l->sources.v[l->sources.n++] =
			k->source; /* too many are refused by plan_members() */
		if (!cli_has(c, "core") && i < REPLAY_MAX_MEMBERS)
			kernel_core_of(str_of(k->core), &q->cores[i]);
	}
	if (!q->dump) /* they only served to find the sources */
		q->n_funcs = 0;
	return true;
}

static bool take_request(struct cli *c, struct replay_lists *l, struct replay_request *q)
{
	if (!replay_take_words(c, cli_has(c, "source") ? "source" : "kernel-source", &l->sources) ||
		!replay_take_words(c, "set-arg", &l->set) ||
		!replay_take_words(c, "restore-arg", &l->restore) ||
		!replay_take_words(c, "define", &l->defines) ||
		!replay_take_words(c, "include", &l->includes))
		return false;
	if (!take_funcs(c, l->funcs, &q->n_funcs) || !take_identity(c, q) || !take_case(c, l, q))
		return false;
	q->funcs = l->funcs;
	q->sources = l->sources.v;
	q->n_sources = l->sources.n;
	q->set = l->set.v;
	q->n_set = l->set.n;
	q->restore = l->restore.v;
	q->n_restore = l->restore.n;
	q->defines = l->defines.v;
	q->n_defines = l->defines.n;
	q->include_dirs = l->includes.v;
	q->n_include_dirs = l->includes.n;
	return take_cores(c, q);
}

static bool answer_replay(
	struct cli *c, const struct replay_request *q, const struct replay_report *r)
{
	struct replay_input in = {q->dump ? q->dump : "", q->arg_spec ? q->arg_spec : ""};
	struct slot_row slots[ARG_CONTEXT_SLOT];
	char task[32] = "";
	struct replayed x = {.task = task,
		.kernel = r->label,
		.class_name = kernel_class_name(r->kernel_class),
		.class_because = r->class_reason,
		.backend = q->backend->name,
		.target = op_arch_name(r->target),
		.evidence = q->backend->evidence,
		.blocks = r->args.rows.n,
		.slots = {slots, 0},
		.remarks = {r->args.remarks.v, r->args.remarks.n},
		.workspace = r->workspace,
		.simulator = r->outcome.simulator_dir ? r->outcome.simulator_dir : "",
		.is_partial = r->outcome.is_partial,
		.verdict = r->outcome.verdict};

	if (r->has_task)
		snprintf(task, sizeof(task), "0x%016llx", (unsigned long long)r->task);
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
		if (r->args.slots[i].is_used)
			fill_slot(&slots[x.slots.n++], &r->args, i);
	if (r->outcome.warning)
		cli_warn(c, "%s", r->outcome.warning);
	return c->use_json ? cli_json(c, &input_record, &in, &replayed_record, &x)
			   : print_text(c, &x);
}

static bool run_replay(struct cli *c)
{
	struct replay_lists lists = {0};
	struct msprof_options msprof;
	struct model_options model = {
		.profile = cli_text(c, "profile"), .is_unsafe = cli_flag(c, "unsafe-native")};
	struct replay_request q = {.dump = replay_either(c, "dump", "dump-dir"),
		.follow_links = cli_flag(c, "follow-links"),
		.arg_spec = cli_text(c, "arg-spec"),
		.out_dir = replay_either(c, "output", "output-dir"),
		.is_dry = cli_flag(c, "dry-run"),
		.has_debug_lines = cli_flag(c, "debug-line"),
		.force = cli_flag(c, "force"),
		.progress = c->progress,
		.is_cancelled = output_interrupted,
		.backend = backend_find(cli_text(c, "backend"))};
	struct replay_report r = {0};
	struct strbuf command = {0};
	bool ok;

	arena_init(&lists.arena);
	if (!take_request(c, &lists, &q) || !replay_backend_options(c, &msprof)) {
		VEC_FREE(&lists.kernels);
		arena_deinit(&lists.arena);
		return false;
	}
	q.backend_options = q.backend == &backend_msprof ? (const void *)&msprof : &model;
	sb_puts(&command, "incore replay ");
	process_quote(c->words, &command);
	q.command = command.p;
	output_finish_on_interrupt();
	ok = command.failed ? err_nomem(&c->error)
			    : replay_run(&q, &r, &c->error) && answer_replay(c, &q, &r);
	replay_report_deinit(&r);
	sb_free(&command);
	VEC_FREE(&lists.kernels);
	arena_deinit(&lists.arena);
	return ok;
}

const struct verb verb_replay = {
	.name = "replay",
	.summary = "run one recorded dispatch of a kernel again, off its machine",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = options,
	.run = run_replay,
	.records = RECORDS(&replayed_record),
	.inputs = RECORDS(&input_record),
};
