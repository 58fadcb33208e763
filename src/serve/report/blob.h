/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob.h: a view as bytes, for a report: only the data that interactive answers need. Columns are
 * stored one after the other, each value predicted from the ones before, so that they compress to
 * about a byte per slice. Read by the same code in a browser: its contents are not trusted.
 * May fail: memory; reading also on damage. Also runs in a browser.
 */
#pragma once

#include "serve/view/view.h"

struct blob_part { /* part of a track in a report: slices [first, first + n) */
	uint32_t first, n;
};

struct blob_options {
	const struct blob_part *parts; /* by track; NULL: everything */
	bool no_source;		       /* leave out the text of sources */
};

bool blob_write(const struct view *v, const struct blob_options *o, struct strbuf *out);

struct blob_view { /* a view read back, and the data it refers to */
	struct view view;
	struct trace *trace;
	struct columns columns;
};

bool blob_read(const void *bytes, size_t n, struct blob_view *out, struct incore_error *e);
void blob_view_deinit(struct blob_view *b);
