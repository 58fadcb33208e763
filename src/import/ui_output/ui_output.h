/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ui_output.h: the parts of the ui_output importer, one file per task (see incore-ui_output(7)).
 * Owner: struct ui_build belongs to one read; longer-lived data goes to the trace's arena, or to
 * struct ui_loader, which the trace frees through its loader.
 * Every parser works on bytes in memory (followed by JSON_PAD zero bytes), so that a fuzzer can
 * call it. A parser of an optional file leaves the trace untouched when it fails.
 *
 * More than 150 lines because the readers of all files of a directory share one build.
 */
#pragma once

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json_reader.h"
#include "import/import.h"

#define UI_MAX_SE 4096
#define UI_MAX_SMALL 255		/* SIMD and slot numbers */
#define UI_MAX_TIME_CYC (INT64_MAX / 2) /* so that time + offset and time + duration stay exact */

struct ui_bytes {
	const void *p;
	size_t n;
	const char *path; /* for messages */
};

struct ui_wave_ref { /* one entry of wave_filenames */
	uint32_t se, simd, slot, wave;
	const char *name;
	uint64_t begin_cyc, end_cyc;
	uint64_t offset; /* offset of its name in filenames.json */
};

struct ui_manifest {
	struct arena *arena; /* of the strings */
	unsigned gfxip;
	const char *version;
	VEC(struct ui_wave_ref) waves; /* sorted by se, simd, slot, wave */
	VEC(const char *) counter_names;
	bool has_pc_sampling;
	bool is_synthetic; /* a generator wrote the directory */
	bool is_nomem;
	struct intern names;
};

struct ui_rows { /* properties of the code table */
	bool has_samples;
	uint64_t n_duplicate_numbers;
};

struct ui_se_samples { /* realtime.json, one shader engine */
	uint32_t se, n;
	const int64_t (*samples)[2];
};

struct side_reader;
struct counters;

struct ui_build {
	struct trace *trace;
	const struct import_options *options;
	const char *dir;
	struct file_root root; /* dir, opened */
	struct arena scratch;
	VEC(const char *) names; /* of the directory, in byte order */
	struct file_data file;	 /* reused for each file */
	struct ui_manifest manifest;
	struct ui_rows rows;
	uint64_t se_seen[UI_MAX_SE / 64];
	VEC(struct ui_se_samples) realtime;
	uint64_t realtime_hz;
	bool has_workgroups;	      /* occupancy names workgroups */
	source_idx source;	      /* the source whose text is being loaded */
	const char *kernel_demangled; /* of the label row, or NULL */
	uint32_t kernel_object;	      /* code object of the kernel */
	bool has_kernel_object;
	struct side_reader *side;  /* while side files are read */
	struct counters *counters; /* while counter files are read */
};

extern const struct import_ops import_ui_output;

/* ui_output.c */
bool ui_has(const struct ui_build *b, const char *name); /* in the directory listing */
/* Loads dir/name into *f; `path` is the full path. */
bool ui_load_into(struct ui_build *b, struct file_data *f, const char *name, const char *path,
	struct incore_error *e);
typedef bool (*ui_parse_fn)(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
/* Parses dir/name if it exists; damage becomes a note. False only when out of memory. */
bool ui_optional(struct ui_build *b, const char *name, ui_parse_fn parse, struct incore_error *e);
/* ui_optional() for a file in side->dir, beside the directory. */
bool ui_optional_path(
	struct ui_build *b, const char *path, ui_parse_fn parse, struct incore_error *e);
void ui_see_se(struct ui_build *b, uint32_t se);
/* Reads a key of decimal digits, at most max; otherwise the reader fails. */
bool ui_key_number(struct json_reader *r, struct str key, uint64_t max, uint32_t *out);
/* Does name match the pattern? '#' stands for a decimal number; the first one goes to *first. */
bool ui_match_name(const char *name, const char *pattern, uint32_t *first);
bool ui_decimal(struct str s, uint64_t *out);
/* Reads a time in cycles: 0 .. UI_MAX_TIME_CYC, otherwise the reader fails. */
bool ui_get_time(struct json_reader *r, uint64_t *out);
clock_idx ui_clock(const struct trace *t, uint32_t se);

bool ui_manifest_parse(struct ui_manifest *m, struct ui_bytes in, struct incore_error *e);
void ui_manifest_deinit(struct ui_manifest *m);

/* code.c */
bool ui_code_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_name_kernel(struct ui_build *b, struct incore_error *e);
void ui_guess_arch(struct ui_build *b);

/* the optional files; ui_parse_fn each */
bool ui_occupancy_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_occupancy_join(struct ui_build *b, struct incore_error *e);
bool ui_realtime_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_clocks_build(struct ui_build *b, struct incore_error *e);
/* Does an engine have more than a first and a last sample? Then choosing those to align by needs
 * the occupancy. */
bool ui_has_many_samples(const struct ui_build *b);
bool ui_wstates_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_snapshots_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_counters_read(struct ui_build *b, struct incore_error *e);
bool ui_side_files_read(struct ui_build *b, struct incore_error *e);

/* --- counters --------------------------------------------------------------------------------- */

/*
 * Data that counters.c collects for the trace. Owner: struct counters belongs to one read;
 * samples and names are in the trace's arena.
 */

struct counters {
	struct ui_build *b;
	clock_idx clock; /* of the file being read */
	VEC(struct counter_series) series;
	VEC(struct marker) markers;
	VEC(struct other_issue) issues;
	bool is_nomem;
};

/* b->counters is set while these run; each is a ui_parse_fn. */
bool ui_perfcounter_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_markers_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_issues_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);
bool ui_spm_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e);

/* --- waves ------------------------------------------------------------------------------------ */

/*
 * Makes a track from a wave file, with the necessary index of the code table. Owner: struct
 * ui_loader is on the heap, the trace frees it through its loader; the tables of struct
 * ui_code_index are in the trace's arena. Threads: read-only once the trace is sealed.
 */

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

bool ui_code_index_build(struct trace *t, struct ui_code_index *x, uint64_t *n_duplicates);

/* wave.c */
bool ui_wave_parse(
	struct json_reader *r, const struct ui_code_index *x, unsigned want, struct track_data *d);
bool ui_wave_load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e);
void ui_wave_keep(struct trace *t);
/* The CU in the first readable wave file; NO_VALUE if there is none. */
int64_t ui_wave_find_cu(struct ui_build *b, struct ui_loader *l);
