/* SPDX-License-Identifier: Apache-2.0 */
/* siblings.c: which captures beside this one are repeats of it? */
#include "cli/siblings.h"

#include <sys/stat.h>

static bool is_same_path(const char *a, const char *b)
{
	struct stat sa, sb;

	if (strcmp(a, b) == 0)
		return true;
	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* Its clock, without tracks' contents or side files; 0 when it cannot be told. */
static double read_clock(const struct capture *k)
{
	struct import_options o = {0};
	struct incore_error ignored = {0};
	struct trace *t = NULL;
	double mhz = 0;

	if (import_read(k, &o, &t, &ignored)) {
		mhz = trace_clock_mhz(t);
		trace_free(t);
	}
	incore_error_clear(&ignored);
	return mhz;
}

static bool add_sibling(struct siblings *s, const struct capture *self, const struct capture *k,
	double *clock, struct incore_error *e)
{
	struct check_sibling x = {
		.path = k->path, .dispatch = k->dispatch, .n_tracks = k->n_tracks};

	x.is_self = is_same_path(self->path, k->path);
	if (!x.is_self) {
		if (*clock == CLOCK_UNREAD)
			*clock = read_clock(k);
		x.clock_mhz = *clock;
	}
	if (!VEC_PUSH(&s->facts, x) || !VEC_PUSH(&s->captures, k))
		return err_nomem(e);
	return true;
}

static bool is_alike(const struct capture *a, const struct capture *b)
{
	return !b->is_empty && a->same_as && b->same_as && strcmp(a->same_as, b->same_as) == 0;
}

bool siblings_find_kept(struct siblings *s, const struct capture *self,
	const struct capture_list *all, double *clocks, struct incore_error *e)
{
	struct incore_error ignored = {0};

	*s = (struct siblings){0};
	if (!all) {
		if (!import_siblings(self->path, &s->beside, &ignored))
			incore_error_clear(&ignored);
		all = &s->beside;
		clocks = NULL;
	}
	for (uint32_t i = 0; i < all->n; i++) {
		double unread = CLOCK_UNREAD;

		if (!is_alike(self, &all->v[i]))
			continue;
		if (!add_sibling(s, self, &all->v[i], clocks ? &clocks[i] : &unread, e)) {
			siblings_deinit(s);
			return false;
		}
	}
	s->ctx.siblings = s->facts.v;
	s->ctx.n_siblings = (uint32_t)s->facts.n;
	s->ctx.has_disk = true;
	return true;
}

bool siblings_find(struct siblings *s, const struct capture *self, const struct capture_list *all,
	struct incore_error *e)
{
	return siblings_find_kept(s, self, all, NULL, e);
}

void siblings_deinit(struct siblings *s)
{
	VEC_FREE(&s->facts);
	VEC_FREE(&s->captures);
	capture_list_deinit(&s->beside);
	*s = (struct siblings){0};
}
