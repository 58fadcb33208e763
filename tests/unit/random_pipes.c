/* SPDX-License-Identifier: Apache-2.0 */
/* random_pipes.c: traces of pipes by chance; the same seed gives the same trace. */
#include "random_pipes.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "isa/ascend.h"

struct dice {
	uint64_t seed, n;
};

static uint64_t roll(struct dice *d, uint64_t below)
{
	return hash_mix64(d->seed + 0x9e3779b97f4a7c15u * ++d->n) % below;
}

static const char *const names[] = {"core0.cubecore0/MTE1", "core0.cubecore0/CUBE",
	"core0.cubecore0/FIXP", "core0.cubecore0/MTE2", "core0.veccore0/MTE2",
	"core0.veccore0/VECTOR", "core0.veccore0/MTE3", "core0.veccore0/RVECEX",
	"core0.veccore1/SCALAR", "core0.veccore1/PUSHQ", "core0.veccore1/WARP_7",
	"core12.veccore0/ALL"};
static const char *const works[] = {"LOAD_2D Src:L1,Dst:L0A,", "MMAD dtype:F16F32", "VADD",
	"BAR PIPE:ALL", "MOV_OUT_TO_UB Src:OUT,Dst:UB,", "NOP_PIPE", "GET_BUF bufid:3", "RV_VLD"};

/* A flag that the k-th pair of pipes of one core uses. */
static const char *flag_text(bool is_wait, uint32_t k)
{
	static const char *const set[] = {"SET_FLAG PIPE:MTE2,TRIGGERPIPE:MTE1,FLAGID:0,",
		"SET_FLAG PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:1,",
		"SET_FLAG PIPE:S,TRIGGERPIPE:V,FLAGID:2,"};
	static const char *const wait[] = {"WAIT_FLAG PIPE:MTE2,TRIGGERPIPE:MTE1,FLAGID:0,",
		"WAIT_FLAG PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:1,",
		"WAIT_FLAG PIPE:S,TRIGGERPIPE:V,FLAGID:2,"};

	return (is_wait ? wait : set)[k % 3];
}

static uint32_t unit_of(uint32_t pipe)
{
	return pipe < 4 ? 0 : pipe < 8 ? 1 : pipe < 11 ? 2 : 3;
}

static void add_slice(
	struct random_pipes *m, struct dice *d, uint32_t pipe, uint64_t *at, const char *text)
{
	struct mem_pipe *k = &m->pipes[pipe];
	struct mem_slice *s = &m->slices[pipe][k->n_slices++];
	uint32_t stall = roll(d, 4) ? 0 : (uint32_t)roll(d, 30);

	/* starts differ, so that the order of a pipe is one; what is in flight overlaps */
	*s = (struct mem_slice){*at, stall + (uint32_t)roll(d, 200), stall, text, NULL};
	*at += 1 + roll(d, 90);
}

void random_pipes_make(struct random_pipes *m, uint64_t seed)
{
	struct dice d = {seed, 0};
	uint64_t at[MAX_PIPES];

	memset(m, 0, sizeof(*m));
	m->n_pipes = MAX_PIPES;
	for (uint32_t i = 0; i < MAX_PIPES; i++) {
		m->pipes[i] = (struct mem_pipe){names[i], m->slices[i], 0};
		at[i] = roll(&d, 3000);
		add_slice(m, &d, i, &at[i], works[roll(&d, 8)]);
	}
	for (uint32_t k = 0; k < 300; k++) {
		uint32_t a = (uint32_t)roll(&d, MAX_PIPES), b = (uint32_t)roll(&d, MAX_PIPES);
		struct link l = {.from_track = a, .to_track = b, .kind = LINK_FLAG};

		if (m->pipes[a].n_slices + 1 >= MAX_SLICES ||
			m->pipes[b].n_slices + 1 >= MAX_SLICES)
			continue;
		if (roll(&d, 4) || a == b || unit_of(a) != unit_of(b) || m->n_links == MAX_LINKS) {
			add_slice(m, &d, a, &at[a], works[roll(&d, 8)]);
			continue;
		}
		l.from_slice = m->pipes[a].n_slices;
		l.to_slice = m->pipes[b].n_slices;
		add_slice(m, &d, a, &at[a], flag_text(false, k));
		add_slice(m, &d, b, &at[b], flag_text(true, k));
		m->links[m->n_links++] = l;
	}
}

struct trace *random_pipes_trace(struct random_pipes *m)
{
	struct mem_pipes p = {
		.pipes = m->pipes, .n_pipes = m->n_pipes, .links = m->links, .n_links = m->n_links};

	return mem_pipes_new(&p);
}

/* --- everything else --- */

static void *must_have(void *p)
{
	if (!p)
		abort();
	return p;
}

static void fill_sources(struct trace *t, struct dice *d)
{
	static const char *const paths[] = {"/k/kernel.cpp", "C:/odd:name.h", "ascend-toolkit/x.h"};
	static const char text[] = "int x;\n\nint y;";

	t->n_sources = 3;
	t->sources = must_have(arena_zalloc(&t->arena, 3, sizeof(*t->sources)));
	for (uint32_t i = 0; i < 3; i++)
		t->sources[i].path = paths[i];
	t->sources[1].snapshot = "copy";
	t->sources[1].text = text;
	t->sources[1].text_len = sizeof(text) - 1;
	t->sources[1].n_lines = 3;
	t->frames = must_have(arena_zalloc(&t->arena, 3 * (size_t)t->n_code, sizeof(*t->frames)));
	for (code_idx i = 0; i < t->n_code; i++) {
		t->code[i].first_frame = t->n_frames;
		t->code[i].n_frames = (uint16_t)roll(d, 4);
		t->code[i].source = roll(d, 2) ? "" : "kernel.cpp:7 as written";
		for (uint16_t k = 0; k < t->code[i].n_frames; k++)
			t->frames[t->n_frames++] =
				(struct frame){(source_idx)roll(d, 3), 1 + (uint32_t)roll(d, 9)};
	}
}

static void fill_code(struct trace *t, struct dice *d)
{
	t->has_stated_totals = roll(d, 2);
	for (code_idx i = 0; i < t->n_code; i++) {
		struct code_row *r = &t->code[i];

		r->bytes = roll(d, 2) ? 0 : 1 + roll(d, 100000);
		if (t->has_stated_totals)
			r->stated = (struct code_totals){roll(d, 99), roll(d, 9999), roll(d, 9), 0};
		/* the same address; now and then the same opcode, too */
		if (i && roll(d, 3) == 0)
			r->address = t->code[roll(d, i)].address;
		r->code_object = (uint32_t)roll(d, 3);
	}
}

static void fill_links(struct trace *t, struct dice *d)
{
	static const enum link_kind kinds[] = {LINK_BARRIER, LINK_CROSS_CORE, LINK_FLOW};
	struct link *v =
		must_have(arena_zalloc(&t->arena, (size_t)t->n_links + 40, sizeof(*t->links)));

	memcpy(v, t->links, t->n_links * sizeof(*v));
	for (int i = 0; i < 40; i++) {
		track_idx a = (track_idx)roll(d, t->n_tracks), b = (track_idx)roll(d, t->n_tracks);

		v[t->n_links++] = (struct link){a, b, (uint32_t)roll(d, t->tracks[a].n_slices),
			(uint32_t)roll(d, t->tracks[b].n_slices), kinds[roll(d, 3)]};
	}
	t->links = v;
}

static void fill_heads(struct trace *t, struct dice *d)
{
	struct track_data data = {0};
	size_t n = 1;

	for (track_idx i = 0; i < t->n_tracks; i++)
		n += t->tracks[i].n_slices;
	t->heads = must_have(arena_zalloc(&t->arena, n, sizeof(*t->heads)));
	for (track_idx i = 0; i < t->n_tracks; i++) {
		if (!trace_load_track(t, i, 0, &data, NULL))
			abort();
		for (uint32_t k = 0; k < data.n; k++)
			if (data.stall_cyc[k])
				t->heads[t->n_heads++] = (struct head_cost){
					i, k, (uint32_t)roll(d, data.stall_cyc[k] + 1)};
	}
	track_data_deinit(&data);
}

static void fill_counters(struct trace *t, struct dice *d)
{
	static const char *const series[] = {"MTE Throughput/GM_TO_UB", "loose"};

	t->counters = must_have(arena_zalloc(&t->arena, 2, sizeof(*t->counters)));
	t->counter_names = must_have(arena_zalloc(&t->arena, 2, sizeof(*t->counter_names)));
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t *time = must_have(arena_zalloc(&t->arena, 5, sizeof(*time)));
		uint64_t *value = must_have(arena_zalloc(&t->arena, 5, sizeof(*value)));

		for (int k = 0; k < 5; k++) {
			time[k] = k ? time[k - 1] + roll(d, 500) : 0;
			value[k] = roll(d, 1000000);
		}
		t->counters[i] = (struct counter_series){.name = series[i],
			.cu = UINT32_MAX,
			.n = 5,
			.time_cyc = time,
			.value = value,
			.unit = i ? NULL : "MB/s",
			.per_unit = i ? 0 : 1000};
		t->counter_names[i] = series[i];
	}
	t->n_counters = t->n_counter_names = 2;
}

static void fill_tables(struct trace *t, struct dice *d)
{
	static const char *const cols[] = {"key", "value"};
	static const char *const cells[] = {"profile", "a5 [x]", "calibration", NULL};
	static const struct named_table tables[] = {
		{ASCEND_TABLE_LABELS, "model", 2, 2, cols, cells},
		{ASCEND_TABLE_SUMMARY, "core0_summary_log", 2, 0, cols, NULL}};

	t->tables = must_have(arena_memdup(&t->arena, tables, sizeof(tables)));
	t->n_tables = 2;
	for (uint64_t i = roll(d, 12); i > 0; i--)
		must_have(trace_note_as(t, (enum note_kind)roll(d, NOTE_INFO + 1), "made-up", NULL,
				  i % 2 ? INCORE_NO_OFFSET : i, i, "note %d", (int)i)
				  ? t
				  : NULL);
}

void random_pipes_fill(struct trace *t, uint64_t seed)
{
	struct dice d = {seed, 7};
	struct trace_meta *m = &t->meta;

	fill_sources(t, &d);
	fill_code(t, &d);
	fill_links(t, &d);
	fill_heads(t, &d);
	fill_counters(t, &d);
	fill_tables(t, &d);
	m->evidence = (enum evidence)(1 + roll(&d, 4));
	m->kernel = roll(&d, 4) ? "add_custom<float, [2]>" : NULL;
	m->arch = roll(&d, 2) ? "Ascend910B1" : NULL;
	m->arch_source = m->arch ? "--soc" : NULL;
	m->is_from_us = roll(&d, 2);
	m->launch.launch_index = roll(&d, 2) ? 3 : NO_VALUE;
	m->machine.product = roll(&d, 2) ? "a product" : NULL;
	switch (roll(&d, 3)) {
	case 0: /* unknown */
		m->clock_hz_num = m->clock_hz_den = 0;
		m->clock_source = NULL;
		break;
	case 1: /* no whole number of hertz */
		m->clock_hz_num = 5000000001;
		m->clock_hz_den = 3;
		break;
	default:
		break;
	}
}
