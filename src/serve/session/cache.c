/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c: where the cached columns of a capture are, and whether they are still valid. */
#include "serve/session/cache.h"
#include "base/search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_fence.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"

#define SUFFIX ".columns"
#define MAX_DEPTH 3
#define MAX_ENTRIES 400000u
#define TAG "CACHEDIR.TAG"

/* --- the key --- */

struct survey {
	const struct file_fence *fence; /* of the reader of the capture */
	struct hash_stream hash;
	const char *dir;
	uint64_t bytes;
	uint32_t n;
	unsigned depth;
};

static void add_stat(struct survey *s, const char *name, const struct stat *st)
{
	/* writing to a file or replacing it changes at least one of these */
	int64_t facts[] = {st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec, st->st_ctim.tv_sec,
		st->st_ctim.tv_nsec, (int64_t)st->st_dev, (int64_t)st->st_ino};

	hash_stream_add(&s->hash, name, strlen(name) + 1);
	hash_stream_add(&s->hash, facts, sizeof(facts));
	s->bytes += (uint64_t)st->st_size;
}

static bool survey_entry(void *ctx, const char *name, struct incore_error *e)
{
	struct survey *s = ctx;
	char *path = path_join(s->dir, name);
	const char *dir = s->dir;
	struct stat st;
	bool ok = path && s->n++ < MAX_ENTRIES;

	if (ok && file_stat_in(s->fence, path, &st) == 0) {
		if (S_ISREG(st.st_mode)) {
			add_stat(s, name, &st);
		} else if (S_ISDIR(st.st_mode) && s->depth < MAX_DEPTH) {
			s->dir = path;
			s->depth++;
			hash_stream_add(&s->hash, name, strlen(name) + 1);
			ok = dir_each_in(s->fence, path, survey_entry, s, e);
			s->depth--;
			s->dir = dir;
		}
	}
	mem_free(path);
	return ok;
}

/* Hashes the files of a capture. For a single file, this includes the other files of its folder. */
static bool survey(const char *path, struct survey *s)
{
	struct incore_error ignored = {0};
	const char *base = path_base(path);
	struct stat st;
	char *dir;
	bool ok;

	if (file_stat_in(s->fence, path, &st) != 0)
		return false;
	if (S_ISDIR(st.st_mode)) {
		s->dir = path;
		ok = dir_each_in(s->fence, path, survey_entry, s, &ignored);
	} else {
		dir = base == path ? mem_strndup(".", 1) : mem_strndup(path, (size_t)(base - path));
		s->dir = dir;
		s->depth = MAX_DEPTH;
		ok = dir && dir_each_in(s->fence, dir, survey_entry, s, &ignored);
		s->bytes = (uint64_t)st.st_size;
		mem_free(dir);
	}
	incore_error_clear(&ignored);
	return ok;
}

/* --- the folder --- */

static bool make_dir(const char *path)
{
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Path of "$XDG_CACHE_HOME/incore", which is created if missing. */
static char *cache_dir(void)
{
	static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
				  "# This folder may be removed at any time.\n";
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *below = NULL, *dir = NULL, *file = NULL;
	int fd;

	if (base && base[0] == '/')
		below = mem_strndup(base, strlen(base));
	else if (home && home[0] == '/')
		below = path_join(home, ".cache");
	dir = below && make_dir(below) ? path_join(below, "incore") : NULL;
	mem_free(below);
	if (!dir || !make_dir(dir)) {
		mem_free(dir);
		return NULL;
	}
	file = path_join(dir, TAG);
	fd = file ? open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (fd >= 0) {
		write_all(fd, tag, sizeof(tag) - 1, NULL);
		close(fd);
	}
	mem_free(file);
	return dir;
}

bool cache_file_for(const struct trace *t, const char *salt, struct cache_file *out)
{
	struct survey s = {.fence = t->fence};
	struct hash128 key;
	char name[64];

	hash_stream_init(&s.hash);
	hash_stream_add(&s.hash, INCORE_VERSION, sizeof(INCORE_VERSION));
	hash_stream_add(&s.hash, salt, strlen(salt) + 1);
	hash_stream_add(&s.hash, t->meta.origin, strlen(t->meta.origin) + 1);
	if (t->n_tracks == 0 || !survey(t->meta.origin, &s) || s.bytes < CACHE_LEAST_BYTES)
		return false;
	key = hash_stream_end(&s.hash);
	*out = (struct cache_file){.key = {key.lo, key.hi}};
	out->dir = cache_dir();
	snprintf(name, sizeof(name), "%016llx%016llx" SUFFIX, (unsigned long long)key.hi,
		(unsigned long long)key.lo);
	out->path = out->dir ? path_join(out->dir, name) : NULL;
	if (!out->path)
		cache_file_deinit(out);
	return out->path != NULL;
}

void cache_file_deinit(struct cache_file *f)
{
	mem_free(f->dir);
	mem_free(f->path);
	*f = (struct cache_file){0};
}

void cache_touch(const struct cache_file *f)
{
	utimensat(AT_FDCWD, f->path, NULL, 0);
}

/* --- the limit --- */

struct kept_file {
	char *path;
	uint64_t bytes;
	int64_t used_s;
};

struct kept_files {
	const struct cache_file *f;
	VEC(struct kept_file) v;
	uint64_t bytes;
};

static bool add_kept(void *ctx, const char *name, struct incore_error *e)
{
	struct kept_files *k = ctx;
	struct stat st;
	char *path;

	(void)e;
	if (!str_has(str_of(name), SUFFIX))
		return true;
	path = path_join(k->f->dir, name);
	if (path && strcmp(path, k->f->path) != 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		VEC_PUSH(&k->v, (struct kept_file){path, (uint64_t)st.st_size, st.st_mtime})) {
		k->bytes += (uint64_t)st.st_size;
		return true;
	}
	mem_free(path);
	return true;
}

ORDER(by_age, struct kept_file, UP(used_s))

void cache_trim(const struct cache_file *f)
{
	struct kept_files k = {.f = f};
	struct incore_error ignored = {0};
	int64_t own = file_size(f->path);

	dir_each(f->dir, add_kept, &k, &ignored);
	incore_error_clear(&ignored);
	k.bytes += own > 0 ? (uint64_t)own : 0;
	SORT(k.v.v, k.v.n, by_age);
	for (size_t i = 0; i < k.v.n; i++) {
		if (k.bytes > CACHE_MAX_BYTES && unlink(k.v.v[i].path) == 0)
			k.bytes -= k.v.v[i].bytes;
		mem_free(k.v.v[i].path);
	}
	VEC_FREE(&k.v);
}
