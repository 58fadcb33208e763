/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h: the decoded stream of one shader engine. Waves are stored packed (5 to 8 bytes per
 * instruction) because a stream cannot be decoded from the middle: a track is unpacked on demand.
 * Owner: sqtt_engine_free(). Threads: one decodes an engine; read-only afterwards.
 */
#pragma once

#include "import/sqtt/objects.h"
#include "trace/trace.h"

struct sqtt_wave_ref {
	uint32_t engine; /* into sqtt_build.engines */
	uint16_t cu;
	uint8_t simd, slot;
	bool is_incomplete;
	uint32_t n_insts, n_spans;
	uint64_t begin_cyc, end_cyc;
	uint64_t at; /* byte in the engine's store */
	uint64_t entry_pc;
	uint32_t entry_object;
};

struct sqtt_entry { /* the entry of a program */
	uint32_t object;
	uint64_t pc;
	uint64_t starts, cycles; /* occupancy starts; lifetimes of traced waves */
};

struct sqtt_engine {
	uint32_t se;
	const char *path;
	uint64_t at;	       /* offset of the stream in the file */
	struct file_data file; /* until it is decoded */
	unsigned generation;   /* of the capture, sqtt_generation(); 0: any */
	bool is_bad;	       /* not a thread trace: see why */
	struct incore_error why;
	struct sqtt_stream stream;
	struct sqtt_result result;
	VEC(uint8_t) store; /* the packed waves; see collect.c */
	VEC(struct sqtt_wave_ref) waves;
	VEC(struct occupancy_event) events; /* sorted by time; kernel_id: index + 1 into entries */
	VEC(struct sqtt_entry) entries;	    /* in the order of their first event */
	uint64_t n_starts;		    /* starts of waves whose program is known */
	uint64_t first_start_cyc;	    /* the first of those; 0: none */
	VEC(struct sqtt_realtime) realtime;
	VEC(struct sqtt_perf) perf;
	VEC(struct sqtt_shaderdata) shaderdata;
	VEC(struct sqtt_other_simd) other_simd;
	VEC(struct dispatch_event) dispatches; /* kernel_id as above */
	uint32_t *hit;		  /* by slot: index + 1 into the two below; 0: never executed */
	VEC(uint32_t) first_hits; /* slots in the order of first execution */
	VEC(struct code_totals) totals; /* totals of first_hits */
	uint64_t n_clamped, n_out_of_order, n_no_slot;
	uint64_t n_open_starts; /* waves running before the first token */
	size_t hint;
	unsigned want; /* enum import_want */
	const struct sqtt_objects *objects;
	VEC(struct sqtt_inst) scratch;
};

bool sqtt_engine_decode(
	struct sqtt_engine *g, const struct sqtt_options *o, unsigned want, struct incore_error *e);
void sqtt_engine_free(struct sqtt_engine *g);
