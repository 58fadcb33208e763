/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c: chooses among several captures, and caches what is known about each. */
#include "import/capture_cache.h"

#include <errno.h>
#include <unistd.h>

#include "base/search.h"
#include "codec/gzip.h"

struct capture_seen {
	struct stat st; /* of its file */
	uint32_t part;	/* part of that file; 0: the whole file */
	struct capture capture;
	bool has_clock;
	double clock_mhz;
};

/* Length of the path before '#' and a number; *part is that number + 1. 0: there is no number. */
static size_t file_part(const char *path, uint32_t *part)
{
	const char *mark = strrchr(path, '#');
	uint64_t n;

	if (!mark || mark == path || !str_to_u64(str_of(mark + 1), &n) || n >= UINT32_MAX)
		return 0;
	*part = (uint32_t)n + 1;
	return (size_t)(mark - path);
}

int capture_stat(const struct file_fence *f, const char *path, struct stat *st, uint32_t *part)
{
	int failed = file_stat_in(f, path, st);
	size_t n;
	char *file;

	*part = 0;
	if (!failed || !(n = file_part(path, part)))
		return failed;
	file = mem_strndup(path, n);
	failed = file && file_stat_in(f, file, st) == 0 ? 0 : failed;
	mem_free(file);
	return failed;
}

const char *capture_file(const struct file_fence *f, struct arena *a, const char *path)
{
	struct stat st;
	uint32_t part = 0;
	bool is_part = capture_stat(f, path, &st, &part) == 0 && part;

	return arena_strndup(a, path, is_part ? file_part(path, &part) : strlen(path));
}

void capture_cache_init(struct capture_cache *k)
{
	*k = (struct capture_cache){0};
	arena_init(&k->arena);
}

void capture_cache_deinit(struct capture_cache *k)
{
	file_store_deinit(&k->files);
	file_fence_deinit(&k->fence);
	VEC_FREE(&k->seen);
	arena_deinit(&k->arena);
}

static bool load_at(const struct import_options *o, struct file_data *f, struct file_root root,
	const char *name, const char *path, struct incore_error *e)
{
	return file_store_load_at(o && o->cache ? &o->cache->files : NULL,
		o && o->is_look ? FILE_KEEP : FILE_TAKE, f, root, name, path, e);
}

bool import_load(const struct import_options *o, struct file_data *f, const char *path,
	struct incore_error *e)
{
	struct file_root root;
	const char *name;

	if (o && o->root && !(o->own && strcmp(path, o->own) == 0))
		return import_load_below(o, f, o->root, path, e);
	root = file_fence_root(import_fence(o), path, &name);
	return load_at(o, f, root, name, path, e);
}

bool import_load_plain(const struct import_options *o, struct file_data *f, const char *path,
	struct incore_error *e)
{
	struct strbuf plain = {0};
	struct str packed;
	bool ok;

	if (!import_load(o, f, path, e))
		return false;
	packed = (struct str){(const char *)f->data, f->size};
	if (!gzip_is(packed))
		return true;
	ok = gzip_unpack(packed, path, &plain, e) && file_hold(f, &plain, e);
	sb_free(&plain);
	if (!ok)
		file_unload(f);
	return ok;
}

bool import_load_below(const struct import_options *o, struct file_data *f, const char *dir,
	const char *path, struct incore_error *e)
{
	struct file_root root;
	bool ok;

	if (!import_root_open(o, &root, dir))
		return err_errno(e, errno, dir, "cannot open directory");
	ok = load_at(o, f, root, file_name_below(dir, path), path, e);
	close(root.fd);
	return ok;
}

bool import_root_open(const struct import_options *o, struct file_root *r, const char *dir)
{
	const char *name;
	struct file_root above = file_fence_root(import_fence(o), *dir ? dir : ".", &name);

	return file_root_open_below(r, above, name, o && o->cache && o->cache->follow_links);
}

/* --- cached results --- */

static struct capture_seen *seen_of(struct capture_cache *k, const struct stat *st, uint32_t part)
{
	for (size_t i = 0; k && i < k->seen.n; i++)
		if (k->seen.v[i].part == part && file_is_same(&k->seen.v[i].st, st))
			return &k->seen.v[i];
	return NULL;
}

static struct capture_seen *find_seen(struct capture_cache *k, const char *path)
{
	struct stat st;
	uint32_t part;

	return k && k->seen.n && capture_stat(&k->fence, path, &st, &part) == 0
		       ? seen_of(k, &st, part)
		       : NULL;
}

const struct import_ops *capture_seen_ops(struct capture_cache *k, const struct stat *st)
{
	const struct capture_seen *s = seen_of(k, st, 0);

	return s ? s->capture.ops : NULL;
}

/* A copy with strings in the arena; same_as becomes NULL when out of memory. */
static struct capture copy_counts(const struct capture *from, struct arena *a, const char *path)
{
	struct capture c = *from;

	c.path = path;
	c.is_looked_at = true;
	if (c.same_as)
		c.same_as = arena_strdup(a, c.same_as);
	return c;
}

static struct capture_seen *add_seen(struct capture_cache *k, const struct capture *c)
{
	struct capture_seen s = {0};
	char *path = k ? arena_strdup(&k->arena, c->path) : NULL;

	if (!path || capture_stat(&k->fence, path, &s.st, &s.part) != 0)
		return NULL;
	s.capture = copy_counts(c, &k->arena, path);
	return VEC_PUSH(&k->seen, s) ? &k->seen.v[k->seen.n - 1] : NULL;
}

void capture_look(struct capture_cache *k, struct arena *a, struct capture *c)
{
	const struct capture_seen *s;

	if (c->is_looked_at)
		return;
	s = find_seen(k, c->path);
	if (s) {
		*c = copy_counts(&s->capture, a, c->path);
		return;
	}
	if (c->ops->look)
		c->ops->look(c->path, k, a, c);
	c->is_looked_at = true;
	add_seen(k, c);
}

void capture_know(struct capture_cache *k, const struct capture *c)
{
	add_seen(k, c);
}

void capture_remember(struct capture_cache *k, const struct capture *c, const struct trace *t)
{
	struct capture_seen *s = find_seen(k, c->path);
	struct capture seen = *c;

	if (!k || (s && s->has_clock))
		return;
	if (!s) {
		if (c->ops->look_at_trace)
			c->ops->look_at_trace(t, &k->arena, &seen);
		else if (c->ops->look)
			c->ops->look(c->path, k, &k->arena, &seen);
		s = add_seen(k, &seen);
	}
	if (s) {
		s->has_clock = true;
		s->clock_mhz = trace_clock_mhz(t);
	}
}

double capture_clock_mhz(struct capture_cache *k, const struct capture *c)
{
	struct import_options o = {.cache = k, .is_look = true};
	struct incore_error ignored = {0};
	struct capture_seen *s = find_seen(k, c->path);
	struct trace *t = NULL;
	double mhz = 0;

	if (s && s->has_clock)
		return s->clock_mhz;
	if (import_read(c, &o, &t, &ignored)) {
		mhz = trace_clock_mhz(t);
		trace_free(t);
	}
	incore_error_clear(&ignored);
	s = find_seen(k, c->path);
	if (s) /* even if unreadable, so that it is not tried again */
		s->has_clock = true;
	return mhz;
}

/* --- choosing --- */

ORDER_AT(by_preference, struct capture,
	UP(is_empty) DOWN(n_tracks) DOWN(n_rows) DOWN(n_mapped) DOWN(n_bytes) UP(position))

bool capture_is(const struct capture *c, struct capture_choice choice)
{
	return (choice.agent == NO_VALUE || c->agent == choice.agent) &&
	       (choice.dispatch == NO_VALUE || c->dispatch == choice.dispatch);
}

uint32_t captures_rank(struct capture_list *l, struct capture_cache *k,
	struct capture_choice choice, const struct capture **v)
{
	bool is_any = choice.agent == NO_VALUE && choice.dispatch == NO_VALUE;
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		if (!is_any)
			capture_look(k, &l->arena, &l->v[i]);
		if (capture_is(&l->v[i], choice))
			v[n++] = &l->v[i];
	}
	SORT(v, n, by_preference);
	return n;
}

const struct capture *capture_choose(const struct capture_list *l)
{
	const struct capture *best = l->n ? &l->v[0] : NULL;

	for (uint32_t i = 1; i < l->n; i++) {
		const struct capture *c = &l->v[i];

		if (by_preference(&c, &best) < 0)
			best = c;
	}
	return best;
}
