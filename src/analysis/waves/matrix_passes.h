/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix_passes.h: how long does each matrix instruction keep its pipe, as far as that is known?
 * Modelled (isa/amd_matrix.h). Runs in a browser too.
 */
#pragma once

#include "trace/trace.h"

/* Cycles by code row into out, n_code of them; 0: no matrix instruction, or not known. Returns the
 * longest; out may be NULL. */
uint32_t matrix_passes(const struct trace *t, uint32_t *out);
