/* SPDX-License-Identifier: Apache-2.0 */
/* driver.cpp: all of the program around a kernel as one unit, compiled once and linked to each. */
#include "driver/emit.cpp"
#include "driver/intrinsics.cpp"
#include "driver/main.cpp"
#include "driver/memory.cpp"
#include "driver/stream.cpp"
#include "driver/values.cpp"
