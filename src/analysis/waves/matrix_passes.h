/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix_passes.h: how long each matrix instruction occupies its pipe, as far as known. Modelled
 * (isa/amd_matrix.h). Also runs in a browser.
 */
#pragma once

#include "trace/trace.h"

/* Cycles by code row into out, n_code of them; 0: not a matrix instruction, or unknown. Returns the
 * longest; out may be NULL. */
uint32_t matrix_passes(const struct trace *t, uint32_t *out);
