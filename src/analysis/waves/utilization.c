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

static size_t set_count(const struct utilization *u)
{
	return (size_t)u->groups->n_groups * PIPE_COUNT;
}

static void deinit_sets(void *self, void *sets)
{
	for (size_t i = 0; sets && i < set_count(self); i++)
		spans_deinit((struct spans *)sets + i);
}

struct utilization *utilization_new(const struct busy *groups, struct incore_error *e)
{
	struct utilization *u = mem_zalloc(1, sizeof(*u));

	if (u) {
		u->groups = groups;
		u->simds = mem_zalloc((size_t)groups->n_groups + 1, sizeof(*u->simds));
		u->sets = mem_zalloc(set_count(u) + 1, sizeof(*u->sets));
		for (uint32_t i = 0; u->simds && i < groups->n_groups; i++)
			u->simds[i].first = NO_TRACK;
		if (u->simds && u->sets)
			return u;
	}
	utilization_free(u);
	return err_nomem_null(e);
}

void utilization_free(struct utilization *u)
{
	if (!u)
		return;
	deinit_sets(u, u->sets);
	mem_free(u->sets);
	mem_free(u->simds);
	mem_free(u);
}

static bool utilization_track(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct utilization *u = self;
	struct spans *set = (struct spans *)mine + (size_t)u->groups->group[w->idx] * PIPE_COUNT;
	struct account a;

	if (!u->groups->has_groups)
		return true;
	account_begin(&a, w->data, w->from_cyc, w->to_cyc);
	if (!spans_add(&set[PIPE_RESIDENT], a.lo, a.hi))
		return err_nomem(e);
	while (account_next(&a)) {
		enum inst_class k = w->data->inst_class[a.i];

		if (!a.issue_cyc || !class_is_busy(k))
			continue;
		if (!spans_add(&set[pipe_of(k)], a.at.issue, a.at.end) ||
			!spans_add(&set[PIPE_ANY], a.at.issue, a.at.end))
			return err_nomem(e);
	}
	return true;
}

static bool utilization_merge(void *self, void *mine, struct incore_error *e)
{
	struct utilization *u = self;
	struct spans *sets = mine;

	for (size_t i = 0; i < set_count(u); i++)
		if (!spans_merge(&u->sets[i], &sets[i]))
			return err_nomem(e);
	return true;
}

struct collector utilization_collector(struct utilization *u)
{
	return (struct collector){u, set_count(u) * sizeof(struct spans), NULL, utilization_track,
		utilization_merge, deinit_sets};
}

bool utilization_finish(struct utilization *u, struct incore_error *e)
{
	const struct busy *g = u->groups;

	for (size_t i = 0; i < set_count(u); i++) {
		uint64_t cyc;

		if (!spans_fold(&u->sets[i]))
			return err_nomem(e);
		cyc = span_list_length(&u->sets[i].once);
		u->simds[i / PIPE_COUNT].cyc[i % PIPE_COUNT] = cyc;
		u->cyc[i % PIPE_COUNT] += cyc;
	}
	for (uint32_t i = g->trace->n_tracks; i-- > 0 && g->has_groups;)
		if (u->simds[g->group[i]].cyc[PIPE_RESIDENT])
			u->simds[g->group[i]].first = i;
	return true;
}
