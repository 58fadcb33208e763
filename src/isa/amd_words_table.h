/* SPDX-License-Identifier: Apache-2.0 */
/* amd_words_table.h: opcode numbers whose meaning an analysis needs; see amd_words.c. */
#pragma once

#include <stdint.h>

enum amd_word_form {
	AMD_WORD_PLAIN,	 /* no operand shown */
	AMD_WORD_NUMBER, /* the 16-bit immediate in decimal */
	AMD_WORD_HEX,
	AMD_WORD_WAITCNT, /* counters by name */
};

struct amd_word_name {
	uint8_t op;
	uint8_t first_major, last_major; /* gfx generations with this meaning */
	uint8_t form;			 /* enum amd_word_form */
	const char *name;		 /* NULL ends a table */
};

extern const struct amd_word_name amd_sopp_names[], amd_sopk_names[], amd_sop1_names[],
	amd_sop2_names[], amd_smem_names[];
