/* SPDX-License-Identifier: Apache-2.0 */
/* capture_ncu.c: incore capture ncu: kernels under NVIDIA's Nsight Compute. */
#include <unistd.h>

#include "capture/ncu.h"
#include "cli/capture.h"
#include "cli/output.h"
#include "page/say.h"

#define FIELD(M) OPTION_FIELD(ncu_request, M)

static const struct option_def ncu_options[] = {
	{OPT_KERNEL, NULL, NULL, "only kernels whose name matches; default: all", FIELD(kernel)},
	{OPT_LAUNCH_SKIP, NULL, "0", "launches to skip first", FIELD(skip)},
	{OPT_LAUNCH_COUNT, NULL, "1", "number of launches to profile; 0: all", FIELD(count)},
	{OPT_SECTIONS, NULL, NULL, "section identifiers of ncu (default: those that incore uses)",
		FIELD(sections)},
	{OPT_SET, NULL, NULL, "use a section set of ncu instead: full, basic", FIELD(set)},
	{OPT_CLOCK_CONTROL, NULL, "none", "none: leave the clock as it is; base: ncu locks it",
		FIELD(clock)},
	{OPT_CACHE_CONTROL, NULL, "all", "all: empty caches before each replay; none: leave them",
		FIELD(cache)},
	{OPT_TIMEOUT, NULL, "0", "time limit of the run; 0: none", FIELD(limit_s)},
	{OPT_KEEP_RAW, NULL, NULL, "keep the report of ncu", FIELD(keeps_raw)},
	{OPT_DRY_RUN, NULL, NULL, "print what would be done; run nothing", FIELD(is_dry)},
	{OPT_TOOL, NULL, NULL, "path of the ncu to use", FIELD(tool)},
	{OPT_OUTPUT_FOLDER, NULL, "capture", "folder for results; new or empty", FIELD(dir)},
	OPTION_END,
};

static bool check_request(struct cli *c, const struct ncu_request *q)
{
	if (strcmp(q->clock, "none") != 0 && strcmp(q->clock, "base") != 0)
		return err_set(&c->error, INCORE_USAGE, "bad-value",
			"--clock-control is none or base, not %s", q->clock);
	if (strcmp(q->cache, "all") != 0 && strcmp(q->cache, "none") != 0)
		return err_set(&c->error, INCORE_USAGE, "bad-value",
			"--cache-control is all or none, not %s", q->cache);
	if (q->set && q->sections)
		return err_set(&c->error, INCORE_USAGE, "bad-value",
			"--set and --sections exclude each other");
	return true;
}

static void print_result(struct cli *c, const struct ncu_answer *a)
{
	for (size_t i = 0; i < a->captures.n; i++) {
		const struct ncu_file *f = &a->captures.v[i];

		say(c->out, "%s: %llu sample%s, %s\n", f->kernel, (unsigned long long)f->samples,
			plural(f->samples), f->health);
	}
	for (size_t i = 0; i < a->captures.n; i++)
		say(c->out, "%s\n", a->captures.v[i].file);
	if (!a->captures.n)
		say(c->out, "ncu profiled nothing; log %s\n", a->log);
}

static bool run_ncu(struct cli *c, struct ncu *n)
{
	bool ok;

	if (!n->q->is_dry)
		output_finish_on_signals();
	ok = ncu_take(n, &c->error);
	for (size_t i = 0; i < n->answer.warnings.n; i++)
		if (n->answer.warnings.v[i])
			cli_warn(c, "%s", n->answer.warnings.v[i]);
	c->is_no = ok && n->is_no && !n->q->is_dry;
	c->app_status = ok ? 0 : n->app_status;
	if (!ok && !n->answer.captures.n)
		return false;
	if (c->use_json)
		return capture_print_json(c, n->q->drive.app, &ncu_record, &n->answer) && ok;
	if (n->q->is_dry)
		say(c->out, "ncu %s: %s\n$ %s\n", n->answer.version, n->answer.tool,
			n->answer.command);
	else
		print_result(c, &n->answer);
	return ok;
}

static bool run(struct cli *c)
{
	struct ncu_request q = {.drive = capture_drive(c)};
	const char **app = capture_app(c, ncu_options, &q);
	struct ncu n;
	bool ok = app && check_request(c, &q);

	q.drive.app = app;
	if (ok) {
		ncu_init(&n, &q);
		ok = run_ncu(c, &n);
		ncu_deinit(&n);
	}
	mem_free(app);
	return ok;
}

const struct verb verb_capture_ncu = {
	.name = "capture ncu",
	.args = "-- APP [ARG...]",
	.summary = "profile kernels with Nsight Compute, and pack its report",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = ncu_options,
	.max_args = UINT32_MAX,
	.run = run,
	.records = RECORDS(&ncu_record),
	.inputs = RECORDS(&capture_app_record),
};
