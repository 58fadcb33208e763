/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_passes.c: how long each matrix instruction occupies its pipe. */
#include "analysis/waves/matrix_passes.h"

#include "isa/amd_matrix.h"

uint32_t matrix_passes(const struct trace *t, uint32_t *out)
{
	uint32_t longest = 0;

	for (code_idx i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		struct amd_matrix_shape shape;
		uint32_t cyc = 0;

		if (!r->is_label && r->inst_class == CLASS_MATRIX && t->meta.arch &&
			amd_matrix_shape((struct str){r->text, r->text_len}, &shape))
			cyc = amd_matrix_cycles(t->meta.arch, &shape);
		if (out)
			out[i] = cyc;
		longest = cyc > longest ? cyc : longest;
	}
	return longest;
}
