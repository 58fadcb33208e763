/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_internal.h: shared by the files check*.c: the facts gathered by one walk, and how a rule
 * writes its finding. Lack of memory is latched and reported by check_finish().
 */
#pragma once

#include "analysis/check/check.h"
#include "base/map.h"

enum track_flaw {
	FLAW_CUT = 1,	    /* its last record is not the end of the program */
	FLAW_TIMES = 2,	    /* its file states other begin or end than the manifest */
	FLAW_COORDS = 4,    /* its file states other coordinates */
	FLAW_COUNT = 8,	    /* its file states another number of records than it holds */
	FLAW_WAITS = 16,    /* its stored wait lists are not those of the model */
	FLAW_UNSTATED = 32, /* it stores no wait list at all */
};

/* Facts of one track; indexed by track. */
struct track_facts {
	bool is_read;
	uint8_t flaws;	   /* enum track_flaw */
	uint32_t n_breaks; /* records that do not follow from the one before */
	uint32_t n_rows;   /* distinct code rows executed */
	uint64_t set[2];   /* fingerprint of the set of executed rows */
	uint64_t latency, stall;
};

/* A multiset of (time, change) as a linear sum, so that order and grouping do not matter. */
struct series_print {
	uint64_t lo, hi;
};

struct wait_tables;

struct check_gather {
	struct wait_tables *wait_tables;
	struct track_facts *tracks;
	struct code_totals *rows; /* recomputed, by code index */
	struct series_print states[STATE_COUNT];
	uint64_t state_cyc[STATE_COUNT];
	uint32_t n_read, n_failed, n_outside;
	uint64_t n_unknown_code;
	uint32_t n_instructions; /* static rows without labels */
	uint8_t *ends_flow;	 /* by code index: control may go anywhere after it */
	uint8_t *is_untraced;	 /* by code index: executed without a record */
	uint64_t *targets;	 /* by code index: address a taken branch goes to, or UINT64_MAX */
};

void gather_free(struct check_gather *g);
void series_add(struct series_print *p, uint64_t time_cyc, int64_t change);

/* check.c: a new finding, never NULL, as its row in findings.h says, or with another weight and
 * effect. Message and advice are copied; without advice of its own it has that of the row. */
struct finding *check_add(struct check *c, const char *code);
struct finding *check_add_as(
	struct check *c, const char *code, enum note_weight weight, enum verdict effect);
void finding_say(struct check *c, struct finding *f, const char *fmt, ...) PRINTF_LIKE(3, 4);
void finding_advise(struct check *c, struct finding *f, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Copies the content of b. */
const char *check_text(struct check *c, const struct strbuf *b);
/* Evidence; silently dropped beyond FINDING_MAX_FACTS. */
void fact_int(struct finding *f, const char *key, int64_t v);
void fact_real(struct finding *f, const char *key, double v, int digits);
void fact_text(struct check *c, struct finding *f, const char *key, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* Notes of the trace with that code word: how many things they count. */
uint64_t check_notes(const struct check *c, const char *code);
/* Samples only: no wave was followed, so no part of one can be missing. */
bool check_is_sampled(const struct check *c);
/* The CU with instruction detail: as recorded, else the profiler's default. */
int64_t check_target_cu(const struct check *c);
/* By clock: bit mask of the SIMDs (numbers below 8) that have a wave; NULL on lack of memory. */
uint8_t *check_seen_simds(struct check *c);

/* The rules, in the order of their numbers. */
void rule_shell(struct check *c);	/* R1 */
void rule_implausible(struct check *c); /* R1 */
void rule_code(struct check *c);	/* R1 */
void rule_missed_se(struct check *c);	/* R2 */
void rule_truncated(struct check *c);	/* R3 */
void rule_wave_files(struct check *c);	/* R4 */
void rule_repeated(struct check *c);	/* R5 */
void rule_kernel_ids(struct check *c);	/* R6 */
void rule_source_map(struct check *c);	/* R7, R8 */
void rule_collapsed(struct check *c);	/* R9 */
void rule_stale(struct check *c);	/* R10 */
void rule_early_exit(struct check *c);	/* R11 */
void rule_matrix(struct check *c);	/* R11 */
void rule_underfilled(struct check *c); /* R12 */
void rule_coverage(struct check *c);	/* R13 */
void rule_clock(struct check *c);	/* R14 */
void rule_alignment(struct check *c);	/* R15 */
void rule_vgprs(struct check *c);	/* R16 */
void rule_short(struct check *c);	/* R17 */
void rule_counters(struct check *c);	/* R18 */
void rule_totals(struct check *c);	/* R19 */
void rule_states(struct check *c);
void rule_waits(struct check *c);
void rule_damaged(struct check *c);
void rule_links(struct check *c);

/* For samples of a profiler. */
void rule_few_samples(struct check *c);
void rule_dropped_samples(struct check *c);
void rule_short_sampled(struct check *c);
void rule_clock_locked(struct check *c);
void rule_pass_clocks(struct check *c);
void rule_replay(struct check *c);
void rule_no_lines(struct check *c);
void rule_cut_report(struct check *c);
void rule_unmapped(struct check *c);

/* For traces of pipes. */
void rule_no_timeline(struct check *c);
void rule_no_compute(struct check *c); /* D1 */
void rule_near_empty(struct check *c); /* D2 */
void rule_labels(struct check *c);     /* what the producer of the trace marked itself */
void rule_one_side(struct check *c);   /* D3 */
void rule_no_loop(struct check *c);    /* D4 */
void rule_cut_tail(struct check *c);   /* D5 */
void rule_zero_bytes(struct check *c); /* D6 */
void rule_sync_bound(struct check *c); /* D7 */
void rule_no_flags(struct check *c);   /* D8 */
void rule_sub_blocks(struct check *c); /* D9 */
void rule_flag_pairs(struct check *c);
void rule_sim_time(struct check *c);
void rule_sim_totals(struct check *c);
void rule_sim_busy(struct check *c);
