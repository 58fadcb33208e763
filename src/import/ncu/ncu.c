/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ncu.c: reports of Nsight Compute as an input format. A report with several results is several
 * captures, "report.ncu-rep#0" and on, each with its number as dispatch.
 *
 * Parts: values over time; tables that no analysis interprets; the format.
 */
#include "import/ncu/ncu.h"

#include <math.h>

#include "base/search.h"
#include "import/capture_cache.h"
#include "isa/ncu_names.h"

/* --- values over time ------------------------------------------------------------------------- */

/*
 * Values sampled over time (PM sampling) as counters on the clock of the trace. Timestamps are
 * nanoseconds; values are levels.
 */

#define MAX_CYC 1e18
#define PER_UNIT 1000u	  /* values keep three digits */
#define MIN_STAMP_NS 1e15 /* smaller values are not times of day */

struct stamp {
	uint64_t time_ns;
	double value;
};
struct ncu_series {
	VEC(struct stamp) v;
};
ORDER(by_time, struct stamp, UP(time_ns))

static bool add_stamp(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct ncu_series *s = ctx;
	double v = ncu_number(value);

	if (id->kind != NCU_UINT || (double)id->uint < MIN_STAMP_NS || isnan(v))
		return true;
	return VEC_PUSH(&s->v, (struct stamp){id->uint, v});
}

/* Excludes marks of the profiler, which are not levels of the device. */
static bool is_series(const struct ncu_metric *k)
{
	return k->is_sampler && k->n_instances > 1 && !str_starts(k->name, "profiler__");
}

static const char *ncu_unit_of(struct str name)
{
	return str_has(name, ".pct") ? "%" : str_has(name, "per_second") ? "/s" : "units";
}

static bool keep_series(
	struct ncu_build *b, const struct ncu_metric *k, struct ncu_series *s, uint64_t first_ns)
{
	struct trace *t = b->t;
	struct counter_series *c = &t->counters[t->n_counters];
	uint64_t *time = arena_zalloc(&t->arena, s->v.n, sizeof(*time));
	uint64_t *value = arena_zalloc(&t->arena, s->v.n, sizeof(*value));
	double per_ns = t->meta.clock_hz_den ? (double)t->meta.clock_hz_num / 1e9 : 1;

	*c = (struct counter_series){.name = arena_strndup(&t->arena, k->name.p, k->name.n),
		.clock = 0,
		.cu = UINT32_MAX,
		.n = (uint32_t)s->v.n,
		.time_cyc = time,
		.value = value,
		.unit = ncu_unit_of(k->name),
		.per_unit = PER_UNIT};
	if (!time || !value || !c->name)
		return false;
	for (size_t i = 0; i < s->v.n; i++) {
		double v = s->v.v[i].value * PER_UNIT;
		double cyc = (double)(s->v.v[i].time_ns - first_ns) * per_ns + 0.5;

		time[i] = cyc < MAX_CYC ? (uint64_t)cyc : (uint64_t)MAX_CYC;
		value[i] = v > 0 && v < 9e18 ? (uint64_t)(v + 0.5) : 0;
	}
	t->counter_names[t->n_counters++] = c->name;
	return true;
}

static bool has_stamps(struct ncu_build *b, const struct ncu_metric *k, struct ncu_series *s,
	struct incore_error *e)
{
	s->v.n = 0;
	if (!ncu_instances(b->result, k, add_stamp, s, e))
		return false;
	SORT(s->v.v, s->v.n, by_time);
	return true;
}

/* The earliest timestamp of all series becomes time 0. */
static bool find_first(
	struct ncu_build *b, struct ncu_series *s, uint64_t *out, struct incore_error *e)
{
	*out = UINT64_MAX;
	EACH (const struct ncu_metric, k, b->result->metrics.v, b->result->metrics.n) {
		if (!is_series(k))
			continue;
		if (!has_stamps(b, k, s, e))
			return false;
		if (s->v.n && s->v.v[0].time_ns < *out)
			*out = s->v.v[0].time_ns;
	}
	return true;
}

static bool ncu_build_counters(struct ncu_build *b, struct incore_error *e)
{
	struct trace *t = b->t;
	size_t n = b->result->metrics.n;
	struct ncu_series s = {0};
	uint64_t first_ns;
	bool ok;

	if (!(b->options->want & IMPORT_COUNTERS))
		return true;
	t->counters = arena_zalloc(&t->arena, n + 1, sizeof(*t->counters));
	t->counter_names = arena_zalloc(&t->arena, n + 1, sizeof(*t->counter_names));
	t->clocks = arena_zalloc(&t->arena, 1, sizeof(*t->clocks));
	if (!t->counters || !t->counter_names || !t->clocks)
		return err_nomem(e);
	ok = find_first(b, &s, &first_ns, e);
	EACH (const struct ncu_metric, k, b->result->metrics.v, n) {
		if (!ok || !is_series(k))
			continue;
		ok = has_stamps(b, k, &s, e);
		if (ok && s.v.n && !keep_series(b, k, &s, first_ns))
			ok = err_nomem(e);
	}
	VEC_FREE(&s.v);
	t->n_counter_names = t->n_counters;
	if (t->n_counters) {
		t->n_clocks = 1;
		t->clocks[0] = (struct clock_domain){.is_aligned = true,
			.hz_num = t->meta.clock_hz_num,
			.hz_den = t->meta.clock_hz_den};
		t->reference_clock = 0;
	}
	return ok;
}

/* --- tables that no analysis interprets ------------------------------------------------------- */

/*
 * Tables of data that no analysis here interprets: all metrics, those with values by something
 * other than instruction or time, the sections with their headings, the findings of Nsight
 * Compute's rules, and the session.
 */

#define MAX_COLS 6

struct filling {
	struct ncu_build *b;
	struct named_table *k;
	VEC(const char *) cells;
	bool is_failed;
	struct str metric; /* metric of the instances being read */
};

static const char *ncu_text_of(struct filling *f, struct str s)
{
	const char *text = arena_strndup(&f->b->t->arena, s.n ? s.p : "", s.n);

	f->is_failed |= !text;
	return text;
}

static void ncu_put_cell(struct filling *f, const char *cell)
{
	f->is_failed |= !cell || !VEC_PUSH(&f->cells, cell && *cell ? cell : NULL);
}

static void ncu_put_value(struct filling *f, const struct ncu_value *v)
{
	ncu_put_cell(f, ncu_value_text(v, &f->b->t->arena));
}

static bool ncu_begin(struct filling *f, struct ncu_build *b, const char *name,
	const char *const *cols, uint32_t n)
{
	*f = (struct filling){.b = b, .k = &b->t->tables[b->t->n_tables]};
	*f->k = (struct named_table){
		.name = name, .origin = path_base(b->report->path), .cols = cols, .n_cols = n};
	return true;
}

/* Empty tables are left out. */
static bool ncu_end(struct filling *f, struct incore_error *e)
{
	struct trace *t = f->b->t;

	f->k->n_rows = (uint32_t)(f->cells.n / f->k->n_cols);
	if (f->k->n_rows && !f->is_failed) {
		f->k->cells = arena_memdup(&t->arena, f->cells.v, f->cells.n * sizeof(*f->cells.v));
		f->is_failed = !f->k->cells;
		t->n_tables++;
	}
	VEC_FREE(&f->cells);
	return !f->is_failed || err_nomem(e);
}

static bool put_metrics(struct ncu_build *b, struct incore_error *e)
{
	static const char *const cols[] = {"name", "value", "instances"};
	struct filling f;

	ncu_begin(&f, b, NCU_TABLE_METRICS, cols, 3);
	EACH (const struct ncu_metric, k, b->result->metrics.v, b->result->metrics.n) {
		ncu_put_cell(&f, ncu_text_of(&f, k->name));
		ncu_put_value(&f, &k->value);
		ncu_put_cell(&f, arena_printf(&b->t->arena, "%u", k->n_instances));
	}
	return ncu_end(&f, e);
}

static bool put_instance(void *ctx, const struct ncu_value *id, const struct ncu_value *value)
{
	struct filling *f = ctx;

	ncu_put_cell(f, ncu_text_of(f, f->metric));
	ncu_put_value(f, id);
	ncu_put_value(f, value);
	return !f->is_failed;
}

/* By opcode, register count, block size, ...; a single instance only repeats the value. */
static bool put_instances(struct ncu_build *b, struct incore_error *e)
{
	static const char *const cols[] = {"metric", "of", "value"};
	struct ncu_result *x = b->result;
	struct filling f;
	bool ok = true;

	ncu_begin(&f, b, NCU_TABLE_INSTANCES, cols, 3);
	for (size_t i = 0; ok && i < x->metrics.n; i++) {
		const struct ncu_metric *k = &x->metrics.v[i];

		if (k->n_instances < 2 || b->is_by_row[i] || k->is_sampler)
			continue;
		f.metric = k->name;
		ok = ncu_instances(x, k, put_instance, &f, e);
	}
	return ncu_end(&f, e) && ok;
}

/* --- sections --- */

static const struct ncu_metric *find_metric(const struct filling *f, struct str name)
{
	char key[256];

	if (!name.n || name.n >= sizeof(key))
		return NULL;
	memcpy(key, name.p, name.n);
	key[name.n] = '\0';
	return ncu_find(f->b->result, key);
}

/*
 * { 1 metric, 2 label, 7 other names of it, repeated { 1 metric } }: each name exists on some
 * hardware generations, and the first collected one is used.
 */
static void put_section_metric(struct filling *f, struct str section, struct str bytes)
{
	struct pb_reader m = pb_of(bytes), other;
	const struct ncu_metric *k = NULL;
	struct str label = {0};
	struct pb_field x, y;

	while (pb_next(&m, &x)) {
		if (x.wire != PB_BYTES)
			continue;
		if (x.number == 2)
			label = x.bytes;
		if (x.number == 1 && !k)
			k = find_metric(f, x.bytes);
		other = x.number == 7 ? pb_of(x.bytes) : (struct pb_reader){0};
		while (!k && x.number == 7 && pb_next(&other, &y))
			if (y.number == 1 && y.wire == PB_BYTES)
				k = find_metric(f, y.bytes);
	}
	if (!k)
		return;
	ncu_put_cell(f, ncu_text_of(f, section));
	ncu_put_cell(f, ncu_text_of(f, label.n ? label : k->name));
	ncu_put_cell(f, ncu_text_of(f, k->name));
	ncu_put_value(f, &k->value);
}

/* { 2 name, 4 heading { 2 metrics } } */
static void put_section(struct filling *f, struct str bytes)
{
	struct pb_reader m = pb_of(bytes), heading;
	struct str name = {0};
	struct pb_field x, y;

	while (pb_next(&m, &x)) {
		if (x.number == 2 && x.wire == PB_BYTES)
			name = x.bytes;
		if (x.number != 4 || x.wire != PB_BYTES)
			continue;
		heading = pb_of(x.bytes);
		while (pb_next(&heading, &y))
			if (y.number == 2 && y.wire == PB_BYTES)
				put_section_metric(f, name, y.bytes);
	}
}

static bool ncu_put_sections(struct ncu_build *b, struct incore_error *e)
{
	static const char *const cols[] = {"section", "label", "metric", "value"};
	struct filling f;

	ncu_begin(&f, b, NCU_TABLE_SECTIONS, cols, 4);
	for (size_t i = 0; i < b->result->sections.n; i++)
		put_section(&f, b->result->sections.v[i]);
	return ncu_end(&f, e);
}

/* --- rules --- */

struct rule {
	struct str id, name, section;
};

static const char *ncu_word_of(uint64_t i, const char *const *words, size_t n)
{
	return i < n ? words[i] : "";
}

/* One finding of a rule: { 1 message { 1 text, 2 kind }, 10 speedup { 1 kind, 2 per cent } } */
static void put_rule_item(struct filling *f, const struct rule *r, struct str bytes)
{
	static const char *const kinds[] = {"none", "ok", "warning", "error", "optimization"};
	static const char *const speedups[] = {"", "local", "global"};
	struct pb_reader m = pb_of(bytes), inner;
	struct str text = {0};
	uint64_t kind = 0, speedup = 0;
	struct ncu_value gain = {0};
	struct pb_field x, y;

	while (pb_next(&m, &x)) {
		inner = x.wire == PB_BYTES ? pb_of(x.bytes) : (struct pb_reader){0};
		while (x.wire == PB_BYTES && pb_next(&inner, &y)) {
			if (x.number == 1 && y.number == 1 && y.wire == PB_BYTES)
				text = y.bytes;
			else if (x.number == 1 && y.number == 2)
				kind = y.value;
			else if (x.number == 10 && y.number == 1)
				speedup = y.value;
			else if (x.number == 10 && y.number == 2)
				gain = (struct ncu_value){.kind = NCU_REAL, .real = pb_float(&y)};
		}
	}
	if (!text.n)
		return;
	ncu_put_cell(f, ncu_text_of(f, r->id));
	ncu_put_cell(f, ncu_text_of(f, r->section));
	ncu_put_cell(f, ncu_word_of(kind, kinds, sizeof(kinds) / sizeof(kinds[0])));
	ncu_put_cell(f, ncu_text_of(f, text));
	ncu_put_cell(f, ncu_word_of(speedup, speedups, sizeof(speedups) / sizeof(speedups[0])));
	ncu_put_value(f, &gain);
}

/* { 1 id, 2 name, 3 body { 1 items }, 4 section } */
static void put_rule(struct filling *f, struct str bytes)
{
	struct pb_reader m = pb_of(bytes), body;
	struct str items = {0};
	struct rule r = {0};
	struct pb_field x;

	while (pb_next(&m, &x)) {
		struct str *to = x.number == 1	 ? &r.id
				 : x.number == 2 ? &r.name
				 : x.number == 3 ? &items
				 : x.number == 4 ? &r.section
						 : NULL;

		if (to && x.wire == PB_BYTES)
			*to = x.bytes;
	}
	body = pb_of(items);
	while (pb_next(&body, &x))
		if (x.number == 1 && x.wire == PB_BYTES)
			put_rule_item(f, &r, x.bytes);
}

static bool ncu_put_rules(struct ncu_build *b, struct incore_error *e)
{
	static const char *const cols[] = {
		"rule", "section", "kind", "message", "speedup", "speedup_pct"};
	struct filling f;

	ncu_begin(&f, b, NCU_TABLE_RULES, cols, MAX_COLS);
	for (size_t i = 0; i < b->result->rules.n; i++)
		put_rule(&f, b->result->rules.v[i]);
	return ncu_end(&f, e);
}

static bool ncu_build_tables(struct ncu_build *b, struct incore_error *e)
{
	struct trace *t = b->t;

	t->tables = arena_zalloc(&t->arena, 8, sizeof(*t->tables));
	if (!t->tables)
		return err_nomem(e);
	return ncu_put_sections(b, e) && ncu_put_rules(b, e) && put_metrics(b, e) &&
	       put_instances(b, e);
}

/* --- the format ------------------------------------------------------------------------------- */

#define MAX_NS 1000000000000000000 /* no kernel runs longer */

/* The indexed file of a capture, and the requested result. */
struct ncu_opened {
	struct arena arena;
	struct file_data file;
	struct ncu_report report;
	uint32_t result;
};

static void close_report(struct ncu_opened *x)
{
	ncu_report_deinit(&x->report);
	file_unload(&x->file);
	arena_deinit(&x->arena);
}

static bool open_report(struct ncu_opened *x, const struct import_options *o, const char *path,
	struct incore_error *e)
{
	const char *file;

	*x = (struct ncu_opened){0};
	arena_init(&x->arena);
	file = capture_file(import_fence(o), &x->arena, path, &x->result);
	if (!file)
		return err_nomem(e);
	if (!import_load_plain(o, &x->file, file, e) ||
		!ncu_index(&x->report, (struct str){(const char *)x->file.data, x->file.size}, file,
			e))
		return false;
	if (!x->report.results.n)
		return err_file(e, "empty-report", file, INCORE_NO_OFFSET,
			"the report of Nsight Compute holds no result: nothing was profiled");
	if (x->result >= x->report.results.n)
		return err_file(e, "no-such-result", file, INCORE_NO_OFFSET,
			"the report has %zu result%s; there is no #%u", x->report.results.n,
			plural(x->report.results.n), x->result);
	return true;
}

static void ncu_split(const char *path, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct ncu_opened x;

	if (open_report(&x, &o, path, &ignored) && x.report.results.n > 1)
		capture_name_parts(a, path, x.report.results.n, paths, n);
	incore_error_clear(&ignored);
	close_report(&x);
}

static const char *ncu_name_of(const struct ncu_result *x, struct arena *a)
{
	static const char *const words[NCU_KINDS] = {"kernel", "range", "command list", "graph"};
	struct str s = x->renamed.n	? x->renamed
		       : x->demangled.n ? x->demangled
		       : x->function.n	? x->function
					: x->mangled;

	return s.n ? arena_strndup(a, s.p, s.n) : words[x->kind];
}

/* Stores the duration as n_bytes, so that the longest of several results is preferred. */
static void ncu_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct ncu_result r = {0};
	struct ncu_opened x;
	int64_t ns;

	(void)a;
	c->is_uncounted = true;
	if (open_report(&x, &o, path, &ignored) &&
		ncu_result_read(&r, &x.report, &x.report.results.v[x.result], &ignored)) {
		ns = ncu_whole(&r, "gpu__time_duration.sum");
		c->dispatch = x.result;
		c->n_bytes = ns > 0 ? (uint64_t)ns : 0;
	}
	incore_error_clear(&ignored);
	ncu_result_deinit(&r);
	close_report(&x);
}

static void ncu_look_at_trace(const struct trace *t, struct arena *a, struct capture *c)
{
	const struct trace_launch *l = &t->meta.launch;

	(void)a;
	c->is_uncounted = true;
	c->dispatch = l->dispatch;
	c->n_bytes = l->end_ns != NO_VALUE ? (uint64_t)(l->end_ns - l->start_ns) : 0;
}

/* --- the device and the launch --- */

static int64_t times(int64_t a, int64_t b)
{
	return a < 0 || b < 0 || (b && a > INT64_MAX / b) ? NO_VALUE : a * b;
}

static void ncu_put_machine(struct trace_machine *m, const struct ncu_result *x)
{
	int64_t khz = ncu_whole(x, "device__attribute_clock_rate");

	m->cus = ncu_whole(x, "device__attribute_multiprocessor_count");
	m->simds =
		times(m->cus, ncu_whole(x, "device__attribute_num_schedulers_per_multiprocessor"));
	m->max_waves_per_simd = ncu_whole(x, "device__attribute_max_warps_per_scheduler");
	m->lds_bytes_per_cu =
		ncu_whole(x, "device__attribute_max_shared_memory_per_multiprocessor");
	m->wave_size = ncu_whole(x, "device__attribute_warp_size");
	m->max_clock_mhz = khz == NO_VALUE ? NO_VALUE : khz / 1000;
}

static void ncu_put_launch(struct trace_launch *l, const struct ncu_result *x, uint32_t number)
{
	int64_t ns = ncu_whole(x, "gpu__time_duration.sum"), threads = 1;

	l->dispatch = number;
	l->agent = ncu_whole(x, "launch__device_id");
	l->vgprs = ncu_whole(x, "launch__registers_per_thread");
	l->lds_bytes = ncu_whole(x, "launch__shared_mem_per_block");
	l->scratch_bytes = ncu_whole(x, "launch__stack_size");
	if (x->kind == NCU_LAUNCH && x->grid[0] && x->block[0]) {
		l->workgroups = 1;
		for (int i = 0; i < 3; i++) {
			l->workgroup[i] = (int64_t)x->block[i];
			l->grid[i] = times((int64_t)x->grid[i], (int64_t)x->block[i]);
			l->workgroups = times(l->workgroups, (int64_t)x->grid[i]);
			threads = times(threads, (int64_t)x->block[i]);
		}
		if (threads != NO_VALUE && threads > 0)
			l->waves = times(l->workgroups, (threads - 1) / 32 + 1);
	}
	if (ns != NO_VALUE && ns < MAX_NS && x->time_s < 1u << 31) {
		l->start_ns = (int64_t)x->time_s * 1000000000;
		l->end_ns = l->start_ns + ns;
	}
}

static void ncu_put_clock(struct trace_meta *m, const struct ncu_result *x)
{
	static const char *const names[] = {"gpc__cycles_elapsed.avg.per_second",
		"smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int64_t hz = ncu_whole(x, names[i]);

		if (hz == NO_VALUE || hz == 0)
			continue;
		m->clock_hz_num = (uint64_t)hz;
		m->clock_hz_den = 1;
		m->clock_source = names[i];
		return;
	}
}

/* Text fields a and b of a message of the session. */
static void read_pair(struct str bytes, uint32_t a, uint32_t b, struct str *x, struct str *y)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	*x = *y = (struct str){0};
	while (pb_next(&m, &f))
		if (f.wire == PB_BYTES && (f.number == a || f.number == b))
			*(f.number == a ? x : y) = f.bytes;
}

/* { 6 devices { 2 name }, 8 versions { 1 of what, 2 version } } */
static bool put_session(struct trace *t, struct ncu_report *r)
{
	struct trace_meta *m = &t->meta;
	struct str what, version, tool = {0};
	struct pb_field f;

	for (size_t i = 0; i < r->sessions.n; i++) {
		struct pb_reader s = pb_of(r->sessions.v[i]);

		while (ncu_next(r, &s, 11, &f)) {
			if (f.wire != PB_BYTES || (f.number != 6 && f.number != 8))
				continue;
			read_pair(f.bytes, f.number == 6 ? 99 : 1, 2, &what, &version);
			if (f.number == 6 && version.n && !m->machine.product)
				m->machine.product = arena_strndup(&t->arena, version.p, version.n);
			else if (f.number == 8 && str_starts(what, "Nsight Compute"))
				tool = version;
		}
	}
	m->format_version =
		tool.n ? arena_printf(&t->arena, "%llu, Nsight Compute %.*s",
				 (unsigned long long)r->version, STR_ARG(tool))
		       : arena_printf(&t->arena, "%llu", (unsigned long long)r->version);
	return m->format_version != NULL;
}

static bool put_arch(struct ncu_build *b)
{
	struct trace_meta *m = &b->t->meta;
	int64_t major = ncu_whole(b->result, "device__attribute_compute_capability_major");
	int64_t minor = ncu_whole(b->result, "device__attribute_compute_capability_minor");

	if (major == NO_VALUE || minor == NO_VALUE)
		return true;
	m->arch = arena_printf(&b->t->arena, "sm_%lld%lld", (long long)major, (long long)minor);
	m->arch_source = "compute capability of the device";
	return m->arch != NULL;
}

/* --- notes --- */

static bool ncu_note_clock(struct trace *t, const struct ncu_result *x)
{
	if (!x->has_clock_status || x->is_locked)
		return true;
	return trace_note(t, "clock-not-locked", NULL, INCORE_NO_OFFSET, 1,
		x->is_lock_asked ? "the clock was to be locked and was not: passes may have run at "
				   "different clocks"
				 : "the clock was not locked: passes may have run at different "
				   "clocks");
}

static bool ncu_add_notes(struct ncu_build *b)
{
	struct trace *t = b->t;
	const struct ncu_report *r = b->report;

	if (!ncu_note_clock(t, b->result))
		return false;
	if (r->is_cut && !trace_note(t, "truncated-report", r->path, r->bytes.n, 1,
				 "the file ends at offset %zu inside %s %zu", r->bytes.n,
				 r->is_cut_result ? "result" : "a block after result",
				 r->results.n - !r->is_cut_result))
		return false;
	if (r->n_unknown &&
		!trace_note(t, "unknown-fields", r->path, INCORE_NO_OFFSET, r->n_unknown,
			"%llu fields of messages are unknown and were skipped",
			(unsigned long long)r->n_unknown))
		return false;
	if (r->n_surplus && !trace_note(t, "unknown-bytes", r->path, INCORE_NO_OFFSET, r->n_surplus,
				    "%llu bytes of blocks are of no announced message",
				    (unsigned long long)r->n_surplus))
		return false;
	if (t->sampling.n_dropped &&
		!trace_note(t, "dropped-samples", NULL, INCORE_NO_OFFSET, t->sampling.n_dropped,
			"the sampler lost %llu bytes of samples",
			(unsigned long long)t->sampling.n_dropped))
		return false;
	if (b->n_absurd &&
		!trace_note(t, "absurd-counts", NULL, INCORE_NO_OFFSET, b->n_absurd,
			"%llu counts of instructions are larger than can be and were cut",
			(unsigned long long)b->n_absurd))
		return false;
	return !b->n_unmapped ||
	       trace_note(t, "unmapped-addresses", NULL, INCORE_NO_OFFSET, b->n_unmapped,
		       "%llu counts are at addresses that no function of the report holds",
		       (unsigned long long)b->n_unmapped);
}

static bool ncu_build_trace(struct ncu_build *b, uint32_t number, struct incore_error *e)
{
	struct trace *t = b->t;
	struct trace_meta *m = &t->meta;

	m->vendor = VENDOR_NVIDIA;
	m->evidence = b->report->is_synthetic ? EVIDENCE_SYNTHETIC : EVIDENCE_HARDWARE_SAMPLE;
	m->kernel = ncu_name_of(b->result, &t->arena);
	ncu_put_machine(&m->machine, b->result);
	ncu_put_launch(&m->launch, b->result, number);
	ncu_put_clock(m, b->result);
	if (!m->kernel || !put_session(t, b->report) || !put_arch(b))
		return err_nomem(e);
	if (!ncu_build_code(b, e) || !ncu_build_counters(b, e) || !ncu_build_tables(b, e))
		return false;
	return ncu_add_notes(b) || err_nomem(e);
}

static bool ncu_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct ncu_result result = {0};
	struct ncu_opened x;
	struct ncu_build b = {.t = t, .options = o, .report = &x.report, .result = &result};
	struct import_options kept = *o;
	bool ok;

	/* the trace does not use the file afterwards, and other results may be requested */
	kept.is_look = true;
	ok = open_report(&x, &kept, path, e);

	arena_init(&b.scratch);
	if (ok)
		x.report.path = t->meta.origin;
	ok = ok && ncu_result_read(&result, &x.report, &x.report.results.v[x.result], e) &&
	     ncu_build_trace(&b, x.result, e);
	ncu_result_deinit(&result);
	arena_deinit(&b.scratch);
	close_report(&x);
	return ok;
}

static const struct signature ncu_signs[] = {
	{.begins = NCU_MAGIC, .n_bytes = sizeof(NCU_MAGIC), .score = 100},
	{0},
};

const struct import_ops import_ncu = {
	.name = "ncu",
	.summary = "report of NVIDIA Nsight Compute (.ncu-rep, .ncu-repz)",
	.looks_for = "a report of Nsight Compute (.ncu-rep, .ncu-repz)",
	.reads_packed = true,
	.signs = ncu_signs,
	.splits_files = true,
	.split = ncu_split,
	.look = ncu_look,
	.look_at_trace = ncu_look_at_trace,
	.read = ncu_read,
	.lost = import_lost_noted, /* noted while reading */
};
