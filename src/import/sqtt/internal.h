/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h: the state of one decoding, shared by its layers: tokens feed waves, waves are
 * stitched to code, records leave through the sink. Owner: sqtt_decode(); one thread.
 * The first failure (memory or sink) is latched in is_failed and ends the token loop.
 *
 * More than 150 lines because the tokens and waves of all generations share the state of one
 * stream.
 */
#pragma once

#include <assert.h>
#include <string.h>

#include "base/vec.h"
#include "import/sqtt/decoder.h"

/* --- the instruction at an address ------------------------------------------------------------ */

/*
 * The code of a trace as a table of decoded lines, one per word, made page by page on first use.
 * Owner: one decoding, including the state of the lines.
 */

struct sqtt_pc {
	uint64_t addr; /* 0: unknown */
	uint32_t object;
};

enum line_state { LINE_PARSED = 1, LINE_EXCLUDED = 2 };
#define CODE_EXCLUDED 255u /* class of an excluded line: equal to no other class */

struct sqtt_code_line {
	uint8_t words;	    /* length / 4; 0: not decodable */
	uint8_t inst_class; /* under the rules of this decoding */
	uint8_t flags;
	uint8_t state;	      /* enum line_state: what 0.1.6 records about s_barrier_wait lines */
	int32_t branch_words; /* target minus own word */
};

#define PAGE_LINES 1024u
struct code_pages { /* pages of one segment */
	const struct sqtt_segment *segment;
	uint64_t n_words;
	struct sqtt_code_line **pages;
};

struct code_lines {
	enum amd_arch arch;
	bool is_c16;
	bool is_failed; /* out of memory: no more lines are decoded */
	size_t n;
	struct code_pages *segments;
	struct code_pages *last; /* found last */
};

/* A place in code; segment NULL: no place. */
struct code_at {
	struct code_pages *segment;
	uint64_t idx;  /* index of the word; past the end: no place */
	uint64_t base; /* address of word 0, in the address space that `object` implies */
	uint32_t object;
};

struct code_at code_find(struct code_lines *c, struct sqtt_pc pc);
/* Decodes the page of word idx; NULL when out of memory. */
struct sqtt_code_line *code_load_page(struct code_lines *c, struct code_pages *s, uint64_t page);

/* The line at a place, or NULL. */
static inline struct sqtt_code_line *code_get(struct code_lines *c, const struct code_at *at)
{
	struct sqtt_code_line *page, *line;

	if (!at->segment || at->idx >= at->segment->n_words)
		return NULL;
	page = at->segment->pages[at->idx / PAGE_LINES];
	if (!page && !(page = code_load_page(c, at->segment, at->idx / PAGE_LINES)))
		return NULL;
	line = &page[at->idx % PAGE_LINES];
	return line->words ? line : NULL;
}

static inline uint64_t code_addr(const struct code_at *at)
{
	return at->base + 4 * at->idx;
}

/* --- user data -------------------------------------------------------------------------------- */

/*
 * Data that the capture software wrote into the stream through the USERDATA registers: addresses of
 * code objects, the realtime clock, the counter interval.
 */

#define REG_USERDATA2 0xc342u
#define REG_USERDATA3 0xc343u

struct object_words { /* words received so far from one (me, pipe) */
	uint32_t size[2], addr[2], id[2];
	uint8_t expect; /* type + 1 of the next payload; 0: a header is next */
};

struct entry_cache { /* the resolved program address of a queue */
	uint64_t addr;
	uint64_t version;
	struct sqtt_pc pc;
};

struct userdata {
	bool is_enabled;
	bool is_rt_short;  /* one word of realtime, its low half */
	uint8_t rt_expect; /* words of realtime still to come */
	uint32_t rt_low, rt_high;
	struct object_words words[8];
	uint64_t version; /* changes with the ranges */
	struct entry_cache entries[8];
	const struct sqtt_places *places;   /* or NULL; of the caller */
	VEC(struct object_range) ranges;    /* active now */
	VEC(struct object_range) preloaded; /* loaded before the trace began */
};

struct decoder;

/* Handles a write to USERDATA2 or 3 by queue me * 4 + pipe at time now. */
void userdata_write(struct decoder *d, unsigned reg, unsigned queue, uint32_t data, int64_t now);
/* Maps a device address to (object, vaddr) if a range holds it. */
struct sqtt_pc userdata_resolve(const struct userdata *u, uint64_t addr);
/* userdata_resolve() among the objects that were loaded before the trace. */
struct sqtt_pc userdata_resolve_preloaded(const struct userdata *u, uint64_t addr);
/* The entry of waves of queue me * 4 + pipe, from its current registers; 0, 0: unknown. */
struct sqtt_pc userdata_entry(struct decoder *d, unsigned queue);

/* --- waves ------------------------------------------------------------------------------------ */

/*
 * A wave while its tokens are read: its instructions, states and known program addresses. Owner:
 * the decoder; the arrays are kept for the next wave of the slot.
 */

/* The program address from instruction `index` on; unknown until a later token states it. */
struct pc_info {
	struct sqtt_pc pc;
	uint32_t index;
	bool is_known;
};

enum wave_status { WAVE_OK, WAVE_REQUEST, WAVE_STANDBY, WAVE_NEWPC };

struct wave {
	/* checked for every instruction, as one number: wave_is_plain() */
	uint8_t is_open;
	uint8_t is_ended;  /* gfx10+, newer rules: waits for a late address */
	uint8_t status;	   /* enum wave_status */
	uint8_t is_scaled; /* MI400: a scale was loaded for the next instruction */
	uint32_t barrier;  /* index + 1 of a barrier whose end is not known yet; 0: none */
	uint8_t state;	   /* enum sqtt_state */
	uint8_t simd, slot, contexts, cu;
	bool had_switch : 1; /* trap or context switch */
	bool has_msg : 1;
	bool wraps : 1, is_clamped : 1; /* durations beyond 32 bits: shall wrap, were clamped */
	uint32_t off, end_off;
	int64_t begin, end, mark; /* mark: start of the current state */
	VEC(struct sqtt_inst) insts;
	VEC(struct sqtt_span) spans;
	int64_t msg, last_stall;
	struct sqtt_pc entry;
	VEC(struct pc_info) infos;
	VEC(uint32_t) issued; /* gfx9: instructions that wait to be confirmed, from issued_head */
	VEC(int64_t) stalls;  /* gfx9: stalled cycles not yet charged, from stalls_head */
	size_t issued_head, stalls_head;
	uint32_t first_unknown;	 /* first of the trailing infos without an address yet */
	uint32_t n_known;	 /* gfx10+: instructions with an address from stitching */
	uint32_t replay_last[6]; /* index + 1 of the last confirmed of each memory type */
	struct wave *older;	 /* gfx10+, 0.1.6: was still open when this one started */
};

static_assert(offsetof(struct wave, barrier) == 4, "wave_is_plain() reads what is before and it");

/* Is the wave open, not ended, in its program and with nothing pending? */
static inline bool wave_is_plain(const struct wave *w)
{
	static const uint8_t plain[8] = {1, 0, WAVE_OK, 0, 0, 0, 0, 0};

	return memcmp(w, plain, sizeof(plain)) == 0;
}

/* 0.1.6 keeps the low 32 bits of a longer one. */
static inline int32_t clamp_dur(struct wave *w, int64_t v)
{
	if (__builtin_expect(v == (int32_t)v, 1))
		return (int32_t)v;
	if (w->wraps)
		return (int32_t)(uint32_t)v;
	w->is_clamped = true;
	return v < 0 ? INT32_MIN : INT32_MAX;
}

static inline int64_t inst_end(const struct sqtt_inst *x)
{
	return x->time + x->dur;
}

static inline struct sqtt_inst *wave_last(struct wave *w)
{
	return &w->insts.v[w->insts.n - 1];
}

/* Adds a new span, even after one of the same state. */
static inline bool wave_span(struct wave *w, int state, int64_t dur)
{
	return VEC_PUSH(&w->spans, (struct sqtt_span){state, clamp_dur(w, dur)});
}

/* Adds dur to the last span if it has that state, else a new span. */
static inline bool wave_add(struct wave *w, int state, int64_t dur)
{
	size_t n = w->spans.n;

	if (!n || w->spans.v[n - 1].state != state)
		return wave_span(w, state, dur);
	w->spans.v[n - 1].dur = clamp_dur(w, w->spans.v[n - 1].dur + dur);
	return true;
}

void wave_open(struct wave *w, int64_t now, uint64_t off);
void wave_free(struct wave *w);

/* --- the state of a stream -------------------------------------------------------------------- */

#define SQTT_MAX_TIME ((int64_t)1 << 60) /* later times mean a corrupt stream */
#define SQTT_MAX_OBJECT 0xffffffu
#define GFX9_SLOTS 10u
#define GFX10_SLOTS 32u
#define WAVE_COUNT 40u /* gfx9: 4 SIMDs x 10 slots; gfx10+: 32 slots of the target SIMD */
#define BATCH 4096u
#define MAX_RANGES 16384u /* code objects at the same time */
#define NO_OFF UINT64_MAX

struct running_wave { /* one wave slot of the shader engine, for occupancy */
	uint64_t addr;
	uint32_t object;
	bool is_running;
};

static inline struct sqtt_pc running_entry(const struct running_wave *r)
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
	struct running_wave *running;
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

/* Decode the whole stream. */
void sqtt_run_gfx9(struct decoder *d);
void sqtt_run_gfx10(struct decoder *d);

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
/* Adds an event at the current time. */
void sqtt_event(struct decoder *d, enum sqtt_event_type type, unsigned queue, bool is_bottom);
/* Handles a write to a compute register; false: the register is not used. */
bool sqtt_register(struct decoder *d, unsigned queue, unsigned which, uint32_t data);

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
