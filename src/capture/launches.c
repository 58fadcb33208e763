/* SPDX-License-Identifier: Apache-2.0 */
/* launches.c: reading the kernel traces of a discovery run. */
#include "capture/launches.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/search.h"
#include "codec/csv.h"

struct csv_places {
	int dispatch, kernel_id, name, start, end;
};

void launches_init(struct launches *l)
{
	*l = (struct launches){0};
	arena_init(&l->arena);
}

void launches_deinit(struct launches *l)
{
	VEC_FREE(&l->kernels);
	VEC_FREE(&l->v);
	arena_deinit(&l->arena);
}

/* The kernel of this process and id, made where it is new; UINT32_MAX: no memory. */
static uint32_t kernel_of(struct launches *l, uint64_t id, struct str name)
{
	struct seen_kernel k = {.id = id, .process = l->n_processes};

	for (size_t i = 0; i < l->kernels.n; i++)
		if (l->kernels.v[i].process == k.process && l->kernels.v[i].id == id)
			return (uint32_t)i;
	k.name = arena_strndup(&l->arena, name.p, name.n);
	return k.name && VEC_PUSH(&l->kernels, k) ? (uint32_t)l->kernels.n - 1 : UINT32_MAX;
}

static bool bad_row(const struct csv_reader *c, struct incore_error *e)
{
	return err_set(e, INCORE_BAD_INPUT, "bad-kernel-trace",
		"%s:%u: expected numbers for Dispatch_Id, Kernel_Id, Start_Timestamp and End_Timestamp",
		c->path, c->line);
}

static bool add_row(struct launches *l, const struct csv_reader *c, const struct csv_places *p,
	struct incore_error *e)
{
	struct launch x = {0};
	uint64_t id, start, end;

	if (!str_to_u64(csv_field(c, p->dispatch), &x.dispatch) ||
		!str_to_u64(csv_field(c, p->kernel_id), &id) ||
		!str_to_u64(csv_field(c, p->start), &start) ||
		!str_to_u64(csv_field(c, p->end), &end) || end < start)
		return bad_row(c, e);
	x.ns = end - start;
	x.kernel = kernel_of(l, id, csv_field(c, p->name));
	return (x.kernel != UINT32_MAX && VEC_PUSH(&l->v, x)) || err_nomem(e);
}

static bool read_file(struct launches *l, const char *path, struct incore_error *e)
{
	struct file_data f = {0};
	struct csv_reader c;
	struct csv_places p;
	bool at_end = false, ok;

	if (!file_load(&f, path, e))
		return false;
	csv_init(&c, f.data, f.size, path);
	ok = csv_header(&c, e);
	p = (struct csv_places){csv_column(&c, "Dispatch_Id"), csv_column(&c, "Kernel_Id"),
		csv_column(&c, "Kernel_Name"), csv_column(&c, "Start_Timestamp"),
		csv_column(&c, "End_Timestamp")};
	if (ok && (p.dispatch < 0 || p.kernel_id < 0 || p.name < 0 || p.start < 0 || p.end < 0))
		ok = err_file(e, "bad-kernel-trace", path, INCORE_NO_OFFSET,
			"a kernel trace has the columns Dispatch_Id, Kernel_Id, Kernel_Name, Start_Timestamp and End_Timestamp");
	while (ok && csv_row(&c, &at_end, e))
		ok = add_row(l, &c, &p, e);
	ok = ok && at_end;
	csv_deinit(&c);
	file_unload(&f);
	l->n_processes += ok;
	return ok;
}

struct listing {
	struct launches *l;
	const char *dir;
	unsigned depth;
};

static bool look_at(void *ctx, const char *name, struct incore_error *e)
{
	struct listing *x = ctx;
	char *path = path_join(x->dir, name);
	struct listing below = {x->l, path, x->depth + 1};
	bool ok = true;

	if (!path)
		return err_nomem(e);
	if (str_ends(str_of(name), "_kernel_trace.csv"))
		ok = read_file(x->l, path, e);
	else if (x->depth < 2 && file_is_dir(path))
		ok = dir_each(path, look_at, &below, e);
	mem_free(path);
	return ok;
}

bool launches_read(struct launches *l, const char *dir, struct incore_error *e)
{
	return dir_each(dir, look_at, &(struct listing){l, dir, 0}, e);
}

static int by_process_and_dispatch(const void *pa, const void *pb, void *ctx)
{
	const struct launch *a = pa, *b = pb;
	const struct seen_kernel *k = ctx;

	if (k[a->kernel].process != k[b->kernel].process)
		return k[a->kernel].process < k[b->kernel].process ? -1 : 1;
	return a->dispatch < b->dispatch ? -1 : a->dispatch > b->dispatch;
}

static int by_time(const void *pa, const void *pb, void *ctx)
{
	const struct seen_kernel *k = ctx;
	const struct seen_kernel *a = k + *(const uint32_t *)pa, *b = k + *(const uint32_t *)pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Kernels in their order; launches keep pointing at theirs. */
static bool sort_kernels(struct launches *l, struct incore_error *e)
{
	size_t n = l->kernels.n;
	uint32_t *order = arena_zalloc(&l->arena, n + 1, sizeof(*order));
	uint32_t *place = arena_zalloc(&l->arena, n + 1, sizeof(*place));
	struct seen_kernel *copy =
		n ? arena_memdup(&l->arena, l->kernels.v, n * sizeof(*copy)) : NULL;

	if (!order || !place || (n && !copy))
		return err_nomem(e);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	if (n)
		qsort_r(order, n, sizeof(*order), by_time, copy);
	for (size_t i = 0; i < n; i++) {
		l->kernels.v[i] = copy[order[i]];
		place[order[i]] = (uint32_t)i;
	}
	for (size_t i = 0; i < l->v.n; i++)
		l->v.v[i].kernel = place[l->v.v[i].kernel];
	return true;
}

bool launches_finish(struct launches *l, struct incore_error *e)
{
	if (l->v.n)
		qsort_r(l->v.v, l->v.n, sizeof(*l->v.v), by_process_and_dispatch, l->kernels.v);
	for (size_t i = 0; i < l->v.n; i++) {
		struct launch *x = &l->v.v[i];
		struct seen_kernel *k = &l->kernels.v[x->kernel];

		if (!k->launches)
			k->first_dispatch = x->dispatch;
		x->ordinal = ++k->launches;
		k->total_ns += x->ns;
		k->longest_ns = x->ns > k->longest_ns ? x->ns : k->longest_ns;
	}
	return sort_kernels(l, e);
}
