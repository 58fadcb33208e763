/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: what the verbs of `incore model` make of their options; rows that they share. */
#include "verbs/model/options.h"

#include "args/spec.h"

#define MAX_BLOCKS 4096
#define COMPILE_LIMIT_S 900

/* --- the machine --- */

static bool set_switch(struct profile *p, struct str word, struct incore_error *e)
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
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--set: expected v_overlap or dma_serial, and =on or =off, found '%.*s'",
			STR_ARG(word));
	*to = on;
	return true;
}

bool model_profile(const struct model_machine *m, const struct text_list *switches,
	enum opstream_arch arch, struct profile *p, struct incore_error *e)
{
	bool ok = true;

	if (!profile_load(p, m->profile, arch, e))
		return false;
	for (size_t i = 0; ok && switches && i < switches->n; i++)
		ok = set_switch(p, str_of(switches->v[i]), e);
	if (ok && p->arch == arch)
		return true;
	if (ok)
		err_set(e, INCORE_BAD_INPUT, "wrong-profile",
			"profile %s is for %s; the %s is for %s", p->name, op_arch_name(p->arch),
			m->arch != NO_CHOICE ? "architecture asked for" : "op stream",
			op_arch_name(arch));
	profile_deinit(p);
	return false;
}

bool model_arch(const struct model_machine *m, enum opstream_arch *out, struct incore_error *e)
{
	struct profile p;

	*out = m->arch == NO_CHOICE ? ARCH_A2A3 : (enum opstream_arch)m->arch;
	if (m->arch != NO_CHOICE || !m->profile)
		return true;
	if (!profile_load(&p, m->profile, *out, e))
		return false;
	*out = p.arch;
	profile_deinit(&p);
	return true;
}

/* --- the kernel --- */

static bool take_args(
	const struct model_kernel *k, struct answer *a, struct args *out, struct incore_error *e)
{
	if (k->arg_spec && !args_load_spec(out, k->arg_spec, e))
		return false;
	for (size_t i = 0; i < k->args.n; i++)
		if (!args_add_word(out, k->args.v[i], e))
			return false;
	for (size_t i = 0; i < out->remarks.n; i++)
		answer_warn(a, "%s", out->remarks.v[i]);
	return true;
}

static bool check_counts(const struct model_kernel *k, struct incore_error *e)
{
	if (k->blocks < 1 || k->blocks > MAX_BLOCKS)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--blocks: expected 1 to %d, found %llu", MAX_BLOCKS,
			(unsigned long long)k->blocks);
	if (k->block_num != NO_COUNT && (k->block_num < k->blocks || k->block_num > MAX_BLOCKS))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--block-num: expected --blocks (%llu) to %d, found %llu",
			(unsigned long long)k->blocks, MAX_BLOCKS,
			(unsigned long long)k->block_num);
	if (k->time_limit < 1 || k->time_limit > 3600)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--time-limit: expected 1 to 3600 seconds, found %llu",
			(unsigned long long)k->time_limit);
	return true;
}

bool model_record(const struct model_kernel *k, const char *path, enum opstream_arch arch,
	struct answer *a, struct opstream_set *out, struct incore_error *e)
{
	struct args args;
	struct record_options o = {.kernel = path,
		.kernel_aiv = k->aiv,
		.arch = arch,
		.cores = (enum kernel_core)k->cores,
		.blocks = (uint32_t)k->blocks,
		.block_num = k->block_num == NO_COUNT ? 0 : (uint32_t)k->block_num,
		.args = &args,
		.is_unsafe = k->is_unsafe,
		.defines = k->defines.v,
		.n_defines = k->defines.n,
		.include_dirs = k->include_dirs.v,
		.n_include_dirs = k->include_dirs.n,
		/* a slow compiler on a busy machine is not the kernel's fault */
		.compile_limit_s = COMPILE_LIMIT_S,
		.run_limit_s = (unsigned)k->time_limit};
	struct record_info info;
	bool ok;

	args_init(&args);
	ok = check_counts(k, e) && take_args(k, a, &args, e) && record_kernel(&o, out, &info, e);
	args_deinit(&args);
	return ok;
}

/* --- rows --- */

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

bool model_about(struct answer *a, const char *path, const char *arch, struct incore_error *e)
{
	struct model_input *in = ANSWER_NEW(a, model_input, e);

	if (!in)
		return false;
	*in = (struct model_input){path, arch};
	answer_about(a, &input_record, in);
	return true;
}

static const struct column machine_columns[] = {
	COLUMN(machine_row, name, UNIT_NONE, "name of the profile"),
	COLUMN(machine_row, arch, UNIT_NONE, "generation of the chip that the profile is for",
		.words = MODEL_ARCHS),
	COLUMN(machine_row, soc, UNIT_NONE, "machine that the profile is for"),
	COLUMN(machine_row, clock_mhz, UNIT_MHZ,
		"frequency of the clock that cycles are counted in", .digits = 4),
	COLUMN(machine_row, calibration, UNIT_NONE, "what the constants of the profile rest on",
		.words = "uncalibrated|published-constants|local-device|local-camodel"),
	COLUMN(machine_row, sha256, UNIT_NONE,
		"SHA-256 of the profile file together with that of its base"),
	COLUMN(machine_row, v_overlap, UNIT_NONE, "vector ops follow each other without a gap"),
	COLUMN(machine_row, dma_serial, UNIT_NONE, "each transfer runs alone"),
};
const struct record machine_record = RECORD_OF(machine_row, RECORD_BLOCK, machine_columns);

struct machine_row machine_row_of(const struct profile *p)
{
	return (struct machine_row){.name = p->name,
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

static void fill_stream(struct stream_row *x, const struct opstream *s)
{
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
	for (size_t k = 0; k < s->ops.n; k++) {
		const struct op_derived *d = &s->derived.v[s->ops.v[k].form];

		x->macs += d->macs;
		x->bytes += d->bytes;
	}
}

bool model_streams(
	struct answer *a, const struct opstream_set *set, struct rows *out, struct incore_error *e)
{
	struct stream_row *v = ANSWER_ROWS(a, out, set->v.n, stream_row, e);

	for (size_t i = 0; v && i < set->v.n; i++)
		fill_stream(&v[i], &set->v.v[i]);
	return v != NULL;
}
