/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why.h: the second level below a cause. The causes pipe-stall:*, nop-*, gap:*, launch and tail of
 * AMD waves say where a wave lost cycles; this says what it waited for there: a register that
 * another row had not delivered, a pipe that its own earlier instruction held, another wave, a full
 * memory queue, the next instruction, or nothing that is known.
 *
 * Every cycle of such a cause is in exactly one part, so the parts of a cause add up to it, in
 * every wave: why_track.lump_cyc is counted by the accounting, its parts by the sweep.
 *
 * The waves of a compute unit are swept together in the order of time (why_sweep.c); what each rule
 * claims and how sure it is stands in why_rules.h and docs/why.md.
 *
 * Owner: why_new() .. why_free(); results are valid after why_run().
 */
#pragma once

#include "analysis/waves/causes.h"

enum why_word {
	WHY_REGISTER,	/* a register that row `of` writes was not ready */
	WHY_OWN_PIPE,	/* row `of` of the same wave still held the pipe, or its way to it */
	WHY_OTHER_WAVE, /* row `of` of another wave of the SIMD issued on the pipe */
	WHY_OTHER_SIMD, /* the SIMDs of the compute unit took turns */
	WHY_QUEUE,	/* several memory instructions of the kind were outstanding */
	WHY_WAKE,	/* the memory pipe had been silent for long */
	WHY_FETCH,	/* the instruction had to be fetched */
	WHY_HAZARD,	/* padding that the compiler inserted for a hazard */
	WHY_LAUNCH,	/* from the launch of the wave to its first instruction */
	WHY_TAIL,	/* from its last instruction to its end */
	WHY_UNKNOWN,
	WHY_WORDS
};
#define WHY_WORD_CHOICES                                                                           \
	"register|own-pipe|other-wave|other-simd|queue|wake|fetch|hazard-padding|launch|tail|unknown"

enum why_sure {
	WHY_CERTAIN, /* seen in that very cycle, or it ended in the cycle that the rule names */
	WHY_LIKELY,  /* the rule fits; that it ended the loss is not seen */
	WHY_WEAK,    /* the circumstances of the rule, no more */
	WHY_NONE,    /* unknown */
	WHY_SURES
};
#define WHY_SURE_CHOICES "certain|likely|weak|none"

const char *why_word_name(enum why_word w);
const char *why_sure_name(enum why_sure s);
/* Is it one of the causes that have parts? */
bool why_splits(enum cause_kind k);

struct why_cell { /* one part of one cause on one row */
	code_idx code;
	code_idx of; /* NO_CODE: none */
	uint8_t kind, inst_class, word, sure;
	uint32_t next; /* private */
	uint64_t cyc, hidden_cyc, hits;
	uint64_t
		latency_cyc; /* REGISTER, OWN_PIPE: from the issue of `of` to that of `code`, summed */
};

struct why_track { /* of a selected wave */
	bool is_selected;
	uint64_t lump_cyc; /* of the causes that have parts */
	uint64_t cyc[WHY_WORDS], hidden_cyc[WHY_WORDS];
	track_idx other; /* OTHER_WAVE: the wave that took most cycles; NO_TRACK: none */
	uint64_t other_cyc;
};

struct why {
	const struct trace *trace;
	const struct busy *busy;
	const struct causes *causes;
	struct why_code *code;	  /* by code row; one more for rows that are not known */
	struct why_track *tracks; /* by track */
	struct why_cell *cells;	  /* by code, cause, then descending by cycles */
	uint32_t n_cells;
	uint64_t lump_cyc, cyc[WHY_WORDS], hidden_cyc[WHY_WORDS];
	int64_t residue_cyc; /* sum over waves of |lump - parts|: 0 */
	uint32_t n_waves;
};

/* `busy` and `causes` must be finished and outlive it. */
struct why *why_new(const struct trace *t, const struct busy *busy, const struct causes *causes,
	struct incore_error *e);
void why_free(struct why *w);
/* Sweeps the compute units of the selected waves. May fail: memory, cancellation, a wave
 * that `causes` could read and this cannot. Others that cannot be read are left out, as walk_tracks()
 * leaves them out and tells. */
bool why_run(struct why *w, const struct walk_options *o, struct incore_error *e);
