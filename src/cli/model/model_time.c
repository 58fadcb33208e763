/* SPDX-License-Identifier: Apache-2.0 */
/* model_time.c: incore model time: an op stream to a timed trace; the second half of model run. */
#include "cli/model/model_report.h"
#include "cli/text/say.h"

static const struct option_def options[] = {
	MODEL_TIMING_OPTIONS,
	OPTION_END,
};

static bool same_arch(struct cli *c, const struct opstream_set *set)
{
	if (!set->v.n)
		return err_set(&c->error, INCORE_BAD_INPUT, "empty-opstream",
			"%s: no op stream is in it", c->args[0]);
	for (size_t i = 1; i < set->v.n; i++)
		if (set->v.v[i].arch != set->v.v[0].arch)
			return err_set(&c->error, INCORE_BAD_INPUT, "mixed-arch",
				"%s: its streams are of different architectures", c->args[0]);
	return true;
}

static bool tell(struct cli *c, const struct model_report *r, const char *dir)
{
	for (size_t i = 0; i < r->timed->findings.n; i++)
		c->n_losses += !model_is_note(&r->timed->findings.v[i]);
	return c->use_json ? model_json_report(c, r, dir) : model_text_report(c, r);
}

/* Told first, put in place last: what fails leaves nothing. */
static bool write_and_tell(struct cli *c, const struct model_report *r, const char *dir)
{
	struct out_dir d = {.fd = -1};
	bool ok = (!dir || model_write_dir(c, dir, r, &d)) && tell(c, r, dir);

	if (cli_flag(c, "strict") && c->n_losses)
		dir = NULL; /* nothing is written; the program says why */
	ok = ok && (!dir || out_dir_commit(&d, &c->error));
	if (ok && dir && !c->use_json && !c->use_csv)
		say(c->out, "\nwritten to %s; see incore hot %s/trace.incore\n", dir, dir);
	out_dir_abort(&d);
	return ok;
}

bool model_cli_time(struct cli *c, const struct opstream_set *set)
{
	const char *dir = cli_text(c, "output");
	struct timed timed;
	struct profile p;
	struct model_report r = {.set = set, .profile = &p, .timed = &timed};
	struct engine_options o = {.profile = &p,
		.keep_slices = dir != NULL,
		.find_races = true,
		.allow_unknown = cli_flag(c, "allow-unknown")};
	bool ok;

	if (!same_arch(c, set) || !model_cli_profile(c, set->v.v[0].arch, &p))
		return false;
	ok = engine_run(set, &o, &timed, &c->error);
	if (ok) {
		ok = write_and_tell(c, &r, dir);
		timed_deinit(&timed);
	}
	profile_deinit(&p);
	return ok;
}

static bool run_model_time(struct cli *c)
{
	struct opstream_set set;
	bool ok;

	opstream_set_init(&set);
	ok = opstream_load(&set, c->args[0], &c->error) && model_cli_time(c, &set);
	opstream_set_deinit(&set);
	return ok;
}

const struct verb model_verb_time = {
	.name = "model time",
	.args = "OPSTREAM",
	.summary = "time an op stream: a trace, and what is wrong with it",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_OWN_FILE,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run_model_time,
	.records = model_report_records,
	.inputs = model_inputs,
};
