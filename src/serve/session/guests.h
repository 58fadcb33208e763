/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests.h: the connections of a server, and which of them may stay. Whoever has shown the token is
 * known and stays as long as he likes. A stranger has a short time for a whole request, and there
 * are never many of them for long: so that nobody who merely holds connections open can keep the
 * page of the one user away from its server.
 *
 * Every function may be called from any thread. guest_came() returns NULL when memory or file
 * descriptors are short: such a connection is served, and leaves by the server's own time limit;
 * the other functions take NULL and do nothing.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define GUESTS_REQUEST_MS 10000 /* for a stranger's whole request, from connect or last answer */
#define GUESTS_GRACE_MS 5000	/* nobody is sent away sooner, however many there are */
#define GUESTS_STRANGERS 32u	/* that may stay beyond the grace */

struct guest {
	struct guest *older, *newer;
	int fd; /* a duplicate: valid until the guest leaves, whenever the server closes its own */
	int64_t since_ms; /* when it came, or when its last answer was out */
	bool is_known, is_answered, is_sent_away;
};

struct guests {
	pthread_mutex_t lock;
	struct guest *oldest, *newest;
};

void guests_init(struct guests *all);
void guests_free(struct guests *all);

struct guest *guest_came(struct guests *all, int fd);
void guest_left(struct guests *all, struct guest *g); /* frees it */

void guest_showed_token(struct guests *all, struct guest *g);
/* Its request is whole: it waits for us. */
void guest_asked(struct guests *all, struct guest *g);
/* Its answer is out: we wait for it. */
void guest_was_answered(struct guests *all, struct guest *g);

/* Hangs up on those who may not stay. To be called a few times a second. */
void guests_tend(struct guests *all);
