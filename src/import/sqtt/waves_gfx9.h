/* SPDX-License-Identifier: Apache-2.0 */
/* waves_gfx9.h: effects of gfx9 tokens on waves. The fields are already extracted from the
 * token. */
#pragma once

#include "import/sqtt/internal.h"

struct gfx9_place {
	unsigned sh, cu, slot, simd;
};

void gfx9_wave_start(struct decoder *d, const struct gfx9_place *p, unsigned queue, unsigned count);
/* Opens a wave that has an instruction but no start. */
void gfx9_open_unstarted(struct decoder *d, struct wave *w, const struct gfx9_place *p);
void gfx9_wave_end(struct decoder *d, const struct gfx9_place *p);
/* code: 1 stall, 2 issued, 3 immediate executed */
void gfx9_issue(struct decoder *d, struct wave *w, unsigned code);
void gfx9_inst(struct decoder *d, struct wave *w, unsigned type);
void gfx9_inst_pc(struct decoder *d, struct wave *w, uint64_t addr);
void gfx9_save_context(struct decoder *d);
/* End of the buffer: open waves leave as they are. */
void gfx9_finish(struct decoder *d);

static inline struct wave *gfx9_wave(struct decoder *d, unsigned simd, unsigned slot)
{
	return &d->waves[simd * GFX9_SLOTS + slot];
}
