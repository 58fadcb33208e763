/* SPDX-License-Identifier: Apache-2.0 */
/* class.c: the table of classes; the names of classes, buckets and slots. */
#include "trace/class.h"

#include "base/str.h"

/* Class, name, letter, slot, where its stall goes, where its issue goes, unit. */
#define CLASSES(X)                                                                                 \
	X(OTHER, "OTHER", 'o', OTHER, STALL, ISSUE, OTHER)                                         \
	X(MATRIX, "MATRIX", 'X', MATRIX, STALL, ISSUE, MATRIX)                                     \
	X(TRANS, "TRANS", 't', VALU, STALL, ISSUE, VALU)                                           \
	X(VALU, "VALU", 'v', VALU, STALL, ISSUE, VALU)                                             \
	X(VMEM_LOAD, "VMEM-load", 'l', VMEM, STALL, ISSUE, VMEM)                                   \
	X(VMEM_STORE, "VMEM-store", 's', STORE, STALL, ISSUE, VMEM)                                \
	X(VMEM_ATOMIC, "VMEM-atomic", 'a', STORE, STALL, ISSUE, VMEM)                              \
	X(VMEM_TO_LDS, "VMEM-to-LDS", 'G', VMEM, STALL, ISSUE, VMEM)                               \
	X(LDS, "LDS", 'd', LDS, STALL, ISSUE, LDS)                                                 \
	X(LDS_XLANE, "LDS-xlane", 'x', CROSS_LANE, STALL, ISSUE, LDS)                              \
	X(SMEM, "SMEM", 'm', SMEM, STALL, ISSUE, SMEM)                                             \
	X(SALU, "SALU", 'S', SCALAR, STALL, ISSUE, SALU)                                           \
	X(BRANCH, "BRANCH", 'b', BRANCH, STALL, ISSUE, BRANCH)                                     \
	X(WAIT, "WAIT", 'w', SYNC, WAIT, ISSUE, NONE)                                              \
	X(NOP, "NOP", 'n', SYNC, STALL, ISSUE, NONE)                                               \
	X(BARRIER, "BARRIER", 'B', SYNC, WAIT, ISSUE, NONE)                                        \
	X(SLEEP, "SLEEP", 'z', SYNC, WAIT, ISSUE, NONE)                                            \
	X(DRAIN, "DRAIN", 'D', END, DRAIN, DRAIN, NONE)                                            \
	X(MSG, "MSG", 'M', OTHER, STALL, ISSUE, OTHER)                                             \
	X(TRAP, "TRAP", 'T', OTHER, STALL, ISSUE, OTHER)                                           \
	X(BVH, "BVH", 'r', VMEM, STALL, ISSUE, OTHER)                                              \
	X(SCALAR, "SCALAR", 'S', SCALAR, STALL, ISSUE, OTHER)                                      \
	X(FLOWCTRL, "FLOWCTRL", 'c', BRANCH, STALL, ISSUE, OTHER)                                  \
	X(MTE, "MTE", 'P', VMEM, STALL, ISSUE, OTHER)                                              \
	X(CUBE, "CUBE", 'C', MATRIX, STALL, ISSUE, OTHER)                                          \
	X(FIXP, "FIXP", 'F', CROSS_LANE, STALL, ISSUE, OTHER)                                      \
	X(VECTOR, "VECTOR", 'V', VALU, STALL, ISSUE, OTHER)                                        \
	X(SIMT, "SIMT", 'W', VALU, STALL, ISSUE, OTHER)                                            \
	X(FLAG_SET, "FLAG-set", 'f', SYNC, STALL, ISSUE, OTHER)                                    \
	X(FLAG_WAIT, "FLAG-wait", 'w', SYNC, WAIT, WAIT, OTHER)                                    \
	X(SYNC, "SYNC", 'y', SYNC, WAIT, WAIT, OTHER)                                              \
	X(CACHE_MISS, "CACHE-miss", 'k', SMEM, STALL, ISSUE, OTHER)                                \
	X(USERMARK, "USERMARK", 'u', OTHER, STALL, ISSUE, OTHER)

_Static_assert(CLASS_COUNT == 33, "a class has no row in CLASSES");

#define NAME_OF(c, name, letter, slot, stall, issue, unit) [CLASS_##c] = (name),
#define LETTER_OF(c, name, letter, slot, stall, issue, unit) [CLASS_##c] = (letter),
#define STALL_OF(c, name, letter, slot, stall, issue, unit) [CLASS_##c] = BUCKET_##stall,
#define ISSUE_OF(c, name, letter, slot, stall, issue, unit) [CLASS_##c] = BUCKET_##issue,
#define UNIT_OF(c, name, letter, slot, stall, issue, unit) [CLASS_##c] = SIMD_##unit,
#define SLOT_OF(c, name, letter, slot, stall, issue, unit) [CLASS_##c] = SLOT_##slot,
#define SLOT_ON_MTE1(c, name, letter, slot, stall, issue, unit)                                    \
	[CLASS_##c] = CLASS_##c == CLASS_MTE ? SLOT_LDS : SLOT_##slot,
#define SLOT_ON_MTE3(c, name, letter, slot, stall, issue, unit)                                    \
	[CLASS_##c] = CLASS_##c == CLASS_MTE ? SLOT_STORE : SLOT_##slot,

/* The values that no class has, and those of waits by what they waited for. */
#define UNUSED CLASS_COUNT... CLASS_WAIT_FOR - 1
#define WAITS CLASS_WAIT_FOR... 255

const uint8_t class_stall_buckets[256] = {
	CLASSES(STALL_OF)[UNUSED] = BUCKET_STALL, [WAITS] = BUCKET_WAIT};
const uint8_t class_issue_buckets[256] = {
	CLASSES(ISSUE_OF)[UNUSED] = BUCKET_ISSUE, [WAITS] = BUCKET_ISSUE};
const uint8_t class_units[256] = {CLASSES(UNIT_OF)[UNUSED] = SIMD_OTHER, [WAITS] = SIMD_NONE};

#define SLOT_OF_WAIT(slot) [CLASS_WAIT_FOR + SLOT_##slot] = SLOT_##slot
#define SLOTS_OF_WAITS                                                                             \
	SLOT_OF_WAIT(SCALAR), SLOT_OF_WAIT(SMEM), SLOT_OF_WAIT(VALU), SLOT_OF_WAIT(MATRIX),        \
		SLOT_OF_WAIT(VMEM), SLOT_OF_WAIT(STORE), SLOT_OF_WAIT(LDS),                        \
		SLOT_OF_WAIT(CROSS_LANE), SLOT_OF_WAIT(BRANCH), SLOT_OF_WAIT(SYNC),                \
		SLOT_OF_WAIT(END), SLOT_OF_WAIT(OTHER),                                            \
		[CLASS_WAIT_FOR + SLOT_COUNT... 255] = SLOT_SYNC

/* By the digit of MTEn; moves on any other pipe get the colour of MTE2. */
static const uint8_t slots[][256] = {
	{CLASSES(SLOT_OF)[UNUSED] = SLOT_OTHER, SLOTS_OF_WAITS},
	/* NOLINTBEGIN(bugprone-branch-clone): a class may have the slot of MTE1 or MTE3 anyway */
	{CLASSES(SLOT_ON_MTE1)[UNUSED] = SLOT_OTHER, SLOTS_OF_WAITS},
	{CLASSES(SLOT_ON_MTE3)[UNUSED] = SLOT_OTHER, SLOTS_OF_WAITS},
	/* NOLINTEND(bugprone-branch-clone) */
};

const char *class_name(enum inst_class c)
{
	static const char *const names[CLASS_COUNT] = {CLASSES(NAME_OF)};

	return (unsigned)c < CLASS_COUNT ? names[c] : "OTHER";
}

const char *bucket_name(enum bucket b)
{
	static const char *const names[BUCKET_COUNT] = {
		[BUCKET_ISSUE] = "issue",
		[BUCKET_STALL] = "stall",
		[BUCKET_WAIT] = "wait",
		[BUCKET_IDLE] = "idle",
		[BUCKET_DRAIN] = "drain",
	};

	return (unsigned)b < BUCKET_COUNT ? names[b] : "unknown";
}

const char *slot_name(enum slot s)
{
	static const char *const names[SLOT_COUNT] = {"scalar", "smem", "valu", "matrix", "vmem",
		"store", "lds", "cross-lane", "branch", "sync", "end", "other"};

	return s < SLOT_COUNT ? names[s] : "other";
}

const uint8_t *slots_of_track(const char *track_name)
{
	ptrdiff_t at = track_name ? str_find(str_of(track_name), "MTE") : -1;

	if (at < 0)
		return slots[0];
	return slots[track_name[at + 3] == '1' ? 1 : track_name[at + 3] == '3' ? 2 : 0];
}

char class_letter(enum inst_class c)
{
	static const char letters[CLASS_COUNT] = {CLASSES(LETTER_OF)};

	if (c >= CLASS_COUNT)
		return 'o';
	return letters[c];
}
