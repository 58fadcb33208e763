/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests.h: the connections of a server, and which of them may stay. A client that has shown the
 * token is known and may stay. A stranger has a short time to send a whole request, and only a few
 * strangers may stay longer: so nobody can block the user's page by just holding connections open.
 *
 * Every function may be called from any thread. guest_came() returns NULL on lack of memory or file
 * descriptors: such a connection is served, and ends by the server's own time limit; the other
 * functions ignore NULL.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define GUESTS_REQUEST_MS 10000 /* for a stranger's whole request, from connect or last answer */
#define GUESTS_GRACE_MS 5000	/* nobody is disconnected earlier, however many there are */
#define GUESTS_STRANGERS 32u	/* number of strangers that may stay longer than that */

struct guest {
	struct guest *older, *newer;
	int fd; /* a duplicate: valid until the guest leaves, whenever the server closes its own */
	int64_t since_ms; /* time of connection, or when its last answer was sent */
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
/* Its request is complete: it waits for us. */
void guest_asked(struct guests *all, struct guest *g);
/* Its answer was sent: we wait for it. */
void guest_was_answered(struct guests *all, struct guest *g);

/* Disconnects those that may not stay. To be called a few times per second. */
void guests_tend(struct guests *all);
