/* SPDX-License-Identifier: Apache-2.0 */
/* ops_table.h: the data behind ops.h, for ops.c alone. */
#ifndef MODEL_STREAM_OPS_TABLE_H
#define MODEL_STREAM_OPS_TABLE_H

#include "model/stream/ops.h"

extern const struct op_info OP_TABLE[];
extern const size_t OP_TABLE_N;

#endif
