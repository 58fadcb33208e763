/* SPDX-License-Identifier: Apache-2.0 */
/* deps_read.c: deps.json and name_map_*.json, files that the run left beside its dump. */
#include <string.h>

#include "base/file_store.h"
#include "codec/json_reader.h"
#include "dump/read/deps.h"

#define MOST_COMPANION_BYTES ((int64_t)2 << 30)

static bool deps_get_number(struct json_reader *r, uint64_t *out)
{
	struct str s;

	if (json_peek(r) != JSON_STRING)
		return json_get_u64(r, out);
	if (!json_get_str(r, &s))
		return false;
	return str_to_u64(s, out) || json_reject(r, "bad-value", "expected a number, found '%.*s'",
					     (int)(s.n < 40 ? s.n : 40), s.p);
}

static bool deps_read_kernels(struct json_reader *r, struct deps_task *t)
{
	unsigned n = 0;
	int64_t v;

	json_enter_array(r);
	while (json_next_item(r)) {
		if (!json_get_i64(r, &v))
			return false;
		if (n == 3 || v < -1 || v > INT32_MAX)
			return json_reject(
				r, "bad-value", "kernel_ids: expected three ids of -1 or more");
		t->kernels[n++] = (int32_t)v;
	}
	return !r->is_failed;
}

static bool deps_read_arg(struct json_reader *r, struct deps *d)
{
	struct deps_arg a = {.dtype = DTYPE_UNKNOWN};
	struct str key, s;

	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "idx")) {
			json_get_u32(r, &a.slot);
		} else if (str_is(key, "type") && json_get_str(r, &s)) {
			a.role = str_is(s, "OUTPUT")  ? DUMP_OUTPUT
				 : str_is(s, "INOUT") ? DUMP_INOUT
						      : DUMP_INPUT;
		} else if (str_is(key, "tensor_id")) {
			a.has_tensor = deps_get_number(r, &a.tensor_id);
		} else if (str_is(key, "dtype") && json_get_str(r, &s)) {
			a.dtype = (uint8_t)dtype_of_name(s.p, s.n);
		} else if (!r->is_failed) {
			json_skip(r);
		}
	}
	if (!r->is_failed && !VEC_PUSH(&d->args, a))
		return json_reject(r, "no-memory", "out of memory");
	return !r->is_failed;
}

static bool deps_read_task(struct json_reader *r, struct deps *d)
{
	struct deps_task t = {.kernels = {-1, -1, -1}, .first_arg = (uint32_t)d->args.n};
	struct str key;
	uint64_t *at;

	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "task_id")) {
			deps_get_number(r, &t.id);
		} else if (str_is(key, "block_num")) {
			json_get_u32(r, &t.block_num);
		} else if (str_is(key, "kernel_ids")) {
			deps_read_kernels(r, &t);
		} else if (str_is(key, "args")) {
			for (json_enter_array(r); json_next_item(r);)
				if (!deps_read_arg(r, d))
					return false;
		} else {
			json_skip(r);
		}
	}
	t.n_args = (uint32_t)d->args.n - t.first_arg;
	if (r->is_failed)
		return false;
	at = u64_map_at(&d->by_id, t.id);
	if (!at || !VEC_PUSH(&d->tasks, t))
		return json_reject(r, "no-memory", "out of memory");
	*at = d->tasks.n;
	return true;
}

static bool deps_read_tensor(struct json_reader *r, struct deps *d)
{
	struct deps_tensor t = {.dtype = DTYPE_UNKNOWN};
	struct str key, s;
	uint64_t *at;

	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "tensor_id"))
			deps_get_number(r, &t.id);
		else if (str_is(key, "buffer_addr"))
			deps_get_number(r, &t.buffer_addr);
		else if (str_is(key, "buffer_numel"))
			deps_get_number(r, &t.buffer_numel);
		else if (str_is(key, "dtype") && json_get_str(r, &s))
			t.dtype = (uint8_t)dtype_of_name(s.p, s.n);
		else if (!r->is_failed)
			json_skip(r);
	}
	if (r->is_failed)
		return false;
	at = u64_map_at(&d->by_tensor, t.id);
	if (!at || !VEC_PUSH(&d->tensors, t))
		return json_reject(r, "no-memory", "out of memory");
	*at = d->tensors.n;
	return true;
}

static void deps_read_top(struct json_reader *r, struct deps *d)
{
	struct str key;

	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "tasks")) {
			for (json_enter_array(r); json_next_item(r);)
				if (!deps_read_task(r, d))
					return;
		} else if (str_is(key, "tensors")) {
			for (json_enter_array(r); json_next_item(r);)
				if (!deps_read_tensor(r, d))
					return;
		} else if (str_is(key, "edges")) {
			for (json_enter_array(r); json_next_item(r); d->n_edges++)
				json_skip(r);
		} else {
			json_skip(r);
		}
	}
}

void deps_free(struct deps *d)
{
	if (!d)
		return;
	mem_free(d->path);
	VEC_FREE(&d->tasks);
	VEC_FREE(&d->args);
	VEC_FREE(&d->tensors);
	u64_map_deinit(&d->by_id);
	u64_map_deinit(&d->by_tensor);
	mem_free(d);
}

struct deps *deps_read(const void *json, size_t size, const char *path, struct incore_error *e)
{
	struct deps *d = mem_zalloc(1, sizeof(*d));
	struct json_reader r;
	bool ok;

	if (!d || !(d->path = mem_strndup(path, strlen(path)))) {
		err_nomem(e);
		deps_free(d);
		return NULL;
	}
	json_init(&r, json, size, path, 0);
	deps_read_top(&r, d);
	ok = json_finish(&r, e);
	json_deinit(&r);
	if (ok)
		return d;
	deps_free(d);
	return NULL;
}

const struct deps_task *deps_task_find(const struct deps *d, uint64_t id)
{
	const uint64_t *at = d ? u64_map_find(&d->by_id, id) : NULL;

	return at ? &d->tasks.v[*at - 1] : NULL;
}

static const struct deps_arg *deps_arg_find(
	const struct deps *d, const struct deps_task *t, uint32_t slot)
{
	for (uint32_t i = 0; t && i < t->n_args; i++)
		if (d->args.v[t->first_arg + i].slot == slot)
			return &d->args.v[t->first_arg + i];
	return NULL;
}

static const struct deps_tensor *deps_tensor_find(const struct deps *d, uint64_t id)
{
	const uint64_t *at = d ? u64_map_find(&d->by_tensor, id) : NULL;

	return at ? &d->tensors.v[*at - 1] : NULL;
}

bool record_buffer_of(const struct dump *d, uint32_t record, struct record_buffer *out)
{
	const struct dump_record *r = &d->records.v[record];
	const struct dump_extra *x = dump_extra_of(d, record);
	const struct deps_arg *a =
		deps_arg_find(d->deps, deps_task_find(d->deps, r->task_id), r->slot);
	const struct deps_tensor *t =
		a && a->has_tensor ? deps_tensor_find(d->deps, a->tensor_id) : NULL;
	unsigned dtype;

	*out = (struct record_buffer){0};
	if (r->kind != DUMP_TENSOR)
		return false;
	if (x && x->has_buffer) {
		out->addr = x->buffer_addr;
		out->size = x->buffer_size;
	}
	if (t && !out->size) {
		dtype = t->dtype != DTYPE_UNKNOWN ? t->dtype : r->dtype;
		out->is_from_deps = !__builtin_mul_overflow(t->buffer_numel,
					    (uint64_t)dtype_bytes(dtype), &out->size) &&
				    out->size;
		if (!out->is_from_deps)
			out->size = 0;
		if (!out->addr)
			out->addr = t->buffer_addr;
	}
	return out->addr || out->size;
}

/* Reads callable_id_to_name of name_map_*.json into d->func_names. */
static bool name_map_read(
	struct dump *d, const void *json, size_t size, const char *path, struct incore_error *e)
{
	struct json_reader r;
	struct str key, name;
	bool ok;

	json_init(&r, json, size, path, 0);
	for (json_enter_object(&r); json_next_key(&r, &key);) {
		if (!str_is(key, "callable_id_to_name")) {
			json_skip(&r);
			continue;
		}
		for (json_enter_object_or_null(&r); json_next_key(&r, &key);) {
			uint64_t id = UINT64_MAX, *at;
			uint32_t index;

			if (!str_to_u64(key, &id) || !json_get_str(&r, &name)) {
				json_reject(&r, "bad-value", "expected an object of ids and names");
				break;
			}
			index = intern_add(&d->names, name);
			at = u64_map_at(&d->func_names, id);
			if (index == INTERN_NONE || !at) {
				json_reject(&r, "no-memory", "out of memory");
				break;
			}
			*at = index;
		}
	}
	ok = json_finish(&r, e);
	json_deinit(&r);
	return ok;
}

struct companions {
	struct dump *d;
	const char *dir;
};

static bool deps_read_one(
	struct dump *d, const char *dir, const char *path, bool is_deps, struct incore_error *e)
{
	struct file_data f = {0};
	struct incore_error why = {0};
	bool ok = false;

	if (file_size(path) > MOST_COMPANION_BYTES ||
		!file_store_load_below(NULL, FILE_TAKE, &f, dir, d->follow_links, path, &why)) {
		ok = false;
	} else if (is_deps) {
		d->deps = deps_read(f.data, f.size, path, &why);
		ok = d->deps != NULL;
	} else {
		ok = name_map_read(d, f.data, f.size, path, &why);
	}
	file_unload(&f);
	if (!ok && err_is(&why, "no-memory")) {
		err_move(e, &why);
		return false;
	}
	if (!ok) {
		problems_add(&d->problems, WEIGHT_WARNING, "unreadable-companion", PROBLEM_DUMP,
			"%s is not used: %s", path_base(path),
			why.message ? why.message : "too large");
		incore_error_clear(&why);
	}
	return true;
}

static bool deps_look_at(void *ctx, const char *name, struct incore_error *e)
{
	struct companions *c = ctx;
	struct str n = str_of(name);
	bool is_deps = str_is(n, "deps.json") && !c->d->deps;
	bool is_names = str_starts(n, "name_map") && str_ends(n, ".json") && !c->d->func_names.n;
	char *path;
	bool ok;

	if (!is_deps && !is_names)
		return true;
	path = path_join(c->dir, name);
	if (!path)
		return err_nomem(e);
	ok = deps_read_one(c->d, c->dir, path, is_deps, e);
	mem_free(path);
	return ok;
}

bool companions_read(struct dump *d, struct incore_error *e)
{
	struct companions c = {d, d->dir};
	struct incore_error why = {0};
	char *above;
	bool ok = dir_each(d->dir, deps_look_at, &c, e);

	if (!ok || (d->deps && d->func_names.n))
		return ok;
	/* the producer's layout: dfx_outputs/deps.json beside dfx_outputs/args_dump/ */
	above = path_join(d->dir, "..");
	if (!above)
		return err_nomem(e);
	c.dir = above;
	ok = dir_each(above, deps_look_at, &c, &why);
	mem_free(above);
	if (!ok && err_is(&why, "no-memory")) {
		err_move(e, &why);
		return false;
	}
	if (!ok)
		problems_add(&d->problems, WEIGHT_WARNING, "unreadable-companion", PROBLEM_DUMP,
			"the directory above is not searched: %s",
			why.message ? why.message : "cannot be read");
	incore_error_clear(&why);
	return true;
}
