/* SPDX-License-Identifier: Apache-2.0 */
/* info.c: what was captured, on what, how much of it, and is it healthy? */
#include "answer/info.h"
#include "answer/pages.h"

#include "analysis/summary/info.h"
#include "analysis/vendor_report.h"
#include "answer/captures.h"
#include "answer/check.h"
#include "answer/siblings.h"

static const struct option_def options[] = {
	{OPT_QUICK, NULL, NULL, "skip the health line, so that no wave file is read",
		OPTION_ALL(info_params, quick)},
	OPTION_END,
};

/* --- columns -------------------------------------------------------------------------------- */

static const struct column clock_columns[] = {
	COLUMN(info_clock, name, UNIT_NONE, "name of the shader engine"),
	COLUMN(info_clock, mhz, UNIT_MHZ, "clock of the shader engine; null: unknown", .digits = 2),
};
static const struct record clock_record = RECORD_OF(info_clock, RECORD_BLOCK, clock_columns);

static const struct column offset_columns[] = {
	COLUMN(info_clock, name, UNIT_NONE, "name of the shader engine"),
	COLUMN(info_clock, offset, UNIT_CYCLES,
		"cycles to add to align the engine's clock with the first; null: unknown",
		NULLABLE),
};
static const struct record offset_record = RECORD_OF(info_clock, RECORD_BLOCK, offset_columns);

static const struct column source_rows_columns[] = {
	COLUMN(info_source_rows, mapped, UNIT_COUNT, "code rows with a source position"),
	COLUMN(info_source_rows, total, UNIT_COUNT, "all code rows, including labels"),
	COLUMN(info_source_rows, distinct_lines, UNIT_COUNT, "distinct innermost source lines"),
};
static const struct record source_rows_record =
	RECORD_OF(info_source_rows, RECORD_BLOCK, source_rows_columns);

static const struct column stated_columns[] = {PART_SELF(&code_totals_record)};
static const struct record stated_record = RECORD_OF(code_totals, RECORD_BLOCK, stated_columns);

struct coordinate {
	uint32_t v;
};
static const struct column coordinate_columns[] = {
	COLUMN(coordinate, v, UNIT_NONE, "a number that occurs at this level"),
};
static const struct record coordinate_record =
	RECORD_OF(coordinate, RECORD_SCALAR, coordinate_columns);

static const struct column level_columns[] = {
	COLUMN(info_level, level, UNIT_NONE,
		"level of the place: se, cu, simd, ... or core, unit, pipe"),
	LIST(info_level, numbers, &coordinate_record,
		"the numbers that occur at this level, sorted"),
	COLUMN(info_level, ranges, UNIT_NONE, "the numbers as short ranges", NO_JSON),
};
static const struct record level_record = RECORD_OF(info_level, RECORD_BLOCK, level_columns);

static const struct column events_columns[] = {
	COLUMN(info_events, events, UNIT_COUNT, "starts and ends of waves"),
	COLUMN(info_events, starts, UNIT_COUNT, "starts of waves"),
	COLUMN(info_events, ends, UNIT_COUNT, "ends of waves"),
	COLUMN(info_events, cus, UNIT_COUNT, "compute units with at least one event",
		.title = "CUs"),
	COLUMN(info_events, target_cu_starts, UNIT_COUNT,
		"wave starts on the CU with instruction detail", .title = "on target CU", NULLABLE),
};
static const struct record events_record = RECORD_OF(info_events, RECORD_LINE, events_columns);

static const struct column engine_columns[] = {
	COLUMN(info_engine, name, UNIT_NONE, "number of the shader engine"),
	RECORD(info_engine, sums, &events_record, "wave starts and ends on this shader engine"),
	COLUMN(info_engine, id, UNIT_NONE, "number of the shader engine", .title = "se", NO_JSON),
};
const struct record info_engine_record = RECORD_OF(info_engine, RECORD_BLOCK, engine_columns);

static const struct column kernel_columns[] = {
	COLUMN(info_kernel, key, UNIT_NONE, "number of the kernel"),
	COLUMN(info_kernel, name, UNIT_NONE, "name of the kernel"),
};
static const struct record kernel_record = RECORD_OF(info_kernel, RECORD_BLOCK, kernel_columns);

#define MACHINE(M, UNIT, DOC) COLUMN(trace_machine, M, UNIT, DOC, NULLABLE)
static const struct column machine_columns[] = {
	MACHINE(product, UNIT_NONE, "name of the device"),
	MACHINE(xccs, UNIT_COUNT, "dies"),
	MACHINE(ses, UNIT_COUNT, "shader engines of all dies"),
	MACHINE(cus, UNIT_COUNT, "compute units"),
	MACHINE(simds, UNIT_COUNT, "SIMDs of the whole device"),
	MACHINE(max_waves_per_simd, UNIT_WAVES, "wave slots of a SIMD"),
	MACHINE(lds_bytes_per_cu, UNIT_BYTES, "local memory of a compute unit"),
	MACHINE(wave_size, UNIT_COUNT, "work-items of a wave"),
	MACHINE(max_clock_mhz, UNIT_MHZ, "the highest clock it has"),
};
static const struct record machine_record = RECORD_OF(trace_machine, RECORD_BLOCK, machine_columns);

static const struct column triple_columns[] = {
	COLUMN(info_triple, x, UNIT_COUNT, "work-items in x"),
	COLUMN(info_triple, y, UNIT_COUNT, "work-items in y"),
	COLUMN(info_triple, z, UNIT_COUNT, "work-items in z"),
};
static const struct record triple_record = RECORD_OF(info_triple, RECORD_TUPLE, triple_columns);

#define LAUNCH(M, UNIT, DOC) COLUMN_AS(info_launch, l.M, #M, UNIT, DOC, NULLABLE)
static const struct column launch_columns[] = {
	LAUNCH(agent, UNIT_NONE, "device it ran on"),
	LAUNCH(dispatch, UNIT_NONE, "which dispatch of the run"),
	LAUNCH(kernel_id, UNIT_NONE, "id of the kernel in that run"),
	LAUNCH(launch_index, UNIT_NONE, "which launch of this kernel, from 1"),
	LAUNCH(launch_count, UNIT_COUNT, "launches of this kernel"),
	LAUNCH(vgprs, UNIT_COUNT, "vector registers of a work-item"),
	LAUNCH(accum_vgprs, UNIT_COUNT, "accumulation registers of a work-item"),
	LAUNCH(sgprs, UNIT_COUNT, "scalar registers of a wave"),
	LAUNCH(lds_bytes, UNIT_BYTES, "local memory of a workgroup"),
	LAUNCH(scratch_bytes, UNIT_BYTES, "scratch memory of a work-item"),
	RECORD(info_launch, workgroup, &triple_record, "work-items per workgroup", NULLABLE),
	RECORD(info_launch, grid, &triple_record, "size of the grid, by dimension", NULLABLE),
	LAUNCH(workgroups, UNIT_COUNT, "workgroups in all"),
	LAUNCH(waves, UNIT_WAVES, "waves in all"),
	COLUMN(info_launch, duration_ns, UNIT_NONE, "duration of the kernel, in nanoseconds",
		NULLABLE),
	COLUMN_AS(info_launch, l.is_other_run, "is_other_run", UNIT_NONE,
		"the launch is stated by a discovery run of the same dispatch"),
	LAUNCH(command, UNIT_NONE, "command line of the run"),
};
static const struct record launch_record = RECORD_OF(info_launch, RECORD_BLOCK, launch_columns);

static const struct column note_columns[] = {
	COLUMN(info_note, kind, UNIT_NONE, "what the note means for the result",
		.words = "lost|truncated|unmapped|clamped|contradictory|guessed|missing|damaged|"
			 "info"),
	COLUMN(info_note, code, UNIT_NONE, "stable identifier of the note"),
	COLUMN(info_note, message, UNIT_NONE, "the note as a sentence"),
	COLUMN(info_note, path, UNIT_NONE, "file that the note is about", NULLABLE),
	COLUMN(info_note, offset, UNIT_BYTES, "byte offset in that file", NULLABLE),
	COLUMN(info_note, count, UNIT_COUNT, "number of occurrences"),
};
static const struct record note_record = RECORD_OF(info_note, RECORD_BLOCK, note_columns);

static const struct column sibling_columns[] = {
	COLUMN(info_sibling, path, UNIT_NONE, "path of the capture"),
	COLUMN(info_sibling, agent, UNIT_NONE, "device that the kernel ran on", NULLABLE),
	COLUMN(info_sibling, dispatch, UNIT_NONE, "number of the dispatch in the run", NULLABLE),
	COLUMN(info_sibling, waves, UNIT_WAVES, "waves traced", NULLABLE),
	COLUMN(info_sibling, rows, UNIT_COUNT, "rows of the code", NULLABLE),
	COLUMN(info_sibling, mapped_rows, UNIT_COUNT, "code rows with a source position",
		.title = "mapped", NULLABLE),
	COLUMN(info_sibling, is_empty, UNIT_NONE, "the capture holds no traced waves"),
	COLUMN(info_sibling, is_repeat, UNIT_NONE,
		"it has the same code and the same agent as this capture"),
	COLUMN(info_sibling, name, UNIT_NONE, "last component of its path", .title = "capture",
		.flags = COLUMN_NO_JSON | COLUMN_WIDE),
	COLUMN(info_sibling, remark, UNIT_NONE,
		"whether it is this capture, is empty or has the same code", NO_JSON),
};
const struct record info_sibling_record = RECORD_OF(info_sibling, RECORD_BLOCK, sibling_columns);

static const struct column info_columns[] = {
	COLUMN(capture_info, dir, UNIT_NONE, "last component of the path"),
	COLUMN(capture_info, path, UNIT_NONE, "path that the capture was read from"),
	COLUMN(capture_info, format, UNIT_NONE, "name of the reader that read it"),
	COLUMN(capture_info, format_version, UNIT_NONE,
		"version of the format, as the capture states it", NULLABLE),
	COLUMN(capture_info, vendor, UNIT_NONE, "vendor of the device",
		.words = "amd|ascend|nvidia|unknown"),
	EVIDENCE_COLUMN(capture_info, "what its figures rest on"),
	COLUMN(capture_info, kernel, UNIT_NONE, "name of the kernel", NULLABLE),
	COLUMN(capture_info, arch, UNIT_NONE, "gfx950, dav_2201, ...", NULLABLE),
	COLUMN(capture_info, arch_source, UNIT_NONE, "where the architecture is stated", NULLABLE),
	COLUMN(capture_info, gfxip, UNIT_NONE, "major version of an AMD target", NULLABLE),
	COLUMN(capture_info, clock_mhz, UNIT_MHZ,
		"trace clock: sum of shader cycles / sum of real time over all shader engines",
		.digits = 3),
	COLUMN(capture_info, clock_source, UNIT_NONE, "where the clock comes from", NULLABLE),
	COLUMN_HELD(capture_info, clocks, "clock_mhz_by_se", COLUMN_MAP, &clock_record,
		"clock of each shader engine"),
	COLUMN_HELD(capture_info, clocks, "se_offsets", COLUMN_MAP, &offset_record,
		"cycles to add to a shader engine's clock to align it with the first"),
	COLUMN(capture_info, rows, UNIT_COUNT, "rows of the code, including labels"),
	COLUMN(capture_info, instructions, UNIT_COUNT, "code rows that are instructions"),
	COLUMN(capture_info, mapped_rows, UNIT_COUNT, "code rows with a source position"),
	COLUMN(capture_info, executed_rows, UNIT_COUNT,
		"code rows with at least one execution, as stated by the producer", NULLABLE),
	RECORD(capture_info, source_rows, &source_rows_record,
		"how many code rows have a source line"),
	COLUMN(capture_info, source_files, UNIT_COUNT, "source files that the code names"),
	COLUMN(capture_info, source_snapshots, UNIT_COUNT,
		"source files that the capture holds a copy of"),
	POINTER(capture_info, stated_totals, &stated_record,
		"totals stated by the producer, in cycles"),
	COLUMN(capture_info, waves, UNIT_COUNT, "waves or pipes that were traced"),
	COLUMN(capture_info, wave_files, UNIT_COUNT, "wave files, whether listed or not"),
	COLUMN(capture_info, target_cu, UNIT_NONE, "number of the CU with instruction detail",
		NULLABLE),
	MAP(capture_info, wave_coords, &level_record, "where the traced waves or pipes ran"),
	COLUMN(capture_info, span_cycles, UNIT_CYCLES,
		"cycles from the first begin to the last end", NULLABLE),
	MAP(capture_info, occupancy, &info_engine_record,
		"wave starts and ends by shader engine, over all CUs"),
	MAP(capture_info, dispatch_ids, &kernel_record,
		"kernel numbers in the capture and their names"),
	LIST(capture_info, counter_names, &text_item_record,
		"names of the recorded hardware counters"),
	COLUMN(capture_info, counter_series, UNIT_COUNT, "number of counter series"),
	COLUMN(capture_info, markers, UNIT_COUNT, "markers that the kernel recorded"),
	COLUMN(capture_info, other_simd_records, UNIT_COUNT,
		"instructions issued by SIMDs without instruction detail"),
	COLUMN(capture_info, dispatch_events, UNIT_COUNT, "number of dispatcher events"),
	COLUMN(capture_info, has_pc_samples, UNIT_NONE, "the code rows have PC samples"),
	RECORD(capture_info, machine, &machine_record,
		"the device; null: no side file describes it"),
	RECORD(capture_info, launch, &launch_record, "the launch; null: no side file describes it"),
	LIST(capture_info, notes, &note_record, "notes from reading the capture"),
	LIST(capture_info, tables, &producer_table_record,
		"tables of the producer that incore does not interpret", OPTIONAL),
	LIST(capture_info, metrics, &vendor_metric_record,
		"all metrics of a report of the vendor's profiler", OPTIONAL),
	LIST(capture_info, vendor_rules, &vendor_rule_record,
		"what the rules of the vendor's profiler say, with their estimates", OPTIONAL),
	LIST(capture_info, siblings, &info_sibling_record, "other captures beside this one"),
	COLUMN(capture_info, health, UNIT_NONE,
		"verdict of incore check with errors and warnings; null with --quick", NULLABLE),
};
static const struct record info_record = RECORD_OF(capture_info, RECORD_BLOCK, info_columns);

static const struct column list_columns[] = {
	LIST(info_list, captures, &info_record, "one entry per path"),
};
static const struct record list_record = RECORD_OF(info_list, RECORD_BLOCK, list_columns);

struct rows info_captures(const struct answer *a)
{
	return answer_is(a, &list_record) ? ((const struct info_list *)a->data)->captures
					  : (struct rows){a->data, 1};
}

/* --- what it is made of --------------------------------------------------------------------- */

struct info_job {
	const struct request *r;
	struct answer *a;
	const struct trace *trace;
	const struct info *counts;
	struct capture_info *out;
};

static double mhz_of(uint64_t num, uint64_t den)
{
	return den ? (double)num / (double)den / 1e6 : NAN;
}

static bool put_clocks(struct info_job *j, struct incore_error *e)
{
	const struct trace *t = j->trace;
	struct info_clock *v = ANSWER_ROWS(j->a, &j->out->clocks, t->n_clocks, info_clock, e);

	for (uint32_t i = 0; v && i < t->n_clocks; i++) {
		const struct clock_domain *k = &t->clocks[i];

		v[i] = (struct info_clock){arena_printf(&j->a->arena, "SE%u", k->id),
			mhz_of(k->hz_num, k->hz_den), k->is_aligned ? k->offset_cyc : NO_VALUE};
		if (!v[i].name)
			return err_nomem(e);
	}
	j->out->clock_mhz = mhz_of(t->meta.clock_hz_num, t->meta.clock_hz_den);
	j->out->clock_source = t->meta.clock_source;
	return v != NULL;
}

static void info_put_names(struct capture_info *x, const struct trace_meta *m)
{
	x->path = m->origin;
	x->format = m->format;
	x->format_version = m->format_version;
	x->vendor = vendor_name(m->vendor);
	x->evidence = evidence_name(m->evidence);
	x->kernel = m->kernel;
	x->arch = m->arch;
	x->arch_source = m->arch_source;
	x->gfxip = m->gfx_major ? (int64_t)m->gfx_major : NO_VALUE;
	x->target_cu = m->target_cu;
	x->machine = m->machine;
}

static void info_put_counts(struct capture_info *x, const struct trace *t, const struct info *i)
{
	x->dir = i->dir;
	x->rows = t->n_code;
	x->instructions = i->n_instructions;
	x->mapped_rows = i->n_mapped;
	x->executed_rows = t->has_stated_totals || t->samples ? i->n_executed : NO_U64;
	x->source_rows = (struct info_source_rows){i->n_mapped, t->n_code, i->n_lines};
	x->source_files = t->n_sources;
	x->source_snapshots = i->n_snapshots;
	x->stated_totals = t->has_stated_totals ? &i->stated : NULL;
	x->waves = t->n_tracks;
	x->wave_files = i->n_track_files;
	x->span_cycles = t->n_tracks ? i->end_cyc - i->begin_cyc : NO_VALUE;
	x->counter_names = (struct rows){t->counter_names, t->n_counter_names};
	x->counter_series = t->n_counters;
	x->markers = t->n_markers;
	x->other_simd_records = t->n_other_issues;
	x->dispatch_events = t->n_dispatch_events;
	x->has_pc_samples = t->samples != NULL;
}

static struct info_triple triple_of(const int64_t v[3])
{
	bool is_known = v[0] != NO_VALUE && v[1] != NO_VALUE && v[2] != NO_VALUE;

	return (struct info_triple){is_known ? v[0] : NO_VALUE, v[1], v[2]};
}

static struct info_launch info_launch_of(const struct trace_launch *l)
{
	bool is_timed = l->start_ns != NO_VALUE && l->end_ns != NO_VALUE;

	return (struct info_launch){*l, triple_of(l->workgroup), triple_of(l->grid),
		is_timed ? l->end_ns - l->start_ns : NO_VALUE};
}

static bool info_put_levels(struct info_job *j, struct incore_error *e)
{
	const struct trace *t = j->trace;
	struct info_level *v = ANSWER_ROWS(j->a, &j->out->wave_coords, TRACK_LEVELS, info_level, e);
	unsigned n = 0;

	for (; v && n < TRACK_LEVELS && t->levels[n]; n++) {
		const struct info_numbers *k = &j->counts->coords[n];
		struct strbuf b = {0};

		info_put_numbers(k, &b);
		v[n] = (struct info_level){t->levels[n], {k->v, k->n}, answer_text(j->a, &b, e)};
		if (!v[n].ranges)
			return false;
	}
	j->out->wave_coords.n = n;
	return v != NULL;
}

static bool put_engines(struct info_job *j, struct incore_error *e)
{
	const struct info *i = j->counts;
	struct info_engine *v = ANSWER_ROWS(j->a, &j->out->occupancy, i->n_domains, info_engine, e);

	for (uint32_t k = 0; v && k < i->n_domains; k++) {
		const struct info_domain *d = &i->domains[k];

		v[k] = (struct info_engine){.name = arena_printf(&j->a->arena, "%u", d->id),
			.sums = {d->events, d->starts, d->ends, d->cus,
				j->trace->meta.target_cu == NO_VALUE ? NO_U64
								     : d->target_cu_starts},
			.id = d->id};
		if (!v[k].name)
			return err_nomem(e);
	}
	return v != NULL;
}

static bool info_put_kernels(struct info_job *j, struct incore_error *e)
{
	const struct trace *t = j->trace;
	struct info_kernel *v =
		ANSWER_ROWS(j->a, &j->out->dispatch_ids, t->n_kernel_names, info_kernel, e);

	for (uint32_t i = 0; v && i < t->n_kernel_names; i++) {
		v[i] = (struct info_kernel){arena_printf(&j->a->arena, "%u", t->kernel_names[i].id),
			t->kernel_names[i].name};
		if (!v[i].key)
			return err_nomem(e);
	}
	return v != NULL;
}

static bool info_put_notes(struct info_job *j, struct incore_error *e)
{
	const struct trace *t = j->trace;
	struct info_note *v = ANSWER_ROWS(j->a, &j->out->notes, t->n_notes, info_note, e);

	for (uint32_t i = 0; v && i < t->n_notes; i++) {
		const struct note *n = &t->notes[i];

		v[i] = (struct info_note){note_kind_name(n->kind), n->code, n->message, n->path,
			n->offset == INCORE_NO_OFFSET ? NO_U64 : n->offset, n->count};
	}
	return v != NULL;
}

/* Lists the lane names of all cores, each once, in the order of the tracks. */
static bool info_put_lanes(struct info_job *j, struct incore_error *e)
{
	const struct trace *t = j->trace;
	struct strbuf b = {0};

	for (track_idx i = 0; trace_kind(t) == KIND_PIPES && i < t->n_tracks; i++) {
		bool is_new = true;

		for (track_idx k = 0; k < i && is_new; k++)
			is_new = t->tracks[k].coord[2] != t->tracks[i].coord[2];
		if (is_new)
			sb_printf(&b, "%s%s", b.n ? " " : "", pipe_lane_name(&t->tracks[i]));
	}
	j->out->lanes = answer_text(j->a, &b, e);
	return j->out->lanes != NULL;
}

#define MAX_BLOCK_TYPES 256u

/* Counts the blocks of each type in a container, in order of first appearance. */
static bool info_put_blocks(struct info_job *j, struct incore_error *e)
{
	const struct named_table *k = trace_find_table(j->trace, "blocks");
	struct info_block *v;
	size_t n = 0;

	if (!k)
		return true;
	v = answer_alloc(j->a, MAX_BLOCK_TYPES, sizeof(*v), e);
	for (uint32_t r = 0; v && r < k->n_rows; r++) {
		const char *type = named_table_cell(k, r, "type");
		const char *name = named_table_cell(k, r, "name");
		size_t at = 0;

		while (type && at < n && strcmp(v[at].type, type) != 0)
			at++;
		if (!type || at == MAX_BLOCK_TYPES)
			continue;
		v[at] = (struct info_block){type, name ? name : "", v[at].count + 1};
		n += at == n;
	}
	j->out->blocks = (struct rows){v, n};
	return v != NULL;
}

/* --- captures beside it --------------------------------------------------------------------- */

static bool make_health(struct info_job *j, const struct capture *self,
	const struct capture_list *beside, struct incore_error *e)
{
	struct walk_options o = request_walk(j->r, NULL);
	struct walk_result walk = {0};
	struct siblings s = {0};
	struct check *k;
	bool ok = true;

	captures_lock(j->r->captures);
	if (self)
		ok = siblings_find(&s, self, beside, &j->r->captures->cache, e);
	captures_unlock(j->r->captures);
	k = ok ? check_run(j->trace, &s.ctx, &o, &walk, e) : NULL;
	if (k) {
		answer_walk_notes(j->a, &walk);
		j->out->health = check_health_text(j->a, k, e);
	}
	check_free(k);
	walk_result_deinit(&walk);
	siblings_deinit(&s);
	return j->out->health != NULL;
}

static struct info_sibling sibling_of(const struct capture *k, const struct capture *self)
{
	bool is_repeat = self && k != self && self->same_as && k->same_as &&
			 !strcmp(self->same_as, k->same_as);

	return (struct info_sibling){.path = k->path,
		.name = path_base(k->path),
		.agent = k->agent,
		.dispatch = k->dispatch,
		.waves = k->is_uncounted ? NO_VALUE : (int64_t)k->n_tracks,
		.rows = k->is_uncounted ? NO_VALUE : (int64_t)k->n_rows,
		.mapped_rows = k->is_uncounted ? NO_VALUE : (int64_t)k->n_mapped,
		.is_empty = k->is_empty,
		.is_repeat = is_repeat,
		.remark = k == self	? "this one"
			  : k->is_empty ? "empty"
			  : is_repeat	? "same code"
					: ""};
}

static bool put_siblings(struct info_job *j, const struct capture *self,
	const struct capture_list *l, struct incore_error *e)
{
	struct info_sibling *all = ANSWER_ROWS(j->a, &j->out->beside, l->n, info_sibling, e);
	struct info_sibling *others = ANSWER_ROWS(j->a, &j->out->siblings, l->n, info_sibling, e);
	size_t n = 0;

	if (!all || !others)
		return false;
	for (uint32_t i = 0; i < l->n; i++) {
		all[i] = sibling_of(&l->v[i], self);
		if (&l->v[i] != self)
			others[n++] = all[i];
	}
	j->out->siblings.n = n;
	return true;
}

static bool look_beside(struct info_job *j, struct incore_error *e)
{
	const struct info_params *p = j->r->params;
	const char *origin = j->trace->meta.origin;
	struct capture_list *l = ANSWER_NEW(j->a, capture_list, e);
	const struct capture *self = NULL;
	struct incore_error ignored = {0};

	if (!l)
		return false;
	captures_lock(j->r->captures);
	if (!import_siblings(origin, &j->r->captures->cache, l, &ignored))
		incore_error_clear(&ignored);
	captures_unlock(j->r->captures);
	if (!ANSWER_KEEP(j->a, l, capture_list_deinit, e))
		return false;
	for (uint32_t i = 0; i < l->n; i++)
		if (siblings_is_same(&j->r->captures->cache.fence, l->v[i].path, origin))
			self = &l->v[i];
	return put_siblings(j, self, l, e) && (p->quick || make_health(j, self, l, e));
}

/* --- the question --------------------------------------------------------------------------- */

static bool count_capture(struct info_job *j, struct incore_error *e)
{
	struct info *i = ANSWER_NEW(j->a, info, e);

	if (!i)
		return false;
	j->counts = i;
	if (!info_make(i, j->trace, e)) {
		info_deinit(i);
		return false;
	}
	return ANSWER_KEEP(j->a, i, info_deinit, e);
}

static bool answer_capture(struct info_job *j, const char *path, struct incore_error *e)
{
	struct trace *t;

	if (!answer_open(j->a, j->r, path, IMPORT_ALL, &t, e))
		return false;
	j->trace = t;
	if (!count_capture(j, e))
		return false;
	info_put_names(j->out, &t->meta);
	info_put_counts(j->out, t, j->counts);
	j->out->launch = info_launch_of(&t->meta.launch);
	return put_clocks(j, e) && info_put_levels(j, e) && put_engines(j, e) &&
	       info_put_kernels(j, e) && info_put_notes(j, e) && info_put_lanes(j, e) &&
	       info_put_blocks(j, e) &&
	       (!t->n_tables || producer_table_rows(j->a, t, 0, false, &j->out->tables, e)) &&
	       vendor_report_rows(j->a, t, &j->out->metrics, &j->out->vendor_rules, e) &&
	       look_beside(j, e);
}

static bool ask_info(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct capture_info *v = answer_alloc(a, r->n_paths, sizeof(*v), e);
	struct info_list *list = ANSWER_NEW(a, info_list, e);

	if (!v || !list)
		return false;
	for (unsigned i = 0; i < r->n_paths; i++) {
		struct info_job j = {.r = r, .a = a, .out = &v[i]};

		v[i].asked_for = r->paths[i];
		if (!answer_capture(&j, r->paths[i], e))
			return false;
	}
	list->captures = (struct rows){v, r->n_paths};
	a->record = r->n_paths > 1 ? &list_record : &info_record;
	a->data = r->n_paths > 1 ? (const void *)list : v;
	return true;
}

const struct question question_info = {
	.reach = REACH_ALL,
	.name = "info",
	.args = "PATH...",
	.summary = "what was captured, on what machine, how much of it",
	.groups = OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct info_params),
	.min_paths = 1,
	.max_paths = 4096,
	.records = RECORDS(&info_record, &list_record),
	.ask = ask_info,
	.page = info_page,
};
