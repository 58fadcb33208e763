/* SPDX-License-Identifier: Apache-2.0 */
/* pto.c: module, functions and the integers of their bodies. */
#include "replay/source/pto.h"

#include <stdio.h>

#include "replay/source/pto_read.h"

#define DEFAULT_DYNAMIC_DIM 256

bool pto_fail(struct pto_reader *r, uint32_t line, const char *fmt, ...)
{
	struct strbuf b = {0};
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	err_file(r->e, "bad-pto", r->path, INCORE_NO_OFFSET, "%s", b.p ? b.p : "");
	if (r->e)
		r->e->line = line;
	sb_free(&b);
	return false;
}

unsigned pto_type_bits(struct str type)
{
	static const struct {
		const char *prefix;
		unsigned bits;
	} FLOATS[] = {{"f8", 8}, {"hif8", 8}, {"f4", 4}, {"bf16", 16}, {"f16", 16}, {"f32", 32},
		{"tf32", 32}, {"f64", 64}, {"half", 16}, {"float", 32}, {"bfloat16", 16},
		{"index", 64}};
	uint64_t bits;

	for (size_t i = 0; i < sizeof(FLOATS) / sizeof(*FLOATS); i++)
		if (str_starts(type, FLOATS[i].prefix))
			return FLOATS[i].bits;
	type = str_sub(type, str_starts(type, "ui") || str_starts(type, "si") ? 1 : 0, type.n);
	if (!str_starts(type, "i") || !str_to_u64(str_sub(type, 1, type.n), &bits) || bits > 64)
		return 0;
	return bits == 1 ? 8 : (unsigned)bits;
}

uint32_t pto_value_at(struct pto_reader *r, struct str name)
{
	uint32_t i = intern_add(&r->names, name);
	struct pto_value unknown = {.from = {PTO_NO_VALUE, PTO_NO_VALUE, PTO_NO_VALUE}};

	if (i == INTERN_NONE)
		return PTO_NO_VALUE;
	while (r->values.n <= i)
		if (!VEC_PUSH(&r->values, unknown))
			return PTO_NO_VALUE;
	return i;
}

/* --- types and parameters --- */

/* Skips a type; *pointee is the first item between its angle brackets, if it has any. */
static void take_type(struct pto_lexer *l, struct str *word, struct str *pointee)
{
	int depth = 0;

	*word = l->now.text;
	*pointee = (struct str){"", 0};
	pto_lex_next(l);
	if (!pto_at(l, "<"))
		return;
	do {
		depth += pto_at(l, "<");
		depth -= pto_at(l, ">");
		if (l->now.kind == PTO_WORD && !pointee->n)
			*pointee = l->now.text;
		pto_lex_next(l);
	} while (depth > 0 && l->now.kind != PTO_END);
}

static void skip_braces(struct pto_lexer *l)
{
	int depth = 0;

	do {
		depth += pto_at(l, "{");
		depth -= pto_at(l, "}");
		pto_lex_next(l);
	} while (depth > 0 && l->now.kind != PTO_END);
}

static bool define_param(struct pto_reader *r, struct str name, uint32_t i)
{
	struct pto_param *p = &r->func->params[i];
	uint32_t at = pto_value_at(r, name);
	struct pto_value *v;
	int64_t most = r->launch->dynamic_dim > 0 ? r->launch->dynamic_dim : DEFAULT_DYNAMIC_DIM;
	int64_t value;

	if (at == PTO_NO_VALUE)
		return err_nomem(r->e);
	v = &r->values.v[at];
	v->op = STR("parameter");
	v->line = r->lex.now.line;
	v->param = i;
	if (p->is_pointer) {
		v->kind = PTO_POINTER;
	} else if (str_is(str_of(p->type), "index") || p->type[0] == 'i') {
		v->kind = PTO_INTEGER;
		if (r->launch->scalar && r->launch->scalar(r->launch->ctx, i, &value)) {
			v->range = (struct pto_range){value, value};
		} else {
			v->range = (struct pto_range){0, most};
			v->bounds = (uint64_t)1 << i;
		}
	}
	return true;
}

static bool read_param(struct pto_reader *r, struct pto_param *p, uint32_t i)
{
	struct str name = r->lex.now.text, word, pointee;

	if (r->lex.now.kind != PTO_VALUE)
		return pto_fail(
			r, r->lex.now.line, "expected a parameter, found '%.*s'", STR_ARG(name));
	pto_lex_next(&r->lex);
	if (!pto_take(&r->lex, ":"))
		return pto_fail(r, r->lex.now.line, "parameter %.*s has no type", STR_ARG(name));
	take_type(&r->lex, &word, &pointee);
	if (pto_at(&r->lex, "{"))
		skip_braces(&r->lex);
	p->is_pointer = word.n > 1 && word.p[0] == '!';
	if (!p->is_pointer)
		pointee = word;
	p->elem_bits = pto_type_bits(pointee);
	p->name = arena_strndup(r->arena, name.p, name.n);
	p->type = arena_strndup(r->arena, pointee.p, pointee.n);
	return (p->name && p->type) ? define_param(r, name, i) : err_nomem(r->e);
}

static bool read_params(struct pto_reader *r)
{
	struct pto_func *f = r->func;

	f->params = arena_zalloc(r->arena, PTO_MAX_PARAMS, sizeof(*f->params));
	if (!f->params)
		return err_nomem(r->e);
	for (f->n_params = 0; !pto_at(&r->lex, ")"); pto_take(&r->lex, ",")) {
		if (f->n_params == PTO_MAX_PARAMS)
			return pto_fail(r, r->lex.now.line,
				"function @%s has more than %u parameters", f->name,
				PTO_MAX_PARAMS);
		if (!read_param(r, &f->params[f->n_params], f->n_params))
			return false;
		f->n_params++;
	}
	pto_lex_next(&r->lex);
	return true;
}

/* --- values --- */

static bool read_constant(struct pto_reader *r, struct pto_value *v)
{
	bool is_word = pto_at(&r->lex, "true") || pto_at(&r->lex, "false");
	int64_t value = pto_at(&r->lex, "true");
	struct str type, pointee;
	bool is_integer =
		is_word || (r->lex.now.kind == PTO_NUMBER && str_to_i64(r->lex.now.text, &value));

	if (!is_integer)
		return true; /* a float, dense<...>: not an integer */
	pto_lex_next(&r->lex);
	if (pto_take(&r->lex, ":")) {
		take_type(&r->lex, &type, &pointee);
		if (!str_is(type, "index") && type.p[0] != 'i')
			return true;
	} else if (!is_word) {
		return true;
	}
	v->kind = PTO_INTEGER;
	v->range = (struct pto_range){value, value};
	return true;
}

/* Reads up to three operands, separated by commas. */
static bool read_operands(struct pto_reader *r, uint32_t from[3])
{
	for (unsigned i = 0; i < 3 && r->lex.now.kind == PTO_VALUE; i++) {
		from[i] = pto_value_at(r, r->lex.now.text);
		if (from[i] == PTO_NO_VALUE)
			return err_nomem(r->e);
		pto_lex_next(&r->lex);
		if (!pto_take(&r->lex, ","))
			break;
	}
	return true;
}

static const struct pto_value *integer_at(const struct pto_reader *r, uint32_t i)
{
	return i != PTO_NO_VALUE && r->values.v[i].kind == PTO_INTEGER ? &r->values.v[i] : NULL;
}

static void pass_through(struct pto_reader *r, struct pto_value *v)
{
	const struct pto_value *a = integer_at(r, v->from[0]);
	struct str type, pointee;
	uint64_t bits = 64;

	if (!a)
		return;
	v->kind = PTO_INTEGER;
	v->range = a->range;
	v->bounds = a->bounds;
	if (!str_is(v->op, "arith.trunci") || !pto_take(&r->lex, ":"))
		return;
	take_type(&r->lex, &type, &pointee);
	if (!pto_take(&r->lex, "to"))
		return;
	take_type(&r->lex, &type, &pointee);
	if (str_starts(type, "i") && str_to_u64(str_sub(type, 1, type.n), &bits) && bits > 1 &&
		bits < 64)
		v->range = pto_wrap(v->range, (unsigned)bits);
}

static void fold_value(struct pto_reader *r, struct pto_value *v)
{
	const struct pto_value *a = integer_at(r, v->from[0]), *b = integer_at(r, v->from[1]);
	const struct pto_value *c = integer_at(r, v->from[2]);

	if (str_is(v->op, "arith.select")) {
		if (!b || !c)
			return;
		v->kind = PTO_INTEGER;
		v->range = !a || a->range.lo != a->range.hi ? pto_either(b->range, c->range)
			   : a->range.lo		    ? b->range
							    : c->range;
		v->bounds = b->bounds | c->bounds | (a ? a->bounds : 0);
	} else if (a && b && pto_fold(v->op, a->range, b->range, &v->range)) {
		v->kind = PTO_INTEGER;
		v->bounds = a->bounds | b->bounds;
	}
}

static void move_pointer(struct pto_reader *r, struct pto_value *v)
{
	const struct pto_value *p = v->from[0] == PTO_NO_VALUE ? NULL : &r->values.v[v->from[0]];
	const struct pto_value *by = integer_at(r, v->from[1]);
	struct pto_range sum;

	if (!p || p->kind != PTO_POINTER || !by ||
		!pto_fold(STR("arith.addi"), p->range, by->range, &sum))
		return;
	v->kind = PTO_POINTER;
	v->param = p->param;
	v->range = sum;
	v->bounds = p->bounds | by->bounds;
}

static bool evaluate(struct pto_reader *r, struct pto_value *v)
{
	static const char *const SAME[] = {"arith.index_cast", "arith.index_castui", "arith.extsi",
		"arith.extui", "arith.trunci"};
	int64_t blocks = r->launch->n_blocks ? r->launch->n_blocks : 1;

	if (str_is(v->op, "arith.constant"))
		return read_constant(r, v);
	if (str_is(v->op, "pto.get_block_num") || str_is(v->op, "pto.get_block_idx")) {
		bool is_num = str_is(v->op, "pto.get_block_num");

		v->kind = PTO_INTEGER;
		v->range = (struct pto_range){is_num ? blocks : 0, is_num ? blocks : blocks - 1};
		return true;
	}
	if (!read_operands(r, v->from))
		return false;
	for (size_t i = 0; i < sizeof(SAME) / sizeof(*SAME); i++)
		if (str_is(v->op, SAME[i])) {
			pass_through(r, v);
			return true;
		}
	if (str_is(v->op, "pto.addptr"))
		move_pointer(r, v);
	else
		fold_value(r, v);
	return true;
}

/* Reads what follows scf.for: %i = %lo to %hi step %s */
static bool read_loop(struct pto_reader *r)
{
	struct pto_value v = {.op = STR("scf.for"),
		.line = r->lex.now.line,
		.from = {PTO_NO_VALUE, PTO_NO_VALUE, PTO_NO_VALUE}};
	static const char *const BETWEEN[] = {"=", "to", "step"};
	const struct pto_value *lo, *hi, *step;
	uint32_t at;

	if (r->lex.now.kind != PTO_VALUE)
		return true;
	at = pto_value_at(r, r->lex.now.text);
	pto_lex_next(&r->lex);
	for (unsigned i = 0; i < 3 && pto_take(&r->lex, BETWEEN[i]); i++) {
		if (r->lex.now.kind != PTO_VALUE)
			return true;
		v.from[i] = pto_value_at(r, r->lex.now.text);
		if (v.from[i] == PTO_NO_VALUE)
			return err_nomem(r->e);
		pto_lex_next(&r->lex);
	}
	if (at == PTO_NO_VALUE)
		return err_nomem(r->e);
	lo = integer_at(r, v.from[0]);
	hi = integer_at(r, v.from[1]);
	step = integer_at(r, v.from[2]);
	if (lo && hi) {
		__int128 last = (__int128)hi->range.hi - 1;

		if (step && step->range.lo > 0 && step->range.lo == step->range.hi &&
			lo->range.lo == lo->range.hi && last >= lo->range.lo)
			last -= (last - lo->range.lo) % step->range.lo;
		v.kind = PTO_INTEGER;
		v.range = (struct pto_range){
			lo->range.lo, last < lo->range.lo ? lo->range.lo : (int64_t)last};
		v.bounds = lo->bounds | hi->bounds;
	}
	r->values.v[at] = v;
	return true;
}

/* %a, %b:2 = op ...; the current token is the first result. Operands of other statements look the
 * same until the '=' is missing: then nothing is defined. */
static bool read_statement(struct pto_reader *r)
{
	struct str first = r->lex.now.text;
	unsigned n_results = 0;
	struct pto_value v = {.from = {PTO_NO_VALUE, PTO_NO_VALUE, PTO_NO_VALUE}};
	uint32_t at;

	while (r->lex.now.kind == PTO_VALUE) {
		n_results++;
		pto_lex_next(&r->lex);
		if (pto_take(&r->lex, ":") && r->lex.now.kind == PTO_NUMBER)
			pto_lex_next(&r->lex);
		if (!pto_take(&r->lex, ","))
			break;
	}
	if (!pto_take(&r->lex, "=") || r->lex.now.kind != PTO_WORD)
		return true;
	v.op = r->lex.now.text;
	v.line = r->lex.now.line;
	pto_lex_next(&r->lex);
	if (str_is(v.op, "scf.for"))
		return read_loop(r);
	if (str_is(v.op, "pto.make_tensor_view"))
		return pto_read_view(r);
	if (str_is(v.op, "pto.load_scalar") && r->lex.now.kind == PTO_VALUE) {
		at = pto_value_at(r, r->lex.now.text);
		if (at == PTO_NO_VALUE)
			return err_nomem(r->e);
		if (r->values.v[at].kind == PTO_POINTER)
			r->func->params[r->values.v[at].param].is_control = true;
	}
	if (!evaluate(r, &v))
		return false;
	at = pto_value_at(r, first);
	if (at == PTO_NO_VALUE)
		return err_nomem(r->e);
	if (n_results == 1)
		r->values.v[at] = v;
	return true;
}

static bool read_body(struct pto_reader *r)
{
	uint32_t line = r->lex.now.line;
	int depth = 0;

	do {
		if (r->lex.now.kind == PTO_END)
			return pto_fail(r, line, "function @%s has no end", r->func->name);
		if (r->lex.now.kind == PTO_VALUE) {
			if (!read_statement(r))
				return false;
			continue;
		}
		depth += pto_at(&r->lex, "{");
		depth -= pto_at(&r->lex, "}");
		if (pto_take(&r->lex, "scf.for")) {
			if (!read_loop(r))
				return false;
			continue;
		}
		pto_lex_next(&r->lex);
	} while (depth > 0);
	return true;
}

/* --- functions and module --- */

/* attributes {pto.kernel_kind = #pto.kernel_kind<cube>} */
static void read_attributes(struct pto_reader *r)
{
	int depth = 0;

	do {
		depth += pto_at(&r->lex, "{");
		depth -= pto_at(&r->lex, "}");
		if (pto_take(&r->lex, "#pto.kernel_kind")) {
			pto_take(&r->lex, "<");
			if (pto_at(&r->lex, "cube"))
				r->func->kind = PTO_KIND_CUBE;
			if (pto_at(&r->lex, "vector"))
				r->func->kind = PTO_KIND_VECTOR;
		}
		pto_lex_next(&r->lex);
	} while (depth > 0 && r->lex.now.kind != PTO_END);
}

static bool read_func(struct pto_reader *r, struct pto_func *f, bool *has_body)
{
	struct str name;

	*has_body = false;
	intern_deinit(&r->names);
	intern_init(&r->names);
	r->values.n = 0;
	r->func = f;
	while (r->lex.now.kind == PTO_WORD) /* private, public */
		pto_lex_next(&r->lex);
	if (r->lex.now.kind != PTO_SYMBOL)
		return pto_fail(r, r->lex.now.line, "expected the name of a function, found '%.*s'",
			STR_ARG(r->lex.now.text));
	name = str_sub(r->lex.now.text, 1, r->lex.now.text.n);
	f->line = r->lex.now.line;
	f->name = arena_strndup(r->arena, name.p, name.n);
	if (!f->name)
		return err_nomem(r->e);
	pto_lex_next(&r->lex);
	if (!pto_take(&r->lex, "("))
		return pto_fail(r, r->lex.now.line, "function @%s has no parameter list", f->name);
	if (r->lex.now.kind == PTO_WORD)
		return true; /* only types: a declaration */
	if (!read_params(r))
		return false;
	while (!pto_at(&r->lex, "{") && !pto_at(&r->lex, "}") && !pto_at(&r->lex, "func.func") &&
		r->lex.now.kind != PTO_END) {
		if (pto_take(&r->lex, "attributes") && pto_at(&r->lex, "{"))
			read_attributes(r);
		else if (!pto_at(&r->lex, "{"))
			pto_lex_next(&r->lex);
	}
	*has_body = pto_at(&r->lex, "{");
	return !*has_body || read_body(r);
}

static bool read_target(struct pto_reader *r, struct pto_module *out)
{
	struct str text;

	if (!pto_take(&r->lex, "=") || r->lex.now.kind != PTO_STRING)
		return pto_fail(r, r->lex.now.line, "expected a string behind pto.target_arch");
	text = str_sub(r->lex.now.text, 1, r->lex.now.text.n - 2);
	out->target = arena_strndup(r->arena, text.p, text.n);
	return out->target || err_nomem(r->e);
}

static bool read_module(struct pto_reader *r, struct pto_module *out)
{
	VEC(struct pto_func) funcs = {0};
	bool ok = true, has_body;

	while (ok && r->lex.now.kind != PTO_END) {
		struct pto_func f = {0};

		if (pto_take(&r->lex, "pto.target_arch")) {
			ok = read_target(r, out);
		} else if (pto_take(&r->lex, "func.func")) {
			ok = read_func(r, &f, &has_body) &&
			     (!has_body || VEC_PUSH(&funcs, f) || err_nomem(r->e));
			r->func = NULL;
		} else {
			pto_lex_next(&r->lex);
		}
	}
	if (ok && funcs.n == 0)
		ok = err_file(
			r->e, "bad-pto", r->path, INCORE_NO_OFFSET, "no func.func with a body");
	if (ok) {
		out->n_funcs = (uint32_t)funcs.n;
		out->funcs = arena_memdup(r->arena, funcs.v, funcs.n * sizeof(*funcs.v));
		ok = out->funcs || err_nomem(r->e);
	}
	VEC_FREE(&funcs);
	return ok;
}

bool pto_read(struct arena *a, struct str text, const char *path, const struct pto_launch *launch,
	struct pto_module *out, struct incore_error *e)
{
	static const struct pto_launch NOTHING_KNOWN = {0};
	struct pto_reader r = {
		.arena = a, .path = path, .launch = launch ? launch : &NOTHING_KNOWN, .e = e};
	bool ok;

	*out = (struct pto_module){0};
	intern_init(&r.names);
	pto_lex_init(&r.lex, text);
	ok = read_module(&r, out);
	intern_deinit(&r.names);
	VEC_FREE(&r.values);
	return ok;
}
