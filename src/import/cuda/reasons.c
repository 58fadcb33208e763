/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.c: the meaning of the counts of a sample, from CUPTI's names. */
#include "import/cuda/log.h"

#define STALLED "smsp__pcsamp_warps_issue_stalled_"
#define NOT_ISSUED "_not_issued"
#define MAX_REASONS 64u /* the hardware has about twenty */

/* Contexts and reasons have small numbers in our logs; others are invalid. */
static uint64_t key_of(uint32_t section, uint32_t context, uint32_t index)
{
	return ((uint64_t)section << 48) ^ ((uint64_t)context << 16) ^ index;
}

static uint32_t reason_of(struct cuda_reason_list *r, struct str name)
{
	for (uint32_t i = 0; i < r->names.n; i++)
		if (str_eq(r->names.v[i], name))
			return i;
	return r->names.n < MAX_REASONS && VEC_PUSH(&r->names, name) ? (uint32_t)r->names.n - 1
								     : MAX_REASONS;
}

static bool add_reason(struct cuda_reason_list *r, const struct cuda_log_reason *x, struct str name)
{
	struct cuda_reason_kind k = {CUDA_ISSUED, false};
	uint64_t *at;

	if (str_starts(name, STALLED))
		name = str_sub(name, strlen(STALLED), name.n);
	if (str_ends(name, NOT_ISSUED)) {
		k.is_not_issued = true;
		name.n -= strlen(NOT_ISSUED);
	}
	if (!name.n)
		return true;
	if (!str_is(name, "selected"))
		k.reason = reason_of(r, name);
	if (k.reason == MAX_REASONS)
		return r->names.n == MAX_REASONS;
	r->has_not_issued |= k.is_not_issued;
	at = u64_map_at(&r->kind_of, key_of(x->section, x->reason.context, x->reason.index));
	if (!at || *at)
		return at != NULL;
	*at = r->kinds.n + 1;
	return VEC_PUSH(&r->kinds, k);
}

bool cuda_reasons_read(struct cuda_reason_list *r, const struct cuda_log *l)
{
	bool ok = true;

	*r = (struct cuda_reason_list){0};
	for (size_t i = 0; ok && i < l->reasons.n; i++)
		ok = add_reason(r, &l->reasons.v[i], cuda_log_text(l, l->reasons.v[i].reason.name));
	return ok;
}

void cuda_reasons_deinit(struct cuda_reason_list *r)
{
	VEC_FREE(&r->names);
	VEC_FREE(&r->kinds);
	u64_map_deinit(&r->kind_of);
}

const struct cuda_reason_kind *cuda_count_of(const struct cuda_reason_list *r,
	const struct cuda_sampled_pc *x, uint32_t k, uint32_t *samples)
{
	struct cuda_stall s;
	const uint64_t *at;

	memcpy(&s, x->stalls + (size_t)k * sizeof(s), sizeof(s));
	*samples = s.samples;
	at = u64_map_find(&r->kind_of, key_of(x->section, x->context, s.reason));
	return at ? &r->kinds.v[*at - 1] : NULL;
}
