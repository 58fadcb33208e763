/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h: what a thread trace of one shader engine is to say, before it becomes bytes. Made by
 * random_stream.c or by hand, written by encode_gfx9.c and encode_gfx10.c; a decoder must give back
 * the same waves, events and samples.
 *
 * An instruction is given as a decoder shows it: first cycle, stall, duration, category, place in
 * the program. Not every such list can be written (section "what can be said" of each encoder);
 * random_stream.c makes only those that can.
 * Owner: the holder of a struct sq_stream; sq_stream_deinit() frees it, the program is borrowed.
 */
#ifndef TESTS_SQTT_STREAM_H
#define TESTS_SQTT_STREAM_H

#include "base/str.h"
#include "base/vec.h"
#include "import/sqtt/records.h"
#include "program.h"

struct sq_inst {
	int64_t time;
	uint32_t stall, dur; /* dur: stall included */
	uint8_t category;    /* enum sqtt_category */
	uint8_t code;	     /* gfx9: instruction type; gfx10+: INST code */
	uint32_t line;	     /* of the program; SQ_NO_LINE: no address */
};
#define SQ_NO_LINE UINT32_MAX
#define SQ_VALU_TOKEN 255u /* gfx10+: as code, the short VALU_INST token */

struct sq_wave {
	unsigned cu, simd, slot; /* cu: gfx10+: sa << 7 | wgp */
	int64_t begin, end;
	bool is_long_start; /* gfx10+: WAVE_START_EXT */
	VEC(struct sq_inst) insts;
	VEC(struct sqtt_span) spans; /* as a decoder shows them */
};

struct sq_stream {
	enum sq_gen gen;
	bool is_c16; /* rules that instructions are given by: 0.1.6, else the newer ones */
	unsigned se;
	unsigned cu, simd; /* with detail; gfx9: all SIMDs */
	const struct sq_program *program;
	uint64_t load_base;  /* device address of the code object's vaddr 0; multiple of 256 */
	uint32_t object;     /* id told by markers; 0: no markers */
	uint32_t rt_khz;     /* 0: not told */
	bool has_short_ends; /* gfx10+: waves may end before their last instruction does */
	uint64_t seed;	     /* of the choice between tokens that say the same */
	VEC(struct sq_wave) waves;
	VEC(struct sqtt_realtime) realtime;
	VEC(struct sqtt_perf) perf;
	VEC(struct sqtt_shaderdata) shaderdata;
	VEC(struct sqtt_other_simd) other; /* category and cycles by sq_other_code() */
	VEC(int64_t) losses;		   /* times of packet loss */
};

void sq_stream_deinit(struct sq_stream *s);

/* Random numbers of a test: the same for the same seed everywhere. */
static inline uint64_t sq_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline uint32_t sq_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(sq_random(state) % n);
}

/* Something that becomes one token, at a time. */
enum sq_kind {
	SQ_START,
	SQ_END,
	SQ_ISSUE, /* gfx9: value is the code of the slot */
	SQ_INST,  /* value: type or code */
	SQ_IMMED, /* gfx10+ */
	SQ_READY, /* gfx10+ */
	SQ_NEW_PC,
	SQ_DATA, /* value: s_ttracedata; aux: flags */
	SQ_PERF, /* value: index in perf */
	SQ_OTHER,
	SQ_REALTIME, /* value: the clock */
	SQ_LOSS,
};

struct sq_event {
	int64_t time;
	uint32_t seq; /* order among equal times */
	uint8_t kind; /* enum sq_kind */
	uint8_t simd, slot, aux;
	uint16_t cu;
	uint64_t value;
};

struct sq_events {
	VEC(struct sq_event) all;
	bool is_failed;
};

void sq_add_event(struct sq_events *v, struct sq_event e);
/* Start, instructions and end of one wave. */
void sq_add_wave_events(struct sq_events *v, const struct sq_stream *s, const struct sq_wave *w);
/* Everything that is no wave: data, counters, samples, losses. */
void sq_add_extras(struct sq_events *v, const struct sq_stream *s);
void sq_sort_events(struct sq_events *v);

/* Bytes of the stream; false on lack of memory. */
bool sq_encode(const struct sq_stream *s, struct strbuf *out);

#endif
