/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder.h: decodes the raw thread trace of one AMD shader engine (SQTT) into records.
 *
 * Bytes and code belong to the caller and are only read; nothing is kept after sqtt_decode().
 * Records go to a sink: each wave when it is complete (its arrays are valid inside the call only),
 * the other kinds in batches in stream order, realtime once at the end. Occupancy records that
 * turn out to belong before all others (is_front, in their order) come in a last batch.
 * Damage is counted in notes and is not an error: a truncated or corrupt stream yields the records
 * before it. May fail: out of memory, the sink, bytes that are not a thread trace (then nothing is
 * delivered). Threads: one call per shader engine at a time, all may share one struct sqtt_code.
 *
 * More than 150 lines because a decoder and all that it delivers are one interface.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "import/sqtt/records.h"
#include "isa/amd_code.h"

/* --- what is delivered ------------------------------------------------------------------------ */

/*
 * The outcome of a decoding: AMD's status and infos, and notes, which count everything lost,
 * truncated or unknown, and every place decoded differently from decoder 0.1.6 because that one is
 * wrong.
 */

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

/* --- the decoder ------------------------------------------------------------------------------ */

enum sqtt_rules {
	SQTT_RULES_RIGHT, /* the newer rules with AMD's errors corrected: the default */
	SQTT_RULES_NEW,	  /* as AMD's open decoder source, unchanged */
	SQTT_RULES_C16,	  /* AMD's decoder 0.1.6, record for record */
};

/* A stretch of executable bytes of one code object. */
struct sqtt_segment {
	uint32_t object;      /* code object id of the markers; 0: unknown */
	uint64_t vaddr;	      /* of the first byte, in the ELF file */
	uint64_t load_addr;   /* of the first byte, in device memory; SQTT_NO_ADDR: unknown */
	const uint8_t *bytes; /* borrowed */
	size_t size;
	const struct amd_code_inst *insts; /* by word, of length 0 between instructions; NULL: the
					      bytes are decoded */
};
#define SQTT_NO_ADDR UINT64_MAX

struct sqtt_code {
	enum amd_arch arch; /* AMD_ARCH_UNKNOWN: taken from the stream */
	size_t n_segments;
	const struct sqtt_segment *segments; /* not overlapping within an object */
};

/* Fixed load addresses of code objects, as stated by the file around the streams; USERDATA then
 * belongs to other software and is ignored. */
struct object_range {
	uint64_t base, size;
	uint32_t object;
	uint64_t vaddr; /* of base, in the ELF file */
};
struct sqtt_places {
	size_t n;
	const struct object_range *v; /* by base, not overlapping */
};

struct sqtt_options {
	enum sqtt_rules rules;
	const struct sqtt_code *code;	  /* NULL: instructions get no addresses */
	int target_cu;			  /* overrides the header's; SQTT_TARGET_OF_STREAM */
	const struct sqtt_places *places; /* NULL: taken from markers in the stream */
};
#define SQTT_TARGET_OF_STREAM (-1)

/* Any member may be NULL. If one returns false, decoding ends with the sink's error. */
struct sqtt_sink {
	void *ctx;
	bool (*wave)(void *ctx, const struct sqtt_wave *w, struct incore_error *e);
	bool (*occupancy)(
		void *ctx, const struct sqtt_occupancy *o, size_t n, struct incore_error *e);
	bool (*realtime)(
		void *ctx, const struct sqtt_realtime *r, size_t n, struct incore_error *e);
	bool (*perf)(void *ctx, const struct sqtt_perf *p, size_t n, struct incore_error *e);
	bool (*shaderdata)(
		void *ctx, const struct sqtt_shaderdata *s, size_t n, struct incore_error *e);
	bool (*other_simd)(
		void *ctx, const struct sqtt_other_simd *o, size_t n, struct incore_error *e);
	bool (*event)(void *ctx, const struct sqtt_event *v, size_t n, struct incore_error *e);
};

/* Properties stated by the first bytes. */
struct sqtt_stream {
	unsigned gfx_major;   /* 9, 10, 11, 12 */
	bool is_mi400;	      /* header version 5 */
	unsigned version;     /* gfx9: header bits 13..15; gfx10+: header version */
	unsigned target_cu;   /* gfx9: CU; gfx10+: sa << 7 | wgp */
	unsigned target_simd; /* gfx10+ */
	unsigned simd_mask;   /* gfx9 */
	int se;		      /* gfx9, as stated by the capture software; -1: not stated */
	bool is_double_buffer;
	bool is_unverified; /* a generation not tested with real streams: gfx10, MI400 */
};

/* Equal for all streams of a capture; less than SQTT_GENERATIONS. */
static inline unsigned sqtt_generation(const struct sqtt_stream *s)
{
	return s->gfx_major * 2 + s->is_mi400;
}
#define SQTT_GENERATIONS 32u

/* False: not a thread trace (code "bad-magic", or "truncated" below 8 bytes). */
bool sqtt_recognise(
	const uint8_t *data, size_t size, struct sqtt_stream *out, struct incore_error *e);

bool sqtt_decode(const uint8_t *data, size_t size, const struct sqtt_options *o,
	const struct sqtt_sink *sink, struct sqtt_result *out, struct incore_error *e);
