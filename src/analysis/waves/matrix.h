/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h: how busy the matrix pipes were. Two figures, never mixed: the cycles in which a matrix
 * instruction issued (measured, union per SIMD) and the cycles for which the pipe was busy
 * (MODELLED from the shape in the mnemonic; a trace does not show it). Instructions of unknown
 * length are counted separately and are in no modelled figure.
 *
 * Owner: matrix_new() .. matrix_free(). Results are valid after walk_tracks() and matrix_finish().
 */
#pragma once

#include "analysis/waves/simd_sets.h"

struct matrix_simd {
	uint64_t resident_cyc, issue_cyc, modelled_cyc;
};

struct matrix {
	const struct trace *trace;
	uint32_t static_rows, executed_rows;
	uint64_t hits;
	uint32_t n_simds;		      /* with waves */
	uint64_t resident_cyc;		      /* SIMD-cycles with at least one wave */
	uint64_t issue_cyc;		      /* part of resident_cyc: a matrix instruction issues
						 (union) */
	uint64_t issue_sum_cyc;		      /* issue cycles summed over records */
	uint64_t stall_sum_cyc;		      /* stall cycles of matrix records */
	uint64_t modelled_cyc;		      /* part of resident_cyc: the pipe is busy, according
						 to the model */
	uint64_t modelled_sum_cyc;	      /* modelled length summed over records */
	uint64_t modelled_hits, unknown_hits; /* with and without a modelled length */
	uint64_t macs;			      /* multiply-accumulates of modelled_hits */
	/* private */
	uint32_t *row_cycles; /* modelled cycles by code row; 0: none or unknown */
	uint64_t *row_macs;
	uint64_t *row_hits;
	uint32_t *group; /* by track: its SIMD */
	uint32_t n_groups;
	struct matrix_simd *simds; /* by group */
	struct simd_sets sets;
};

struct matrix *matrix_new(const struct trace *t);
void matrix_free(struct matrix *m);
struct collector matrix_collector(struct matrix *m);
bool matrix_finish(struct matrix *m, struct incore_error *e);

/* Figures of the SIMD whose first track is i; false if i is not the first of its SIMD, no wave was
 * looked at, or no matrix instruction ran at all. */
bool matrix_simd_of(const struct matrix *m, track_idx i, struct matrix_simd *out);
