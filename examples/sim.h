/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h: a toy shader engine. It runs one small program on a few waves and gives records as a
 * thread trace would: issue time, stall, duration, row. Nothing is measured here: it makes input
 * for tests and for the demo, deterministic for a seed, and consistent with itself. Owner:
 * sim_run() fills the waves' records, sim_free() frees them.
 */
#ifndef EXAMPLES_SIM_H
#define EXAMPLES_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_ROWS 512
#define SIM_MAX_WAVES 4096
#define SIM_MAX_QUEUE 64

/* One row of a program. A branch has "%u" in its text for the offset and `to`, the row it goes to;
 * it is taken `times` times by each wave (-1: always), `idle_times` by a wave that has no work. */
struct sim_row {
	const char *text;
	const char *source; /* "gemm.py:12", or NULL */
	unsigned to;
	int times, idle_times;
};

struct sim_program {
	const char *kernel;
	const struct sim_row
		*rows; /* row 0 is the label and is not among them: rows[0] is number 1 */
	unsigned n;
	uint64_t vaddr;
	/* filled by sim_layout() */
	char text[SIM_MAX_ROWS][96];
	uint64_t address[SIM_MAX_ROWS];
};

struct sim_record {
	uint64_t time;
	uint32_t category, stall, duration, line;
};

struct sim_segment {
	uint32_t state, duration;
};

struct sim_wait {      /* a wait and the rows it waited for, as the viewer's model says */
	size_t record; /* of the wait */
	uint32_t line, n;
	uint32_t producer[SIM_MAX_QUEUE];
};

enum sim_counter { SIM_VM, SIM_LGKM, SIM_STORE, SIM_DS, SIM_KM, SIM_COUNTERS };

struct sim_queue {
	unsigned n;
	uint32_t line[SIM_MAX_QUEUE];
	uint64_t done[SIM_MAX_QUEUE];
	bool is_parallel; /* holds SMEM, which completes out of order */
};

struct sim_wave {
	/* set by the caller */
	unsigned se, cu, simd, slot, number, workgroup;
	uint64_t begin;	    /* common clock */
	int tail;	    /* cycles from the last record to the end: 0, -4, or positive */
	bool is_idle;	    /* leaves early */
	bool has_overlap;   /* its first s_nop starts 4 cycles early */
	unsigned cut_after; /* records kept; 0: all (a full buffer cuts a wave) */
	/* filled by sim_run() */
	uint64_t end;
	struct sim_record *records;
	size_t n, cap;
	struct sim_segment *segments;
	size_t n_segments, segments_cap;
	struct sim_wait *waits;
	size_t n_waits, waits_cap;
	/* while running */
	unsigned pc, n_steps;
	uint64_t now;
	bool is_blocked, is_done;
	uint64_t arrival;
	int taken[SIM_MAX_ROWS];
	struct sim_queue queue[SIM_COUNTERS];
	uint64_t drained; /* when its last store is done */
};

/* What is done to a row instead: it takes 1000 / faster_milli of its time, or is not there. Zeros:
 * nothing. Only waits, nops and barriers may be removed: memory counters count the rest. */
struct sim_change {
	unsigned faster_milli;
	bool is_removed;
};

/* What a compute unit's memory can do; bytes are sixteenths of a byte a cycle. */
struct sim_rates {
	unsigned lds_bytes, l1_bytes;
	unsigned hbm_bytes; /* its share of the device's; loads and stores that stream ("nt") */
	unsigned memory_cyc, lds_cyc, scalar_cyc; /* latencies of an idle machine */
	unsigned vmem_queue, lds_queue;		  /* instructions in flight; the next one waits */
};

struct sim {
	const struct sim_program *program;
	const struct sim_rates *rates; /* NULL: memory has no limits */
	unsigned gfx;		       /* 9, 11, 12 */
	unsigned quantum;	       /* 4 on gfx9, else 1 */
	uint64_t seed;
	/* By row, from 0; NULL: none. Then what is random hangs on the place of a record in its wave, not
	 * on its time, so that a changed run can be compared. */
	const struct sim_change *changes;
	struct sim_wave *waves;
	size_t n_waves;
};

/* Texts with branch offsets, and addresses. */
void sim_layout(struct sim_program *p);
bool sim_run(struct sim *s);
void sim_free(struct sim *s);
/* A number below n, the same for the same (seed, key). */
uint64_t sim_random(uint64_t seed, uint64_t key, uint64_t n);
bool sim_is(const char *text, const char *prefix);

#endif
