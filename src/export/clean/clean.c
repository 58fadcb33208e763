/* SPDX-License-Identifier: Apache-2.0 */
/* clean.c: lanes, their order and names, and the life of the list that all of clean works on. */
#include "export/clean/clean.h"

#include "base/mem.h"
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

/* "MTE2#1" of text that was cleaned before belongs to MTE2. */
static struct str fold_row(struct clean *c, struct str pipe)
{
	ptrdiff_t at = str_rfind_char(pipe, '#');
	uint64_t k;

	if (at > 0 && str_to_u64(str_sub(pipe, (size_t)at + 1, pipe.n), &k)) {
		c->n_cleaned++;
		pipe.n = (size_t)at;
	}
	return pipe;
}

static bool add_lanes(struct clean *c, struct str pid, struct str pid_raw, struct str pipe)
{
	enum ascend_pipe number = ascend_pipe_of_lane(pipe);
	struct clean_lane k = {.order = ascend_lane(number)->dataflow * 1000 + number,
		.is_kept = is_kept(&c->options, pipe)};
	char *a = arena_strndup(&c->arena, pid.p ? pid.p : "", pid.n);
	char *b = arena_strndup(&c->arena, pid_raw.p ? pid_raw.p : "", pid_raw.n);
	char *d = arena_strndup(&c->arena, pipe.p ? pipe.p : "", pipe.n);

	if (!a || !b || !d)
		return false;
	k.pid = (struct str){a, pid.n};
	k.pid_raw = (struct str){b, pid_raw.n};
	k.pipe = (struct str){d, pipe.n};
	if (!VEC_PUSH(&c->lanes, k))
		return false;
	k.is_wait = true;
	return VEC_PUSH(&c->lanes, k);
}

uint32_t clean_lane_of(struct clean *c, struct str pid, struct str pid_raw, struct str pipe)
{
	char text[2 * CLEAN_MAX_NAME + 1];
	uint32_t n = c->lane_keys.n, k;

	pipe = fold_row(c, pipe);
	memcpy(text, pid_raw.p, pid_raw.n);
	text[pid_raw.n] = 0;
	if (pipe.n)
		memcpy(text + pid_raw.n + 1, pipe.p, pipe.n);
	k = intern_add(&c->lane_keys, (struct str){text, pid_raw.n + 1 + pipe.n});
	if (k == INTERN_NONE || (k == n && !add_lanes(c, pid, pid_raw, pipe)))
		return UINT32_MAX;
	return 2 * k;
}
