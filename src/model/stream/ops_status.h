/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_status.h: how well is the price of an op founded? Prices one sample of it (64 x 64 float, in
 * the places its operands name) and tells the worst status of the constants that were used.
 * May fail: lack of memory.
 */
#pragma once

#include "model/profile/price.h"

/* `op` is an index of op_table(). */
bool op_status(const struct profile *p, unsigned op, struct op_price *out, struct incore_error *e);
