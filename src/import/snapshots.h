/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshots.h: snapshots.json of rocprofv3: which file of the capture is the copy of which source.
 */
#pragma once

#include "trace/trace.h"

struct snapshots_in {
	struct trace *trace;			  /* its sources get the names of their copies */
	struct arena *scratch;			  /* for the time of the call */
	bool (*has)(void *ctx, const char *name); /* is a file of that name beside it? */
	void *ctx;
};

/* `text` is followed by JSON_PAD zero bytes. Bad names and missing copies become notes. */
bool snapshots_read(
	const struct snapshots_in *in, struct str text, const char *path, struct incore_error *e);
