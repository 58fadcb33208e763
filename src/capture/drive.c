/* SPDX-License-Identifier: Apache-2.0 */
/* drive.c: see drive.h. */
#include "capture/drive.h"

#define GRACE_MS 30000 /* time for an application to end by itself */

const char *drive_text(struct arena *a, struct strbuf *b)
{
	const char *copy = b->failed ? NULL : arena_strndup(a, b->p ? b->p : "", b->n);

	sb_free(b);
	return copy;
}

struct job drive_job(
	const struct drive *f, const char *name, uint64_t limit_s, struct journal *journal)
{
	return (struct job){.name = name,
		.argv = f->app,
		.limit_ms = limit_s * 1000,
		.grace_ms = GRACE_MS,
		.echo_fd = f->echo_fd,
		.journal = journal,
		.is_cancelled = f->is_cancelled,
		.cancel_signal = f->cancel_signal};
}
