/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_status.h: how reliable is the price of an op? Prices one sample of it (64 x 64 float, in the
 * places its operands name) and reports the worst status of the constants used. May fail: out of
 * memory.
 */
#pragma once

#include "model/profile/price.h"

/* `op` is an index of op_table(). */
bool op_status(const struct profile *p, unsigned op, struct op_price *out, struct incore_error *e);
