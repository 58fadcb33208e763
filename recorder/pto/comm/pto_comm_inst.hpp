/* SPDX-License-Identifier: Apache-2.0 */
/* pto_comm_inst.hpp: what goes to another rank or comes from one. */
#pragma once

#include "incore/ops.hpp"
#include "pto/comm/comm_types.hpp"

namespace pto::comm
{
INCORE_FUNCTION(TNOTIFY)
INCORE_FUNCTION(TWAIT)
INCORE_FUNCTION(TPUT)
INCORE_FUNCTION(TPUT_ASYNC)
} // namespace pto::comm
