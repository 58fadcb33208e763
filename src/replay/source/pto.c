/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pto.c: reads modules and functions of a .pto file, and folds the integers of their bodies. Parts:
 * tokens; what decides how much work there is; views of tensors; modules and functions.
 */
#include "replay/source/pto.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

/* --- tokens ----------------------------------------------------------------------------------- */

/*
 * The tokens of MLIR text. Comments are gone, strings keep their quotes. Tokens borrow from the
 * text; reading never fails: an unexpected byte is a token of its own.
 */

enum pto_token_kind {
	PTO_END,
	PTO_VALUE,  /* %name, %name#1 */
	PTO_SYMBOL, /* @name */
	PTO_WORD,   /* func.func, !pto.ptr, #pto.layout, index */
	PTO_NUMBER, /* -12, 1.0 */
	PTO_STRING,
	PTO_PUNCT, /* one byte */
};

struct pto_token {
	enum pto_token_kind kind;
	struct str text;
	uint32_t line;
};

struct pto_lexer {
	struct str text;
	size_t pos;
	uint32_t line;
	struct pto_token now; /* the current token */
};

static bool is_name(char c)
{
	return char_is_word(c) || c == '.' || c == '$';
}

static char at(const struct pto_lexer *l, size_t ahead)
{
	if (l->pos + ahead >= l->text.n)
		return '\0';
	return l->text.p[l->pos + ahead];
}

static void skip_blank(struct pto_lexer *l)
{
	while (l->pos < l->text.n) {
		char c = at(l, 0);

		if (c == '\n')
			l->line++;
		else if (c == '/' && at(l, 1) == '/')
			while (l->pos + 1 < l->text.n && at(l, 1) != '\n')
				l->pos++;
		else if (c != ' ' && c != '\t' && c != '\r')
			return;
		l->pos++;
	}
}

static void skip_string(struct pto_lexer *l)
{
	for (l->pos++; l->pos < l->text.n && at(l, 0) != '"' && at(l, 0) != '\n'; l->pos++)
		if (at(l, 0) == '\\' && at(l, 1) != '\n')
			l->pos++;
	l->pos += l->pos < l->text.n && at(l, 0) == '"';
	if (l->pos > l->text.n)
		l->pos = l->text.n;
}

static void skip_number(struct pto_lexer *l)
{
	l->pos++;
	while (is_name(at(l, 0)) ||
		((at(l, 0) == '-' || at(l, 0) == '+') && (l->text.p[l->pos - 1] | 32) == 'e'))
		l->pos++;
}

static void pto_lex_next(struct pto_lexer *l)
{
	size_t from;
	char c;

	skip_blank(l);
	from = l->pos;
	c = at(l, 0);
	l->now.line = l->line;
	if (l->pos >= l->text.n) {
		l->now = (struct pto_token){PTO_END, {"", 0}, l->line};
		return;
	}
	if (c == '"') {
		l->now.kind = PTO_STRING;
		skip_string(l);
	} else if (char_is_digit(c) || (c == '-' && char_is_digit(at(l, 1)))) {
		l->now.kind = PTO_NUMBER;
		skip_number(l);
	} else if (c == '%' || c == '@' || c == '!' || c == '#' || (is_name(c) && c != '.')) {
		l->now.kind = c == '%' ? PTO_VALUE : c == '@' ? PTO_SYMBOL : PTO_WORD;
		for (l->pos++; is_name(at(l, 0)) || (at(l, 0) == '#' && c == '%') ||
			       (at(l, 0) == '-' && c == '%' && is_name(at(l, 1)));)
			l->pos++;
	} else {
		l->now.kind = PTO_PUNCT;
		l->pos++;
	}
	l->now.text = (struct str){l->text.p + from, l->pos - from};
}

static void pto_lex_init(struct pto_lexer *l, struct str text)
{
	*l = (struct pto_lexer){.text = text, .line = 1};
	pto_lex_next(l);
}

/* Is this the current token? */
static bool pto_at(const struct pto_lexer *l, const char *text)
{
	return l->now.kind != PTO_END && l->now.kind != PTO_STRING && str_is(l->now.text, text);
}

/* Same test; skips it if so */
static bool pto_take(struct pto_lexer *l, const char *text)
{
	if (!pto_at(l, text))
		return false;
	pto_lex_next(l);
	return true;
}

/* --- views of tensors ------------------------------------------------------------------------- */

/* How many elements of its parameter can a tensor view reach? */

typedef __int128 wide;

#define PTO_MAX_RANK 8
#define PTO_NO_VALUE UINT32_MAX

enum pto_value_kind {
	PTO_UNKNOWN,
	PTO_INTEGER,
	PTO_POINTER,
	PTO_VIEW,
	PTO_CARRIED, /* a loop or a branch hands it on: made of anything that one does */
};

struct pto_value { /* what an SSA name stands for */
	enum pto_value_kind kind;
	struct pto_range range; /* of an integer; of a pointer: elements past the parameter */
	uint32_t param;		/* of a pointer; of a view: its place in views */
	uint64_t bounds;	/* bit i: the bound of scalar parameter i went into it */
	uint64_t made_of;	/* bit i: parameter i, or an element of it, went into it */
	struct str op;		/* that produced it */
	uint32_t line;
	uint32_t from[3]; /* its operands, or PTO_NO_VALUE */
};

struct pto_view {
	uint32_t base;
	unsigned rank, n_strides;
	uint32_t shape[PTO_MAX_RANK], strides[PTO_MAX_RANK]; /* value indices */
	bool has_strides;
	uint32_t line;
};

struct pto_reader {
	struct arena *arena;
	const char *path;
	const struct pto_launch *launch;
	struct pto_lexer lex;
	struct intern names; /* of the current function */
	VEC(struct pto_value) values;
	VEC(struct pto_view) views;
	/* Parameters that decide work, or places; that go into what loops and branches hand on;
	 * that decide work through values without a known range. */
	uint64_t work, place, carried, blind;
	struct pto_func *func;
	struct incore_error *e;
};

static bool pto_fail(struct pto_reader *r, uint32_t line, const char *fmt, ...) PRINTF_LIKE(3, 4);
static uint32_t pto_value_at(struct pto_reader *r, struct str name);

/* --- what decides how much work there is ------------------------------------------------------ */

/*
 * Follows parameters to where they decide something: trip counts, conditions and sizes on the one
 * hand, places in tensors on the other; and counts the accesses that leave their view.
 */

static const struct pto_value *integer_at(const struct pto_reader *r, uint32_t i)
{
	return i != PTO_NO_VALUE && r->values.v[i].kind == PTO_INTEGER ? &r->values.v[i] : NULL;
}

static uint64_t made_of(const struct pto_reader *r, uint32_t i)
{
	if (i == PTO_NO_VALUE)
		return 0;
	return r->values.v[i].kind == PTO_CARRIED ? r->carried : r->values.v[i].made_of;
}

/* A trip count, a condition or a size. */
static void note_work(struct pto_reader *r, uint32_t i)
{
	const struct pto_value *v = integer_at(r, i);

	r->work |= made_of(r, i);
	r->blind |= v ? 0 : made_of(r, i);
	r->func->work = hash_mix64(r->func->work + 1);
	if (v)
		r->func->work = hash_mix64(r->func->work ^ hash_mix64((uint64_t)v->range.lo)) +
				(uint64_t)v->range.hi;
}

/* `size` elements at a place of a dimension that has `n`; what is not known is not counted. */
static void note_place(
	struct pto_reader *r, uint32_t place, const struct pto_value *size, struct pto_range n)
{
	const struct pto_value *at = integer_at(r, place);
	int64_t end;

	r->place |= made_of(r, place);
	if (!at || !(made_of(r, place) & r->launch->focus))
		return;
	r->func->n_outside +=
		at->range.lo < 0 ||
		(size &&
			(__builtin_add_overflow(at->range.hi, size->range.hi, &end) || end > n.hi));
}

/* "%3 (line 9: memref.load of %2 (line 8: ...))" */
static void describe(const struct pto_reader *r, uint32_t value, unsigned depth, struct strbuf *b)
{
	const struct pto_value *v = &r->values.v[value];

	sb_printf(b, "%.*s", STR_ARG(r->names.strs[value]));
	if (!v->op.n) {
		sb_puts(b, " (not defined before its use)");
		return;
	}
	sb_printf(b, " (line %u: %.*s", v->line, STR_ARG(v->op));
	for (unsigned i = 0; i < 3 && depth < 6; i++)
		if (v->from[i] != PTO_NO_VALUE && r->values.v[v->from[i]].kind == PTO_UNKNOWN) {
			sb_puts(b, " of ");
			describe(r, v->from[i], depth + 1, b);
			break;
		}
	sb_putc(b, ')');
}

static bool no_bound(
	struct pto_reader *r, const struct pto_view *w, const char *what, uint32_t value)
{
	struct strbuf b = {0};

	describe(r, value, 0, &b);
	pto_fail(r, w->line,
		"function @%s: %s of a tensor view has no bound: %s; expected a constant, a scalar parameter, the block number or a loop variable, and arithmetic on them",
		r->func->name, what, b.p ? b.p : "");
	sb_free(&b);
	return false;
}

/* [ %a, %b ] or [4, 8] */
static bool read_list(struct pto_reader *r, uint32_t *out, unsigned *n)
{
	if (!pto_take(&r->lex, "["))
		return pto_fail(
			r, r->lex.now.line, "expected '[', found '%.*s'", STR_ARG(r->lex.now.text));
	for (*n = 0; !pto_at(&r->lex, "]"); pto_take(&r->lex, ",")) {
		if (*n == PTO_MAX_RANK)
			return pto_fail(r, r->lex.now.line, "a view of more than %u dimensions",
				PTO_MAX_RANK);
		if (r->lex.now.kind != PTO_VALUE && r->lex.now.kind != PTO_NUMBER)
			return pto_fail(r, r->lex.now.line, "expected a value or ']', found '%.*s'",
				STR_ARG(r->lex.now.text));
		out[*n] = pto_value_at(r, r->lex.now.text);
		if (out[*n] == PTO_NO_VALUE)
			return err_nomem(r->e);
		if (r->lex.now.kind == PTO_NUMBER) {
			struct pto_value *v = &r->values.v[out[*n]];

			*v = (struct pto_value){.kind = PTO_INTEGER,
				.op = STR("constant"),
				.line = r->lex.now.line,
				.from = {PTO_NO_VALUE, PTO_NO_VALUE, PTO_NO_VALUE}};
			if (!str_to_i64(r->lex.now.text, &v->range.lo))
				return pto_fail(r, r->lex.now.line, "'%.*s' is no integer",
					STR_ARG(r->lex.now.text));
			v->range.hi = v->range.lo;
		}
		++*n;
		pto_lex_next(&r->lex);
	}
	pto_lex_next(&r->lex);
	return true;
}

static bool read_operands(struct pto_reader *r, struct pto_view *w)
{
	w->line = r->lex.now.line;
	if (r->lex.now.kind != PTO_VALUE)
		return pto_fail(r, w->line,
			"expected a pointer behind pto.make_tensor_view, found '%.*s'",
			STR_ARG(r->lex.now.text));
	w->base = pto_value_at(r, r->lex.now.text);
	if (w->base == PTO_NO_VALUE)
		return err_nomem(r->e);
	pto_lex_next(&r->lex);
	pto_take(&r->lex, ",");
	if (!pto_take(&r->lex, "shape") || !pto_take(&r->lex, "="))
		return pto_fail(r, w->line, "expected 'shape = [...]', found '%.*s'",
			STR_ARG(r->lex.now.text));
	if (!read_list(r, w->shape, &w->rank))
		return false;
	pto_take(&r->lex, ",");
	if (!pto_take(&r->lex, "strides"))
		return true;
	w->has_strides = true;
	return (pto_take(&r->lex, "=") || pto_fail(r, w->line, "expected '=' behind strides")) &&
	       read_list(r, w->strides, &w->n_strides);
}

static bool footprint(
	struct pto_reader *r, const struct pto_view *w, uint64_t *out, uint64_t *bounds)
{
	wide extent = 1, product = 1;
	bool is_empty = false;
	bool by_strides = w->has_strides && w->n_strides == w->rank;

	for (unsigned i = 0; i < w->rank; i++) {
		const struct pto_value *n = &r->values.v[w->shape[i]];
		const struct pto_value *s = by_strides ? &r->values.v[w->strides[i]] : NULL;

		if (n->kind != PTO_INTEGER)
			return no_bound(r, w, "a dimension", w->shape[i]);
		if (s && s->kind != PTO_INTEGER)
			return no_bound(r, w, "a stride", w->strides[i]);
		if (n->range.hi < 0 || (s && s->range.lo < 0))
			return pto_fail(r, w->line, "function @%s: a view with a negative %s",
				r->func->name, n->range.hi < 0 ? "dimension" : "stride");
		is_empty |= n->range.hi == 0;
		*bounds |= n->bounds | (s ? s->bounds : 0);
		product *= n->range.hi;
		if (s && n->range.hi > 0)
			extent += (wide)(n->range.hi - 1) * s->range.hi;
		if (product > INT64_MAX || extent > INT64_MAX)
			return pto_fail(r, w->line,
				"function @%s: a view of more than 2^63 elements", r->func->name);
	}
	*out = is_empty ? 0 : (uint64_t)(by_strides ? extent : product);
	return true;
}

static bool keep_view(struct pto_reader *r, const struct pto_view *w, struct str name)
{
	uint32_t at = pto_value_at(r, name);

	if (at == PTO_NO_VALUE || !VEC_PUSH(&r->views, *w))
		return err_nomem(r->e);
	r->values.v[at] = (struct pto_value){.kind = PTO_VIEW,
		.op = STR("pto.make_tensor_view"),
		.line = w->line,
		.param = (uint32_t)r->views.n - 1,
		.from = {PTO_NO_VALUE, PTO_NO_VALUE, PTO_NO_VALUE}};
	return true;
}

/* Call after the word pto.partition_view: %view, offsets = [..], sizes = [..] */
static bool read_part(struct pto_reader *r)
{
	uint32_t offsets[PTO_MAX_RANK], sizes[PTO_MAX_RANK], at;
	const struct pto_view *w;
	unsigned n = 0, n_sizes = 0;

	if (r->lex.now.kind != PTO_VALUE)
		return true;
	at = pto_value_at(r, r->lex.now.text);
	if (at == PTO_NO_VALUE)
		return err_nomem(r->e);
	pto_lex_next(&r->lex);
	pto_take(&r->lex, ",");
	if (!pto_take(&r->lex, "offsets") || !pto_take(&r->lex, "="))
		return true;
	if (!read_list(r, offsets, &n))
		return false;
	pto_take(&r->lex, ",");
	if (!pto_take(&r->lex, "sizes") || !pto_take(&r->lex, "="))
		return true;
	if (!read_list(r, sizes, &n_sizes))
		return false;
	for (unsigned i = 0; i < n_sizes; i++)
		note_work(r, sizes[i]);
	w = r->values.v[at].kind == PTO_VIEW ? &r->views.v[r->values.v[at].param] : NULL;
	for (unsigned i = 0; i < n; i++) {
		const struct pto_value *dim = w && w->rank == n ? integer_at(r, w->shape[i]) : NULL;

		note_place(r, offsets[i], i < n_sizes && dim ? integer_at(r, sizes[i]) : NULL,
			dim ? dim->range : (struct pto_range){0, 0});
	}
	return true;
}

/* The name of a view without what a compiler appends: "seq_lens" of %seq_lens__ssa_v0_view. */
static const char *alias_of(struct pto_reader *r, struct str name)
{
	ptrdiff_t end = str_find(name, "__");

	name = str_sub(name, 1, end > 1 ? (size_t)end - 1 : name.n);
	if (str_ends(name, "_view"))
		name.n -= strlen("_view");
	return arena_strndup(r->arena, name.p, name.n);
}

/* Call after the word pto.make_tensor_view: reads its operands and widens the parameter. */
static bool pto_read_view(struct pto_reader *r, struct str name)
{
	struct pto_view w = {0};
	const struct pto_value *base;
	struct pto_param *p;
	uint64_t elements = 0, bounds = 0;

	if (!read_operands(r, &w))
		return false;
	base = &r->values.v[w.base];
	if (base->kind != PTO_POINTER)
		return no_bound(r, &w, "the pointer", w.base);
	if (!footprint(r, &w, &elements, &bounds))
		return false;
	if (base->range.lo < 0)
		return pto_fail(r, w.line, "function @%s: a view that may begin before its buffer",
			r->func->name);
	p = &r->func->params[base->param];
	if (elements && __builtin_add_overflow(elements, (uint64_t)base->range.hi, &elements))
		return pto_fail(r, w.line, "function @%s: a view of more than 2^63 elements",
			r->func->name);
	p->n_views++;
	if (elements > p->elements)
		p->elements = elements;
	bounds |= base->bounds;
	for (uint32_t i = 0; i < r->func->n_params; i++)
		r->func->params[i].is_bound |= bounds >> i & 1;
	if (!p->alias && !(p->alias = alias_of(r, name)))
		return err_nomem(r->e);
	return keep_view(r, &w, name);
}

/* --- modules and functions -------------------------------------------------------------------- */

#define DEFAULT_DYNAMIC_DIM 256

/* Sets an error at the given line; always false. */
static bool pto_fail(struct pto_reader *r, uint32_t line, const char *fmt, ...)
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

/* 16 for "bf16"; 0: unknown. */
static unsigned pto_type_bits(struct str type)
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

/* The value of an SSA name, made unknown on first sight; PTO_NO_VALUE on lack of memory. */
static uint32_t pto_value_at(struct pto_reader *r, struct str name)
{
	uint32_t i = intern_add(&r->names, name);
	struct pto_value unknown = {.from = {PTO_NO_VALUE, PTO_NO_VALUE, PTO_NO_VALUE}};

	if (i == INTERN_NONE)
		return PTO_NO_VALUE;
	while (r->values.n <= i)
		if (!VEC_PUSH(&r->values, unknown))
			return PTO_NO_VALUE;
	if (str_is(r->values.v[i].op, "parameter"))
		r->func->params[r->values.v[i].param].is_used = true;
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

/* What the launch gives a kernel. */
static struct pto_range block_range(const struct pto_reader *r, bool is_num)
{
	int64_t n = r->launch->n_blocks ? r->launch->n_blocks : 1;
	int64_t most = r->launch->dynamic_dim > 0 ? r->launch->dynamic_dim : DEFAULT_DYNAMIC_DIM;

	if (is_num)
		return (struct pto_range){n, r->launch->is_whole_grid ? most : n};
	return (struct pto_range){0, (r->launch->is_whole_grid ? most : n) - 1};
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
	v->made_of = (uint64_t)1 << i;
	p->launched = str_ends(name, "spmd_block_idx")	 ? PTO_BLOCK_IDX
		      : str_ends(name, "spmd_block_num") ? PTO_BLOCK_NUM
							 : PTO_NOT_LAUNCHED;
	if (p->is_pointer) {
		v->kind = PTO_POINTER;
	} else if (str_is(str_of(p->type), "index") || p->type[0] == 'i') {
		v->kind = PTO_INTEGER;
		if (r->launch->scalar && r->launch->scalar(r->launch->ctx, i, &value)) {
			v->range = (struct pto_range){value, value};
		} else if (p->launched) {
			v->range = block_range(r, p->launched == PTO_BLOCK_NUM);
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
	p->is_integer =
		p->elem_bits && (str_is(pointee, "index") || pointee.p[0] == 'i' ||
					str_starts(pointee, "ui") || str_starts(pointee, "si"));
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
static bool func_read_operands(struct pto_reader *r, uint32_t from[3])
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

static bool is_one(struct pto_range r)
{
	return r.lo == r.hi;
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

static void compare_values(const struct pto_reader *r, struct str how, struct pto_value *v)
{
	const struct pto_value *a = integer_at(r, v->from[0]), *b = integer_at(r, v->from[1]);

	v->kind = PTO_INTEGER;
	v->range = a && b ? pto_compare(how, a->range, b->range) : (struct pto_range){0, 1};
}

/* %pointer[%place]: *base is the pointer; its place is noted. */
static bool read_element(struct pto_reader *r, uint32_t *base, uint32_t *place)
{
	static const struct pto_value one = {.range = {1, 1}};
	const struct pto_value *p;
	bool is_param;

	*base = *place = PTO_NO_VALUE;
	if (r->lex.now.kind != PTO_VALUE)
		return true;
	*base = pto_value_at(r, r->lex.now.text);
	pto_lex_next(&r->lex);
	if (*base != PTO_NO_VALUE && pto_take(&r->lex, "[") && r->lex.now.kind == PTO_VALUE) {
		*place = pto_value_at(r, r->lex.now.text);
		pto_lex_next(&r->lex);
		pto_take(&r->lex, "]");
	}
	if (*base == PTO_NO_VALUE)
		return err_nomem(r->e);
	p = &r->values.v[*base];
	is_param = p->kind == PTO_POINTER && is_one(p->range) && p->range.lo == 0 &&
		   r->func->params[p->param].elements;
	note_place(r, *place, is_param ? &one : NULL,
		(struct pto_range){0, is_param ? (int64_t)r->func->params[p->param].elements : 0});
	return true;
}

/* Elements of a pointer as a scalar: the pointer's parameter decides what they decide. */
static bool read_load(struct pto_reader *r, struct pto_value *v)
{
	const struct pto_launch *launch = r->launch;
	const struct pto_value *p;
	struct pto_param *param;
	int64_t value;

	if (!read_element(r, &v->from[0], &v->from[1]))
		return false;
	if (v->from[0] == PTO_NO_VALUE || r->values.v[v->from[0]].kind != PTO_POINTER)
		return true;
	p = &r->values.v[v->from[0]];
	param = &r->func->params[p->param];
	param->is_control = true;
	v->made_of = (uint64_t)1 << p->param | p->made_of | made_of(r, v->from[1]);
	if (launch->element && launch->element(launch->ctx, p->param, &value)) {
		v->kind = PTO_INTEGER;
		v->range = (struct pto_range){value, value};
	}
	return true;
}

static bool evaluate(struct pto_reader *r, struct pto_value *v)
{
	static const char *const SAME[] = {"arith.index_cast", "arith.index_castui", "arith.extsi",
		"arith.extui", "arith.trunci"};
	struct str how = {"", 0};

	if (str_is(v->op, "arith.constant"))
		return read_constant(r, v);
	if (str_is(v->op, "pto.get_block_num") || str_is(v->op, "pto.get_block_idx")) {
		v->kind = PTO_INTEGER;
		v->range = block_range(r, str_is(v->op, "pto.get_block_num"));
		return true;
	}
	if (str_is(v->op, "pto.load_scalar"))
		return read_load(r, v);
	if (str_is(v->op, "arith.cmpi") && r->lex.now.kind == PTO_WORD) {
		how = r->lex.now.text;
		pto_lex_next(&r->lex);
		pto_take(&r->lex, ",");
	}
	if (!func_read_operands(r, v->from))
		return false;
	for (unsigned i = 0; i < 3; i++)
		v->made_of |= made_of(r, v->from[i]);
	if (how.n) {
		compare_values(r, how, v);
		return true;
	}
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
	for (unsigned i = 0; i < 3; i++) {
		note_work(r, v.from[i]);
		v.made_of |= made_of(r, v.from[i]);
	}
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

/* A value that a loop or a branch hands on. */
static bool carry(struct pto_reader *r, struct str name)
{
	uint32_t at = pto_value_at(r, name);

	if (at == PTO_NO_VALUE)
		return err_nomem(r->e);
	r->values.v[at] = (struct pto_value){.kind = PTO_CARRIED,
		.op = STR("iter_args"),
		.line = r->lex.now.line,
		.from = {PTO_NO_VALUE, PTO_NO_VALUE, PTO_NO_VALUE}};
	return true;
}

/* What goes into values that are handed on. */
static bool carry_operands(struct pto_reader *r)
{
	uint32_t at;

	while (r->lex.now.kind == PTO_VALUE) {
		at = pto_value_at(r, r->lex.now.text);
		if (at == PTO_NO_VALUE)
			return err_nomem(r->e);
		r->carried |= made_of(r, at);
		pto_lex_next(&r->lex);
		if (!pto_take(&r->lex, ","))
			break;
	}
	return true;
}

/* The operands of a statement that decides how much is done. */
static bool note_operands(struct pto_reader *r)
{
	uint32_t at;

	while (r->lex.now.kind == PTO_VALUE) {
		at = pto_value_at(r, r->lex.now.text);
		if (at == PTO_NO_VALUE)
			return err_nomem(r->e);
		note_work(r, at);
		pto_lex_next(&r->lex);
		if (!pto_take(&r->lex, ","))
			break;
	}
	return true;
}

/* pto.alloc_tile addr = %a valid_row = %r valid_col = %c */
static bool read_tile(struct pto_reader *r)
{
	while (r->lex.now.kind == PTO_WORD) {
		bool is_size = str_starts(r->lex.now.text, "valid_");

		pto_lex_next(&r->lex);
		if (!pto_take(&r->lex, "=") || r->lex.now.kind != PTO_VALUE)
			return true;
		if (is_size && !note_operands(r))
			return false;
		if (!is_size)
			pto_lex_next(&r->lex);
	}
	return true;
}

/* A statement without a result, by its first word. */
static bool read_word(struct pto_reader *r)
{
	struct str op = r->lex.now.text;
	uint32_t base, place, at;

	pto_lex_next(&r->lex);
	if (str_is(op, "scf.for"))
		return read_loop(r);
	if (str_is(op, "scf.yield"))
		return carry_operands(r);
	if (str_is(op, "scf.if") || str_is(op, "scf.condition") || str_is(op, "pto.set_validshape"))
		return note_operands(r);
	if (!str_is(op, "pto.store_scalar") || r->lex.now.kind != PTO_VALUE)
		return true;
	at = pto_value_at(r, r->lex.now.text);
	pto_lex_next(&r->lex);
	pto_take(&r->lex, ",");
	return at != PTO_NO_VALUE ? read_element(r, &base, &place) : err_nomem(r->e);
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
	if (!pto_take(&r->lex, "="))
		return true;
	if (r->lex.now.kind == PTO_VALUE) /* iter_args(%a = %b) */
		return carry(r, first) && carry_operands(r);
	if (r->lex.now.kind != PTO_WORD)
		return true;
	v.op = r->lex.now.text;
	v.line = r->lex.now.line;
	pto_lex_next(&r->lex);
	if (str_is(v.op, "scf.for"))
		return carry(r, first) && read_loop(r);
	if (str_is(v.op, "scf.if"))
		return carry(r, first) && note_operands(r);
	if (str_is(v.op, "pto.make_tensor_view"))
		return pto_read_view(r, first);
	if (str_is(v.op, "pto.partition_view"))
		return read_part(r);
	if (str_is(v.op, "pto.alloc_tile"))
		return read_tile(r);
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
		if (r->lex.now.kind == PTO_WORD) {
			if (!read_word(r))
				return false;
			continue;
		}
		depth += pto_at(&r->lex, "{");
		depth -= pto_at(&r->lex, "}");
		pto_lex_next(&r->lex);
	} while (depth > 0);
	for (uint32_t i = 0; i < r->func->n_params; i++) {
		r->func->params[i].has_work = r->work >> i & 1;
		r->func->params[i].has_place = r->place >> i & 1;
		r->func->params[i].is_blind = r->blind >> i & 1;
	}
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
	r->values.n = r->views.n = 0;
	r->work = r->place = r->carried = r->blind = 0;
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
	VEC_FREE(&r.views);
	return ok;
}
