/* SPDX-License-Identifier: Apache-2.0 */
/* mem_trace.c: arrays of a test become a sealed trace with a loader that copies from them. */
#include "mem_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/amd.h"

static void must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "mem_trace: %s\n", what);
		abort();
	}
}

static bool load_states(const struct mem_wave *w, struct track_data *d)
{
	if (!track_data_reserve_states(d, w->n_states))
		return false;
	for (uint32_t i = 0; i < w->n_states; i++) {
		d->state[i] = (uint8_t)w->states[i].state;
		d->state_dur_cyc[i] = w->states[i].duration;
	}
	d->n_states = w->n_states;
	return true;
}

static bool load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	const struct mem_wave *w = &((const struct mem_capture *)t->loader_ctx)->waves[i];

	if (!track_data_reserve(d, w->n_records) || ((want & TRACK_STATES) && !load_states(w, d)))
		return err_nomem(e);
	for (uint32_t k = 0; k < w->n_records && !(want & TRACK_NO_SLICES); k++) {
		const struct mem_record *r = &w->records[k];
		bool known = r->line < t->n_code && !t->code[r->line].is_label;
		struct str text = {NULL, 0};

		if (known)
			text = (struct str){t->code[r->line].text, t->code[r->line].text_len};
		track_data_put(
			d, &(struct track_slice){.start = r->time,
				   .dur = r->duration,
				   .stall = r->stall,
				   .code = known ? r->line : NO_CODE,
				   .tag = (uint8_t)r->category,
				   .inst_class =
					   (uint8_t)(known ? amd_class(r->category, text)
							   : amd_class_of_category(r->category))});
	}
	d->stated_slices = w->n_records;
	return true;
}

static void close_loader(void *ctx)
{
	free(ctx);
}

static source_idx add_source(struct trace *t, const char *path, size_t n)
{
	for (uint32_t i = 0; i < t->n_sources; i++)
		if (strlen(t->sources[i].path) == n && memcmp(t->sources[i].path, path, n) == 0)
			return i;
	t->sources[t->n_sources] = (struct source_file){.path = arena_strndup(&t->arena, path, n)};
	return t->n_sources++;
}

static void add_frames(struct trace *t, struct code_row *r)
{
	struct str rest = str_of(r->source), part;

	r->first_frame = t->n_frames;
	while (str_cut(&rest, " -> ", &part)) {
		ptrdiff_t colon = str_rfind_char(part, ':');

		if (colon <= 0)
			continue;
		t->frames[t->n_frames++] =
			(struct frame){.source = add_source(t, part.p, (size_t)colon),
				.line = (uint32_t)strtoul(part.p + colon + 1, NULL, 10)};
		r->n_frames++;
	}
}

static void add_opcode(struct trace *t, struct code_row *r)
{
	size_t n = strcspn(r->text, " ");

	for (r->opcode = 0; r->opcode < t->n_opcodes; r->opcode++)
		if (strlen(t->opcodes[r->opcode]) == n &&
			memcmp(t->opcodes[r->opcode], r->text, n) == 0)
			return;
	t->opcodes[t->n_opcodes++] = arena_strndup(&t->arena, r->text, n);
}

static void add_code(struct trace *t, const struct mem_capture *m)
{
	uint64_t address = 0x1000;
	size_t n_frames = 1;

	for (uint32_t i = 0; i < m->n_code; i++)
		n_frames += m->code[i].source ? strlen(m->code[i].source) : 0;
	t->code = arena_zalloc(&t->arena, m->n_code + 1, sizeof(*t->code));
	t->opcodes = arena_zalloc(&t->arena, m->n_code + 1, sizeof(*t->opcodes));
	t->frames = arena_zalloc(&t->arena, n_frames, sizeof(*t->frames));
	t->sources = arena_zalloc(&t->arena, n_frames, sizeof(*t->sources));
	must(t->code && t->opcodes && t->frames && t->sources, "no memory");
	for (uint32_t i = 0; i < m->n_code; i++) {
		struct code_row *r = &t->code[i];

		r->text = m->code[i].text;
		r->text_len = (uint32_t)strlen(r->text);
		r->number = i;
		r->is_label = r->text[0] == ';';
		r->address = m->code[i].address ? m->code[i].address : address;
		address = r->address + (r->is_label ? 0 : 4);
		r->source = m->code[i].source ? m->code[i].source : "";
		r->inst_class = (uint8_t)amd_class(AMD_NO_CATEGORY, str_of(r->text));
		add_frames(t, r);
		add_opcode(t, r);
	}
	t->n_code = m->n_code;
}

static void add_tracks(struct trace *t, const struct mem_capture *m)
{
	uint32_t n_clocks = m->n_se_offsets ? m->n_se_offsets : 1;

	for (uint32_t i = 0; i < m->n_waves; i++)
		if (m->waves[i].se >= n_clocks)
			n_clocks = m->waves[i].se + 1;
	t->clocks = arena_zalloc(&t->arena, n_clocks, sizeof(*t->clocks));
	t->tracks = arena_zalloc(&t->arena, m->n_waves + 1, sizeof(*t->tracks));
	must(t->clocks && t->tracks, "no memory");
	t->n_clocks = n_clocks;
	for (uint32_t i = 0; i < n_clocks; i++) {
		t->clocks[i].id = i;
		t->clocks[i].is_aligned = true;
		if (i < m->n_se_offsets)
			t->clocks[i].offset_cyc = m->se_offsets[i];
	}
	t->reference_clock = 0;
	for (uint32_t i = 0; i < m->n_waves; i++) {
		const struct mem_wave *w = &m->waves[i];

		t->tracks[i] = (struct track){.coord = {w->se, w->cu, w->simd, w->slot, w->wave},
			.clock = w->se,
			.n_slices = w->n_records,
			.begin_cyc = w->begin,
			.end_cyc = w->end,
			.kernel_id = UINT32_MAX,
			.workgroup = NO_VALUE,
			.name = arena_printf(&t->arena, "se%u_sm%u_sl%u_wv%u.json", w->se, w->simd,
				w->slot, w->wave)};
		must(t->tracks[i].name, "no memory");
	}
	t->n_tracks = m->n_waves;
}

struct trace *mem_trace_new(const struct mem_capture *m)
{
	static const char *const levels[TRACK_LEVELS] = {"se", "cu", "simd", "slot", "wave"};
	struct trace *t = trace_new();
	struct mem_capture *copy = malloc(sizeof(*copy));
	struct incore_error e = {0};

	must(t && copy, "no memory");
	*copy = *m;
	t->meta.vendor = VENDOR_AMD;
	t->meta.evidence = EVIDENCE_HARDWARE_TRACE;
	t->meta.format = "memory";
	t->meta.origin = "memory";
	t->meta.kernel = m->kernel ? m->kernel : "k";
	t->meta.arch = "gfx950";
	t->meta.arch_source = "test";
	t->meta.gfx_major = m->gfx_major ? m->gfx_major : 9;
	t->meta.clock_quantum = t->meta.gfx_major == 9 ? 4 : 1;
	memcpy(t->levels, levels, sizeof(levels));
	t->loader = (struct track_loader){.load = load, .close = close_loader};
	t->loader_ctx = copy;
	add_code(t, m);
	add_tracks(t, m);
	must(trace_seal(t, &e), e.message ? e.message : "cannot be sealed");
	return t;
}
