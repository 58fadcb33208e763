/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flydsl_hotspot.h: the report of the older hotspot script, byte for byte, so that figures
 * published with it can be checked. It reads nothing but the code table with the totals its
 * producer states, and it keeps that script's errors: lgkmcnt called LDS, s_nop among "other",
 * registers by the lower end of a range. The product's own analysis is hot.h.
 */
#pragma once

#include "base/str.h"
#include "trace/trace.h"

struct flydsl_options {
	uint64_t top;		   /* rows of each table */
	bool with_lines, with_asm; /* which tables */
};

enum flydsl_type {
	FLYDSL_VMEM_WAIT,
	FLYDSL_LGKM_WAIT,
	FLYDSL_EXP_WAIT,
	FLYDSL_WAITCNT,
	FLYDSL_BARRIER,
	FLYDSL_VMEM_LOAD,
	FLYDSL_VMEM_STORE,
	FLYDSL_LDS,
	FLYDSL_SMEM,
	FLYDSL_MATRIX,
	FLYDSL_OTHER,
	FLYDSL_TYPE_COUNT
};

const char *flydsl_type_name(enum flydsl_type type); /* "LDS/SMEM-wait", ... */
enum flydsl_type flydsl_type_of(struct str text);

/* Recorded stall by type over the stated totals; index: enum flydsl_type. */
void flydsl_stall_by_type(const struct trace *t, uint64_t sums[FLYDSL_TYPE_COUNT]);

/* Appends the report. `arg` is the path as the user wrote it: the script prints it. False on lack
 * of memory. */
bool flydsl_report(const struct trace *t, const char *arg, const struct flydsl_options *o,
	struct strbuf *out, struct incore_error *e);
