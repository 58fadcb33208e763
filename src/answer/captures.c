/* SPDX-License-Identifier: Apache-2.0 */
/* captures.c: reads each capture once. */
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
		mem_free(k->open.v[i].key);
		trace_free(k->open.v[i].trace);
	}
	for (size_t i = 0; i < k->lent.n; i++)
		mem_free(k->lent.v[i]);
	VEC_FREE(&k->open);
	VEC_FREE(&k->lent);
	VEC_FREE(&k->shares);
	capture_cache_deinit(&k->cache);
	pthread_mutex_destroy(&k->lock);
}

void captures_follow_links(struct captures *k, bool follow)
{
	unsigned always = k->always;

	if (k->cache.follow_links == follow || k->cache.fence.is_all)
		return;
	captures_deinit(k);
	captures_init(k);
	k->always = always;
	k->cache.follow_links = follow;
}

bool captures_fence(struct captures *k, const char *path, struct incore_error *e)
{
	bool ok;

	captures_follow_links(k, false);
	captures_lock(k);
	ok = file_fence_add(&k->cache.fence, path, e);
	captures_unlock(k);
	return ok;
}

bool captures_fence_named(struct captures *k, const char *path, struct incore_error *e)
{
	struct arena a;
	const char *file;
	char *up;
	bool ok;

	if (k->cache.follow_links)
		return true;
	arena_init(&a);
	file = capture_file(NULL, &a, path, NULL);
	up = import_parent(path);
	ok = file && up ? captures_fence(k, file, e) && captures_fence(k, up, e) : err_nomem(e);
	mem_free(up);
	arena_deinit(&a);
	return ok;
}

bool captures_named(struct captures *k, const char *path, struct incore_error *e)
{
	bool is_wanted = k->cache.fence.v.n && !k->cache.fence.is_all;

	return !is_wanted || captures_fence_named(k, path, e);
}

void captures_unfence(struct captures *k)
{
	captures_lock(k);
	file_fence_deinit(&k->cache.fence);
	captures_unlock(k);
}

void captures_fence_all(struct captures *k)
{
	k->cache.fence.is_all = true;
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

/* Key of a capture read with these options: another clock, code or source tree makes another trace.
 * NULL: no memory. */
static char *reading_key(const char *path, const struct import_options *o)
{
	struct strbuf key = {0};

	sb_printf(&key, "%s\n%s\n%llu\n%s\n%s", path, o->soc ? o->soc : "",
		(unsigned long long)o->clock_hz, o->decoder_compat ? o->decoder_compat : "",
		o->code ? o->code : "");
	if (o->markers)
		sb_puts(&key, "\n(markers)");
	for (size_t i = 0; i < o->n_source_roots; i++)
		sb_printf(&key, "\n%s", o->source_roots[i]);
	if (!key.failed)
		return key.p;
	sb_free(&key);
	return NULL;
}

/* Takes the key. A trace that cannot be kept is read again the next time, which only costs time. */
static void keep_open(struct captures *k, char *key, unsigned want, struct trace *t)
{
	struct open_capture x = {key, want, t};

	if (!VEC_PUSH(&k->open, x)) {
		mem_free(key);
		return;
	}
	trace_share(t);
	for (size_t i = 0; i < k->lent.n; i++)
		if (strcmp(k->lent.v[i]->key, key) == 0)
			lend_to(&k->lent.v[i]->columns, t);
}

static struct trace *find_open(const struct captures *k, const char *key, unsigned want)
{
	for (size_t i = 0; i < k->open.n; i++)
		if (!(want & ~k->open.v[i].want) && strcmp(k->open.v[i].key, key) == 0)
			return k->open.v[i].trace;
	return NULL;
}

bool captures_read(struct captures *k, const struct capture *c, const struct import_options *o,
	struct trace **out, struct incore_error *e)
{
	struct import_options all = *o;
	char *key = reading_key(c->path, o);
	struct trace *t;
	bool ok = true;

	if (!key)
		return err_nomem(e);
	pthread_mutex_lock(&k->lock);
	all.want |= k->always;
	t = find_open(k, key, o->want & ~(unsigned)IMPORT_KEEP_TRACKS);
	if (t) {
		trace_share(t);
		capture_remember(&k->cache, c, t);
	} else {
		ok = import_read(c, &all, &t, e);
		if (ok) {
			keep_open(k, key, all.want, t);
			key = NULL;
		}
	}
	pthread_mutex_unlock(&k->lock);
	mem_free(key);
	if (ok)
		*out = t;
	return ok;
}

void captures_lend(
	struct captures *k, const struct trace *t, const struct columns *x, int64_t origin_cyc)
{
	struct lent_capture *lent;
	const char *key = NULL;

	pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < k->open.n; i++)
		if (k->open.v[i].trace == t)
			key = k->open.v[i].key;
	lent = key ? mem_zalloc(1, sizeof(*lent)) : NULL;
	if (lent && !VEC_PUSH(&k->lent, lent)) {
		mem_free(lent);
		lent = NULL;
	}
	if (lent) {
		*lent = (struct lent_capture){key, lend_columns(t, x, origin_cyc)};
		for (size_t i = 0; i < k->open.n; i++)
			if (strcmp(k->open.v[i].key, key) == 0)
				lend_to(&lent->columns, k->open.v[i].trace);
	}
	pthread_mutex_unlock(&k->lock);
}

bool captures_shares(struct captures *k, const char *path, struct capture_shares *x)
{
	bool is_known = false;

	*x = (struct capture_shares){0};
	pthread_mutex_lock(&k->lock);
	if (capture_stat(&k->cache.fence, path, &x->st, &x->part) != 0) {
		pthread_mutex_unlock(&k->lock);
		return false;
	}
	for (size_t i = 0; i < k->shares.n && !is_known; i++) {
		const struct capture_shares *y = &k->shares.v[i];

		is_known = y->part == x->part && file_is_same(&y->st, &x->st);
		if (is_known)
			*x = *y;
	}
	pthread_mutex_unlock(&k->lock);
	return is_known;
}

void captures_keep_shares(struct captures *k, const struct capture_shares *x)
{
	pthread_mutex_lock(&k->lock);
	(void)VEC_PUSH(&k->shares, *x); /* what cannot be kept is read again the next time */
	pthread_mutex_unlock(&k->lock);
}
