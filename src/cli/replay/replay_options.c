/* SPDX-License-Identifier: Apache-2.0 */
/* replay_options.c: values of the options that `replay` and `profile` share. */
#include "cli/replay/replay_options.h"

const char *replay_either(const struct cli *c, const char *name, const char *legacy)
{
	return cli_has(c, name)	    ? cli_text(c, name)
	       : cli_has(c, legacy) ? cli_text(c, legacy)
				    : NULL;
}

bool replay_backend_options(struct cli *c, struct msprof_options *out)
{
	uint64_t minutes = cli_count(c, cli_has(c, "timeout") ? "timeout" : "msprof-timeout");
	uint64_t launches = cli_count(c, "launch-count");

	if (minutes < 1 || minutes > MSPROF_MAX_MINUTES)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--msprof-timeout takes 1 to %d minutes, not %llu", MSPROF_MAX_MINUTES,
			(unsigned long long)minutes);
	if (launches < 1 || launches > 5000)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--launch-count takes 1 to 5000, not %llu", (unsigned long long)launches);
	if (cli_count(c, "device") > 63)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--device takes 0 to 63, not %llu",
			(unsigned long long)cli_count(c, "device"));
	*out = (struct msprof_options){.has_device = cli_has(c, "device"),
		.device = (uint32_t)cli_count(c, "device"),
		.cann = {.home = cli_text(c, "cann-home"),
			.set_env = cli_text(c, "cann-set-env"),
			.soc = cli_text(c, "soc-version"),
			.arch = cli_text(c, "aicore-arch"),
			.pto_isa = cli_text(c, "pto-isa-root")},
		.launch_count = (uint32_t)launches,
		.timeout_minutes = (uint32_t)minutes};
	return true;
}

bool replay_take_words(struct cli *c, const char *name, struct replay_words *out)
{
	out->n = cli_many(c, name);
	if (out->n > REPLAY_MAX_WORDS)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--%s more than %d times", name, REPLAY_MAX_WORDS);
	for (unsigned i = 0; i < out->n; i++)
		out->v[i] = cli_many_at(c, name, i);
	return true;
}
