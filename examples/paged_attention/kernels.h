/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h: the four kernels of paged attention on one tile of 16 heads and one block of 16 keys.
 * Plain functions over memory; row-major; bf16 is the upper half of a float, rounded to even.
 */
#ifndef PAGED_KERNELS_H
#define PAGED_KERNELS_H

#include <stdint.h>

#define TILE 16 /* heads of a tile, keys of a block, elements of a head */

float bf16_to_float(uint16_t b);
uint16_t bf16_of_float(float f);

/* sij = qi * kj^T, summed in single precision, k ascending */
void kernel_qk(const uint16_t *qi, const uint16_t *kj, float *sij);
/* pij = exp(sij * scale - mij), mij the row maxima, lij the row sums; `valid` keys of the block
 * count, the rest of pij is 0. Rows of sij are TILE apart. */
void kernel_softmax(
	const float *sij, unsigned valid, float scale, uint16_t *pij, float *mij_lij[2]);
/* oi = pij * vj */
void kernel_pv(const uint16_t *pij, const uint16_t *vj, float *oi);

struct update {
	const float *mij, *lij, *oi_new; /* of this block */
	float *mi, *li, *oi;		 /* so far */
	float *dst;			 /* the answer, written by the last block */
	int is_first, is_last;
};

/* Joins a block into what is known so far. */
void kernel_update(const struct update *u);

#endif
