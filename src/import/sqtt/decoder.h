/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder.h: the raw thread trace of one AMD shader engine (SQTT) in, its records out.
 *
 * Bytes and code come from the caller and are only read; nothing is kept after sqtt_decode().
 * Records go to a sink: each wave when it is complete (its arrays are valid inside the call only),
 * the other kinds in batches in stream order, realtime once at the end. Occupancy records that are
 * found to belong in front of all others (is_front, in their order) come in a last batch.
 * Damage is counted in notes, not an error: a stream cut or corrupt anywhere gives what came
 * before. May fail: memory, the sink, bytes that are no thread trace (nothing delivered then).
 * Threads: one call per shader engine at a time, all may share one struct sqtt_code.
 */
#pragma once

#include "base/error.h"
#include "import/sqtt/records.h"
#include "import/sqtt/result.h"
#include "isa/amd_code.h"

enum sqtt_rules {
	SQTT_RULES_RIGHT, /* the newer rules, and right where AMD's decoder errs: the default */
	SQTT_RULES_NEW,	  /* AMD's open decoder text, as it is */
	SQTT_RULES_C16,	  /* AMD's decoder 0.1.6, record for record */
};

/* A stretch of executable bytes of one code object. */
struct sqtt_segment {
	uint32_t object;      /* code object id of the markers; 0: none known */
	uint64_t vaddr;	      /* of the first byte, in the ELF file */
	uint64_t load_addr;   /* of the first byte, in device memory; SQTT_NO_ADDR: unknown */
	const uint8_t *bytes; /* borrowed */
	size_t size;
};
#define SQTT_NO_ADDR UINT64_MAX

struct sqtt_code {
	enum amd_arch arch; /* AMD_ARCH_UNKNOWN: as the stream says */
	size_t n_segments;
	const struct sqtt_segment *segments; /* not overlapping within an object */
};

/* Where code objects lay all the time, as the file around the streams says; USERDATA then is of other
 * software and is passed over. */
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
	const struct sqtt_code *code;	  /* NULL: no instruction gets an address */
	int target_cu;			  /* overrides the header's; SQTT_TARGET_OF_STREAM */
	const struct sqtt_places *places; /* NULL: markers in the stream say */
};
#define SQTT_TARGET_OF_STREAM (-1)

/* Any member may be NULL. A false ends the decoding with the sink's error. */
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

/* What the first bytes say. */
struct sqtt_stream {
	unsigned gfx_major;   /* 9, 10, 11, 12 */
	bool is_mi400;	      /* header version 5 */
	unsigned version;     /* gfx9: header bits 13..15; gfx10+: header version */
	unsigned target_cu;   /* gfx9: CU; gfx10+: sa << 7 | wgp */
	unsigned target_simd; /* gfx10+ */
	unsigned simd_mask;   /* gfx9 */
	int se;		      /* gfx9, as the capture software says; -1: not there */
	bool is_double_buffer;
	bool is_unverified; /* a generation no real stream was seen of: gfx10, MI400 */
};

/* Streams of one capture have the same; below SQTT_GENERATIONS. */
static inline unsigned sqtt_generation(const struct sqtt_stream *s)
{
	return s->gfx_major * 2 + s->is_mi400;
}
#define SQTT_GENERATIONS 32u

/* False: no thread trace (code "bad-magic", or "truncated" below 8 bytes). */
bool sqtt_recognise(
	const uint8_t *data, size_t size, struct sqtt_stream *out, struct incore_error *e);

bool sqtt_decode(const uint8_t *data, size_t size, const struct sqtt_options *o,
	const struct sqtt_sink *sink, struct sqtt_result *out, struct incore_error *e);
