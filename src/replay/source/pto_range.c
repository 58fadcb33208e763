/* SPDX-License-Identifier: Apache-2.0 */
/* pto_range.c: interval arithmetic for the integer operations of a .pto file. */
#include "replay/source/pto.h"

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

struct pto_range pto_either(struct pto_range a, struct pto_range b)
{
	return (struct pto_range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

struct pto_range pto_compare(struct str how, struct pto_range a, struct pto_range b)
{
	const struct pto_range no = {0, 0}, yes = {1, 1}, any = {0, 1};
	bool has_equal = str_is(how, "sle") || str_is(how, "sge");

	if (str_is(how, "sgt") || str_is(how, "sge"))
		return pto_compare(has_equal ? STR("sle") : STR("slt"), b, a);
	if (str_is(how, "slt") || str_is(how, "sle")) {
		if (has_equal ? a.hi <= b.lo : a.hi < b.lo)
			return yes;
		return (has_equal ? a.lo > b.hi : a.lo >= b.hi) ? no : any;
	}
	if (str_is(how, "eq") || str_is(how, "ne")) {
		bool is_eq = str_is(how, "eq");

		if (a.hi < b.lo || b.hi < a.lo)
			return is_eq ? no : yes;
		if (is_one_value(a) && is_one_value(b))
			return is_eq ? yes : no;
	}
	return any;
}
