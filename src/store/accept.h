/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.h: regressions that somebody accepted, with who, when and why. An acceptance is of one
 * series and figure: of all that got worse in it up to its newest capture of that day, as far as the
 * level of that day. What begins later or goes further is new.
 *
 * Owner: the arena given. May fail as store.h says. An acceptance stays when captures are removed.
 */
#pragma once

#include "store/store.h"

struct store_acceptance {
	uint64_t acceptance;					/* its number */
	const char *kernel, *arch, *evidence, *labels, *figure; /* of the series */
	uint64_t capture;					/* the newest of it */
	int64_t until;						/* when that was taken */
	double level;
	int64_t at;
	const char *time; /* of `at`, as people write it */
	const char *who, *because;
};
extern const struct record store_acceptances_record; /* of the table */
extern const struct record store_accepted_record;    /* below its series */
extern const struct record store_acceptance_record;  /* with its series */

/* All of them, series after series, each in the order of time. */
bool store_acceptances(struct store *s, struct arena *a, struct rows *out, struct incore_error *e);
/* Those of the series that an entry is of. */
struct rows store_accepted_of(const struct rows *all, const struct store_entry *x);

/* All n or none; their numbers are filled in. */
bool store_accept(struct store *s, struct store_acceptance *v, size_t n, struct incore_error *e);
bool store_withdraw(
	struct store *s, const struct store_acceptance *v, size_t n, struct incore_error *e);
