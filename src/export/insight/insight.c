/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight.c: a trace of pipes as the simulator/ directory of `msprof op simulator`, for MindStudio
 * Insight. See incore-insight(7).
 */
#include "export/insight/insight.h"
#include "export/writer.h"

/* --- cores --- */

static bool add_unit(struct insight *s, track_idx i, struct incore_error *e)
{
	const struct track *k = &s->t->tracks[i];
	const char *slash = strrchr(k->name, '/');
	struct insight_unit u = {.core = k->coord[0],
		.unit = k->coord[1],
		.said = {k->name, slash ? (size_t)(slash - k->name) : 0}};
	struct ascend_unit known;

	s->unit_of[i] = INSIGHT_NO_UNIT;
	if (s->selection && !selection_has(s->selection, s->t, k))
		return true;
	if (s->units.n) {
		const struct insight_unit *last = &s->units.v[s->units.n - 1];

		if (last->core == u.core && last->unit == u.unit)
			goto out;
	}
	u.name = slash ? arena_strndup(&s->arena, k->name, (size_t)(slash - k->name)) : NULL;
	/* A name of another form, or one with another core or unit, may not be unique: replace
	 * it. */
	if (!u.name || !ascend_unit_of(str_of(u.name), &known) || known.core != u.core ||
		known.unit != u.unit || strlen(u.name) > 64) {
		u.name = u.unit ? arena_printf(&s->arena, "core%u.veccore%u", u.core, u.unit - 1)
				: arena_printf(&s->arena, "core%u.cubecore0", u.core);
	}
	if (u.name && ascend_unit_of(str_of(u.name), &known))
		u.kind = known.kind;
	if (!u.name || !VEC_PUSH(&s->units, u))
		return err_nomem(e);
out:
	s->unit_of[i] = (uint32_t)s->units.n - 1;
	return true;
}

/* Pairs the flags. A flag has one line: the first of several links is drawn, the rest counted. */
static bool find_pairs(struct insight *s)
{
	for (uint32_t i = 0; i < s->t->n_links; i++) {
		const struct link *l = &s->t->links[i];
		uint64_t end[2] = {(uint64_t)l->from_track << 32 | l->from_slice,
			(uint64_t)l->to_track << 32 | l->to_slice};

		if (s->unit_of[l->from_track] == INSIGHT_NO_UNIT ||
			s->unit_of[l->to_track] == INSIGHT_NO_UNIT)
			continue;
		s->n_links++;
		if ((l->kind != LINK_FLAG && l->kind != LINK_CROSS_CORE) ||
			u64_map_find(&s->pair_of, end[0]) || u64_map_find(&s->pair_of, end[1]))
			continue;
		for (unsigned k = 0; k < 2; k++) {
			uint64_t *at = u64_map_at(&s->pair_of, end[k]);

			if (!at)
				return false;
			*at = (uint64_t)i + 1;
		}
	}
	return true;
}

static bool make_tables(struct insight *s, struct incore_error *e)
{
	size_t n_code = (size_t)s->t->n_code + 1;

	s->unit_of = arena_zalloc(&s->arena, (size_t)s->t->n_tracks + 1, sizeof(*s->unit_of));
	if (!s->unit_of)
		return err_nomem(e);
	for (track_idx i = 0; i < s->t->n_tracks; i++)
		if (!add_unit(s, i, e))
			return false;
	s->n_drawn = s->units.n;
	if (!insight_read_stated(s))
		return err_nomem(e);
	s->cells = mem_zalloc(n_code * (s->units.n + 1), sizeof(*s->cells));
	s->reach = arena_zalloc(&s->arena, n_code, sizeof(*s->reach));
	s->reach_track = arena_zalloc(&s->arena, n_code, sizeof(*s->reach_track));
	s->row_args = arena_zalloc(&s->arena, n_code, sizeof(*s->row_args));
	s->is_row_named = arena_zalloc(&s->arena, n_code, sizeof(*s->is_row_named));
	s->track_hash = arena_zalloc(&s->arena, (size_t)s->t->n_tracks + 1, sizeof(*s->track_hash));
	if (!s->cells || !s->reach || !s->reach_track || !s->row_args || !s->is_row_named ||
		!s->track_hash || !find_pairs(s) || !insight_find_named(s) ||
		!insight_make_paths(s))
		return err_nomem(e);
	return true;
}

/* --- the exporter --- */

static bool begin(struct export *x, struct incore_error *e)
{
	const struct trace *t = x->trace;
	struct insight *s;

	if (t->meta.vendor != VENDOR_ASCEND || !t->n_tracks)
		return err_set(e, INCORE_BAD_INPUT, "no-pipes",
			"insight: expected a trace of Ascend pipes, found %s",
			t->n_tracks ? vendor_name(t->meta.vendor) : "no pipe");
	if (!x->path || strcmp(x->path, "-") == 0)
		return err_set(e, INCORE_USAGE, "missing-option",
			"insight writes a directory: name it with -o DIR");
	if (x->options->walk.selection &&
		(x->options->walk.selection->has_from || x->options->walk.selection->has_to))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"insight holds whole pipes; --from and --until cannot be used with it");
	s = mem_zalloc(1, sizeof(*s));
	if (!s)
		return err_nomem(e);
	x->state = s;
	s->t = t;
	if (x->options->walk.selection && !selection_is_all(x->options->walk.selection))
		s->selection = x->options->walk.selection;
	s->open_unit = UINT32_MAX;
	arena_init(&s->arena);
	s->is_cycles = !t->meta.clock_hz_num || !t->meta.clock_hz_den;
	return insight_dir_begin(s, x->path, e) && make_tables(s, e) && insight_begin_trace(s, e);
}

static bool track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	struct insight *s = x->state;
	uint32_t unit = s->unit_of[k->index];

	if (unit != s->open_unit &&
		((s->open_unit != UINT32_MAX && !insight_end_unit(s, e)) ||
			!insight_end_core(s, e) || !insight_begin_core(s, unit, e)))
		return false;
	return insight_put_track(s, k, e) && insight_put_core_track(s, k, e);
}

static bool counter(struct export *x, const struct export_sample *v, struct incore_error *e)
{
	int64_t at = v->time_cyc + x->origin_cyc;

	(void)e;
	insight_put_counter(x->state, v->series, at > 0 ? (uint64_t)at : 0, v->value);
	return true;
}

static bool lost(struct export *x, const struct note *n, struct incore_error *e)
{
	(void)x;
	(void)n;
	(void)e;
	return true; /* they are in the block of tables */
}

static bool truncated(struct export *x, const struct export_cut *c, struct incore_error *e)
{
	(void)x;
	(void)c;
	(void)e;
	return true; /* reported by the driver's result */
}

static bool tell_cuts(struct export *x, const struct insight *s, struct incore_error *e)
{
	return export_cut(x, "links without a line",
		       "the viewer draws one line from a flag to the wait for it",
		       s->n_links - s->n_flows, e) &&
	       export_cut(x, "counter samples at cycle 0 moved to cycle 1",
		       "the viewer drops samples at time 0", s->n_moved_samples, e) &&
	       export_cut(x, "source texts", "the viewer shows none above 100 MB",
		       s->n_sources_left, e) &&
	       export_cut(x, "bytes of sources replaced", "they are no UTF-8", s->n_bytes_replaced,
		       e) &&
	       export_cut(x, "lines of instructions", "their file has neither text nor figures",
		       s->n_places_left, e) &&
	       export_cut(x, "rows of tables", "the viewer shows no table above 100 MB",
		       s->n_rows_left, e) &&
	       export_cut(x, "stated rows", "of a core or a file that is not in the trace",
		       s->n_stated_left, e) &&
	       export_cut(x, "blocks of details", "they are kept in the block of tables alone",
		       s->n_details_left, e);
}

static bool end(struct export *x, struct incore_error *e)
{
	struct insight *s = x->state;
	FILE *f;

	if ((s->open_unit != UINT32_MAX && !insight_end_unit(s, e)) || !insight_end_core(s, e) ||
		!insight_end_trace(s, e) || !insight_write_bin(s, e))
		return false;
	f = s->trace_file;
	s->trace_file = NULL;
	fseeko(f, 0, SEEK_END);
	if (!out_dir_done(&s->dir, f, "trace.json", e))
		return false;
	x->result->bytes = s->dir.bytes;
	x->result->n_links = s->n_flows;
	/* Readers would reject tables that refer to missing pipes. */
	if (s->n_hashed != s->t->n_tracks &&
		!export_cut(x, "notes",
			"a part of the pipes is written without the block of tables", s->t->n_notes,
			e))
		return false;
	return tell_cuts(x, s, e);
}

static bool commit(struct export *x, struct incore_error *e)
{
	return insight_dir_commit(x->state, e);
}

static void free_state(struct export *x)
{
	struct insight *s = x->state;

	if (!s)
		return;
	if (s->trace_file)
		fclose(s->trace_file);
	if (s->core_file)
		fclose(s->core_file);
	mem_free(s->trace.buf);
	mem_free(s->core.buf);
	insight_dir_abort(s);
	VEC_FREE(&s->units);
	VEC_FREE(&s->flags);
	VEC_FREE(&s->cross);
	VEC_FREE(&s->uses);
	VEC_FREE(&s->instr.groups);
	VEC_FREE(&s->stated_lines.groups);
	u64_map_deinit(&s->pair_of);
	mem_free(s->cells);
	arena_deinit(&s->arena);
	mem_free(s);
	x->state = NULL;
}

const struct export_ops export_insight = {
	.name = "insight",
	.suffix = "/",
	.media_type = "application/octet-stream",
	.summary = "simulator/ directory for MindStudio Insight (Ascend)",
	.holds = EXPORT_SLICES | EXPORT_LINKS | EXPORT_COUNTERS | EXPORT_CYCLES | EXPORT_STALLS |
		 EXPORT_NOTES | EXPORT_CODE,
	.is_directory = true,
	.takes_tracks = true,
	.commit = commit,
	EXPORT_WRITER,
};
