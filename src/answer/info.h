/* SPDX-License-Identifier: Apache-2.0 */
/* info.h: what was captured: parameters, and the answer of answer/info.c. */
#pragma once

#include "answer/pipes_parts.h"

struct info_params {
	bool quick; /* skip the health check, so that no wave file is read */
};

struct info_clock { /* of a shader engine */
	const char *name;
	double mhz;
	int64_t offset; /* NO_VALUE: not aligned */
};

struct info_source_rows {
	uint32_t mapped, total, distinct_lines;
};

struct info_level { /* the numbers used on one level of the tracks */
	const char *level;
	struct rows numbers; /* uint32_t */
	const char *ranges;  /* "0-3,7" */
};

struct info_events {
	uint64_t events, starts, ends, cus, target_cu_starts;
};
struct info_engine { /* wave starts and ends of a shader engine */
	const char *name;
	struct info_events sums;
	uint32_t id;
};

struct info_kernel {
	const char *key, *name;
};

struct info_triple {
	int64_t x, y, z;
};
struct info_launch {
	struct trace_launch l;
	struct info_triple workgroup, grid;
	int64_t duration_ns;
};

struct info_note {
	const char *kind, *code, *message, *path;
	uint64_t offset, count;
};

struct info_sibling { /* a capture beside this one */
	const char *path, *name;
	int64_t agent, dispatch, waves, rows, mapped_rows; /* NO_VALUE: not known */
	bool is_empty, is_repeat;
	const char *remark;
};

struct info_block { /* blocks of one type in a container */
	const char *type, *name;
	uint32_t count;
};

struct capture_info {
	const char *asked_for; /* path of the request; it outlives the page */
	const char *dir, *path, *format, *format_version, *vendor, *evidence, *kernel, *arch;
	const char *arch_source, *clock_source;
	int64_t gfxip;
	double clock_mhz;
	struct rows clocks; /* info_clock */
	uint32_t rows, instructions, mapped_rows;
	uint64_t executed_rows; /* NO_U64: not stated */
	struct info_source_rows source_rows;
	uint32_t source_files, source_snapshots;
	const struct code_totals *stated_totals; /* NULL: not stated */
	uint64_t waves, wave_files;
	int64_t target_cu, span_cycles;
	struct rows wave_coords;   /* info_level */
	struct rows occupancy;	   /* info_engine */
	struct rows dispatch_ids;  /* info_kernel */
	struct rows counter_names; /* text_item */
	uint64_t counter_series, markers, other_simd_records, dispatch_events;
	bool has_pc_samples;
	struct trace_machine machine;
	struct info_launch launch;
	struct rows notes;		   /* info_note */
	struct rows tables;		   /* producer_table */
	struct rows metrics, vendor_rules; /* vendor_metric, vendor_rule */
	struct rows siblings;		   /* info_sibling, without this one */
	struct rows beside; /* info_sibling, including this one; empty if it is the only one */
	struct rows blocks; /* info_block */
	const char *health; /* NULL: not asked for */
	const char *lanes;  /* names of the pipes, each once */
};

struct info_list {
	struct rows captures; /* capture_info */
};

extern const struct record info_engine_record, info_sibling_record;
/* All captures of the answer, as a list even if there is only one. */
struct rows info_captures(const struct answer *a);
