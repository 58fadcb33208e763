/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_strip.h: in which cells do executions of the matching code rows lie? is_match: by code row,
 * n_code of them. Cells as those of a tile: 0 (255: none), share covered, 0, flag 1 where there are
 * several. May fail: USAGE, memory. Runs in a browser too.
 */
#pragma once

#include "serve/view/view.h"

bool find_strip(const struct view *v, const struct query *q, const uint8_t *is_match,
	struct strbuf *out, struct incore_error *e);
