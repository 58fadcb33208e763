/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pto.c: reads modules and functions of a .pto file, and folds the integers of their bodies. Parts:
 * tokens; ranges of integers; views of tensors; modules and functions.
 */
#include "replay/source/pto.h"

#include <stdio.h>

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
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
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
	} else if (is_digit(c) || (c == '-' && is_digit(at(l, 1)))) {
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

/* --- ranges of integers ----------------------------------------------------------------------- */

/* Interval arithmetic for the integer operations that compute shapes. */

typedef __int128 wide;

struct wide_range {
	wide lo, hi;
	bool is_bad;
};

static bool is_one_value(struct pto_range r)
{
	return r.lo == r.hi;
}

static void include(struct wide_range *r, wide v)
{
	if (v < r->lo)
		r->lo = v;
	if (v > r->hi)
		r->hi = v;
}

static wide floor_div(wide a, wide b)
{
	wide q = a / b;

	return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

static wide ceil_div(wide a, wide b)
{
	return -floor_div(-a, b);
}

enum fold_kind {
	FOLD_MUL,
	FOLD_ADD,
	FOLD_SUB,
	FOLD_DIV,
	FOLD_CEILDIV,
	FOLD_FLOORDIV,
	FOLD_REM,
	FOLD_MIN,
	FOLD_MAX,
	FOLD_SHL,
	FOLD_SHR,
	FOLD_AND,
	FOLD_OR,
	FOLD_XOR,
};

static const struct {
	const char *op;
	enum fold_kind kind;
	bool is_unsigned; /* operands must not be negative for the bounds to hold */
} FOLDS[] = {
	{"arith.muli", FOLD_MUL, false},
	{"arith.addi", FOLD_ADD, false},
	{"arith.subi", FOLD_SUB, false},
	{"arith.divsi", FOLD_DIV, false},
	{"arith.divui", FOLD_DIV, true},
	{"arith.ceildivsi", FOLD_CEILDIV, false},
	{"arith.ceildivui", FOLD_CEILDIV, true},
	{"arith.floordivsi", FOLD_FLOORDIV, false},
	{"arith.remsi", FOLD_REM, false},
	{"arith.remui", FOLD_REM, true},
	{"arith.minsi", FOLD_MIN, false},
	{"arith.minui", FOLD_MIN, true},
	{"arith.maxsi", FOLD_MAX, false},
	{"arith.maxui", FOLD_MAX, true},
	{"arith.shli", FOLD_SHL, false},
	{"arith.shrsi", FOLD_SHR, false},
	{"arith.shrui", FOLD_SHR, true},
	{"arith.andi", FOLD_AND, false},
	{"arith.ori", FOLD_OR, false},
	{"arith.xori", FOLD_XOR, false},
};

static wide power_of_two(wide n)
{
	return n > 0 ? (wide)1 << n : 1;
}

static wide at_corner(enum fold_kind kind, wide a, wide b)
{
	switch (kind) {
	case FOLD_MUL:
		return a * b;
	case FOLD_DIV:
		return a / b;
	case FOLD_CEILDIV:
		return ceil_div(a, b);
	case FOLD_FLOORDIV:
		return floor_div(a, b);
	case FOLD_SHL:
		return a * power_of_two(b);
	default:
		return floor_div(a, power_of_two(b));
	}
}

/* The operation is monotone in each operand, so the extremes are at the corners. */
static struct wide_range corners(enum fold_kind kind, struct pto_range a, struct pto_range b)
{
	struct wide_range r = {at_corner(kind, a.lo, b.lo), at_corner(kind, a.lo, b.lo), false};

	include(&r, at_corner(kind, a.lo, b.hi));
	include(&r, at_corner(kind, a.hi, b.lo));
	include(&r, at_corner(kind, a.hi, b.hi));
	return r;
}

static struct wide_range divide(enum fold_kind kind, struct pto_range a, struct pto_range b)
{
	struct wide_range r;

	/* a terminating kernel never divides by zero: exclude 0 from the range */
	if (b.lo == 0)
		b.lo = 1;
	if (b.hi == 0)
		b.hi = -1;
	if (b.lo > b.hi)
		return (struct wide_range){.is_bad = true};
	r = corners(kind, a, b);
	if (b.lo < 0 && b.hi > 0) {
		include(&r, at_corner(kind, a.lo, 1));
		include(&r, at_corner(kind, a.lo, -1));
		include(&r, at_corner(kind, a.hi, 1));
		include(&r, at_corner(kind, a.hi, -1));
	}
	return r;
}

static struct wide_range remainder_of(struct pto_range a, struct pto_range b)
{
	wide most = b.hi > -(wide)b.lo ? b.hi : -(wide)b.lo;
	struct wide_range r = {0, 0, most == 0};

	if (is_one_value(a) && is_one_value(b) && b.lo != 0) {
		r.lo = r.hi = (wide)a.lo % b.lo;
		return r;
	}
	if (a.hi > 0)
		r.hi = most - 1 < a.hi ? most - 1 : a.hi;
	if (a.lo < 0)
		r.lo = 1 - most > a.lo ? 1 - most : a.lo;
	return r;
}

static struct wide_range bits_of(enum fold_kind kind, struct pto_range a, struct pto_range b)
{
	uint64_t all = (uint64_t)a.hi | (uint64_t)b.hi;
	int64_t v;

	if (is_one_value(a) && is_one_value(b)) {
		v = kind == FOLD_AND ? a.lo & b.lo : kind == FOLD_OR ? a.lo | b.lo : a.lo ^ b.lo;
		return (struct wide_range){v, v, false};
	}
	if (a.lo < 0 || b.lo < 0)
		return (struct wide_range){.is_bad = true};
	if (kind == FOLD_AND)
		return (struct wide_range){0, a.hi < b.hi ? a.hi : b.hi, false};
	for (unsigned s = 1; s < 64; s *= 2)
		all |= all >> s;
	return (struct wide_range){0, (wide)all, false};
}

static struct wide_range fold(enum fold_kind kind, struct pto_range a, struct pto_range b)
{
	switch (kind) {
	case FOLD_ADD:
		return (struct wide_range){(wide)a.lo + b.lo, (wide)a.hi + b.hi, false};
	case FOLD_SUB:
		return (struct wide_range){(wide)a.lo - b.hi, (wide)a.hi - b.lo, false};
	case FOLD_MIN:
		return (struct wide_range){
			a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi, false};
	case FOLD_MAX:
		return (struct wide_range){
			a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, false};
	case FOLD_MUL:
		return corners(kind, a, b);
	case FOLD_SHL:
	case FOLD_SHR:
		if (b.lo < 0 || b.hi > 63)
			return (struct wide_range){.is_bad = true};
		return corners(kind, a, b);
	case FOLD_REM:
		return remainder_of(a, b);
	case FOLD_AND:
	case FOLD_OR:
	case FOLD_XOR:
		return bits_of(kind, a, b);
	default:
		return divide(kind, a, b);
	}
}

bool pto_fold(struct str op, struct pto_range a, struct pto_range b, struct pto_range *out)
{
	for (size_t i = 0; i < sizeof(FOLDS) / sizeof(*FOLDS); i++) {
		struct wide_range r;

		if (!str_is(op, FOLDS[i].op))
			continue;
		if (FOLDS[i].is_unsigned && (a.lo < 0 || b.lo < 0))
			return false;
		r = fold(FOLDS[i].kind, a, b);
		if (r.is_bad || r.lo < INT64_MIN || r.hi > INT64_MAX)
			return false;
		*out = (struct pto_range){(int64_t)r.lo, (int64_t)r.hi};
		return true;
	}
	return false;
}

struct pto_range pto_wrap(struct pto_range a, unsigned bits)
{
	int64_t least = bits >= 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
	int64_t most = bits >= 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
	uint64_t u;

	if (a.lo >= least && a.hi <= most)
		return a;
	if (!is_one_value(a))
		return (struct pto_range){least, most};
	u = (uint64_t)a.lo & (((uint64_t)1 << bits) - 1);
	if (u >> (bits - 1))
		u |= ~(((uint64_t)1 << bits) - 1);
	return (struct pto_range){(int64_t)u, (int64_t)u};
}

static struct pto_range pto_either(struct pto_range a, struct pto_range b)
{
	return (struct pto_range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

/* --- views of tensors ------------------------------------------------------------------------- */

/* How many elements of its parameter can a tensor view reach? */

#define PTO_MAX_PARAMS 64 /* an argument array has 50 slots */
#define PTO_MAX_RANK 8
#define PTO_NO_VALUE UINT32_MAX

enum pto_value_kind { PTO_UNKNOWN, PTO_INTEGER, PTO_POINTER };

struct pto_value { /* what an SSA name stands for */
	enum pto_value_kind kind;
	struct pto_range range; /* of an integer; of a pointer: elements past the parameter */
	uint32_t param;		/* of a pointer */
	uint64_t bounds;	/* bit i: the bound of scalar parameter i went into it */
	struct str op;		/* that produced it */
	uint32_t line;
	uint32_t from[3]; /* its operands, or PTO_NO_VALUE */
};

struct pto_reader {
	struct arena *arena;
	const char *path;
	const struct pto_launch *launch;
	struct pto_lexer lex;
	struct intern names; /* of the current function */
	VEC(struct pto_value) values;
	struct pto_func *func;
	struct incore_error *e;
};

struct pto_view {
	uint32_t base;
	unsigned rank, n_strides;
	uint32_t shape[PTO_MAX_RANK], strides[PTO_MAX_RANK]; /* value indices */
	bool has_strides;
	uint32_t line;
};

static bool pto_fail(struct pto_reader *r, uint32_t line, const char *fmt, ...) PRINTF_LIKE(3, 4);
static uint32_t pto_value_at(struct pto_reader *r, struct str name);

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

/* Call after the word pto.make_tensor_view: reads its operands and widens the parameter. */
static bool pto_read_view(struct pto_reader *r)
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
	return true;
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
	if (!func_read_operands(r, v->from))
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
