/* SPDX-License-Identifier: Apache-2.0 */
/* causes_internal.h: what a walk gathers for causes.c; shared by causes_gather.c and causes.c only.
 */
#pragma once

#include "analysis/waves/causes.h"
#include "base/map.h"

/* Slots: issue by class, pipe-stall by class, the single causes, then one per wait key seen. */
enum {
	SLOT_ISSUE = 0,
	SLOT_PIPE = CLASS_COUNT,
	SLOT_SINGLE = 2 * CLASS_COUNT, /* + enum cause_kind */
	SLOT_WAIT = SLOT_SINGLE + CAUSE_KINDS,
};

struct cause_slot {
	uint64_t cyc, hidden_cyc, hits, free_hits, free_cyc;
};

struct cell {
	code_idx code;
	uint32_t slot;
	uint64_t cyc, hidden_cyc, hits;
};

/* Most pieces of a row fall under few causes: a dense table by kind serves them, where "by class"
 * means the row's own class. The rest goes through the map. */
struct dense {
	uint64_t cyc, hidden_cyc, hits;
};

struct wait_cache {	     /* the cell last used for a row's waits */
	uint32_t slot, cell; /* cell: index + 1 */
};

#define DENSE_MAX_ROWS 65536u

struct gather {
	struct dense (*dense)[CAUSE_KINDS]; /* by code row; NULL: only the map is used */
	struct wait_cache *wait_cache;	    /* by code row, with dense */
	VEC(struct cause_slot) slots;
	VEC(uint32_t) keys;	  /* of slot SLOT_WAIT + i */
	struct u64_map key_slots; /* key -> slot */
	VEC(struct cell) cells;
	struct u64_map cell_index; /* (code, slot) -> index + 1 */
	struct waits waits;
	uint64_t duration_cyc;
	/* of the track being looked at */
	struct busy_view view;
	bool has_failed;
};

static inline uint32_t slot_of_kind(enum cause_kind kind, enum inst_class k)
{
	if (kind == CAUSE_ISSUE)
		return SLOT_ISSUE + k;
	return kind == CAUSE_PIPE_STALL ? SLOT_PIPE + k : SLOT_SINGLE + kind;
}

struct kind_def {
	const char *name;
	enum bucket bucket;
	enum cause_family family;
};
extern const struct kind_def cause_kind_defs[CAUSE_KINDS]; /* cause_rules.c */

/* self: a struct causes; mine: a zeroed struct gather. */
bool causes_gather_init(void *self, void *mine);
void causes_gather_deinit(void *self, void *mine);
