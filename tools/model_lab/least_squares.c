/* SPDX-License-Identifier: Apache-2.0 */
/* least_squares.c: normal equations, solved by elimination. */
#include "model_lab/least_squares.h"

#include <math.h>

void equations_add(struct equations *s, const double *x, double y, double weight)
{
	for (unsigned i = 0; i < s->n; i++) {
		for (unsigned k = 0; k < s->n; k++)
			s->a[i][k] += weight * x[i] * x[k];
		s->a[i][s->n] += weight * x[i] * y;
	}
}

bool equations_solve(struct equations *s, double *out)
{
	for (unsigned i = 0; i < s->n; i++) {
		unsigned best = i;
		double scale = 0;

		for (unsigned k = i; k < s->n; k++) {
			best = fabs(s->a[k][i]) > fabs(s->a[best][i]) ? k : best;
			scale = fmax(scale, fabs(s->a[i][k]));
		}
		if (fabs(s->a[best][i]) <= 1e-9 * scale || s->a[best][i] == 0)
			return false;
		for (unsigned k = 0; k <= s->n; k++) {
			double t = s->a[i][k];

			s->a[i][k] = s->a[best][k];
			s->a[best][k] = t;
		}
		for (unsigned r = 0; r < s->n; r++) {
			double f = s->a[r][i] / s->a[i][i];

			for (unsigned k = i; r != i && k <= s->n; k++)
				s->a[r][k] -= f * s->a[i][k];
		}
	}
	for (unsigned i = 0; i < s->n; i++)
		out[i] = s->a[i][s->n] / s->a[i][i];
	return true;
}
