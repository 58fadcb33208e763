/* SPDX-License-Identifier: Apache-2.0 */
/* hot.h: where the cycles go: parameters, and the answer of answer/hot.c. */
#pragma once

#include "analysis/code/costs.h"
#include "analysis/code/hot.h"
#include "answer/loops.h"
#include "answer/pipes_parts.h"

enum hot_row_is { HOT_INSTR, HOT_LINE, HOT_OPCODE, HOT_CLASS, HOT_CAUSE, HOT_PRODUCER };
#define HOT_BY_CHOICES "instr|line|opcode|class|cause|producer"
enum hot_taxonomy { TAXONOMY_INCORE, TAXONOMY_FLYDSL };

struct hot_params {
	unsigned by;	      /* enum hot_row_is */
	unsigned sort;	      /* enum hot_sort */
	unsigned attribution; /* enum attribution */
	unsigned taxonomy;    /* enum hot_taxonomy */
	bool exposed;	      /* separate hidden from exposed cycles: takes a second walk */
	unsigned per;	      /* NO_CHOICE: sums over all waves; else figures of the mean wave */
};
#define PER_WAVE_OPTION(S)                                                                         \
	{                                                                                          \
		OPT_PER, "wave", NULL, "show cycles of the mean wave, not of all waves together",  \
			OPTION_ALL(S, per)                                                         \
	}

struct hot_totals {
	uint64_t waves, rows, instructions;
	struct code_totals all;
	uint64_t samples, stalled_samples;
	uint64_t exposed_samples, period; /* NO_U64: not known */
	const char *from;
};

struct hot_accounting {
	struct bucket_sums bucket;
	uint64_t duration;
	int64_t residue;
};

struct waits_for {
	int64_t row;
	const char *isa;
	uint64_t cycles, waits;
};

struct hot_row {
	const char *key; /* text of the instruction, or name of the group */
	int64_t row;	 /* NO_VALUE: no known row */
	uint64_t address;
	const char *opcode, *class, *source;
	struct str short_source;
	uint64_t rows, executed_rows; /* of a group */
	struct code_totals totals, inclusive;
	struct bucket_sums buckets;
	uint64_t cycles, samples, stalled_samples;
	uint64_t hidden, exposed;    /* parts of the lost cycles; NO_U64: not asked for */
	uint64_t exposed_samples;    /* NO_U64: unknown, as are the fields after it */
	double error_pct;	     /* standard error of cycles that are samples x period */
	struct rows exposed_reasons; /* name_count */
	double cycles_per_wave;	     /* NaN: not asked for, or no waves */
	double share; /* of the cycles of all selected waves, or of stated latency or samples */
	struct rows stall_reasons; /* name_count */
	const char *stall_reason;  /* the most frequent */
	const char *cause;
	uint64_t cause_cycles;
	const struct waits_for *waits_for;
	/* Of lines: shares in the whole, and what dominates the losses (dominant.h). */
	double row_share, hit_share, latency_share, cause_share, type_share;
	const char *type;
};

struct cost_row { /* one kind of instructions */
	const char *kind, *class;
	uint64_t rows, hit, latency, stall, median, p99;
	double mean, mean_stall;
};
extern const struct record cost_record;
/* The kinds, costliest first; at most `top` of them. */
bool cost_rows(struct answer *a, const struct costs *c, uint64_t top, struct rows *out,
	struct incore_error *e);

struct cause_row {
	const char *key, *bucket, *family;
	uint64_t cycles, hit, latency, stall, idle;
	double share, each, cycles_per_wave;
};

struct hot_answer {
	bool has_exposed; /* hidden and exposed are filled in */
	const char *evidence, *by, *per;
	struct hot_totals totals;
	const struct hot_accounting *accounting; /* NULL: totals are stated, nothing was computed */
	uint64_t found;				 /* rows that exist; fewer may be given */
	struct rows rows;			 /* hot_row, by instr */
	struct rows groups;			 /* hot_row, by line, opcode, class */
	struct rows costs;			 /* cost_row, by class */
	struct source_quality source;		 /* by line */
	const char *collapsed;			 /* by line: what to read instead, or NULL */
	struct rows causes;			 /* cause_row */
	struct rows pairs;			 /* pair_row */
	struct producer_sums producers;		 /* of waves */
	struct rows edges;			 /* edge_row */
	struct bucket_sums nothing_to_do; /* idle and drain of pipes, which belong to no row */
	const char *legacy_text;	  /* report in the form of the older script, if asked for */
	bool has_pipes, has_samples, has_inlined;
	bool is_sampled; /* cycles are samples x period */
};

extern const struct record hot_row_record, hot_group_record, hot_line_record, cause_row_record;
extern const struct record hot_plain_record; /* hot_row_record without what it waited for */
extern const struct record hot_totals_record, hot_accounting_record;
/* Fills a whole row except for what it waited for. */
bool hot_row_make(struct answer *a, const struct hot *h, const struct hot_group *g,
	struct hot_row *out, struct incore_error *e);
/* What --per says: "wave" or NULL. False with status USAGE where there are no waves. */
bool hot_per(unsigned per, const struct trace *t, const char **out, struct incore_error *e);
/* Cycles per wave; NaN without waves. */
double hot_per_wave(const struct hot *h, uint64_t cycles);
/* Makes the members totals and accounting from what was collected; incore isa uses it too. */
bool hot_totals_make(struct answer *a, const struct hot *h, struct hot_totals *totals,
	const struct hot_accounting **accounting, struct incore_error *e);
