/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h: the parts of the ui_output writer, one file per job (see incore-ui_output(7)). Each
 * writes one or more files of the directory: one line of compact JSON, keys in byte order, an empty
 * list as null, no newline at the end.
 * Owner: struct ui_writer belongs to one export; the directory appears at commit or not at all.
 */
#pragma once

#include "analysis/waves/waits.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json_writer.h"
#include "export/export.h"

#define UI_VERSION "3.0.0"
#define UI_VERSION_EVENTS "3.1.0" /* occupancy with workgroups and events */

struct ui_wave_place { /* one wave file, for the manifest */
	uint32_t se, simd, slot, wave;
	uint64_t begin_cyc, end_cyc;
};

struct ui_change { /* of the number of waves in a state */
	uint64_t time_cyc;
	int64_t delta;
};

struct ui_side_file { /* shaderdata or other_simd, for the manifest */
	uint32_t se;
	uint64_t begin_cyc, end_cyc;
};

struct ui_changes {
	VEC(struct ui_change) all;
	size_t limit; /* merge when there are this many */
};

struct ui_writer {
	struct export *x;
	struct out_dir dir;
	struct json_writer w; /* of the current file */
	FILE *file;
	const char *name;
	struct wait_tables *tables;
	struct waits waits;
	struct code_totals *totals; /* by code row, of the waves written */
	VEC(struct ui_wave_place) places;
	VEC(struct ui_side_file) markers, issues;
	struct ui_changes changes[STATE_COUNT];
	track_idx last; /* track written before; NO_TRACK */
	uint32_t n_skipped_in_slot;
	uint64_t n_skipped, n_unknown_code;
};

/* ui_output.c: between these calls u->w writes to a new file; `name` must stay valid. */
bool ui_file_open(struct ui_writer *u, const char *name, struct incore_error *e);
bool ui_file_close(struct ui_writer *u, struct incore_error *e);
/* Writes [a,b,...] of n integers. */
void ui_put_row(struct json_writer *w, const int64_t *v, unsigned n);
/* Compares the decimal digits of two numbers as text: keys are sorted as text. */
int ui_cmp_key(uint64_t a, uint64_t b);
void ui_put_key(struct json_writer *w, const char *prefix, uint64_t number);
/* Indices of the trace's clocks in the order of their keys; NULL on lack of memory. Free it. */
clock_idx *ui_clocks_by_key(const struct trace *t);

/* The other files; each function writes its files if the trace has data for them. */
bool ui_write_code(struct ui_writer *u, struct incore_error *e);
bool ui_write_sources(struct ui_writer *u, struct incore_error *e);
bool ui_write_counters(struct ui_writer *u, struct incore_error *e);
