/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.h: does what a kernel touched agree with the recorded arguments? Compares slots, roles, and
 * every rectangle of global memory with the view of its slot: its extent and, if the view has gaps,
 * its strides. Recording has already ensured that a rectangle lies in its buffer.
 * Owner: the list is the caller's, its texts live in the arena. May fail: on memory.
 */
#pragma once

#include "args/args.h"
#include "model/stream/opstream.h"

typedef VEC(const char *) reach_remarks;

/* Adds one line for each way in which they differ. */
bool reach_compare(const struct opstream_set *set, const struct arg *slots, struct arena *a,
	reach_remarks *out, struct incore_error *e);
