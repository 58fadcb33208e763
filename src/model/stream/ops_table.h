/* SPDX-License-Identifier: Apache-2.0 */
/* ops_table.h: the data behind ops.h, for ops.c alone. */
#pragma once

#include "model/stream/ops.h"

extern const struct op_info OP_TABLE[];
extern const size_t OP_TABLE_N;
