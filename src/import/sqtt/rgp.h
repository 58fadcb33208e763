/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rgp.h: a capture of the Radeon GPU Profiler as Mesa writes it: chunks, of which some are thread
 * traces, code objects and the addresses these were loaded at. Owner: one read; rgp_close(). Streams
 * and objects of the container borrow its bytes.
 */
#pragma once

#include "base/file.h"
#include "base/vec.h"
#include "import/sqtt/container.h"

struct rgp_load { /* a pipeline's code came to lie at base */
	uint64_t base, hash[2], time;
};

struct rgp_pso { /* the driver's hash for one that the application's API uses */
	uint64_t api, hash[2];
};

#define RGP_STREAMS 256u /* a chunk's index has 8 bits */

struct rgp_file {
	struct file_data file;
	const char *path;
	VEC(struct sqtt_stream_file) streams;
	VEC(struct sqtt_object_file) objects; /* id: 1 and up, as they stand in the file */
	VEC(struct rgp_load) loads;
	VEC(struct rgp_pso) psos;
	uint32_t n_unloads; /* when, in cycles of the trace, nothing says: they change nothing */
	uint32_t n_passed;  /* chunks that nothing is made of */
	uint32_t passed;    /* bits of their kinds, rgp.c */
	bool is_untimed;    /* instructions were not traced */
	bool is_synthetic;  /* a generator wrote it */
	uint64_t shader_hz; /* during the trace; 0: not stated */
	uint64_t realtime_hz;
	struct trace_machine machine;
	uint64_t desc_at[RGP_STREAMS]; /* of a stream that is described, by index; 0: none */
	uint32_t desc_se[RGP_STREAMS];
	unsigned desc_major[RGP_STREAMS];
	bool has_data[RGP_STREAMS];
};

struct sqtt_build;
struct sqtt_object;

/* rgp.c: the container of a file, as sqtt_read_found() asks for it */
bool rgp_find(struct sqtt_build *b, const char *path, struct incore_error *e);
/* What the file says of the machine. */
void rgp_meta(struct sqtt_build *b);
/* What of it is not shown; false on lack of memory. */
bool rgp_notes(struct sqtt_build *b);
void rgp_close(struct rgp_file *r);
/* rgp_places.c: address 0 means none in records: code that begins there is moved up. */
void rgp_move(struct sqtt_object *o);
/* Where the objects of b, which are loaded, lay */
bool rgp_place(struct sqtt_build *b, struct incore_error *e);
