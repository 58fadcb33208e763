/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supply.h: arguments of a replay that nobody recorded or described: recipes of the paged-attention
 * sample, and for a kernel with typed parameters, as PTOAS writes it, what its .pto tells. Internal to
 * the room. May fail: status 2 where nothing is known of a kernel, 3 for a source or .pto.
 */
#pragma once

#include "replay/arguments/testcase.h"
#include "replay/replay.h"

bool supply_recipe(struct args *a, const char *source, uint32_t n_blocks, struct incore_error *e);

/* Has it no kernel_entry(int64_t *args)? */
bool supply_is_typed(const char *source, bool *is_typed, struct incore_error *e);
/* Its one source: fills members, class, wrapper and, without an arg-spec, the arguments. */
bool supply_typed(const struct replay_request *q, struct replay_report *r, struct incore_error *e);

/* Adds a member for each side that the .pto names. */
void supply_sides(const struct testcase *t, const char *path, const char *source,
	struct replay_member *out, uint32_t *n, enum kernel_class *class);
