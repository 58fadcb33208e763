/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c: the four kernels of paged attention, for the CPU. */
#include "kernels.h"

#include <math.h>
#include <string.h>

float bf16_to_float(uint16_t b)
{
	uint32_t bits = (uint32_t)b << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

uint16_t bf16_of_float(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	bits += 0x7fff + (bits >> 16 & 1);
	return (uint16_t)(bits >> 16);
}

void kernel_qk(const uint16_t *qi, const uint16_t *kj, float *sij)
{
	for (unsigned r = 0; r < TILE; r++)
		for (unsigned c = 0; c < TILE; c++) {
			float sum = 0;

			for (unsigned k = 0; k < TILE; k++)
				sum += bf16_to_float(qi[r * TILE + k]) *
				       bf16_to_float(kj[c * TILE + k]);
			sij[r * TILE + c] = sum;
		}
}

void kernel_softmax(const float *sij, unsigned valid, float scale, uint16_t *pij, float *mij_lij[2])
{
	for (unsigned r = 0; r < TILE; r++) {
		const float *s = sij + r * TILE;
		float most = s[0] * scale, sum = 0;

		for (unsigned c = 1; c < valid; c++)
			most = fmaxf(most, s[c] * scale);
		for (unsigned c = 0; c < TILE; c++) {
			uint16_t p = c < valid ? bf16_of_float(expf(s[c] * scale - most)) : 0;

			pij[r * TILE + c] = p;
			sum += bf16_to_float(p); /* what the next kernel will use */
		}
		mij_lij[0][r] = most;
		mij_lij[1][r] = sum;
	}
}

void kernel_pv(const uint16_t *pij, const uint16_t *vj, float *oi)
{
	for (unsigned r = 0; r < TILE; r++)
		for (unsigned c = 0; c < TILE; c++) {
			float sum = 0;

			for (unsigned k = 0; k < TILE; k++)
				sum += bf16_to_float(pij[r * TILE + k]) *
				       bf16_to_float(vj[k * TILE + c]);
			oi[r * TILE + c] = sum;
		}
}

void kernel_update(const struct update *u)
{
	for (unsigned r = 0; r < TILE; r++) {
		float most = u->is_first ? u->mij[r] : fmaxf(u->mi[r], u->mij[r]);
		float old = u->is_first ? 0 : expf(u->mi[r] - most);
		float new = expf(u->mij[r] - most);

		u->li[r] = (u->is_first ? 0 : old * u->li[r]) + new * u->lij[r];
		for (unsigned c = 0; c < TILE; c++) {
			float *o = &u->oi[r * TILE + c];

			*o = (u->is_first ? 0 : old * *o) + new * u->oi_new[r * TILE + c];
			if (u->is_last)
				u->dst[r * TILE + c] = *o / u->li[r];
		}
		u->mi[r] = most;
	}
}
