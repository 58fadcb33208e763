/* SPDX-License-Identifier: Apache-2.0 */
/* classify.c: finds words and calls in a kernel that show how it is run. */
#include "replay/source/classify.h"

#include "args/args.h"
#include "replay/source/source_text.h"

static bool names_word(struct str masked, const char *word)
{
	size_t pos = 0;

	return source_find_word(masked, word, &pos);
}

static void skip_blank(struct str s, size_t *pos)
{
	while (*pos < s.n && strchr(" \t\r\n", s.p[*pos]))
		++*pos;
}

static bool take_char(struct str s, size_t *pos, char c)
{
	skip_blank(s, pos);
	if (*pos >= s.n || s.p[*pos] != c)
		return false;
	++*pos;
	return true;
}

static bool calls_with_args(struct str masked, const char *function)
{
	size_t pos = 0;

	while (source_find_word(masked, function, &pos)) {
		size_t at = pos;

		if (!take_char(masked, &at, '('))
			continue;
		skip_blank(masked, &at);
		if (str_starts(str_sub(masked, at, masked.n), "args"))
			return true;
	}
	return false;
}

uint64_t kernel_slots_read(struct str masked)
{
	uint64_t slots = 0;
	size_t pos = 0;

	while (source_find_word(masked, "args", &pos)) {
		size_t at = pos, from;
		uint64_t index;

		if (!take_char(masked, &at, '['))
			continue;
		skip_blank(masked, &at);
		for (from = at; at < masked.n && masked.p[at] >= '0' && masked.p[at] <= '9';)
			at++;
		if (str_to_u64(str_sub(masked, from, at - from), &index) && index < 64 &&
			take_char(masked, &at, ']'))
			slots |= (uint64_t)1 << index;
	}
	return slots;
}

bool kernel_has_entry(struct str masked)
{
	size_t pos = 0;

	while (source_find_word(masked, "kernel_entry", &pos)) {
		size_t at = pos;
		ptrdiff_t end;

		if (!take_char(masked, &at, '('))
			continue;
		end = str_find(str_sub(masked, at, masked.n), ")");
		if (end > 0 && names_word(str_sub(masked, at, (size_t)end), "int64_t"))
			return true;
	}
	return false;
}

static bool is_upper(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_word(char c)
{
	return is_upper(c) || (c >= 'a' && c <= 'z');
}

static bool moves_only(struct str op)
{
	static const char *const MOVES[] = {"TLOAD", "TSTORE", "TPREFETCH", "TMOV", "TEXTRACT",
		"TINSERT", "TPUSH", "TPOP", "TFREE", "TALLOC", "TRESHAPE", "TASSIGN", "TSYNC",
		"TBROADCAST", "TGET_SCALE", "TNOTIFY", "TWAIT"};

	for (size_t i = 0; i < sizeof(MOVES) / sizeof(*MOVES); i++)
		if (str_starts(op, MOVES[i]))
			return true;
	return false;
}

unsigned kernel_computes(struct str s)
{
	unsigned found = 0;

	for (size_t at = 0; at + 2 < s.n; at++) {
		size_t end = at;
		struct str op;

		if (s.p[at] != 'T' || (at && is_word(s.p[at - 1])) || s.p[at + 1] == '_')
			continue;
		while (end < s.n && is_upper(s.p[end]))
			end++;
		op = str_sub(s, at, end - at);
		at = end - 1;
		skip_blank(s, &end);
		if (op.n < 3 || end >= s.n || (s.p[end] != '(' && s.p[end] != '<') ||
			moves_only(op))
			continue;
		found |= str_starts(op, "TMATMUL") || str_starts(op, "TGEMV") ? COMPUTES_CUBE
									      : COMPUTES_VECTOR;
	}
	return found;
}

const char *kernel_asks(struct str masked)
{
	static const char *const CALLS[] = {"get_block_idx", "get_sub_block_id", "get_block_num"};
	static const char *const WORDS[] = {
		"SPMD_LOCAL_CONTEXT_INDEX", "SPMD_GLOBAL_CONTEXT_INDEX"};

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++)
		if (names_word(masked, WORDS[i]))
			return "it names a context slot";
	for (size_t i = 0; i < sizeof(CALLS) / sizeof(*CALLS); i++)
		if (calls_with_args(masked, CALLS[i]))
			return "it asks for its block or lane";
	if (kernel_slots_read(masked) >> ARG_CONTEXT_SLOT & 3) /* 48 or 49 */
		return "it reads slot 48 or 49";
	return NULL;
}
