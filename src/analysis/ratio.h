/* SPDX-License-Identifier: Apache-2.0 */
/* ratio.h: a part of a whole, or so much for each, as a member of JSON; null where there is no
 * whole, or nobody knows. Readers are not meant to divide: two that round differently disagree. */
#ifndef ANALYSIS_RATIO_H
#define ANALYSIS_RATIO_H

#include <math.h>

#include "codec/json_writer.h"
#include "trace/trace.h"

static inline void ratio_json(struct json_writer *w, const char *key, uint64_t part, uint64_t whole)
{
	json_w_kv_double(w, key, whole ? (double)part / (double)whole : NAN, 6);
}

/* A number that not every capture tells: null where it is NO_VALUE. */
static inline void known_json(struct json_writer *w, const char *key, int64_t v)
{
	if (v == NO_VALUE)
		json_w_kv_null(w, key);
	else
		json_w_kv_i64(w, key, v);
}

#endif
