/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_list.h: the fields of the trace's tables, each listed once: its offset, its type, how the
 * packed file and the report's columns store it, and its name in the JSON export. Code that stores
 * or exports a table walks this list, in its order unless stated otherwise. Constant data; any
 * thread may read it.
 */
#pragma once

#include "trace/trace.h"

enum field_type {
	FIELD_U8,
	FIELD_U16,
	FIELD_U32,
	FIELD_U64,
	FIELD_RATIO, /* uint64_t; its divisor follows it and has its own entry */
	FIELD_I64,
	FIELD_VALUE, /* int64_t; NO_VALUE: unknown */
	FIELD_BOOL,
	FIELD_STR,    /* const char *, may be NULL */
	FIELD_TEXT,   /* const char *, never NULL, followed by its uint32_t length */
	FIELD_INDEX,  /* uint32_t; UINT32_MAX: none */
	FIELD_CLOCK,  /* as FIELD_INDEX, below trace.n_clocks */
	FIELD_SOURCE, /* as FIELD_INDEX, below trace.n_sources */
	FIELD_CLASS,  /* uint8_t, enum inst_class */
	FIELD_ENUM,   /* at most 128 values, each with a word */
};

/* How the binary formats store a field. */
enum field_coding {
	AS_NOTHING, /* not stored */
	AS_PLAIN,
	AS_DELTA,  /* difference to the previous row */
	AS_SPAN,   /* difference to the previous field in the list */
	AS_ZIPPED, /* its values alternate with those of the next field in the list */
	AS_LATER,  /* after the whole table, and only if the first such field is set in any row:
		      added when files already existed, which end before it */
	AS_CAPPED, /* a reader limits it so that sums cannot overflow */
};

enum field_format { FORMAT_PACKED, FORMAT_BLOB, FORMAT_JSON, FORMAT_COUNT };

struct field {
	const char *name;	     /* in the JSON export; NULL: not exported */
	const char *const *words;    /* FIELD_ENUM: by value, NULL ends */
	uint16_t offset, size;	     /* of the member, which may be an array */
	uint8_t type;		     /* enum field_type */
	uint8_t coding[FORMAT_JSON]; /* enum field_coding, by format */
};

#define FIELD_MAX 20 /* fields of a table */

struct field_table {
	const char *name; /* in the JSON export */
	const struct field *fields;
	uint16_t n_fields;
	uint16_t row_size;
	uint16_t array, count;		    /* offsets in struct trace; 0: not an array there */
	bool is_by_row;			    /* row by row in the packed file, else column by
					       column */
	const uint8_t *order[FORMAT_COUNT]; /* order of all fields; NULL: as listed */
};

extern const struct field_table table_launch, table_machine, table_meta;
extern const struct field_table table_code, table_totals, table_samples, table_frames;
extern const struct field_table table_sources, table_clocks, table_tracks, table_occupancy;
extern const struct field_table table_kernel_names, table_dispatch_events, table_counters;
extern const struct field_table table_markers, table_other_issues, table_series, table_links;
extern const struct field_table table_heads, table_moved, table_notes;
extern const struct field_table table_reason_counts, table_sampling, table_metrics;
extern const struct field_table table_code_links;

size_t field_width(const struct field *d); /* bytes of one value */

/* A FIELD_TEXT with its length. */
static inline struct str field_text(const char *const *p)
{
	uint32_t n;

	memcpy(&n, p + 1, sizeof(n));
	return (struct str){*p, n};
}

/* The i-th field of a table as a format orders them. */
static inline const struct field *field_at(
	const struct field_table *d, enum field_format format, uint32_t i)
{
	return &d->fields[d->order[format] ? d->order[format][i] : i];
}
