/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_value.h: JSON values as they stand in the text, and times of them. Strings are raw: with
 * their quotes, escapes left alone. Nothing here allocates but the reader's own scratch.
 */
#ifndef EXPORT_CLEAN_CLEAN_VALUE_H
#define EXPORT_CLEAN_CLEAN_VALUE_H

#include "codec/json_reader.h"

/* Steps over a value and checks all of it, so that it may be copied. */
bool clean_skip(struct json_reader *r);
/* The same, and where it stands; n 0: the reader failed. */
struct str clean_raw(struct json_reader *r);
/* A string without its quotes; anything else as it stands. */
struct str clean_inside(struct str raw);
bool clean_is_string(struct str raw);
bool clean_is_number(struct str raw);
/* A number, or a string that holds one (then *raw becomes empty: it cannot be copied as a number).
 * False: no finite number of at most 2^53. */
bool clean_time(struct str *raw, double *out);

#endif
