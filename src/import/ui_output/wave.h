/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave.h: makes a track from a wave file, with the necessary index of the code table.
 * Owner: struct ui_loader is on the heap, the trace frees it through its loader; the tables of
 * struct ui_code_index are in the trace's arena. Threads: read-only once the trace is sealed.
 */
#pragma once

#include "import/ui_output/ui_output.h"

/* Maps the line of a wave record to a code row, and a row and category to a class. */
struct ui_code_index {
	uint32_t n_code;
	const uint32_t *by_number; /* dense: row of each number, n_code: no row */
	uint64_t n_by_number;	   /* 0: not dense, use the sorted pair below */
	const int64_t *numbers;
	const code_idx *rows;
	uint32_t n_sorted;
	const uint8_t *class_lut; /* [(n_code + 1) * 16]: row n_code is "no row" */
};

struct ui_name_list {
	uint64_t n;
	const char *text; /* the first few, separated by ", " */
};

/* Number of wave files opened to find the CU: the first that has it ends the search. */
#define UI_CU_ATTEMPTS 16

struct ui_loaded_wave {
	const char *name;
	struct file_data file;
};

struct ui_loader {	       /* trace.loader_ctx */
	struct file_root root; /* dir, opened */
	char *dir;
	struct ui_name_list missing, unlisted;
	const bool *is_absent; /* per track: its file is missing in the directory */
	struct ui_code_index index;
	struct ui_loaded_wave loaded[UI_CU_ATTEMPTS]; /* tracks read them here */
	unsigned n_loaded;
	struct file_data *kept; /* per track, if tracks are loaded again; else NULL */
	size_t n_kept;
	size_t kept_bytes; /* atomic */
};

/* code_index.c */
bool ui_code_index_build(struct trace *t, struct ui_code_index *x, uint64_t *n_duplicates);

/* wave.c */
bool ui_wave_parse(
	struct json_reader *r, const struct ui_code_index *x, unsigned want, struct track_data *d);
bool ui_wave_load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e);
void ui_wave_keep(struct trace *t);
/* The CU in the first readable wave file; NO_VALUE if there is none. */
int64_t ui_wave_find_cu(struct ui_build *b, struct ui_loader *l);
