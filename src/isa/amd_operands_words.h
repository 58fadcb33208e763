/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_operands_words.h: the two readers behind amd_operands.h, and what they share. amd_live.h
 * looks at disassembly alone.
 */
#pragma once

#include "isa/amd_operands.h"

void amd_regs_push(struct amd_reg_list *l, unsigned first, unsigned last);
/* By disassembly; *out is made here. */
void amd_operands_text(struct str text, struct amd_operands *out);
/* By the words that stand at text.p + at ("<0x... 0x...>"); false: a kind that is not laid out
 * here, and *out is as it was. */
bool amd_operands_words(unsigned gfx_major, struct str text, size_t at, struct amd_operands *out);
