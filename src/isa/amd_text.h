/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_text.h: what amd_code_decode() says of an instruction, from its disassembly, for code of
 * which a capture has the text alone. Pure.
 */
#pragma once

#include "base/str.h"
#include "isa/amd_code.h"

/* Length, class, flags and branch of the instruction at `address`. len_bytes is the distance to the
 * next row, 0 if unknown. Text without a known mnemonic is AMD_CODE_UNKNOWN. */
struct amd_code_inst amd_code_of_text(
	enum amd_arch arch, struct str text, uint64_t address, uint64_t len_bytes);
