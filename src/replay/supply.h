/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supply.h: supplies arguments of a replay that nobody recorded or described: from recipes for the
 * paged-attention sample and, for a kernel with typed parameters as PTOAS writes it, from its .pto.
 * Internal to src/replay. May fail: status 2 if nothing is known about a kernel, 3 for a source or
 * .pto.
 */
#pragma once

#include "replay/arguments/testcase.h"
#include "replay/look.h"
#include "replay/plan.h"

/* c: the case of the module, which has the sizes; NULL: those of the small case. */
bool supply_recipe(struct args *a, const char *source, const struct config_case *c,
	uint32_t n_blocks, struct incore_error *e);

/* *is_typed: does the source lack a kernel_entry(int64_t *args)? */
bool supply_is_typed(const char *source, bool *is_typed, struct incore_error *e);
/* For a typed kernel, from its only source: fills members, class, wrapper and, without an arg-spec,
 * the arguments. */
bool supply_typed(const struct replay_plan *p, struct replay_report *r, struct incore_error *e);

/* What the kernel of a test case is expected to do; option: the word that sets a value. Texts live
 * in `a`, the arguments stay the test case's. */
bool supply_wants(const struct testcase *t, const char *option, struct arena *a,
	struct look_wants *out, struct incore_error *e);

/* Adds a member for each side that the .pto names. */
void supply_sides(const struct testcase *t, const char *path, const char *source,
	struct replay_member *out, uint32_t *n, enum kernel_class *class);
