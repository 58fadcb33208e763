/* SPDX-License-Identifier: Apache-2.0 */
/*
 * realtime.c: relation of the shader engines' clocks (realtime.json). Each sample pairs a shader
 * clock with a 100 MHz clock that all engines share.
 */
#include "import/ui_output/ui_output.h"

#include "trace/align.h"

#define MAX_FREQUENCY_HZ 1000000000000u

static void read_samples(struct json_reader *r, struct ui_build *b, uint32_t se, bool *is_nomem)
{
	VEC(int64_t) all = {0};
	struct ui_se_samples out = {.se = se};
	int64_t rows[64 * 2];
	size_t n = 64;

	if (!json_enter_array_or_null(r))
		return;
	while (n == 64 && !r->is_failed) {
		n = json_read_i64_rows(r, 2, 64, rows);
		for (size_t i = 0; i < n * 2 && !*is_nomem; i++) {
			if (rows[i] < 0)
				json_reject(r, "out-of-range", "negative clock");
			*is_nomem = !VEC_PUSH(&all, rows[i]);
		}
	}
	out.n = (uint32_t)(all.n / 2);
	out.samples = arena_zalloc(&b->trace->arena, all.n + 2, sizeof(int64_t));
	if (!out.samples || *is_nomem)
		*is_nomem = true;
	else if (all.n)
		memcpy((void *)out.samples, all.v, all.n * sizeof(int64_t));
	if (!r->is_failed && !*is_nomem && out.n)
		*is_nomem = !VEC_PUSH(&b->realtime, out);
	VEC_FREE(&all);
}

static void read_metadata(struct json_reader *r, struct ui_build *b)
{
	struct str key;
	uint64_t hz;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (!str_is(key, "frequency"))
			json_skip(r);
		else if (json_get_u64(r, &hz)) {
			if (hz == 0 || hz > MAX_FREQUENCY_HZ)
				json_reject(r, "out-of-range", "frequency %llu Hz",
					(unsigned long long)hz);
			b->realtime_hz = hz;
		}
	}
}

static bool has_samples(const struct ui_build *b, uint32_t se)
{
	for (size_t i = 0; i < b->realtime.n; i++)
		if (b->realtime.v[i].se == se)
			return true;
	return false;
}

bool ui_realtime_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct json_reader r;
	struct str key;
	uint32_t se;
	bool is_nomem = false, ok;

	json_init(&r, in.p, in.n, in.path, 0);
	if (json_enter_object(&r))
		while (!is_nomem && json_next_key(&r, &key)) {
			if (str_is(key, "metadata")) {
				read_metadata(&r, b);
			} else if (str_starts(key, "SE")) {
				if (!ui_key_number(&r, str_sub(key, 2, key.n), UI_MAX_SE - 1, &se))
					break;
				if (has_samples(b, se))
					json_reject(&r, "duplicate-key", "SE%u stands twice", se);
				read_samples(&r, b, se, &is_nomem);
			} else {
				json_skip(&r);
			}
		}
	ok = !is_nomem && json_finish(&r, e);
	json_deinit(&r);
	if (!ok) {
		b->realtime.n = 0;
		return is_nomem ? err_nomem(e) : false;
	}
	if (!b->realtime_hz)
		b->realtime_hz = 100000000;
	for (size_t i = 0; i < b->realtime.n; i++)
		ui_see_se(b, b->realtime.v[i].se);
	return true;
}

static bool make_clocks(struct ui_build *b)
{
	struct trace *t = b->trace;
	uint32_t n = 0;

	for (uint32_t se = 0; se < UI_MAX_SE; se++)
		n += b->se_seen[se / 64] >> se % 64 & 1;
	t->clocks = arena_zalloc(&t->arena, (size_t)n + 1, sizeof(*t->clocks));
	if (!t->clocks)
		return false;
	for (uint32_t se = 0; se < UI_MAX_SE; se++)
		if (b->se_seen[se / 64] >> se % 64 & 1)
			t->clocks[t->n_clocks++].id = se;
	for (size_t i = 0; i < b->realtime.n; i++) {
		struct clock_domain *c = &t->clocks[ui_clock(t, b->realtime.v[i].se)];

		c->n_samples = b->realtime.v[i].n;
		c->samples = b->realtime.v[i].samples;
	}
	return true;
}

bool ui_has_many_samples(const struct ui_build *b)
{
	for (size_t i = 0; i < b->realtime.n; i++)
		if (b->realtime.v[i].n > 2)
			return true;
	return false;
}

/* Finds, for each clock, the start of its first wave of a known kernel; 0 if there is none. */
static void find_first_starts(const struct trace *t, uint64_t *first)
{
	EACH (const struct occupancy_event, o, t->occupancy, t->n_occupancy) {
		clock_idx c = ui_clock(t, o->clock); /* still an engine number */

		if (o->is_start && o->kernel_id && c != NO_CLOCK &&
			(!first[c] || o->time_cyc < first[c]))
			first[c] = o->time_cyc;
	}
}

bool ui_clocks_build(struct ui_build *b, struct incore_error *e)
{
	uint64_t *first = NULL;

	if (!make_clocks(b))
		return err_nomem(e);
	if (ui_has_many_samples(b)) {
		first = arena_zalloc(&b->scratch, (size_t)b->trace->n_clocks + 1, sizeof(*first));
		if (!first)
			return err_nomem(e);
		find_first_starts(b->trace, first);
	}
	return trace_align_clocks(b->trace, b->realtime_hz, first, "realtime.json") || err_nomem(e);
}
