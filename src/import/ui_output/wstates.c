/* SPDX-License-Identifier: Apache-2.0 */
/* wstates.c: the producer's count of waves in one state over time (wstates<k>.json). */
#include "import/ui_output/ui_output.h"

#define BATCH 256

struct series_build {
	struct json_reader r;
	VEC(uint64_t) times;
	VEC(uint32_t) counts;
	bool is_nomem;
};

static void read_values(struct series_build *s, bool is_time)
{
	struct json_reader *r = &s->r;
	int64_t v[BATCH], max = is_time ? UI_MAX_TIME_CYC : UINT32_MAX;
	size_t n = BATCH;

	if (!json_enter_array_or_null(r))
		return;
	while (n == BATCH && !r->is_failed) {
		n = json_read_i64s(r, BATCH, v);
		for (size_t i = 0; i < n; i++) {
			if (v[i] < 0 || v[i] > max) {
				json_reject(r, "out-of-range", "%lld in a state series",
					(long long)v[i]);
				return;
			}
			if (is_time ? !VEC_PUSH(&s->times, (uint64_t)v[i])
				    : !VEC_PUSH(&s->counts, (uint32_t)v[i])) {
				s->is_nomem = true;
				json_reject(r, "no-memory", "out of memory");
				return;
			}
		}
	}
}

/* The state is the digit of the file's name: .../wstates3.json */
static uint32_t state_of(const char *path)
{
	const char *base = path_base(path);

	return !strncmp(base, "wstates", 7) && base[7] >= '0' && base[7] <= '4'
		       ? (uint32_t)(base[7] - '0')
		       : STATE_EMPTY;
}

static bool commit(struct series_build *s, struct trace *t, uint32_t state)
{
	struct arena *a = &t->arena;
	size_t n = s->times.n;
	uint64_t *times = arena_zalloc(a, n + 1, sizeof(*times));
	uint32_t *counts = arena_zalloc(a, n + 1, sizeof(*counts));

	if (!t->stated_series)
		t->stated_series = arena_zalloc(a, STATE_COUNT, sizeof(*t->stated_series));
	if (!times || !counts || !t->stated_series)
		return false;
	if (n) {
		memcpy(times, s->times.v, n * sizeof(*times));
		memcpy(counts, s->counts.v, n * sizeof(*counts));
	}
	if (t->n_stated_series < STATE_COUNT)
		t->stated_series[t->n_stated_series++] =
			(struct stated_series){state, (uint32_t)n, times, counts};
	return true;
}

bool ui_wstates_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct series_build s = {.is_nomem = false};
	struct str key;
	uint64_t seen = 0;
	bool ok;

	json_init(&s.r, in.p, in.n, in.path, 0);
	if (json_enter_object(&s.r))
		while (json_next_key(&s.r, &key)) {
			if (str_is(key, "time") && json_once(&s.r, &seen, 0, key))
				read_values(&s, true);
			else if (str_is(key, "state") && json_once(&s.r, &seen, 1, key))
				read_values(&s, false);
			else if (!s.r.is_failed)
				json_skip(&s.r);
		}
	ok = json_finish(&s.r, e);
	json_deinit(&s.r);
	if (ok && s.times.n != s.counts.n)
		ok = err_file(e, "bad-value", in.path, INCORE_NO_OFFSET,
			"%zu times but %zu values in a state series", s.times.n, s.counts.n);
	if (s.is_nomem || (ok && !commit(&s, b->trace, state_of(in.path))))
		ok = err_nomem(e);
	VEC_FREE(&s.times);
	VEC_FREE(&s.counts);
	return ok;
}
