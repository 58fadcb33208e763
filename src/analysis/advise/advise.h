/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advise.h: what to change. A rule looks for one defect that captures have shown; it names the rows,
 * the figures that it rests on, the change in the words of the kernel's world, what one should see
 * then and what it may cost. Nothing is advised without a rule: every rule has a planted kernel on
 * which it speaks and its sound twin on which it does not (tests/advise.py, docs/advise.md).
 *
 * What a change would bring is a question to whatif.h, never a claim of the rule.
 * Owner: the caller of the list; texts lie in its arena. May fail: memory.
 */
#pragma once

#include "analysis/whatif/whatif.h"

struct pipes;
struct summary;

enum advise_world { WORLD_HIP, WORLD_TRITON, WORLD_FLYDSL, WORLD_CUDA, WORLD_PTO, WORLDS };
#define ADVISE_WORLD_CHOICES "hip|triton|flydsl|cuda|pto"
const char *advise_world_name(enum advise_world w);
/* Derived from the chip vendor and the names of the source files. */
enum advise_world advise_world_of(const struct trace *t);

enum advise_rule_id {
	ADVISE_LATE_LOAD,
	ADVISE_START_LOAD,
	ADVISE_LATE_COPY,
	ADVISE_LATE_LDS,
	ADVISE_LDS_WRITE,
	ADVISE_LATE_SCALAR,
	ADVISE_CROSS_LANE,
	ADVISE_STORE_IN_WAIT,
	ADVISE_EMPTY_WAIT,
	ADVISE_UNEVEN_BARRIER,
	ADVISE_NOP_PADDING,
	ADVISE_DEPENDENT_CHAIN,
	ADVISE_MATRIX_CHAIN,
	ADVISE_NARROW_ACCESS,
	ADVISE_UNCOALESCED,
	ADVISE_BANK_CONFLICTS,
	ADVISE_SPILL,
	ADVISE_ATOMICS,
	ADVISE_FENCE,
	ADVISE_FETCH,
	ADVISE_SPECIAL,
	ADVISE_FEW_LANES,
	ADVISE_FEW_WAVES,
	ADVISE_SHORT_LOOP,
	ADVISE_END_DRAIN,
	ADVISE_SERIAL_PIPES,
	ADVISE_SMALL_MOVES,
	ADVISE_RULES
};
#define ADVISE_RULE_CHOICES                                                                                                             \
	"late-load|start-load|late-copy|late-lds|lds-write|late-scalar|cross-lane|store-in-wait|"                                       \
	"empty-wait|uneven-barrier|nop-padding|dependent-chain|matrix-chain|narrow-access|"                                             \
	"uncoalesced|bank-conflicts|spill|atomics|fence|fetch|special-functions|few-lanes|few-waves|short-loop|end-drain|serial-pipes|" \
	"small-moves"

struct advise_rule { /* advise_words.c */
	const char *id, *finding;
	const char *change[WORLDS]; /* NULL: as in the world before it */
	const char *prediction, *risk;
};
extern const struct advise_rule advise_rules[ADVISE_RULES];
const char *advise_change(enum advise_rule_id rule, enum advise_world w);
/* The words for one vendor's compiler: an option that only another compiler knows is not offered. */
const char *advise_change_of(const struct trace *t, enum advise_rule_id rule);

/* The question put to whatif.h. */
enum advise_question {
	ADVISE_ASK_NOTHING,
	ADVISE_ASK_AHEAD,
	ADVISE_ASK_FASTER,
	ADVISE_ASK_REMOVE,
	ADVISE_ASK_WAVES,
	ADVISE_ASK_EVEN,
	ADVISE_ASK_SOONER
};
const char *advise_question_name(enum advise_question q); /* an option of whatif: "ahead", ... */

#define ADVISE_PLACES 16u /* rows that are listed */
#define ADVISE_MOST 8u	  /* pieces of advice per capture */

struct advice {
	enum advise_rule_id rule;
	const char *cause;	      /* name of the cause that the cycles were lost to */
	code_idx code;		      /* the row that loses most; NO_CODE: the advice is for the
					 whole kernel */
	code_idx of;		      /* the row it waits for, or NO_CODE */
	code_idx rows[ADVISE_PLACES]; /* costliest first, code among them */
	uint32_t n_rows, n_found;     /* listed; in all */
	uint64_t exposed_cyc;	      /* cycles lost on all its rows while nothing else issued */
	const char *evidence;
	enum advise_question ask;
	code_idx *asked; /* rows to ask about: its own, or those they wait for; each once, in the
			    order of the code once the advice is in a list */
	uint32_t n_asked, asked_cap;
	bool is_failed; /* memory lacked for them */
	uint32_t
		reason; /* sampled data: stall reason to ask about; NO_REASON: ask about the rows */
	struct whatif_row change; /* what the question changes on each of them */
	int waves;		  /* ADVISE_ASK_WAVES: additional waves per SIMD */
	const char *unasked;	  /* ADVISE_ASK_NOTHING: why; static */
	bool is_measured;	  /* the factor follows from the layout: it has a decimal */
};

struct advise_list {
	struct advice *v;
	size_t n, cap;
	struct arena *arena; /* holds their texts */
};
void advise_list_deinit(struct advise_list *l);

/* Adds the findings of its rules, descending by exposed cycles. For waves and samples; a summary
 * without a verdict and a capture without instructions get none. */
bool advise_waves(const struct summary *s, struct advise_list *l, struct incore_error *e);
/* For the pipes of a core. */
bool advise_pipes(const struct pipes *p, struct advise_list *l, struct incore_error *e);
