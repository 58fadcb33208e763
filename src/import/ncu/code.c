/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c: the code of a result and the report's data about its instructions. A metric by
 * instruction has an address for each value; functions have their load addresses, and the binary
 * has their bytes. Functions that were hit are listed completely, the kernel first.
 *
 * Parts: values by instruction; code.
 */
#include "base/search.h"
#include "import/ncu/ncu.h"
#include "import/sass_code.h"

/* The code of a result while it is read. */

struct ncu_code_build {
	struct ncu_build *b;
	struct sass_code s;
};

/* --- values by instruction -------------------------------------------------------------------- */

/* The report's values by instruction: executions, samples, and all others. */

#define STALLED "smsp__pcsamp_warps_issue_stalled_"
#define NOT_ISSUED "_not_issued"
/* Limit of one row: seconds of all schedulers of a GPU. More is damage, and sums could overflow. */
#define MOST_OF_ROW (UINT64_C(1) << 44)
#define MAX_REASONS 64u	  /* the hardware has about twenty */
#define MAX_FIGURES 4096u /* by row */

struct ncu_counting { /* sums of a metric by row */
	struct ncu_code_build *c;
	uint64_t *v;
	uint64_t n_unmapped;
};

static bool add_count(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct ncu_counting *n = ctx;
	code_idx row = id->kind == NCU_UINT ? sass_row_at(&n->c->s, id->uint) : NO_CODE;

	if (value->kind == NCU_UINT && value->uint > MOST_OF_ROW)
		n->c->b->n_absurd++;
	else if (row == NO_CODE)
		n->n_unmapped += value->kind == NCU_UINT ? value->uint : 1;
	else
		n->v[row] += value->kind == NCU_UINT ? value->uint : 0;
	return true;
}

static bool ncu_code_count_rows(struct ncu_code_build *c, const struct ncu_metric *k,
	struct ncu_counting *n, struct incore_error *e)
{
	n->c = c;
	memset(n->v, 0, (c->s.rows.n + 1) * sizeof(*n->v));
	return ncu_instances(c->b->result, k, add_count, n, e);
}

static bool read_hits(struct ncu_code_build *c, struct ncu_counting *n, struct incore_error *e)
{
	const struct ncu_metric *k = ncu_find(c->b->result, "inst_executed");

	if (!k || !k->n_instances)
		return true;
	if (!ncu_code_count_rows(c, k, n, e))
		return false;
	for (uint32_t i = 0; i < c->b->t->n_code; i++)
		c->b->t->code[i].stated.hit = n->v[i];
	c->b->t->has_stated_totals = true;
	c->b->n_unmapped += n->n_unmapped;
	return true;
}

/* The stall reason that a metric counts, without "_not_issued"; empty: another kind of metric. */
static struct str ncu_code_reason_of(struct str name, bool *is_not_issued)
{
	struct str r = {0};

	*is_not_issued = false;
	if (!str_starts(name, STALLED))
		return r;
	r = str_sub(name, strlen(STALLED), name.n);
	if (str_ends(r, NOT_ISSUED)) {
		*is_not_issued = true;
		r.n -= strlen(NOT_ISSUED);
	}
	return r;
}

/* Lists the distinct reasons in the order of the metrics; "selected" means issued. */
static bool name_reasons(struct ncu_code_build *c, uint32_t *n, const char ***out)
{
	const struct ncu_result *x = c->b->result;
	const char **v = arena_zalloc(&c->b->t->arena, MAX_REASONS, sizeof(*v));

	*n = 0;
	for (size_t i = 0; v && i < x->metrics.n && *n < MAX_REASONS; i++) {
		bool is_not_issued, is_known = false;
		struct str r = ncu_code_reason_of(x->metrics.v[i].name, &is_not_issued);

		for (uint32_t k = 0; k < *n; k++)
			is_known |= str_is(r, v[k]);
		if (!r.n || is_known || is_not_issued || str_is(r, "selected"))
			continue;
		v[*n] = arena_strndup(&c->b->t->arena, r.p, r.n);
		if (!v[(*n)++])
			return false;
	}
	*out = v;
	return v != NULL;
}

static void take_reason(struct ncu_code_build *c, struct str reason, bool is_not_issued,
	const struct ncu_counting *n)
{
	struct trace *t = c->b->t;
	uint32_t k = 0;

	while (k < t->n_reasons && !str_is(reason, t->reasons[k]))
		k++;
	for (uint32_t i = 0; i < t->n_code; i++) {
		struct reason_count *to = &t->reason_counts[(size_t)i * t->n_reasons + k];

		if (str_is(reason, "selected"))
			t->samples[i].issued += is_not_issued ? 0 : n->v[i];
		else if (k < t->n_reasons)
			*(is_not_issued ? &to->not_issued : &to->all) += n->v[i];
	}
}

/* Sums over rows; a part that exceeds its total is clamped, so that no difference wraps. */
static void ncu_code_sum_samples(struct ncu_code_build *c)
{
	struct trace *t = c->b->t;

	for (uint32_t i = 0; i < t->n_code; i++)
		for (uint32_t k = 0; k < t->n_reasons; k++) {
			struct reason_count *r = &t->reason_counts[(size_t)i * t->n_reasons + k];

			t->samples[i].stalled += r->all;
			c->b->n_absurd += r->not_issued > r->all;
			r->not_issued = r->not_issued < r->all ? r->not_issued : r->all;
		}
}

static bool ncu_code_read_samples(
	struct ncu_code_build *c, struct ncu_counting *n, struct incore_error *e)
{
	const struct ncu_result *x = c->b->result;
	const struct ncu_metric *all = ncu_find(x, "smsp__pcsamp_sample_count");
	struct trace *t = c->b->t;
	const char **reasons;
	uint32_t n_reasons, n_read = 0;
	bool any = false;
	int64_t v;

	if (!name_reasons(c, &n_reasons, &reasons))
		return err_nomem(e);
	if (!n_reasons)
		return true;
	if (!trace_make_samples(t, reasons, n_reasons))
		return err_nomem(e);
	for (size_t i = 0; i < x->metrics.n; i++) {
		bool is_not_issued;
		struct str r = ncu_code_reason_of(x->metrics.v[i].name, &is_not_issued);

		if (!r.n || ++n_read > 3 * MAX_REASONS)
			continue;
		if (!ncu_code_count_rows(c, &x->metrics.v[i], n, e))
			return false;
		take_reason(c, r, is_not_issued, n);
		any |= x->metrics.v[i].n_instances > 0;
		t->sampling.has_not_issued |= is_not_issued;
	}
	if (!any) { /* the metrics exist but nothing was sampled */
		t->samples = NULL;
		t->n_reasons = 0;
		return true;
	}
	ncu_code_sum_samples(c);
	n->n_unmapped = 0;
	if (all && !ncu_code_count_rows(c, all, n, e))
		return false;
	c->b->n_unmapped += n->n_unmapped;
	v = ncu_whole(x, "smsp__pcsamp_interval_cycles");
	t->sampling.period_cyc = v == NO_VALUE ? 0 : (uint64_t)v;
	v = ncu_whole(x, "smsp__pcsamp_dropped_bytes");
	t->sampling.n_dropped = v == NO_VALUE ? 0 : (uint64_t)v;
	return true;
}

/* --- other figures --- */

struct ncu_cell {
	code_idx row;
	struct ncu_value value;
};
struct ncu_cells {
	struct ncu_code_build *c;
	VEC(struct ncu_cell) v;
	uint64_t n_unmapped;
	bool is_real;
};
ORDER(by_row, struct ncu_cell, UP(row))

static bool ncu_code_add_cell(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct ncu_cells *x = ctx;
	code_idx row = id->kind == NCU_UINT ? sass_row_at(&x->c->s, id->uint) : NO_CODE;

	x->n_unmapped += row == NO_CODE;
	if (row == NO_CODE || (value->kind != NCU_UINT && value->kind != NCU_REAL))
		return true;
	x->is_real |= value->kind == NCU_REAL;
	return VEC_PUSH(&x->v, (struct ncu_cell){row, *value});
}

static bool keep_metric(struct ncu_code_build *c, const struct ncu_metric *k, struct ncu_cells *x)
{
	struct arena *a = &c->b->t->arena;
	struct code_metric *m = &c->b->t->metrics[c->b->t->n_metrics];
	code_idx *rows = arena_zalloc(a, x->v.n + 1, sizeof(*rows));
	uint64_t *values = arena_zalloc(a, x->v.n + 1, sizeof(*values));

	*m = (struct code_metric){
		arena_strndup(a, k->name.p, k->name.n), 0, rows, values, x->is_real};
	if (!rows || !values || !m->name)
		return false;
	SORT(x->v.v, x->v.n, by_row);
	for (size_t i = 0; i < x->v.n; i++) {
		const struct ncu_cell *y = &x->v.v[i];
		double real = ncu_number(&y->value);

		if (m->n && rows[m->n - 1] == y->row)
			continue; /* of several at one address, the first was used */
		rows[m->n] = y->row;
		values[m->n] = y->value.uint;
		if (x->is_real)
			memcpy(&values[m->n], &real, sizeof(real));
		m->n++;
	}
	c->b->t->n_metrics++;
	return true;
}

/* Samples and hits have fields of their own. */
static bool ncu_code_is_taken(struct str name)
{
	bool is_not_issued;

	return ncu_code_reason_of(name, &is_not_issued).n || str_is(name, "inst_executed") ||
	       str_is(name, "smsp__pcsamp_sample_count");
}

static bool read_metrics(struct ncu_code_build *c, struct incore_error *e)
{
	const struct ncu_result *x = c->b->result;
	struct trace *t = c->b->t;
	bool ok = true;

	t->metrics = arena_zalloc(&t->arena, MAX_FIGURES, sizeof(*t->metrics));
	if (!t->metrics)
		return err_nomem(e);
	for (size_t i = 0; ok && i < x->metrics.n; i++) {
		struct ncu_cells cells = {.c = c};

		if (!c->b->is_by_row[i] || ncu_code_is_taken(x->metrics.v[i].name) ||
			t->n_metrics == MAX_FIGURES)
			continue;
		ok = ncu_instances(x, &x->metrics.v[i], ncu_code_add_cell, &cells, e);
		if (ok && cells.v.n && !keep_metric(c, &x->metrics.v[i], &cells))
			ok = err_nomem(e);
		c->b->is_by_row[i] = cells.v.n > 0;
		VEC_FREE(&cells.v);
	}
	return ok;
}

/* Reads executions, samples and other figures; the rows must be in the trace. */
static bool ncu_read_figures(struct ncu_code_build *c, struct incore_error *e)
{
	struct ncu_counting n = {.v = mem_zalloc(c->s.rows.n + 1, sizeof(*n.v))};
	bool ok = n.v ? read_hits(c, &n, e) && ncu_code_read_samples(c, &n, e) && read_metrics(c, e)
		      : err_nomem(e);

	mem_free(n.v);
	return ok;
}

/* --- code ------------------------------------------------------------------------------------- */

/* --- binaries and functions --- */

/* { 1 name, 2 load address, 3 symbol } */
static bool read_function(struct ncu_code_build *c, uint32_t binary, struct str bytes)
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

static bool add_source_file(struct ncu_code_build *c, struct str bytes)
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
static bool each_inside(
	struct ncu_code_build *c, uint32_t binary, struct str bytes, bool is_functions)
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

static bool ncu_code_is_wanted(const struct ncu_code_build *c, uint64_t id)
{
	const struct ncu_result *x = c->b->result;

	for (size_t i = 0; i < x->sources.n; i++)
		if (x->sources.v[i] == id)
			return true;
	return x->sources.n == 0; /* graphs do not state the binary */
}

/* Finds or adds the binary of an id, because a report describes it in several places. */
static uint32_t binary_of(struct ncu_code_build *c, uint64_t id)
{
	for (uint32_t i = 0; i < c->s.binaries.n; i++)
		if (c->s.binaries.v[i].id == id)
			return i;
	return VEC_PUSH(&c->s.binaries, (struct sass_binary){.id = id})
		       ? (uint32_t)c->s.binaries.n - 1
		       : SASS_NO_FUNCTION;
}

/* { 1 id, 4 binary, 8 source files, 9 functions } */
static bool ncu_code_read_source(struct ncu_code_build *c, struct str bytes, struct incore_error *e)
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
	if (!ncu_code_is_wanted(c, id))
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
static bool open_binary(struct ncu_code_build *c, struct sass_binary *b, struct incore_error *e)
{
	if (b->bytes.n)
		return sass_open_binary(&c->s, b, e);
	return trace_note(c->b->t, "no-cubin", NULL, INCORE_NO_OFFSET, 1,
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
static bool find_old_kernel(struct ncu_code_build *c, struct incore_error *e)
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

static bool find_functions(struct ncu_code_build *c, struct incore_error *e)
{
	struct ncu_report *r = c->b->report;

	for (size_t i = 0; i < r->sources.n; i++)
		if (!ncu_code_read_source(c, r->sources.v[i], e))
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
	struct ncu_code_build *c;
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
static bool mark_metrics(struct ncu_code_build *c, struct incore_error *e)
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
	struct ncu_code_build c = {.b = b,
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
