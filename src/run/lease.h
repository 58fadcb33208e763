/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.h: something of this host that one holder uses at a time, by flock() on a file that all
 * users can open. A lease ends with its holder, however that ends; who starts a program hands it to
 * the guard (job.held), so that it ends with the program.
 * Owner: lease_take() .. lease_end(). Threads: any number at once.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct lease {
	int fd; /* 0: not held */
};

/* Where leases lie that all users of this host share: $INCORE_LEASES, /run/lock, or /tmp. */
const char *lease_directory(void);
/* True with l->fd 0 where somebody else holds it. May fail: the file cannot be made or opened. */
bool lease_take(struct lease *l, const char *dir, const char *name, struct incore_error *e);
/* Safe on a zeroed struct. */
void lease_end(struct lease *l);
