/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opprof.c: the directory of one run of msprof op (simulator or on the device), in all its
 * layouts: with simulator/ and dump/, with one of them, or as a flat manual copy. The best source
 * of time is used (dumps, then the container, then trace.json, then the per-core files) and the
 * others are compared with it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "import/ascend/opprof.h"
#include "import/capture_cache.h"

#define MAX_LISTED 100000
#define SNIFF_ENTRIES 2000

static bool is_dir_path(const struct file_fence *f, const char *dir, const char *name, char **path)
{
	*path = path_join(dir, name);
	return *path && file_is_dir_in(f, *path);
}

/* --- finding files --- */

static bool add_file(struct opprof *o, struct run_files *v, char *path)
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
			ok = add_file(o, &o->per_core, path);
		else if (!o->trace)
			o->trace = path;
		else
			mem_free(path);
	} else if (str_has(name, "instr_exe") && str_ends(name, ".csv")) {
		ok = add_file(o, &o->instr, path);
	} else if (str_has(name, "code_exe") && str_ends(name, ".csv")) {
		ok = add_file(o, &o->code, path);
	} else if (asc_is_summary_name(name)) {
		ok = add_file(o, &o->logs, path);
	} else {
		o->n_other++;
		mem_free(path);
	}
	return ok || err_nomem(e);
}

struct listing {
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
	struct listing *l = ctx;
	const struct capture_cache *k = l->o->b->options ? l->o->b->options->cache : NULL;
	char *path = path_join(l->dir, name);
	struct stat st;

	if (!path)
		return err_nomem(e);
	/* A link could lead anywhere: unless the user allows links, only files in the directory are
	 * read. */
	if ((k && k->follow_links ? file_stat_in : file_lstat_in)(capture_fence(k), path, &st) != 0)
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
	struct listing l = {o, dir, depth};

	return dir_each_in(import_fence(o->b->options), dir, see_entry, &l, e);
}

/* --- reading --- */

bool opprof_load(struct opprof *o, const char *path, struct file_data *out, struct incore_error *e)
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

static struct str text_of(const struct file_data *f)
{
	return (struct str){(const char *)f->data, f->size};
}

/* Turns the error of a bad file into a note; false for other errors, such as out of memory. */
bool opprof_forgive(struct opprof *o, const char *path, struct incore_error *e)
{
	struct strbuf text = {0};
	bool ok;

	if (!e || e->status != INCORE_BAD_INPUT)
		return false;
	err_format(e, &text);
	ok = !text.failed && trace_note(o->b->trace, NOTE_DAMAGED, "unreadable-part", path,
				     INCORE_NO_OFFSET, 1, "not read: %s", text.p ? text.p : "");
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
			    fn(o->b, text_of(&f), v[i].path, v[i].unit, e)) &&
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
			    asc_read_summary(o->b, text_of(&f), o->logs.v[i].path, e)) &&
			!opprof_forgive(o, o->logs.v[i].path, e))
			return false;
	}
	return true;
}

bool opprof_read_per_core(struct opprof *o, struct asc_build *b, struct incore_error *e)
{
	for (size_t i = 0; i < o->per_core.n; i++) {
		struct file_data f;

		b->unit = o->per_core.v[i].unit;
		if (!(opprof_load(o, o->per_core.v[i].path, &f, e) &&
			    asc_read_events(b, text_of(&f), o->per_core.v[i].path, 0, e)) &&
			!opprof_forgive(o, o->per_core.v[i].path, e))
			return false;
		o->time_source = "per-core trace.json";
	}
	b->unit = NULL;
	return true;
}

/* Reads the events of the run into b, from the best file that has them. */
bool opprof_read_run(
	struct opprof *o, struct asc_build *b, bool bin_has_trace, struct incore_error *e)
{
	if (bin_has_trace)
		return true;
	if (o->trace) {
		struct file_data f;
		bool ok = opprof_load(o, o->trace, &f, e);

		if (ok) {
			b->file = &f;
			ok = asc_read_events(b, text_of(&f), o->trace, 0, e);
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
		!trace_note(o->b->trace, NOTE_INFO, "other-files", NULL, INCORE_NO_OFFSET,
			o->n_other, "%llu files of the run are of kinds that are not read",
			(unsigned long long)o->n_other))
		return false;
	return !o->time_source || asc_note(o->b, NOTE_INFO, "time-source", INCORE_NO_OFFSET,
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

static bool has_flat_files(const struct file_fence *f, const char *path)
{
	struct incore_error ignored = {0};
	struct flat_look l = {0};

	dir_each_in(f, path, is_flat_file, &l, &ignored);
	incore_error_clear(&ignored);
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

	if (!p->is_dir)
		return 0;
	if (opprof_has_manifest(p->path, p->cache))
		return 85;
	if (has_simulator(f, p->path))
		return 80;
	if (has_flat_files(f, p->path))
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

const struct import_ops import_opprof = {
	.name = "opprof",
	.summary = "directory of a run of Ascend msprof op (simulator or device)",
	.looks_for = "an OPPROF_* directory of msprof op (with simulator/ or visualize_data.bin)",
	.sniff = opprof_sniff,
	.split = opprof_list_manifest,
	.leads_to = leads_to,
	.look = asc_look,
	.read = opprof_read,
	.lost = import_lost_noted,
};
