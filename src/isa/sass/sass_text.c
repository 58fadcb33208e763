/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_text.c: an instruction as text, for display when no disassembler is available. Operands have
 * the order and form of the vendor's text, as far as the table knows for certain what a field
 * means; others are "?".
 *
 * Besides the letters of sass_table.h a row's text has: ~ before a predicate that is left out if it
 * is nothing; o a result left out likewise; digits numbers; Z P@68 in any case; T a distance; ^ a
 * barrier of lanes; & one of warps; % a counter; [ a constant; { and a addresses; g a descriptor; s
 * a special register.
 *
 * Parts: operands; instructions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/sass/sass_table.h"

/*
 * Writes one operand of an instruction as text: registers, predicates, numbers. Writes into the
 * caller's buffer, never past its end.
 */

struct sass_writing {
	uint64_t lo, hi;
	unsigned sm;
	const struct sass_row *row;
	const struct sass_inst *inst;
	char *buf;
	size_t size, n;
	unsigned n_operands;
	bool is_unsure; /* a "?" was written */
};

enum sass_slot { SASS_SLOT_A, SASS_SLOT_32, SASS_SLOT_64 }; /* position of a source */

/* --- operands --------------------------------------------------------------------------------- */

static unsigned sass_text_bits(const struct sass_writing *w, unsigned at, unsigned n)
{
	return sass_field(w->lo, w->hi, at, n);
}

static int64_t sass_signed_bits(const struct sass_writing *w, unsigned at, unsigned n)
{
	return (int32_t)(sass_text_bits(w, at, n) << (32 - n)) >> (32 - n);
}

static uint32_t whole_word(const struct sass_writing *w)
{
	return (uint32_t)(w->lo >> 32);
}

static unsigned sass_form_of(const struct sass_writing *w)
{
	return sass_text_bits(w, 9, 3);
}

static bool sass_is_uniform(const struct sass_writing *w)
{
	return w->row->flags & SASS_ROW_UNIFORM;
}

static bool sass_has_way(const struct sass_writing *w, char way)
{
	return w->row->how && strchr(w->row->how, way);
}

static bool sass_has_place(const struct sass_writing *w, char place)
{
	return strchr(w->row->places, place);
}

/* Words and small numbers are written by hand: with printf formats this took a tenth of reading a
 * report. */
static void sass_put_words(struct sass_writing *w, const char *s)
{
	while (*s && w->n + 1 < w->size)
		w->buf[w->n++] = *s++;
	w->buf[w->n] = 0;
}

static void sass_put_number(struct sass_writing *w, uint64_t v, unsigned base)
{
	char digits[24] = "", *p = digits + sizeof(digits) - 1;

	do
		*--p = "0123456789abcdef"[v % base];
	while (v /= base);
	sass_put_words(w, p);
}

/* Adds a comma after the previous one. */
static void sass_begin_operand(struct sass_writing *w)
{
	sass_put_words(w, w->n_operands++ ? ", " : " ");
}

static void sass_put_unsure(struct sass_writing *w)
{
	sass_begin_operand(w);
	sass_put_words(w, "?");
	w->is_unsure = true;
}

/* --- one operand --- */

static unsigned register_bits(const struct sass_writing *w, bool uniform)
{
	return uniform && w->sm < 100 ? 6 : 8;
}

static bool sass_is_nothing(const struct sass_writing *w, unsigned at, bool uniform)
{
	unsigned n = register_bits(w, uniform);

	return sass_text_bits(w, at, n) == (1u << n) - 1;
}

static void sass_put_register(struct sass_writing *w, unsigned at, bool uniform)
{
	sass_put_words(w, uniform ? "UR" : "R");
	if (sass_is_nothing(w, at, uniform))
		sass_put_words(w, "Z");
	else
		sass_put_number(w, sass_text_bits(w, at, register_bits(w, uniform)), 10);
}

static void sass_put_predicate(struct sass_writing *w, unsigned at, unsigned not_at, bool uniform)
{
	char name[] = {'P', (char)('0' + sass_text_bits(w, at, 3)), 0};

	if (name[1] == '0' + SASS_NO_PRED)
		name[1] = 'T';
	sass_put_words(w, not_at && sass_text_bits(w, not_at, 1) ? "!" : "");
	sass_put_words(w, uniform ? "U" : "");
	sass_put_words(w, name);
}

static void sass_put_hex(struct sass_writing *w, int64_t v)
{
	sass_put_words(w, v < 0 ? "-0x" : "0x");
	sass_put_number(w, (uint64_t)(v < 0 ? -v : v), 16);
}

static void sass_text_put_value(struct sass_writing *w, double v)
{
	char text[40];

	if (isnan(v))
		snprintf(text, sizeof(text), "%cQNAN", signbit(v) ? '-' : '+');
	else if (isinf(v))
		snprintf(text, sizeof(text), "%cINF", signbit(v) ? '-' : '+');
	else
		snprintf(text, sizeof(text), fabs(v) >= 1e9 ? "%.20e" : "%.20g", v);
	sass_put_words(w, text);
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

static void put_real(struct sass_writing *w)
{
	uint32_t word = whole_word(w);
	uint64_t wide = (uint64_t)word << 32;
	double v;

	memcpy(&v, &wide, sizeof(v));
	sass_text_put_value(w, sass_has_way(w, 'd') ? v : float_of_bits(word));
}

/* The upper half comes first. A comparison has a result where others have the kind of halves. */
static void put_two_halves(struct sass_writing *w)
{
	bool is_compare = sass_has_place(w, 'q'),
	     is_bfloat = !is_compare && sass_text_bits(w, 85, 1);
	uint32_t word = whole_word(w);

	w->is_unsure |= is_compare && sass_text_bits(w, 64, 8);
	sass_text_put_value(
		w, is_bfloat ? float_of_bits(word & 0xffff0000u) : half_of_bits(word >> 16));
	sass_begin_operand(w);
	sass_text_put_value(w, is_bfloat ? float_of_bits(word << 16) : half_of_bits(word & 0xffff));
}

static void sass_put_constant(struct sass_writing *w, unsigned offset)
{
	sass_put_words(w, "c[");
	sass_put_hex(w, sass_text_bits(w, 54, 5));
	sass_put_words(w, "][");
	sass_put_hex(w, offset);
	sass_put_words(w, "]");
}

/* Writes which halves of a packed pair are used: both in order, or one of them twice. */
static void put_halves(struct sass_writing *w, enum sass_slot slot)
{
	static const uint8_t ats[] = {74, 60, 81};
	static const char *const words[] = {"", "?", ".H0_H0", ".H1_H1"};
	unsigned which = sass_text_bits(w, ats[slot], 2);

	sass_put_words(w, words[which]);
	w->is_unsure |= which == 1;
}

/* Writes a source with its sign and bars; their bits depend on its position. */
static void sass_put_source(struct sass_writing *w, enum sass_slot slot, bool uniform)
{
	static const uint8_t negs[2][3] = {{72, 63, 75}, {72, 63, 84}},
			     bars[2][3] = {{73, 62, 74}, {73, 62, 83}}, ats[] = {24, 32, 64};
	bool is_half = sass_has_way(w, 'H'), is_last = slot == SASS_SLOT_64;
	bool is_real = sass_has_way(w, 'f') || sass_has_way(w, 'd') || is_half;
	/* LEA has its shift where others have the sign of R@64 */
	bool has_sign = is_real || (sass_has_way(w, '-') && !(sass_has_way(w, 'h') && is_last)) ||
			(sass_has_way(w, 'c') && is_last);
	bool has_carry = (sass_has_way(w, '-') || sass_has_way(w, 'c')) && sass_text_bits(w, 74, 1);
	const char *bar = is_real && sass_text_bits(w, bars[is_half][slot], 1) ? "|" : "";

	sass_begin_operand(w);
	if (has_sign && sass_text_bits(w, negs[is_half][slot], 1))
		sass_put_words(w, has_carry ? "~" : "-");
	sass_put_words(w, bar);
	if (slot == SASS_SLOT_32 && (sass_form_of(w) == 3 || sass_form_of(w) == 5))
		sass_put_constant(w, sass_text_bits(w, 38, 16));
	else
		sass_put_register(w, ats[slot], uniform || sass_is_uniform(w));
	sass_put_words(w, bar);
	if (is_half)
		put_halves(w, slot);
}

/* Is an immediate signed? For a minimum its own type says so. */
static bool is_signed(const struct sass_writing *w)
{
	return sass_has_way(w, 's') || (sass_has_way(w, 'm') && sass_text_bits(w, 72, 2));
}

/* Writes what forms other than the first have from bit 32 on. */
static void sass_text_put_word(struct sass_writing *w)
{
	unsigned form = sass_form_of(w);

	if ((form == 3 || form == 5) && sass_text_bits(w, 91, 1)) {
		sass_put_unsure(w); /* a constant bank selected by a uniform register */
	} else if (form == 2 || form == 4) {
		sass_begin_operand(w);
		if (sass_has_way(w, 'H'))
			put_two_halves(w);
		else if (sass_has_way(w, 'f') || sass_has_way(w, 'd'))
			put_real(w);
		else
			sass_put_hex(
				w, is_signed(w) ? (int32_t)whole_word(w) : (int64_t)whole_word(w));
	} else {
		sass_put_source(w, SASS_SLOT_32, form >= 6);
	}
}

/* The second or third source, or the only one (b, c): the forms of sass_table.h. */
static void sass_put_formed(struct sass_writing *w, char place)
{
	unsigned form = sass_form_of(w);
	bool is_swapped = form == 2 || form == 3 || form == 7, is_third = place == 'C';
	bool is_high = sass_text_bits(w, 80, 1), is_extended = sass_text_bits(w, 73, 1);

	if (is_third && sass_has_way(w, 'h') && (!is_high || is_extended))
		return; /* LEA without the upper half of what it shifts, or with its sign */
	if (form == 1)
		sass_put_source(w, is_third || place == 'c' ? SASS_SLOT_64 : SASS_SLOT_32, false);
	else if (place != 'b' && place != 'c' && is_third != is_swapped)
		sass_put_source(w, SASS_SLOT_64, false);
	else
		sass_text_put_word(w);
}

/* --- instructions ----------------------------------------------------------------------------- */

/* --- memory --- */

/* [R2+UR4+0x10]; empty parts are left out. */
static void put_address(
	struct sass_writing *w, unsigned base, unsigned ur, const char *way, int64_t distance)
{
	bool has_base = !sass_is_nothing(w, base, sass_is_uniform(w));
	bool has_register = has_base || (!ur && !distance);

	sass_put_words(w, "[");
	if (has_register) {
		sass_put_register(w, base, sass_is_uniform(w));
		sass_put_words(w, has_base ? way : "");
	}
	if (ur) {
		sass_put_words(w, has_register ? "+" : "");
		sass_put_register(w, ur, true);
	}
	sass_put_words(w, distance && (has_register || ur) ? "+" : "");
	if (distance)
		sass_put_hex(w, distance);
	sass_put_words(w, "]");
}

/* Global memory: since sm_80 a uniform register describes it; before that it was part of the
 * address. */
static void put_global(struct sass_writing *w, unsigned ur, int64_t distance)
{
	bool is_wide = ur && (sass_text_bits(w, 90, 1) || w->row->inst_class != SASS_LOAD_GLOBAL);

	if (ur && w->sm >= 90) {
		sass_put_words(w, "desc[");
		sass_put_register(w, ur, true);
		sass_put_words(w, "]");
	}
	put_address(w, 24, w->sm < 80 ? ur : 0,
		is_wide		   ? ".64"
		: ur && w->sm < 80 ? ".U32"
				   : "",
		distance);
}

static void sass_text_put_access(struct sass_writing *w)
{
	static const char *const scales[] = {"", ".X4", ".X8", ".X16"};
	bool is_scaled = w->sm < 90 && sass_has_place(w, 's');
	unsigned ur = !sass_text_bits(w, 91, 1) ? 0
		      : sass_has_place(w, 'u')	? 32
		      : sass_has_place(w, 'v')	? 64
						: 0;
	bool is_low = sass_has_place(w, 'W') && !sass_has_place(w, 'V'); /* a generic store: R@32 is
									    free */
	bool is_short = w->sm >= 100 && w->row->inst_class == SASS_ATOMIC_GLOBAL;

	sass_begin_operand(w);
	if (w->row->inst_class == SASS_ASYNC_COPY)
		put_global(w, ur, sass_signed_bits(w, 32, 12));
	else if (sass_has_place(w, 'e'))
		put_global(w, ur, sass_signed_bits(w, is_low ? 32 : 40, is_short ? 23 : 24));
	else
		put_address(w, 24, ur, is_scaled ? scales[sass_text_bits(w, 78, 2)] : "",
			sass_signed_bits(w, 40, 24));
}

static bool sass_text_is_memory(const struct sass_writing *w)
{
	uint8_t c = w->row->inst_class;

	return (c >= SASS_LOAD_GLOBAL && c <= SASS_ASYNC_COPY && c != SASS_LOAD_CONST) ||
	       c == SASS_MBARRIER;
}

/* LDC: c[bank][register + offset] */
static void put_bank(struct sass_writing *w)
{
	bool is_long = (w->inst->opcode & 0x1ff) == 0x1ac; /* LDCU of sm_100 */
	unsigned offset = is_long ? sass_text_bits(w, 37, 17) : sass_text_bits(w, 38, 16);
	bool has_base = sass_has_place(w, 'A') && !sass_is_nothing(w, 24, sass_is_uniform(w));

	sass_begin_operand(w);
	if (!has_base && (offset || !sass_has_place(w, 'A'))) {
		sass_put_constant(w, offset);
		return;
	}
	sass_put_words(w, "c[");
	sass_put_hex(w, sass_text_bits(w, 54, 5));
	sass_put_words(w, "][");
	sass_put_register(w, 24, sass_is_uniform(w));
	if (offset) {
		sass_put_words(w, "+");
		sass_put_hex(w, offset);
	}
	sass_put_words(w, "]");
}

/* --- other kinds --- */

static void put_special_register(struct sass_writing *w)
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
		if (names[i].number != sass_text_bits(w, 72, 8))
			continue;
		sass_begin_operand(w);
		sass_put_words(w, names[i].name);
		return;
	}
	sass_put_unsure(w);
}

/* Writes the barrier's number, and the number of threads if given. */
static void put_barrier(struct sass_writing *w)
{
	sass_begin_operand(w);
	if (w->inst->barrier == SASS_NO_BARRIER)
		sass_put_register(w, 32, false);
	else
		sass_put_hex(w, w->inst->barrier);
	if (sass_text_bits(w, 42, 12)) {
		sass_begin_operand(w);
		sass_put_hex(w, sass_text_bits(w, 42, 12));
	}
	if (sass_text_bits(w, 77, 2) >= 2) {
		sass_begin_operand(w);
		sass_put_predicate(w, 87, 90, false);
	}
}

/* Matrices in shared memory are given by a descriptor in uniform registers. */
static void put_warpgroup_tensor(struct sass_writing *w)
{
	bool has_register = sass_form_of(w) == 6;

	sass_begin_operand(w);
	sass_put_register(w, 16, false);
	sass_put_words(w, ", ");
	if (has_register) {
		sass_put_register(w, 24, false);
		sass_put_words(w, ", ");
	}
	sass_put_words(w, "gdesc[");
	sass_put_register(w, has_register ? 32 : 24, true);
	sass_put_words(w, sass_text_bits(w, 62, 1) ? "].tnspB, " : "], ");
	sass_put_register(w, 64, false);
	if (sass_text_bits(w, 87, 3))
		sass_put_unsure(w);
	else /* the old content of the result is not an input */
		sass_put_words(w, sass_text_bits(w, 90, 1) ? ", !UPT" : "");
	sass_put_words(w, w->inst->flags & SASS_GROUP_CLOSE ? ", gsb0" : "");
}

static void put_target(struct sass_writing *w)
{
	bool is_diverging = w->row->inst_class == SASS_BRANCH && sass_text_bits(w, 32, 2) >= 2;

	if (w->inst->flags & SASS_INDIRECT || is_diverging) {
		sass_put_unsure(w);
		return;
	}
	sass_begin_operand(w);
	sass_put_words(w, w->inst->branch < 0 ? "-" : "+");
	sass_put_number(w, (uint64_t)llabs(w->inst->branch), 10);
}

/* Operands with the same position in every row: registers (r, u), predicates (p, P) with the
 * position of their negation, numbers (n) with their width in bits. */
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

static void sass_text_put_plain(struct sass_writing *w, const struct plain_operand *o)
{
	sass_begin_operand(w);
	if (o->kind == 'n')
		sass_put_hex(w, sass_text_bits(w, o->at, o->more));
	else if (o->kind == 'r' || o->kind == 'u')
		sass_put_register(w, o->at, o->kind == 'u' || sass_is_uniform(w));
	else /* the third of PLOP3 may be uniform */
		sass_put_predicate(w, o->at, o->more,
			o->kind == 'P' || sass_is_uniform(w) ||
				(o->letter == 'Z' && sass_text_bits(w, 67, 1)));
}

static const struct plain_operand *plain_operand_of(char letter)
{
	for (size_t i = 0; i < sizeof(plain_operands) / sizeof(plain_operands[0]); i++)
		if (plain_operands[i].letter == letter)
			return &plain_operands[i];
	return NULL;
}

static void sass_text_put_counter(struct sass_writing *w)
{
	bool is_matrix = w->inst->counter == SASS_COUNTER_WGMMA;

	sass_begin_operand(w);
	sass_put_words(w, is_matrix ? "gsb" : "SB");
	sass_put_number(w, is_matrix ? 0 : w->inst->counter, 10);
	sass_begin_operand(w);
	sass_put_hex(w, w->inst->count);
}

static void put_odd_letter(struct sass_writing *w, char letter)
{
	switch (letter) {
	case '6': /* the logic function of PLOP3 */
		sass_begin_operand(w);
		sass_put_hex(w, sass_text_bits(w, 72, 5) << 3 | sass_text_bits(w, 64, 3));
		break;
	case '^':
		sass_begin_operand(w);
		sass_put_words(w, "B");
		sass_put_number(w, sass_text_bits(w, 16, 4), 10);
		break;
	case '{':
		sass_begin_operand(w);
		put_address(w, 16, 0, "", sass_text_bits(w, 44, 20));
		break;
	case '%':
		if (w->inst->flags & SASS_COUNTER_WAIT)
			sass_text_put_counter(w);
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
		sass_put_unsure(w);
		break;
	default: /* uniform parts of addresses */
		break;
	}
}

static void put_letter(struct sass_writing *w, char letter)
{
	const struct plain_operand *plain = plain_operand_of(letter);
	bool has_carry = sass_text_bits(w, 74, 1), uniform = sass_is_uniform(w);

	if (plain) {
		sass_text_put_plain(w, plain);
		return;
	}
	switch (letter) {
	case 'o':
		if (!sass_is_nothing(w, 16, sass_has_place(w, 'd')))
			put_letter(w, sass_has_place(w, 'd') ? 'd' : 'D');
		break;
	case 'A':
		if (sass_text_is_memory(w))
			sass_text_put_access(w);
		else
			sass_put_source(w, SASS_SLOT_A, false);
		break;
	case 'a':
		if (!sass_is_nothing(w, 24, uniform))
			sass_text_put_access(w);
		break;
	case 'B':
	case 'C':
	case 'b':
	case 'c':
		sass_put_formed(w, letter);
		break;
	case 'i':
	case 'l':
		if (has_carry)
			put_letter(w, letter == 'i' ? 'x' : 'y');
		break;
	case 'z': /* .EX: the carry of the lower half */
		if (sass_text_bits(w, 72, 1))
			put_letter(w, 'Z');
		break;
	default:
		put_odd_letter(w, letter);
		break;
	}
}

/* Are all fields that the row does not understand zero, so that its places describe it fully? */
static bool is_understood(const struct sass_writing *w)
{
	if (!strcmp(w->row->name, "F2FP"))
		return !sass_text_bits(w, 73, 3) && !sass_text_bits(w, 77, 14);
	if (sass_has_way(w, 'H'))
		return sass_form_of(w) == 1 || sass_form_of(w) == 2 || sass_form_of(w) == 4;
	return !sass_has_way(w, '?');
}

/* Is the predicate omitted? Result predicates at the front are always written, others only if they
 * are kept. */
static bool sass_text_is_left_out(const struct sass_writing *w, char letter)
{
	/* since sm_100 additions name both carries; VIMNMX does so only there */
	bool is_settled = w->row->places[0] == 'p' ||
			  (w->sm >= 100 && strstr(w->row->places, "pq") &&
				  (w->sm < 120 || strcmp(w->row->name, "VIMNMX") != 0));
	unsigned at = letter == 'q' ? 84 : letter == 'x' ? 87 : 81;

	return strchr("pqPx", letter) && !is_settled && sass_text_bits(w, at, 3) == SASS_NO_PRED;
}

static void sass_text_put_operands(struct sass_writing *w)
{
	uint8_t class = w->row->inst_class;
	const char *text = w->row->text, *c = text ? text : w->row->places;
	bool is_odd = class == SASS_TEXTURE || class == SASS_SURFACE || class == SASS_ASYNC_BULK ||
		      class == SASS_TENSOR_MEMORY || (*c == '!' && !text) ||
		      (class == SASS_TENSOR_ASYNC && !text);

	if (is_odd || !is_understood(w)) {
		if (!is_odd && *c == 'D')
			put_letter(w, 'D');
		sass_put_unsure(w);
		return;
	}
	for (; *c; c++) {
		bool may_miss = text ? *c == '~' : *c == 'p' || *c == 'q' || *c == 'P';

		c += text && *c == '~';
		if (!may_miss || !sass_text_is_left_out(w, *c))
			put_letter(w, *c);
		/* a suffix for the number of registers is not an operand */
		if (!text && c[1] && strchr("saefgmtno123456789", c[1]))
			c++;
	}
	if ((w->inst->opcode & 0x1ff) == 0x03c && sass_text_bits(w, 73, 1))
		sass_put_unsure(w); /* a sparse matrix: which elements are stored */
}

/* The modifier that distinguishes instructions of one name in cost or meaning. */
static const char *part_word(const struct sass_writing *w)
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
		return compare[sass_text_bits(w, 76, 3)];
	case 0x108:
		return mufu[sass_text_bits(w, 74, 4)];
	case 0x11a:
		return o->flags & SASS_COUNTER_WAIT ? ".LE" : "";
	case 0x11d:
		return bar[sass_text_bits(w, 77, 2)];
	case 0x1a7:
		return o->flags & SASS_TRY_WAIT ? ".PHASECHK" : ".ARRIVE";
	case 0x1b2:
		return ".EXCH";
	case 0x1c5:
		return o->flags & SASS_COUNTER_WAIT ? ".DEPBAR" : ".ARRIVE";
	default:
		return sass_has_place(w, 's') ? sizes[sass_text_bits(w, 73, 3)] : "";
	}
}

bool sass_text(unsigned sm, const uint8_t *p, const struct sass_inst *inst, char *buf, size_t n)
{
	struct sass_writing w = {.sm = sm,
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
		sass_put_words(&w, "@");
		sass_put_predicate(&w, 12, 15, inst->is_guard_uniform);
		sass_put_words(&w, " ");
	}
	sass_put_words(&w, w.row->name ? w.row->name : "?");
	if (!w.row->name)
		return false;
	sass_put_words(&w, part_word(&w));
	sass_text_put_operands(&w);
	return !w.is_unsure;
}
