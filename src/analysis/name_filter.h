/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_filter.h: selects kernels by a regular expression over their names, for --kernel.
 * Owner: name_filter_init() .. name_filter_deinit(). May fail: status USAGE, memory.
 */
#pragma once

#include "base/error.h"

struct name_filter { /* PCRE2 objects; safe to free when zeroed */
	struct pcre2_real_code_8 *code;
	struct pcre2_real_match_data_8 *match;
	struct pcre2_real_match_context_8 *context;
};

bool name_filter_init(struct name_filter *f, const char *regex, struct incore_error *e);
void name_filter_deinit(struct name_filter *f);
/* Sets *does to whether the name matches. False if PCRE2 gives up on the expression. */
bool name_filter_match(
	const struct name_filter *f, const char *name, bool *does, struct incore_error *e);
