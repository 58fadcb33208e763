/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_table.h: one row per opcode: its name, class and register positions, as data.
 *
 * An opcode has twelve bits. The low nine name the operation, the upper three ("form") say what the
 * second and third source are:
 *
 *	form	1	2	3	4	5	6	7
 *	B	R@32	R@64	R@64	imm	const	UR@32	R@64
 *	C	R@64	imm	const	R@64	R@64	R@64	UR@32
 *
 * where R@32 is a register whose number starts at bit 32. A row's places are letters, writes first;
 * in a uniform row they mean UR and UP instead of R and P:
 *
 *	D  writes R@16		A  reads R@24		p  writes P@81		x  reads P@87
 *	E  writes R@64		B  reads as above	q  writes P@84		y  reads P@77
 *	d  writes UR@16		C  reads as above	P  writes UP@81		z  reads P@68
 *	S  reads R@16		b  the only one: B of form 1, none in 2 to 5, UR in 6 and 7
 *	V  reads R@32		c  the only one, at R@64 in form 1
 *	W  reads R@64		u, v, j, k  read UR@32, UR@64, UR@40, UR@24, if bit 91 says so
 *	i, l  read P@87 and P@77 if bit 74 (carry in) is set	X, T  read UP@87, UP@24
 *
 * The suffix of a letter says how many registers: a digit; s: by the access size (bits 73 to 75);
 * a: by the type of an atomic operation; e: 2 for a 64-bit address (bit 72); f, g: 2 for a 64-bit
 * result (bits 75, 76) or source (bits 84, 85) of a conversion; m: matrices of LDSM (bits 72, 73);
 * t: columns of tensor memory (bits 83 to 85); n: coordinates of a bulk copy (bits 79 to 81) and
 * what goes with them; o: as for UBLKCP; no suffix: 1.
 */
#pragma once

#include "isa/sass/sass.h"

enum sass_row_flags {
	SASS_ROW_UNIFORM = 1,  /* places and guard are in the uniform register files */
	SASS_ROW_GUARD_UP = 2, /* only the guard is */
	SASS_ROW_OFFSET = 4,   /* has a relative target */
};

struct sass_row {
	const char *name; /* NULL: no such opcode */
	uint8_t inst_class;
	uint8_t flags;
	const char *places;
	/* How sources are written, one letter per property; NULL: plain. f, d: immediates are
	 * floats or doubles, sources have signs and bars; -: signs only; c: a sign on R@64 only; s:
	 * immediates are signed; m: they are signed if bits 72 and 73 say so; H: pairs of halves;
	 * ?: some fields are not understood and must be zero. */
	const char *how;
	/* Operands in the order of the text if it differs from that of places: letters of
	 * sass_text.c. */
	const char *text;
};

/* `n` bits of an instruction from bit `at` on, n below 32. */
static inline unsigned sass_field(uint64_t lo, uint64_t hi, unsigned at, unsigned n)
{
	uint64_t v = at >= 64 ? hi >> (at - 64) : at ? lo >> at | hi << (64 - at) : lo;

	return (unsigned)(v & ((1u << n) - 1));
}

/* Never NULL; a row without a name is an unknown opcode. */
const struct sass_row *sass_row_find(unsigned sm, uint16_t opcode);
