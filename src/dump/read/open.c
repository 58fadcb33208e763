/* SPDX-License-Identifier: Apache-2.0 */
/* open.c: opens a dump from a path (find, read, join, fold) and frees it. */
#include <string.h>

#include "base/file_store.h"
#include "dump/read/deps.h"
#include "dump/read/find.h"
#include "dump/read/fold.h"
#include "dump/read/manifest_read.h"
#include "dump/read/record_read.h"

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

bool dump_load(const struct dump *d, struct file_data *f, const char *path, struct incore_error *e)
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
	problems_add(&d->problems, PROBLEM_DEFECT, "link-outside", PROBLEM_DUMP, "%s %s",
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
			.at = r->at};

		if (!r->bin_size)
			continue;
		if (d->payload && !d->is_payload_missing && r->bin_size <= d->bytes.size &&
			r->bin_offset <= d->bytes.size - r->bin_size)
			continue;
		r->flags |= DUMP_OUT_OF_FILE;
		if (!d->payload)
			problems_add(&d->problems, PROBLEM_DEFECT, "no-payload-file", at,
				"record %zu has %llu bytes of payload, but no payload file is named",
				i, (unsigned long long)r->bin_size);
		else if (d->is_payload_missing)
			problems_add(&d->problems, PROBLEM_DEFECT, "payload-missing", at,
				"record %zu has %llu bytes of payload in %s, which is not there", i,
				(unsigned long long)r->bin_size, path_base(d->payload));
		else
			problems_add(&d->problems, PROBLEM_DEFECT, "out-of-file", at,
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
