/* SPDX-License-Identifier: Apache-2.0 */
/* price_internal.h: what price.c and price_vector.c share. */
#pragma once

#include "model/profile/price.h"

struct pricing {
	const struct profile *p;
	const struct op_form *f;
	const struct op_opnd *opnds;
	const char *name;
	struct op_price *out;
	const struct op_opnd *dst, *src; /* first tile of that role, or NULL */
	const struct op_opnd *gm;	 /* first global-memory operand, or NULL */
};

typedef unsigned __int128 wide;

/* Returns a constant x 10^4 and takes its status into account. */
uint64_t price_use(struct pricing *x, enum prof_key k);
void price_seen(struct pricing *x, enum prof_status s);
/* num / den rounded half up, at most PRICE_MAX_CYC. */
uint64_t price_round(wide num, wide den);
uint64_t price_bytes(const struct op_opnd *o); /* of the valid part */
/* The vector classes. */
void price_vector(struct pricing *x);
