/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classify.h: what does the code of a slot-argument source ask for: its block or lane, its slots?
 * Answered from masked text (source_text.h), never from comments. Pure functions.
 */
#pragma once

#include "base/str.h"

/* How the code asks for its block or lane, in one line; NULL: it does not. */
const char *kernel_asks(struct str masked);

/* True where the source has kernel_entry with a slot array. */
bool kernel_has_entry(struct str masked);

/* Bit i: the code reads args[i] by a literal index (i < 64; context slots too). */
uint64_t kernel_slots_read(struct str masked);
