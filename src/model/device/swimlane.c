/* SPDX-License-Identifier: Apache-2.0 */
/* swimlane.c: reads the files that the runtime writes for a profiled step. */
#include "model/device/swimlane.h"

#include <stdlib.h>

#include "args/dtype.h"
#include "base/file.h"
#include "base/map.h"
#include "base/search.h"
#include "codec/json_reader.h"

#define MAX_BLOCKS 4096 /* of one task */

struct swim_reader {
	struct swimlane *s;
	struct json_reader r;
	struct u64_map tasks, tensors; /* id -> index + 1 */
	VEC(const char *) names;       /* by func id */
	struct incore_error *e;
};

/* --- reading --- */

/* Reads an id: a 64-bit number, possibly as text. */
static bool get_id(struct json_reader *r, uint64_t *out)
{
	struct str text;
	uint64_t v = 0;

	if (json_peek(r) != JSON_STRING)
		return json_get_u64(r, out);
	if (!json_get_str(r, &text))
		return false;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(text.p[i] - '0'), &v))
			return json_reject(
				r, "bad-value", "expected an id, found '%.*s'", STR_ARG(text));
	}
	*out = v;
	return true;
}

/* Opens a file and reads the members of its object. */
static bool read_object(struct swim_reader *x, const char *path,
	bool (*member)(struct swim_reader *, struct str key))
{
	struct file_data f = {0};
	struct str key;
	bool ok;

	if (!file_load(&f, path, x->e))
		return false;
	json_init(&x->r, f.data, f.size, path, 0);
	for (json_enter_object(&x->r); json_next_key(&x->r, &key);)
		if (!member(x, key))
			break;
	ok = json_finish(&x->r, x->e);
	json_deinit(&x->r);
	file_unload(&f);
	return ok;
}

static bool read_name(struct swim_reader *x, struct str key)
{
	struct str id, name;

	if (!str_is(key, "callable_id_to_name"))
		return json_skip(&x->r);
	for (json_enter_object(&x->r); json_next_key(&x->r, &id);) {
		unsigned long at = strtoul(id.p, NULL, 10);

		if (!json_get_str(&x->r, &name))
			return false;
		while (at < 1u << 20 && x->names.n <= at)
			if (!VEC_PUSH(&x->names, (const char *)NULL))
				return json_reject(&x->r, "no-memory", "out of memory");
		if (at < x->names.n)
			x->names.v[at] = arena_strndup(&x->s->arena, name.p, name.n);
	}
	return true;
}

/* --- deps.json --- */

static uint32_t tensor_of(struct swim_reader *x, uint64_t id)
{
	uint64_t *at = u64_map_at(&x->tensors, id);

	if (at && !*at && VEC_PUSH(&x->s->tensors, (struct swim_tensor){.id = id}))
		*at = x->s->tensors.n;
	return at && *at ? (uint32_t)(*at - 1) : SWIM_NONE;
}

static bool read_arg(struct swim_reader *x, struct swim_task *t)
{
	struct swim_arg a = {.tensor = SWIM_NONE};
	struct str key, type;
	uint64_t id;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "idx")) {
			json_get_u32(&x->r, &a.idx);
		} else if (str_is(key, "type") && json_get_str(&x->r, &type)) {
			a.is_written = !str_is(type, "INPUT");
		} else if (str_is(key, "tensor_id")) {
			if (get_id(&x->r, &id))
				a.tensor = tensor_of(x, id);
		} else {
			json_skip(&x->r);
		}
	}
	if (a.tensor != SWIM_NONE)
		x->s->tensors.v[a.tensor].is_written |= a.is_written;
	t->n_args++;
	return VEC_PUSH(&x->s->args, a);
}

/* The name of a mixed kernel is that of both sides without the part that differs. */
static struct str task_name(const struct swim_reader *x, const struct swim_task *t)
{
	bool is_mixed = t->funcs[0] >= 0 && (t->funcs[1] >= 0 || t->funcs[2] >= 0);
	struct str name = {"", 0};

	for (unsigned i = 0; i < 3 && !name.n; i++)
		if (t->funcs[i] >= 0 && (size_t)t->funcs[i] < x->names.n && x->names.v[t->funcs[i]])
			name = str_of(x->names.v[t->funcs[i]]);
	if (is_mixed && (str_ends(name, "_aic") || str_ends(name, "_aiv")))
		name.n -= 4;
	return name;
}

static bool put_kernel(struct swim_reader *x, struct swim_task *t)
{
	struct str name = task_name(x, t);
	struct swim_kernel k = {.first_task = (uint32_t)x->s->tasks.n};
	size_t i = 0;

	if (!name.n)
		return json_reject(&x->r, "no-name",
			"a task of kernel %lld, which no name map names",
			(long long)(t->funcs[0] >= 0 ? t->funcs[0] : t->funcs[1]));
	while (i < x->s->kernels.n && !str_is(name, x->s->kernels.v[i].name))
		i++;
	if (i == x->s->kernels.n) {
		k.name = arena_strndup(&x->s->arena, name.p, name.n);
		if (!k.name || !VEC_PUSH(&x->s->kernels, k))
			return json_reject(&x->r, "no-memory", "out of memory");
	}
	t->kernel = (uint32_t)i;
	x->s->kernels.v[i].n_tasks++;
	return true;
}

static bool read_task(struct swim_reader *x)
{
	struct swim_task t = {
		.blocks = 1, .funcs = {-1, -1, -1}, .first_arg = (uint32_t)x->s->args.n};
	struct str key;
	uint64_t *at;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "task_id")) {
			get_id(&x->r, &t.id);
		} else if (str_is(key, "block_num")) {
			if (json_get_u32(&x->r, &t.blocks) && (!t.blocks || t.blocks > MAX_BLOCKS))
				json_reject(
					&x->r, "bad-value", "expected 1 to %d blocks", MAX_BLOCKS);
		} else if (str_is(key, "kernel_ids")) {
			if (json_enter_array(&x->r) && json_read_i64s(&x->r, 3, t.funcs) == 3)
				while (json_next_item(&x->r))
					json_skip(&x->r);
		} else if (str_is(key, "args")) {
			for (json_enter_array(&x->r); json_next_item(&x->r);)
				if (!read_arg(x, &t))
					return json_reject(&x->r, "no-memory", "out of memory");
		} else {
			json_skip(&x->r);
		}
	}
	if (x->r.is_failed || !put_kernel(x, &t))
		return false;
	at = u64_map_at(&x->tasks, t.id);
	if (!at || !VEC_PUSH(&x->s->tasks, t))
		return json_reject(&x->r, "no-memory", "out of memory");
	*at = x->s->tasks.n;
	return true;
}

static bool read_tensor(struct swim_reader *x)
{
	uint64_t id = 0, numel = 0;
	struct str key, dtype = {"", 0};
	uint32_t at;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "tensor_id"))
			get_id(&x->r, &id);
		else if (str_is(key, "buffer_numel"))
			get_id(&x->r, &numel);
		else if (str_is(key, "dtype"))
			json_get_str(&x->r, &dtype);
		else
			json_skip(&x->r);
	}
	at = tensor_of(x, id);
	if (at == SWIM_NONE)
		return json_reject(&x->r, "no-memory", "out of memory");
	x->s->tensors.v[at].bytes =
		numel < UINT64_MAX / 64 ? numel * dtype_bits(dtype_of_name(dtype.p, dtype.n)) / 8
					: 0;
	return true;
}

/* Tasks that only allocate memory are in no list: their edges are ignored. */
static bool read_edge(struct swim_reader *x)
{
	uint64_t pred = 0, succ = 0, *a, *b;
	struct str key;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "pred"))
			get_id(&x->r, &pred);
		else if (str_is(key, "succ"))
			get_id(&x->r, &succ);
		else
			json_skip(&x->r);
	}
	a = u64_map_find(&x->tasks, pred);
	b = u64_map_find(&x->tasks, succ);
	if (a && b &&
		!VEC_PUSH(&x->s->edges, (struct swim_edge){(uint32_t)(*a - 1), (uint32_t)(*b - 1)}))
		return json_reject(&x->r, "no-memory", "out of memory");
	return true;
}

static bool read_deps(struct swim_reader *x, struct str key)
{
	bool (*read)(struct swim_reader *) = str_is(key, "tasks")     ? read_task
					     : str_is(key, "tensors") ? read_tensor
					     : str_is(key, "edges")   ? read_edge
								      : NULL;

	if (!read)
		return json_skip(&x->r);
	for (json_enter_array(&x->r); json_next_item(&x->r);)
		if (!read(x))
			return false;
	return true;
}

/* --- the records --- */

static bool read_metadata(struct swim_reader *x)
{
	struct str key, kind;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "clock_freq_hz")) {
			json_get_u64(&x->r, &x->s->tick_hz);
		} else if (str_is(key, "core_types")) {
			for (json_enter_array(&x->r); json_next_item(&x->r);)
				if (json_get_str(&x->r, &kind) &&
					!VEC_PUSH(&x->s->is_aiv, str_is(kind, "aiv")))
					return json_reject(&x->r, "no-memory", "out of memory");
		} else {
			json_skip(&x->r);
		}
	}
	return true;
}

static bool read_record(struct swim_reader *x, struct str key)
{
	int64_t row[5];

	if (str_is(key, "metadata"))
		return read_metadata(x);
	if (!str_is(key, "aicore_tasks"))
		return json_skip(&x->r);
	for (json_enter_array(&x->r); json_read_i64_rows(&x->r, 5, 1, row) == 1;) {
		uint64_t *at = u64_map_find(&x->tasks, (uint64_t)row[1]);
		struct swim_run run = {.core = (uint32_t)row[0],
			.start = (uint64_t)row[3],
			.end = (uint64_t)row[4]};

		if (row[0] < 0 || row[0] > 65535 || row[3] < 0 || row[4] < row[3])
			return json_reject(&x->r, "bad-value",
				"the core or the times of a task are out of range");
		if (!at)
			continue; /* from an earlier run */
		run.task = (uint32_t)(*at - 1);
		if (!VEC_PUSH(&x->s->runs, run))
			return json_reject(&x->r, "no-memory", "out of memory");
	}
	return true;
}

ORDER(by_start, struct swim_run, UP(start) UP(core) UP(task))

/* Determines which cores each task and its kernel ran on. */
static bool swimlane_count_runs(struct swim_reader *x, const char *path)
{
	struct swimlane *s = x->s;

	if (!s->tick_hz || !s->runs.n)
		return err_file(x->e, "no-timings", path, INCORE_NO_OFFSET,
			"no timings of this step's tasks: expected metadata.clock_freq_hz, and aicore_tasks with tasks of deps.json");
	EACH (const struct swim_run, r, s->runs.v, s->runs.n) {
		struct swim_task *t = &s->tasks.v[r->task];

		if (r->core >= s->is_aiv.n)
			return err_file(x->e, "bad-core", path, INCORE_NO_OFFSET,
				"a task ran on core %u, of %zu", r->core, s->is_aiv.n);
		if (s->is_aiv.v[r->core])
			t->n_aiv++;
		else
			t->n_aic++;
	}
	SORT(s->runs.v, s->runs.n, by_start);
	return true;
}

static void settle_kernels(struct swimlane *s)
{
	EACH (struct swim_task, t, s->tasks.v, s->tasks.n) {
		struct swim_kernel *k = &s->kernels.v[t->kernel];
		uint32_t blocks;

		if (!s->runs.n) { /* no times: assume how it would run */
			t->n_aic = t->funcs[0] >= 0 ? t->blocks : 0;
			t->n_aiv = ((t->funcs[1] >= 0) + (t->funcs[2] >= 0)) * t->blocks;
		}
		blocks = t->n_aic ? t->n_aic : t->n_aiv;

		k->is_aic |= t->funcs[0] >= 0;
		k->is_aiv |= t->funcs[1] >= 0 || t->funcs[2] >= 0;
		k->n_runs += t->n_aic + t->n_aiv;
		k->blocks = blocks > k->blocks ? blocks : k->blocks;
	}
}

static bool is_name_map(void *ctx, const char *name, struct incore_error *e)
{
	const char **found = ctx;

	(void)e;
	if (strncmp(name, "name_map", 8) == 0 && str_ends(str_of(name), ".json") && !*found)
		*found = mem_strndup(name, strlen(name));
	return true;
}

static bool load_names(struct swim_reader *x, const char *dir)
{
	char *name = NULL;
	char *path;
	bool ok = dir_each(dir, is_name_map, &name, x->e);

	if (ok && !name)
		ok = err_file(x->e, "no-name-map", dir, INCORE_NO_OFFSET,
			"no name_map*.json here: it says what the kernels are called");
	path = ok ? path_join(dir, name) : NULL;
	ok = ok && (path ? read_object(x, path, read_name) : err_nomem(x->e));
	mem_free(path);
	mem_free(name);
	return ok;
}

bool swimlane_load(
	struct swimlane *s, const char *records, const char *deps, struct incore_error *e)
{
	struct swim_reader x = {.s = s, .e = e};
	const char *beside = records ? records : deps;
	char *dir = mem_strndup(beside, (size_t)(path_base(beside) - beside));
	char *own = dir && !deps ? path_join(*dir ? dir : ".", "deps.json") : NULL;
	bool ok = dir && (deps || own);

	*s = (struct swimlane){0};
	arena_init(&s->arena);
	ok = ok ? load_names(&x, *dir ? dir : ".") &&
			     read_object(&x, deps ? deps : own, read_deps) &&
			     (!records || (read_object(&x, records, read_record) &&
						  swimlane_count_runs(&x, records)))
		: err_nomem(e);
	if (ok)
		settle_kernels(s);
	u64_map_deinit(&x.tasks);
	u64_map_deinit(&x.tensors);
	VEC_FREE(&x.names);
	mem_free(dir);
	mem_free(own);
	if (!ok)
		swimlane_deinit(s);
	return ok;
}

void swimlane_deinit(struct swimlane *s)
{
	VEC_FREE(&s->is_aiv);
	VEC_FREE(&s->kernels);
	VEC_FREE(&s->tasks);
	VEC_FREE(&s->args);
	VEC_FREE(&s->tensors);
	VEC_FREE(&s->edges);
	VEC_FREE(&s->runs);
	arena_deinit(&s->arena);
}

double swimlane_us(const struct swimlane *s, uint64_t ticks)
{
	return (double)ticks * 1e6 / (double)s->tick_hz;
}
