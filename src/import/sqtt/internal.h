/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h: the state of one decoding, shared by its layers: tokens feed waves, waves are
 * stitched to code, records leave through the sink. Owner: sqtt_decode(); one thread.
 * The first failure (memory or sink) is latched in is_failed and ends the token loop.
 */
#pragma once

#include <string.h>

#include "import/sqtt/userdata.h"
#include "import/sqtt/wave.h"

#define SQTT_MAX_TIME ((int64_t)1 << 60) /* later times mean a corrupt stream */
#define SQTT_MAX_OBJECT 0xffffffu
#define GFX9_SLOTS 10u
#define GFX10_SLOTS 32u
#define WAVE_COUNT 40u /* gfx9: 4 SIMDs x 10 slots; gfx10+: 32 slots of the target SIMD */
#define BATCH 4096u
#define MAX_RANGES 16384u /* code objects at the same time */
#define NO_OFF UINT64_MAX

struct running { /* one wave slot of the shader engine, for occupancy */
	uint64_t addr;
	uint32_t object;
	bool is_running;
};

static inline struct sqtt_pc running_entry(const struct running *r)
{
	return (struct sqtt_pc){r->addr, r->object};
}

struct barrier_gap { /* an s_barrier_wait without a token, before instruction `index` */
	struct sqtt_pc pc;
	uint32_t index;
};

struct decoder {
	const uint8_t *data;
	size_t size;
	struct sqtt_stream stream;
	enum sqtt_rules rules;
	bool is_c16, is_failed;
	bool is_lost; /* packets were lost */
	struct code_lines code;
	const struct sqtt_sink *sink;
	struct sqtt_result *res;
	struct incore_error *e;

	int64_t now;
	uint64_t off; /* offset of the current token */
	unsigned target_cu;
	uint32_t stall_mask;	       /* 0.1.6 keeps 24 bits */
	uint64_t from_masks;	       /* instructions from tokens that affect many waves at once */
	uint32_t pgm_lo[8], pgm_hi[8]; /* program address of queue me * 4 + pipe */
	uint32_t threads[8][3];	       /* workgroup size of the queue */
	struct userdata user;
	struct wave waves[WAVE_COUNT];
	struct running *running;
	VEC(struct sqtt_occupancy) occupancy;
	bool holds_occupancy;		  /* some entries may still get their code object later */
	VEC(struct sqtt_occupancy) front; /* belong before all others, in reverse order */
	VEC(struct sqtt_realtime) realtime;
	VEC(struct sqtt_perf) perf;
	VEC(struct sqtt_shaderdata) shaderdata;
	VEC(struct sqtt_other_simd) other_simd;
	VEC(struct sqtt_event) event;

	/* gfx9 */
	uint32_t phase;
	int64_t clock_base;
	uint64_t claimed_off;	/* offset of the TIME token of the last reset */
	uint64_t swallowed_off; /* 0.1.6: a reset that is hidden by another one */
	uint32_t perf_interval;
	int64_t perf_last[16][4]; /* time of the last sample by CU and bank; INT64_MIN: none */
	/* gfx12 */
	bool has_exbar; /* s_barrier_wait may have no token */
	VEC(struct barrier_gap) gaps;
	VEC(struct sqtt_inst) gap_insts;
	VEC(struct sqtt_span) gap_spans;
};

/* tokens_gfx9.c, tokens_gfx10.c: decode the whole stream. */
void sqtt_run_gfx9(struct decoder *d);
void sqtt_run_gfx10(struct decoder *d);

/* stitch.c: assigns addresses to the wave's instructions; true: all were processed. */
bool sqtt_stitch(struct decoder *d, struct wave *w);
/* stitch_barrier.c: was the s_barrier_wait line, which has just been passed, left out of the trace
 * at instruction i? */
bool sqtt_is_barrier_gap(
	struct decoder *d, struct wave *w, struct code_line *line, struct code_at next, size_t i);
void sqtt_insert_gaps(struct decoder *d, struct wave *w);
/* Stitches the wave, hands it to the sink and empties it. */
void sqtt_emit_wave(struct decoder *d, struct wave *w, bool is_incomplete);
void sqtt_add_info(struct decoder *d, struct wave *w, uint32_t index, const struct sqtt_pc *pc);
/* A token stated the address of the program. */
void sqtt_fill_info(struct decoder *d, struct wave *w, uint64_t addr);
void sqtt_occupancy(
	struct decoder *d, int64_t time, unsigned place, struct sqtt_pc entry, bool is_start);
/* For an end without a start: adds a start at time 0 before all other records. */
void sqtt_occupancy_front(struct decoder *d, unsigned place);
void sqtt_flush(struct decoder *d, bool is_end);
/* Notes that the newer rules differ from 0.1.6 here. */
void sqtt_newer(struct decoder *d);
/* events.c: adds an event at the current time. */
void sqtt_event(struct decoder *d, enum sqtt_event_type type, unsigned queue, bool is_bottom);
/* Handles a write to a compute register; false: the register is not used. */
bool sqtt_register(struct decoder *d, unsigned queue, unsigned which, uint32_t data);
/* Resolves entries with code objects that were announced later as loaded from the beginning. */
void sqtt_resolve_events(struct decoder *d);

#define PLACE(cu, simd, slot) ((unsigned)(cu) << 16 | (unsigned)(simd) << 8 | (unsigned)(slot))

static inline void sqtt_note_at(struct decoder *d, enum sqtt_note n, uint64_t off)
{
	if (d->res->notes[n].count++ == 0)
		d->res->notes[n].first_off = off;
}

static inline void sqtt_note(struct decoder *d, enum sqtt_note n)
{
	sqtt_note_at(d, n, d->off);
}

/* Latches out of memory if !ok. */
static inline void sqtt_need(struct decoder *d, bool ok)
{
	if (__builtin_expect(!ok, 0))
		d->is_failed = true;
}

/* A token of a few bytes can make an instruction in each of many waves. More than one per byte over
 * the whole stream is corruption: such a stream must not exhaust memory. */
static inline bool sqtt_has_room(struct decoder *d)
{
	if (__builtin_expect(d->from_masks++ <= d->size + 65536, 1))
		return true;
	sqtt_note(d, SQTT_NOTE_OVERFULL);
	return false;
}

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}
