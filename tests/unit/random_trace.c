/* SPDX-License-Identifier: Apache-2.0 */
/* random_trace.c: see random_trace.h. */
#include "random_trace.h"

#include <stdlib.h>

#include "base/hash.h"

/* assert() would vanish from a release build, and what it checks with it. */
static void must(bool ok)
{
	if (!ok)
		abort();
}

struct dice {
	uint64_t seed, n;
};

static uint64_t roll(struct dice *d, uint64_t below)
{
	uint64_t v = hash_mix64(d->seed + 0x9e3779b97f4a7c15u * ++d->n);

	return below ? v % below : v;
}

static int64_t roll_value(struct dice *d)
{
	return roll(d, 4) == 0 ? NO_VALUE : (int64_t)roll(d, 0);
}

static const char *roll_str(struct dice *d, struct arena *a)
{
	const char *s = arena_printf(a, "word-%llu \xc3\xa9\t%s", (unsigned long long)roll(d, 9),
		roll(d, 3) ? "" : "long long long tail");

	must(s != NULL);
	return s;
}

static const char *roll_str_or_null(struct dice *d, struct arena *a)
{
	return roll(d, 3) ? roll_str(d, a) : NULL;
}

static void *many(struct dice *d, struct arena *a, uint32_t *n, uint32_t below, size_t size)
{
	void *p;

	*n = (uint32_t)roll(d, below);
	p = arena_zalloc(a, *n ? *n : 1, size);
	must(p != NULL);
	return *n ? p : NULL;
}

static void fill_meta(struct dice *d, struct trace *t, const struct random_shape *shape)
{
	struct trace_meta *m = &t->meta;
	struct trace_launch *l = &m->launch;
	int64_t *launch[] = {&l->agent, &l->dispatch, &l->kernel_id, &l->launch_index,
		&l->launch_count, &l->vgprs, &l->accum_vgprs, &l->sgprs, &l->lds_bytes,
		&l->scratch_bytes, &l->workgroup[0], &l->workgroup[1], &l->workgroup[2],
		&l->grid[0], &l->grid[1], &l->grid[2], &l->workgroups, &l->waves, &l->start_ns,
		&l->end_ns, &m->machine.simds, &m->machine.cus, &m->machine.ses, &m->machine.xccs,
		&m->machine.max_waves_per_simd, &m->machine.lds_bytes_per_cu, &m->machine.wave_size,
		&m->machine.max_clock_mhz, &m->target_cu};

	for (size_t i = 0; i < sizeof(launch) / sizeof(launch[0]); i++)
		*launch[i] = roll_value(d);
	l->is_other_run = roll(d, 2) != 0;
	l->command = roll_str_or_null(d, &t->arena);
	m->machine.product = roll_str_or_null(d, &t->arena);
	m->vendor = (enum vendor)roll(d, 4);
	m->evidence = (enum evidence)roll(d, 5);
	m->format = "ui_output";
	m->origin = "here";
	m->format_version = roll_str_or_null(d, &t->arena);
	m->kernel = roll_str_or_null(d, &t->arena);
	m->arch = roll_str_or_null(d, &t->arena);
	m->arch_source = roll_str_or_null(d, &t->arena);
	m->gfx_major = (unsigned)roll(d, 13);
	m->clock_hz_num = roll(d, 0);
	m->clock_hz_den = roll(d, 3);
	m->clock_source = roll_str_or_null(d, &t->arena);
	m->clock_quantum = shape->clock_quantum;
}

static void fill_sources(struct dice *d, struct trace *t)
{
	t->sources = many(d, &t->arena, &t->n_sources, 5, sizeof(*t->sources));
	for (uint32_t i = 0; i < t->n_sources; i++) {
		struct source_file *s = &t->sources[i];

		s->path = roll_str(d, &t->arena);
		s->snapshot = roll_str_or_null(d, &t->arena);
		s->text = roll(d, 2) ? "a\0b\nc" : NULL;
		s->text_len = s->text ? 5 : 0;
		s->n_lines = s->text ? 2 : 0;
	}
	t->frames = many(d, &t->arena, &t->n_frames, 50, sizeof(*t->frames));
	for (uint32_t i = 0; i < t->n_frames; i++) {
		t->frames[i].source =
			t->n_sources && roll(d, 4) ? (uint32_t)roll(d, t->n_sources) : NO_SOURCE;
		t->frames[i].line = (uint32_t)roll(d, 0);
	}
}

static void fill_code_row(struct dice *d, struct trace *t, uint32_t i)
{
	struct code_row *r = &t->code[i];

	r->text = roll_str(d, &t->arena);
	r->text_len = (uint32_t)strlen(r->text);
	r->opcode = (uint32_t)roll(d, t->n_opcodes);
	r->number = roll(d, 9) ? (int64_t)i : (int64_t)roll(d, 0);
	r->address = roll(d, 9) ? i * 4 : roll(d, 0);
	r->code_object = (uint32_t)roll(d, 0);
	r->is_label = roll(d, 9) == 0;
	r->inst_class = (uint8_t)roll(d, CLASS_COUNT);
	r->first_frame = (uint32_t)roll(d, t->n_frames + 1);
	r->n_frames = (uint16_t)roll(d, t->n_frames - r->first_frame + 1);
	r->source = roll(d, 3) ? roll_str(d, &t->arena) : "";
	r->stated = (struct code_totals){roll(d, 0), roll(d, 99), roll(d, 99), roll(d, 0)};
	if (!t->samples)
		return;
	t->samples[i].issued = roll(d, 0);
	t->samples[i].stalled = roll(d, 99);
	for (uint32_t k = 0; k < t->n_reasons; k++)
		t->reason_counts[i * t->n_reasons + k] = (struct reason_count){
			roll(d, 9), t->sampling.has_not_issued ? roll(d, 0) : 0};
}

/* AMD's reasons, or others with both counts, figures by row and links. */
static void fill_samples(struct dice *d, struct trace *t)
{
	static const char *const named[] = {"selected", "wait", "long_scoreboard"};
	bool is_named = roll(d, 2) != 0;
	struct code_metric *m;

	if (!trace_make_samples(
		    t, is_named ? named : amd_stall_reasons, is_named ? 3 : AMD_STALL_REASONS))
		abort();
	if (!is_named)
		return;
	t->sampling = (struct trace_sampling){1 + roll(d, 99), roll(d, 9), true};
	t->n_metrics = 1;
	m = t->metrics = arena_zalloc(&t->arena, 1, sizeof(*t->metrics));
	m->name = "sectors";
	m->row = arena_zalloc(&t->arena, 1, sizeof(*m->row));
	m->value = arena_zalloc(&t->arena, 1, sizeof(*m->value));
	m->n = 1;
	*(code_idx *)m->row = (code_idx)roll(d, t->n_code);
	*(uint64_t *)m->value = roll(d, 0);
	t->code_links = many(d, &t->arena, &t->n_code_links, 20, sizeof(*t->code_links));
	for (uint32_t i = 0; i < t->n_code_links; i++)
		t->code_links[i] = (struct code_link){(code_idx)(i * t->n_code / 20),
			(code_idx)roll(d, t->n_code), (uint32_t)roll(d, CODE_LINK_KINDS),
			roll(d, 2) ? (uint32_t)roll(d, 3) : NO_REASON};
}

static void fill_code(struct dice *d, struct trace *t)
{
	t->opcodes = many(d, &t->arena, &t->n_opcodes, 9, sizeof(*t->opcodes));
	for (uint32_t i = 0; i < t->n_opcodes; i++)
		t->opcodes[i] = roll_str(d, &t->arena);
	if (t->n_opcodes == 0)
		return;
	t->code = many(d, &t->arena, &t->n_code, 300, sizeof(*t->code));
	t->has_stated_totals = roll(d, 2) != 0;
	if (t->n_code && roll(d, 2))
		fill_samples(d, t);
	for (uint32_t i = 0; i < t->n_code; i++)
		fill_code_row(d, t, i);
}

static void fill_clocks(struct dice *d, struct trace *t)
{
	t->clocks = many(d, &t->arena, &t->n_clocks, 5, sizeof(*t->clocks));
	for (uint32_t i = 0; i < t->n_clocks; i++) {
		struct clock_domain *c = &t->clocks[i];
		int64_t(*v)[2] = many(d, &t->arena, &c->n_samples, 4, sizeof(*v));

		for (uint32_t k = 0; k < c->n_samples; k++) {
			v[k][0] = (int64_t)roll(d, 0);
			v[k][1] = (int64_t)roll(d, 0);
		}
		c->samples = (const int64_t(*)[2])v;
		c->id = (uint32_t)roll(d, 99);
		c->is_aligned = roll(d, 2) != 0;
		c->offset_cyc = (int64_t)roll(d, 5000) - 2500;
		c->hz_num = roll(d, 0);
		c->hz_den = roll(d, 0);
	}
	t->reference_clock = t->n_clocks ? (uint32_t)roll(d, t->n_clocks) : NO_CLOCK;
}

static clock_idx roll_clock(struct dice *d, const struct trace *t)
{
	return t->n_clocks && roll(d, 5) ? (clock_idx)roll(d, t->n_clocks) : NO_CLOCK;
}

static void fill_tracks(struct dice *d, struct trace *t, const struct random_shape *shape)
{
	static const char *const levels[] = {"se", "cu", "simd", "slot", "wave"};

	for (int i = 0; i < TRACK_LEVELS; i++)
		t->levels[i] = levels[i];
	t->n_tracks = shape->n_tracks;
	t->tracks = arena_zalloc(&t->arena, t->n_tracks + 1, sizeof(*t->tracks));
	must(t->tracks != NULL);
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		struct track *k = &t->tracks[i];

		k->coord[0] = i / 7;
		k->coord[1] = 1;
		k->coord[4] = i;
		k->clock = roll_clock(d, t);
		k->n_slices = roll(d, 2) ? 0 : (uint32_t)roll(d, 5000);
		k->begin_cyc = 1000000 + roll(d, 10000) * shape->clock_quantum;
		k->end_cyc = k->begin_cyc + roll(d, 10000) * shape->clock_quantum;
		k->kernel_id = roll(d, 3) ? (uint32_t)roll(d, 5) : UINT32_MAX;
		k->name = arena_printf(&t->arena, "se%u_wv%u.json", i / 7, i);
		k->workgroup = roll_value(d);
		must(k->name != NULL);
	}
}

static void fill_events(struct dice *d, struct trace *t)
{
	t->dispatch_events =
		many(d, &t->arena, &t->n_dispatch_events, 9, sizeof(*t->dispatch_events));
	for (uint32_t i = 0; i < t->n_dispatch_events; i++) {
		struct dispatch_event *v = &t->dispatch_events[i];

		v->time_cyc = roll(d, 0);
		v->clock = roll_clock(d, t);
		v->is_dispatch = roll(d, 2) != 0;
		v->type = (uint32_t)roll(d, 18);
		v->me = (uint32_t)roll(d, 8);
		v->pipe = (uint32_t)roll(d, 16);
		v->kernel_id = (uint32_t)roll(d, 0);
		v->flags = (uint32_t)roll(d, 0);
		v->kernel_name = roll_str_or_null(d, &t->arena);
		v->vgprs = roll_value(d);
		v->sgprs = roll_value(d);
		v->lds_bytes = roll_value(d);
		for (int k = 0; k < 3; k++)
			v->thread_dim[k] = roll_value(d);
	}
}

static void fill_occupancy(struct dice *d, struct trace *t)
{
	uint64_t time = 0;

	t->occupancy = many(d, &t->arena, &t->n_occupancy, 400, sizeof(*t->occupancy));
	for (uint32_t i = 0; i < t->n_occupancy; i++) {
		struct occupancy_event *o = &t->occupancy[i];

		time += roll(d, 1000);
		o->time_cyc = time;
		o->clock = t->n_clocks ? 0 : NO_CLOCK;
		o->cu = (uint16_t)roll(d, 0);
		o->simd = (uint8_t)roll(d, 4);
		o->slot = (uint8_t)roll(d, 16);
		o->kernel_id = (uint32_t)roll(d, 0);
		o->is_start = (uint8_t)roll(d, 2);
		o->me = (uint8_t)roll(d, 0);
		o->pipe = (uint8_t)roll(d, 0);
		o->workgroup = (uint8_t)roll(d, 128);
		o->cluster = (uint8_t)roll(d, 32);
	}
	t->kernel_names = many(d, &t->arena, &t->n_kernel_names, 5, sizeof(*t->kernel_names));
	for (uint32_t i = 0; i < t->n_kernel_names; i++) {
		t->kernel_names[i].id = i * 3 + 1;
		t->kernel_names[i].name = roll_str(d, &t->arena);
	}
}

static void fill_counters(struct dice *d, struct trace *t)
{
	t->counter_names = many(d, &t->arena, &t->n_counter_names, 4, sizeof(*t->counter_names));
	for (uint32_t i = 0; i < t->n_counter_names; i++)
		t->counter_names[i] = roll_str(d, &t->arena);
	t->counters = many(d, &t->arena, &t->n_counters, 4, sizeof(*t->counters));
	for (uint32_t i = 0; i < t->n_counters; i++) {
		struct counter_series *c = &t->counters[i];
		uint64_t *time = many(d, &t->arena, &c->n, 99, sizeof(*time));
		uint64_t *value = arena_zalloc(&t->arena, c->n + 1, sizeof(*value));

		must(value != NULL);
		for (uint32_t k = 0; k < c->n; k++) {
			time[k] = roll(d, 0);
			value[k] = roll(d, 0);
		}
		c->time_cyc = time;
		c->value = value;
		c->name = roll_str(d, &t->arena);
		c->clock = roll_clock(d, t);
		c->cu = (uint32_t)roll(d, 0);
	}
	t->stated_series = many(d, &t->arena, &t->n_stated_series, 5, sizeof(*t->stated_series));
	for (uint32_t i = 0; i < t->n_stated_series; i++) {
		struct stated_series *s = &t->stated_series[i];
		uint64_t *time = many(d, &t->arena, &s->n, 99, sizeof(*time));
		uint32_t *count = arena_zalloc(&t->arena, s->n + 1, sizeof(*count));

		must(count != NULL);
		for (uint32_t k = 0; k < s->n; k++) {
			time[k] = roll(d, 1000000) * (i ? t->meta.clock_quantum : 1);
			count[k] = (uint32_t)roll(d, 0);
		}
		s->state = i;
		s->time_cyc = time;
		s->count = count;
	}
}

static void fill_small_tables(struct dice *d, struct trace *t)
{
	t->markers = many(d, &t->arena, &t->n_markers, 20, sizeof(*t->markers));
	for (uint32_t i = 0; i < t->n_markers; i++)
		t->markers[i] = (struct marker){roll(d, 0), roll(d, 0), roll_clock(d, t),
			(uint16_t)roll(d, 0), (uint8_t)roll(d, 0), (uint8_t)roll(d, 0),
			(uint8_t)roll(d, 0)};
	t->other_issues = many(d, &t->arena, &t->n_other_issues, 20, sizeof(*t->other_issues));
	for (uint32_t i = 0; i < t->n_other_issues; i++)
		t->other_issues[i] = (struct other_issue){
			roll(d, 0), (uint32_t)roll(d, 0), (uint32_t)roll(d, 0), roll_clock(d, t)};
	if (t->n_tracks)
		t->links = many(d, &t->arena, &t->n_links, 20, sizeof(*t->links));
	for (uint32_t i = 0; i < t->n_links; i++)
		t->links[i] = (struct link){(uint32_t)roll(d, t->n_tracks),
			(uint32_t)roll(d, t->n_tracks), (uint32_t)roll(d, 0), (uint32_t)roll(d, 0),
			(enum link_kind)roll(d, 4)};
	for (uint64_t n = roll(d, 20); n; n--)
		must(trace_note_as(t, (enum note_kind)roll(d, 9), "some-code",
			roll_str_or_null(d, &t->arena), roll(d, 0), roll(d, 99), "note %d",
			(int)n));
}

/* What only some producers have: units of counters, bytes of rows, head costs, tables. */
static void fill_ascend_tables(struct dice *d, struct trace *t)
{
	for (uint32_t i = 0; i < t->n_counters; i++) {
		t->counters[i].unit = roll_str_or_null(d, &t->arena);
		t->counters[i].per_unit = (uint32_t)roll(d, 2000);
	}
	for (uint32_t i = 0; roll(d, 2) && i < t->n_code; i++)
		t->code[i].bytes = roll(d, 0);
	if (t->n_tracks)
		t->heads = many(d, &t->arena, &t->n_heads, 20, sizeof(*t->heads));
	for (uint32_t i = 0; i < t->n_heads; i++)
		t->heads[i] = (struct head_cost){
			(uint32_t)roll(d, t->n_tracks), (uint32_t)roll(d, 0), (uint32_t)roll(d, 0)};
	t->tables = many(d, &t->arena, &t->n_tables, 4, sizeof(*t->tables));
	for (uint32_t i = 0; i < t->n_tables; i++) {
		struct named_table *k = &t->tables[i];
		const char **cols = many(d, &t->arena, &k->n_cols, 5, sizeof(*cols)), **cells;

		k->n_rows = k->n_cols ? (uint32_t)roll(d, 9) : 0;
		cells = arena_zalloc(&t->arena, (size_t)k->n_cols * k->n_rows + 1, sizeof(*cells));
		must(cells != NULL);
		for (uint32_t c = 0; c < k->n_cols; c++)
			cols[c] = roll_str(d, &t->arena);
		for (uint32_t c = 0; c < k->n_cols * k->n_rows; c++)
			cells[c] = roll_str_or_null(d, &t->arena);
		k->name = roll_str(d, &t->arena);
		k->origin = roll_str(d, &t->arena);
		k->cols = cols;
		k->cells = cells;
	}
}

/* --- the content of a track --- */

static void roll_slices(struct dice *d, const struct trace *t, uint32_t n, struct track_data *out)
{
	uint64_t at = out->begin_cyc, q = t->meta.clock_quantum;
	uint32_t code = 0;

	must(track_data_reserve(out, n));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t stall = (uint32_t)(roll(d, 4) ? roll(d, 8) : roll(d, 100000) * q);

		stall -= stall % (uint32_t)q;
		at += roll(d, 3) ? 0 : roll(d, 100) * q;
		out->start_cyc[i] = at;
		out->stall_cyc[i] = stall;
		out->dur_cyc[i] = stall + (uint32_t)(roll(d, 20) * q);
		code = t->n_code && roll(d, 50)
			       ? (roll(d, 10) ? code + 1 : (uint32_t)roll(d, 0)) % t->n_code
			       : NO_CODE;
		out->code[i] = code;
		out->inst_class[i] = (uint8_t)roll(d, CLASS_COUNT);
		if (code != NO_CODE && roll(d, 5))
			out->inst_class[i] = t->code[code].inst_class;
		out->tag[i] = (uint8_t)roll(d, 0);
		at += roll(d, 5) ? out->dur_cyc[i] : 0; /* some overlap */
	}
	out->n = n;
}

static void roll_states(struct dice *d, const struct trace *t, uint32_t n, struct track_data *out)
{
	must(track_data_reserve_states(out, n));
	for (uint32_t i = 0; i < n; i++) {
		out->state[i] = (uint8_t)roll(d, STATE_COUNT);
		out->state_dur_cyc[i] = (uint32_t)roll(d, 100000) * t->meta.clock_quantum;
	}
	out->n_states = n;
}

static void roll_waits(struct dice *d, const struct trace *t, uint32_t n, struct track_data *out)
{
	uint32_t n_producers = 0;

	must(track_data_reserve_stated(out, n, n * 4));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (uint32_t)roll(d, 5);

		out->stated_waits[i].wait = t->n_code ? (uint32_t)roll(d, t->n_code) : NO_CODE;
		out->stated_waits[i].first = n_producers;
		out->stated_waits[i].n = k;
		for (; k; k--)
			out->stated_producers[n_producers++] =
				t->n_code ? (uint32_t)roll(d, t->n_code) : NO_CODE;
	}
	out->n_stated_waits = n;
	out->n_stated_producers = n_producers;
}

static bool load(const struct trace *t, track_idx i, unsigned want, struct track_data *out,
	struct incore_error *e)
{
	const struct random_shape *shape = t->loader_ctx;
	struct dice d = {.seed = shape->seed ^ (i + 1) * 0x2545f4914f6cdd1du};
	uint32_t n = i == 1 && shape->long_slices ? shape->long_slices
						  : (uint32_t)roll(&d, shape->max_slices + 1);
	unsigned bad = shape->has_bad_tracks && i % 5 == 4 ? 1 + i % 3 : 0;

	if (bad == 1 || (bad == 2 && want & TRACK_STATES)) {
		err_file(e, "bad-json", "some/file.json", 77, "expected ',', found 'x'");
		e->line = 1;
		e->column = 78;
		return err_wrap(e, "wave file %u", i);
	}
	if (bad == 3 && want & TRACK_STATED_WAITS)
		return err_set(e, INCORE_BAD_INPUT, "bad-value", "no good wait");
	out->stated_slices = n + (roll(&d, 9) == 0);
	out->coord_file[2] = (uint32_t)roll(&d, 3);
	out->end_cyc += roll(&d, 3);
	if (!(want & TRACK_NO_SLICES)) {
		out->n_unknown_code = (uint32_t)roll(&d, 3);
		roll_slices(&d, t, n, out);
	}
	d.n = 0; /* the same states whatever else is wanted */
	d.seed++;
	if (want & TRACK_STATES)
		roll_states(&d, t, n / 2 + n % 7, out);
	d.n = 0;
	d.seed++;
	if (want & TRACK_STATED_WAITS)
		roll_waits(&d, t, n / 5, out);
	return true;
}

struct trace *random_trace_new(const struct random_shape *shape)
{
	struct dice d = {.seed = shape->seed};
	struct trace *t = trace_new();
	struct incore_error e = {0};

	must(t != NULL);
	fill_meta(&d, t, shape);
	fill_sources(&d, t);
	fill_code(&d, t);
	fill_clocks(&d, t);
	fill_tracks(&d, t, shape);
	fill_occupancy(&d, t);
	fill_events(&d, t);
	fill_counters(&d, t);
	fill_small_tables(&d, t);
	fill_ascend_tables(&d, t);
	t->loader = (struct track_loader){.load = load};
	t->loader_ctx = arena_memdup(&t->arena, shape, sizeof(*shape));
	must(t->loader_ctx != NULL);
	must(trace_seal(t, &e));
	return t;
}
