/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c: ops a second through the engine of the embedded model, on one core: sums only, with
 * races, and with all slices kept; for N, 2 N and 4 N ops, so that growth is seen.
 *	model [OPS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/engine/engine.h"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool push_pair(struct opstream *s, enum op_pipe a, enum op_pipe b, int id)
{
	struct op_desc set = op_desc_flag(OPK_SET, a, b, id, 10);
	struct op_desc wait = op_desc_flag(OPK_WAIT, a, b, id, 11);

	return opstream_push(s, &set, NULL) && opstream_push(s, &wait, NULL);
}

static bool push_move(struct opstream *s, bool is_load, uint64_t ub, uint64_t gm)
{
	static const uint32_t shape[5] = {1, 1, 1, 16, 128};
	struct op_desc d = op_desc_of(OPK_OP, is_load ? OPP_MTE2 : OPP_MTE3,
		is_load ? "TLOAD" : "TSTORE", is_load ? 20 : 22);

	if (is_load) {
		op_desc_tile(&d, ROLE_DST, DT_F16, 16, 128, ub);
		op_desc_gm(&d, ROLE_SRC, DT_F16, shape, 0, gm);
	} else {
		op_desc_gm(&d, ROLE_DST, DT_F16, shape, 1, gm);
		op_desc_tile(&d, ROLE_SRC, DT_F16, 16, 128, ub);
	}
	return opstream_push(s, &d, NULL);
}

static bool push_add(struct opstream *s, uint64_t x, uint64_t y)
{
	struct op_desc d = op_desc_of(OPK_OP, OPP_V, "TADD", 21);

	op_desc_tile(&d, ROLE_DST, DT_F16, 16, 128, y);
	op_desc_tile(&d, ROLE_SRC, DT_F16, 16, 128, x);
	op_desc_tile(&d, ROLE_SRC, DT_F16, 16, 128, x);
	return opstream_push(s, &d, NULL);
}

/* Load, add, store with two buffers; 11 ops a turn. */
static bool make(struct opstream_set *set, uint64_t n)
{
	struct opstream *s = opstream_set_new(set, NULL);
	bool ok = s != NULL;

	if (!ok)
		return false;
	s->core = CORE_AIV;
	s->is_complete = true;
	for (uint8_t i = 0; i < 2; i++)
		ok = ok && VEC_PUSH(&s->slots, (struct op_slot){.slot = i,
						       .flags = SLOT_TENSOR,
						       .alloc = i,
						       .bytes = 1u << 30});
	for (uint64_t i = 0; ok && s->ops.n < n; i++) {
		uint64_t x = i % 2 * 8192, y = 16384 + i % 2 * 8192, gm = i * 4096 % (1u << 30);

		ok = push_pair(s, OPP_V, OPP_MTE2, (int)(i % 2)) && push_move(s, true, x, gm) &&
		     push_pair(s, OPP_MTE2, OPP_V, (int)(i % 2)) &&
		     push_pair(s, OPP_MTE3, OPP_V, (int)(i % 2)) && push_add(s, x, y) &&
		     push_pair(s, OPP_V, OPP_MTE3, (int)(i % 2)) && push_move(s, false, y, gm);
	}
	return ok && opstream_seal(s, NULL);
}

static void measure(const struct opstream_set *set, const struct profile *p, const char *name,
	bool races, bool slices)
{
	struct engine_options o = {.profile = p, .find_races = races, .keep_slices = slices};
	struct timed t;
	double before = now_s(), s;

	if (!engine_run(set, &o, &t, NULL)) {
		printf("model %s: failed\n", name);
		return;
	}
	s = now_s() - before;
	printf("model %-22s %9llu ops  %7.3f s  %6.2f M ops/s  %zu findings\n", name,
		(unsigned long long)t.n_ops, s, (double)t.n_ops / s / 1e6, t.findings.n);
	timed_deinit(&t);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 500000;
	struct profile p;

	if (!profile_load(&p, "910b1", ARCH_A2A3, NULL)) {
		fputs("no profiles: set INCORE_PROFILES\n", stderr);
		return 1;
	}
	for (int k = 0; k < 3; k++, n *= 2) {
		struct opstream_set set;

		opstream_set_init(&set);
		if (make(&set, n)) {
			measure(&set, &p, "sums", false, false);
			measure(&set, &p, "sums, races", true, false);
			measure(&set, &p, "slices, races", true, true);
		}
		opstream_set_deinit(&set);
	}
	profile_deinit(&p);
	return 0;
}
