/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c: the code of a result and the report's data about its instructions. A metric by
 * instruction has an address for each value; functions have their load addresses, and the binary
 * has their bytes. Functions that were hit are listed completely, the kernel first.
 */
#include "import/ncu/code.h"

/* --- binaries and functions --- */

/* { 1 name, 2 load address, 3 symbol } */
static bool read_function(struct code_build *c, uint32_t binary, struct str bytes)
{
	struct sass_function f = {.binary = binary, .section = UINT32_MAX};
	struct pb_reader m = pb_of(bytes);
	struct pb_field x;

	while (ncu_next(c->b->report, &m, 3, &x)) {
		if (x.number == 1 && x.wire == PB_BYTES)
			f.name = arena_strndup(&c->b->t->arena, x.bytes.p, x.bytes.n);
		else if (x.number == 2 && x.wire == PB_VARINT)
			f.load = x.value;
	}
	if (m.is_failed || !f.name)
		return !m.is_failed;
	EACH (const struct sass_function, k, c->s.functions.v, c->s.functions.n) {
		if (k->binary == binary && k->load == f.load && !strcmp(k->name, f.name))
			return true;
	}
	return VEC_PUSH(&c->s.functions, f);
}

static bool add_source_file(struct code_build *c, struct str bytes)
{
	struct source_copy s = {0};
	struct str path = {0};
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	while (ncu_next(c->b->report, &m, 2, &f)) {
		if (f.number == 1 && f.wire == PB_BYTES)
			path = f.bytes;
		else if (f.number == 2 && f.wire == PB_BYTES)
			s.text = f.bytes;
	}
	if (m.is_failed || !path.p)
		return true;
	s.path = arena_strndup(&c->b->scratch, path.p, path.n);
	s.path = s.path ? cubin_plain_path(&c->b->scratch, s.path) : NULL;
	return s.path && VEC_PUSH(&c->s.copies, s);
}

/* Messages of number 1 inside a message. */
static bool each_inside(struct code_build *c, uint32_t binary, struct str bytes, bool is_functions)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;
	bool ok = true;

	while (ok && pb_next(&m, &f))
		if (f.number == 1 && f.wire == PB_BYTES)
			ok = is_functions ? read_function(c, binary, f.bytes)
					  : add_source_file(c, f.bytes);
	return ok;
}

static bool is_wanted(const struct code_build *c, uint64_t id)
{
	const struct ncu_result *x = c->b->result;

	for (size_t i = 0; i < x->sources.n; i++)
		if (x->sources.v[i] == id)
			return true;
	return x->sources.n == 0; /* graphs do not state the binary */
}

/* Finds or adds the binary of an id, because a report describes it in several places. */
static uint32_t binary_of(struct code_build *c, uint64_t id)
{
	for (uint32_t i = 0; i < c->s.binaries.n; i++)
		if (c->s.binaries.v[i].id == id)
			return i;
	return VEC_PUSH(&c->s.binaries, (struct sass_binary){.id = id})
		       ? (uint32_t)c->s.binaries.n - 1
		       : SASS_NO_FUNCTION;
}

/* { 1 id, 4 binary, 8 source files, 9 functions } */
static bool read_source(struct code_build *c, struct str bytes, struct incore_error *e)
{
	struct pb_reader m = pb_of(bytes);
	struct str binary = {0};
	uint64_t id = 0;
	struct pb_field f;
	uint32_t at;

	while (ncu_next(c->b->report, &m, 9, &f)) {
		if (f.number == 1 && f.wire == PB_VARINT)
			id = f.value;
		else if (f.number == 4)
			binary = f.bytes;
	}
	if (m.is_failed)
		return ncu_damaged(c->b->report, m.p, "a source is damaged", e);
	if (!is_wanted(c, id))
		return true;
	at = binary_of(c, id);
	if (at == SASS_NO_FUNCTION)
		return err_nomem(e);
	if (binary.n)
		c->s.binaries.v[at].bytes = binary;
	for (m = pb_of(bytes); pb_next(&m, &f);)
		if ((f.number == 8 || f.number == 9) && f.wire == PB_BYTES &&
			!each_inside(c, at, f.bytes, f.number == 9))
			return err_nomem(e);
	return true;
}

/* Missing code becomes a note. */
static bool open_binary(struct code_build *c, struct sass_binary *b, struct incore_error *e)
{
	if (b->bytes.n)
		return sass_open_binary(&c->s, b, e);
	return trace_note(c->b->t, NOTE_MISSING, "no-cubin", NULL, INCORE_NO_OFFSET, 1,
		       "the report does not hold the code of a kernel: its instructions are "
		       "not shown (ncu keeps it unless --import-sass no)") ||
	       err_nomem(e);
}

struct first_pc {
	uint64_t address;
	bool is_found;
};

static bool take_first_pc(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct first_pc *p = ctx;

	(void)id;
	if (!p->is_found && value->kind == NCU_UINT)
		*p = (struct first_pc){value->uint, true};
	return true;
}

/* Before 2022 functions were not listed: the first address of a metric is that of the kernel. */
static bool find_old_kernel(struct code_build *c, struct incore_error *e)
{
	const struct ncu_result *x = c->b->result;
	const struct ncu_metric *k = ncu_find(x, "launch__function_pcs");
	struct sass_function f = {.section = UINT32_MAX};
	struct first_pc pc = {0};

	if (c->s.functions.n || !c->s.binaries.n || !k || !x->mangled.n)
		return true;
	if (!ncu_instances(x, k, take_first_pc, &pc, e))
		return false;
	f.name = arena_strndup(&c->b->t->arena, x->mangled.p, x->mangled.n);
	f.load = pc.address;
	return !pc.is_found || (f.name && VEC_PUSH(&c->s.functions, f)) || err_nomem(e);
}

static bool find_functions(struct code_build *c, struct incore_error *e)
{
	struct ncu_report *r = c->b->report;

	for (size_t i = 0; i < r->sources.n; i++)
		if (!read_source(c, r->sources.v[i], e))
			return false;
	if (!find_old_kernel(c, e))
		return false;
	for (size_t i = 0; i < c->s.binaries.n; i++)
		if (!open_binary(c, &c->s.binaries.v[i], e))
			return false;
	sass_find_code(&c->s);
	return true;
}

/* --- which functions ran --- */

struct marking {
	struct code_build *c;
	uint64_t n_known, n_other;
};

static bool mark_function(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct marking *m = ctx;
	uint32_t f = id->kind == NCU_UINT ? sass_function_at(&m->c->s, id->uint) : SASS_NO_FUNCTION;

	(void)value;
	m->n_known += f != SASS_NO_FUNCTION;
	m->n_other += f == SASS_NO_FUNCTION;
	if (f != SASS_NO_FUNCTION)
		m->c->s.functions.v[f].is_used = true;
	return true;
}

/* Does the metric have a value per instruction? */
static bool is_instruction_metric(struct str name)
{
	static const char *const names[] = {"inst_executed", "thread_inst_executed",
		"thread_inst_executed_true", "smsp__pcsamp_", "smsp__sass_", "memory_",
		"derived__memory_", "branch_inst_executed"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_starts(name, names[i]))
			return true;
	return false;
}

/* A metric belongs to rows if its values have addresses in known functions; a metric with a known
 * name always does. */
static bool mark_metrics(struct code_build *c, struct incore_error *e)
{
	struct ncu_result *x = c->b->result;
	bool has_samples = false;

	c->b->is_by_row = arena_zalloc(&c->b->scratch, x->metrics.n + 1, 1);
	if (!c->b->is_by_row)
		return err_nomem(e);
	for (size_t i = 0; i < x->metrics.n; i++) {
		const struct ncu_metric *k = &x->metrics.v[i];
		struct marking m = {.c = c};
		bool is_sampled = str_starts(k->name, "smsp__pcsamp_");

		if (!k->n_instances)
			continue;
		/* the sampler's metrics all list the same instructions */
		if (!(is_sampled && has_samples) && !ncu_instances(x, k, mark_function, &m, e))
			return false;
		has_samples |= is_sampled && m.n_known;
		c->b->is_by_row[i] =
			m.n_known || (is_instruction_metric(k->name) && c->s.functions.n);
	}
	EACH (struct sass_function, f, c->s.functions.v, c->s.functions.n) {
		f->is_kernel = x->mangled.n && str_is(x->mangled, f->name);
		f->is_used |= f->is_kernel;
	}
	return true;
}

bool ncu_build_code(struct ncu_build *b, struct incore_error *e)
{
	struct code_build c = {.b = b,
		.s = {.t = b->t,
			.options = b->options,
			.scratch = &b->scratch,
			.path = b->report->path,
			.file = b->report->bytes}};
	bool ok;

	sass_code_init(&c.s);
	ok = find_functions(&c, e) && mark_metrics(&c, e) && sass_list_code(&c.s, e) &&
	     ncu_read_figures(&c, e) && sass_link_code(&c.s, e);
	sass_code_deinit(&c.s);
	return ok;
}
