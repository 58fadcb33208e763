/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob.h: a view as bytes, for a report: what the answers that follow the mouse need, and no more.
 * Columns stand one after the other, each predicted from what came before, so that they compress to
 * about a byte a slice. Read by the same code in a browser: nothing in it is trusted.
 * May fail: memory; reading also on damage. Runs in a browser too.
 */
#pragma once

#include "serve/view/view.h"

struct blob_part { /* what a report carries of one track: slices [first, first + n) */
	uint32_t first, n;
};

struct blob_options {
	const struct blob_part *parts; /* by track; NULL: everything */
	bool no_source;		       /* no text of sources */
};

bool blob_write(const struct view *v, const struct blob_options *o, struct strbuf *out);

struct blob_view { /* a view read back, and what it stands on */
	struct view view;
	struct trace *trace;
	struct columns columns;
};

bool blob_read(const void *bytes, size_t n, struct blob_view *out, struct incore_error *e);
void blob_view_deinit(struct blob_view *b);
