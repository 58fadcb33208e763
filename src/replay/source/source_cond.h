/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_cond.h: is the condition of an #if true, false, or unknown? A macro is defined, undefined
 * or never mentioned; the last yields TRUTH_UNKNOWN, unless the rest of the condition decides.
 * Owner: the holder calls cond_deinit(). May fail: returns false when out of memory; a condition
 * that cannot be parsed is unknown, not an error.
 */
#pragma once

#include "base/map.h"

enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

struct cond_macro {
	enum truth is_defined;
	bool has_value; /* an integer */
	int64_t value;
};

struct cond_macros {
	struct intern names;
	struct cond_macro *v; /* by index in names */
	size_t cap;
};

void cond_init(struct cond_macros *m);
void cond_deinit(struct cond_macros *m);
bool cond_set(struct cond_macros *m, struct str name, bool is_defined, int64_t value);
/* `rest` is the text after #define or #undef. */
bool cond_define(struct cond_macros *m, struct str rest);
bool cond_undef(struct cond_macros *m, struct str rest);

enum truth truth_not(enum truth t);
enum truth cond_defined(const struct cond_macros *m, struct str name);
enum truth cond_value(const struct cond_macros *m, struct str condition);
