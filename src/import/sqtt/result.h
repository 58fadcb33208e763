/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.h: the outcome of a decoding: AMD's status and infos, and notes, which count everything
 * lost, truncated or unknown, and every place decoded differently from decoder 0.1.6 because that
 * one is wrong.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum sqtt_status {
	SQTT_OK = 0,
	SQTT_ERROR = 1,
	SQTT_NO_RESOURCES = 2,
	SQTT_INVALID_ARGUMENT = 3,
	SQTT_INVALID_DATA = 4, /* 0.1.6 rejects the stream here; records so far were delivered */
};

/* Everything lost, truncated or unknown; then every place decoded differently from 0.1.6 because
 * that is wrong. */
enum sqtt_note {
	SQTT_NOTE_PACKET_LOST,
	SQTT_NOTE_TRACE_STALL,
	SQTT_NOTE_CUT,
	SQTT_NOTE_UNKNOWN_TOKEN,
	SQTT_NOTE_BAD_SLOT,
	SQTT_NOTE_CLOCK_RANGE,
	SQTT_NOTE_NO_START,
	SQTT_NOTE_UNCONFIRMED,
	SQTT_NOTE_OVERFULL,
	SQTT_NOTE_STITCH_INCOMPLETE,
	SQTT_NOTE_WAVE_INCOMPLETE,
	SQTT_NOTE_NO_CODE,
	SQTT_NOTE_BAD_OBJECT,
	SQTT_NOTE_UNVERIFIED,
	SQTT_NOTE_REJECTED,
	SQTT_DIFF_QUEUE_INDEX,
	SQTT_DIFF_BAD_SLOT,
	SQTT_DIFF_BARRIER_WAIT,
	SQTT_DIFF_LATE_PC,
	SQTT_DIFF_UNKNOWN_JUMP,
	SQTT_DIFF_RESUMED,
	SQTT_DIFF_SWAP_FLAT,
	SQTT_DIFF_SWAP_END,
	SQTT_DIFF_START_EXT,
	SQTT_DIFF_W64,
	SQTT_DIFF_LONG_STALL,
	SQTT_DIFF_RANGE_REUSED,
	SQTT_DIFF_OPEN_START,
	SQTT_DIFF_CUT,
	SQTT_DIFF_HEADER,
	SQTT_DIFF_NEWER,
	SQTT_NOTE_COUNT,
};
#define SQTT_FIRST_DIFF SQTT_DIFF_QUEUE_INDEX

const char *sqtt_note_name(enum sqtt_note n); /* "packet-lost" */
const char *sqtt_note_text(enum sqtt_note n); /* one line for a user */

struct sqtt_note_count {
	uint64_t count;
	uint64_t first_off; /* byte of the stream; valid where count > 0 */
};

struct sqtt_result {
	enum sqtt_status status;
	unsigned gfx_major;
	uint64_t decoded_bytes; /* tokens were read up to here */
	int64_t last_cyc;	/* the clock there */
	uint64_t waves, insts, stitched;
	uint64_t rt_frequency_hz; /* 0: not announced */
	uint64_t object_markers;  /* markers that a code object was loaded or unloaded */
	bool is_lost, is_stitch_incomplete, is_wave_incomplete; /* AMD's info records 1, 2, 3 */
	struct sqtt_note_count notes[SQTT_NOTE_COUNT];
};
