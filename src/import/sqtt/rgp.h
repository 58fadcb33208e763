/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rgp.h: a capture of the Radeon GPU Profiler as Mesa writes it: chunks, among them thread traces,
 * code objects and their load addresses. Owner: one read; rgp_close(). Streams and objects of the
 * container borrow its bytes.
 */
#pragma once

#include "base/file.h"
#include "base/vec.h"
#include "import/sqtt/container.h"

struct rgp_load { /* a pipeline's code was loaded at base */
	uint64_t base, hash[2], time;
};

struct rgp_pso { /* the driver's hash of a pipeline, and the hash that the application's API uses */
	uint64_t api, hash[2];
};

#define RGP_STREAMS 256u /* a chunk's index has 8 bits */

struct rgp_file {
	struct file_data file;
	const char *path;
	VEC(struct sqtt_stream_file) streams;
	VEC(struct sqtt_object_file) objects; /* id: 1 and up, in file order */
	VEC(struct rgp_load) loads;
	VEC(struct rgp_pso) psos;
	uint32_t n_unloads; /* ignored: their time in the trace is unknown */
	uint32_t n_passed;  /* chunks that are ignored */
	uint32_t passed;    /* bits of their kinds, rgp.c */
	bool is_untimed;    /* instruction timing was not traced */
	bool is_synthetic;  /* written by a generator */
	uint64_t shader_hz; /* during the trace; 0: not stated */
	uint64_t realtime_hz;
	struct trace_machine machine;
	uint64_t desc_at[RGP_STREAMS]; /* offset of a stream's description, by index; 0: none */
	uint32_t desc_se[RGP_STREAMS];
	unsigned desc_major[RGP_STREAMS];
	bool has_data[RGP_STREAMS];
};

struct sqtt_build;
struct sqtt_object;

/* Adds what the file states about the machine. */
void rgp_meta(struct sqtt_build *b);
/* Adds notes on data that is not shown; false when out of memory. */
bool rgp_notes(struct sqtt_build *b);
void rgp_close(struct rgp_file *r);
/* Moves code that begins at address 0 up, because 0 means unknown in records. */
void rgp_move(struct sqtt_object *o);
/* Finds the addresses of b's loaded objects */
bool rgp_place(struct sqtt_build *b, struct incore_error *e);
