/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h: which parameters of a kernel decide how much it does, and the values with which it
 * works at full shape. The rule: a value that decides trip counts, conditions or sizes is the
 * largest with which every access of the .pto stays inside its view, or, if nothing bounds it, the
 * least with which the work no longer grows; a value that only decides places is the least that
 * stays inside. Where the .pto does not tell, nothing is concluded.
 * Owner: the caller. May fail: memory.
 */
#pragma once

#include "replay/source/pto.h"

enum control_state {
	CONTROL_NONE,  /* decides nothing that the .pto shows, or is given */
	CONTROL_OPEN,  /* decides something, and no value follows from the .pto */
	CONTROL_PLACE, /* decides places alone: any value that stays inside does the same work */
	CONTROL_FULL,  /* the kernel works at full shape */
};

struct control {
	enum control_state state;
	int64_t value; /* of the scalar, or of every element; with PLACE and FULL */
};

/* `known` gives what the caller knows; func names the functions that are one kernel, NULL ends. */
bool control_settle(struct str text, const char *path, const struct pto_launch *known,
	const char *const *funcs, struct control out[PTO_MAX_PARAMS], struct incore_error *e);
