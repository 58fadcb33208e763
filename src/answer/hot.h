/* SPDX-License-Identifier: Apache-2.0 */
/* hot.h: where the cycles go: what is asked, and the answer that answer/hot.c gives. */
#pragma once

#include "analysis/code/hot.h"
#include "answer/pipes_parts.h"

enum hot_row_is { HOT_INSTR, HOT_LINE, HOT_OPCODE, HOT_CLASS, HOT_CAUSE, HOT_PRODUCER };
#define HOT_BY_CHOICES "instr|line|opcode|class|cause|producer"
enum hot_taxonomy { TAXONOMY_INCORE, TAXONOMY_FLYDSL };

struct hot_params {
	unsigned by;	      /* enum hot_row_is */
	unsigned sort;	      /* enum hot_sort */
	unsigned attribution; /* enum attribution */
	unsigned taxonomy;    /* enum hot_taxonomy */
	bool exposed;	      /* tell hidden from exposed: a second walk */
	unsigned per;	      /* NO_CHOICE: tables of sums over all waves; else of the mean wave */
};
#define PER_WAVE_OPTION(S)                                                                         \
	{                                                                                          \
		0, "per", OPTION_CHOICE, "WHAT", "wave", NULL,                                     \
			"cycles of the mean wave, not of all together", OPTION_ALL(S, per)         \
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
	uint64_t hidden, exposed;    /* of lost cycles; NO_U64: not asked for */
	uint64_t exposed_samples;    /* NO_U64: not known, as is what follows it */
	double error_pct;	     /* standard error of cycles that are samples x period */
	struct rows exposed_reasons; /* name_count */
	double cycles_per_wave;	     /* not a number: not asked for, or no waves */
	double share; /* of the cycles of all selected waves, or of stated latency or samples */
	struct rows stall_reasons; /* name_count */
	const char *stall_reason;  /* the most frequent */
	const char *cause;
	uint64_t cause_cycles;
	const struct waits_for *waits_for;
};

struct cause_row {
	const char *key, *bucket, *family;
	uint64_t cycles, hit, latency, stall, idle;
	double share, each, cycles_per_wave;
};

struct hot_answer {
	bool has_exposed; /* hidden and exposed are there */
	const char *evidence, *by, *per;
	struct hot_totals totals;
	const struct hot_accounting *accounting; /* NULL: totals are stated, nothing was computed */
	uint64_t found;				 /* rows there are; fewer may be given */
	struct rows rows;			 /* hot_row, by instr */
	struct rows groups;			 /* hot_row, by line, opcode, class */
	struct rows causes;			 /* cause_row */
	struct rows pairs;			 /* pair_row */
	struct producer_sums producers;		 /* of waves */
	struct rows edges;			 /* edge_row */
	struct bucket_sums nothing_to_do;	 /* idle and drain of pipes, which no row has */
	const char *legacy_text; /* the older script's report, where that was asked for */
	bool has_pipes, has_samples, has_inlined;
	bool is_sampled; /* cycles are samples x period */
};

extern const struct record hot_row_record, hot_group_record, cause_row_record;
extern const struct record hot_plain_record; /* hot_row_record without what it waited for */
extern const struct record hot_totals_record, hot_accounting_record;
/* All of a row but what it waited for. */
bool hot_row_make(struct answer *a, const struct hot *h, const struct hot_group *g,
	struct hot_row *out, struct incore_error *e);
/* Can hidden be told from exposed: waves that share a SIMD, or samples of a scheduler that say so. */
bool hot_tells_exposed(const struct trace *t);
/* Causes and producers of samples, each or NULL; exposed: takes what of the causes was, or NULL. */
bool hot_fill_samples(
	struct causes *c, struct producers *p, struct hot *exposed, struct incore_error *e);
/* Why the samples of a row or group stalled, with the error of what they stand for. */
bool hot_put_samples(struct answer *a, const struct hot *h, const struct hot_group *g,
	struct hot_row *x, struct incore_error *e);
/* What --per says: "wave" or NULL. False with status USAGE where there are none. */
bool hot_per(unsigned per, const struct trace *t, const char **out, struct incore_error *e);
/* Of the mean wave; not a number without waves. */
double hot_per_wave(const struct hot *h, uint64_t cycles);
/* Members totals and accounting of what was collected; also of incore isa. */
bool hot_totals_make(struct answer *a, const struct hot *h, struct hot_totals *totals,
	const struct hot_accounting **accounting, struct incore_error *e);
