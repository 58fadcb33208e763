/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.c: finds the captures at or below a path. Directories are searched two levels deep and a
 * recognised one is never entered, so the wave files of a capture are not opened here. Looping
 * links, unreadable entries and files that are not regular are skipped.
 *
 * Parts: what a run knows of its captures; the search.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "codec/unpack.h"
#include "import/capture_cache.h"

/* --- what a run knows of its captures --------------------------------------------------------- */

/* Chooses among several captures, and caches what is known about each. */

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

const char *capture_file(
	const struct file_fence *f, struct arena *a, const char *path, uint32_t *number)
{
	struct stat st;
	uint32_t part = 0;
	bool is_part = capture_stat(f, path, &st, &part) == 0 && part;

	if (number)
		*number = part ? part - 1 : 0;
	return arena_strndup(a, path, is_part ? file_part(path, &part) : strlen(path));
}

void capture_name_parts(
	struct arena *a, const char *path, size_t parts, const char ***paths, uint32_t *n)
{
	*paths = arena_zalloc(a, parts, sizeof(**paths));
	for (*n = 0; *paths && *n < parts; ++*n)
		if (!((*paths)[*n] = arena_printf(a, "%s#%u", path, *n)))
			break;
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

static bool choose_load_at(const struct import_options *o, struct file_data *f,
	struct file_root root, const char *name, const char *path, struct incore_error *e)
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
	return choose_load_at(o, f, root, name, path, e);
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
	if (!packed_is(packed))
		return true;
	ok = packed_unpack(packed, path, &plain, e) && file_hold(f, &plain, e);
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
	ok = choose_load_at(o, f, root, file_name_below(dir, path), path, e);
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

/* The importer of the file with this stat() result, if known; else NULL. */
static const struct import_ops *capture_seen_ops(struct capture_cache *k, const struct stat *st)
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

/* --- the search ------------------------------------------------------------------------------- */

/* Enough for every magic; PROBE_HEAD bytes are read of a file that the user named, and of JSON,
 * where formats may be recognisable only later. */
#define HEAD_OF_FOUND 4096
#define MAX_NAMED_IN_ERROR 3
/* A score that no other format can beat. */
#define SURE 95
/* If a format states that its captures are deeper. */
#define MAX_LEVELS 8

struct seen_folder {
	dev_t dev;
	ino_t ino;
	uint32_t part; /* part of the file (capture_stat()); 0: the whole file */
};

struct capture_finder {
	VEC(struct capture) found;
	VEC(struct seen_folder) seen; /* of found, same order */
	struct u64_map seen_at;	      /* hash of seen -> its index + 1 */
	struct arena *arena;
	struct capture_cache *cache; /* or NULL */
	uint8_t *head, *plain;	     /* plain: of a packed file, unpacked */
	bool is_flat;		     /* one directory only */
	struct seen_folder root;
	uint64_t n_dirs, n_files, n_unreadable, n_outside;
	struct strbuf sample; /* some of the skipped names, for the message */
	unsigned n_sample;
};

/* --- signatures --- */

#define MAX_FORMATS 32

struct dir_entries { /* which formats have an entry in a directory */
	bool is_listed;
	bool has[MAX_FORMATS]; /* by place in the registry */
};

static bool is_pattern(const char *entry)
{
	return strchr(entry, '*') != NULL;
}

static bool note_name(void *ctx, const char *name, struct incore_error *e)
{
	struct dir_entries *d = ctx;

	(void)e;
	for (size_t i = 0; i < MAX_FORMATS && import_registry[i]; i++)
		for (const struct signature *s = import_registry[i]->signs;
			!d->has[i] && signature_is_set(s); s++)
			d->has[i] =
				s->entry && is_pattern(s->entry) && fnmatch(s->entry, name, 0) == 0;
	return true;
}

/* Patterns of all formats are compared in one listing of the directory. */
static bool has_entry(
	const struct probe *p, const char *entry, size_t format, struct dir_entries *d)
{
	const struct file_fence *fence = capture_fence(p->cache);
	struct stat st;
	char *path;
	bool found;

	if (is_pattern(entry)) {
		if (!d->is_listed)
			dir_each_in(fence, p->path, note_name, d, p->error);
		d->is_listed = true;
		return d->has[format];
	}
	path = path_join(p->path, entry);
	if (!path)
		err_nomem(p->error);
	found = path && file_lstat_in(fence, path, &st) == 0;
	mem_free(path);
	return found;
}

static bool file_fits(const struct probe *p, const struct signature *s)
{
	struct str head = {(const char *)p->head, p->head_size}, rest = head;
	size_t n = s->begins ? s->n_bytes ? s->n_bytes : strlen(s->begins) : 0;

	while (s->after_blanks && rest.n && strchr(" \t\r\n", rest.p[0]))
		rest = str_sub(rest, 1, rest.n);
	return !s->entry && head.n >= s->min_bytes && rest.n >= s->at + n &&
	       (!n || memcmp(rest.p + s->at, s->begins, n) == 0) &&
	       (!s->name || str_ends(str_of(p->path), s->name)) &&
	       (!s->says || str_has(head, s->says));
}

/* The score of format number i of the registry. */
static int score_of(const struct probe *p, size_t i, struct dir_entries *d)
{
	const struct import_ops *ops = import_registry[i];

	for (const struct signature *s = ops->signs; signature_is_set(s); s++)
		if (p->is_dir ? s->entry && has_entry(p, s->entry, i, d) : file_fits(p, s))
			return s->score ? s->score : ops->sniff(p);
	return 0;
}

/* NULL and p->error where a directory could not be searched for the entries of every format. */
static const struct import_ops *best_ops(const struct probe *p)
{
	const struct import_ops *best = NULL;
	struct dir_entries names = {0};
	int best_score = 0;

	/* Stop at the first certain format: others would list a directory of 100,000 waves
	 * again. */
	for (size_t i = 0; import_registry[i] && best_score < SURE; i++) {
		const struct import_ops *ops = import_registry[i];
		int score = p->is_packed && !ops->reads_packed ? 0 : score_of(p, i, &names);

		if (score > best_score) {
			best_score = score;
			best = ops;
		}
	}
	if (!p->error || p->error->status == INCORE_OK)
		return best;
	if (best_score < SURE)
		return NULL;
	incore_error_clear(p->error);
	return best;
}

static const struct file_fence *find_fence_of(const struct capture_finder *f)
{
	return capture_fence(f->cache);
}

static struct file_store *find_store_of(const struct capture_finder *f)
{
	return f->cache ? &f->cache->files : NULL;
}

/* A block of zstd must be there as a whole before any of it can be unpacked: so many bytes hold the
 * first one of any file. */
#define PACKED_HEAD (PROBE_HEAD * 2 + 1024)

/* Takes the unpacked content in place of the bytes of a packed file; false if there is none yet. */
static bool unpack_head(struct capture_finder *f, struct probe *p)
{
	size_t n = packed_head(
		(struct str){(const char *)f->head, p->head_size}, f->plain, PROBE_HEAD);

	if (!n)
		return false;
	p->head = f->plain;
	p->head_size = n;
	return true;
}

/* p has the path, and gets the head. *failed: the errno. */
static const struct import_ops *sniff_file(
	struct capture_finder *f, struct probe *p, size_t cap, int *failed)
{
	const char *name;
	struct file_root root = file_fence_root(find_fence_of(f), p->path, &name);

	*failed = file_store_head(find_store_of(f), root, name, f->head, cap, &p->head_size);
	if (!*failed && p->head_size == cap && f->head[0] && strchr("{[\n\r\t ", f->head[0]))
		*failed = file_store_head(
			find_store_of(f), root, name, f->head, PROBE_HEAD, &p->head_size);
	if (*failed)
		return NULL;
	p->head = f->head;
	p->is_packed = packed_is((struct str){(const char *)p->head, p->head_size});
	if (p->is_packed && !unpack_head(f, p) && p->head_size == cap &&
		!file_store_head(find_store_of(f), root, name, f->head, PACKED_HEAD, &p->head_size))
		unpack_head(f, p);
	return best_ops(p);
}

static const struct import_ops *sniff_dir(
	const char *path, struct capture_cache *k, struct incore_error *e)
{
	struct incore_error why = {0};
	const struct import_ops *ops =
		best_ops(&(struct probe){.path = path, .is_dir = true, .cache = k, .error = &why});

	err_move(e, &why);
	return ops;
}

/* After a failed search of a directory below the first: is it merely unreadable? Then e is clear. */
static bool is_unreadable(struct capture_finder *f, struct incore_error *e)
{
	if (e->code && strcmp(e->code, "no-memory") == 0)
		return false;
	incore_error_clear(e);
	f->n_unreadable++;
	return true;
}

/* The slot of a (device, inode) pair in seen_at; its value is 0 for a new pair. */
static uint64_t *seen_slot(struct capture_finder *f, const struct stat *st, uint32_t part)
{
	uint64_t key = hash_mix64((uint64_t)st->st_dev + part) ^ (uint64_t)st->st_ino;

	for (;; key++) {
		uint64_t *at = u64_map_at(&f->seen_at, key);

		if (!at || *at == 0 ||
			(f->seen.v[*at - 1].dev == st->st_dev &&
				f->seen.v[*at - 1].ino == st->st_ino &&
				f->seen.v[*at - 1].part == part))
			return at;
	}
}

static bool find_add_one(struct capture_finder *f, const char *path, const struct import_ops *ops,
	const struct stat *st, uint32_t part, struct incore_error *e)
{
	struct capture c = {.ops = ops, .agent = NO_VALUE, .dispatch = NO_VALUE};
	uint64_t *at = seen_slot(f, st, part);

	if (!at)
		return err_nomem(e);
	if (*at)
		return true;
	c.path = arena_strdup(f->arena, path);
	if (!c.path)
		return err_nomem(e);
	if (!VEC_PUSH(&f->seen, (struct seen_folder){st->st_dev, st->st_ino, part}) ||
		!VEC_PUSH(&f->found, c))
		return err_nomem(e);
	*at = f->seen.n;
	return true;
}

/* Adds what ops recognised: one capture, or several of a directory or file. */
static bool add_capture(struct capture_finder *f, const char *path, const struct import_ops *ops,
	const struct stat *st, struct incore_error *e)
{
	const char **paths = NULL;
	uint32_t n = 0;

	if (ops->split && (S_ISDIR(st->st_mode) || ops->splits_files))
		ops->split(path, f->cache, f->arena, &paths, &n);
	if (n < 2)
		return find_add_one(f, path, ops, st, 0, e);
	for (uint32_t i = 0; i < n; i++) {
		struct stat its;
		uint32_t part;

		if (capture_stat(find_fence_of(f), paths[i], &its, &part) == 0 &&
			!find_add_one(f, paths[i], ops, &its, part, e))
			return false;
	}
	return true;
}

static void find_add_sample(struct capture_finder *f, const char *name)
{
	if (f->n_sample >= MAX_NAMED_IN_ERROR)
		return;
	sb_printf(&f->sample, "%s%s", f->n_sample ? ", " : "", name);
	f->n_sample++;
}

struct find_level { /* a directory being searched */
	struct capture_finder *f;
	const char *dir;
	bool is_links_turn;    /* real entries come first, so that links never take their names */
	bool has_links;	       /* a second pass is needed */
	VEC(char *) to_enter;  /* directories that are not captures, by path */
	unsigned levels_below; /* how many levels below may be entered */
	unsigned depth;
};

static bool leads_deeper(const char *path)
{
	for (size_t i = 0; import_registry[i]; i++)
		if (import_registry[i]->leads_to && import_registry[i]->leads_to(path))
			return true;
	return false;
}

static bool look_dir(struct find_level *l, char *path, const char *name, const struct stat *st,
	struct incore_error *e)
{
	struct capture_finder *f = l->f;
	struct incore_error why = {0};
	const struct import_ops *ops = sniff_dir(path, f->cache, &why);
	bool ok = true;

	f->n_dirs++;
	if (why.status != INCORE_OK) {
		ok = is_unreadable(f, &why);
		if (!ok)
			err_move(e, &why);
	} else if (ops) {
		ok = add_capture(f, path, ops, st, e);
	} else if ((l->levels_below || (!f->is_flat && !l->is_links_turn && l->depth < MAX_LEVELS &&
					       leads_deeper(path))) &&
		   !(st->st_dev == f->root.dev && st->st_ino == f->root.ino)) {
		if (VEC_PUSH(&l->to_enter, path))
			return true;
		ok = err_nomem(e);
	} else {
		find_add_sample(f, name);
	}
	mem_free(path);
	return ok;
}

static bool find_look_file(struct find_level *l, char *path, const char *name,
	const struct stat *st, struct incore_error *e)
{
	struct probe p = {.path = path};
	const struct import_ops *ops = capture_seen_ops(l->f->cache, st);
	bool ok = true;
	int failed;

	if (!ops)
		ops = sniff_file(l->f, &p, HEAD_OF_FOUND, &failed);
	l->f->n_files++;
	if (ops)
		ok = add_capture(l->f, path, ops, st, e);
	else
		find_add_sample(l->f, name);
	mem_free(path);
	return ok;
}

static bool look_entry(void *ctx, const char *name, struct incore_error *e)
{
	struct find_level *l = ctx;
	char *path =
		strcmp(l->dir, "") == 0 ? mem_strndup(name, strlen(name)) : path_join(l->dir, name);
	struct stat st;
	bool is_link;
	int failed;

	if (!path)
		return err_nomem(e);
	if (file_lstat_in(find_fence_of(l->f), path, &st) != 0) {
		l->f->n_unreadable++;
		mem_free(path);
		return true;
	}
	is_link = S_ISLNK(st.st_mode);
	failed = is_link && l->is_links_turn ? file_stat_in(find_fence_of(l->f), path, &st) : 0;
	l->f->n_outside += failed == EXDEV;
	if (is_link)
		l->has_links = true;
	if (is_link != l->is_links_turn || failed) {
		mem_free(path); /* for the other pass, or an invalid link */
		return true;
	}
	if (S_ISDIR(st.st_mode))
		return look_dir(l, path, name, &st, e);
	if (S_ISREG(st.st_mode))
		return find_look_file(l, path, name, &st, e);
	mem_free(path);
	return true;
}

/* An unreadable directory below the first is skipped and counted. */
static bool look_level(struct capture_finder *f, const char *dir, unsigned levels_below,
	unsigned depth, struct incore_error *e)
{
	struct find_level l = {.f = f, .dir = dir, .levels_below = levels_below, .depth = depth};
	const char *list = strcmp(dir, "") == 0 ? "." : dir;
	bool ok = dir_each_in(find_fence_of(f), list, look_entry, &l, e);

	if (ok && l.has_links) {
		l.is_links_turn = true;
		ok = dir_each_in(find_fence_of(f), list, look_entry, &l, e);
	}
	if (!ok && depth > 0 && e)
		ok = is_unreadable(f, e);
	for (size_t i = 0; i < l.to_enter.n; i++) {
		if (ok)
			ok = look_level(f, l.to_enter.v[i], levels_below ? levels_below - 1 : 0,
				depth + 1, e);
		mem_free(l.to_enter.v[i]);
	}
	VEC_FREE(&l.to_enter);
	return ok;
}

ORDER(capture_cmp, struct capture, UP(agent) UP(dispatch) A_TO_Z(path))

static void finder_deinit(struct capture_finder *f)
{
	VEC_FREE(&f->found);
	VEC_FREE(&f->seen);
	u64_map_deinit(&f->seen_at);
	sb_free(&f->sample);
	mem_free(f->head);
	mem_free(f->plain);
}

static bool finder_init(struct capture_finder *f, struct capture_cache *cache,
	struct capture_list *out, struct incore_error *e)
{
	*f = (struct capture_finder){.arena = &out->arena, .cache = cache};
	*out = (struct capture_list){0};
	arena_init(&out->arena);
	f->head = mem_alloc(PACKED_HEAD);
	f->plain = mem_alloc(PROBE_HEAD);
	return (f->head && f->plain) || err_nomem(e);
}

static bool finder_take(struct capture_finder *f, struct capture_list *out, struct incore_error *e)
{
	if (f->found.n == 0)
		return true;
	if (f->found.n > UINT32_MAX)
		return err_set(e, INCORE_BAD_INPUT, "too-many", "more than 2^32 captures");
	/* A single capture needs no comparison: its contents are known after reading it. */
	for (size_t i = 0; f->found.n > 1 && i < f->found.n; i++)
		capture_look(f->cache, f->arena, &f->found.v[i]);
	SORT(f->found.v, f->found.n, capture_cmp);
	for (size_t i = 0; i < f->found.n; i++)
		f->found.v[i].position = (uint32_t)i;
	out->v = arena_memdup(&out->arena, f->found.v, f->found.n * sizeof(*f->found.v));
	if (!out->v)
		return err_nomem(e);
	out->n = (uint32_t)f->found.n;
	return true;
}

/* "a/b" -> "a", "b" -> "" (the current directory), "/b" -> "/"; NULL when out of memory. */
static char *find_parent_of(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	return mem_strndup(path, n);
}

static void put_what_is_known(struct strbuf *b)
{
	for (size_t i = 0; import_registry[i]; i++) {
		const struct import_ops *o = import_registry[i];

		sb_printf(b, "%s%s", i ? ", or " : "", o->looks_for ? o->looks_for : o->summary);
	}
}

/* The importer of the parent directory, if that is a capture. */
static const struct import_ops *parent_capture(
	const char *path, struct capture_cache *k, struct strbuf *name)
{
	char *up = find_parent_of(path);
	const struct import_ops *ops = NULL;

	if (!up)
		return NULL;
	ops = sniff_dir(up[0] ? up : ".", k, NULL);
	sb_puts(name, up[0] ? up : ".");
	mem_free(up);
	return ops;
}

static bool fail_file(const struct probe *p, struct capture_cache *k, struct incore_error *e)
{
	const char *path = p->path;
	struct strbuf known = {0}, up = {0};
	const char *empty = p->head_size == 0 ? "an empty file is" : "this file is";

	put_what_is_known(&known);
	if (parent_capture(path, k, &up))
		err_file(e, "unknown-format", path, INCORE_NO_OFFSET,
			"this is one file of a capture; give the directory %s", up.p ? up.p : "");
	else if (p->is_packed && packed_is((struct str){(const char *)p->head, p->head_size}))
		err_file(e, "bad-packed", path, 0,
			"compressed data: nothing of it can be unpacked: it is cut or damaged");
	else if (p->is_packed)
		err_file(e, "unknown-format", path, INCORE_NO_OFFSET,
			"a file of gzip or zstd is read where it holds a report of Nsight Compute, a JSON "
			"export or a timeline (Chrome JSON, Perfetto, run-iket); unpack this one first");
	else
		err_file(e, "unknown-format", path, INCORE_NO_OFFSET,
			"%s in no known format; expected %s", empty, known.p ? known.p : "");
	sb_free(&known);
	sb_free(&up);
	return false;
}

static bool fail_dir(const struct capture_finder *f, const char *path, struct incore_error *e)
{
	struct strbuf b = {0};

	sb_puts(&b, "no capture here or up to two levels below: expected ");
	put_what_is_known(&b);
	if (f->n_dirs == 0 && f->n_files == 0 && f->n_outside == 0)
		sb_puts(&b, "; the directory is empty");
	else if (f->n_dirs || f->n_files)
		sb_printf(&b, "; found %llu directories and %llu files of other kinds",
			(unsigned long long)f->n_dirs, (unsigned long long)f->n_files);
	if (f->n_sample)
		sb_printf(&b, " (%s%s)", f->sample.p ? f->sample.p : "",
			f->n_dirs + f->n_files > f->n_sample ? ", ..." : "");
	if (f->n_unreadable)
		sb_printf(&b, ", %llu not readable", (unsigned long long)f->n_unreadable);
	if (f->n_outside)
		sb_printf(&b, "; %llu link%s out of it %s not followed%s",
			(unsigned long long)f->n_outside, plural(f->n_outside),
			f->n_outside == 1 ? "was" : "were",
			file_fence_of_named(find_fence_of(f)) ? "" : " (--follow-links follows)");
	err_file(e, "unknown-format", path, INCORE_NO_OFFSET, "%s", b.p ? b.p : "");
	sb_free(&b);
	return false;
}

/* Finds a regular file, the whole or one of the captures in it. */
static bool find_in_file(struct capture_finder *f, const char *path, const struct stat *st,
	uint32_t part, struct incore_error *e)
{
	const char *file = part ? capture_file(find_fence_of(f), f->arena, path, NULL) : path;
	const struct import_ops *ops = capture_seen_ops(f->cache, st);
	struct probe p = {.path = file, .is_named = true};
	int failed = 0;

	if (!file)
		return err_nomem(e);
	if (!ops)
		ops = sniff_file(f, &p, PROBE_HEAD, &failed);
	if (failed)
		return err_errno(e, failed, file, "cannot read");
	if (!ops)
		return fail_file(&p, f->cache, e);
	if (!part)
		return add_capture(f, path, ops, st, e);
	return ops->splits_files ? find_add_one(f, path, ops, st, part, e)
				 : err_errno(e, ENOENT, path, "open");
}

static bool find_at(struct capture_finder *f, const char *path, const struct stat *st,
	uint32_t part, struct incore_error *e)
{
	if (S_ISDIR(st->st_mode) && !part) {
		struct incore_error why = {0};
		const struct import_ops *ops = sniff_dir(path, f->cache, &why);

		if (why.status != INCORE_OK) {
			err_move(e, &why);
			return false;
		}
		if (ops)
			return add_capture(f, path, ops, st, e);
		f->root = (struct seen_folder){st->st_dev, st->st_ino, 0};
		return look_level(f, path, 1, 0, e) && (f->found.n > 0 || fail_dir(f, path, e));
	}
	if (!S_ISREG(st->st_mode))
		return err_file(e, "not-a-file", path, INCORE_NO_OFFSET,
			"neither a file nor a directory; expected a capture");
	return find_in_file(f, path, st, part, e);
}

bool import_find(
	const char *path, struct capture_cache *k, struct capture_list *out, struct incore_error *e)
{
	struct capture_finder f;
	struct stat st;
	uint32_t part = 0;
	bool ok = finder_init(&f, k, out, e);
	int failed = ok ? capture_stat(capture_fence(k), path, &st, &part) : 0;

	if (failed)
		ok = err_errno(e, failed, path, "open");
	ok = ok && find_at(&f, path, &st, part, e) && finder_take(&f, out, e);
	finder_deinit(&f);
	if (!ok)
		capture_list_deinit(out);
	return ok;
}

/* Finds the captures in a directory, or those it is split into if it is one itself. */
static bool find_look_beside(struct capture_finder *f, const char *dir, struct incore_error *e)
{
	const char *name = dir[0] ? dir : ".";
	struct incore_error why = {0};
	const struct import_ops *ops = sniff_dir(name, f->cache, &why);
	struct stat st;

	if (why.status != INCORE_OK) {
		if (is_unreadable(f, &why))
			return true;
		err_move(e, &why);
		return false;
	}
	if (ops && ops->split && file_stat_in(find_fence_of(f), name, &st) == 0)
		return add_capture(f, name, ops, &st, e);
	/* Handled as a directory below the first: if it is unreadable, there are no siblings. */
	return look_level(f, dir, 0, 1, e);
}

char *import_parent(const char *path)
{
	const char *base = path_base(path);
	bool is_dots = strcmp(base, ".") == 0 || strcmp(base, "..") == 0 || base[0] == '\0';
	char *real = is_dots ? realpath(path, NULL) : NULL;
	char *up = find_parent_of(real ? real : path);

	free(real); /* allocated by the C library, not by mem.h */
	return up;
}

bool import_siblings(
	const char *path, struct capture_cache *k, struct capture_list *out, struct incore_error *e)
{
	struct capture_finder f;
	char *up = import_parent(path);
	bool ok = finder_init(&f, k, out, e);

	f.is_flat = true;
	if (ok && !up)
		ok = err_nomem(e);
	ok = ok && find_look_beside(&f, up, e) && finder_take(&f, out, e);
	finder_deinit(&f);
	mem_free(up);
	if (!ok)
		capture_list_deinit(out);
	return ok;
}

void capture_list_deinit(struct capture_list *l)
{
	arena_deinit(&l->arena);
	l->v = NULL;
	l->n = 0;
}
