/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c: runs one recorded dispatch again. */
#include "replay/replay.h"
#include "answer/rows.h"
#include "args/words.h"
#include "base/file.h"
#include "base/process.h"
#include "page/page.h"
#include "replay/msprof/msprof.h"
#include "replay/source/kernel_config.h"
#include "verbs/means_options.h"

struct replay_params {
	struct replay_request q;
	unsigned platform; /* two for each target */
	const char *case_word;
	bool is_list;
};

static const struct option_def options[] = {
	{OPT_DUMP, NULL, NULL, "path of the args dump, of any generation",
		OPTION_FIELD(replay_params, q.dump)},
	OPTION_LINKS(replay_params, q.follow_links),
	{OPT_TASK, NULL, NULL, "task to replay, in hex or decimal",
		OPTION_FIELD(replay_params, q.task)},
	{OPT_DISPATCH, NULL, NULL, "dispatch to replay, if the dump numbers dispatches",
		OPTION_FIELD(replay_params, q.dispatch)},
	{OPT_FUNC_IDS, NULL, NULL, "the kernel's func id, or all ids of a mixed task",
		OPTION_FIELD(replay_params, q.funcs)},
	{OPT_BLOCK, NULL, NULL, "replay one block of the task; default: all",
		OPTION_FIELD(replay_params, q.block)},
	{OPT_SOURCE, NULL, NULL, "source file of the kernel; once per func id",
		OPTION_FIELD(replay_params, q.sources)},
	{OPT_CASE, NULL, NULL,
		OPTION_RARE
		"case of the MODULE.py (default: its first); or path of a kernel_config.py",
		OPTION_FIELD(replay_params, case_word), .only_named = true},
	{OPT_LIST_CASES, NULL, NULL, OPTION_RARE "list the cases of the MODULE.py and exit",
		OPTION_FIELD(replay_params, is_list), .only_named = true},
	{OPT_IMPORT_CASE, NULL, NULL,
		OPTION_RARE "the module computes its lists: import it in a sandbox",
		OPTION_FIELD(replay_params, q.imports_case), .only_named = true},
	{OPT_KERNEL_NAME, NULL, NULL, OPTION_RARE "name of the kernel in the module",
		OPTION_FIELD(replay_params, q.kernel), .only_named = true},
	{OPT_ARG_SPEC, NULL, NULL, "arguments as JSON, instead of or on top of a dump",
		OPTION_FIELD(replay_params, q.arg_spec)},
	{OPT_SET_ARG, NULL, NULL, "set a scalar, or every element of a tensor",
		OPTION_FIELD(replay_params, q.set)},
	{OPT_RESTORE_ARG, NULL, NULL, "require that the slot's bytes come from the dump",
		OPTION_FIELD(replay_params, q.restore)},
	{OPT_CORE_TYPES, NULL, "auto", "where each source runs: aic, aiv, mix, or auto",
		OPTION_FIELD(replay_params, q.cores)},
	{OPT_TARGET, "a2a3|a5", "a2a3", "chip generation", OPTION_FIELD(replay_params, q.target)},
	{OPT_PROFILE, NULL, NULL, "model: machine profile to use",
		OPTION_FIELD(replay_params, q.means.profile)},
	{OPT_BLOCKS, NULL, "1", "number of blocks of a replay without a dump",
		OPTION_FIELD(replay_params, q.n_blocks)},
	MEANS_COMPILE_OPTIONS(replay_params),
	{OPT_FORCE, NULL, NULL, "continue with a slot that is known to be wrong",
		OPTION_FIELD(replay_params, q.force)},
	{OPT_DEBUG_LINE, NULL, NULL, "msprof: keep source lines",
		OPTION_FIELD(replay_params, q.means.has_debug_lines)},
	{OPT_DRY_RUN, NULL, NULL, "write the workspace, but start nothing",
		OPTION_FIELD(replay_params, q.means.is_dry)},
	MEANS_BACKEND_OPTIONS(replay_params),
	{OPT_OUTPUT_FOLDER, NULL, NULL, "folder of the replay; new or empty",
		OPTION_FIELD(replay_params, q.out_dir)},
	{OPT_DUMP_DIR, .alias_of = "dump"},
	{OPT_TASK_ID, .alias_of = "task"},
	{OPT_DISPATCH_ID, .alias_of = "dispatch"},
	{OPT_FUNC_ID, .alias_of = "func"},
	{OPT_KERNEL_SOURCE, .alias_of = "source"},
	{OPT_HW_BLOCK_NUM, .alias_of = "blocks"},
	{OPT_PLATFORM, "a2a3|a2a3sim|a5|a5sim", NULL,
		OPTION_RARE "--target by the name of a platform",
		OPTION_FIELD(replay_params, platform), .only_named = true},
	{OPT_OUTPUT_DIR, .alias_of = "output"},
	OPTION_END,
};

/* --- the answer --- */

static void shape_text(const struct arg *s, char *out, size_t size)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->n_dims && n < size; i++)
		n += (size_t)snprintf(
			out + n, size - n, "%s%llu", i ? "x" : "", (unsigned long long)s->shape[i]);
}

struct slot_row {
	uint32_t slot;
	const char *kind, *dtype, *from;
	/* tensors only */
	struct rows shape, strides;
	uint64_t start_offset, buffer, buffer_bytes;
	const uint64_t *bits;		/* scalars only */
	const char *shape_line, *value; /* only in tables */
	char shape_held[80], value_held[24];
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
		.words = "dump|zeros|not supplied|set|arg-spec|recipe|made up"),
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
		.from = args_origin(args, s),
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
		snprintf(x->value_held, sizeof(x->value_held), "0x%llx",
			(unsigned long long)s->bits);
	}
}

struct replayed {
	const char *task, *kernel, *class_name, *class_because, *backend, *target, *evidence;
	uint64_t blocks;
	struct rows slots, remarks;
	const char *workspace, *simulator, *verdict;
	const char *made_up, *assumed, *degenerate; /* "" if there is none */
	bool is_partial, is_degenerate;
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
	COLUMN(replayed, is_degenerate, UNIT_NONE,
		"the kernel ran but did less than its source says"),
	COLUMN(replayed, degenerate, UNIT_NONE, "why it did less, and what cures it"),
	COLUMN_AS(replayed, made_up, "made_up_control", UNIT_NONE,
		"values that decide how much the kernel does and that nobody gave; empty: none"),
	COLUMN_AS(replayed, assumed, "assumed_control", UNIT_NONE,
		"values that decide how much it does and follow from its .pto: full shape"),
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

static void fill_replayed(
	struct replayed *x, const struct replay_report *r, struct slot_row slots[ARG_CONTEXT_SLOT])
{
	x->kernel = r->label;
	x->class_name = kernel_class_name(r->kernel_class);
	x->class_because = r->class_reason;
	x->backend = r->backend->name;
	x->target = op_arch_name(r->target);
	x->evidence = r->backend->evidence;
	x->blocks = r->args.rows.n;
	x->remarks = (struct rows){r->args.remarks.v, r->args.remarks.n};
	x->workspace = r->workspace;
	x->simulator = r->outcome.simulator_dir ? r->outcome.simulator_dir : "";
	x->is_partial = r->outcome.is_partial;
	x->verdict = r->outcome.verdict;
	x->degenerate = r->look.degenerate ? r->look.degenerate : "";
	x->is_degenerate = r->look.degenerate != NULL;
	x->slots = (struct rows){slots, 0};
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
		if (r->args.slots[i].is_used)
			fill_slot(&slots[x->slots.n++], &r->args, i);
}

static const char *control_text(struct answer *a, const struct args *args, enum arg_control kind)
{
	struct strbuf b = {0};
	const char *text;

	args_control(args, kind, &b);
	text = b.failed ? NULL : arena_strndup(&a->arena, b.p ? b.p : "", b.n);
	sb_free(&b);
	return text;
}

static bool answer_replay(const struct replay_request *q, const struct replay_report *r,
	struct answer *a, struct incore_error *e)
{
	struct replay_input *in = ANSWER_NEW(a, replay_input, e);
	struct replayed *x = ANSWER_NEW(a, replayed, e);
	struct slot_row *slots = answer_alloc(a, ARG_CONTEXT_SLOT, sizeof(*slots), e);

	if (!in || !x || !slots)
		return false;
	*in = (struct replay_input){q->dump ? q->dump : "", q->arg_spec ? q->arg_spec : ""};
	fill_replayed(x, r, slots);
	x->task = "";
	if (r->has_task)
		x->task = arena_printf(&a->arena, "0x%016llx", (unsigned long long)r->task);
	x->made_up = control_text(a, &r->args, ARG_MADE_UP);
	x->assumed = control_text(a, &r->args, ARG_ASSUMED);
	if (!x->task || !x->made_up || !x->assumed)
		return err_nomem(e);
	a->n_losses += *x->made_up || x->is_degenerate;
	if (r->outcome.warning)
		answer_warn(a, "%s", r->outcome.warning);
	for (uint32_t i = 0; i < r->outcome.n_cuts; i++)
		answer_warn(a, "left out by insight: %s %s: %s", U64_TEXT(r->outcome.cuts[i].count),
			r->outcome.cuts[i].code, r->outcome.cuts[i].message);
	answer_about(a, &input_record, in);
	answer_set(a, &replayed_record, x);
	return true;
}

/* --- the request --- */

/* Returns the command line for the provenance; NULL with is_there: no memory. */
static const char *command_line(const struct request *r, struct answer *a)
{
	struct strbuf b = {0};
	const char *text;

	sb_puts(&b, "incore replay ");
	process_quote(r->words, &b);
	text = b.failed ? NULL : arena_strndup(&a->arena, b.p, b.n);
	sb_free(&b);
	return text;
}

static void drop_report(struct replay_report *r)
{
	replay_report_deinit(r);
	mem_free(r);
}

/* --- cases --- */

static const struct column case_columns[] = {
	COLUMN(config_case, name, UNIT_NONE, "name of the case"),
	COLUMN(config_case, platforms, UNIT_NONE, "platforms that it is for"),
	COLUMN(config_case, is_manual, UNIT_NONE, "it is run only where it is named"),
	COLUMN(config_case, params, UNIT_NONE, "its parameters"),
};
static const struct record case_record = RECORD_OF(config_case, RECORD_BLOCK, case_columns);

struct case_list {
	struct rows cases;
};
static const struct column list_columns[] = {
	LIST(case_list, cases, &case_record, "the cases of the module, the default first"),
};
static const struct record list_record = RECORD_OF(case_list, RECORD_BLOCK, list_columns);

static bool list_cases(const struct replay_request *q, struct answer *a, struct incore_error *e)
{
	enum config_way way = !q->imports_case	   ? CONFIG_PARSED
			      : q->means.is_unsafe ? CONFIG_IMPORTED_UNSAFE
						   : CONFIG_IMPORTED;
	struct replay_input *in = ANSWER_NEW(a, replay_input, e);
	struct case_list *all = ANSWER_NEW(a, case_list, e);
	config_kernels kernels = {0};
	config_cases cases = {0};
	struct config_case *v = NULL;
	uint32_t hidden = 0;
	bool ok = in && all &&
		  config_module_read(&a->arena, q->case_file, way, &kernels, &cases, &hidden, e);

	v = ok ? ANSWER_ROWS(a, &all->cases, cases.n, config_case, e) : NULL;
	for (size_t i = 0; v && i < cases.n; i++)
		v[i] = cases.v[i];
	if (v && hidden)
		answer_warn(a, "%s: cases of line %u are computed: --import-case shows them",
			q->case_file, hidden);
	VEC_FREE(&cases);
	VEC_FREE(&kernels);
	if (!v)
		return false;
	*in = (struct replay_input){"", ""};
	answer_about(a, &input_record, in);
	answer_set(a, &list_record, all);
	return true;
}

/* A module and the name of one of its cases; or, as before, the path of a module as the case. */
static bool take_module(const struct request *r, const struct replay_params *p,
	struct replay_request *q, struct incore_error *e)
{
	q->is_module = r->n_paths > 0 || p->is_list;
	q->case_file = r->n_paths ? r->paths[0] : p->case_word;
	q->case_name = r->n_paths ? p->case_word : NULL;
	if (r->n_paths || !p->case_word || file_exists(p->case_word) || strchr(p->case_word, '/') ||
		str_ends(str_of(p->case_word), ".py"))
		return !p->is_list || q->case_file ||
		       err_set(e, INCORE_USAGE, "no-module", "--list-cases is for a MODULE.py");
	return err_set(e, INCORE_USAGE, "no-module",
		"--case %s: no such file; the name of a case goes with its module: incore replay MODULE.py --case %s",
		p->case_word, p->case_word);
}

static bool replay_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct replay_params *p = r->params;
	struct replay_request q = p->q;
	struct replay_report *report;

	if (!take_module(r, p, &q, e))
		return false;
	if (p->is_list)
		return list_cases(&q, a, e);
	if (!request_given(r, &p->q.cores))
		q.cores = NULL;
	if (!request_given(r, &p->q.n_blocks))
		q.n_blocks = NO_COUNT;
	if (p->platform != NO_CHOICE)
		q.target = p->platform / 2;
	else if (!request_given(r, &p->q.target))
		q.target = NO_CHOICE;
	if (!msprof_check_options(&q.means.msprof, e))
		return false;
	if (r->words && !(q.command = command_line(r, a)))
		return err_nomem(e);
	if (r->signals)
		r->signals->hold(false);
	q.means.is_cancelled = request_is_cancelled;
	q.means.cancel_ctx = (void *)r;
	report = mem_zalloc(1, sizeof(*report));
	if (!report)
		return err_nomem(e);
	if (replay_run(&q, report, e))
		return ANSWER_KEEP(a, report, drop_report, e) && answer_replay(&q, report, a, e);
	drop_report(report);
	return false;
}

static void replay_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {
		"slot", "kind", "dtype", "shape_line", "buffer_bytes", "value", "from", NULL};
	static const char *const of_case[] = {"name", "platforms", "is_manual", "params", NULL};
	const struct replayed *x = a->data;
	const struct text_item *remarks = x->remarks.v;

	if (answer_is(a, &list_record)) {
		page_main_records(
			p, &case_record, ((const struct case_list *)a->data)->cases, of_case);
		return;
	}

	if (*x->task)
		page_say(p, "task %s, ", x->task);
	page_line(p, "kernel %s, %s (%s), %llu block%s", x->kernel, x->class_name, x->class_because,
		(unsigned long long)x->blocks, plural(x->blocks));
	page_records(p, &slot_record, x->slots, columns);
	for (size_t i = 0; i < x->remarks.n; i++)
		page_line(p, "note: %s", remarks[i].v);
	if (*x->assumed)
		page_line(p, "full shape: %s", x->assumed);
	if (*x->made_up)
		page_line(p, "WARN made-up control values: %s", x->made_up);
	if (*x->degenerate)
		page_line(p, "WARN degenerate: %s", x->degenerate);
	page_line(p, "workspace %s", x->workspace);
	if (*x->simulator)
		page_line(p, "insight   %s", x->simulator);
	page_line(p, "%s", x->verdict);
}

const struct question question_replay = {
	.name = "replay",
	.args = "[MODULE.py]",
	.max_paths = 1,
	.summary = "run one recorded dispatch of a kernel again, off its machine",
	.options = options,
	.params_size = sizeof(struct replay_params),
	.records = RECORDS(&list_record, &replayed_record),
	.inputs = RECORDS(&input_record),
	.ask = replay_ask,
	.page = replay_page,
};
