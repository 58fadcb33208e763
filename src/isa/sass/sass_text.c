/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_text.c: an instruction in words, for display where no disassembler is at hand. Operands stand
 * in the order and form of the vendor's text, as far as the table knows for certain what a field
 * means; one that it does not know is "?".
 * More than 600 lines because each letter of a row's text has one short function that writes it.
 *
 * Beside the letters of sass_table.h a row's text has: ~ before a predicate that is left out where
 * it is nothing; o  a result that is; digits  numbers; Z  P@68 in any case; T  a distance; ^ a
 * barrier of lanes; & one of warps; % a counter; [ a constant; { and a  addresses; g a descriptor;
 * s  a special register.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/sass/sass_table.h"

struct writing {
	uint64_t lo, hi;
	unsigned sm;
	const struct sass_row *row;
	const struct sass_inst *inst;
	char *buf;
	size_t size, n;
	unsigned n_operands;
	bool is_unsure; /* a "?" was written */
};

static unsigned text_bits(const struct writing *w, unsigned at, unsigned n)
{
	return sass_field(w->lo, w->hi, at, n);
}

static int64_t signed_bits(const struct writing *w, unsigned at, unsigned n)
{
	return (int32_t)(text_bits(w, at, n) << (32 - n)) >> (32 - n);
}

static uint32_t whole_word(const struct writing *w)
{
	return (uint32_t)(w->lo >> 32);
}

static unsigned form_of(const struct writing *w)
{
	return text_bits(w, 9, 3);
}

static bool is_uniform(const struct writing *w)
{
	return w->row->flags & SASS_ROW_UNIFORM;
}

static bool has_way(const struct writing *w, char way)
{
	return w->row->how && strchr(w->row->how, way);
}

static bool has_place(const struct writing *w, char place)
{
	return strchr(w->row->places, place);
}

/* Words and small numbers by hand: with formats this was a tenth of reading a report. */
static void put_words(struct writing *w, const char *s)
{
	while (*s && w->n + 1 < w->size)
		w->buf[w->n++] = *s++;
	w->buf[w->n] = 0;
}

static void put_number(struct writing *w, uint64_t v, unsigned base)
{
	char digits[24] = "", *p = digits + sizeof(digits) - 1;

	do
		*--p = "0123456789abcdef"[v % base];
	while (v /= base);
	put_words(w, p);
}

static void begin_operand(struct writing *w)
{
	put_words(w, w->n_operands++ ? ", " : " ");
}

static void put_unsure(struct writing *w)
{
	begin_operand(w);
	put_words(w, "?");
	w->is_unsure = true;
}

/* --- one operand --- */

static unsigned register_bits(const struct writing *w, bool uniform)
{
	return uniform && w->sm < 100 ? 6 : 8;
}

static bool is_nothing(const struct writing *w, unsigned at, bool uniform)
{
	unsigned n = register_bits(w, uniform);

	return text_bits(w, at, n) == (1u << n) - 1;
}

static void put_register(struct writing *w, unsigned at, bool uniform)
{
	put_words(w, uniform ? "UR" : "R");
	if (is_nothing(w, at, uniform))
		put_words(w, "Z");
	else
		put_number(w, text_bits(w, at, register_bits(w, uniform)), 10);
}

static void put_predicate(struct writing *w, unsigned at, unsigned not_at, bool uniform)
{
	char name[] = {'P', (char)('0' + text_bits(w, at, 3)), 0};

	if (name[1] == '0' + SASS_NO_PRED)
		name[1] = 'T';
	put_words(w, not_at && text_bits(w, not_at, 1) ? "!" : "");
	put_words(w, uniform ? "U" : "");
	put_words(w, name);
}

static void put_hex(struct writing *w, int64_t v)
{
	put_words(w, v < 0 ? "-0x" : "0x");
	put_number(w, (uint64_t)(v < 0 ? -v : v), 16);
}

static void put_value(struct writing *w, double v)
{
	char text[40];

	if (isnan(v))
		snprintf(text, sizeof(text), "%cQNAN", signbit(v) ? '-' : '+');
	else if (isinf(v))
		snprintf(text, sizeof(text), "%cINF", signbit(v) ? '-' : '+');
	else
		snprintf(text, sizeof(text), fabs(v) >= 1e9 ? "%.20e" : "%.20g", v);
	put_words(w, text);
}

static double float_of_bits(uint32_t word)
{
	float f;

	memcpy(&f, &word, sizeof(f));
	return (double)f;
}

static double half_of_bits(unsigned bits)
{
	int exponent = (int)(bits >> 10 & 31);
	double part = bits & 1023, v;

	if (exponent == 31)
		v = part > 0 ? NAN : INFINITY;
	else
		v = ldexp(exponent ? part + 1024 : part, (exponent ? exponent : 1) - 25);
	return copysign(v, bits & 0x8000 ? -1 : 1);
}

static void put_real(struct writing *w)
{
	uint32_t word = whole_word(w);
	uint64_t wide = (uint64_t)word << 32;
	double v;

	memcpy(&v, &wide, sizeof(v));
	put_value(w, has_way(w, 'd') ? v : float_of_bits(word));
}

/* The upper half stands first. A comparison has a result where others say which kind of halves. */
static void put_two_halves(struct writing *w)
{
	bool is_compare = has_place(w, 'q'), is_bfloat = !is_compare && text_bits(w, 85, 1);
	uint32_t word = whole_word(w);

	w->is_unsure |= is_compare && text_bits(w, 64, 8);
	put_value(w, is_bfloat ? float_of_bits(word & 0xffff0000u) : half_of_bits(word >> 16));
	begin_operand(w);
	put_value(w, is_bfloat ? float_of_bits(word << 16) : half_of_bits(word & 0xffff));
}

static void put_constant(struct writing *w, unsigned offset)
{
	put_words(w, "c[");
	put_hex(w, text_bits(w, 54, 5));
	put_words(w, "][");
	put_hex(w, offset);
	put_words(w, "]");
}

enum slot { SLOT_A, SLOT_32, SLOT_64 };

/* Which halves of a packed pair: both as they stand, or one of them twice. */
static void put_halves(struct writing *w, enum slot slot)
{
	static const uint8_t ats[] = {74, 60, 81};
	static const char *const words[] = {"", "?", ".H0_H0", ".H1_H1"};
	unsigned which = text_bits(w, ats[slot], 2);

	put_words(w, words[which]);
	w->is_unsure |= which == 1;
}

/* A source with its sign and bars, whose bits go with its place. */
static void put_source(struct writing *w, enum slot slot, bool uniform)
{
	static const uint8_t negs[2][3] = {{72, 63, 75}, {72, 63, 84}},
			     bars[2][3] = {{73, 62, 74}, {73, 62, 83}}, ats[] = {24, 32, 64};
	bool is_half = has_way(w, 'H'), is_last = slot == SLOT_64;
	bool is_real = has_way(w, 'f') || has_way(w, 'd') || is_half;
	/* LEA has its shift where others have the sign of R@64 */
	bool has_sign = is_real || (has_way(w, '-') && !(has_way(w, 'h') && is_last)) ||
			(has_way(w, 'c') && is_last);
	bool has_carry = (has_way(w, '-') || has_way(w, 'c')) && text_bits(w, 74, 1);
	const char *bar = is_real && text_bits(w, bars[is_half][slot], 1) ? "|" : "";

	begin_operand(w);
	if (has_sign && text_bits(w, negs[is_half][slot], 1))
		put_words(w, has_carry ? "~" : "-");
	put_words(w, bar);
	if (slot == SLOT_32 && (form_of(w) == 3 || form_of(w) == 5))
		put_constant(w, text_bits(w, 38, 16));
	else
		put_register(w, ats[slot], uniform || is_uniform(w));
	put_words(w, bar);
	if (is_half)
		put_halves(w, slot);
}

/* Is an immediate? Of a minimum its own type says so. */
static bool is_signed(const struct writing *w)
{
	return has_way(w, 's') || (has_way(w, 'm') && text_bits(w, 72, 2));
}

/* What a form other than the first has from bit 32 on. */
static void put_word(struct writing *w)
{
	unsigned form = form_of(w);

	if ((form == 3 || form == 5) && text_bits(w, 91, 1)) {
		put_unsure(w); /* a constant bank that a uniform register names */
	} else if (form == 2 || form == 4) {
		begin_operand(w);
		if (has_way(w, 'H'))
			put_two_halves(w);
		else if (has_way(w, 'f') || has_way(w, 'd'))
			put_real(w);
		else
			put_hex(w, is_signed(w) ? (int32_t)whole_word(w) : (int64_t)whole_word(w));
	} else {
		put_source(w, SLOT_32, form >= 6);
	}
}

/* The second or third source, or the only one (b, c): the forms of sass_table.h. */
static void put_formed(struct writing *w, char place)
{
	unsigned form = form_of(w);
	bool is_swapped = form == 2 || form == 3 || form == 7, is_third = place == 'C';
	bool is_high = text_bits(w, 80, 1), is_extended = text_bits(w, 73, 1);

	if (is_third && has_way(w, 'h') && (!is_high || is_extended))
		return; /* LEA without the upper half of what it shifts, or with its sign */
	if (form == 1)
		put_source(w, is_third || place == 'c' ? SLOT_64 : SLOT_32, false);
	else if (place != 'b' && place != 'c' && is_third != is_swapped)
		put_source(w, SLOT_64, false);
	else
		put_word(w);
}

/* --- memory --- */

/* [R2+UR4+0x10]; parts that are nothing are left out. */
static void put_address(
	struct writing *w, unsigned base, unsigned ur, const char *way, int64_t distance)
{
	bool has_base = !is_nothing(w, base, is_uniform(w));
	bool has_register = has_base || (!ur && !distance);

	put_words(w, "[");
	if (has_register) {
		put_register(w, base, is_uniform(w));
		put_words(w, has_base ? way : "");
	}
	if (ur) {
		put_words(w, has_register ? "+" : "");
		put_register(w, ur, true);
	}
	put_words(w, distance && (has_register || ur) ? "+" : "");
	if (distance)
		put_hex(w, distance);
	put_words(w, "]");
}

/* Global memory: since sm_80 a uniform register describes it, before it was part of the address. */
static void put_global(struct writing *w, unsigned ur, int64_t distance)
{
	bool is_wide = ur && (text_bits(w, 90, 1) || w->row->inst_class != SASS_LOAD_GLOBAL);

	if (ur && w->sm >= 90) {
		put_words(w, "desc[");
		put_register(w, ur, true);
		put_words(w, "]");
	}
	put_address(w, 24, w->sm < 80 ? ur : 0,
		is_wide		   ? ".64"
		: ur && w->sm < 80 ? ".U32"
				   : "",
		distance);
}

static void put_access(struct writing *w)
{
	static const char *const scales[] = {"", ".X4", ".X8", ".X16"};
	bool is_scaled = w->sm < 90 && has_place(w, 's');
	unsigned ur = !text_bits(w, 91, 1) ? 0
		      : has_place(w, 'u')  ? 32
		      : has_place(w, 'v')  ? 64
					   : 0;
	bool is_low = has_place(w, 'W') && !has_place(w, 'V'); /* a generic store: room at 32 */
	bool is_short = w->sm >= 100 && w->row->inst_class == SASS_ATOMIC_GLOBAL;

	begin_operand(w);
	if (w->row->inst_class == SASS_ASYNC_COPY)
		put_global(w, ur, signed_bits(w, 32, 12));
	else if (has_place(w, 'e'))
		put_global(w, ur, signed_bits(w, is_low ? 32 : 40, is_short ? 23 : 24));
	else
		put_address(w, 24, ur, is_scaled ? scales[text_bits(w, 78, 2)] : "",
			signed_bits(w, 40, 24));
}

static bool is_memory(const struct writing *w)
{
	uint8_t c = w->row->inst_class;

	return (c >= SASS_LOAD_GLOBAL && c <= SASS_ASYNC_COPY && c != SASS_LOAD_CONST) ||
	       c == SASS_MBARRIER;
}

/* LDC: c[bank][register + offset] */
static void put_bank(struct writing *w)
{
	bool is_long = (w->inst->opcode & 0x1ff) == 0x1ac; /* LDCU of sm_100 */
	unsigned offset = is_long ? text_bits(w, 37, 17) : text_bits(w, 38, 16);
	bool has_base = has_place(w, 'A') && !is_nothing(w, 24, is_uniform(w));

	begin_operand(w);
	if (!has_base && (offset || !has_place(w, 'A'))) {
		put_constant(w, offset);
		return;
	}
	put_words(w, "c[");
	put_hex(w, text_bits(w, 54, 5));
	put_words(w, "][");
	put_register(w, 24, is_uniform(w));
	if (offset) {
		put_words(w, "+");
		put_hex(w, offset);
	}
	put_words(w, "]");
}

/* --- other kinds --- */

static void put_special_register(struct writing *w)
{
	static const struct {
		uint8_t number;
		const char *name;
	} names[] = {{0x00, "SR_LANEID"}, {0x21, "SR_TID.X"}, {0x22, "SR_TID.Y"},
		{0x23, "SR_TID.Z"}, {0x25, "SR_CTAID.X"}, {0x26, "SR_CTAID.Y"},
		{0x27, "SR_CTAID.Z"}, {0x2f, "SR_SWINHI"}, {0x39, "SR_LTMASK"},
		{0x43, "SR_VIRTUALSMID"}, {0x52, "SR_GLOBALTIMERLO"}, {0x50, "SR_CLOCKLO"},
		{0x88, "SR_CgaCtaId"}, {0xff, "SRZ"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].number != text_bits(w, 72, 8))
			continue;
		begin_operand(w);
		put_words(w, names[i].name);
		return;
	}
	put_unsure(w);
}

/* Number of the barrier, and how many threads, where it says so. */
static void put_barrier(struct writing *w)
{
	begin_operand(w);
	if (w->inst->barrier == SASS_NO_BARRIER)
		put_register(w, 32, false);
	else
		put_hex(w, w->inst->barrier);
	if (text_bits(w, 42, 12)) {
		begin_operand(w);
		put_hex(w, text_bits(w, 42, 12));
	}
	if (text_bits(w, 77, 2) >= 2) {
		begin_operand(w);
		put_predicate(w, 87, 90, false);
	}
}

/* Matrices in shared memory are named by a descriptor in uniform registers. */
static void put_warpgroup_tensor(struct writing *w)
{
	bool has_register = form_of(w) == 6;

	begin_operand(w);
	put_register(w, 16, false);
	put_words(w, ", ");
	if (has_register) {
		put_register(w, 24, false);
		put_words(w, ", ");
	}
	put_words(w, "gdesc[");
	put_register(w, has_register ? 32 : 24, true);
	put_words(w, text_bits(w, 62, 1) ? "].tnspB, " : "], ");
	put_register(w, 64, false);
	if (text_bits(w, 87, 3))
		put_unsure(w);
	else /* what the result held does not count */
		put_words(w, text_bits(w, 90, 1) ? ", !UPT" : "");
	put_words(w, w->inst->flags & SASS_GROUP_CLOSE ? ", gsb0" : "");
}

static void put_target(struct writing *w)
{
	bool is_diverging = w->row->inst_class == SASS_BRANCH && text_bits(w, 32, 2) >= 2;

	if (w->inst->flags & SASS_INDIRECT || is_diverging) {
		put_unsure(w);
		return;
	}
	begin_operand(w);
	put_words(w, w->inst->branch < 0 ? "-" : "+");
	put_number(w, (uint64_t)llabs(w->inst->branch), 10);
}

/* Operands whose place is the same in every row: registers (r, u), predicates (p, P) with where
 * their negation stands, numbers (n) with how many bits. */
static const struct plain_operand {
	char letter, kind;
	uint8_t at, more;
} plain_operands[] = {
	{'D', 'r', 16, 0},
	{'d', 'u', 16, 0},
	{'V', 'r', 32, 0},
	{'W', 'r', 64, 0},
	{'p', 'p', 81, 0},
	{'q', 'p', 84, 0},
	{'P', 'P', 81, 0},
	{'x', 'p', 87, 90},
	{'y', 'p', 77, 80},
	{'Z', 'p', 68, 71},
	{'1', 'n', 53, 5},
	{'2', 'n', 40, 13},
	{'3', 'n', 72, 8},
	{'4', 'n', 75, 5},
	{'5', 'n', 16, 8},
	{'7', 'n', 32, 12},
};

static void put_plain(struct writing *w, const struct plain_operand *o)
{
	begin_operand(w);
	if (o->kind == 'n')
		put_hex(w, text_bits(w, o->at, o->more));
	else if (o->kind == 'r' || o->kind == 'u')
		put_register(w, o->at, o->kind == 'u' || is_uniform(w));
	else /* the third of PLOP3 may be uniform */
		put_predicate(w, o->at, o->more,
			o->kind == 'P' || is_uniform(w) ||
				(o->letter == 'Z' && text_bits(w, 67, 1)));
}

static const struct plain_operand *plain_operand_of(char letter)
{
	for (size_t i = 0; i < sizeof(plain_operands) / sizeof(plain_operands[0]); i++)
		if (plain_operands[i].letter == letter)
			return &plain_operands[i];
	return NULL;
}

static void put_counter(struct writing *w)
{
	bool is_matrix = w->inst->counter == SASS_COUNTER_WGMMA;

	begin_operand(w);
	put_words(w, is_matrix ? "gsb" : "SB");
	put_number(w, is_matrix ? 0 : w->inst->counter, 10);
	begin_operand(w);
	put_hex(w, w->inst->count);
}

static void put_odd_letter(struct writing *w, char letter)
{
	switch (letter) {
	case '6': /* what PLOP3 makes of its predicates */
		begin_operand(w);
		put_hex(w, text_bits(w, 72, 5) << 3 | text_bits(w, 64, 3));
		break;
	case '^':
		begin_operand(w);
		put_words(w, "B");
		put_number(w, text_bits(w, 16, 4), 10);
		break;
	case '{':
		begin_operand(w);
		put_address(w, 16, 0, "", text_bits(w, 44, 20));
		break;
	case '%':
		if (w->inst->flags & SASS_COUNTER_WAIT)
			put_counter(w);
		break;
	case '[':
		put_bank(w);
		break;
	case '&':
		put_barrier(w);
		break;
	case 'g':
		put_warpgroup_tensor(w);
		break;
	case 's':
		put_special_register(w);
		break;
	case 'T':
		put_target(w);
		break;
	case '?':
		put_unsure(w);
		break;
	default: /* uniform parts of addresses */
		break;
	}
}

static void put_letter(struct writing *w, char letter)
{
	const struct plain_operand *plain = plain_operand_of(letter);
	bool has_carry = text_bits(w, 74, 1), uniform = is_uniform(w);

	if (plain) {
		put_plain(w, plain);
		return;
	}
	switch (letter) {
	case 'o':
		if (!is_nothing(w, 16, has_place(w, 'd')))
			put_letter(w, has_place(w, 'd') ? 'd' : 'D');
		break;
	case 'A':
		if (is_memory(w))
			put_access(w);
		else
			put_source(w, SLOT_A, false);
		break;
	case 'a':
		if (!is_nothing(w, 24, uniform))
			put_access(w);
		break;
	case 'B':
	case 'C':
	case 'b':
	case 'c':
		put_formed(w, letter);
		break;
	case 'i':
	case 'l':
		if (has_carry)
			put_letter(w, letter == 'i' ? 'x' : 'y');
		break;
	case 'z': /* .EX: the carry of the lower half */
		if (text_bits(w, 72, 1))
			put_letter(w, 'Z');
		break;
	default:
		put_odd_letter(w, letter);
		break;
	}
}

/* Fields that the row is not sure of are all zero: it is as plain as its places say. */
static bool is_understood(const struct writing *w)
{
	if (!strcmp(w->row->name, "F2FP"))
		return !text_bits(w, 73, 3) && !text_bits(w, 77, 14);
	if (has_way(w, 'H'))
		return form_of(w) == 1 || form_of(w) == 2 || form_of(w) == 4;
	return !has_way(w, '?');
}

/* Predicates that are results and stand first are always there, others where they are kept. */
static bool is_left_out(const struct writing *w, char letter)
{
	/* since sm_100 additions name both carries, and VIMNMX did so there alone */
	bool is_settled = w->row->places[0] == 'p' ||
			  (w->sm >= 100 && strstr(w->row->places, "pq") &&
				  (w->sm < 120 || strcmp(w->row->name, "VIMNMX") != 0));
	unsigned at = letter == 'q' ? 84 : letter == 'x' ? 87 : 81;

	return strchr("pqPx", letter) && !is_settled && text_bits(w, at, 3) == SASS_NO_PRED;
}

static void put_operands(struct writing *w)
{
	uint8_t class = w->row->inst_class;
	const char *text = w->row->text, *c = text ? text : w->row->places;
	bool is_odd = class == SASS_TEXTURE || class == SASS_SURFACE || class == SASS_ASYNC_BULK ||
		      class == SASS_TENSOR_MEMORY || (*c == '!' && !text) ||
		      (class == SASS_TENSOR_ASYNC && !text);

	if (is_odd || !is_understood(w)) {
		if (!is_odd && *c == 'D')
			put_letter(w, 'D');
		put_unsure(w);
		return;
	}
	for (; *c; c++) {
		bool may_miss = text ? *c == '~' : *c == 'p' || *c == 'q' || *c == 'P';

		c += text && *c == '~';
		if (!may_miss || !is_left_out(w, *c))
			put_letter(w, *c);
		/* what says how many registers is no place of its own */
		if (!text && c[1] && strchr("saefgmtno123456789", c[1]))
			c++;
	}
	if ((w->inst->opcode & 0x1ff) == 0x03c && text_bits(w, 73, 1))
		put_unsure(w); /* a sparse matrix: which elements are stored */
}

/* What else tells instructions of one name apart in their cost or meaning. */
static const char *part_word(const struct writing *w)
{
	static const char *const bar[4] = {".SYNC", ".ARV", ".RED", ".SCAN"};
	static const char *const mufu[16] = {".COS", ".SIN", ".EX2", ".LG2", ".RCP", ".RSQ",
		".RCP64H", ".RSQ64H", ".SQRT", ".TANH", "", "", "", "", "", ""};
	static const char *const compare[8] = {
		".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".T"};
	static const char *const sizes[8] = {
		".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ".128"};
	const struct sass_inst *o = w->inst;

	switch (o->opcode & 0x1ff) {
	case 0x00c: /* ISETP, UISETP */
	case 0x08c:
		return compare[text_bits(w, 76, 3)];
	case 0x108:
		return mufu[text_bits(w, 74, 4)];
	case 0x11a:
		return o->flags & SASS_COUNTER_WAIT ? ".LE" : "";
	case 0x11d:
		return bar[text_bits(w, 77, 2)];
	case 0x1a7:
		return o->flags & SASS_TRY_WAIT ? ".PHASECHK" : ".ARRIVE";
	case 0x1b2:
		return ".EXCH";
	case 0x1c5:
		return o->flags & SASS_COUNTER_WAIT ? ".DEPBAR" : ".ARRIVE";
	default:
		return has_place(w, 's') ? sizes[text_bits(w, 73, 3)] : "";
	}
}

bool sass_text(unsigned sm, const uint8_t *p, const struct sass_inst *inst, char *buf, size_t n)
{
	struct writing w = {.sm = sm,
		.row = sass_row_find(sm, inst->opcode),
		.inst = inst,
		.buf = buf,
		.size = n};

	for (int i = 7; i >= 0; i--) {
		w.lo = w.lo << 8 | p[i];
		w.hi = w.hi << 8 | p[8 + i];
	}
	buf[0] = 0;
	if (inst->flags & SASS_GUARDED) {
		put_words(&w, "@");
		put_predicate(&w, 12, 15, inst->is_guard_uniform);
		put_words(&w, " ");
	}
	put_words(&w, w.row->name ? w.row->name : "?");
	if (!w.row->name)
		return false;
	put_words(&w, part_word(&w));
	put_operands(&w);
	return !w.is_unsure;
}
