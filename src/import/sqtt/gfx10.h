/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gfx10.h: shared by the layers of gfx10, gfx11, gfx12 and MI400: token table, meaning of
 * instruction codes, and effects of tokens on waves.
 */
#pragma once

#include "import/sqtt/internal.h"

enum gfx10_token {
	GFX10_NOP,
	GFX10_TIME,
	GFX10_SKIP, /* only its time is used */
	GFX10_LAST_QUIET = GFX10_SKIP,
	GFX10_ISSUE, /* INST and VALU_INST, except on MI400 */
	GFX10_IMM_ONE,
	GFX10_IMMEDIATE,
	GFX10_WAVE_READY,
	GFX10_LAST_COMMON = GFX10_WAVE_READY,
	GFX10_UNKNOWN,
	GFX10_INST,
	GFX10_VALU_INST,
	GFX10_NEW_PC,
	GFX10_WAVE_START,
	GFX10_WAVE_START_EXT,
	GFX10_WAVE_END,
	GFX10_SHADER_DATA,
	GFX10_SHADER_DATA_SHORT,
	GFX10_MISC,
	GFX10_EVENT,
	GFX10_REG,
	GFX10_REG_INIT,
	GFX10_TIMESTAMP,
	GFX10_HEADER,
};

struct gfx10_entry {
	uint8_t kind;	 /* enum gfx10_token */
	uint8_t nibbles; /* length */
	uint8_t shift;	 /* of the time field */
	uint8_t add;	 /* to the time */
	uint16_t mask;	 /* of the time field */
	/* for GFX10_ISSUE: position of the wave64 bit, which the wave follows; position of the
	 * code */
	uint8_t w64_shift, code_shift;
	uint16_t code_mask, code_base;
	uint32_t pad; /* 16 bytes, so that the index is a shift */
};
#define GFX10_VALU_CODE 256u /* the code of a VALU_INST */
#define GFX10_CODES (GFX10_VALU_CODE + 1)

/* Indexed by the low 12 bits: the short tokens in them that only advance time, taken together; 0
 * nibbles: none. */
struct gfx10_quiet {
	uint8_t nibbles, delta;
};
#define GFX10_QUIETS 4096u

enum gfx10_code_kind {
	CODE_NONE,
	CODE_PLAIN,
	CODE_SETPC,
	CODE_TRAP,
	CODE_BARRIER,
	CODE_RETURN, /* from a trap */
	CODE_OTHER_SIMD,
};

struct gfx10_code {
	uint8_t kind, category;
	uint16_t cycles;
	bool is_newer; /* 0.1.6 decodes it differently */
	bool is_plain; /* an instruction and nothing else */
	uint16_t pad;  /* 8 bytes, so that the index is a shift */
};

/* A token split into its fields. */
struct gfx10_place {
	unsigned sa, wgp, simd, wave;
};

void gfx10_wave_start(
	struct decoder *d, const struct gfx10_place *p, unsigned queue, unsigned count);
void gfx10_wave_end(struct decoder *d, const struct gfx10_place *p);
void gfx10_wave_ready(struct decoder *d, uint32_t mask);
void gfx10_immediate(struct decoder *d, unsigned wave);
/* Adds an instruction to a wave for which wave_is_plain() holds. */
void gfx10_add_inst(struct decoder *d, struct wave *w, unsigned category, unsigned cycles);
void gfx10_inst(struct decoder *d, unsigned wave, struct gfx10_code c);
void gfx10_new_pc(struct decoder *d, unsigned wave, uint64_t addr);
void gfx10_save_context(struct decoder *d);
/* MI400: repeats the last memory instruction. */
void gfx10_replay(struct decoder *d, unsigned wave);
/* MI400: adds a cycle to the wave's next instruction. */
void gfx10_load_scale(struct decoder *d, unsigned wave);
void gfx10_finish(struct decoder *d);
