/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_operand.h: writes one operand of an instruction as text: registers, predicates, numbers.
 * Writes into the caller's buffer, never past its end.
 */
#pragma once

#include "isa/sass/sass_table.h"

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

/* --- fields of the instruction: bits, letters of its row --- */
unsigned sass_text_bits(const struct sass_writing *w, unsigned at, unsigned n);
int64_t sass_signed_bits(const struct sass_writing *w, unsigned at, unsigned n);
unsigned sass_form_of(const struct sass_writing *w);
bool sass_is_uniform(const struct sass_writing *w);
bool sass_has_way(const struct sass_writing *w, char way);
bool sass_has_place(const struct sass_writing *w, char place);
/* --- writing it; unknown parts become "?" --- */
void sass_put_words(struct sass_writing *w, const char *s);
void sass_put_number(struct sass_writing *w, uint64_t v, unsigned base);
void sass_begin_operand(struct sass_writing *w); /* adds a comma after the previous one */
void sass_put_unsure(struct sass_writing *w);
bool sass_is_nothing(const struct sass_writing *w, unsigned at, bool uniform);
void sass_put_register(struct sass_writing *w, unsigned at, bool uniform);
void sass_put_predicate(struct sass_writing *w, unsigned at, unsigned not_at, bool uniform);
void sass_put_hex(struct sass_writing *w, int64_t v);
void sass_put_constant(struct sass_writing *w, unsigned offset);
void sass_put_source(struct sass_writing *w, enum sass_slot slot, bool uniform);
void sass_put_formed(struct sass_writing *w, char place);
