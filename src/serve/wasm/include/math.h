/* SPDX-License-Identifier: Apache-2.0 */
/* math.h: is it a number? */
#ifndef SERVE_WASM_INCLUDE_MATH_H
#define SERVE_WASM_INCLUDE_MATH_H

#define isfinite(x) __builtin_isfinite(x)
#define isnan(x) __builtin_isnan(x)

static inline double fabs(double x)
{
	return __builtin_fabs(x);
}

#endif
