/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_none.c: replaces postgres.c in builds without libpq's header. */
#include "store/backend.h"

static bool postgres_none_refuse(struct store *s, bool is_made, struct incore_error *e)
{
	(void)is_made;
	return err_set(e, INCORE_MISSING, "no-postgresql",
		"%s: this incore was built without PostgreSQL: install libpq-dev and build it with "
		"-Dpostgresql=enabled",
		s->path);
}

static void postgres_none_nothing(struct store *s)
{
	(void)s;
}

const struct store_backend postgres_backend = {
	.open = postgres_none_refuse, .close = postgres_none_nothing};
