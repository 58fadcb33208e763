/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_words.h: text of an instruction without a disassembler. Control flow, waits, messages and
 * other sequencer instructions are written as their own mnemonics with all operands; the rest gets
 * a name that shows its kind (v_vop2, global_load, v_mfma) and its words in hex, enough for every
 * class, counter and branch that an analysis reads from text. Pure; fails only on lack of memory
 * (through the strbuf).
 */
#pragma once

#include "base/str.h"
#include "isa/amd_code.h"

/* Appends the text of the instruction at p, which amd_code_decode() decoded into *inst. */
bool amd_words_put(
	struct strbuf *out, enum amd_arch arch, const struct amd_code_inst *inst, const uint8_t *p);
