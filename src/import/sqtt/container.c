/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container.c: finds the files of one capture. rocprofv3 writes a stream per shader engine and
 * dispatch (.att) and a copy of each loaded code object (.out) into one directory; plain runs are
 * a directory of se<N>.sqtt with code.elf and meta.json. Names are parsed from the right: the
 * prefix is arbitrary.
 */
#include "import/sqtt/container.h"
#include "base/search.h"

#include "base/file_fence.h"
#include "base/vec.h"

#define ATT_MARK "_shader_engine_"
#define OBJECT_MARK "_code_object_id_"

struct att_file {
	struct sqtt_att_name name;
	const char *path;
};

struct container_listing {
	const struct file_fence *fence;
	const char *dir;
	struct arena *arena;
	VEC(struct att_file) atts;
	VEC(struct sqtt_stream_file) plain;   /* se<N>.sqtt */
	VEC(struct sqtt_object_file) objects; /* *_code_object_id_<N>.out */
	const char *code, *meta;	      /* code.elf, meta.json */
	const char *code_json, *snapshots;
};

static bool decimal(struct str s, uint64_t max, uint64_t *out)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0 && str_to_u64(s, out) && *out <= max;
}

/* The last position of `mark` in s, or -1. */
static ptrdiff_t container_find_last(struct str s, const char *mark)
{
	ptrdiff_t at = -1, next;
	size_t from = 0;

	while ((next = str_find(str_sub(s, from, s.n), mark)) >= 0) {
		at = (ptrdiff_t)from + next;
		from = (size_t)at + 1;
	}
	return at;
}

bool sqtt_att_name(const char *name, struct sqtt_att_name *out)
{
	struct str s = str_of(name), rest, se;
	ptrdiff_t at = container_find_last(s, ATT_MARK), under;
	uint64_t v;

	if (at < 0 || !str_ends(s, ".att"))
		return false;
	*out = (struct sqtt_att_name){.prefix = str_sub(s, 0, (size_t)at), .agent = NO_VALUE};
	rest = str_sub(s, (size_t)at + sizeof(ATT_MARK) - 1, s.n);
	rest.n -= sizeof(".att") - 1;
	if (!str_cut(&rest, "_", &se) || !decimal(se, SQTT_MAX_SE - 1, &v))
		return false;
	out->se = (uint32_t)v;
	if (!decimal(rest, INT64_MAX, &v))
		return false;
	out->dispatch = (int64_t)v;
	under = str_rfind_char(out->prefix, '_');
	if (decimal(str_sub(out->prefix, (size_t)(under + 1), out->prefix.n), INT64_MAX, &v))
		out->agent = (int64_t)v;
	return true;
}

/* "se12.sqtt" */
static bool container_plain_name(const char *name, uint32_t *se)
{
	struct str s = str_of(name);
	uint64_t v;

	if (!str_starts(s, "se") || !str_ends(s, ".sqtt") ||
		!decimal(str_sub(s, 2, s.n - 7), SQTT_MAX_SE - 1, &v))
		return false;
	*se = (uint32_t)v;
	return true;
}

bool sqtt_object_name(const char *name, uint32_t *id)
{
	struct str s = str_of(name);
	ptrdiff_t at = container_find_last(s, OBJECT_MARK);
	size_t suffix = str_ends(s, ".out") ? 4 : str_ends(s, ".hsaco") ? 6 : 0;
	uint64_t v;

	if (at < 0 || !suffix)
		return false;
	s = str_sub(s, (size_t)at + sizeof(OBJECT_MARK) - 1, s.n);
	if (s.n < suffix || !decimal(str_sub(s, 0, s.n - suffix), UINT32_MAX - 1, &v))
		return false;
	*id = (uint32_t)v;
	return true;
}

bool sqtt_is_stream_name(const char *path)
{
	struct str s = str_of(path_base(path));

	return str_ends(s, ".att") || str_ends(s, ".sqtt");
}

/* Is it the output of AMD's decoder for these streams? That is the better input, as it has
 * sources. */
static bool is_decoded_dir(const struct file_fence *f, const char *dir, const char *name)
{
	struct strbuf path = {0};
	bool is_one = false;

	if (strncmp(name, "ui_output_", 10) == 0 &&
		sb_printf(&path, "%s/%s/filenames.json", dir, name))
		is_one = file_exists_in(f, path.p);
	sb_free(&path);
	return is_one;
}

struct dir_look {
	const struct file_fence *fence;
	const char *dir;
	bool has_stream, has_decoded;
};

static bool look_at_name(void *ctx, const char *name, struct incore_error *e)
{
	struct dir_look *l = ctx;
	struct sqtt_att_name att;
	uint32_t se;

	(void)e;
	l->has_stream |= sqtt_att_name(name, &att) || container_plain_name(name, &se);
	l->has_decoded =
		strcmp(name, "filenames.json") == 0 || is_decoded_dir(l->fence, l->dir, name);
	return !l->has_decoded;
}

bool sqtt_is_dir(const struct file_fence *f, const char *path)
{
	struct dir_look l = {.fence = f, .dir = path};
	struct incore_error ignored = {0};

	dir_each_in(f, path, look_at_name, &l, &ignored);
	incore_error_clear(&ignored);
	return l.has_stream && !l.has_decoded;
}

/* --- listing --- */

/* Where the path of a file with a name of its own goes; NULL for other names. */
static const char **own_place(struct container_listing *l, const char *name)
{
	if (strcmp(name, "code.elf") == 0)
		return &l->code;
	if (strcmp(name, "meta.json") == 0)
		return &l->meta;
	if (strcmp(name, "code.json") == 0)
		return &l->code_json;
	return strcmp(name, "snapshots.json") == 0 ? &l->snapshots : NULL;
}

static bool container_add_entry(void *ctx, const char *name, struct incore_error *e)
{
	struct container_listing *l = ctx;
	struct att_file att;
	uint32_t number;
	const char *path;
	bool is_att = sqtt_att_name(name, &att.name);

	if (!is_att && !container_plain_name(name, &number) && !sqtt_object_name(name, &number) &&
		!own_place(l, name))
		return true;
	path = *l->dir ? arena_printf(l->arena, "%s%s%s", l->dir,
				 l->dir[strlen(l->dir) - 1] == '/' ? "" : "/", name)
		       : arena_strdup(l->arena, name);
	if (!path)
		return err_nomem(e);
	att.path = path;
	if (is_att) {
		sqtt_att_name(path_base(path), &att.name); /* so that the prefix is in the arena */
		return VEC_PUSH(&l->atts, att) || err_nomem(e);
	}
	if (container_plain_name(name, &number))
		return VEC_PUSH(&l->plain, (struct sqtt_stream_file){number, path,
						   file_size_in(l->fence, path)}) ||
		       err_nomem(e);
	if (sqtt_object_name(name, &number))
		return VEC_PUSH(&l->objects, (struct sqtt_object_file){number, path}) ||
		       err_nomem(e);
	*own_place(l, name) = path;
	return true;
}

static int compare_atts(const void *pa, const void *pb)
{
	const struct att_file *a = pa, *b = pb;
	int by_prefix = str_cmp(a->name.prefix, b->name.prefix);

	if (by_prefix)
		return by_prefix;
	if (a->name.dispatch != b->name.dispatch)
		return a->name.dispatch < b->name.dispatch ? -1 : 1;
	return a->name.se < b->name.se ? -1 : a->name.se > b->name.se;
}

ORDER(compare_streams, struct sqtt_stream_file, UP(se))

static int compare_objects(const void *pa, const void *pb)
{
	const struct sqtt_object_file *a = pa, *b = pb;

	return a->id != b->id ? (a->id < b->id ? -1 : 1) : strcmp(a->path, b->path);
}

/* The prefix without the agent, with which the names of the code objects begin. */
static struct str container_process_of(const struct sqtt_att_name *n)
{
	ptrdiff_t under = str_rfind_char(n->prefix, '_');

	return str_sub(n->prefix, 0, under < 0 ? 0 : (size_t)under);
}

/* Chooses the objects of the same process, or all of the directory if none has its name. */
static bool choose_objects(
	struct container_listing *l, const struct sqtt_att_name *n, struct sqtt_container *c)
{
	struct str process = container_process_of(n);

	c->objects = arena_zalloc(l->arena, l->objects.n + 1, sizeof(*c->objects));
	if (!c->objects)
		return false;
	for (size_t i = 0; i < l->objects.n; i++) {
		struct str name = str_of(path_base(l->objects.v[i].path));

		if (str_eq(str_sub(name, 0, process.n), process))
			c->objects[c->n_objects++] = l->objects.v[i];
	}
	for (size_t i = 0; c->n_objects == 0 && i < l->objects.n; i++)
		c->objects[i] = l->objects.v[i];
	if (!c->n_objects)
		c->n_objects = (uint32_t)l->objects.n;
	return true;
}

static bool same_dispatch(const struct sqtt_att_name *a, const struct sqtt_att_name *b)
{
	return str_eq(a->prefix, b->prefix) && a->dispatch == b->dispatch;
}

/* What AMD's decoder left of the same dispatch has its code as text. */
static bool find_decoded(struct container_listing *l, struct sqtt_container *c)
{
	const char *dir, *code, *snapshots;

	if (c->code_json || c->agent == NO_VALUE)
		return true;
	dir = arena_printf(l->arena, "%sui_output_agent_%lld_dispatch_%lld", l->dir,
		(long long)c->agent, (long long)c->dispatch);
	if (!dir || !file_is_dir_in(l->fence, dir))
		return dir != NULL;
	code = arena_printf(l->arena, "%s/code.json", dir);
	snapshots = arena_printf(l->arena, "%s/snapshots.json", dir);
	if (!code || !snapshots)
		return false;
	c->code_json = file_exists_in(l->fence, code) ? code : NULL;
	if (!c->snapshots && file_exists_in(l->fence, snapshots))
		c->snapshots = snapshots;
	return true;
}

static bool make_dispatch(
	struct container_listing *l, const struct att_file *v, size_t n, struct sqtt_container *c)
{
	*c = (struct sqtt_container){.dir = l->dir,
		.agent = v->name.agent,
		.dispatch = v->name.dispatch,
		.first = v->path,
		.meta = l->meta,
		.code_json = l->code_json,
		.snapshots = l->snapshots,
		.n_streams = (uint32_t)n};
	c->streams = arena_zalloc(l->arena, n, sizeof(*c->streams));
	if (!c->streams || !choose_objects(l, &v->name, c) || !find_decoded(l, c))
		return false;
	for (size_t i = 0; i < n; i++) {
		c->streams[i] = (struct sqtt_stream_file){
			v[i].name.se, v[i].path, file_size_in(l->fence, v[i].path)};
		c->n_bytes += c->streams[i].size > 0 ? (uint64_t)c->streams[i].size : 0;
	}
	return true;
}

static bool make_plain(struct container_listing *l, struct sqtt_container *c)
{
	*c = (struct sqtt_container){.dir = l->dir,
		.agent = NO_VALUE,
		.dispatch = NO_VALUE,
		.first = l->plain.v[0].path,
		.meta = l->meta,
		.code_json = l->code_json,
		.snapshots = l->snapshots,
		.n_streams = (uint32_t)l->plain.n,
		.n_objects = l->code != NULL};
	c->streams = arena_memdup(l->arena, l->plain.v, l->plain.n * sizeof(*l->plain.v));
	c->objects = arena_zalloc(l->arena, 1, sizeof(*c->objects));
	if (!c->streams || !c->objects)
		return false;
	c->objects[0].path = l->code;
	for (uint32_t i = 0; i < c->n_streams; i++)
		c->n_bytes += c->streams[i].size > 0 ? (uint64_t)c->streams[i].size : 0;
	return true;
}

/* Makes one sorted container per dispatch; the streams of a plain run are one container. */
static bool make_containers(struct container_listing *l, struct sqtt_container **out, uint32_t *n,
	struct incore_error *e)
{
	struct sqtt_container *v = arena_zalloc(l->arena, l->atts.n + 1, sizeof(*v));
	uint32_t count = 0;

	if (!v)
		return err_nomem(e);
	SORT(l->atts.v, l->atts.n, compare_atts);
	SORT(l->plain.v, l->plain.n, compare_streams);
	SORT(l->objects.v, l->objects.n, compare_objects);
	for (size_t i = 0, end; i < l->atts.n; i = end) {
		for (end = i + 1;
			end < l->atts.n && same_dispatch(&l->atts.v[i].name, &l->atts.v[end].name);)
			end++;
		if (!make_dispatch(l, l->atts.v + i, end - i, &v[count++]))
			return err_nomem(e);
	}
	if (l->plain.n && !make_plain(l, &v[count++]))
		return err_nomem(e);
	*out = v;
	*n = count;
	return true;
}

/* Makes a container for a stream with any other name, with the code objects beside it; for a
 * database with streams, those of its process ("PREFIX_results.db"). */
static bool make_single(struct container_listing *l, const char *path, struct sqtt_container **out,
	struct incore_error *e)
{
	struct sqtt_container *c = arena_zalloc(l->arena, 1, sizeof(*c));
	struct sqtt_att_name none = {.agent = NO_VALUE, .dispatch = NO_VALUE};
	struct att_file f = {none, arena_strdup(l->arena, path)};

	if (str_ends(str_of(path), "_results.db"))
		f.name.prefix = str_of(path_base(path));
	if (!c || !f.path || !make_dispatch(l, &f, 1, c))
		return err_nomem(e);
	if (!c->n_objects && l->code) {
		c->objects[0].path = l->code;
		c->n_objects = 1;
	}
	*out = c;
	return true;
}

static bool container_pick(struct container_listing *l, const char *path,
	struct sqtt_container **out, uint32_t *n, struct incore_error *e)
{
	for (uint32_t i = 0; i < *n; i++)
		for (uint32_t k = 0; k < (*out)[i].n_streams; k++)
			if (strcmp(path_base((*out)[i].streams[k].path), path_base(path)) == 0) {
				*out += i;
				*n = 1;
				return true;
			}
	*n = 1;
	return make_single(l, path, out, e);
}

bool sqtt_containers(const struct file_fence *f, const char *path, struct arena *a,
	struct sqtt_container **out, uint32_t *n, struct incore_error *e)
{
	struct container_listing l = {.fence = f, .arena = a};
	bool is_dir = file_is_dir_in(f, path), ok;

	l.dir = is_dir ? arena_strdup(a, path)
		       : arena_strndup(a, path, (size_t)(path_base(path) - path));
	if (!l.dir)
		return err_nomem(e);
	*n = 0;
	ok = dir_each_in(f, *l.dir ? l.dir : ".", container_add_entry, &l, e) &&
	     make_containers(&l, out, n, e) && (is_dir || container_pick(&l, path, out, n, e));
	if (ok && *n == 0)
		ok = err_file(e, "no-stream", path, INCORE_NO_OFFSET,
			"no thread-trace stream (*_shader_engine_*.att, se*.sqtt) here");
	VEC_FREE(&l.atts);
	VEC_FREE(&l.plain);
	VEC_FREE(&l.objects);
	return ok;
}
