/* SPDX-License-Identifier: Apache-2.0 */
/* dump_tools.c: a dump in a directory of its own, made and read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dump_tools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump/repair.h"

static char dir_name[64];

int tool_make_dir(void **state)
{
	(void)state;
	strcpy(dir_name, "/tmp/incore-dump-XXXXXX");
	return mkdtemp(dir_name) ? 0 : -1;
}

int tool_remove_dir(void **state)
{
	DIR *d = opendir(dir_name);
	struct dirent *ent;

	(void)state;
	while (d && (ent = readdir(d)) != NULL)
		unlinkat(dirfd(d), ent->d_name, 0);
	if (d)
		closedir(d);
	return rmdir(dir_name);
}

const char *tool_dir(void)
{
	return dir_name;
}

char *tool_path(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir_name, name);
	return path;
}

struct incore_dump_options tool_options(void)
{
	struct incore_dump_options o;

	incore_dump_options_init(&o);
	o.ring_bytes = 65536;
	o.arena_bytes = 65536;
	return o;
}

struct incore_dump *tool_open(const struct incore_dump_options *o)
{
	struct incore_dump *d = NULL;

	assert_int_equal(incore_dump_open(&d, dir_name, o), 0);
	assert_non_null(d);
	return d;
}

struct incore_dump_writer *tool_attach(struct incore_dump *d)
{
	struct incore_dump_writer *w = NULL;

	assert_int_equal(incore_dump_attach(d, &w), 0);
	return w;
}

void tool_task(struct incore_dump_writer *w, uint64_t task_id, uint32_t tensors, uint32_t scalars)
{
	struct incore_dump_task t = {.task_id = task_id,
		.dispatch_id = task_id & 0xffff,
		.block_num = 1,
		.tensor_count = tensors,
		.scalar_count = scalars,
		.func_count = 1,
		.func_ids = {42},
		.kernel = "kernel"};

	assert_int_equal(incore_dump_put_task(w, &t), 0);
}

int tool_row(struct incore_dump_writer *w, uint64_t task_id, uint32_t slot, const uint64_t *data,
	uint64_t n)
{
	struct incore_dump_tensor t = {
		.slot = {.task_id = task_id, .dispatch_id = task_id & 0xffff, .index = slot},
		.dtype = INCORE_DUMP_UINT64,
		.rank = 1,
		.data = data,
		.shape = &n};

	return incore_dump_put_tensor(w, &t);
}

int tool_scalar(struct incore_dump_writer *w, uint64_t task_id, uint32_t slot, uint64_t raw)
{
	struct incore_dump_scalar s = {
		.slot = {.task_id = task_id, .dispatch_id = task_id & 0xffff, .index = slot},
		.dtype = INCORE_DUMP_UINT64,
		.raw = raw};

	return incore_dump_put_scalar(w, &s);
}

json_t *tool_manifest(const char *name)
{
	json_error_t e;
	json_t *m;

	if (access(tool_path(name), F_OK) != 0)
		return NULL;
	m = json_load_file(tool_path(name), JSON_REJECT_DUPLICATES, &e);
	if (!m)
		print_error("%s:%d: %s\n", name, e.line, e.text);
	assert_non_null(m);
	return m;
}

json_t *tool_close(struct incore_dump *d)
{
	json_t *m;

	assert_int_equal(incore_dump_close(d), 0);
	m = tool_manifest("args_dump.json");
	assert_non_null(m);
	assert_int_not_equal(access(tool_path("args.log"), F_OK), 0);
	return m;
}

json_t *tool_repair(void)
{
	struct repair_report report;
	struct incore_error e = {0};
	bool ok = dump_repair(dir_name, &report, &e);
	json_t *m;

	if (!ok)
		print_error("%s\n", e.message);
	assert_true(ok);
	repair_report_deinit(&report);
	m = tool_manifest("args_dump.json");
	assert_true(json_is_true(json_object_get(m, "repaired")));
	return m;
}

static json_t *array_of(json_t *m)
{
	json_t *a = json_object_get(m, "args");

	return a ? a : json_object_get(m, "tensors");
}

json_t *tool_record(json_t *manifest, size_t i)
{
	json_t *r = json_array_get(array_of(manifest), i);

	assert_non_null(r);
	return r;
}

size_t tool_records(json_t *manifest)
{
	return json_array_size(array_of(manifest));
}

uint64_t tool_u64(json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	if (!json_is_integer(v))
		print_error("no integer %s\n", key);
	assert_true(json_is_integer(v));
	return (uint64_t)json_integer_value(v);
}

const char *tool_string(json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	if (!s)
		print_error("no string %s\n", key);
	assert_non_null(s);
	return s;
}

int tool_flag(json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

void tool_expect_payload(json_t *record, const char *bin, const void *want, size_t n)
{
	uint64_t at = tool_u64(record, "bin_offset");
	uint8_t *got = malloc(n + 1);
	FILE *f = fopen(tool_path(bin), "rb");

	assert_non_null(got);
	assert_non_null(f);
	assert_int_equal(tool_u64(record, "bin_size"), n);
	assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
	assert_int_equal(fread(got, 1, n, f), n);
	assert_memory_equal(got, want, n);
	fclose(f);
	free(got);
}
