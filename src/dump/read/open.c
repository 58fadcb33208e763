/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c: opens a dump: finds its manifest, reads it with its companion files, and groups its
 * records. Parts: the manifest of a path; tasks, slots and copies; the dump.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/file_store.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "dump/read/deps.h"
#include "dump/read/manifest_read.h"
#include "dump/read/model.h"
#include "dump/read/record_read.h"

/* --- the manifest of a path ------------------------------------------------------------------- */

/*
 * Finds the manifest by the names of every generation, in the order they are tried.
 */

#define SEARCH_DEPTH 4	  /* below a build directory */
#define SEARCH_MOST 20000 /* maximum number of directory entries examined */

static char *if_file(const char *dir, const char *name)
{
	char *path = path_join(dir, name);

	if (path && file_exists(path) && !file_is_dir(path))
		return path;
	mem_free(path);
	return NULL;
}

struct stamped {
	const char *dir;
	char *found;
};

/* tensor_dump_<timestamp>.json: names sort by time, the newest wins. */
static bool keep_stamped(void *ctx, const char *name, struct incore_error *e)
{
	struct stamped *s = ctx;
	struct str n = str_of(name);
	char *path;

	(void)e;
	if (!str_starts(n, "tensor_dump_") || !str_ends(n, ".json"))
		return true;
	path = if_file(s->dir, name);
	if (path) {
		mem_free(s->found);
		s->found = path;
	}
	return true;
}

static char *in_directory(const char *dir)
{
	struct stamped s = {.dir = dir};
	char *path = if_file(dir, "args_dump.json");

	if (!path)
		path = if_file(dir, "tensor_dump.json");
	if (path)
		return path;
	if (file_is_dir(dir))
		dir_each(dir, keep_stamped, &s, NULL);
	return s.found;
}

/* Searches dir, then the subfolders that producers create. */
static char *near(const char *dir)
{
	static const char *const folders[] = {
		"args_dump", "tensor_dump", "dfx_outputs/args_dump", "dfx_outputs/tensor_dump"};
	char *found = in_directory(dir);

	for (size_t i = 0; !found && i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *sub = path_join(dir, folders[i]);

		if (sub)
			found = in_directory(sub);
		mem_free(sub);
	}
	if (!found)
		found = if_file(dir, "kernel_args_dump.json");
	return found ? found : if_file(dir, "tensor_dump/kernel_args_dump.json");
}

typedef VEC(char *) path_list;

struct below {
	const char *dir;
	unsigned depth, *left;
	path_list *found;
};

static bool dump_find_look_below(void *ctx, const char *name, struct incore_error *e)
{
	struct below *s = ctx;
	struct stat st;
	char *path, *hit;
	bool ok = true;

	if (*s->left == 0 || name[0] == '.')
		return true;
	(*s->left)--;
	path = path_join(s->dir, name);
	if (!path)
		return err_nomem(e);
	/* links are not followed: a loop would never end */
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		hit = strcmp(name, "dfx_outputs") == 0 ? near(path) : NULL;
		if (hit && !VEC_PUSH(s->found, hit)) {
			mem_free(hit);
			ok = err_nomem(e);
		} else if (!hit && s->depth > 1) {
			struct below deeper = {path, s->depth - 1, s->left, s->found};

			dir_each(path, dump_find_look_below, &deeper, NULL);
		}
	}
	mem_free(path);
	return ok;
}

static bool exists_in(const char *dir, const char *name)
{
	char *path = if_file(dir, name);
	bool is = path != NULL;

	mem_free(path);
	return is;
}

/* Explains why a directory has no readable manifest. */
static void dump_find_explain(const char *dir, struct incore_error *e)
{
	if (exists_in(dir, "args.log")) {
		err_file(e, "unclosed-dump", dir, INCORE_NO_OFFSET,
			"the dump was not closed: it has a log but no manifest; run incore dump repair on it");
	} else {
		err_file(e, "not-a-dump", dir, INCORE_NO_OFFSET,
			"no dump here: expected args_dump.json, tensor_dump.json or tensor_dump_*.json in it or in its folders args_dump, tensor_dump, dfx_outputs/args_dump or dfx_outputs/tensor_dump; kernel_args_dump.json in it or in tensor_dump; args.log of an open dump; or one dfx_outputs with a dump, up to %d folders below",
			SEARCH_DEPTH);
	}
}

/* Path of the manifest on the heap, or NULL with *e filled (it says so if the dump was not
 * closed). */
static char *dump_find(const char *path, struct incore_error *e)
{
	unsigned left = SEARCH_MOST;
	path_list found = {0};
	struct below s = {path, SEARCH_DEPTH, &left, &found};
	char *hit;

	if (!file_is_dir(path)) {
		hit = mem_strndup(path, strlen(path));
		if (!hit)
			err_nomem(e);
		return hit;
	}
	hit = near(path);
	if (hit || exists_in(path, "args.log")) {
		if (!hit)
			dump_find_explain(path, e);
		return hit;
	}
	if (!dir_each(path, dump_find_look_below, &s, e))
		goto out;
	if (found.n == 1)
		hit = found.v[--found.n];
	else if (found.n > 1)
		err_file(e, "several-dumps", path, INCORE_NO_OFFSET,
			"%zu dumps are below, for example %s and %s: name one", found.n, found.v[0],
			found.v[1]);
	else
		dump_find_explain(path, e);
out:
	for (size_t i = 0; i < found.n; i++)
		mem_free(found.v[i]);
	VEC_FREE(&found);
	return hit;
}

/* --- tasks, slots and copies ------------------------------------------------------------------ */

/*
 * Groups records by task, by slot, and into the copies of a slot. A task that ran as several blocks
 * has a before copy per block (and per declaring subtask in some generations).
 */

static int dump_fold_compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Task, slot, stage, block, manifest index: a total order. */
static int compare_records(const void *pa, const void *pb, void *ctx)
{
	const struct dump *d = ctx;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct dump_record *a = &d->records.v[ia], *b = &d->records.v[ib];
	int c = dump_fold_compare_u64(a->task_id, b->task_id);

	if (!c)
		c = dump_fold_compare_u64(a->slot, b->slot);
	if (!c)
		c = dump_fold_compare_u64(a->stage, b->stage);
	if (!c)
		c = dump_fold_compare_u64(dump_block_of(d, ia), dump_block_of(d, ib));
	return c ? c : dump_fold_compare_u64(ia, ib);
}

static bool make_order(struct dump *d, struct incore_error *e)
{
	size_t n = d->records.n;
	bool is_sorted = true;

	d->order = mem_alloc((n ? n : 1) * sizeof(d->order[0]));
	if (!d->order)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++) {
		d->order[i] = (uint32_t)i;
		is_sorted &= i == 0 || d->records.v[i].task_id >= d->records.v[i - 1].task_id;
	}
	if (!is_sorted) {
		qsort_r(d->order, n, sizeof(d->order[0]), compare_records, d);
		return true;
	}
	/* usual case: records of a task are adjacent, so only these are sorted */
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1;
			to < n && d->records.v[to].task_id == d->records.v[from].task_id;)
			to++;
		qsort_r(d->order + from, to - from, sizeof(d->order[0]), compare_records, d);
	}
	return true;
}

/* Before copies of one slot that carry the same func id: one per block. */
static uint32_t blocks_of_slot(const struct dump *d, const struct dump_slot *s)
{
	uint32_t most = 0, n = 0, last = DUMP_NONE, tries = 0;

	if (d->gen_first != DUMP_G9 && d->gen_first != DUMP_X2 && d->gen_first > DUMP_G3)
		return s->n_before;
	/* copies per declaring subtask: members are few, and equal ones need not be adjacent */
	for (uint32_t i = 0; i < s->n_before && tries < DUMP_MAX_MEMBERS; i++) {
		uint32_t members = d->records.v[d->order[s->first + i]].members;

		if (members == last)
			continue;
		last = members;
		tries++;
		n = 0;
		for (uint32_t k = 0; k < s->n_before; k++)
			n += d->records.v[d->order[s->first + k]].members == members;
		most = n > most ? n : most;
		if ((uint64_t)n * 2 > s->n_before)
			break;
	}
	return most;
}

static bool dump_fold_add_slot(struct dump *d, uint32_t first, uint32_t n, struct incore_error *e)
{
	struct dump_slot s = {
		.index = d->records.v[d->order[first]].slot,
		.first = first,
		.n = n,
		.before = DUMP_NONE,
		.writer = DUMP_NONE,
	};

	for (uint32_t i = 0; i < n; i++) {
		unsigned stage = d->records.v[d->order[first + i]].stage;

		s.n_before += stage == DUMP_BEFORE;
		s.n_after += stage == DUMP_AFTER;
	}
	if (s.n_before)
		s.before = d->order[first];
	if (s.n_before == 1)
		s.choice = DUMP_CHOICE_ONLY;
	return VEC_PUSH(&d->slots, s) || err_nomem(e);
}

/* Union of the members of a task's records, in order of first occurrence. */
static bool task_members(struct dump *d, struct dump_task *t, struct incore_error *e)
{
	int32_t all[DUMP_MAX_MEMBERS], ids[DUMP_MAX_MEMBERS];
	uint32_t last = DUMP_NONE;
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n_copies; i++) {
		uint32_t members = d->records.v[d->order[t->first_copy + i]].members;
		unsigned m = members == last ? 0 : dump_members_of(d, members, ids);

		for (unsigned k = 0; k < m; k++) {
			unsigned j = 0;

			while (j < n && all[j] != ids[k])
				j++;
			if (j == n && n < DUMP_MAX_MEMBERS)
				all[n++] = ids[k];
		}
		last = members;
	}
	t->members = DUMP_NONE;
	if (!n && d->deps) {
		const struct deps_task *known = deps_task_find(d->deps, t->id);

		for (unsigned k = 0; known && k < 3; k++)
			if (known->kernels[k] >= 0)
				all[n++] = known->kernels[k];
	}
	if (!n)
		return true;
	t->members =
		intern_add(&d->member_sets, (struct str){(const char *)all, n * sizeof(all[0])});
	return t->members != INTERN_NONE || err_nomem(e);
}

static uint32_t task_blocks(const struct dump *d, const struct dump_task *t)
{
	const struct deps_task *known = deps_task_find(d->deps, t->id);
	uint32_t n = known ? known->block_num : 0;

	for (uint32_t i = 0; i < t->n_copies; i++) {
		const struct dump_extra *x = dump_extra_of(d, d->order[t->first_copy + i]);

		if (x && x->block_num != DUMP_NONE && x->block_num > n)
			n = x->block_num;
	}
	if (n)
		return n;
	for (uint32_t i = 0; i < t->n_slots; i++) {
		uint32_t of_slot = blocks_of_slot(d, &d->slots.v[t->first_slot + i]);

		n = of_slot > n ? of_slot : n;
	}
	return n ? n : 1;
}

static bool dump_fold_add_task(struct dump *d, uint32_t first, uint32_t n, struct incore_error *e)
{
	struct dump_task t = {
		.id = d->records.v[d->order[first]].task_id,
		.first_slot = (uint32_t)d->slots.n,
		.first_copy = first,
		.n_copies = n,
		.is_complete = true,
	};

	for (uint32_t from = first, to; from < first + n; from = to) {
		for (to = from + 1; to < first + n && d->records.v[d->order[to]].slot ==
							      d->records.v[d->order[from]].slot;)
			to++;
		if (!dump_fold_add_slot(d, from, to - from, e))
			return false;
	}
	t.n_slots = (uint32_t)d->slots.n - t.first_slot;
	if (!task_members(d, &t, e))
		return false;
	t.n_blocks = task_blocks(d, &t);
	return VEC_PUSH(&d->tasks, t) || err_nomem(e);
}

/* Fills d->order, d->tasks, d->slots; called once, after all records and companion files were
 * read. */
static bool dump_fold(struct dump *d, struct incore_error *e)
{
	uint32_t n = (uint32_t)d->records.n;

	if (!make_order(d, e))
		return false;
	for (uint32_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && d->records.v[d->order[to]].task_id ==
						      d->records.v[d->order[from]].task_id;)
			to++;
		if (!dump_fold_add_task(d, from, to - from, e))
			return false;
	}
	return true;
}

/* --- the dump --------------------------------------------------------------------------------- */

/*
 * Opens a dump from a path (find, read, join, fold) and frees it.
 */

static struct dump *dump_new(struct incore_error *e)
{
	struct dump *d = mem_zalloc(1, sizeof(*d));

	if (!d)
		return err_nomem_null(e);
	arena_init(&d->arena);
	intern_init(&d->geometries);
	intern_init(&d->member_sets);
	intern_init(&d->names);
	problems_init(&d->problems);
	return d;
}

void dump_free(struct dump *d)
{
	if (!d)
		return;
	file_unload(&d->bytes);
	VEC_FREE(&d->records);
	VEC_FREE(&d->extras);
	VEC_FREE(&d->tasks);
	VEC_FREE(&d->slots);
	mem_free(d->order);
	u64_map_deinit(&d->func_names);
	deps_free(d->deps);
	intern_deinit(&d->geometries);
	intern_deinit(&d->member_sets);
	intern_deinit(&d->names);
	problems_deinit(&d->problems);
	arena_deinit(&d->arena);
	mem_free(d);
}

static bool set_paths(struct dump *d, const char *manifest, struct incore_error *e)
{
	const char *base = path_base(manifest);
	size_t n = (size_t)(base - manifest);

	d->manifest = arena_strdup(&d->arena, manifest);
	while (n > 1 && manifest[n - 1] == '/')
		n--;
	d->dir = n ? arena_strndup(&d->arena, manifest, n) : arena_strdup(&d->arena, ".");
	return (d->manifest && d->dir) || err_nomem(e);
}

/* Name of the payload file if the manifest does not state it: args.bin, or the manifest's own
 * stem. */
static const char *default_payload(struct dump *d)
{
	const char *base = path_base(d->manifest);
	char *args = path_join(d->dir, "args.bin");
	bool has_args = args && file_exists(args);
	struct str stem = str_of(base);

	mem_free(args);
	if (has_args)
		return "args.bin";
	if (str_ends(stem, ".json"))
		stem.n -= strlen(".json");
	return arena_printf(&d->arena, "%.*s.bin", STR_ARG(stem));
}

/* Loads a file of a dump that is being opened. */
static bool dump_load(
	const struct dump *d, struct file_data *f, const char *path, struct incore_error *e)
{
	return file_store_load_below(NULL, FILE_TAKE, f, d->root, d->follow_links, path, e);
}

static bool load_payload(struct dump *d, const struct manifest_reader *m, struct incore_error *e)
{
	const char *name = m->has_bin_file ? m->bin_file : default_payload(d);

	if (m->is_bin_null)
		return true;
	d->payload = name ? arena_printf(&d->arena, "%s/%s", d->dir, name) : NULL;
	if (!d->payload)
		return err_nomem(e);
	if (!file_exists(d->payload)) {
		d->is_payload_missing = true;
		return true;
	}
	if (dump_load(d, &d->bytes, d->payload, e))
		return true;
	if (!err_is(e, "link-outside"))
		return err_wrap(e, "payload of the dump");
	problems_add(&d->problems, WEIGHT_ERROR, "link-outside", PROBLEM_DUMP, "%s %s",
		path_base(d->payload), e->message ? e->message : "");
	incore_error_clear(e);
	d->is_payload_missing = true;
	return true;
}

/* Reports regions that exceed the payload file. */
static void check_bounds(struct dump *d)
{
	for (size_t i = 0; i < d->records.n; i++) {
		struct dump_record *r = &d->records.v[i];
		struct problem at = {.task_id = r->task_id,
			.has_task = true,
			.slot = r->slot,
			.record = (uint32_t)i,
			.note.offset = r->at};

		if (!r->bin_size)
			continue;
		if (d->payload && !d->is_payload_missing && r->bin_size <= d->bytes.size &&
			r->bin_offset <= d->bytes.size - r->bin_size)
			continue;
		r->flags |= DUMP_OUT_OF_FILE;
		if (!d->payload)
			problems_add(&d->problems, WEIGHT_ERROR, "no-payload-file", at,
				"record %zu has %llu bytes of payload, but no payload file is named",
				i, (unsigned long long)r->bin_size);
		else if (d->is_payload_missing)
			problems_add(&d->problems, WEIGHT_ERROR, "payload-missing", at,
				"record %zu has %llu bytes of payload in %s, which is not there", i,
				(unsigned long long)r->bin_size, path_base(d->payload));
		else
			problems_add(&d->problems, WEIGHT_ERROR, "out-of-file", at,
				"record %zu: bytes %llu to %llu are beyond the end of %s (%zu bytes)",
				i, (unsigned long long)r->bin_offset,
				(unsigned long long)r->bin_offset + r->bin_size,
				path_base(d->payload), d->bytes.size);
	}
}

static bool open_manifest(struct dump *d, const char *manifest, struct incore_error *e)
{
	struct manifest_reader m = {.d = d};
	struct file_data f = {0};
	bool ok;

	ok = set_paths(d, manifest, e) &&
	     (d->root ? dump_load(d, &f, manifest, e) : file_load(&f, manifest, e)) &&
	     manifest_read(&m, f.data, f.size, manifest, e);
	file_unload(&f);
	if (!d->root) /* the manifest was named directly: the rest lies beside it */
		d->root = d->dir;
	if (!ok || !load_payload(d, &m, e) || !companions_read(d, e) || !dump_fold(d, e))
		return false;
	check_bounds(d);
	return true;
}

struct dump *dump_open(const char *path, bool follow_links, struct incore_error *e)
{
	char *manifest = dump_find(path, e);
	struct dump *d = manifest ? dump_new(e) : NULL;

	if (d) {
		d->root = file_is_dir(path) ? path : NULL;
		d->follow_links = follow_links;
	}
	if (d && !open_manifest(d, manifest, e)) {
		dump_free(d);
		d = NULL;
	}
	if (d && d->problems.is_failed) {
		err_nomem(e);
		dump_free(d);
		d = NULL;
	}
	mem_free(manifest);
	return d;
}

struct dump *dump_from_bytes(
	const void *json, size_t size, const char *path, struct incore_error *e)
{
	struct dump *d = dump_new(e);
	struct manifest_reader m = {.d = d};

	if (!d)
		return NULL;
	if (!set_paths(d, path, e) || !manifest_read(&m, json, size, path, e) || !dump_fold(d, e)) {
		dump_free(d);
		return NULL;
	}
	check_bounds(d);
	return d;
}

struct dump *dump_open_records(
	const char *path, const char *layout, const char *arena, struct incore_error *e)
{
	struct dump *d = dump_new(e);
	struct file_data f = {0};
	bool ok = d && set_paths(d, path, e) && file_load(&f, path, e) &&
		  records_read(d, f.data, f.size, layout, e) &&
		  (!arena || records_use_arena(d, arena, e));

	file_unload(&f);
	if (ok && !arena)
		records_without_arena(d);
	if (ok && dump_fold(d, e)) {
		check_bounds(d);
		return d;
	}
	dump_free(d);
	return NULL;
}
