/* SPDX-License-Identifier: Apache-2.0 */
/* utilization.c: unions of issue intervals per pipe and SIMD. */
#include "analysis/waves/utilization.h"

#include <string.h>

#include "base/mem.h"
#include "trace/account.h"

static const char *const names[PIPE_COUNT] = {
	"VALU", "MATRIX", "LDS", "VMEM", "scalar", "branch", "other", "any", "resident"};

const char *pipe_name(enum pipe p)
{
	return (unsigned)p < PIPE_COUNT ? names[p] : "unknown";
}

static enum pipe pipe_of(enum inst_class c)
{
	static const uint8_t pipes[SIMD_UNITS] = {
		[SIMD_VALU] = PIPE_VALU,
		[SIMD_MATRIX] = PIPE_MATRIX,
		[SIMD_LDS] = PIPE_LDS,
		[SIMD_VMEM] = PIPE_VMEM,
		[SIMD_SALU] = PIPE_SCALAR,
		[SIMD_SMEM] = PIPE_SCALAR,
		[SIMD_BRANCH] = PIPE_BRANCH,
		[SIMD_OTHER] = PIPE_OTHER,
		[SIMD_NONE] = PIPE_OTHER,
	};

	return (enum pipe)pipes[class_unit(c)];
}

/* Takes the lengths of one SIMD. "any" is merged from its pipes, so workers need not add to
 * both. */
static bool utilization_take_lengths(void *self, uint32_t group, struct spans *sets)
{
	struct utilization *u = self;

	for (unsigned i = 0; i < PIPE_COUNT; i++) {
		if (!spans_fold(&sets[i]))
			return false;
		u->simds[group].cyc[i] = span_list_length(&sets[i].once);
		if (i < PIPE_ANY && !spans_merge(&sets[PIPE_ANY], &sets[i]))
			return false;
	}
	return true;
}

struct utilization *utilization_new(const struct busy *groups, struct incore_error *e)
{
	struct utilization *u = mem_zalloc(1, sizeof(*u));

	if (u) {
		u->groups = groups;
		u->simds = mem_zalloc((size_t)groups->n_groups + 1, sizeof(*u->simds));
		u->sets = (struct simd_sets){.self = u,
			.done = utilization_take_lengths,
			.n_kinds = PIPE_COUNT,
			.is_flat = true,
			.group = groups->group,
			.n_groups = groups->n_groups};
		for (uint32_t i = 0; u->simds && i < groups->n_groups; i++)
			u->simds[i].first = NO_TRACK;
		if (u->simds && simd_sets_init(&u->sets, groups->trace->n_tracks))
			return u;
	}
	utilization_free(u);
	return err_nomem_null(e);
}

void utilization_free(struct utilization *u)
{
	if (!u)
		return;
	simd_sets_deinit(&u->sets);
	mem_free(u->simds);
	mem_free(u);
}

static bool utilization_track(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct utilization *u = self;
	struct spans *set;
	struct account a;

	if (!u->groups->has_groups)
		return true;
	set = simd_sets_of(&u->sets, mine, w->idx);
	account_begin(&a, w->data, w->from_cyc, w->to_cyc);
	if (!set || !spans_add(&set[PIPE_RESIDENT], a.lo, a.hi))
		return err_nomem(e);
	while (account_next(&a)) {
		enum inst_class k = w->data->inst_class[a.i];

		if (!a.issue_cyc || !class_is_busy(k))
			continue;
		if (!spans_add(&set[pipe_of(k)], a.at.issue, a.at.end))
			return err_nomem(e);
	}
	return true;
}

static bool utilization_merge(void *self, void *mine, struct incore_error *e)
{
	return simd_sets_hand_in(&((struct utilization *)self)->sets, mine) || err_nomem(e);
}

static void utilization_worker_deinit(void *self, void *mine)
{
	simd_worker_deinit(&((struct utilization *)self)->sets, mine);
}

struct collector utilization_collector(struct utilization *u)
{
	return (struct collector){u, sizeof(struct simd_worker), NULL, utilization_track,
		utilization_merge, utilization_worker_deinit};
}

bool utilization_finish(struct utilization *u, struct incore_error *e)
{
	const struct busy *g = u->groups;

	if (!simd_sets_finish(&u->sets))
		return err_nomem(e);
	for (uint32_t i = 0; i < g->n_groups; i++)
		for (unsigned k = 0; k < PIPE_COUNT; k++)
			u->cyc[k] += u->simds[i].cyc[k];
	for (uint32_t i = g->trace->n_tracks; i-- > 0 && g->has_groups;)
		if (u->simds[g->group[i]].cyc[PIPE_RESIDENT])
			u->simds[g->group[i]].first = i;
	return true;
}
