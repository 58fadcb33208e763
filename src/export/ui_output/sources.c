/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.c: copies of source files and the path of each: snapshots.json (an object
 * nested by path component, root key "/") and source_<i>_<name>. The producer's names for copies
 * are kept where they are plain; a path that cannot be nested is left out and counted.
 */
#include "base/search.h"
#include "export/ui_output/writer.h"

#define MAX_PARTS 48u /* most components of a path; the JSON writer's depth is limited */
#define MAX_NAME 200u

struct snapshot {
	const struct source_file *source;
	char name[MAX_NAME + 40]; /* file name of the copy */
};

/* The next component of a path; the first one of an absolute path is "/". */
static struct str next_part(const char **p)
{
	const char *start = *p;

	if (*start == '/') {
		*p = start + 1;
		return (struct str){"/", 1};
	}
	while (**p && **p != '/')
		(*p)++;
	if (**p == '/')
		(*p)++;
	return (struct str){start, (size_t)(*p - start) - (*p > start && (*p)[-1] == '/')};
}

/* Can the path be nested: no empty components, not too deep? */
static bool can_nest(const char *path)
{
	unsigned parts = 0;
	size_t n = strlen(path);

	if (!n || strstr(path, "//") || path[n - 1] == '/')
		return false;
	for (const char *p = path; *p; parts++)
		next_part(&p);
	return parts <= MAX_PARTS;
}

static bool is_copy_name(const char *s)
{
	return s && strncmp(s, "source_", 7) == 0 && strlen(s) <= MAX_NAME && !strchr(s, '/');
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Compares by component, so that files of one folder are adjacent. */
static int compare_paths(const void *pa, const void *pb)
{
	const struct snapshot *a = pa, *b = pb;
	const char *p = a->source->path, *q = b->source->path;

	while (*p && *q) {
		int order = str_cmp(next_part(&p), next_part(&q));

		if (order)
			return order;
	}
	return *q ? -1 : *p ? 1 : 0;
}

struct nest { /* folders whose JSON objects are open */
	struct str open[MAX_PARTS];
	unsigned n_open;
};

static void put_leaf(struct json_writer *w, struct nest *n, const struct snapshot *s)
{
	struct str parts[MAX_PARTS];
	const char *p = s->source->path;
	unsigned n_parts = 0, same = 0;

	do /* paths are not empty: see can_nest() */
		parts[n_parts++] = next_part(&p);
	while (*p && n_parts < MAX_PARTS);
	while (same < n->n_open && same + 1 < n_parts && str_eq(n->open[same], parts[same]))
		same++;
	for (; n->n_open > same; n->n_open--)
		json_w_end(w);
	for (; n->n_open + 1 < n_parts; n->n_open++) {
		n->open[n->n_open] = parts[n->n_open];
		json_w_key_str(w, parts[n->n_open]);
		json_w_object(w);
	}
	json_w_key_str(w, parts[n_parts - 1]);
	json_w_cstr(w, s->name);
}

/* Is a path equal to, or a folder of, the next one? It would make a duplicate key. */
static bool is_folder_of(const struct snapshot *a, const struct snapshot *b)
{
	const char *p = a->source->path, *q = b->source->path;

	while (*p && *q)
		if (!str_eq(next_part(&p), next_part(&q)))
			return false;
	return !*p;
}

static bool write_copy(struct ui_writer *u, const struct snapshot *s, struct incore_error *e)
{
	FILE *f = out_dir_file(&u->dir, s->name, e);

	if (!f)
		return false;
	if (s->source->text_len)
		fwrite(s->source->text, 1, s->source->text_len, f); /* see out_dir_done() */
	return out_dir_done(&u->dir, f, s->name, e);
}

static bool write_tree(
	struct ui_writer *u, const struct snapshot *v, size_t n, struct incore_error *e)
{
	struct json_writer *w = &u->w;
	struct nest nest = {.n_open = 0};

	if (!ui_file_open(u, "snapshots.json", e))
		return false;
	json_w_object(w);
	for (size_t i = 0; i < n; i++)
		put_leaf(w, &nest, &v[i]);
	for (; nest.n_open > 0; nest.n_open--)
		json_w_end(w);
	json_w_end(w);
	return ui_file_close(u, e);
}

/* Gives the copies unique names: the producer's if it is usable. */
static bool name_copies(struct snapshot *v, size_t n)
{
	struct intern names;
	bool ok = true;

	intern_init(&names);
	for (size_t i = 0; ok && i < n; i++) {
		const char *given = v[i].source->snapshot;
		uint32_t before = names.n;

		if (!is_copy_name(given))
			continue;
		ok = intern_add(&names, str_of(given)) != INTERN_NONE;
		if (names.n > before)
			snprintf(v[i].name, sizeof(v[i].name), "%s", given);
	}
	for (size_t i = 0, number = 0; ok && i < n; i += v[i].name[0] != '\0') {
		uint32_t before = names.n;

		if (v[i].name[0])
			continue;
		snprintf(v[i].name, sizeof(v[i].name), "source_%zu_%.*s", number++, (int)MAX_NAME,
			base_of(v[i].source->path));
		ok = intern_add(&names, str_of(v[i].name)) != INTERN_NONE;
		if (names.n == before)
			v[i].name[0] = '\0'; /* in use: try again with the next number */
	}
	intern_deinit(&names);
	return ok;
}

static struct snapshot *gather(const struct trace *t, size_t *n, uint64_t *n_left_out)
{
	struct snapshot *v = mem_zalloc((size_t)t->n_sources + 1, sizeof(*v));
	size_t found = 0, kept = 0;

	if (!v)
		return NULL;
	for (source_idx i = 0; i < t->n_sources; i++) {
		if (!t->sources[i].text)
			continue;
		if (can_nest(t->sources[i].path))
			v[found++].source = &t->sources[i];
		else
			++*n_left_out;
	}
	SORT(v, found, compare_paths);
	for (size_t i = 0; i < found; i++) {
		if (i + 1 < found && is_folder_of(&v[i], &v[i + 1]))
			++*n_left_out;
		else
			v[kept++] = v[i];
	}
	*n = kept;
	return v;
}

bool ui_write_sources(struct ui_writer *u, struct incore_error *e)
{
	uint64_t n_left_out = 0;
	size_t n = 0;
	struct snapshot *v = gather(u->x->trace, &n, &n_left_out);
	bool ok = v && name_copies(v, n);

	if (!ok)
		err_nomem(e);
	for (size_t i = 0; ok && i < n; i++)
		ok = write_copy(u, &v[i], e);
	if (ok && n)
		ok = write_tree(u, v, n, e);
	mem_free(v);
	return ok && export_cut(u->x, "source files", "their paths cannot be nested by folder",
			     n_left_out, e);
}
