/* SPDX-License-Identifier: Apache-2.0 */
/* least_squares.h: a few unknowns from many equations. Pure. */
#pragma once

#include <stdbool.h>

#define MAX_UNKNOWNS 12

struct equations {  /* normal equations; start with zeros */
	unsigned n; /* unknowns */
	double a[MAX_UNKNOWNS][MAX_UNKNOWNS + 1];
};

/* Adds an equation: the sum of x[i] * unknown i is y. */
void equations_add(struct equations *s, const double *x, double y, double weight);
/* False: the equations do not determine the unknowns. Overwrites the equations. */
bool equations_solve(struct equations *s, double *out);
