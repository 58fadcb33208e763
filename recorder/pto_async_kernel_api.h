/* SPDX-License-Identifier: Apache-2.0 */
/* pto_async_kernel_api.h: transfers that outlive the kernel; recorded where they are asked for. */
#pragma once

#include "intrinsic.h"
#include "pto/comm/pto_comm_inst.hpp"
