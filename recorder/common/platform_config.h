/* SPDX-License-Identifier: Apache-2.0 */
/* platform_config.h: the platform constant that kernels use: the rate of its system counter. */
#pragma once

#include <cstdint>

#ifdef PTO_NPU_ARCH_A5
constexpr uint64_t PLATFORM_PROF_SYS_CNT_FREQ = 1000000000;
#else
constexpr uint64_t PLATFORM_PROF_SYS_CNT_FREQ = 50000000;
#endif
