/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classify.h: what does a source with slot arguments use: its block or lane, its slots? Determined
 * from masked text (source_text.h), never from comments. Pure functions.
 */
#pragma once

#include "base/str.h"

/* How the code reads its block or lane index, in one line; NULL: it does not. */
const char *kernel_asks(struct str masked);

/* True where the source has kernel_entry with a slot array. */
bool kernel_has_entry(struct str masked);

/* Which units have tile ops that compute, and not only move, in the code? */
#define COMPUTES_CUBE 1u
#define COMPUTES_VECTOR 2u
unsigned kernel_computes(struct str masked);

/* Bit i: the code reads args[i] by a literal index (i < 64; context slots too). */
uint64_t kernel_slots_read(struct str masked);
