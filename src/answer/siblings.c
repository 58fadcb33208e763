/* SPDX-License-Identifier: Apache-2.0 */
/* siblings.c: which captures beside this one are repeats of it? */
#include "answer/siblings.h"

#include <sys/stat.h>

#include "import/capture_cache.h"

bool siblings_is_same(const struct file_fence *f, const char *a, const char *b)
{
	struct stat sa, sb;
	uint32_t part_a, part_b;

	if (strcmp(a, b) == 0)
		return true;
	return capture_stat(f, a, &sa, &part_a) == 0 && capture_stat(f, b, &sb, &part_b) == 0 &&
	       part_a == part_b && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static bool add_sibling(struct siblings *s, const struct capture *self, const struct capture *k,
	struct capture_cache *cache, struct incore_error *e)
{
	struct check_sibling x = {
		.path = k->path, .dispatch = k->dispatch, .n_tracks = k->n_tracks};

	x.is_self = siblings_is_same(capture_fence(cache), self->path, k->path);
	if (!x.is_self)
		x.clock_mhz = capture_clock_mhz(cache, k);
	if (!VEC_PUSH(&s->facts, x) || !VEC_PUSH(&s->captures, k))
		return err_nomem(e);
	return true;
}

static bool is_alike(const struct capture *a, const struct capture *b)
{
	return !b->is_empty && a->same_as && b->same_as && strcmp(a->same_as, b->same_as) == 0;
}

bool siblings_find(struct siblings *s, const struct capture *self, const struct capture_list *all,
	struct capture_cache *cache, struct incore_error *e)
{
	struct incore_error ignored = {0};
	struct capture me = *self;

	*s = (struct siblings){0};
	if (!all) {
		if (!import_siblings(self->path, cache, &s->beside, &ignored))
			incore_error_clear(&ignored);
		all = &s->beside;
		capture_look(cache, &s->beside.arena, &me);
	}
	for (uint32_t i = 0; i < all->n; i++)
		if (is_alike(&me, &all->v[i]) && !add_sibling(s, &me, &all->v[i], cache, e)) {
			siblings_deinit(s);
			return false;
		}
	s->ctx.siblings = s->facts.v;
	s->ctx.n_siblings = (uint32_t)s->facts.n;
	s->ctx.has_disk = true;
	return true;
}

void siblings_deinit(struct siblings *s)
{
	VEC_FREE(&s->facts);
	VEC_FREE(&s->captures);
	capture_list_deinit(&s->beside);
	*s = (struct siblings){0};
}
