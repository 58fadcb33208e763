/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tabular.h: shared by formats of whole tables (tables/tables.h): cursors are read batch by batch,
 * so that one track is in memory at a time; data without a table is counted as left out.
 * Owner: the writer owns the sink and what it points to.
 */
#pragma once

#include "export/export.h"
#include "tables/tables.h"

struct tabular_sink {
	void *ctx;
	bool (*table)(void *ctx, const struct table *t, struct incore_error *e); /* begins it */
	bool (*rows)(void *ctx, const struct table_batch *b, struct incore_error *e);
	bool (*table_end)(void *ctx, struct incore_error *e);
};

/* Sends all tables; counts tracks, slices and links in the result. Rejects a selection: the tables
 * are those of a whole capture. */
bool tabular_send(struct export *x, const struct tabular_sink *sink, struct incore_error *e);
/* Members common to these formats. No-ops: notes have a table, and the program reports what is left
 * out. */
#define TABULAR_WRITER                                                                             \
	.holds = EXPORT_SLICES | EXPORT_LINKS | EXPORT_CYCLES | EXPORT_STALLS | EXPORT_NOTES |     \
		 EXPORT_TRACK_LINKS | EXPORT_SAMPLES,                                              \
	.takes_sums = true, .lost = export_note_told, .truncated = export_note_told
