/* SPDX-License-Identifier: Apache-2.0 */
/* sass_operand.c: see sass_operand.h. */
#include "isa/sass/sass_operand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned sass_text_bits(const struct sass_writing *w, unsigned at, unsigned n)
{
	return sass_field(w->lo, w->hi, at, n);
}

int64_t sass_signed_bits(const struct sass_writing *w, unsigned at, unsigned n)
{
	return (int32_t)(sass_text_bits(w, at, n) << (32 - n)) >> (32 - n);
}

static uint32_t whole_word(const struct sass_writing *w)
{
	return (uint32_t)(w->lo >> 32);
}

unsigned sass_form_of(const struct sass_writing *w)
{
	return sass_text_bits(w, 9, 3);
}

bool sass_is_uniform(const struct sass_writing *w)
{
	return w->row->flags & SASS_ROW_UNIFORM;
}

bool sass_has_way(const struct sass_writing *w, char way)
{
	return w->row->how && strchr(w->row->how, way);
}

bool sass_has_place(const struct sass_writing *w, char place)
{
	return strchr(w->row->places, place);
}

/* Words and small numbers are written by hand: with printf formats this took a tenth of reading a
 * report. */
void sass_put_words(struct sass_writing *w, const char *s)
{
	while (*s && w->n + 1 < w->size)
		w->buf[w->n++] = *s++;
	w->buf[w->n] = 0;
}

void sass_put_number(struct sass_writing *w, uint64_t v, unsigned base)
{
	char digits[24] = "", *p = digits + sizeof(digits) - 1;

	do
		*--p = "0123456789abcdef"[v % base];
	while (v /= base);
	sass_put_words(w, p);
}

void sass_begin_operand(struct sass_writing *w)
{
	sass_put_words(w, w->n_operands++ ? ", " : " ");
}

void sass_put_unsure(struct sass_writing *w)
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

bool sass_is_nothing(const struct sass_writing *w, unsigned at, bool uniform)
{
	unsigned n = register_bits(w, uniform);

	return sass_text_bits(w, at, n) == (1u << n) - 1;
}

void sass_put_register(struct sass_writing *w, unsigned at, bool uniform)
{
	sass_put_words(w, uniform ? "UR" : "R");
	if (sass_is_nothing(w, at, uniform))
		sass_put_words(w, "Z");
	else
		sass_put_number(w, sass_text_bits(w, at, register_bits(w, uniform)), 10);
}

void sass_put_predicate(struct sass_writing *w, unsigned at, unsigned not_at, bool uniform)
{
	char name[] = {'P', (char)('0' + sass_text_bits(w, at, 3)), 0};

	if (name[1] == '0' + SASS_NO_PRED)
		name[1] = 'T';
	sass_put_words(w, not_at && sass_text_bits(w, not_at, 1) ? "!" : "");
	sass_put_words(w, uniform ? "U" : "");
	sass_put_words(w, name);
}

void sass_put_hex(struct sass_writing *w, int64_t v)
{
	sass_put_words(w, v < 0 ? "-0x" : "0x");
	sass_put_number(w, (uint64_t)(v < 0 ? -v : v), 16);
}

static void put_value(struct sass_writing *w, double v)
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
	put_value(w, sass_has_way(w, 'd') ? v : float_of_bits(word));
}

/* The upper half comes first. A comparison has a result where others have the kind of halves. */
static void put_two_halves(struct sass_writing *w)
{
	bool is_compare = sass_has_place(w, 'q'),
	     is_bfloat = !is_compare && sass_text_bits(w, 85, 1);
	uint32_t word = whole_word(w);

	w->is_unsure |= is_compare && sass_text_bits(w, 64, 8);
	put_value(w, is_bfloat ? float_of_bits(word & 0xffff0000u) : half_of_bits(word >> 16));
	sass_begin_operand(w);
	put_value(w, is_bfloat ? float_of_bits(word << 16) : half_of_bits(word & 0xffff));
}

void sass_put_constant(struct sass_writing *w, unsigned offset)
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
void sass_put_source(struct sass_writing *w, enum sass_slot slot, bool uniform)
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
static void put_word(struct sass_writing *w)
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
void sass_put_formed(struct sass_writing *w, char place)
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
		put_word(w);
}
