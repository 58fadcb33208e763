/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c: the files of a capture that are neither waves nor code: streamed counters
 * (se<SE>_perfcounter.json), markers (shaderdata_<SE>_<i>.json), issues on SIMDs without detail
 * (other_simd_se<SE>_<i>.json). They are found by name in the directory;
 * their times are those of their SE.
 *
 * Parts: performance monitors; counters.
 */
#include "base/search.h"
#include "import/ui_output/ui_output.h"

/* --- performance monitors --------------------------------------------------------------------- */

/*
 * Streaming performance monitor counters (spm.json). Timestamps are differences, and a repeated
 * zero is left out. Values are per SE (number = se + 4 * xcc) or per XCC, and instance.
 */

#define BATCH 128

struct spm {
	struct ui_build *b;
	struct json_reader r;
	bool is_per_xcc; /* true if the counter being read is per XCC */
	bool is_nomem;
	size_t first; /* its first series */
};

static void ui_counters_fail_nomem(struct spm *s)
{
	s->is_nomem = true;
	json_reject(&s->r, "no-memory", "out of memory");
}

static void ui_counters_read_samples(struct spm *s, struct counter_series *c)
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
				ui_counters_fail_nomem(s);
		}
	}
	c->n = (uint32_t)times.n;
	c->time_cyc = arena_memdup(a, times.v, times.n * sizeof(*times.v));
	c->value = arena_memdup(a, values.v, values.n * sizeof(*values.v));
	if (!r->is_failed && (!c->time_cyc || !c->value || times.n > UINT32_MAX))
		ui_counters_fail_nomem(s);
	VEC_FREE(&times);
	VEC_FREE(&values);
}

/* {"<se|xcc>": {"<instance>": [[delta, value], ...]}} */
static void ui_counters_read_values(struct spm *s, const char *name)
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
			ui_counters_read_samples(s, &c);
			if (!r->is_failed && !VEC_PUSH(&s->b->counters->series, c))
				ui_counters_fail_nomem(s);
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

static void ui_counters_read_counter(struct spm *s, struct str name)
{
	struct counters *x = s->b->counters;
	const char *copy = arena_printf(&s->b->trace->arena, "SPM %.*s", STR_ARG(name));
	struct str key;

	s->first = x->series.n;
	s->is_per_xcc = false;
	if (!copy) {
		ui_counters_fail_nomem(s);
		return;
	}
	if (!json_enter_object_or_null(&s->r))
		return;
	while (json_next_key(&s->r, &key)) {
		if (str_is(key, "values"))
			ui_counters_read_values(s, copy);
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
			ui_counters_read_counter(&s, key);
	ok = json_finish(&s.r, e);
	json_deinit(&s.r);
	if (s.is_nomem)
		ok = err_nomem(e);
	if (!ok)
		b->counters->series.n = before;
	return ok;
}

/* --- counters --------------------------------------------------------------------------------- */

#define BANK_COUNTERS 4 /* c0 .. c3 of a record; the bank selects the half of counter_names */

/* --- se<SE>_perfcounter.json --- */

enum perf_column { PERF_TIME, PERF_C0, PERF_CU = 5, PERF_BANK = 6, PERF_COLUMNS = 7 };

struct perf_record {
	uint64_t time_cyc;
	uint64_t value[BANK_COUNTERS];
	uint32_t cu, bank;
	uint32_t at; /* order in the file */
};

struct perf_sample {
	VEC(struct perf_record) records;
	bool is_nomem;
};

static void take_perf(struct json_reader *r, struct perf_sample *p, const int64_t *row)
{
	struct perf_record rec = {.at = (uint32_t)p->records.n};

	for (int i = 0; i < PERF_COLUMNS; i++)
		if (row[i] < 0 || row[PERF_TIME] > UI_MAX_TIME_CYC || row[PERF_CU] > UINT16_MAX ||
			row[PERF_BANK] > 1) {
			json_reject(r, "out-of-range", "counter record out of range");
			return;
		}
	rec.time_cyc = (uint64_t)row[PERF_TIME];
	rec.cu = (uint32_t)row[PERF_CU];
	rec.bank = (uint32_t)row[PERF_BANK];
	for (int i = 0; i < BANK_COUNTERS; i++)
		rec.value[i] = (uint64_t)row[PERF_C0 + i];
	if (p->records.n >= UINT32_MAX - 1 || !VEC_PUSH(&p->records, rec)) {
		p->is_nomem = true;
		json_reject(r, "no-memory", "out of memory");
	}
}

static void read_perf_data(struct json_reader *r, struct perf_sample *p)
{
	int64_t rows[BATCH * PERF_COLUMNS];
	size_t n = BATCH;

	if (!json_enter_array_or_null(r))
		return;
	while (n == BATCH && !r->is_failed) {
		n = json_read_i64_rows(r, PERF_COLUMNS, BATCH, rows);
		for (size_t i = 0; i < n && !r->is_failed; i++)
			take_perf(r, p, rows + i * PERF_COLUMNS);
	}
}

ORDER(compare_perf, struct perf_record, UP(cu) UP(bank) UP(time_cyc) UP(at))

/* One series per counter of a run of records of one CU and bank. */
static bool ui_counters_add_run(struct counters *x, const struct perf_record *run, size_t n)
{
	struct trace *t = x->b->trace;

	for (unsigned i = 0; i < BANK_COUNTERS; i++) {
		uint32_t index = run->bank * BANK_COUNTERS + i;
		struct counter_series s = {.clock = x->clock, .cu = run->cu, .n = (uint32_t)n};
		uint64_t *times, *values, sum = 0;

		for (size_t k = 0; k < n; k++)
			sum |= run[k].value[i];
		if (index >= t->n_counter_names && !sum)
			continue; /* an unused counter, not one with value 0 */
		times = arena_zalloc(&t->arena, n, sizeof(*times));
		values = arena_zalloc(&t->arena, n, sizeof(*values));
		s.name = index < t->n_counter_names ? t->counter_names[index]
						    : arena_printf(&t->arena, "counter %u", index);
		if (!times || !values || !s.name)
			return false;
		for (size_t k = 0; k < n; k++) {
			times[k] = run[k].time_cyc;
			values[k] = run[k].value[i];
		}
		s.time_cyc = times;
		s.value = values;
		if (!VEC_PUSH(&x->series, s))
			return false;
	}
	return true;
}

static bool commit_perf(struct counters *x, struct perf_sample *p)
{
	size_t n = p->records.n;

	SORT(p->records.v, n, compare_perf);
	for (size_t first = 0, last; first < n; first = last) {
		const struct perf_record *run = &p->records.v[first];

		for (last = first; last < n && p->records.v[last].cu == run->cu &&
				   p->records.v[last].bank == run->bank;)
			last++;
		if (!ui_counters_add_run(x, run, last - first))
			return false;
	}
	return true;
}

bool ui_perfcounter_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct perf_sample p = {.is_nomem = false};
	struct json_reader r;
	struct str key;
	bool ok;

	json_init(&r, in.p, in.n, in.path, 0);
	if (json_enter_object(&r))
		while (json_next_key(&r, &key)) {
			if (str_is(key, "data"))
				read_perf_data(&r, &p);
			else
				json_skip(&r);
		}
	ok = json_finish(&r, e);
	json_deinit(&r);
	if (p.is_nomem || (ok && !commit_perf(b->counters, &p)))
		ok = err_nomem(e);
	VEC_FREE(&p.records);
	return ok;
}

/* --- shaderdata_<SE>_<i>.json and other_simd_se<SE>_<i>.json --- */

#define MARKER_COLUMNS 6 /* time, value, cu, simd, wave_id, flags */
#define ISSUE_COLUMNS 3	 /* time, duration, category */

static bool push_marker(struct counters *x, const int64_t *row)
{
	struct marker m = {
		.time_cyc = (uint64_t)row[0], .value = (uint64_t)row[1], .clock = x->clock};

	m.cu = (uint16_t)row[2];
	m.simd = (uint8_t)row[3];
	m.slot = (uint8_t)row[4];
	m.flags = (uint8_t)row[5];
	return VEC_PUSH(&x->markers, m);
}

static bool push_issue(struct counters *x, const int64_t *row)
{
	struct other_issue o = {.time_cyc = (uint64_t)row[0],
		.dur_cyc = (uint32_t)row[1],
		.category = (uint32_t)row[2],
		.clock = x->clock};

	return VEC_PUSH(&x->issues, o);
}

struct record_kind {
	const char *list, *count; /* keys */
	unsigned n_columns;
	int64_t max[MARKER_COLUMNS];
	bool (*push)(struct counters *x, const int64_t *row);
};

static const struct record_kind markers = {"records", "records_count", MARKER_COLUMNS,
	{UI_MAX_TIME_CYC, INT64_MAX, UINT16_MAX, UINT8_MAX, UINT8_MAX, UINT8_MAX}, push_marker};
static const struct record_kind issues = {"instructions", "instructions_count", ISSUE_COLUMNS,
	{UI_MAX_TIME_CYC, UINT32_MAX, UINT32_MAX}, push_issue};

static uint64_t ui_counters_read_records(
	struct json_reader *r, struct counters *x, const struct record_kind *kind)
{
	int64_t rows[BATCH * MARKER_COLUMNS];
	uint64_t total = 0;
	size_t n = BATCH;

	if (!json_enter_array_or_null(r))
		return 0;
	while (n == BATCH && !r->is_failed) {
		n = json_read_i64_rows(r, kind->n_columns, BATCH, rows);
		for (size_t i = 0; i < n && !r->is_failed; i++) {
			const int64_t *row = rows + i * kind->n_columns;

			for (unsigned k = 0; k < kind->n_columns && !r->is_failed; k++)
				if (row[k] < 0 || row[k] > kind->max[k])
					json_reject(r, "out-of-range",
						"a counter record has the value %lld, which is out of range",
						(long long)row[k]);
			if (!r->is_failed && !kind->push(x, row)) {
				x->is_nomem = true;
				json_reject(r, "no-memory", "out of memory");
			}
		}
		total += n;
	}
	return total;
}

/* A count that differs from the list's length means that records were lost in the buffer. */
static bool ui_counters_note_count(
	struct ui_build *b, const char *path, uint64_t stated, uint64_t found)
{
	if (stated == found)
		return true;
	return trace_note(b->trace, "record-count-differs", path, INCORE_NO_OFFSET,
		stated > found ? stated - found : found - stated,
		"%s states %llu records and holds %llu", path_base(path),
		(unsigned long long)stated, (unsigned long long)found);
}

static bool parse_records(struct ui_build *b, struct ui_bytes in, const struct record_kind *kind,
	struct incore_error *e)
{
	struct counters *x = b->counters;
	size_t n_markers = x->markers.n, n_issues = x->issues.n;
	uint64_t stated = UINT64_MAX, found = 0, seen = 0;
	struct json_reader r;
	struct str key;
	bool ok;

	json_init(&r, in.p, in.n, in.path, 0);
	if (json_enter_object(&r))
		while (json_next_key(&r, &key)) {
			if (str_is(key, kind->list) && json_once(&r, &seen, 0, key))
				found = ui_counters_read_records(&r, x, kind);
			else if (str_is(key, kind->count))
				json_get_u64(&r, &stated);
			else if (!r.is_failed)
				json_skip(&r);
		}
	ok = json_finish(&r, e);
	json_deinit(&r);
	if (x->is_nomem)
		ok = err_nomem(e);
	if (!ok) { /* nothing is taken from a damaged file */
		x->markers.n = n_markers;
		x->issues.n = n_issues;
	}
	if (ok && stated != UINT64_MAX && !ui_counters_note_count(b, in.path, stated, found))
		ok = err_nomem(e);
	return ok;
}

bool ui_markers_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	return parse_records(b, in, &markers, e);
}

bool ui_issues_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	return parse_records(b, in, &issues, e);
}

/* --- all of them --- */

static const struct {
	const char *pattern;
	ui_parse_fn parse;
} kinds[] = {
	{"se#_perfcounter.json", ui_perfcounter_parse},
	{"shaderdata_#_#.json", ui_markers_parse},
	{"other_simd_se#_#.json", ui_issues_parse},
};

static bool read_named(struct ui_build *b, const char *name, struct incore_error *e)
{
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		uint32_t se;

		if (!ui_match_name(name, kinds[k].pattern, &se))
			continue;
		b->counters->clock = ui_clock(b->trace, se);
		return ui_optional(b, name, kinds[k].parse, e);
	}
	return true;
}

ORDER(compare_markers, struct marker, UP(clock) UP(time_cyc) UP(value))

static bool commit_all(struct counters *x)
{
	struct trace *t = x->b->trace;
	struct arena *a = &t->arena;

	if (x->series.n > UINT32_MAX || x->markers.n > UINT32_MAX || x->issues.n > UINT32_MAX)
		return false;
	SORT(x->markers.v, x->markers.n, compare_markers);
	t->counters = arena_memdup(a, x->series.v, x->series.n * sizeof(*x->series.v));
	t->markers = arena_memdup(a, x->markers.v, x->markers.n * sizeof(*x->markers.v));
	t->other_issues = arena_memdup(a, x->issues.v, x->issues.n * sizeof(*x->issues.v));
	if (!t->counters || !t->markers || !t->other_issues)
		return false;
	t->n_counters = (uint32_t)x->series.n;
	t->n_markers = (uint32_t)x->markers.n;
	t->n_other_issues = (uint32_t)x->issues.n;
	return true;
}

bool ui_counters_read(struct ui_build *b, struct incore_error *e)
{
	struct counters x = {.b = b};
	bool ok = true;

	b->counters = &x;
	for (size_t i = 0; ok && i < b->names.n; i++)
		ok = read_named(b, b->names.v[i], e);
	ok = ok && ui_optional(b, "spm.json", ui_spm_parse, e);
	if (ok && !commit_all(&x))
		ok = err_nomem(e);
	b->counters = NULL;
	VEC_FREE(&x.series);
	VEC_FREE(&x.markers);
	VEC_FREE(&x.issues);
	return ok;
}
