/* SPDX-License-Identifier: Apache-2.0 */
/* pto-inst.hpp: the tile language as a recorder. */
#pragma once

#include "incore/fifo.hpp"
#include "incore/intrinsics.hpp"
#include "incore/ops.hpp"
#include "pto/comm/pto_comm_inst.hpp"
