/* SPDX-License-Identifier: Apache-2.0 */
/* ops_table.h: the data behind ops.h, only for ops.c. */
#pragma once

#include "model/stream/ops.h"

extern const struct op_info OP_TABLE[];
extern const size_t OP_TABLE_N;
