/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight.c: a trace of pipes as the simulator/ directory of `msprof op simulator`, for MindStudio
 * Insight. See incore-insight(7). Parts: the folder; what restores the same trace; the writer.
 */
#include "export/insight/insight.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "export/writer.h"
#include "isa/ascend.h"
#include "trace/kind.h"
#include "trace/packed.h"

/* --- the folder ------------------------------------------------------------------------------- */

/*
 * A directory of files of mode 0640, made under a temporary name and then moved.
 */

/* Target directory: DIR/simulator, or DIR itself if it has that name. */
static char *insight_dir_target_of(struct insight *s, const char *path)
{
	size_t n = strlen(path);
	char *dir;

	while (n > 1 && path[n - 1] == '/')
		n--;
	dir = arena_strndup(&s->arena, path, n);
	if (!dir || strcmp(path_base(dir), "simulator") == 0)
		return dir;
	return arena_printf(&s->arena, "%s/simulator", dir);
}

static bool insight_dir_make_parents(struct insight *s, struct incore_error *e)
{
	char *dir = arena_strdup(&s->arena, s->target);

	if (!dir)
		return err_nomem(e);
	for (char *p = dir + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(dir, 0750) == 0) {
			leftover_add(dir, true);
			if (!s->n_old_path)
				s->n_old_path = (size_t)(p - dir);
		} else if (errno != EEXIST) {
			return err_output(e, errno, dir, "cannot create directory");
		}
		*p = '/';
	}
	return true;
}

/* Handles parent directories created here: they stay, or on failure are removed with the result. */
static void leave_parents(struct insight *s, bool is_failed)
{
	char *dir = s->n_old_path ? arena_strdup(&s->arena, s->target) : NULL;

	for (size_t n = dir ? strlen(dir) : 0; n-- > s->n_old_path;) {
		if (dir[n] != '/')
			continue;
		dir[n] = 0;
		if (is_failed)
			rmdir(dir);
		leftover_drop(dir);
	}
	s->n_old_path = 0;
}

/* --- insight_dir.c --- */
static bool insight_dir_begin(struct insight *s, const char *path, struct incore_error *e)
{
	s->target = insight_dir_target_of(s, path);
	if (!s->target)
		return err_nomem(e);
	if (insight_dir_make_parents(s, e) && out_dir_open(&s->dir, s->target, 0640, e))
		return true;
	if (err_is(e, "exists"))
		err_set(e, INCORE_USAGE, "exists", "%s already exists; name another directory",
			s->target);
	return false;
}

FILE *insight_file(struct insight *s, const char *dir, const char *name, struct incore_error *e)
{
	const char *path = dir ? arena_printf(&s->arena, "%s/%s", dir, name) : name;

	if (!path)
		return err_nomem_null(e);
	if (dir && mkdirat(s->dir.fd, dir, 0750) != 0 && errno != EEXIST) {
		err_output(e, errno, dir, "cannot create directory");
		return NULL;
	}
	return out_dir_file(&s->dir, path, e);
}

static bool insight_dir_commit(struct insight *s, struct incore_error *e)
{
	bool ok = out_dir_commit(&s->dir, e);

	leave_parents(s, !ok);
	return ok;
}

static void insight_dir_abort(struct insight *s)
{
	out_dir_abort(&s->dir);
	leave_parents(s, true);
}

/* --- what restores the same trace ------------------------------------------------------------- */

/*
 * Data to restore the same trace. Events contain the slices; everything else (code rows in order,
 * sources, totals, links, counters at their true times, tables, notes) goes into a separate block:
 * a packed trace with empty tracks and a hash of each pipe's slices, so that a reader knows whether
 * the two belong together.
 */

/* --- rows --- */

static uint64_t insight_own_key_of(const struct insight *s, code_idx i, unsigned kind)
{
	const struct code_row *r = &s->t->code[i];

	return ascend_row_key(
		kind, r->address, insight_opcode(s, i), (struct str){r->text, r->text_len});
}

/* Finds the rows that must be written by number. A row without a kind of core matches cores of any
 * kind: there it must be the only match. */
static bool insight_find_named(struct insight *s)
{
	struct u64_map first = {0}, any = {0};
	bool ok = true;

	for (code_idx i = 0; ok && i < s->t->n_code; i++) {
		unsigned kind = s->t->code[i].code_object;
		uint64_t *a = u64_map_at(&first, insight_own_key_of(s, i, kind));
		uint64_t *b = u64_map_at(&any, insight_own_key_of(s, i, ASCEND_PLAIN));

		ok = a && b;
		if (!ok || s->t->code[i].is_label)
			continue;
		if (*a)
			s->is_row_named[i] = s->is_row_named[*a - 1] = 1;
		else
			*a = (uint64_t)i + 1;
		if (*b && (kind == ASCEND_PLAIN || s->t->code[*b - 1].code_object == ASCEND_PLAIN))
			s->is_row_named[i] = s->is_row_named[*b - 1] = 1;
		if (!*b || kind == ASCEND_PLAIN)
			*b = (uint64_t)i + 1;
	}
	u64_map_deinit(&first);
	u64_map_deinit(&any);
	return ok;
}

bool insight_is_named(const struct insight *s, code_idx code, uint32_t unit)
{
	unsigned kind;

	if (code >= s->t->n_code)
		return false;
	kind = s->t->code[code].code_object;
	return s->is_row_named[code] || (kind != ASCEND_PLAIN && kind != s->units.v[unit].kind);
}

/* --- the block --- */

void insight_hash_track(struct insight *s, const struct export_track *k)
{
	const struct track_data *d = k->data;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < d->n; i++)
		hash = ascend_slice_hash(hash, &(struct ascend_slice){d->start_cyc[i],
						       d->dur_cyc[i], d->stall_cyc[i], d->code[i]});
	s->track_hash[k->index] = hash;
	s->n_hashed++;
}

/* Adds the hashes as the last table of the trace. */
static bool add_hashes(struct insight *s, struct trace *shallow)
{
	static const char *const cols[] = {"hash"};
	const struct trace *t = s->t;
	const char **cells = arena_zalloc(&s->arena, (size_t)t->n_tracks + 1, sizeof(*cells));
	struct named_table *tables =
		arena_zalloc(&s->arena, (size_t)t->n_tables + 1, sizeof(*tables));

	if (!cells || !tables)
		return false;
	for (track_idx i = 0; i < t->n_tracks; i++) {
		cells[i] = arena_printf(&s->arena, "%016llx", (unsigned long long)s->track_hash[i]);
		if (!cells[i])
			return false;
	}
	if (t->n_tables)
		memcpy(tables, t->tables, t->n_tables * sizeof(*tables));
	tables[t->n_tables] = (struct named_table){.name = ASCEND_TABLE_SLICES,
		.origin = "",
		.n_cols = 1,
		.n_rows = t->n_tracks,
		.cols = cols,
		.cells = cells};
	shallow->tables = tables;
	shallow->n_tables = t->n_tables + 1;
	return true;
}

bool insight_own_bytes(struct insight *s, char **bytes, size_t *n, struct incore_error *e)
{
	struct trace shallow = *s->t;
	FILE *f;
	bool ok;

	*bytes = NULL;
	*n = 0;
	if (s->n_hashed != s->t->n_tracks)
		return true;
	f = open_memstream(bytes, n);
	if (!f || !add_hashes(s, &shallow)) {
		if (f)
			fclose(f);
		free(*bytes);
		*bytes = NULL;
		return err_nomem(e);
	}
	ok = packed_write_tables(&shallow, f, e);
	if (fclose(f) != 0 && ok)
		ok = err_nomem(e);
	if (!ok) {
		free(*bytes);
		*bytes = NULL;
	}
	return ok;
}

/* --- the writer ------------------------------------------------------------------------------- */

/* --- cores --- */

static bool insight_add_unit(struct insight *s, track_idx i, struct incore_error *e)
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

/* Chains the ends of links at each flag: those within a core first, as that core is written before
 * the links between cores are, then in the order of the links. */
static bool find_ends(struct insight *s)
{
	uint32_t n = s->t->n_links;
	bool ok;

	s->next_end = arena_zalloc(&s->arena, 2 * (size_t)n + 1, sizeof(*s->next_end));
	ok = s->next_end != NULL && n < UINT32_MAX / 2;
	for (uint32_t i = 2 * n; ok && i-- > 0;) {
		const struct link *l = &s->t->links[i % n];
		uint64_t end[2] = {(uint64_t)l->from_track << 32 | l->from_slice,
			(uint64_t)l->to_track << 32 | l->to_slice};
		uint32_t from = s->unit_of[l->from_track], to = s->unit_of[l->to_track];

		if (from == INSIGHT_NO_UNIT || to == INSIGHT_NO_UNIT || (from == to) != (i < n))
			continue;
		s->n_links++;
		for (unsigned k = 0; k < 2 && (l->kind == LINK_FLAG || l->kind == LINK_CROSS_CORE);
			k++) {
			uint64_t *at = u64_map_at(&s->end_of, end[k]);

			if (!at)
				return false;
			s->next_end[2 * (i % n) + k] = (uint32_t)*at;
			*at = 2 * (uint64_t)(i % n) + k + 1;
		}
	}
	return ok;
}

static bool insight_make_tables(struct insight *s, struct incore_error *e)
{
	size_t n_code = (size_t)s->t->n_code + 1;

	s->unit_of = arena_zalloc(&s->arena, (size_t)s->t->n_tracks + 1, sizeof(*s->unit_of));
	if (!s->unit_of)
		return err_nomem(e);
	for (track_idx i = 0; i < s->t->n_tracks; i++)
		if (!insight_add_unit(s, i, e))
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
		!s->track_hash || !find_ends(s) || !insight_find_named(s) || !insight_make_paths(s))
		return err_nomem(e);
	return true;
}

/* --- the exporter --- */

static bool insight_begin(struct export *x, struct incore_error *e)
{
	const struct trace *t = x->trace;
	struct insight *s;

	if (trace_kind(t) != KIND_PIPES || !t->n_tracks)
		return err_set(e, INCORE_BAD_INPUT, "no-pipes",
			"insight: expected a trace of Ascend pipes, found %s",
			kind_found(t, (char[64]){0}));
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
	s->no_sources = x->options->no_sources;
	if (x->options->walk.selection && !selection_is_all(x->options->walk.selection))
		s->selection = x->options->walk.selection;
	s->open_unit = UINT32_MAX;
	s->most_bytes = INSIGHT_TABLE_BYTES;
	arena_init(&s->arena);
	s->is_cycles = !t->meta.clock_hz_num || !t->meta.clock_hz_den;
	if (!insight_make_texts(s))
		return err_nomem(e);
	return insight_dir_begin(s, x->path, e) && insight_make_tables(s, e) &&
	       insight_begin_trace(s, e);
}

static bool insight_track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	struct insight *s = x->state;
	uint32_t unit = s->unit_of[k->index];

	if (unit != s->open_unit &&
		((s->open_unit != UINT32_MAX && !insight_end_unit(s, e)) ||
			!insight_end_core(s, e) || !insight_begin_core(s, unit, e)))
		return false;
	return insight_put_track(s, k, e) && insight_put_core_track(s, k, e);
}

static bool insight_counter(struct export *x, const struct export_sample *v, struct incore_error *e)
{
	int64_t at = v->time_cyc + x->origin_cyc;

	(void)e;
	insight_put_counter(x->state, v->series, at > 0 ? (uint64_t)at : 0, v->value);
	return true;
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
	       export_cut(x, "bytes of text replaced", "they are neither UTF-8 nor GBK",
		       s->n_bytes_replaced, e) &&
	       export_cut(x, "lines of instructions", "their file has neither text nor figures",
		       s->n_places_left, e) &&
	       export_cut(x, "rows of tables",
		       "the viewer shows no table above 100 MB: the costliest are kept",
		       s->n_rows_left, e) &&
	       export_cut(x, "columns of ours", "with them a table would be above 100 MB",
		       s->n_columns_left, e) &&
	       export_cut(x, "stated rows", "of a core or a file that is not in the trace",
		       s->n_stated_left, e) &&
	       export_cut(x, "blocks of details", "they are kept in the block of tables alone",
		       s->n_details_left, e);
}

static bool insight_end(struct export *x, struct incore_error *e)
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

static bool insight_commit(struct export *x, struct incore_error *e)
{
	return insight_dir_commit(x->state, e);
}

static void insight_free_state(struct export *x)
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
	u64_map_deinit(&s->end_of);
	u64_map_deinit(&s->shared_ids);
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
	.commit = insight_commit,
	.begin = insight_begin,
	.track = insight_track,
	.counter = insight_counter,
	.lost = export_note_told,
	.truncated = export_note_told,
	.end = insight_end,
	.abort = insight_free_state,
};
