/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_tables.c: meta, code, sources, clocks and tracks as sections. Tables go column by column,
 * which compresses best. One function per section serves the writer and the reader.
 */
#include "trace/packed_tables.h"

static void move_machine(struct fields *f, struct trace_machine *m)
{
	fields_i64(f, &m->simds);
	fields_i64(f, &m->cus);
	fields_i64(f, &m->ses);
	fields_i64(f, &m->xccs);
	fields_i64(f, &m->max_waves_per_simd);
	fields_i64(f, &m->lds_bytes_per_cu);
	fields_i64(f, &m->wave_size);
	fields_i64(f, &m->max_clock_mhz);
	fields_str(f, &m->product);
}

static void move_launch(struct fields *f, struct trace_launch *l)
{
	fields_i64(f, &l->agent);
	fields_i64(f, &l->dispatch);
	fields_i64(f, &l->kernel_id);
	fields_i64(f, &l->launch_index);
	fields_i64(f, &l->launch_count);
	fields_i64(f, &l->vgprs);
	fields_i64(f, &l->accum_vgprs);
	fields_i64(f, &l->sgprs);
	fields_i64(f, &l->lds_bytes);
	fields_i64(f, &l->scratch_bytes);
	for (int i = 0; i < 3; i++) {
		fields_i64(f, &l->workgroup[i]);
		fields_i64(f, &l->grid[i]);
	}
	fields_i64(f, &l->workgroups);
	fields_i64(f, &l->waves);
	fields_i64(f, &l->start_ns);
	fields_i64(f, &l->end_ns);
	fields_bool(f, &l->is_other_run);
	fields_str(f, &l->command);
}

static void move_meta(struct fields *f, struct trace *t)
{
	struct trace_meta *m = &t->meta;
	uint32_t vendor = m->vendor, evidence = m->evidence;

	move_launch(f, &m->launch);
	move_machine(f, &m->machine);
	fields_u32(f, &vendor);
	fields_u32(f, &evidence);
	if (vendor > VENDOR_NVIDIA || evidence > EVIDENCE_ESTIMATE) {
		f->is_failed = true;
		return;
	}
	m->vendor = (enum vendor)vendor;
	m->evidence = (enum evidence)evidence;
	fields_str(f, &m->format);
	fields_str(f, &m->format_version);
	fields_str(f, &m->kernel);
	fields_str(f, &m->arch);
	fields_str(f, &m->arch_source);
	fields_u32(f, &m->gfx_major);
	fields_u64(f, &m->clock_hz_num);
	fields_u64(f, &m->clock_hz_den);
	fields_str(f, &m->clock_source);
	fields_u32(f, &m->clock_quantum);
	fields_i64(f, &m->target_cu);
	/* Stands behind the rest, and only where it is set: older files end before it. */
	if (f->is_reading ? !f->is_failed && f->in.p < f->in.end : m->is_from_us)
		fields_bool(f, &m->is_from_us);
}

static void move_code_text(struct fields *f, struct trace *t)
{
	for (uint32_t i = 0; i < t->n_code; i++) {
		fields_str(f, &t->code[i].text);
		if (f->is_reading)
			t->code[i].text_len =
				t->code[i].text ? (uint32_t)strlen(t->code[i].text) : 0;
	}
	for (uint32_t i = 0; i < t->n_code; i++)
		fields_str(f, &t->code[i].source);
}

static void move_code(struct fields *f, struct trace *t)
{
	uint64_t number = 0, address = 0;
	uint32_t frame = 0, object = 0;

	t->opcodes = fields_array(f, t->opcodes, &t->n_opcodes, sizeof(*t->opcodes), 1);
	for (uint32_t i = 0; i < t->n_opcodes; i++)
		fields_str(f, &t->opcodes[i]);
	t->code = fields_array(f, t->code, &t->n_code, sizeof(*t->code), 9);
	move_code_text(f, t);
	for (uint32_t i = 0; i < t->n_code; i++)
		fields_u32(f, &t->code[i].opcode);
	for (uint32_t i = 0; i < t->n_code; i++) {
		uint64_t v = (uint64_t)t->code[i].number;

		fields_delta_u64(f, &v, &number);
		if (f->is_reading)
			t->code[i].number = (int64_t)v;
	}
	for (uint32_t i = 0; i < t->n_code; i++)
		fields_delta_u64(f, &t->code[i].address, &address);
	for (uint32_t i = 0; i < t->n_code; i++)
		fields_delta_u32(f, &t->code[i].code_object, &object);
	for (uint32_t i = 0; i < t->n_code; i++)
		fields_bool(f, &t->code[i].is_label);
	for (uint32_t i = 0; i < t->n_code; i++)
		fields_u8(f, &t->code[i].inst_class);
	for (uint32_t i = 0; i < t->n_code; i++)
		fields_u16(f, &t->code[i].n_frames);
	for (uint32_t i = 0; i < t->n_code; i++)
		fields_delta_u32(f, &t->code[i].first_frame, &frame);
}

/* Stands behind the rest, and only where a row has any: older files end before it. */
static void move_code_bytes(struct fields *f, struct trace *t)
{
	bool has = false;

	for (uint32_t i = 0; i < t->n_code; i++)
		has |= t->code[i].bytes != 0;
	if (f->is_reading ? f->is_failed || f->in.p >= f->in.end : !has)
		return;
	for (uint32_t i = 0; i < t->n_code; i++)
		fields_u64(f, &t->code[i].bytes);
}

static void move_totals(struct fields *f, struct trace *t)
{
	uint32_t n = t->n_code;

	fields_bool(f, &t->has_stated_totals);
	fields_u32(f, &n);
	if (n != t->n_code) {
		f->is_failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		fields_u64(f, &t->code[i].stated.hit);
	for (uint32_t i = 0; i < n; i++)
		fields_u64(f, &t->code[i].stated.latency);
	for (uint32_t i = 0; i < n; i++)
		fields_u64(f, &t->code[i].stated.stall);
	for (uint32_t i = 0; i < n; i++)
		fields_u64(f, &t->code[i].stated.idle);
	move_code_bytes(f, t);
}

static void move_samples(struct fields *f, struct trace *t)
{
	uint32_t n = t->samples ? t->n_code : 0;
	struct code_samples *s = fields_array(f, t->samples, &n, sizeof(*s), 2 + STALL_REASONS);

	if (n != 0 && n != t->n_code) {
		f->is_failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		fields_u64(f, &s[i].issued);
	for (uint32_t i = 0; i < n; i++)
		fields_u64(f, &s[i].stalled);
	for (int r = 0; r < STALL_REASONS; r++)
		for (uint32_t i = 0; i < n; i++)
			fields_u64(f, &s[i].reason[r]);
	t->samples = s;
}

static void move_sources(struct fields *f, struct trace *t)
{
	uint32_t source = 0, line = 0;

	t->frames = fields_array(f, t->frames, &t->n_frames, sizeof(*t->frames), 2);
	for (uint32_t i = 0; i < t->n_frames; i++)
		fields_delta_u32(f, &t->frames[i].source, &source);
	for (uint32_t i = 0; i < t->n_frames; i++)
		fields_delta_u32(f, &t->frames[i].line, &line);
	t->sources = fields_array(f, t->sources, &t->n_sources, sizeof(*t->sources), 3);
	for (uint32_t i = 0; i < t->n_sources; i++) {
		fields_str(f, &t->sources[i].path);
		fields_str(f, &t->sources[i].snapshot);
		fields_u32(f, &t->sources[i].n_lines);
	}
}

static void move_source_texts(struct fields *f, struct trace *t)
{
	uint32_t n = t->n_sources;

	fields_u32(f, &n);
	if (n != t->n_sources) {
		f->is_failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		fields_bytes(f, &t->sources[i].text, &t->sources[i].text_len);
}

static void move_clock_samples(struct fields *f, struct clock_domain *c)
{
	uint64_t prev[2] = {0, 0};
	int64_t(*v)[2] = fields_array(f, (void *)c->samples, &c->n_samples, sizeof(*v), 2);

	for (uint32_t i = 0; i < c->n_samples; i++)
		for (int k = 0; k < 2; k++) {
			uint64_t u = (uint64_t)v[i][k];

			fields_delta_u64(f, &u, &prev[k]);
			if (f->is_reading)
				v[i][k] = (int64_t)u;
		}
	if (f->is_reading)
		c->samples = (const int64_t(*)[2])v;
}

static void move_clocks(struct fields *f, struct trace *t)
{
	t->clocks = fields_array(f, t->clocks, &t->n_clocks, sizeof(*t->clocks), 6);
	for (uint32_t i = 0; i < t->n_clocks; i++) {
		struct clock_domain *c = &t->clocks[i];

		fields_u32(f, &c->id);
		fields_bool(f, &c->is_aligned);
		fields_i64(f, &c->offset_cyc);
		fields_u64(f, &c->hz_num);
		fields_u64(f, &c->hz_den);
		move_clock_samples(f, c);
	}
	fields_u32(f, &t->reference_clock);
}

static void move_tracks(struct fields *f, struct trace *t)
{
	uint32_t prev[TRACK_LEVELS] = {0};
	uint64_t begin = 0;

	for (int k = 0; k < TRACK_LEVELS; k++)
		fields_str(f, &t->levels[k]);
	t->tracks = fields_array(f, t->tracks, &t->n_tracks, sizeof(*t->tracks), 12);
	for (int k = 0; k < TRACK_LEVELS; k++)
		for (uint32_t i = 0; i < t->n_tracks; i++)
			fields_delta_u32(f, &t->tracks[i].coord[k], &prev[k]);
	for (uint32_t i = 0; i < t->n_tracks; i++)
		fields_u32(f, &t->tracks[i].clock);
	for (uint32_t i = 0; i < t->n_tracks; i++)
		fields_u32(f, &t->tracks[i].n_slices);
	for (uint32_t i = 0; i < t->n_tracks; i++)
		fields_delta_u64(f, &t->tracks[i].begin_cyc, &begin);
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		uint64_t base = t->tracks[i].begin_cyc;

		fields_delta_u64(f, &t->tracks[i].end_cyc, &base);
	}
	for (uint32_t i = 0; i < t->n_tracks; i++)
		fields_u32(f, &t->tracks[i].kernel_id);
	for (uint32_t i = 0; i < t->n_tracks; i++)
		fields_str(f, &t->tracks[i].name);
	for (uint32_t i = 0; i < t->n_tracks; i++)
		fields_i64(f, &t->tracks[i].workgroup);
}

const struct packed_table packed_tables[] = {
	{PACKED_META, "meta", move_meta},
	{PACKED_CODE, "code", move_code},
	{PACKED_TOTALS, "totals", move_totals},
	{PACKED_SAMPLES, "samples", move_samples},
	{PACKED_SOURCES, "sources", move_sources},
	{PACKED_SOURCE_TEXTS, "source-texts", move_source_texts},
	{PACKED_CLOCKS, "clocks", move_clocks},
	{PACKED_TRACKS, "tracks", move_tracks},
	{PACKED_OCCUPANCY, "occupancy", packed_move_occupancy},
	{PACKED_DISPATCHES, "dispatches", packed_move_dispatches},
	{PACKED_COUNTERS, "counters", packed_move_counters},
	{PACKED_MARKERS, "markers", packed_move_markers},
	{PACKED_OTHER_ISSUES, "other-issues", packed_move_other_issues},
	{PACKED_SERIES, "series", packed_move_series},
	{PACKED_LINKS, "links", packed_move_links},
	{PACKED_NOTES, "notes", packed_move_notes},
	{0, NULL, NULL},
};

const char *packed_section_name(uint32_t id)
{
	for (size_t i = 0; packed_tables[i].name; i++)
		if (packed_tables[i].id == id)
			return packed_tables[i].name;
	switch (id) {
	case PACKED_CONTENT:
		return "content";
	case PACKED_BLOCKS:
		return "blocks";
	case PACKED_PLACES:
		return "places";
	default:
		return "unknown";
	}
}
