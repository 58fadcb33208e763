/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opprof.c: the directory of one run of msprof op (simulator or on the device), in all its layouts:
 * with simulator/ and dump/, with one of them, or as a flat manual copy. The best source of time is
 * used (dumps, then the container, then trace.json, then the per-core files) and the others are
 * compared with it.
 *
 * Parts: a folder of many kernels; two sources of the same executions; the sources of one run; the
 * directory of one run.
 */
#include "import/ascend/opprof.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/search.h"
#include "codec/csv.h"
#include "import/ascend/ascend.h"
#include "import/capture_cache.h"

/* --- a folder of many kernels ----------------------------------------------------------------- */

/*
 * A folder of many kernels with a list of them (manifest_export.csv): each was collected and
 * exported, so every run is there twice. The column visualize_data_bin names the file to use. A
 * path of the list is used only if it leads to a file inside the folder; a path written on another
 * machine is searched by its part from "funcs/" on.
 */

#define MANIFEST "manifest_export.csv"
#define MAX_RUNS 100000

struct manifest {
	const char *dir;
	char *real;
	struct file_root root; /* dir, opened */
};

static bool opprof_is_inside(const char *root, const char *path)
{
	size_t n = strlen(root);

	return strncmp(path, root, n) == 0 && path[n] == '/';
}

/* The folder of a bin below root, without "simulator"; NULL: no file there. */
static const char *run_of_file(const struct manifest *m, const char *path, struct arena *a)
{
	char *real = realpath(path, NULL);
	const char *found = NULL;

	struct stat st;

	if (real && opprof_is_inside(m->real, real) &&
		file_stat_below(m->root, real + strlen(m->real) + 1, &st) == 0 &&
		!S_ISDIR(st.st_mode)) {
		struct str rest = str_of(real + strlen(m->real) + 1);
		ptrdiff_t cut = str_rfind_char(rest, '/');

		rest = str_sub(rest, 0, cut > 0 ? (size_t)cut : 0);
		if (str_ends(rest, "/simulator"))
			rest.n -= strlen("/simulator");
		found = rest.n ? arena_printf(a, "%s/%.*s", m->dir, STR_ARG(rest)) : NULL;
	}
	free(real);
	return found;
}

/* Tries a cell unchanged, or from "funcs/" on. */
static const char *run_of_cell(const struct manifest *m, struct str cell, struct arena *a)
{
	ptrdiff_t at = str_find(cell, "funcs/");
	const char *found = NULL;

	for (int i = 0; i < 2 && !found && cell.n; i++) {
		char *name = mem_strndup(cell.p, cell.n);
		char *path = name && name[0] != '/' ? path_join(m->dir, name) : NULL;

		if (name)
			found = run_of_file(m, path ? path : name, a);
		mem_free(path);
		mem_free(name);
		if (at < 0)
			break;
		cell = str_sub(cell, (size_t)at, cell.n);
		at = 0;
	}
	return found;
}

struct runs {
	VEC(const char *) v;
};

static void opprof_read_rows(
	struct csv_reader *r, const struct manifest *m, struct arena *a, struct runs *out)
{
	struct incore_error e = {0};
	bool at_end = false;
	int column;

	if (csv_header(r, &e) && (column = csv_column(r, "visualize_data_bin")) >= 0) {
		while (out->v.n < MAX_RUNS && csv_row(r, &at_end, &e)) {
			const char *run = run_of_cell(m, str_trim(csv_field(r, column)), a);

			if (run && !VEC_PUSH(&out->v, run))
				break;
		}
	}
	incore_error_clear(&e);
}

void opprof_manifest_runs(struct capture_cache *cache, const char *dir, struct str csv,
	struct arena *a, const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache};
	struct manifest m = {.dir = dir, .real = realpath(dir, NULL)};
	struct runs runs = {0};
	struct csv_reader r;

	*n = 0;
	*paths = NULL;
	csv_init(&r, (const uint8_t *)csv.p, csv.n, MANIFEST);
	if (m.real && import_root_open(&o, &m.root, dir)) {
		opprof_read_rows(&r, &m, a, &runs);
		close(m.root.fd);
	}
	csv_deinit(&r);
	if (runs.v.n)
		*paths = arena_memdup(a, runs.v.v, runs.v.n * sizeof(*runs.v.v));
	if (*paths)
		*n = (uint32_t)runs.v.n;
	VEC_FREE(&runs.v);
	free(m.real);
}

void opprof_list_manifest(const char *dir, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache, .is_look = true, .root = dir};
	char *path = path_join(dir, MANIFEST);
	struct file_data f = {0};

	*n = 0;
	*paths = NULL;
	if (path && file_exists_in(capture_fence(cache), path) && import_load(&o, &f, path, NULL))
		opprof_manifest_runs(
			cache, dir, (struct str){(const char *)f.data, f.size}, a, paths, n);
	file_unload(&f);
	mem_free(path);
}

/* Is this a folder with a manifest that names at least one run in the folder? */
static bool opprof_has_manifest(const char *dir, struct capture_cache *cache)
{
	struct arena a;
	const char **paths;
	uint32_t n;

	arena_init(&a);
	opprof_list_manifest(dir, cache, &a, &paths, &n);
	arena_deinit(&a);
	return n > 0;
}

/* --- two sources of the same executions ------------------------------------------------------- */

/*
 * Compares the trace that the producer derived with the exact ticks. Executions and lengths are
 * compared per instruction; the ratio of the lengths gives the clock; source lines, which only the
 * derived trace has, are copied.
 */

static uint64_t opprof_row_key(const struct asc_build *b, size_t i)
{
	const struct code_row *c = &b->code.v[i];
	struct str op = b->opcodes.strs[c->opcode];

	return hash_bytes(op.p, op.n, hash_mix64(c->address) ^ (uint64_t)c->code_object << 1);
}

/* Copies the frames of a row of `from` to a row of `to`. */
static bool take_frames(struct asc_build *to, size_t i, const struct asc_build *from, size_t k)
{
	struct code_row *row = &to->code.v[i];
	const struct code_row *src = &from->code.v[k];

	if (row->n_frames || !src->n_frames)
		return true;
	row->first_frame = (uint32_t)to->frames.n;
	row->source = arena_strdup(&to->trace->arena, src->source);
	if (!row->source)
		return false;
	for (uint32_t f = 0; f < src->n_frames; f++) {
		struct frame frame = from->frames.v[src->first_frame + f];

		frame.source = intern_add(&to->sources, from->sources.strs[frame.source]);
		if (frame.source == INTERN_NONE || !VEC_PUSH(&to->frames, frame))
			return false;
		row->n_frames++;
	}
	return true;
}

struct comparison {
	uint64_t n_differ, example;
	double us, ticks;
};

static void sum_ticks(const struct asc_build *b, uint64_t *ticks)
{
	for (size_t l = 0; l < b->lanes.n; l++)
		for (size_t i = 0; i < b->lanes.v[l].recs.n; i++)
			ticks[b->lanes.v[l].recs.v[i].code] += b->lanes.v[l].recs.v[i].dur;
}

static bool opprof_compare_rows(struct asc_build *b, const struct asc_build *other,
	const uint64_t *ticks, struct comparison *c)
{
	struct u64_map at = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < other->code.n; i++) {
		uint64_t *k = u64_map_at(&at, opprof_row_key(other, i));

		ok = k != NULL;
		if (ok && *k == 0)
			*k = i + 1;
	}
	for (size_t i = 0; ok && i < b->code.n; i++) {
		uint64_t *k = u64_map_find(&at, opprof_row_key(b, i));
		const struct asc_row *row = k ? &other->rows.v[*k - 1] : NULL;

		if (!row)
			continue;
		ok = take_frames(b, i, other, (size_t)*k - 1);
		b->code.v[i].bytes = other->code.v[*k - 1].bytes;
		if (b->rows.v[i].sync != SYNC_NONE)
			continue;
		if (row->n != b->rows.v[i].n) {
			c->example = c->n_differ++ ? c->example : b->code.v[i].address;
			continue;
		}
		c->us += row->us;
		c->ticks += (double)ticks[i];
	}
	u64_map_deinit(&at);
	return ok;
}

struct moving {	      /* an execution of an instruction that moves bytes */
	uint64_t key; /* of its instruction and pipe */
	double at;
	size_t order;
	uint64_t bytes;
	struct track_slice *slice;
};
typedef VEC(struct moving) movings;

ORDER(moving_cmp, struct moving, UP(key) UP(at) UP(order))

static bool add_movings(const struct asc_build *b, movings *out)
{
	EACH (const struct asc_lane, l, b->lanes.v, b->lanes.n) {
		uint64_t lane = hash_bytes(l->tid.p, l->tid.n, hash_bytes(l->pid.p, l->pid.n, 13));

		EACH (struct track_slice, r, l->recs.v, l->recs.n) {
			struct moving m = {.key = lane ^ opprof_row_key(b, r->code),
				.at = (double)r->start,
				.order = out->n,
				.bytes = asc_bytes_of(b, r),
				.slice = r};

			if (!b->is_ticks)
				memcpy(&m.at, &r->start, sizeof(m.at));
			if (b->code.v[r->code].bytes && !VEC_PUSH(out, m))
				return false;
		}
	}
	SORT(out->v, out->n, moving_cmp);
	return true;
}

/* Gives the k-th execution of an instruction on a pipe the bytes of the k-th in the derived trace,
 * where both have as many. */
static bool take_moved(struct asc_build *b, const struct asc_build *other)
{
	movings to = {0}, from = {0};
	bool ok = !other->n_moved || (add_movings(b, &to) && add_movings(other, &from));

	for (size_t i = 0, k = 0; ok && i < to.n;) {
		uint64_t key = to.v[i].key;
		size_t n = 0, m = 0;

		while (i + n < to.n && to.v[i + n].key == key)
			n++;
		while (k < from.n && from.v[k].key < key)
			k++;
		while (k + m < from.n && from.v[k + m].key == key)
			m++;
		for (size_t j = 0; ok && j < n && n == m; j++)
			ok = asc_set_bytes(b, to.v[i + j].slice, from.v[k + j].bytes);
		i += n;
	}
	VEC_FREE(&to);
	VEC_FREE(&from);
	return ok;
}

/* Compares a builder of ticks with that of the derived trace; takes its source lines and bytes. */
static bool asc_compare(struct asc_build *b, const struct asc_build *other, struct incore_error *e)
{
	uint64_t *ticks = mem_zalloc(b->code.n + 1, sizeof(*ticks));
	struct comparison c = {0};
	bool ok = ticks != NULL;

	if (ok) {
		sum_ticks(b, ticks);
		ok = opprof_compare_rows(b, other, ticks, &c) && take_moved(b, other);
	}
	mem_free(ticks);
	if (ok && c.us > 0)
		b->ratio_mhz = ascend_snap_mhz(c.ticks / c.us);
	if (ok && c.n_differ)
		ok = trace_note(b->trace, "trace-differs", b->path, INCORE_NO_OFFSET, c.n_differ,
			"the trace beside the dumps has another number of executions for %llu instructions (0x%llx is one)",
			(unsigned long long)c.n_differ, (unsigned long long)c.example);
	return ok || err_nomem(e);
}

/* --- the same events in another file --- */

/* Do lengths of the same instruction differ by more than rounding? */
static bool is_other_length(const struct asc_row *a, const struct asc_row *c)
{
	double off = a->us > c->us ? a->us - c->us : c->us - a->us;

	return off > 0.001 * (double)a->n + 1e-6 * a->us;
}

struct compared_sums {	   /* rows of one opcode at one address are summed together */
	struct u64_map at; /* key -> index + 1 of its first row, which has the sum */
	struct asc_row *v;
};

static bool sum_by_key(const struct asc_build *b, struct compared_sums *s)
{
	s->v = mem_zalloc(b->code.n + 1, sizeof(*s->v));
	for (size_t i = 0; s->v && i < b->code.n; i++) {
		uint64_t *k = u64_map_at(&s->at, opprof_row_key(b, i));

		if (!k)
			return false;
		if (*k == 0)
			*k = i + 1;
		s->v[*k - 1].n += b->rows.v[i].n;
		s->v[*k - 1].us += b->rows.v[i].us;
	}
	return s->v != NULL;
}

static void row_sums_deinit(struct compared_sums *s)
{
	u64_map_deinit(&s->at);
	mem_free(s->v);
}

static bool count_differences(const struct asc_build *b, const struct asc_build *other,
	bool is_same_schema, struct comparison *c)
{
	struct compared_sums ours = {0}, theirs = {0};
	bool ok = sum_by_key(b, &ours) && sum_by_key(other, &theirs);

	for (size_t i = 0; ok && i < b->code.n; i++) {
		uint64_t *k = u64_map_find(&theirs.at, opprof_row_key(b, i));
		const struct asc_row *mine = &ours.v[i], *row = k ? &theirs.v[*k - 1] : NULL;

		/* only the first row of a key has the sum */
		if (b->rows.v[i].sync != SYNC_NONE || mine->n == 0 || (!row && !is_same_schema))
			continue;
		if (!row || row->n != mine->n || (is_same_schema && is_other_length(mine, row)))
			c->example = c->n_differ++ ? c->example : b->code.v[i].address;
	}
	row_sums_deinit(&ours);
	row_sums_deinit(&theirs);
	return ok;
}

/* Compares a builder with that of another file that should have the same content. */
static bool asc_compare_copy(struct asc_build *b, const struct asc_build *other,
	const struct asc_copy *copy, struct incore_error *e)
{
	struct comparison c = {0};

	if (!count_differences(b, other, copy->is_same_schema, &c))
		return err_nomem(e);
	if (copy->is_same_schema && !c.n_differ && other->n_slices != b->n_slices)
		c.n_differ = 1;
	return !c.n_differ ||
	       trace_note(b->trace, copy->note, copy->path, INCORE_NO_OFFSET, c.n_differ,
		       "it has %llu slices, the source that was read has %llu; %llu instructions differ (0x%llx is one)",
		       (unsigned long long)other->n_slices, (unsigned long long)b->n_slices,
		       (unsigned long long)c.n_differ, (unsigned long long)c.example) ||
	       err_nomem(e);
}

/* --- the sources of one run ------------------------------------------------------------------- */

/*
 * A run stores the same data several times: dumps, the container, trace.json, a file per core. The
 * best source was read; the others are compared with it.
 */

static bool opprof_load(
	struct opprof *o, const char *path, struct file_data *out, struct incore_error *e);
static bool opprof_forgive(struct opprof *o, const char *path, struct incore_error *e);
static bool opprof_read_per_core(struct opprof *o, struct asc_build *b, struct incore_error *e);
static bool opprof_read_run(
	struct opprof *o, struct asc_build *b, bool bin_has_trace, struct incore_error *e);

/* Compares the ticks with the trace that was derived from them, and takes source lines from it. */
static bool opprof_compare_ticks(
	struct opprof *o, const struct import_options *opts, struct incore_error *e)
{
	struct trace *t = trace_new();
	struct asc_build other;
	struct file_data f;
	const char *time_source = o->time_source;
	bool ok;

	if (!t)
		return err_nomem(e);
	ok = asc_init(&other, t, opts, e);
	/* If it is unreadable, that was noted when the run was read. */
	if (ok && o->bin && opprof_load(o, o->bin, &f, NULL) &&
		!asc_read_bin(&other, &f, o->bin, true, e))
		ok = opprof_forgive(o, o->bin, e);
	if (ok && !other.n_slices && !opprof_read_run(o, &other, false, e))
		ok = opprof_forgive(o, o->trace ? o->trace : "trace.json", e);
	o->time_source = time_source;
	ok = ok && asc_compare(o->b, &other, e);
	asc_deinit(&other);
	trace_free(t);
	return ok;
}

/* --- copies of the same events --- */

struct opprof_copy {
	struct opprof *o;
	struct asc_build b;
	struct trace *t;
};

static bool open_copy(struct opprof_copy *c, struct opprof *o, const struct import_options *opts)
{
	*c = (struct opprof_copy){.o = o, .t = trace_new()};
	return c->t && asc_init(&c->b, c->t, opts, NULL);
}

static void close_copy(struct opprof_copy *c)
{
	if (!c->t)
		return;
	asc_deinit(&c->b);
	trace_free(c->t);
}

/* trace.json and the block TRACE usually are the same text; only if not, their events are
 * compared. */
static bool compare_trace_json(
	struct opprof *o, const struct import_options *opts, struct incore_error *e)
{
	struct opprof_copy c;
	struct file_data f;
	struct str bytes;
	bool ok;

	if (!opprof_load(o, o->trace, &f, e))
		return opprof_forgive(o, o->trace, e);
	bytes = (struct str){(const char *)f.data, f.size};
	if (str_eq(bytes, o->b->trace_text))
		return true;
	if (!open_copy(&c, o, opts)) {
		close_copy(&c);
		return err_nomem(e);
	}
	if (asc_read_events(&c.b, bytes, o->trace, 0, e))
		ok = asc_compare_copy(
			o->b, &c.b, &(struct asc_copy){o->trace, "trace-json-differs", true}, e);
	else
		ok = opprof_forgive(o, o->trace, e);
	close_copy(&c);
	return ok;
}

/* Only if every core has its file: an instruction's executions are those of all cores. */
static bool compare_per_core(
	struct opprof *o, const struct import_options *opts, struct incore_error *e)
{
	const char *time_source = o->time_source;
	struct opprof_copy c;
	bool ok;

	if (!open_copy(&c, o, opts)) {
		close_copy(&c);
		return err_nomem(e);
	}
	ok = opprof_read_per_core(o, &c.b, e) &&
	     asc_compare_copy(o->b, &c.b,
		     &(struct asc_copy){o->per_core.v[0].path, "core-json-differs", false}, e);
	o->time_source = time_source;
	close_copy(&c);
	return ok;
}

static size_t opprof_count_cores(const struct asc_build *b)
{
	struct u64_map seen = {0};
	size_t n = 0;

	for (size_t i = 0; i < b->lanes.n; i++) {
		struct ascend_unit u;
		uint64_t *k;

		if (!b->lanes.v[i].recs.n || !ascend_unit_of(b->lanes.v[i].pid, &u))
			continue;
		k = u64_map_at(&seen, (uint64_t)u.core << 8 | u.unit);
		n += k && !*k;
		if (k)
			*k = 1;
	}
	u64_map_deinit(&seen);
	return n;
}

/* Compares the events with other files of the run that should hold the same. */
static bool opprof_compare_copies(
	struct opprof *o, const struct import_options *opts, struct incore_error *e)
{
	size_t n = opprof_count_cores(o->b);

	if (o->b->has_trace && o->trace && !compare_trace_json(o, opts, e))
		return false;
	return !o->per_core.n || (!o->b->has_trace && !o->trace) || n == 0 || o->per_core.n != n ||
	       compare_per_core(o, opts, e);
}

/* --- the directory of one run ----------------------------------------------------------------- */

#define MAX_LISTED 100000
#define SNIFF_ENTRIES 2000

static bool is_dir_path(const struct file_fence *f, const char *dir, const char *name, char **path)
{
	*path = path_join(dir, name);
	return *path && file_is_dir_in(f, *path);
}

/* --- finding files --- */

static bool opprof_add_file(struct opprof *o, struct run_files *v, char *path)
{
	struct run_file f = {path, asc_unit_of_path(&o->b->trace->arena, path)};

	if (v->n < MAX_LISTED && VEC_PUSH(v, f))
		return true;
	mem_free(path);
	return false;
}

static bool see_file(struct opprof *o, char *path, struct incore_error *e)
{
	struct str name = str_of(path_base(path));
	struct ascend_unit u;
	bool ok = true;

	if (str_is(name, "visualize_data.bin") && !o->bin) {
		o->bin = path;
	} else if (str_ends(name, "trace.json")) {
		const char *unit = asc_unit_of_path(&o->b->trace->arena, path);

		if (unit && ascend_unit_of(str_of(unit), &u))
			ok = opprof_add_file(o, &o->per_core, path);
		else if (!o->trace)
			o->trace = path;
		else
			mem_free(path);
	} else if (str_has(name, "instr_exe") && str_ends(name, ".csv")) {
		ok = opprof_add_file(o, &o->instr, path);
	} else if (str_has(name, "code_exe") && str_ends(name, ".csv")) {
		ok = opprof_add_file(o, &o->code, path);
	} else if (asc_is_summary_name(name)) {
		ok = opprof_add_file(o, &o->logs, path);
	} else {
		o->n_other++;
		mem_free(path);
	}
	return ok || err_nomem(e);
}

struct opprof_listing {
	struct opprof *o;
	const char *dir;
	unsigned depth;
};

static bool list_dir(struct opprof *o, const char *dir, unsigned depth, struct incore_error *e);

static bool has_log(void *ctx, const char *name, struct incore_error *e)
{
	(void)e;
	*(int *)ctx += asc_is_dump_name(str_of(name));
	return *(int *)ctx < 2;
}

static bool is_dump_dir(const struct file_fence *f, const char *path)
{
	struct incore_error why = {0};
	int n = 0;

	dir_each_in(f, path, has_log, &n, &why);
	incore_error_clear(&why);
	return n >= 2;
}

static bool see_dir(struct opprof *o, char *path, unsigned depth, struct incore_error *e)
{
	struct str name = str_of(path_base(path));
	bool ok = true;

	if (str_is(name, "dump") || str_is(name, "tmp_dump")) {
		if (is_dump_dir(import_fence(o->b->options), path)) {
			if (VEC_PUSH(&o->dumps, path))
				return true;
			ok = err_nomem(e);
		}
	} else if (depth > 0 && (str_is(name, "simulator") || str_starts(name, "core") ||
					str_starts(name, "device"))) {
		ok = list_dir(o, path, depth - 1, e);
	}
	mem_free(path);
	return ok;
}

static bool see_entry(void *ctx, const char *name, struct incore_error *e)
{
	struct opprof_listing *l = ctx;
	const struct capture_cache *k = l->o->b->options ? l->o->b->options->cache : NULL;
	char *path = path_join(l->dir, name);
	struct stat st;
	int failed;

	if (!path)
		return err_nomem(e);
	/* A link could lead anywhere: unless the user allows links, only files in the directory are
	 * read. */
	failed = k && k->follow_links ? file_stat_in(capture_fence(k), path, &st)
				      : file_lstat_in(capture_fence(k), path, &st);
	if (failed)
		st.st_mode = 0;
	if (S_ISDIR(st.st_mode))
		return see_dir(l->o, path, l->depth, e);
	if (S_ISREG(st.st_mode))
		return see_file(l->o, path, e);
	mem_free(path);
	return true;
}

static bool list_dir(struct opprof *o, const char *dir, unsigned depth, struct incore_error *e)
{
	struct opprof_listing l = {o, dir, depth};

	return dir_each_in(import_fence(o->b->options), dir, see_entry, &l, e);
}

/* --- reading --- */

/* Loads a file; its bytes stay valid until the run is read, and it is opened only once. path must
 * live as long as o. */
static bool opprof_load(
	struct opprof *o, const char *path, struct file_data *out, struct incore_error *e)
{
	struct loaded_file f = {.path = path};

	for (size_t i = 0; i < o->loaded.n; i++)
		if (!strcmp(o->loaded.v[i].path, path)) {
			*out = o->loaded.v[i].data;
			return true;
		}
	if (!import_load(o->b->options, &f.data, path, e))
		return false;
	if (!VEC_PUSH(&o->loaded, f)) {
		file_unload(&f.data);
		return err_nomem(e);
	}
	*out = f.data;
	return true;
}

static struct str opprof_text_of(const struct file_data *f)
{
	return (struct str){(const char *)f->data, f->size};
}

/* Turns the error of a bad file into a note; false for other errors, such as out of memory. Turns
 * the error of a bad file into a note; false for other errors, such as out of memory. */
static bool opprof_forgive(struct opprof *o, const char *path, struct incore_error *e)
{
	struct strbuf text = {0};
	bool ok;

	if (!e || e->status != INCORE_BAD_INPUT)
		return false;
	err_format(e, &text);
	ok = !text.failed && trace_note(o->b->trace, "unreadable-part", path, INCORE_NO_OFFSET, 1,
				     "not read: %s", text.p ? text.p : "");
	sb_free(&text);
	incore_error_clear(e);
	return ok || err_nomem(e);
}

typedef bool (*csv_reader_fn)(struct asc_build *b, struct str bytes, const char *path,
	const char *core, struct incore_error *e);

static bool read_csvs(struct opprof *o, csv_reader_fn fn, const struct run_file *v, size_t n,
	struct incore_error *e)
{
	for (size_t i = 0; i < n; i++) {
		struct file_data f;

		if (!(opprof_load(o, v[i].path, &f, e) &&
			    fn(o->b, opprof_text_of(&f), v[i].path, v[i].unit, e)) &&
			!opprof_forgive(o, v[i].path, e))
			return false;
	}
	return true;
}

static bool read_logs(struct opprof *o, struct incore_error *e)
{
	for (size_t i = 0; i < o->logs.n; i++) {
		struct file_data f;

		if (!(opprof_load(o, o->logs.v[i].path, &f, e) &&
			    asc_read_summary(o->b, opprof_text_of(&f), o->logs.v[i].path, e)) &&
			!opprof_forgive(o, o->logs.v[i].path, e))
			return false;
	}
	return true;
}

static bool opprof_read_per_core(struct opprof *o, struct asc_build *b, struct incore_error *e)
{
	for (size_t i = 0; i < o->per_core.n; i++) {
		struct file_data f;

		b->unit = o->per_core.v[i].unit;
		if (!(opprof_load(o, o->per_core.v[i].path, &f, e) &&
			    asc_read_events(b, opprof_text_of(&f), o->per_core.v[i].path, 0, e)) &&
			!opprof_forgive(o, o->per_core.v[i].path, e))
			return false;
		o->time_source = "per-core trace.json";
	}
	b->unit = NULL;
	return true;
}

/* Reads the events of the run into b, from the best file that has them. Reads the events of the
 * run into b, from the best file that has them. */
static bool opprof_read_run(
	struct opprof *o, struct asc_build *b, bool bin_has_trace, struct incore_error *e)
{
	if (bin_has_trace)
		return true;
	if (o->trace) {
		struct file_data f;
		bool ok = opprof_load(o, o->trace, &f, e);

		if (ok) {
			b->file = &f;
			ok = asc_read_events(b, opprof_text_of(&f), o->trace, 0, e);
			b->file = NULL;
		}
		if (ok) {
			o->time_source = "trace.json";
			return true;
		}
		if (!o->per_core.n || !opprof_forgive(o, o->trace, e))
			return false;
	}
	return opprof_read_per_core(o, b, e);
}

static bool read_bin(struct opprof *o, bool with_trace, struct incore_error *e)
{
	struct file_data f;

	if (!o->bin)
		return true;
	if (!opprof_load(o, o->bin, &f, e))
		return opprof_forgive(o, o->bin, e);
	if (!asc_read_bin(o->b, &f, o->bin, with_trace, e))
		/* Other files of the run may hold the same events. */
		return (o->trace || o->per_core.n || o->dumps.n) && opprof_forgive(o, o->bin, e);
	if (o->b->has_trace && with_trace)
		o->time_source = "visualize_data.bin";
	return true;
}

static bool read_dumps(struct opprof *o, struct incore_error *e)
{
	uint32_t n = 0, total = 0;

	for (size_t i = 0; i < o->dumps.n; i++) {
		if (!asc_read_dumps(o->b, o->dumps.v[i], &n, e) &&
			!opprof_forgive(o, o->dumps.v[i], e))
			return false;
		total += n;
	}
	o->b->is_ticks = total > 0;
	if (total)
		o->time_source = "raw dumps";
	return true;
}

/* --- names --- */

static bool is_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	return s.n > 0 && s.n <= 3;
}

/* Kernel: the path component above the launch number, else OPPROF_*, else the directory's name. */
static bool set_kernel(struct opprof *o, const char *path)
{
	char *real = realpath(path, NULL);
	struct str rest = str_of(real ? real : path), part, v[64], name = {NULL, 0};
	struct trace_meta *m = &o->b->trace->meta;
	uint64_t launch;
	size_t n = 0;

	while (str_cut(&rest, "/", &part))
		if (part.n && n < 64)
			v[n++] = part;
	if (n && str_is(v[n - 1], "simulator"))
		n--;
	if (n > 1 && is_digits(v[n - 1])) {
		name = v[n - 2];
		str_to_u64(v[n - 1], &launch);
		m->launch.launch_index = (int64_t)launch;
	}
	for (size_t i = 0; i + 1 < n && !name.n; i++)
		if (str_is(v[i], "funcs"))
			name = v[i + 1];
	for (size_t i = n; i > 0 && !name.n; i--)
		if (str_starts(v[i - 1], "OPPROF_"))
			name = v[i - 1];
	if (!name.n && n)
		name = v[n - 1];
	if (!m->kernel && name.n)
		m->kernel = arena_strndup(&o->b->trace->arena, name.p, name.n);
	free(real);
	return !name.n || m->kernel;
}

/* Launches of one kernel share the program: <kernel>/dump/aicore_binary.o. */
static bool find_binary(struct opprof *o, const char *path)
{
	struct arena *a = &o->b->trace->arena;
	const char *above, *found;
	char *up;

	if (o->b->binary)
		return true;
	up = import_parent(path);
	above = up ? arena_strdup(a, *up ? up : ".") : NULL;
	mem_free(up);
	found = above ? arena_printf(a, "%s/dump/aicore_binary.o", above) : NULL;
	if (found && file_exists_in(import_fence(o->b->options), found)) {
		o->b->binary = found;
		o->b->binary_root = above;
	}
	return found != NULL;
}

static bool note_sources(struct opprof *o)
{
	if (o->n_other &&
		!trace_note(o->b->trace, "other-files", NULL, INCORE_NO_OFFSET, o->n_other,
			"%llu files of the run are of kinds that are not read",
			(unsigned long long)o->n_other))
		return false;
	return !o->time_source || asc_note(o->b, "time-source", INCORE_NO_OFFSET,
					  "times are those of the %s", o->time_source);
}

static bool read_parts(struct opprof *o, const char *path, const struct import_options *opts,
	struct incore_error *e)
{
	if (!list_dir(o, path, 3, e) || !read_dumps(o, e) || !read_bin(o, !o->b->is_ticks, e) ||
		!read_csvs(o, asc_read_instr_csv, o->instr.v, o->instr.n, e) ||
		!read_csvs(o, asc_read_code_csv, o->code.v, o->code.n, e) || !read_logs(o, e))
		return false;
	if (o->b->is_ticks) {
		if ((o->bin || o->trace || o->per_core.n) && !opprof_compare_ticks(o, opts, e))
			return false;
	} else if (!opprof_read_run(o, o->b, o->b->has_trace, e) ||
		   !opprof_compare_copies(o, opts, e)) {
		return false;
	}
	if (!o->bin && !o->trace && !o->per_core.n && !o->b->is_ticks && !o->instr.n)
		return err_file(e, "empty-run", path, INCORE_NO_OFFSET,
			"nothing to read: no visualize_data.bin, trace.json, CSV or dumps");
	o->b->path = path;
	if (!set_kernel(o, path) || !find_binary(o, path) || !note_sources(o))
		return err_nomem(e);
	if (!o->time_source && o->bin && !o->instr.n)
		o->b->trace->meta.evidence = EVIDENCE_HARDWARE_SAMPLE;
	return asc_finish(o->b, e);
}

static void free_files(struct run_file *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mem_free(v[i].path);
	mem_free(v);
}

static bool opprof_read(const char *path, const struct import_options *opts, struct trace *t,
	struct incore_error *e)
{
	struct asc_build b;
	struct opprof o = {.b = &b};
	const char **listed;
	uint32_t n = 0;
	bool ok;

	opprof_list_manifest(path, opts->cache, &t->arena, &listed, &n);
	path = n ? listed[0] : path;
	ok = asc_init(&b, t, opts, e) && read_parts(&o, path, opts, e);

	asc_deinit(&b);
	mem_free(o.bin);
	mem_free(o.trace);
	free_files(o.per_core.v, o.per_core.n);
	free_files(o.instr.v, o.instr.n);
	free_files(o.code.v, o.code.n);
	free_files(o.logs.v, o.logs.n);
	for (size_t i = 0; i < o.dumps.n; i++)
		mem_free(o.dumps.v[i]);
	VEC_FREE(&o.dumps);
	for (size_t i = 0; i < o.loaded.n; i++)
		file_unload(&o.loaded.v[i].data);
	VEC_FREE(&o.loaded);
	return ok;
}

/* --- recognising --- */

struct flat_look {
	bool found;
	unsigned n;
};

/* Looks for names that only such a run has, among the first entries of the directory. */
static bool is_flat_file(void *ctx, const char *text, struct incore_error *e)
{
	struct flat_look *l = ctx;
	struct str name = str_of(text);

	(void)e;
	l->found = str_is(name, "visualize_data.bin") ||
		   (str_has(name, "instr_exe") && str_ends(name, ".csv")) ||
		   (str_starts(name, "core") &&
			   (asc_is_summary_name(name) || str_ends(name, ".trace.json")));
	return !l->found && ++l->n < SNIFF_ENTRIES;
}

static bool has_flat_files(const struct probe *p)
{
	struct flat_look l = {0};

	dir_each_in(capture_fence(p->cache), p->path, is_flat_file, &l, p->error);
	return l.found;
}

static bool has_simulator(const struct file_fence *f, const char *path)
{
	static const char *const parts[] = {"simulator/visualize_data.bin", "simulator/trace.json"};
	char *p = NULL;
	bool found = false;

	for (size_t i = 0; i < 2 && !found; i++) {
		p = path_join(path, parts[i]);
		found = p && file_exists_in(f, p);
		mem_free(p);
	}
	if (!found) {
		found = is_dir_path(f, path, "simulator", &p);
		mem_free(p);
	}
	return found;
}

static int opprof_sniff(const struct probe *p)
{
	static const char *const dumps[] = {"dump", "tmp_dump", "device0/dump", "device0/tmp_dump"};
	const struct file_fence *f = capture_fence(p->cache);
	char *path = NULL;
	int sure = 0;

	if (opprof_has_manifest(p->path, p->cache))
		return 85;
	if (has_simulator(f, p->path))
		return 80;
	if (has_flat_files(p))
		return 75;
	for (size_t i = 0; i < 4 && !sure; i++) {
		if (is_dir_path(f, p->path, dumps[i], &path) && is_dump_dir(f, path))
			sure = 60;
		mem_free(path);
	}
	return sure;
}

/* A run may be several levels below such a directory. */
static bool leads_to(const char *path)
{
	struct str rest = str_of(path), part;

	while (str_cut(&rest, "/", &part))
		if (str_starts(part, "OPPROF_") || str_is(part, "funcs") ||
			(str_starts(part, "device") && is_digits(str_sub(part, 6, part.n))))
			return true;
	return false;
}

static const struct signature opprof_signs[] = {
	{.entry = MANIFEST},
	{.entry = "simulator"},
	{.entry = "dump"},
	{.entry = "tmp_dump"},
	{.entry = "device0"},
	{.entry = "visualize_data.bin"},
	{.entry = "*instr_exe*.csv"},
	{.entry = "core*"},
	{0},
};

const struct import_ops import_opprof = {
	.name = "opprof",
	.summary = "directory of a run of Ascend msprof op (simulator or device)",
	.looks_for = "an OPPROF_* directory of msprof op (with simulator/ or visualize_data.bin)",
	.signs = opprof_signs,
	.sniff = opprof_sniff,
	.split = opprof_list_manifest,
	.leads_to = leads_to,
	.look = asc_look,
	.read = opprof_read,
	.lost = import_lost_noted,
};
