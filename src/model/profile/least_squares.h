/* SPDX-License-Identifier: Apache-2.0 */
/* least_squares.h: a few unknowns from many equations. Pure. */
#pragma once

#include <stdbool.h>

#define MAX_UNKNOWNS 12

struct equations {  /* normal equations; zero: none */
	unsigned n; /* unknowns */
	double a[MAX_UNKNOWNS][MAX_UNKNOWNS + 1];
};

/* One more: the sum of x[i] * unknown i is y. */
void equations_add(struct equations *s, const double *x, double y, double weight);
/* False: they do not tell the unknowns apart. The equations are used up. */
bool equations_solve(struct equations *s, double *out);
