/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_strip.h: finds the cells with executions of the matching code rows. is_match: n_code values,
 * by code row. Cells are like those of a tile: 0 (255: empty), share covered, 0, flag 1 if there
 * are several. May fail: USAGE, memory. Also runs in a browser.
 */
#pragma once

#include "serve/view/view.h"

bool find_strip(const struct view *v, const struct query *q, const uint8_t *is_match,
	struct strbuf *out, struct incore_error *e);
