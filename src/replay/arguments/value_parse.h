/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_parse.h: a value as a user writes it, to the bits of its type. "0x..." are the bits
 * themselves; "f32:1.5" the bits of a single, for slots that carry one in an integer. Halves are
 * rounded to nearest even. False: not a value of that type, or out of its range. Pure.
 */
#ifndef REPLAY_ARGUMENTS_VALUE_PARSE_H
#define REPLAY_ARGUMENTS_VALUE_PARSE_H

#include "base/str.h"

bool value_parse(unsigned dtype, struct str text, uint64_t *bits);
uint16_t half_of_float(float f);
uint16_t bfloat_of_float(float f);

#endif
