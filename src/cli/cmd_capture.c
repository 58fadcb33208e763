/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_capture.c: incore capture att: a thread trace, taken and judged. */
#include <unistd.h>

#include "capture/att.h"
#include "cli/output.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"

static const struct option_def att_options[] = {
	{0, "kernel", OPTION_TEXT, "REGEX", NULL, NULL,
		"kernels by name; without it the one that takes most time"},
	{0, "exclude", OPTION_TEXT, "REGEX", NULL, NULL, "not these"},
	{0, "launch", OPTION_TEXT, "SET", NULL, NULL,
		"launches per kernel id, from 1: 6 or 2,5-8 (default: the second)"},
	{0, "cu", OPTION_COUNT, "N", NULL, NULL, "CU (WGP on RDNA) with detail (default: 1)"},
	{0, "se", OPTION_TEXT, "MASK", NULL, NULL, "shader engines (default: 0x1)"},
	{0, "simd", OPTION_TEXT, "SELECT", NULL, NULL, "gfx9: a mask; RDNA: one id"},
	{0, "buffer", OPTION_TEXT, "BYTES", NULL, NULL,
		"shared by all shader engines: 96M, 0x6000000 (default: by the kernel's time)"},
	{0, "gpu", OPTION_TEXT, "LIST", NULL, NULL, "indices of the GPUs to trace"},
	{0, "counters", OPTION_TEXT, "LIST", NULL, NULL, "SQ counters in the trace (gfx9)"},
	{0, "activity", OPTION_COUNT, "N", NULL, NULL, "activity counters, 1 to 16 (gfx9)"},
	{0, "retries", OPTION_COUNT, "N", NULL, "4", "attempts after the first"},
	{0, "timeout", OPTION_COUNT, "SECONDS", NULL, "0", "of each run; 0: none"},
	{0, "no-discovery", OPTION_FLAG, NULL, NULL, NULL,
		"no run that lists launches first; --kernel is needed"},
	{0, "keep-raw", OPTION_FLAG, NULL, NULL, NULL, "keep what rocprofv3 wrote"},
	{0, "list", OPTION_FLAG, NULL, NULL, NULL, "only list kernels and launches"},
	{0, "dry-run", OPTION_FLAG, NULL, NULL, NULL, "print what would be done; run nothing"},
	{0, "attach", OPTION_COUNT, "PID", NULL, NULL, "a running process instead of APP"},
	{0, "tool", OPTION_TEXT, "PATH", NULL, NULL, "the program to use"},
	{'o', "output", OPTION_TEXT, "DIR", NULL, "capture", "results; new or empty"},
	OPTION_END,
};

/* "96M", "2G", "0x6000000". */
static bool take_size(struct cli *c, const char *name, uint64_t *out)
{
	struct str s = str_of(cli_text(c, name));
	unsigned shift = str_ends(s, "K") ? 10 : str_ends(s, "M") ? 20 : str_ends(s, "G") ? 30 : 0;

	*out = NO_COUNT;
	if (!s.n)
		return true;
	if (shift)
		s.n--;
	if (!str_to_u64(s, out) || *out > UINT64_MAX >> 31)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--%s: expected a number, found '%s'", name, cli_text(c, name));
	*out <<= shift;
	return true;
}

static uint64_t count_or_none(struct cli *c, const char *name)
{
	return cli_has(c, name) ? cli_count(c, name) : NO_COUNT;
}

/* app: room for all words and a NULL. */
static bool take_request(struct cli *c, const char **app, struct att_request *q)
{
	memcpy(app, c->args, c->n_args * sizeof(*app));
	*q = (struct att_request){.app = app,
		.attach_pid = count_or_none(c, "attach"),
		.rocprofv3 = cli_text(c, "tool"),
		.dir = cli_text(c, "output"),
		.kernel = cli_text(c, "kernel"),
		.exclude = cli_text(c, "exclude"),
		.launches = cli_text(c, "launch"),
		.cu = count_or_none(c, "cu"),
		.gpus = cli_text(c, "gpu"),
		.counters = cli_text(c, "counters"),
		.activity = count_or_none(c, "activity"),
		.retries = cli_count(c, "retries"),
		.limit_s = cli_count(c, "timeout"),
		.has_no_discovery = cli_flag(c, "no-discovery") || cli_has(c, "attach"),
		.keeps_raw = cli_flag(c, "keep-raw"),
		.echo_fd = cli_flag(c, "verbose") ? STDERR_FILENO : 0,
		.pool = c->pool,
		.progress = c->progress,
		.is_cancelled = output_interrupted,
		.cancel_signal = output_signal};
	if (!c->n_args == (q->attach_pid == NO_COUNT))
		return err_set(&c->error, INCORE_USAGE, "missing-argument",
			"%s needs an application, or --attach PID, and not both; usage: incore %s [options] -- APP [ARG...]",
			c->verb->name, c->verb->name);
	if (q->has_no_discovery && (!q->kernel || cli_flag(c, "list")))
		return err_set(&c->error, INCORE_USAGE, "missing-option",
			"without a discovery run --kernel says what to capture, and there is no list");
	return take_size(c, "se", &q->se_mask) && take_size(c, "simd", &q->simd) &&
	       take_size(c, "buffer", &q->buffer_bytes);
}

/* --- what it prints --- */

struct app_input {
	const char *command;
};
static const struct column app_columns[] = {
	COLUMN(app_input, command, UNIT_NONE, "the application and its arguments, as for a shell"),
};
static const struct record app_record = RECORD_OF(app_input, RECORD_BLOCK, app_columns);

static bool print_json(struct cli *c, const struct att *a)
{
	struct strbuf command = {0};
	bool ok;

	process_quote(a->q->app, &command);
	ok = (!command.failed || err_nomem(&c->error)) &&
	     cli_json(c, &app_record, &(struct app_input){command.p ? command.p : ""}, &att_record,
		     &a->answer);
	sb_free(&command);
	return ok;
}

static bool print_kernels(struct cli *c, const struct att_answer *a)
{
	static const char *const columns[] = {"launches", "total_us=total us", "mean_us=mean us",
		"longest_us=longest us", "share", "first_dispatch=first", "id", "name", NULL};

	return record_table_print(
		c, &att_kernel_record, (struct rows){a->kernels.v, a->kernels.n}, columns);
}

static void print_attempt(struct cli *c, const struct att_attempt *t)
{
	say(c->out, "attempt %llu: %s\n", (unsigned long long)t->number, t->because);
	say(c->out, "  launch %s, CU %llu, SE mask 0x%llx, buffer %llu MiB: %s\n", t->launches,
		(unsigned long long)t->cu, (unsigned long long)t->se_mask,
		(unsigned long long)(t->buffer_bytes >> 20), t->outcome);
	for (size_t i = 0; i < t->captures.n; i++) {
		const struct att_capture *x = &t->captures.v[i];

		say(c->out, "  dispatch %lld", (long long)x->dispatch);
		if (x->launch != NO_VALUE)
			say(c->out, ", launch %lld", (long long)x->launch);
		say(c->out, " of %s: %llu wave%s, %s\n", x->kernel ? x->kernel : "(no name)",
			(unsigned long long)x->waves, plural(x->waves), x->health);
	}
}

static void print_result(struct cli *c, const struct att_answer *a)
{
	for (size_t i = 0; i < a->attempts.n; i++)
		print_attempt(c, &a->attempts.v[i]);
	for (size_t i = 0; i < a->attempts.n; i++)
		for (size_t k = 0; k < a->attempts.v[i].captures.n; k++)
			if (a->attempts.v[i].captures.v[k].file)
				say(c->out, "%s\n", a->attempts.v[i].captures.v[k].file);
	if (a->repeat)
		say(c->out, "again: %s\n", a->repeat);
}

/* --- runs --- */

/* One run of the plan: its configuration and its command, or a row of the JSON. */
static bool plan_run(struct cli *c, struct att *a, const char *name, const struct att_window *w,
	const char *because)
{
	struct strbuf yaml = {0}, command = {0}, launches = {0};
	struct str rest, line;
	const char *folder = arena_printf(&a->arena, "%s/%s", a->q->dir, name);
	const char *input = folder ? arena_printf(&a->arena, "%s/input.yaml", folder) : NULL;
	const char *raw = folder ? arena_printf(&a->arena, "%s/raw", folder) : NULL;
	const char *const *argv = input ? att_command(a, input) : NULL;
	struct att_attempt row;
	bool ok;

	if (!argv || !raw)
		return err_nomem(&c->error);
	process_quote(argv, &command);
	ok = att_put_yaml(a, w, raw, because, &yaml, &c->error) &&
	     (!command.failed || err_nomem(&c->error));
	if (ok && !c->use_json) {
		say(c->out, "%s:\n", input);
		for (rest = (struct str){yaml.p, yaml.n}; str_cut(&rest, "\n", &line) && line.n;)
			say(c->out, "%.*s\n", STR_ARG(line));
		say(c->out, "$ %s\n\n", command.p);
	} else if (ok && w) {
		att_put_set(&w->launches, "", "", &launches);
		row = (struct att_attempt){.number = 1,
			.because = because,
			.input = input,
			.launches = arena_strndup(&a->arena, launches.p, launches.n),
			.log = "",
			.command = arena_strdup(&a->arena, command.p),
			.cu = w->cu,
			.se_mask = w->se_mask,
			.simd = w->simd,
			.buffer_bytes = w->buffer_bytes,
			.outcome = "planned"};
		ok = (row.command && row.launches && VEC_PUSH(&a->answer.attempts, row)) ||
		     err_nomem(&c->error);
	}
	sb_free(&yaml);
	sb_free(&command);
	sb_free(&launches);
	return ok;
}

static bool print_plan(struct cli *c, struct att *a)
{
	bool is_list = cli_flag(c, "list");

	a->answer.verdict = "planned";
	if (!c->use_json)
		say(c->out, "rocprofv3 %s: %s\n\n", a->tool.version, a->tool.path);
	if (!a->q->has_no_discovery && !plan_run(c, a, "discovery", NULL, ATT_DISCOVERY_REASON))
		return false;
	if (!a->window.kernel)
		a->window.kernel = "(the kernel that takes most time)";
	if (!a->window.launches.ranges.n && /* as far as is known before the discovery run */
		!number_set_parse(&a->window.launches, STR("2"), "--launch", &c->error))
		return false;
	if (!is_list && !plan_run(c, a, "attempt_1", &a->window, ATT_FIRST_REASON))
		return false;
	if (c->use_json)
		return print_json(c, a);
	if (is_list)
		return true;
	say(c->out, "then, up to %llu more attempts:\n", (unsigned long long)a->q->retries);
	say(c->out,
		"  records lost: the buffer times 4, up to 1536 MiB; then one shader engine; then one SIMD (gfx9)\n"
		"  no wave on the target CU: where waves ran; else SE mask 0x11111111, 0xffffffff, the next CU\n"
		"  no wave did any work: the longest launch that was not tried\n"
		"  another kernel or launch than was asked for: exit status 1\n");
	return true;
}

static bool run_att(struct cli *c, struct att *a)
{
	bool ok;

	if (!att_prepare(a, &c->error))
		return false;
	if (cli_flag(c, "dry-run"))
		return print_plan(c, a);
	output_finish_on_signals();
	ok = cli_flag(c, "list") ? att_discover(a, &c->error) : att_take(a, &c->error);
	for (size_t i = 0; i < a->answer.warnings.n; i++)
		cli_warn(c, "%s", a->answer.warnings.v[i]);
	c->is_no = a->is_no;
	c->app_status = ok ? 0 : a->app_status;
	if (!ok && !a->answer.attempts.n)
		return false;
	if (c->use_json)
		return print_json(c, a) && ok;
	if (cli_flag(c, "list"))
		return print_kernels(c, &a->answer) && ok;
	print_result(c, &a->answer);
	return ok;
}

static bool run(struct cli *c)
{
	const char **app = mem_zalloc(c->n_args + 1, sizeof(*app));
	struct att_request q;
	struct att a;
	bool ok;

	if (!app)
		return err_nomem(&c->error);
	if (!take_request(c, app, &q)) {
		mem_free(app);
		return false;
	}
	att_init(&a, &q);
	ok = run_att(c, &a);
	att_deinit(&a);
	mem_free(app);
	return ok;
}

static const struct verb verb_capture_att = {
	.name = "capture att",
	.args = "-- APP [ARG...]",
	.summary =
		"take a thread trace with rocprofv3, judge it, and try again as the findings say",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = att_options,
	.max_args = UINT32_MAX,
	.run = run,
	.records = RECORDS(&att_record),
	.inputs = RECORDS(&app_record),
};

const struct verb verb_capture = {
	.name = "capture",
	.args = "KIND -- APP [ARG...]",
	.summary = "take a capture with a vendor's tool, and judge it",
	.subs = (const struct verb *const[]){&verb_capture_att, NULL},
};
