/* SPDX-License-Identifier: Apache-2.0 */
/* model_common.c: options and output shared by the verbs of `incore model`. */
#include "args/spec.h"
#include "cli/draw.h"
#include "cli/model/model_job.h"
#include "cli/options.h"

static bool wanted_arch(const struct cli *c, enum opstream_arch *out)
{
	const char *text = cli_text(c, "arch");

	*out = text && strcmp(text, "a5") == 0 ? ARCH_A5 : ARCH_A2A3;
	return text != NULL;
}

static bool set_switch(struct cli *c, struct profile *p, struct str word)
{
	struct str name, value = word;
	bool on, *to;

	if (!str_cut(&value, "=", &name))
		name = word;
	on = str_is(value, "on");
	to = str_is(name, "v_overlap")	  ? &p->v_overlap
	     : str_is(name, "dma_serial") ? &p->dma_serial
					  : NULL;
	if (!to || (!on && !str_is(value, "off")))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--set: expected v_overlap or dma_serial, and =on or =off, found '%.*s'",
			STR_ARG(word));
	*to = on;
	return true;
}

bool model_cli_profile(struct cli *c, enum opstream_arch arch, struct profile *p)
{
	const char *name = cli_text(c, "profile");

	if (!profile_load(p, name, arch, &c->error))
		return false;
	for (unsigned i = 0; i < cli_many(c, "set"); i++) {
		if (!set_switch(c, p, str_of(cli_many_at(c, "set", i)))) {
			profile_deinit(p);
			return false;
		}
	}
	if (p->arch == arch)
		return true;
	err_set(&c->error, INCORE_BAD_INPUT, "wrong-profile",
		"profile %s is for %s; the %s is for %s", p->name, op_arch_name(p->arch),
		cli_text(c, "arch") ? "architecture asked for" : "op stream", op_arch_name(arch));
	profile_deinit(p);
	return false;
}

bool model_cli_arch(struct cli *c, enum opstream_arch *out)
{
	struct profile p;

	if (wanted_arch(c, out) || !cli_text(c, "profile"))
		return true;
	if (!profile_load(&p, cli_text(c, "profile"), *out, &c->error))
		return false;
	*out = p.arch;
	profile_deinit(&p);
	return true;
}

static bool read_args(struct cli *c, struct args *a)
{
	const char *file = cli_text(c, "arg-spec");

	if (file && !args_load_spec(a, file, &c->error))
		return false;
	for (unsigned i = 0; i < cli_many(c, "args"); i++)
		if (!args_add_word(a, cli_many_at(c, "args", i), &c->error))
			return false;
	for (size_t i = 0; i < a->remarks.n; i++)
		cli_warn(c, "%s", a->remarks.v[i]);
	return true;
}

static bool check_counts(struct cli *c, struct record_options *o)
{
	uint64_t blocks = cli_count(c, "blocks"), num = cli_count(c, "block-num");
	uint64_t limit = cli_count(c, "time-limit");

	if (blocks < 1 || blocks > MODEL_MAX_BLOCKS)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--blocks: expected 1 to %d, found %llu", MODEL_MAX_BLOCKS,
			(unsigned long long)blocks);
	if (cli_has(c, "block-num") && (num < blocks || num > MODEL_MAX_BLOCKS))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--block-num: expected --blocks (%llu) to %d, found %llu",
			(unsigned long long)blocks, MODEL_MAX_BLOCKS, (unsigned long long)num);
	if (limit < 1 || limit > 3600)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--time-limit: expected 1 to 3600 seconds, found %llu",
			(unsigned long long)limit);
	o->blocks = (uint32_t)blocks;
	o->block_num = (uint32_t)num;
	o->run_limit_s = (unsigned)limit;
	return true;
}

/* The values of an option that may be repeated; *v is on the heap. */
static bool list_of(struct cli *c, const char *name, const char *const **v, size_t *n)
{
	const char **list;

	*n = cli_many(c, name);
	list = mem_zalloc(*n ? *n : 1, sizeof(*list));
	if (!list)
		return err_nomem(&c->error);
	for (unsigned i = 0; i < *n; i++)
		list[i] = cli_many_at(c, name, i);
	*v = list;
	return true;
}

bool model_cli_record(struct cli *c, enum opstream_arch arch, struct opstream_set *out)
{
	/* a slow compiler on a busy machine is not the kernel's fault */
	struct record_options o = {.kernel = c->args[0],
		.kernel_aiv = cli_text(c, "aiv"),
		.arch = arch,
		.is_unsafe = cli_flag(c, "unsafe-native"),
		.compile_limit_s = MODEL_COMPILE_LIMIT_S};
	struct record_info info;
	struct args a;
	bool ok;

	args_init(&a);
	kernel_core_of(
		str_of(cli_text(c, "core")), &o.cores); /* a valid word: the parser checked it */
	o.args = &a;
	ok = check_counts(c, &o) && read_args(c, &a) &&
	     list_of(c, "define", &o.defines, &o.n_defines) &&
	     list_of(c, "include", &o.include_dirs, &o.n_include_dirs) &&
	     record_kernel(&o, out, &info, &c->error);
	mem_free((void *)o.defines);
	mem_free((void *)o.include_dirs);
	args_deinit(&a);
	return ok;
}

struct model_input {
	const char *path, *arch;
};
static const struct column input_columns[] = {
	COLUMN(model_input, path, UNIT_NONE, "path that was read", OPTIONAL),
	COLUMN(model_input, arch, UNIT_NONE, "generation of the chip", .words = MODEL_ARCHS,
		OPTIONAL),
};
static const struct record input_record = RECORD_OF(model_input, RECORD_BLOCK, input_columns);
const struct record *const model_inputs[] = {&input_record, NULL};

bool model_json(
	struct cli *c, const char *path, const char *arch, const struct record *r, const void *data)
{
	return cli_json(c, &input_record, &(struct model_input){path, arch}, r, data);
}

static const struct column profile_columns[] = {
	COLUMN(profile_row, name, UNIT_NONE, "name of the profile"),
	COLUMN(profile_row, arch, UNIT_NONE, "generation of the chip that the profile is for",
		.words = MODEL_ARCHS),
	COLUMN(profile_row, soc, UNIT_NONE, "machine that the profile is for"),
	COLUMN(profile_row, clock_mhz, UNIT_MHZ,
		"frequency of the clock that cycles are counted in", .digits = 4),
	COLUMN(profile_row, calibration, UNIT_NONE, "what the constants of the profile rest on",
		.words = "uncalibrated|published-constants|local-device|local-camodel"),
	COLUMN(profile_row, sha256, UNIT_NONE,
		"SHA-256 of the profile file together with that of its base"),
	COLUMN(profile_row, v_overlap, UNIT_NONE, "vector ops follow each other without a gap"),
	COLUMN(profile_row, dma_serial, UNIT_NONE, "each transfer runs alone"),
};
const struct record profile_record = RECORD_OF(profile_row, RECORD_BLOCK, profile_columns);

struct profile_row profile_row_of(const struct profile *p)
{
	return (struct profile_row){.name = p->name,
		.arch = op_arch_name(p->arch),
		.soc = p->soc,
		.clock_mhz = (double)p->k[K_CLOCK_MHZ].e4 / PROF_ONE,
		.calibration = p->calibration,
		.sha256 = p->sha256,
		.v_overlap = p->v_overlap,
		.dma_serial = p->dma_serial};
}

static const struct column stream_columns[] = {
	COLUMN(stream_row, kernel, UNIT_NONE, "name of the kernel"),
	COLUMN(stream_row, core, UNIT_NONE, "core that runs the kernel", .words = MODEL_CORES),
	COLUMN(stream_row, block_idx, UNIT_NONE, "number of the block", .title = "block"),
	COLUMN(stream_row, block_num, UNIT_COUNT, "number of blocks that the kernel sees"),
	COLUMN(stream_row, front_end, UNIT_NONE, "front end that recorded the kernel"),
	COLUMN(stream_row, args_origin, UNIT_NONE, "where the arguments of the kernel come from",
		.words = "synthetic|dump"),
	LIST(stream_row, payload_slots, &number_item_record, "arguments whose values are given"),
	LIST(stream_row, missing_slots, &number_item_record, "arguments without values"),
	COLUMN(stream_row, complete, UNIT_NONE, "the kernel ran to the end"),
	COLUMN(stream_row, ops, UNIT_COUNT, "ops executed"),
	COLUMN(stream_row, forms, UNIT_COUNT, "number of different ops"),
	COLUMN(stream_row, macs, UNIT_COUNT, "multiply-accumulate operations"),
	COLUMN(stream_row, bytes, UNIT_BYTES, "bytes moved"),
};
const struct record stream_record = RECORD_OF(stream_row, RECORD_BLOCK, stream_columns);

static struct rows slots_of(uint64_t bits, uint64_t out[OPSTREAM_SLOTS])
{
	struct rows rows = {out, 0};

	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++)
		if (bits >> i & 1)
			out[rows.n++] = i;
	return rows;
}

static const void *stream_at(const void *v, size_t i)
{
	struct stream_row *x = (struct stream_row *)v;
	const struct opstream *s = &x->set->v.v[i];

	x->kernel = opstream_str(s, s->kernel);
	x->core = opstream_core_name(s);
	x->block_idx = s->block_idx;
	x->block_num = s->block_num;
	x->front_end = opstream_str(s, s->front_end);
	x->args_origin = s->args_origin == ARGS_DUMP ? "dump" : "synthetic";
	x->payload_slots = slots_of(s->payload_slots, x->slots[0]);
	x->missing_slots = slots_of(s->missing_slots, x->slots[1]);
	x->complete = s->is_complete;
	x->ops = s->ops.n;
	x->forms = s->forms.n;
	x->macs = x->bytes = 0;
	for (size_t k = 0; k < s->ops.n; k++) {
		const struct op_derived *d = &s->derived.v[s->ops.v[k].form];

		x->macs += d->macs;
		x->bytes += d->bytes;
	}
	return x;
}

struct rows stream_rows(const struct opstream_set *set, struct stream_row *x)
{
	x->set = set;
	return (struct rows){x, set->v.n, stream_at};
}

bool model_text_streams(struct cli *c, const struct opstream_set *set)
{
	static const char *const columns[] = {
		"block_idx", "core", "ops", "forms", "bytes", "macs", NULL};
	struct stream_row x;

	return record_table_print(c, &stream_record, stream_rows(set, &x), columns);
}
