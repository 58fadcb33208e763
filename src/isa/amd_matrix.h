/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_matrix.h: how long one matrix instruction keeps the matrix pipe of a SIMD busy, MODELLED from
 * the MxNxK shape and the data type in its mnemonic. A trace only shows the issue (4 to 12 cycles
 * whatever the shape). What neither mnemonic nor target determines stays unknown.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

struct amd_matrix_shape {
	uint32_t m, n, k, blocks;
	bool is_sparse;		     /* half of k is zeros by construction */
	char type[12];		     /* input type: "f16", "bf16", "fp8", "f8f6f4", ... */
	unsigned a_format, b_format; /* f8f6f4: cbsz, blgp; 0, 1: 8 bits, 2, 3: 6 bits, 4: 4 bits */
};

/* False: not a matrix instruction, or a shape that cannot be parsed. */
bool amd_matrix_shape(struct str text, struct amd_matrix_shape *out);
/* Multiply-accumulates of the instruction for one wave, without the zeros of sparse inputs. */
uint64_t amd_matrix_macs(const struct amd_matrix_shape *s);
/* Modelled cycles of the pipe; 0: unknown for this target or type. */
uint32_t amd_matrix_cycles(const char *arch, const struct amd_matrix_shape *s);
