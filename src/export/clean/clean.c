/* SPDX-License-Identifier: Apache-2.0 */
/* clean.c: lanes, their order and names; creates and frees the list that all of clean works on. */
#include "export/clean/clean.h"

#include "base/mem.h"
#include "base/search.h"
#include "isa/ascend.h"

void clean_init(struct clean *c, const struct clean_options *o)
{
	*c = (struct clean){.options = *o, .time_name = "us", .ticks_per_unit = 1};
	arena_init(&c->arena);
	intern_init(&c->lane_keys);
	intern_init(&c->sync_keys);
}

void clean_deinit(struct clean *c)
{
	arena_deinit(&c->arena);
	intern_deinit(&c->lane_keys);
	intern_deinit(&c->sync_keys);
	VEC_FREE(&c->lanes);
	VEC_FREE(&c->slices);
	mem_free(c->row_of);
	mem_free(c->rows);
	VEC_FREE(&c->heads);
	VEC_FREE(&c->syncs);
	VEC_FREE(&c->keys);
	VEC_FREE(&c->arrows);
	VEC_FREE(&c->waits);
	VEC_FREE(&c->counters);
	VEC_FREE(&c->span_pool);
	sb_free(&c->unmatched);
}

/* --- names --- */

static bool is_kept(const struct clean_options *o, struct str pipe)
{
	if (o->keep_all)
		return true;
	if (str_is(pipe, "SCALAR"))
		return o->keep_scalar;
	return !str_is(pipe, "FLOWCTRL") && !str_is(pipe, "CACHEMISS") && !str_is(pipe, "ALL");
}

static bool add_lanes(struct clean *c, struct str pid, struct str pipe)
{
	enum ascend_pipe number = ascend_pipe_of_lane(pipe);
	struct clean_lane k = {.order = ascend_lane(number)->dataflow * 1000 + number,
		.is_kept = is_kept(&c->options, pipe)};
	char *a = arena_strndup(&c->arena, pid.p ? pid.p : "", pid.n);
	char *b = arena_strndup(&c->arena, pipe.p ? pipe.p : "", pipe.n);

	if (!a || !b)
		return false;
	k.pid = (struct str){a, pid.n};
	k.pipe = (struct str){b, pipe.n};
	if (!VEC_PUSH(&c->lanes, k))
		return false;
	k.is_wait = true;
	return VEC_PUSH(&c->lanes, k);
}

static bool put_lane_key(struct strbuf *b, struct str pid, struct str pipe)
{
	sb_add(b, pid.p ? pid.p : "", pid.n);
	sb_putc(b, 0);
	sb_add(b, pipe.p ? pipe.p : "", pipe.n);
	return !b->failed;
}

uint32_t clean_lane_of(struct clean *c, struct str pid, struct str pipe)
{
	struct strbuf b = {0};
	uint32_t n = c->lane_keys.n, k = INTERN_NONE;

	if (put_lane_key(&b, pid, pipe))
		k = intern_add(&c->lane_keys, (struct str){b.p, b.n});
	sb_free(&b);
	if (k == INTERN_NONE || (k == n && !add_lanes(c, pid, pipe)))
		return UINT32_MAX;
	return 2 * k;
}

uint32_t clean_find_lane(const struct clean *c, struct str pid, struct str pipe)
{
	struct strbuf b = {0};
	uint32_t k = INTERN_NONE;

	if (put_lane_key(&b, pid, pipe))
		k = intern_find(&c->lane_keys, (struct str){b.p, b.n});
	sb_free(&b);
	return k == INTERN_NONE ? UINT32_MAX : 2 * k;
}

int clean_compare_lanes(const struct clean *c, uint32_t x, uint32_t y)
{
	const struct clean_lane *a = &c->lanes.v[x], *b = &c->lanes.v[y];

	RETURN_UNLESS_EQUAL(a->group, b->group);
	RETURN_UNLESS_EQUAL(a->order, b->order);
	return COMPARE(x, y);
}
