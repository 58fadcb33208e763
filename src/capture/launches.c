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

/* The kernel of this process and id, added if it is new; UINT32_MAX: no memory. */
static uint32_t kernel_of(struct launches *l, uint64_t id, struct str name)
{
	struct seen_kernel k = {
		.id = id, .process = l->n_processes, .index = (uint32_t)l->kernels.n};

	for (size_t i = 0; i < l->kernels.n; i++)
		if (l->kernels.v[i].process == k.process && l->kernels.v[i].id == id)
			return (uint32_t)i;
	k.name = arena_strndup(&l->arena, name.p, name.n);
	return k.name && VEC_PUSH(&l->kernels, k) ? (uint32_t)l->kernels.n - 1 : UINT32_MAX;
}

static bool add_row(struct launches *l, const struct csv_reader *c, const struct csv_places *p,
	struct incore_error *e)
{
	struct launch x = {.process = l->n_processes};
	uint64_t id, start, end;

	if (!str_to_u64(csv_field(c, p->dispatch), &x.dispatch) ||
		!str_to_u64(csv_field(c, p->kernel_id), &id) ||
		!str_to_u64(csv_field(c, p->start), &start) ||
		!str_to_u64(csv_field(c, p->end), &end) || end < start)
		return err_set(e, INCORE_BAD_INPUT, "bad-kernel-trace",
			"%s:%u: expected numbers for Dispatch_Id, Kernel_Id, Start_Timestamp and End_Timestamp",
			c->path, c->line);
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

ORDER(by_dispatch, struct launch, UP(process) UP(dispatch))
ORDER(by_time, struct seen_kernel, DOWN(total_ns) UP(index))

static void count_launches(struct launches *l)
{
	double all = 0;

	for (size_t i = 0; i < l->v.n; i++) {
		struct launch *x = &l->v.v[i];
		struct seen_kernel *k = &l->kernels.v[x->kernel];

		if (!k->launches)
			k->first_dispatch = x->dispatch;
		x->ordinal = (uint32_t)++k->launches;
		k->total_ns += x->ns;
		k->longest_ns = x->ns > k->longest_ns ? x->ns : k->longest_ns;
		all += (double)x->ns;
	}
	EACH (struct seen_kernel, k, l->kernels.v, l->kernels.n) {
		k->total_us = (double)k->total_ns / 1000;
		k->mean_us = k->total_us / (double)k->launches;
		k->longest_us = (double)k->longest_ns / 1000;
		k->share = all > 0 ? 100 * (double)k->total_ns / all : 0;
	}
}

bool launches_read(struct launches *l, const char *dir, struct incore_error *e)
{
	uint32_t *place;

	if (!dir_each(dir, look_at, &(struct listing){l, dir, 0}, e))
		return false;
	place = arena_zalloc(&l->arena, l->kernels.n + 1, sizeof(*place));
	if (!place)
		return err_nomem(e);
	SORT(l->v.v, l->v.n, by_dispatch);
	count_launches(l);
	SORT(l->kernels.v, l->kernels.n, by_time);
	for (uint32_t i = 0; i < l->kernels.n; i++)
		place[l->kernels.v[i].index] = i;
	for (size_t i = 0; i < l->v.n; i++)
		l->v.v[i].kernel = place[l->v.v[i].kernel];
	return true;
}
