/* SPDX-License-Identifier: Apache-2.0 */
/* field_list.c: every field of the trace's tables, see field_list.h. The order is that of the packed
 * file. */
#include "trace/field_list.h"

#define FIELD_WORDS(s, member, type, packed, blob, name, words)                                    \
	{                                                                                          \
		name, words, offsetof(struct s, member), sizeof(((struct s *)0)->member),          \
			FIELD_##type,                                                              \
		{                                                                                  \
			AS_##packed, AS_##blob                                                     \
		}                                                                                  \
	}
#define FIELD(s, member, type, packed, blob, name)                                                 \
	FIELD_WORDS(s, member, type, packed, blob, name, NULL)

#define STRUCT(shown, s, list)                                                                     \
	.name = shown, .fields = list, .n_fields = sizeof(list) / sizeof(struct field),            \
	.row_size = sizeof(struct s)
#define TABLE(shown, s, list, rows, n)                                                             \
	STRUCT(shown, s, list), .array = offsetof(struct trace, rows),                             \
				.count = offsetof(struct trace, n)

_Static_assert(offsetof(struct code_row, text_len) == sizeof(char *), "the length of FIELD_TEXT");
_Static_assert(sizeof(bool) == 1, "FIELD_BOOL is a byte");
_Static_assert(sizeof(enum vendor) == 4 && sizeof(enum link_kind) == 4, "FIELD_ENUM is 4 bytes");

/* --- who, where, on what --- */

static const struct field launch_fields[] = {
	FIELD(trace_launch, agent, VALUE, PLAIN, NOTHING, "agent"),
	FIELD(trace_launch, dispatch, VALUE, PLAIN, NOTHING, "dispatch"),
	FIELD(trace_launch, kernel_id, VALUE, PLAIN, NOTHING, "kernel_id"),
	FIELD(trace_launch, launch_index, VALUE, PLAIN, NOTHING, "launch_index"),
	FIELD(trace_launch, launch_count, VALUE, PLAIN, NOTHING, "launch_count"),
	FIELD(trace_launch, vgprs, VALUE, PLAIN, NOTHING, "vgprs"),
	FIELD(trace_launch, accum_vgprs, VALUE, PLAIN, NOTHING, "accum_vgprs"),
	FIELD(trace_launch, sgprs, VALUE, PLAIN, NOTHING, "sgprs"),
	FIELD(trace_launch, lds_bytes, VALUE, PLAIN, NOTHING, "lds_bytes"),
	FIELD(trace_launch, scratch_bytes, VALUE, PLAIN, NOTHING, "scratch_bytes"),
	FIELD(trace_launch, workgroup, VALUE, ZIPPED, NOTHING, "workgroup"),
	FIELD(trace_launch, grid, VALUE, NOTHING, NOTHING, "grid"),
	FIELD(trace_launch, workgroups, VALUE, PLAIN, NOTHING, "workgroups"),
	FIELD(trace_launch, waves, VALUE, PLAIN, NOTHING, "waves"),
	FIELD(trace_launch, start_ns, VALUE, PLAIN, NOTHING, "start_ns"),
	FIELD(trace_launch, end_ns, VALUE, PLAIN, NOTHING, "end_ns"),
	FIELD(trace_launch, is_other_run, BOOL, PLAIN, NOTHING, "is_other_run"),
	FIELD(trace_launch, command, STR, PLAIN, NOTHING, "command"),
};
const struct field_table table_launch = {STRUCT("launch", trace_launch, launch_fields)};

static const struct field machine_fields[] = {
	FIELD(trace_machine, simds, VALUE, PLAIN, NOTHING, "simds"),
	FIELD(trace_machine, cus, VALUE, PLAIN, NOTHING, "cus"),
	FIELD(trace_machine, ses, VALUE, PLAIN, NOTHING, "ses"),
	FIELD(trace_machine, xccs, VALUE, PLAIN, NOTHING, "xccs"),
	FIELD(trace_machine, max_waves_per_simd, VALUE, PLAIN, NOTHING, "max_waves_per_simd"),
	FIELD(trace_machine, lds_bytes_per_cu, VALUE, PLAIN, NOTHING, "lds_bytes_per_cu"),
	FIELD(trace_machine, wave_size, VALUE, PLAIN, NOTHING, "wave_size"),
	FIELD(trace_machine, max_clock_mhz, VALUE, PLAIN, NOTHING, "max_clock_mhz"),
	FIELD(trace_machine, product, STR, PLAIN, NOTHING, "product"),
};
const struct field_table table_machine = {STRUCT("machine", trace_machine, machine_fields)};

static const struct field meta_fields[] = {
	FIELD_WORDS(trace_meta, vendor, ENUM, PLAIN, PLAIN, "vendor", vendor_words),
	FIELD_WORDS(trace_meta, evidence, ENUM, PLAIN, PLAIN, "evidence", evidence_words),
	FIELD(trace_meta, format, STR, PLAIN, NOTHING, "format"),
	FIELD(trace_meta, format_version, STR, PLAIN, NOTHING, "format_version"),
	FIELD(trace_meta, kernel, STR, PLAIN, NOTHING, "kernel"),
	FIELD(trace_meta, arch, STR, PLAIN, NOTHING, "arch"),
	FIELD(trace_meta, arch_source, STR, PLAIN, NOTHING, "arch_source"),
	FIELD(trace_meta, gfx_major, U32, PLAIN, PLAIN, "gfx_major"),
	FIELD(trace_meta, clock_hz_num, RATIO, PLAIN, NOTHING, "clock_hz"),
	FIELD(trace_meta, clock_hz_den, U64, PLAIN, NOTHING, NULL),
	FIELD(trace_meta, clock_source, STR, PLAIN, NOTHING, "clock_source"),
	FIELD(trace_meta, clock_quantum, U32, PLAIN, PLAIN, "clock_quantum"),
	FIELD(trace_meta, target_cu, VALUE, PLAIN, NOTHING, "target_cu"),
	FIELD(trace_meta, is_from_us, BOOL, LATER, NOTHING, NULL),
};
const struct field_table table_meta = {STRUCT("meta", trace_meta, meta_fields)};

/* --- code --- */

static const struct field code_fields[] = {
	FIELD(code_row, text, TEXT, PLAIN, PLAIN, "isa"),
	FIELD(code_row, source, STR, PLAIN, NOTHING, "source"),
	FIELD(code_row, opcode, U32, PLAIN, NOTHING, NULL),
	FIELD(code_row, number, I64, DELTA, DELTA, "row"),
	FIELD(code_row, address, U64, DELTA, DELTA, "address"),
	FIELD(code_row, code_object, U32, DELTA, NOTHING, "code_object"),
	FIELD(code_row, is_label, BOOL, PLAIN, PLAIN, "is_label"),
	FIELD(code_row, inst_class, CLASS, PLAIN, PLAIN, "class"),
	FIELD(code_row, n_frames, U16, PLAIN, PLAIN, NULL),
	FIELD(code_row, first_frame, U32, DELTA, NOTHING, NULL),
};
static const uint8_t code_json_order[] = {3, 4, 5, 0, 7, 6, 1, 2, 8, 9};
const struct field_table table_code = {
	TABLE("code", code_row, code_fields, code, n_code),
	.order = {[FORMAT_JSON] = code_json_order},
};

static const struct field totals_fields[] = {
	FIELD(code_row, stated.hit, U64, PLAIN, NOTHING, "hit"),
	FIELD(code_row, stated.latency, U64, PLAIN, NOTHING, "latency_cycles"),
	FIELD(code_row, stated.stall, U64, PLAIN, NOTHING, "stall_cycles"),
	FIELD(code_row, stated.idle, U64, PLAIN, NOTHING, "idle_cycles"),
	FIELD(code_row, bytes, U64, LATER, NOTHING, NULL),
};
const struct field_table table_totals = {TABLE("stated", code_row, totals_fields, code, n_code)};

static const struct field samples_fields[] = {
	FIELD(code_samples, issued, U64, PLAIN, NOTHING, "issued"),
	FIELD(code_samples, stalled, U64, PLAIN, NOTHING, "stalled"),
};
const struct field_table table_samples = {
	TABLE("samples", code_samples, samples_fields, samples, n_code)};

static const struct field reason_fields[] = {
	FIELD(reason_count, all, U64, PLAIN, NOTHING, "all"),
	FIELD(reason_count, not_issued, U64, PLAIN, NOTHING, "not_issued"),
};
const struct field_table table_reason_counts = {STRUCT("reasons", reason_count, reason_fields)};

static const struct field sampling_fields[] = {
	FIELD(trace_sampling, period_cyc, U64, PLAIN, NOTHING, "period_cycles"),
	FIELD(trace_sampling, n_dropped, U64, PLAIN, NOTHING, "dropped"),
	FIELD(trace_sampling, has_not_issued, BOOL, PLAIN, NOTHING, "has_not_issued"),
};
const struct field_table table_sampling = {STRUCT("sampling", trace_sampling, sampling_fields)};

static const struct field metrics_fields[] = {
	FIELD(code_metric, name, STR, PLAIN, NOTHING, "name"),
	FIELD(code_metric, is_real, BOOL, PLAIN, NOTHING, "is_real"),
};
const struct field_table table_metrics = {
	TABLE("metrics", code_metric, metrics_fields, metrics, n_metrics), .is_by_row = true};

static const struct field code_links_fields[] = {
	FIELD(code_link, row, U32, DELTA, NOTHING, "row"),
	FIELD(code_link, to, U32, DELTA, NOTHING, "to"),
	FIELD_WORDS(code_link, kind, ENUM, PLAIN, NOTHING, "kind", code_link_words),
	FIELD(code_link, reason, INDEX, PLAIN, NOTHING, "reason"),
};
const struct field_table table_code_links = {
	TABLE("code_links", code_link, code_links_fields, code_links, n_code_links)};

static const struct field frames_fields[] = {
	FIELD(frame, source, SOURCE, DELTA, PLAIN, "source"),
	FIELD(frame, line, U32, DELTA, PLAIN, "line"),
};
const struct field_table table_frames = {TABLE("frames", frame, frames_fields, frames, n_frames)};

static const struct field sources_fields[] = {
	FIELD(source_file, path, STR, PLAIN, PLAIN, "path"),
	FIELD(source_file, snapshot, STR, PLAIN, NOTHING, "snapshot"),
	FIELD(source_file, n_lines, U32, PLAIN, PLAIN, "lines"),
};
const struct field_table table_sources = {
	TABLE("sources", source_file, sources_fields, sources, n_sources), .is_by_row = true};

/* --- time and tracks --- */

static const struct field clocks_fields[] = {
	FIELD(clock_domain, id, U32, PLAIN, PLAIN, "id"),
	FIELD(clock_domain, is_aligned, BOOL, PLAIN, PLAIN, "is_aligned"),
	FIELD(clock_domain, offset_cyc, I64, PLAIN, CAPPED, "offset_cycles"),
	FIELD(clock_domain, hz_num, U64, PLAIN, NOTHING, NULL),
	FIELD(clock_domain, hz_den, U64, PLAIN, NOTHING, NULL),
};
const struct field_table table_clocks = {
	TABLE("clocks", clock_domain, clocks_fields, clocks, n_clocks), .is_by_row = true};

/* The JSON export writes tracks itself: in trace time, with their slices. */
static const struct field tracks_fields[] = {
	FIELD(track, coord, U32, DELTA, PLAIN, NULL),
	FIELD(track, clock, CLOCK, PLAIN, PLAIN, NULL),
	FIELD(track, n_slices, U32, PLAIN, NOTHING, NULL),
	FIELD(track, begin_cyc, U64, DELTA, NOTHING, NULL),
	FIELD(track, end_cyc, U64, SPAN, NOTHING, NULL),
	FIELD(track, kernel_id, INDEX, PLAIN, PLAIN, NULL),
	FIELD(track, name, STR, PLAIN, PLAIN, NULL),
	FIELD(track, workgroup, VALUE, PLAIN, NOTHING, NULL),
};
const struct field_table table_tracks = {TABLE(NULL, track, tracks_fields, tracks, n_tracks)};

/* --- side tables --- */

static const struct field occupancy_fields[] = {
	FIELD(occupancy_event, time_cyc, U64, DELTA, NOTHING, "time_cycles"),
	FIELD(occupancy_event, clock, CLOCK, DELTA, NOTHING, "clock"),
	FIELD(occupancy_event, cu, U16, PLAIN, NOTHING, "cu"),
	FIELD(occupancy_event, simd, U8, PLAIN, NOTHING, "simd"),
	FIELD(occupancy_event, slot, U8, PLAIN, NOTHING, "slot"),
	FIELD(occupancy_event, kernel_id, INDEX, PLAIN, NOTHING, "kernel_id"),
	FIELD(occupancy_event, is_start, U8, PLAIN, NOTHING, "is_start"),
	FIELD(occupancy_event, me, U8, PLAIN, NOTHING, "me"),
	FIELD(occupancy_event, pipe, U8, PLAIN, NOTHING, "pipe"),
	FIELD(occupancy_event, workgroup, U8, PLAIN, NOTHING, "workgroup"),
	FIELD(occupancy_event, cluster, U8, PLAIN, NOTHING, "cluster"),
};
const struct field_table table_occupancy = {
	TABLE("occupancy", occupancy_event, occupancy_fields, occupancy, n_occupancy)};

static const struct field kernel_names_fields[] = {
	FIELD(kernel_name, id, U32, PLAIN, PLAIN, "id"),
	FIELD(kernel_name, name, STR, PLAIN, PLAIN, "name"),
};
const struct field_table table_kernel_names = {
	TABLE("kernels", kernel_name, kernel_names_fields, kernel_names, n_kernel_names),
	.is_by_row = true};

static const struct field dispatch_events_fields[] = {
	FIELD(dispatch_event, time_cyc, U64, DELTA, NOTHING, "time_cycles"),
	FIELD(dispatch_event, clock, CLOCK, PLAIN, NOTHING, "clock"),
	FIELD(dispatch_event, is_dispatch, BOOL, PLAIN, NOTHING, "is_dispatch"),
	FIELD(dispatch_event, type, U32, PLAIN, NOTHING, "type"),
	FIELD(dispatch_event, me, U32, PLAIN, NOTHING, "me"),
	FIELD(dispatch_event, pipe, U32, PLAIN, NOTHING, "pipe"),
	FIELD(dispatch_event, kernel_id, INDEX, PLAIN, NOTHING, "kernel_id"),
	FIELD(dispatch_event, flags, U32, PLAIN, NOTHING, "flags"),
	FIELD(dispatch_event, kernel_name, STR, PLAIN, NOTHING, "kernel"),
	FIELD(dispatch_event, vgprs, VALUE, PLAIN, NOTHING, "vgprs"),
	FIELD(dispatch_event, sgprs, VALUE, PLAIN, NOTHING, "sgprs"),
	FIELD(dispatch_event, lds_bytes, VALUE, PLAIN, NOTHING, "lds_bytes"),
	FIELD(dispatch_event, thread_dim, VALUE, PLAIN, NOTHING, "thread_dim"),
};
const struct field_table table_dispatch_events = {
	TABLE("dispatch_events", dispatch_event, dispatch_events_fields, dispatch_events,
		n_dispatch_events),
	.is_by_row = true};

static const struct field counters_fields[] = {
	FIELD(counter_series, name, STR, PLAIN, PLAIN, "name"),
	FIELD(counter_series, clock, CLOCK, PLAIN, PLAIN, "clock"),
	FIELD(counter_series, cu, INDEX, PLAIN, PLAIN, "cu"),
	FIELD(counter_series, unit, STR, LATER, PLAIN, "unit"),
	FIELD(counter_series, per_unit, U32, LATER, PLAIN, "per_unit"),
};
const struct field_table table_counters = {
	TABLE("counters", counter_series, counters_fields, counters, n_counters),
	.is_by_row = true};

static const struct field markers_fields[] = {
	FIELD(marker, time_cyc, U64, DELTA, CAPPED, "time_cycles"),
	FIELD(marker, value, U64, DELTA, PLAIN, "value"),
	FIELD(marker, clock, CLOCK, PLAIN, PLAIN, "clock"),
	FIELD(marker, cu, U16, PLAIN, NOTHING, "cu"),
	FIELD(marker, simd, U8, PLAIN, NOTHING, "simd"),
	FIELD(marker, slot, U8, PLAIN, NOTHING, "slot"),
	FIELD(marker, flags, U8, PLAIN, NOTHING, "flags"),
};
const struct field_table table_markers = {
	TABLE("markers", marker, markers_fields, markers, n_markers), .is_by_row = true};

static const struct field other_issues_fields[] = {
	FIELD(other_issue, time_cyc, U64, DELTA, NOTHING, "time_cycles"),
	FIELD(other_issue, dur_cyc, U32, PLAIN, NOTHING, "duration_cycles"),
	FIELD(other_issue, category, U32, PLAIN, NOTHING, "category"),
	FIELD(other_issue, clock, CLOCK, PLAIN, NOTHING, "clock"),
};
const struct field_table table_other_issues = {
	TABLE("other_issues", other_issue, other_issues_fields, other_issues, n_other_issues)};

static const struct field series_fields[] = {
	FIELD(stated_series, state, U32, PLAIN, NOTHING, "state"),
};
const struct field_table table_series = {
	TABLE("stated_series", stated_series, series_fields, stated_series, n_stated_series),
	.is_by_row = true};

static const char *const link_words[] = {
	[LINK_FLAG] = "flag",
	[LINK_BARRIER] = "barrier",
	[LINK_CROSS_CORE] = "cross-core",
	[LINK_FLOW] = "flow",
	NULL,
};
static const struct field links_fields[] = {
	FIELD(link, from_track, U32, DELTA, PLAIN, "from_track"),
	FIELD(link, to_track, U32, DELTA, PLAIN, "to_track"),
	FIELD(link, from_slice, U32, DELTA, PLAIN, "from_slice"),
	FIELD(link, to_slice, U32, DELTA, PLAIN, "to_slice"),
	FIELD_WORDS(link, kind, ENUM, PLAIN, PLAIN, "kind", link_words),
};
/* Keeps the ends of a link together: track and slice of each. */
static const uint8_t links_order[] = {0, 2, 1, 3, 4};
const struct field_table table_links = {
	TABLE("links", link, links_fields, links, n_links),
	.is_by_row = true,
	.order = {[FORMAT_BLOB] = links_order, [FORMAT_JSON] = links_order},
};

static const struct field heads_fields[] = {
	FIELD(head_cost, track, U32, DELTA, NOTHING, NULL),
	FIELD(head_cost, slice, U32, DELTA, NOTHING, NULL),
	FIELD(head_cost, cache_cyc, U32, PLAIN, NOTHING, NULL),
};
const struct field_table table_heads = {TABLE(NULL, head_cost, heads_fields, heads, n_heads)};

static const struct field moved_fields[] = {
	FIELD(slice_bytes, track, U32, DELTA, NOTHING, NULL),
	FIELD(slice_bytes, slice, U32, DELTA, NOTHING, NULL),
	FIELD(slice_bytes, bytes, U64, PLAIN, NOTHING, NULL),
};
const struct field_table table_moved = {TABLE(NULL, slice_bytes, moved_fields, moved, n_moved)};

static const struct field notes_fields[] = {
	FIELD_WORDS(note, kind, ENUM, PLAIN, NOTHING, "kind", note_kind_words),
	FIELD(note, code, STR, PLAIN, NOTHING, "code"),
	FIELD(note, message, STR, PLAIN, NOTHING, "message"),
	FIELD(note, path, STR, PLAIN, NOTHING, "path"),
	FIELD(note, offset, U64, PLAIN, NOTHING, NULL),
	FIELD(note, count, U64, PLAIN, NOTHING, "count"),
};
const struct field_table table_notes = {
	TABLE("notes", note, notes_fields, notes, n_notes), .is_by_row = true};

size_t field_width(const struct field *d)
{
	switch ((enum field_type)d->type) {
	case FIELD_U8:
	case FIELD_CLASS:
	case FIELD_BOOL:
		return 1;
	case FIELD_U16:
		return 2;
	case FIELD_STR:
	case FIELD_TEXT:
		return sizeof(char *);
	case FIELD_U64:
	case FIELD_RATIO:
	case FIELD_I64:
	case FIELD_VALUE:
		return 8;
	default:
		return 4;
	}
}
