/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.h: accepted regressions: by whom, when and why. An acceptance belongs to one series and
 * figure and covers everything that got worse in it up to its newest capture at that time, as far
 * as the level at that time. Anything that begins later or gets worse than that is new.
 *
 * Owner: the given arena. May fail: see store.h. An acceptance stays when captures are removed.
 */
#pragma once

#include "store/store.h"

struct store_acceptance {
	uint64_t acceptance;					/* its number */
	const char *kernel, *arch, *evidence, *labels, *figure; /* of the series */
	uint64_t capture;					/* newest of the series */
	int64_t until;						/* time of that capture */
	double level;
	int64_t at;
	const char *time; /* `at` as text */
	const char *who, *because;
};
extern const struct record store_acceptances_record; /* for the database table */
extern const struct record store_accepted_record;    /* inside a series */
extern const struct record store_acceptance_record;  /* with the names of the series */

/* All acceptances, series after series, each in the order of time. */
bool store_acceptances(struct store *s, struct arena *a, struct rows *out, struct incore_error *e);
/* The acceptances of the series that an entry belongs to. */
struct rows store_accepted_of(const struct rows *all, const struct store_entry *x);

/* Adds all n or nothing; fills in their numbers. */
bool store_accept(struct store *s, struct store_acceptance *v, size_t n, struct incore_error *e);
bool store_withdraw(
	struct store *s, const struct store_acceptance *v, size_t n, struct incore_error *e);
