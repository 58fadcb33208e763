/* SPDX-License-Identifier: Apache-2.0 */
/* captures.c: each capture read once. */
#include "answer/captures.h"

#include <string.h>

void captures_init(struct captures *k)
{
	*k = (struct captures){0};
	pthread_mutex_init(&k->lock, NULL);
	capture_cache_init(&k->cache);
}

void captures_deinit(struct captures *k)
{
	for (size_t i = 0; i < k->open.n; i++) {
		mem_free(k->open.v[i].path);
		trace_free(k->open.v[i].trace);
	}
	for (size_t i = 0; i < k->lent.n; i++)
		mem_free(k->lent.v[i]);
	VEC_FREE(&k->open);
	VEC_FREE(&k->lent);
	capture_cache_deinit(&k->cache);
	pthread_mutex_destroy(&k->lock);
}

void captures_follow_links(struct captures *k, bool follow)
{
	unsigned always = k->always;

	if (k->cache.follow_links == follow)
		return;
	captures_deinit(k);
	captures_init(k);
	k->always = always;
	k->cache.follow_links = follow;
}

void captures_lock(struct captures *k)
{
	pthread_mutex_lock(&k->lock);
}

void captures_unlock(struct captures *k)
{
	pthread_mutex_unlock(&k->lock);
}

bool captures_find(
	struct captures *k, const char *path, struct capture_list *out, struct incore_error *e)
{
	bool ok;

	captures_lock(k);
	ok = import_find(path, &k->cache, out, e);
	captures_unlock(k);
	return ok;
}

uint32_t captures_choose(struct captures *k, struct capture_list *l, struct capture_choice choice,
	const struct capture **out)
{
	uint32_t n;

	captures_lock(k);
	n = captures_rank(l, &k->cache, choice, out);
	captures_unlock(k);
	return n;
}

/* One that cannot be kept is read again the next time: that costs time and nothing else. */
static void keep_open(struct captures *k, const char *path, unsigned want, struct trace *t)
{
	struct open_capture x = {mem_strndup(path, strlen(path)), want, t};

	if (!x.path || !VEC_PUSH(&k->open, x)) {
		mem_free(x.path);
		return;
	}
	trace_share(t);
	for (size_t i = 0; i < k->lent.n; i++)
		if (strcmp(k->lent.v[i]->path, path) == 0)
			lend_to(&k->lent.v[i]->columns, t);
}

static struct trace *find_open(const struct captures *k, const char *path, unsigned want)
{
	for (size_t i = 0; i < k->open.n; i++)
		if (!(want & ~k->open.v[i].want) && strcmp(k->open.v[i].path, path) == 0)
			return k->open.v[i].trace;
	return NULL;
}

bool captures_read(struct captures *k, const struct capture *c, const struct import_options *o,
	struct trace **out, struct incore_error *e)
{
	struct import_options all = *o;
	struct trace *t;
	bool ok = true;

	pthread_mutex_lock(&k->lock);
	all.want |= k->always;
	t = find_open(k, c->path, o->want & ~(unsigned)IMPORT_KEEP_TRACKS);
	if (t) {
		trace_share(t);
		capture_remember(&k->cache, c, t);
	} else {
		ok = import_read(c, &all, &t, e);
		if (ok)
			keep_open(k, c->path, all.want, t);
	}
	pthread_mutex_unlock(&k->lock);
	if (ok)
		*out = t;
	return ok;
}

void captures_lend(
	struct captures *k, const struct trace *t, const struct columns *x, int64_t origin_cyc)
{
	struct lent_capture *lent;
	const char *path = NULL;

	pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < k->open.n; i++)
		if (k->open.v[i].trace == t)
			path = k->open.v[i].path;
	lent = path ? mem_zalloc(1, sizeof(*lent)) : NULL;
	if (lent && !VEC_PUSH(&k->lent, lent)) {
		mem_free(lent);
		lent = NULL;
	}
	if (lent) {
		*lent = (struct lent_capture){path, lend_columns(t, x, origin_cyc)};
		for (size_t i = 0; i < k->open.n; i++)
			if (strcmp(k->open.v[i].path, path) == 0)
				lend_to(&lent->columns, k->open.v[i].trace);
	}
	pthread_mutex_unlock(&k->lock);
}
