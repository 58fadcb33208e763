/* SPDX-License-Identifier: Apache-2.0 */
/* trace_difference.c: are two traces equal, field by field? */
#include "random_trace.h"

#define NUM(f)                                                                                     \
	do {                                                                                       \
		if (a->f != b->f)                                                                  \
			return #f;                                                                 \
	} while (0)
#define TXT(f)                                                                                     \
	do {                                                                                       \
		if (!same(a->f, b->f))                                                             \
			return #f;                                                                 \
	} while (0)
#define MEM(f, n)                                                                                  \
	do {                                                                                       \
		if ((n) && memcmp(a->f, b->f, (size_t)(n) * sizeof(*a->f)) != 0)                   \
			return #f;                                                                 \
	} while (0)

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *meta_difference(const struct trace_meta *a, const struct trace_meta *b)
{
	NUM(vendor);
	NUM(evidence);
	TXT(format);
	TXT(format_version);
	TXT(kernel);
	TXT(arch);
	TXT(arch_source);
	NUM(gfx_major);
	NUM(clock_hz_num);
	NUM(clock_hz_den);
	TXT(clock_source);
	NUM(clock_quantum);
	NUM(is_from_us);
	NUM(target_cu);
	NUM(machine.simds);
	NUM(machine.cus);
	NUM(machine.ses);
	NUM(machine.xccs);
	NUM(machine.max_waves_per_simd);
	NUM(machine.lds_bytes_per_cu);
	NUM(machine.wave_size);
	NUM(machine.max_clock_mhz);
	TXT(machine.product);
	return NULL;
}

static const char *launch_difference(const struct trace_launch *a, const struct trace_launch *b)
{
	NUM(agent);
	NUM(dispatch);
	NUM(kernel_id);
	NUM(launch_index);
	NUM(launch_count);
	NUM(vgprs);
	NUM(accum_vgprs);
	NUM(sgprs);
	NUM(lds_bytes);
	NUM(scratch_bytes);
	MEM(workgroup, 3);
	MEM(grid, 3);
	NUM(workgroups);
	NUM(waves);
	NUM(start_ns);
	NUM(end_ns);
	NUM(is_other_run);
	TXT(command);
	return NULL;
}

static const char *code_difference(const struct code_row *a, const struct code_row *b)
{
	TXT(text);
	NUM(text_len);
	NUM(opcode);
	NUM(number);
	NUM(address);
	NUM(code_object);
	NUM(is_label);
	NUM(inst_class);
	NUM(n_frames);
	NUM(first_frame);
	TXT(source);
	NUM(stated.hit);
	NUM(stated.latency);
	NUM(stated.stall);
	NUM(stated.idle);
	NUM(bytes);
	return NULL;
}

static const char *static_difference(const struct trace *a, const struct trace *b)
{
	NUM(n_code);
	NUM(has_stated_totals);
	NUM(n_opcodes);
	NUM(n_frames);
	NUM(n_sources);
	for (uint32_t i = 0; i < a->n_code; i++) {
		const char *what = code_difference(&a->code[i], &b->code[i]);

		if (what)
			return what;
	}
	if (!a->samples != !b->samples)
		return "samples";
	MEM(samples, a->samples ? a->n_code : 0);
	NUM(n_reasons);
	for (uint32_t i = 0; i < a->n_reasons; i++)
		TXT(reasons[i]);
	MEM(reason_counts, a->samples ? (size_t)a->n_code * a->n_reasons : 0);
	NUM(sampling.period_cyc);
	NUM(sampling.n_dropped);
	NUM(sampling.has_not_issued);
	NUM(n_metrics);
	for (uint32_t i = 0; i < a->n_metrics; i++) {
		TXT(metrics[i].name);
		NUM(metrics[i].is_real);
		NUM(metrics[i].n);
		MEM(metrics[i].row, a->metrics[i].n);
		MEM(metrics[i].value, a->metrics[i].n);
	}
	NUM(n_code_links);
	MEM(code_links, a->n_code_links);
	for (uint32_t i = 0; i < a->n_opcodes; i++)
		TXT(opcodes[i]);
	MEM(frames, a->n_frames);
	for (uint32_t i = 0; i < a->n_sources; i++) {
		TXT(sources[i].path);
		TXT(sources[i].snapshot);
		NUM(sources[i].text_len);
		NUM(sources[i].n_lines);
		if (!a->sources[i].text != !b->sources[i].text)
			return "source text";
		MEM(sources[i].text, a->sources[i].text_len);
	}
	return NULL;
}

static const char *track_difference(const struct track *a, const struct track *b)
{
	MEM(coord, TRACK_LEVELS);
	NUM(clock);
	NUM(n_slices);
	NUM(begin_cyc);
	NUM(end_cyc);
	NUM(kernel_id);
	TXT(name);
	NUM(workgroup);
	return NULL;
}

static const char *time_difference(const struct trace *a, const struct trace *b)
{
	NUM(n_clocks);
	NUM(reference_clock);
	for (uint32_t i = 0; i < a->n_clocks; i++) {
		NUM(clocks[i].id);
		NUM(clocks[i].is_aligned);
		NUM(clocks[i].offset_cyc);
		NUM(clocks[i].hz_num);
		NUM(clocks[i].hz_den);
		NUM(clocks[i].n_samples);
		MEM(clocks[i].samples, a->clocks[i].n_samples);
	}
	for (int i = 0; i < TRACK_LEVELS; i++)
		TXT(levels[i]);
	NUM(n_tracks);
	for (uint32_t i = 0; i < a->n_tracks; i++) {
		const char *what = track_difference(&a->tracks[i], &b->tracks[i]);

		if (what)
			return what;
	}
	return NULL;
}

static const char *event_difference(const struct dispatch_event *a, const struct dispatch_event *b)
{
	NUM(time_cyc);
	NUM(clock);
	NUM(is_dispatch);
	NUM(type);
	NUM(me);
	NUM(pipe);
	NUM(kernel_id);
	NUM(flags);
	TXT(kernel_name);
	NUM(vgprs);
	NUM(sgprs);
	NUM(lds_bytes);
	MEM(thread_dim, 3);
	return NULL;
}

static const char *occupancy_difference(const struct trace *a, const struct trace *b)
{
	NUM(n_occupancy);
	for (uint32_t i = 0; i < a->n_occupancy; i++) {
		NUM(occupancy[i].time_cyc);
		NUM(occupancy[i].clock);
		NUM(occupancy[i].cu);
		NUM(occupancy[i].simd);
		NUM(occupancy[i].slot);
		NUM(occupancy[i].kernel_id);
		NUM(occupancy[i].is_start);
		NUM(occupancy[i].me);
		NUM(occupancy[i].pipe);
		NUM(occupancy[i].workgroup);
		NUM(occupancy[i].cluster);
	}
	NUM(n_kernel_names);
	for (uint32_t i = 0; i < a->n_kernel_names; i++) {
		NUM(kernel_names[i].id);
		TXT(kernel_names[i].name);
	}
	NUM(n_dispatch_events);
	for (uint32_t i = 0; i < a->n_dispatch_events; i++) {
		const char *what = event_difference(&a->dispatch_events[i], &b->dispatch_events[i]);

		if (what)
			return what;
	}
	return NULL;
}

static const char *series_difference(const struct trace *a, const struct trace *b)
{
	NUM(n_counter_names);
	for (uint32_t i = 0; i < a->n_counter_names; i++)
		TXT(counter_names[i]);
	NUM(n_counters);
	for (uint32_t i = 0; i < a->n_counters; i++) {
		TXT(counters[i].name);
		NUM(counters[i].clock);
		NUM(counters[i].cu);
		TXT(counters[i].unit);
		if (a->counters[i].unit)
			NUM(counters[i].per_unit);
		NUM(counters[i].n);
		MEM(counters[i].time_cyc, a->counters[i].n);
		MEM(counters[i].value, a->counters[i].n);
	}
	NUM(n_stated_series);
	for (uint32_t i = 0; i < a->n_stated_series; i++) {
		NUM(stated_series[i].state);
		NUM(stated_series[i].n);
		MEM(stated_series[i].time_cyc, a->stated_series[i].n);
		MEM(stated_series[i].count, a->stated_series[i].n);
	}
	return NULL;
}

static const char *table_difference(const struct named_table *a, const struct named_table *b)
{
	TXT(name);
	TXT(origin);
	NUM(n_cols);
	NUM(n_rows);
	for (uint32_t i = 0; i < a->n_cols; i++)
		TXT(cols[i]);
	for (uint32_t i = 0; i < a->n_cols * a->n_rows; i++)
		TXT(cells[i]);
	return NULL;
}

static const char *small_difference(const struct trace *a, const struct trace *b)
{
	NUM(n_markers);
	for (uint32_t i = 0; i < a->n_markers; i++) {
		NUM(markers[i].time_cyc);
		NUM(markers[i].value);
		NUM(markers[i].clock);
		NUM(markers[i].cu);
		NUM(markers[i].simd);
		NUM(markers[i].slot);
		NUM(markers[i].flags);
	}
	NUM(n_other_issues);
	for (uint32_t i = 0; i < a->n_other_issues; i++) {
		NUM(other_issues[i].time_cyc);
		NUM(other_issues[i].dur_cyc);
		NUM(other_issues[i].category);
		NUM(other_issues[i].clock);
	}
	NUM(n_links);
	MEM(links, a->n_links);
	NUM(n_heads);
	MEM(heads, a->n_heads);
	NUM(n_tables);
	for (uint32_t i = 0; i < a->n_tables; i++) {
		const char *what = table_difference(&a->tables[i], &b->tables[i]);

		if (what)
			return what;
	}
	NUM(n_notes);
	for (uint32_t i = 0; i < a->n_notes; i++) {
		NUM(notes[i].kind);
		TXT(notes[i].code);
		TXT(notes[i].message);
		TXT(notes[i].path);
		NUM(notes[i].offset);
		NUM(notes[i].count);
	}
	return NULL;
}

static const char *data_difference(const struct track_data *a, const struct track_data *b)
{
	NUM(n);
	MEM(start_cyc, a->n);
	MEM(dur_cyc, a->n);
	MEM(stall_cyc, a->n);
	MEM(code, a->n);
	MEM(inst_class, a->n);
	MEM(tag, a->n);
	NUM(n_states);
	MEM(state, a->n_states);
	MEM(state_dur_cyc, a->n_states);
	NUM(n_stated_waits);
	MEM(stated_waits, a->n_stated_waits);
	NUM(n_stated_producers);
	MEM(stated_producers, a->n_stated_producers);
	NUM(n_unknown_code);
	NUM(begin_cyc);
	NUM(end_cyc);
	NUM(stated_slices);
	MEM(coord_file, TRACK_LEVELS);
	return NULL;
}

static const char *error_difference(const struct incore_error *a, const struct incore_error *b)
{
	for (; a && b; a = a->cause, b = b->cause) {
		NUM(status);
		TXT(code);
		TXT(message);
		TXT(path);
		NUM(offset);
		NUM(line);
		NUM(column);
	}
	return a || b ? "causes" : NULL;
}

/* The columns that are wanted of b are those of a, whichever are not. */
static const char *column_difference(
	const struct track_data *a, const struct track_data *b, unsigned less)
{
	const struct {
		unsigned less;
		const void *a, *b;
		size_t size;
	} columns[] = {
		{TRACK_NO_START, a->start_cyc, b->start_cyc, sizeof(*a->start_cyc)},
		{TRACK_NO_LENGTH, a->dur_cyc, b->dur_cyc, sizeof(*a->dur_cyc)},
		{TRACK_NO_LENGTH, a->stall_cyc, b->stall_cyc, sizeof(*a->stall_cyc)},
		{TRACK_NO_CODE, a->code, b->code, sizeof(*a->code)},
		{TRACK_NO_CLASS, a->inst_class, b->inst_class, sizeof(*a->inst_class)},
		{TRACK_NO_TAG, a->tag, b->tag, sizeof(*a->tag)},
	};

	if (a->n != b->n)
		return "slices of a part of the columns";
	for (size_t i = 0; a->n && i < sizeof(columns) / sizeof(columns[0]); i++)
		if (!(less & columns[i].less) &&
			memcmp(columns[i].a, columns[i].b, columns[i].size * a->n) != 0)
			return "a part of the columns";
	return NULL;
}

static const char *column_differs(
	const struct trace *b, uint32_t i, const struct track_data *all, unsigned less)
{
	struct track_data part = {0}; /* new: nothing is left from before */
	struct incore_error e = {0};
	const char *what = "whether a part of the columns loads";

	if (trace_load_track(b, i, less, &part, &e))
		what = column_difference(all, &part, less);
	track_data_deinit(&part);
	incore_error_clear(&e);
	return what;
}

static const char *part_difference(const struct trace *a, const struct trace *b)
{
	struct track_data all = {0};
	const char *what = NULL;

	for (uint32_t i = 0; i < a->n_tracks && !what; i += 1 + a->n_tracks / 64) {
		struct incore_error e = {0};
		bool is_there = trace_load_track(a, i, 0, &all, &e);

		/* each column alone, and all but it */
		for (unsigned bit = TRACK_NO_START; is_there && bit <= TRACK_NO_TAG && !what;
			bit <<= 1) {
			what = column_differs(b, i, &all, bit);
			if (!what)
				what = column_differs(b, i, &all, TRACK_LESS & ~bit);
		}
		incore_error_clear(&e);
	}
	track_data_deinit(&all);
	return what;
}

static const char *content_difference(const struct trace *a, const struct trace *b)
{
	static const unsigned wants[] = {TRACK_STATES | TRACK_STATED_WAITS, 0, TRACK_STATES,
		TRACK_STATED_WAITS, TRACK_NO_SLICES | TRACK_STATES};
	struct track_data da = {0}, db = {0};
	const char *what = NULL;

	for (uint32_t i = 0; i < a->n_tracks && !what; i++) {
		for (size_t k = 0; k < sizeof(wants) / sizeof(wants[0]) && !what; k++) {
			struct incore_error ea = {0}, eb = {0};
			bool oka = trace_load_track(a, i, wants[k], &da, &ea);
			bool okb = trace_load_track(b, i, wants[k], &db, &eb);

			if (oka != okb)
				what = "whether a track loads";
			else
				what = oka ? data_difference(&da, &db) : error_difference(&ea, &eb);
			incore_error_clear(&ea);
			incore_error_clear(&eb);
		}
	}
	track_data_deinit(&da);
	track_data_deinit(&db);
	return what;
}

const char *trace_difference(const struct trace *a, const struct trace *b)
{
	const char *(*const parts[])(const struct trace *, const struct trace *) = {
		static_difference, time_difference, occupancy_difference, series_difference,
		small_difference, content_difference, part_difference};
	const char *what = meta_difference(&a->meta, &b->meta);

	if (!what)
		what = launch_difference(&a->meta.launch, &b->meta.launch);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !what; i++)
		what = parts[i](a, b);
	return what;
}
