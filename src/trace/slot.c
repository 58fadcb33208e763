/* SPDX-License-Identifier: Apache-2.0 */
/* slot.c: which colour is a class? */
#include "trace/slot.h"

#define SLOTS(mte)                                                                                 \
	{                                                                                          \
		[CLASS_OTHER] = SLOT_OTHER, [CLASS_MATRIX] = SLOT_MATRIX,                          \
		[CLASS_TRANS] = SLOT_VALU, [CLASS_VALU] = SLOT_VALU,                               \
		[CLASS_VMEM_LOAD] = SLOT_VMEM, [CLASS_VMEM_STORE] = SLOT_STORE,                    \
		[CLASS_VMEM_ATOMIC] = SLOT_STORE, [CLASS_VMEM_TO_LDS] = SLOT_VMEM,                 \
		[CLASS_LDS] = SLOT_LDS, [CLASS_LDS_XLANE] = SLOT_CROSS_LANE,                       \
		[CLASS_SMEM] = SLOT_SMEM, [CLASS_SALU] = SLOT_SCALAR,                              \
		[CLASS_BRANCH] = SLOT_BRANCH, [CLASS_WAIT] = SLOT_SYNC, [CLASS_NOP] = SLOT_SYNC,   \
		[CLASS_BARRIER] = SLOT_SYNC, [CLASS_SLEEP] = SLOT_SYNC, [CLASS_DRAIN] = SLOT_END,  \
		[CLASS_MSG] = SLOT_OTHER, [CLASS_TRAP] = SLOT_OTHER, [CLASS_BVH] = SLOT_VMEM,      \
		[CLASS_SCALAR] = SLOT_SCALAR, [CLASS_FLOWCTRL] = SLOT_BRANCH, [CLASS_MTE] = (mte), \
		[CLASS_CUBE] = SLOT_MATRIX, [CLASS_FIXP] = SLOT_CROSS_LANE,                        \
		[CLASS_VECTOR] = SLOT_VALU, [CLASS_SIMT] = SLOT_VALU,                              \
		[CLASS_FLAG_SET] = SLOT_SYNC, [CLASS_FLAG_WAIT] = SLOT_SYNC,                       \
		[CLASS_SYNC] = SLOT_SYNC, [CLASS_CACHE_MISS] = SLOT_SMEM,                          \
		[CLASS_USERMARK] = SLOT_OTHER, [CLASS_COUNT... 255] = SLOT_OTHER,                  \
	}

/* By the digit of MTEn; the others move on MTE2. */
static const uint8_t slots[][256] = {
	SLOTS(SLOT_VMEM),
	SLOTS(SLOT_LDS),
	SLOTS(SLOT_STORE),
};

const char *slot_name(enum slot s)
{
	static const char *const names[SLOT_COUNT] = {"scalar", "smem", "valu", "matrix", "vmem",
		"store", "lds", "cross-lane", "branch", "sync", "end", "other"};

	return s < SLOT_COUNT ? names[s] : "other";
}

const uint8_t *slots_of_track(const char *track_name)
{
	ptrdiff_t at = track_name ? str_find(str_of(track_name), "MTE") : -1;
	char digit = at >= 0 ? track_name[at + 3] : 0;

	return slots[digit == '1' ? 1 : digit == '3' ? 2 : 0];
}

char class_letter(enum inst_class c)
{
	static const char letters[CLASS_COUNT + 1] = "oXtvlsaGdxmSbwnBzDMTrScPCFVWfwyku";

	return c < CLASS_COUNT ? letters[c] : 'o';
}
