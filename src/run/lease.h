/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.h: exclusive use of a resource of this host, by flock() on a file that all users can open.
 * A lease ends with its holder, however that ends; whoever starts a program passes the lease to the
 * guard (job.held), so that it ends with the program.
 * Owner: lease_take() .. lease_end(). Threads: any number at once.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct lease {
	int fd; /* 0: not held */
};

/* Directory of the leases that all users of this host share: $INCORE_LEASES, /run/lock, or /tmp. */
const char *lease_directory(void);
/* Returns true with l->fd 0 if another holder has it. Makes the directory where it does not exist,
 * but not its parent. Fails if the file cannot be created or opened. */
bool lease_take(struct lease *l, const char *dir, const char *name, struct incore_error *e);
/* Safe on a zeroed struct. */
void lease_end(struct lease *l);
