/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot.h: the twelve colours of a timeline. A slot is a mapping from enum inst_class and, for
 * Ascend's movers, from the pipe they run on; words in tables and JSON stay those of class_name().
 * Pure functions.
 */
#ifndef TRACE_SLOT_H
#define TRACE_SLOT_H

#include "trace/trace.h"

enum slot {
	SLOT_SCALAR,
	SLOT_SMEM,
	SLOT_VALU,
	SLOT_MATRIX,
	SLOT_VMEM,
	SLOT_STORE,
	SLOT_LDS,
	SLOT_CROSS_LANE,
	SLOT_BRANCH,
	SLOT_SYNC,
	SLOT_END,
	SLOT_OTHER,
	SLOT_COUNT
};
const char *slot_name(enum slot s); /* "scalar", ... */

/* Slot by class, for all 256 values of a byte, on the track of that name. Static. */
const uint8_t *slots_of_track(const char *track_name);
/* The letter a slice of the class carries when there is room. */
char class_letter(enum inst_class c);

#endif
