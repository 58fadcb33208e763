/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind.h: the kind of a capture, and what follows from it and from its vendor: the words for its
 * parts, what it can answer, which sentences explain what it lacks. Two tables with a row for each;
 * whoever writes for people reads them, and asks for the kind only where it computes differently.
 */
#pragma once

#include "trace/trace.h"

enum trace_kind {
	KIND_TOTALS,   /* no timeline: totals or counts of each instruction */
	KIND_WAVES,    /* instructions of waves, which follow one another */
	KIND_PIPES,    /* instructions of pipes, which overlap */
	KIND_SAMPLES,  /* samples of known period: cycles are samples x period */
	KIND_TIMELINE, /* lanes of threads of another tool, without instructions */
	KIND_SCOPES,   /* scopes that a kernel recorded about itself */
	TRACE_KINDS
};
enum trace_kind trace_kind(const struct trace *t);

struct kind_row {
	const char *name;      /* "waves" */
	const char *track;     /* a track: "wave", "pipe", "lane", "warp" */
	const char *slice;     /* what it holds: "instruction", "slice", "scope" */
	const char *part;      /* what a capture of it consists of: "wave", "row" */
	const char *cycles_of; /* its cycles are "wave" or "sampled" cycles */
	/* Why no bound can be named, or NULL; the vendor may know better. */
	const char *no_verdict;
	/* Why questions about instructions do not apply, and which do; NULL: they apply. */
	const char *no_code;
	bool has_advice;   /* rules for instructions apply to it */
	bool has_buckets;  /* each slice's cycles divide into issue and losses */
	bool has_program;  /* a track ends where its program ends */
	bool is_by_launch; /* the figures of all launches are summed */
};
extern const struct kind_row kind_table[TRACE_KINDS];
static inline const struct kind_row *kind_row(const struct trace *t)
{
	return &kind_table[trace_kind(t)];
}

/* What was found where another kind was expected: "waves of amd", "totals of nvidia"; "no pipe" for
 * an Ascend capture without any. In out. */
const char *kind_found(const struct trace *t, char out[64]);

struct vendor_row {
	const char *wave;	   /* "wave", "warp" */
	const char *group;	   /* waves that start together: "workgroup", "block" */
	const char *cus;	   /* "compute units", "SMs" */
	const char *simd;	   /* "SIMD", "scheduler" */
	const char *workgroup;	   /* "workgroup", "block" */
	const char *competitor;	   /* who hides a loss by issuing: "wave of the SIMD" */
	const char *local_memory;  /* "LDS", "shared memory", "UB" */
	const char *no_cycles;	   /* a capture has no cycles of instructions, only totals */
	const char *no_arrows;	   /* goes on about a listing; "" or ", ..." */
	const char *no_samples;	   /* why no bound can be named without samples, or NULL */
	const char *no_counters;   /* what a capture without counters lacks, and how to take it */
	const char *viewer_format; /* the export format that its own viewer reads, or "" */
	bool has_pie;		   /* its viewer sums up idle, stall and issue in another way */
	bool has_registers;	   /* which registers an instruction needs is known */
	bool has_code_objects;	   /* code rows name the code object that they lie in */
	bool has_blocks;	   /* how many blocks fit is known from the launch alone */
};
const struct vendor_row *vendor_row(const struct trace *t);
/* A class of instructions ("LDS") in the vendor's words ("shared memory"). */
const char *vendor_class_word(const struct trace *t, const char *name);
/* Appends a text about waves and LDS in the vendor's words ("warps", "shared memory"). */
bool vendor_put_words(const struct trace *t, const char *text, struct strbuf *out);

/* Does it tell which samples found their scheduler idle, so that the loss was exposed? */
bool trace_has_exposed_samples(const struct trace *t);
