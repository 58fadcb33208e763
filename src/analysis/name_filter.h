/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_filter.h: kernels by a regular expression over their names, as --kernel says.
 * Owner: name_filter_init() .. name_filter_deinit(). May fail: with status USAGE, or memory.
 */
#pragma once

#include "base/error.h"

struct name_filter { /* of PCRE2; safe to free when zeroed */
	struct pcre2_real_code_8 *code;
	struct pcre2_real_match_data_8 *match;
	struct pcre2_real_match_context_8 *context;
};

bool name_filter_init(struct name_filter *f, const char *regex, struct incore_error *e);
void name_filter_deinit(struct name_filter *f);
/* *does: whether it matches. False when the expression gives up. */
bool name_filter_match(
	const struct name_filter *f, const char *name, bool *does, struct incore_error *e);
