/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spm.c: streaming performance monitor counters (spm.json). Timestamps are differences, and a
 * repeated zero is left out. Values are per SE (number = se + 4 * xcc) or per XCC, and instance.
 */
#include "import/ui_output/counters.h"

#define BATCH 128

struct spm {
	struct ui_build *b;
	struct json_reader r;
	bool is_per_xcc; /* true if the counter being read is per XCC */
	bool is_nomem;
	size_t first; /* its first series */
};

static void fail_nomem(struct spm *s)
{
	s->is_nomem = true;
	json_reject(&s->r, "no-memory", "out of memory");
}

static void read_samples(struct spm *s, struct counter_series *c)
{
	struct json_reader *r = &s->r;
	struct arena *a = &s->b->trace->arena;
	VEC(uint64_t) times = {0};
	VEC(uint64_t) values = {0};
	int64_t rows[BATCH * 2];
	uint64_t now = 0;
	size_t n = BATCH;

	if (!json_enter_array_or_null(r))
		return;
	while (n == BATCH && !r->is_failed) {
		n = json_read_i64_rows(r, 2, BATCH, rows);
		for (size_t i = 0; i < n && !r->is_failed; i++) {
			if (rows[i * 2] < 0 || rows[i * 2 + 1] < 0 ||
				(uint64_t)rows[i * 2] > UI_MAX_TIME_CYC - now)
				json_reject(r, "out-of-range", "counter sample out of range");
			else if (!VEC_PUSH(&times, now += (uint64_t)rows[i * 2]) ||
				 !VEC_PUSH(&values, (uint64_t)rows[i * 2 + 1]))
				fail_nomem(s);
		}
	}
	c->n = (uint32_t)times.n;
	c->time_cyc = arena_memdup(a, times.v, times.n * sizeof(*times.v));
	c->value = arena_memdup(a, values.v, values.n * sizeof(*values.v));
	if (!r->is_failed && (!c->time_cyc || !c->value || times.n > UINT32_MAX))
		fail_nomem(s);
	VEC_FREE(&times);
	VEC_FREE(&values);
}

/* {"<se|xcc>": {"<instance>": [[delta, value], ...]}} */
static void read_values(struct spm *s, const char *name)
{
	struct json_reader *r = &s->r;
	struct str key;
	uint32_t group, instance;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (!ui_key_number(r, key, UINT32_MAX - 1, &group))
			return;
		if (!json_enter_object_or_null(r))
			continue;
		while (json_next_key(r, &key)) {
			struct counter_series c = {.clock = group}; /* resolved with "dimensions" */

			if (!ui_key_number(r, key, UINT32_MAX - 1, &instance))
				return;
			c.cu = instance;
			c.name = name;
			read_samples(s, &c);
			if (!r->is_failed && !VEC_PUSH(&s->b->counters->series, c))
				fail_nomem(s);
		}
	}
}

static void read_dimensions(struct spm *s)
{
	struct str d;

	if (!json_enter_array_or_null(&s->r))
		return;
	while (json_next_item(&s->r) && json_get_str(&s->r, &d))
		s->is_per_xcc |= str_is(d, "XCC");
}

static void read_counter(struct spm *s, struct str name)
{
	struct counters *x = s->b->counters;
	const char *copy = arena_printf(&s->b->trace->arena, "SPM %.*s", STR_ARG(name));
	struct str key;

	s->first = x->series.n;
	s->is_per_xcc = false;
	if (!copy) {
		fail_nomem(s);
		return;
	}
	if (!json_enter_object_or_null(&s->r))
		return;
	while (json_next_key(&s->r, &key)) {
		if (str_is(key, "values"))
			read_values(s, copy);
		else if (str_is(key, "dimensions"))
			read_dimensions(s);
		else
			json_skip(&s->r);
	}
	for (size_t i = s->first; i < x->series.n; i++)
		x->series.v[i].clock =
			s->is_per_xcc ? NO_CLOCK : ui_clock(s->b->trace, x->series.v[i].clock);
}

bool ui_spm_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct spm s = {.b = b};
	size_t before = b->counters->series.n;
	struct str key;
	bool ok;

	json_init(&s.r, in.p, in.n, in.path, 0);
	if (json_enter_object(&s.r))
		while (json_next_key(&s.r, &key))
			read_counter(&s, key);
	ok = json_finish(&s.r, e);
	json_deinit(&s.r);
	if (s.is_nomem)
		ok = err_nomem(e);
	if (!ok)
		b->counters->series.n = before;
	return ok;
}
