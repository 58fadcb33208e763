/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mte_log.c: core<i>.mte_log.dump: requests of the transfer engines to the memories. A bus request
 * transfers its bytes at the last tick that names it; the other end of the same instruction shows
 * whether that was the L1 or the unified buffer. Bytes per microsecond become the same counters as
 * in the simulator's export (MB/s).
 */
#include <math.h>

#include "base/hash.h"
#include "base/search.h"
#include "import/ascend/ascend.h"
#include "import/ascend/camodel_line.h"

enum { END_L1 = 1, END_UB = 2 };

static uint64_t key_of(uint64_t core, uint64_t id, unsigned what)
{
	return hash_mix64(hash_mix64(core << 8 | what) ^ id);
}

static bool add_transfer(struct asc_build *b, uint64_t core, const struct dump_transfer *t)
{
	uint64_t instr = key_of(core, t->instr_id, 0), *at;
	struct asc_transfer r = {t->tick, instr, (uint32_t)t->bytes, t->is_write};

	if (t->side == DUMP_L1 || t->side == DUMP_UB) {
		at = u64_map_at(&b->transfer_end, instr);
		if (at)
			*at |= t->side == DUMP_L1 ? END_L1 : END_UB;
		return at != NULL;
	}
	if (t->side != DUMP_GM)
		return true;
	at = u64_map_at(&b->transfer_at, key_of(core, t->req_id, 1 + t->is_write));
	if (!at)
		return false;
	if (*at) {
		struct asc_transfer *had = &b->transfers.v[*at - 1];

		had->tick = had->tick > t->tick ? had->tick : t->tick;
		return true;
	}
	if (!VEC_PUSH(&b->transfers, r))
		return false;
	*at = b->transfers.n;
	return true;
}

bool asc_read_mte_log(struct asc_build *b, struct str bytes, struct str core)
{
	uint64_t key = hash_bytes(core.p, core.n, 0);
	struct dump_transfer t;
	struct str line;

	while (str_cut(&bytes, "\n", &line))
		if (dump_transfer_parse(str_trim(line), &t) && !add_transfer(b, key, &t))
			return false;
	return true;
}

/* --- counters --- */

enum series { TO_UB, TO_L1, FROM_GM, FROM_UB, FROM_L1, TO_GM, SERIES };
static const char *const names[SERIES] = {"MTE Throughput/GM_TO_UB", "MTE Throughput/GM_TO_L1",
	"MTE Throughput/GM_TO_TOTAL", "MTE Throughput/UB_TO_GM", "MTE Throughput/L1_TO_GM",
	"MTE Throughput/TOTAL_TO_GM"};

static bool is_in(const struct asc_build *b, const struct asc_transfer *t, enum series k)
{
	uint64_t *at = u64_map_find(&b->transfer_end, t->instr);
	uint64_t ends = at ? *at : 0;

	if (t->is_write != (k >= FROM_UB))
		return false;
	if (k == TO_UB || k == FROM_UB)
		return ends & END_UB;
	return k == FROM_GM || k == TO_GM || ends & END_L1;
}

ORDER(by_tick, struct asc_transfer, UP(tick) UP(instr))

static bool put_sample(struct asc_series *s, uint64_t bucket, double mhz, uint64_t bytes)
{
	/* a byte per microsecond is 1 MB/s */
	return VEC_PUSH(&s->ts, nearbyint((double)bucket * mhz)) &&
	       VEC_PUSH(&s->value, bytes * ASC_COUNTER_SCALE);
}

/* Adds a sample for each microsecond with transfers, and a zero if the next one has none. */
static bool fill(const struct asc_build *b, struct asc_series *s, enum series k, double mhz)
{
	uint64_t bucket = 0, bytes = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < b->transfers.n; i++) {
		const struct asc_transfer *t = &b->transfers.v[i];
		uint64_t at = (uint64_t)((double)t->tick / mhz);

		if (!is_in(b, t, k))
			continue;
		if (bytes && at != bucket) {
			ok = put_sample(s, bucket, mhz, bytes) &&
			     (at == bucket + 1 || put_sample(s, bucket + 1, mhz, 0));
			bytes = 0;
		}
		bucket = at;
		bytes += t->bytes;
	}
	return ok &&
	       (!bytes || (put_sample(s, bucket, mhz, bytes) && put_sample(s, bucket + 1, mhz, 0)));
}

bool asc_put_throughput(struct asc_build *b, double mhz)
{
	if (!b->transfers.n || !(mhz > 0) || !b->is_ticks)
		return true;
	SORT(b->transfers.v, b->transfers.n, by_tick);
	for (int k = 0; k < SERIES; k++) {
		struct asc_series s = {.name = names[k], .unit = "MB/s"};
		bool ok = fill(b, &s, (enum series)k, mhz);

		if (ok && s.ts.n && VEC_PUSH(&b->series, s))
			continue;
		VEC_FREE(&s.ts);
		VEC_FREE(&s.value);
		if (!ok || s.ts.n)
			return false;
	}
	return true;
}
