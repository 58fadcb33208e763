/* SPDX-License-Identifier: Apache-2.0 */
/* model_time.c: incore model time: an op stream to a timed trace; second half of model run. */
#include "cli/model/model_report.h"
#include "page/say.h"

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

/* Prints the report first and commits the directory last, so that a failure leaves nothing. */
static bool write_and_tell(struct cli *c, const struct model_report *r, const char *dir)
{
	struct out_dir d = {.fd = -1};
	bool ok = (!dir || model_write_dir(c, dir, r, &d)) && tell(c, r, dir);

	if (cli_flag(c, "strict") && c->n_losses)
		dir = NULL; /* nothing is written; main.c reports why */
	ok = ok && (!dir || out_dir_commit(&d, &c->error));
	if (ok && dir && !c->use_json && !c->use_csv)
		say(c->out, "\nwritten to %s; see incore hot %s/trace.incore\n", dir, dir);
	out_dir_abort(&d);
	return ok;
}

/* Takes the load from --active-cores, and from --cached which arguments are cached. */
static bool take_load(
	struct cli *c, struct engine_options *o, uint16_t cold_permille[OPSTREAM_SLOTS])
{
	uint64_t cores = cli_count(c, "active-cores"), slot;

	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++)
		cold_permille[i] = 1000;
	for (unsigned i = 0; i < cli_many(c, "cached"); i++) {
		if (!str_to_u64(str_of(cli_many_at(c, "cached", i)), &slot) ||
			slot >= OPSTREAM_SLOTS)
			return err_set(&c->error, INCORE_USAGE, "bad-option-value",
				"--cached: expected a slot, 0 to %d, found '%s'",
				OPSTREAM_SLOTS - 1, cli_many_at(c, "cached", i));
		cold_permille[slot] = 0;
	}
	if (cores < 1 || cores > 1000)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--active-cores: expected 1 to 1000, found %llu",
			(unsigned long long)cores);
	o->active_permille = (uint32_t)(1000 * cores);
	o->cold_permille = cold_permille;
	return true;
}

bool model_cli_time(struct cli *c, const struct opstream_set *set)
{
	uint16_t cold_permille[OPSTREAM_SLOTS];
	const char *dir = cli_text(c, "output");
	struct timed timed;
	struct profile p;
	struct model_report r = {.set = set, .profile = &p, .timed = &timed};
	struct engine_options o = {.profile = &p,
		.keep_slices = dir != NULL,
		.find_races = true,
		.allow_unknown = cli_flag(c, "allow-unknown")};
	bool ok;

	if (!take_load(c, &o, cold_permille) || !same_arch(c, set) ||
		!model_cli_profile(c, set->v.v[0].arch, &p))
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
