/* SPDX-License-Identifier: Apache-2.0 */
/* spec_words.c: the arguments of a kernel, from the words of a command line. */
#include "args/spec.h"

#include "args/value.h"

static bool bad_word(struct incore_error *e, const char *word, const char *why)
{
	return err_set(e, INCORE_USAGE, "bad-argument", "argument '%s': %s", word, why);
}

static bool word_fill(struct arg *s, struct str fill)
{
	struct arg_content *c = &s->content;
	uint64_t number = 0;

	c->is_filled = true;
	if (fill.n == 0 || str_is(fill, "none")) {
		c->fill = FILL_NONE;
		c->is_filled = false;
	} else if (str_is(fill, "zero")) {
		c->fill = FILL_ZERO;
	} else if (str_is(fill, "out")) {
		s->is_read = false;
		s->is_written = true;
		c->fill = FILL_NONE;
		c->is_filled = false;
	} else if (str_starts(fill, "random")) {
		c->fill = FILL_RANDOM;
		if (fill.n > 6 && !str_to_u64(str_sub(fill, 6, fill.n), &number))
			return false;
		c->seed = number;
	} else if (str_starts(fill, "value")) {
		struct arg_number v;

		if (!arg_number_of(str_sub(fill, 5, fill.n), &v))
			return false;
		c->fill = FILL_VALUE;
		c->value = v.is_float ? v.f : (double)(int64_t)v.bits;
	} else {
		return false;
	}
	return true;
}

static bool word_tensor(struct arg *s, struct str dims, struct str fill, const char *word,
	struct arg_buffer *b, struct incore_error *e)
{
	struct str rest = dims, part;
	uint64_t v;

	s->is_tensor = true;
	while (rest.n) {
		if (!str_cut(&rest, ",", &part)) {
			part = rest;
			rest.n = 0;
		}
		if (s->n_dims == ARG_DESCRIPTOR_DIMS || !str_to_u64(part, &v) || v > UINT32_MAX)
			return bad_word(e, word, "expected up to 5 sizes, as f32[128,64]");
		s->shape[s->n_dims++] = v;
	}
	if (s->n_dims == 0)
		return bad_word(e, word, "expected up to 5 sizes, as f32[128,64]");
	arg_default_strides(s);
	arg_measure(s);
	if (!arg_extent_bytes(s, &b->n))
		return bad_word(e, word, "the tensor is too large");
	b->is_size_known = true;
	if (!word_fill(s, fill))
		return bad_word(e, word,
			"expected :zero, :random, :random<seed>, :value<number>, :none or :out");
	return true;
}

bool args_add_word(struct args *a, const char *word, struct incore_error *e)
{
	struct str rest = str_of(word), slot, type, text;
	struct arg s = SPEC_ARG;
	struct arg_buffer b = {0};
	struct arg_number value;
	ptrdiff_t open, close;
	uint64_t number;
	bool is_bits = false;

	if (!str_cut(&rest, "=", &slot) || !str_to_u64(slot, &number) || number > INT32_MAX)
		return bad_word(e, word, "expected SLOT=f32[128,64] or SLOT=i64:128");
	if (spec_refused_slot(a, (int64_t)number))
		return bad_word(e, word, spec_refused_slot(a, (int64_t)number));
	s.slot = (uint32_t)number;
	open = str_find(rest, "[");
	close = str_find(rest, "]");
	text = str_sub(rest, (size_t)(close > 0 ? close + 1 : 0), rest.n);
	type = open > 0 ? str_sub(rest, 0, (size_t)open) : rest;
	if (open < 0 && !str_cut(&text, ":", &type))
		return bad_word(e, word, "expected SLOT=f32[128,64] or SLOT=i64:128");
	s.dtype = (uint8_t)arg_dtype_of(type, &is_bits);
	if (s.dtype == DTYPE_UNKNOWN)
		return bad_word(e, word, "unknown dtype");
	if (open > 0) {
		if (close < open || (text.n && text.p[0] != ':'))
			return bad_word(
				e, word, "expected SLOT=f32[128,64] or SLOT=f32[128,64]:zero");
		text = str_sub(text, 1, text.n);
		if (!word_tensor(&s, str_sub(rest, (size_t)open + 1, (size_t)(close - open - 1)),
			    text, word, &b, e) ||
			!args_add_buffer(a, &b, &s.buffer, e))
			return false;
	} else if (!arg_number_of(text, &value) || !arg_pack(s.dtype, is_bits, &value, &s.bits)) {
		return bad_word(e, word, "expected a number of that dtype after the colon");
	}
	a->slots[s.slot] = s;
	return true;
}
