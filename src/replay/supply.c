/* SPDX-License-Identifier: Apache-2.0 */
/* supply.c: arguments for a kernel that nobody recorded or described. */
#include "replay/supply.h"

#include <errno.h>
#include <stdlib.h>

#include "args/spec.h"
#include "base/file.h"
#include "replay/arguments/testcase.h"
#include "replay/source/classify.h"
#include "replay/source/source_text.h"

/* Kernels of the paged-attention sample as its small case was recorded: 16 rows of a query, blocks
 * of 16, heads of 16. The update is that of the last block, which does the most work. */
static const struct recipe {
	const char *name, *stem, *part; /* stem: name of the file; part: contained in it */
	const char *words[9];
} RECIPES[] = {
	{"QK", "qk", "qk_matmul", {"0=bf16[Q,D]", "1=bf16[B,D]", "2=f32[Q,B]:out"}},
	{"SF", "sf", "softmax_prepare",
		{"0=f32[Q,B]", "1=bf16[Q,B]:out", "2=f32[Q]:out", "3=f32[Q]:out", "4=f32:1"}},
	{"PV", "pv", "pv_matmul", {"0=bf16[Q,B]", "1=bf16[B,D]", "2=f32[Q,D]:out"}},
	{"UP", "up", "online_update",
		{"0=f32[Q]", "1=f32[Q]", "2=f32[Q,D]", "3=f32[Q]:out", "4=f32[Q]:out",
			"5=f32[Q,D]:out", "6=f32[Q,D]:out", "7=i64:0", "8=i64:1"}},
};

/* A word with the letters of its sizes replaced: rows of a query, keys of a block, head dimension. */
static const char *sized_word(struct arena *a, const char *word, const uint64_t sizes[3])
{
	static const char LETTERS[] = "QBD";
	struct strbuf b = {0};
	const char *text;

	for (; *word; word++) {
		const char *at = strchr(LETTERS, *word);

		if (at)
			sb_printf(&b, "%llu", (unsigned long long)sizes[at - LETTERS]);
		else
			sb_putc(&b, *word);
	}
	text = b.failed ? NULL : arena_strndup(a, b.p, b.n);
	sb_free(&b);
	return text;
}

static const struct recipe *recipe_of(const char *source)
{
	struct str base = str_of(path_base(source));
	ptrdiff_t dot = str_find(base, ".");
	struct str stem = str_sub(base, 0, dot < 0 ? base.n : (size_t)dot);

	if (strstr(source, "paged_attention"))
		for (size_t i = 0; i < sizeof(RECIPES) / sizeof(RECIPES[0]); i++)
			if (str_is(stem, RECIPES[i].stem) || strstr(base.p, RECIPES[i].part))
				return &RECIPES[i];
	return NULL;
}

bool supply_recipe(struct args *a, const char *source, const struct config_case *c,
	uint32_t n_blocks, struct incore_error *e)
{
	const struct recipe *r = recipe_of(source);
	uint64_t heads = config_case_param(c, "num_heads", 16);
	const uint64_t sizes[3] = {heads < 128 ? heads : 128,
		config_case_param(c, "block_size", 16), config_case_param(c, "head_dim", 16)};

	if (!r)
		return err_set(e, INCORE_USAGE, "no-arguments",
			"nothing says what the kernel is given: name a dump (--dump) or an arg-spec (--arg-spec)");
	for (unsigned i = 0; i < 9 && r->words[i]; i++) {
		const char *word = sized_word(&a->arena, r->words[i], sizes);

		if (!word)
			return err_nomem(e);
		if (!args_add_word(a, word, e))
			return false;
	}
	return args_remark(a,
		       arena_printf(&a->arena,
			       "arguments of the built-in recipe %s (paged attention, %s%s%llu x %llu): --set-arg changes them",
			       r->name, c ? c->name : "", c ? ", " : "",
			       (unsigned long long)sizes[1], (unsigned long long)sizes[2]),
		       e) &&
	       args_fill(a, e) && args_spread(a, n_blocks, e);
}

bool supply_is_typed(const char *source, bool *is_typed, struct incore_error *e)
{
	struct file_data f = {0};
	struct strbuf masked = {0};
	bool ok = file_load(&f, source, e) &&
		  source_mask((struct str){(const char *)f.data, f.size}, source, NULL, &masked, e);

	*is_typed = ok && !kernel_has_entry((struct str){masked.p ? masked.p : "", masked.n});
	sb_free(&masked);
	file_unload(&f);
	return ok || err_wrap(e, "kernel source");
}

bool supply_typed(const struct replay_plan *p, struct replay_report *r, struct incore_error *e)
{
	struct testcase_options o = {
		.n_blocks = p->n_blocks, .fill_inputs = p->backend->does_compute, .set = p->q->set};
	struct strbuf wrapper = {0};
	struct testcase t = {0};
	char *real = realpath(p->sources[0], NULL);
	const char *source = real ? arena_strdup(&r->arena, real) : NULL;
	bool ok = source ? testcase_read(&t, source, &o, e) &&
				   testcase_wrapper(&t, source, &wrapper, e)
			 : err_errno(e, errno, p->sources[0], "read");

	ok = ok && supply_wants(&t, "--set-arg ", &r->arena, &r->wants, e);
	r->wants.args = &r->args;
	if (ok && !p->q->arg_spec) {
		struct args none = r->args;

		r->args = t.args;
		t.args = none;
	}
	if (ok) {
		r->wrapper = arena_strndup(&r->arena, wrapper.p, wrapper.n);
		r->target = p->q->target != NO_CHOICE || !t.has_target ? p->target : t.target;
		supply_sides(&t, source, source, r->members, &r->n_members, &r->kernel_class);
		r->class_reason = "its .pto says so";
	}
	if (ok && t.has_target && t.target != r->target)
		ok = args_remark(&r->args,
			arena_printf(&r->args.arena,
				"the .pto is for %s (pto.target_arch), and --target says %s",
				op_arch_name(t.target), op_arch_name(r->target)),
			e);
	testcase_deinit(&t);
	sb_free(&wrapper);
	free(real);
	return ok && (r->wrapper || err_nomem(e));
}

bool supply_wants(const struct testcase *t, const char *option, struct arena *a,
	struct look_wants *out, struct incore_error *e)
{
	struct strbuf cure = {0};
	bool ok = testcase_cure(t, option, &cure, e);

	*out = (struct look_wants){.computes = t->computes,
		.has_cube = t->has_cube,
		.has_vector = t->has_vector,
		.args = &t->args,
		.option = option,
		.cure = ok && cure.n ? arena_strndup(a, cure.p, cure.n) : NULL};
	ok = ok && (out->cure || !cure.n || err_nomem(e));
	sb_free(&cure);
	return ok;
}

void supply_sides(const struct testcase *t, const char *path, const char *source,
	struct replay_member *out, uint32_t *n, enum kernel_class *class)
{
	struct core_answer answer = cores_decide(&(struct core_evidence){.has_kinds = true,
		.has_cube = t->has_cube,
		.has_vector = t->has_vector,
		.path = path});

	*class = answer.kernel_class;
	if (answer.core != KERNEL_ON_AIV)
		out[(*n)++] = (struct replay_member){source, KERNEL_ON_AIC, -1, 0};
	if (answer.core != KERNEL_ON_AIC)
		out[(*n)++] = (struct replay_member){
			source, KERNEL_ON_AIV, -1, answer.core == KERNEL_ON_MIX ? 3 : 1};
}
