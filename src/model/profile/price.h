/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price.h: how long one form of an op takes on a machine. Each duration is computed exactly from
 * the profile's constants and rounded once, half up, so that every host gets the same. Cannot fail:
 * an op without its own price gets the default and is marked. Pure; any thread.
 */
#pragma once

#include "model/profile/profile.h"
#include "model/stream/ops.h"
#include "model/stream/opstream.h"

/* Longest single duration, so that no sum of a stream's durations overflows 64 bits. */
#define PRICE_MAX_CYC ((uint64_t)1 << 31)

struct op_price {
	uint8_t price;	  /* enum price_class */
	uint8_t status;	  /* enum prof_status: the worst of the constants used */
	bool is_fallback; /* priced by the rule of another op */
	bool is_unknown;  /* the op's name is not in the table */
	bool is_empty;	  /* no valid element: costs its issue only */
	bool is_dma;	  /* n_dma transfers through the pipe's port, each of data_cyc */
	bool is_read;	  /* DMA out of global memory */
	bool is_strided;  /* DMA whose rows are not contiguous */
	uint8_t slot;	  /* is_read: slot of the argument, or OPSTREAM_NO_SLOT */
	uint32_t n_dma;
	uint64_t bytes;	    /* DMA: of each transfer */
	uint64_t issue_cyc; /* on the scalar pipe */
	uint64_t occ_cyc;   /* the pipe takes no other op; DMA: between two transfers */
	uint64_t lat_cyc;   /* from start to the result; DMA: from start to the data phase */
	uint64_t data_cyc;
};

void price_form(const struct profile *p, const struct opstream *s, const struct op_form *f,
	struct op_price *out);

/* `op` is an index of op_table(). */
bool op_status(const struct profile *p, unsigned op, struct op_price *out, struct incore_error *e);
