/* SPDX-License-Identifier: Apache-2.0 */
/* model_common.c: the options that the verbs of `incore model` share, and what they all tell. */
#include "args/spec.h"
#include "cli/model/model_job.h"
#include "cli/options.h"
#include "cli/text/table.h"

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
	/* a slow compiler on a busy machine is no fault of the kernel */
	struct record_options o = {.kernel = c->args[0],
		.kernel_aiv = cli_text(c, "aiv"),
		.arch = arch,
		.compile_limit_s = MODEL_COMPILE_LIMIT_S};
	struct record_info info;
	struct args a;
	bool ok;

	args_init(&a);
	kernel_core_of(
		str_of(cli_text(c, "core")), &o.cores); /* one of its words: the parser saw to it */
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

void model_json_begin(struct cli *c, struct json_writer *w, const char *path, const char *arch)
{
	cli_json_head(c, w);
	json_w_object(w);
	if (path)
		json_w_kv_cstr(w, "path", path);
	if (arch)
		json_w_kv_cstr(w, "arch", arch);
	json_w_end(w);
	json_w_key(w, "data");
	json_w_object(w);
	json_w_kv_cstr(w, "verb", verb_last_word(c->verb));
}

static void put_slots(struct json_writer *w, const char *key, uint64_t bits)
{
	json_w_key(w, key);
	json_w_row(w);
	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++)
		if (bits >> i & 1)
			json_w_u64(w, i);
	json_w_end(w);
}

void model_json_streams(struct json_writer *w, const struct opstream_set *set)
{
	json_w_key(w, "streams");
	json_w_array(w);
	for (size_t i = 0; i < set->v.n; i++) {
		const struct opstream *s = &set->v.v[i];
		const struct model_totals t = model_totals_of(s);

		json_w_object(w);
		json_w_kv_cstr(w, "kernel", opstream_str(s, s->kernel));
		json_w_kv_cstr(w, "core", opstream_core_name(s));
		json_w_kv_u64(w, "block_idx", s->block_idx);
		json_w_kv_u64(w, "block_num", s->block_num);
		json_w_kv_cstr(w, "front_end", opstream_str(s, s->front_end));
		json_w_kv_cstr(
			w, "args_origin", s->args_origin == ARGS_DUMP ? "dump" : "synthetic");
		put_slots(w, "payload_slots", s->payload_slots);
		put_slots(w, "missing_slots", s->missing_slots);
		json_w_kv_bool(w, "complete", s->is_complete);
		json_w_kv_u64(w, "ops", s->ops.n);
		json_w_kv_u64(w, "forms", s->forms.n);
		json_w_kv_u64(w, "macs", t.macs);
		json_w_kv_u64(w, "bytes", t.bytes);
		json_w_end(w);
	}
	json_w_end(w);
}

struct model_totals model_totals_of(const struct opstream *s)
{
	struct model_totals t = {0};

	for (size_t i = 0; i < s->ops.n; i++) {
		const struct op_derived *d = &s->derived.v[s->ops.v[i].form];

		t.macs += d->macs;
		t.bytes += d->bytes;
	}
	return t;
}

bool model_text_streams(struct cli *c, const struct opstream_set *set)
{
	static const struct table_column columns[] = {
		{"block", NULL, CELL_RIGHT, false},
		{"core", NULL, CELL_LEFT, false},
		{"ops", NULL, CELL_RIGHT, false},
		{"forms", NULL, CELL_RIGHT, false},
		{"bytes", NULL, CELL_RIGHT, false},
		{"macs", NULL, CELL_RIGHT, false},
	};
	struct table t;
	bool ok;

	table_init(&t, columns, 6);
	for (size_t i = 0; i < set->v.n; i++) {
		const struct opstream *s = &set->v.v[i];
		const struct model_totals sum = model_totals_of(s);

		table_u64(&t, s->block_idx);
		table_cstr(&t, opstream_core_name(s));
		table_u64(&t, s->ops.n);
		table_u64(&t, s->forms.n);
		table_u64(&t, sum.bytes);
		table_u64(&t, sum.macs);
	}
	ok = table_print(&t, c) || err_nomem(&c->error);
	table_deinit(&t);
	return ok;
}
