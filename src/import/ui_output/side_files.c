/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_files.c: finds the files that rocprofv3 wrote around a directory (beside it, and in plain
 * folders beside it such as compute/), reads each, and sets machine and launch in the trace.
 * Nothing is taken from a file unless it provably belongs to this capture.
 */
#include "import/ui_output/side_files.h"

#include <errno.h>

#include "base/search.h"
#include "import/capture_cache.h"

#define MAX_FOLDERS 64
#define MAX_STATS 512 /* directory entries that are checked for being folders */

struct side_machine side_no_machine(void)
{
	struct side_machine m = {.node = NO_VALUE};

	m.m = (struct trace_machine){NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE,
		NO_VALUE, NO_VALUE, NULL};
	return m;
}

struct side_launch side_no_launch(void)
{
	struct side_launch l = {.node = NO_VALUE};

	l.l = (struct trace_launch){
		.agent = NO_VALUE,
		.dispatch = NO_VALUE,
		.kernel_id = NO_VALUE,
		.launch_index = NO_VALUE,
		.launch_count = NO_VALUE,
		.vgprs = NO_VALUE,
		.accum_vgprs = NO_VALUE,
		.sgprs = NO_VALUE,
		.lds_bytes = NO_VALUE,
		.scratch_bytes = NO_VALUE,
		.workgroup = {NO_VALUE, NO_VALUE, NO_VALUE},
		.grid = {NO_VALUE, NO_VALUE, NO_VALUE},
		.workgroups = NO_VALUE,
		.waves = NO_VALUE,
		.start_ns = NO_VALUE,
		.end_ns = NO_VALUE,
	};
	return l;
}

/* --- finding files --- */

struct folder {
	struct side *s;
	const char *path;
	VEC(const char *) names;
};

static bool add_name(void *ctx, const char *name, struct incore_error *e)
{
	struct folder *f = ctx;
	const char *copy;

	if (name[0] == '.')
		return true;
	copy = arena_strdup(&f->s->b->scratch, name);
	return (copy && VEC_PUSH(&f->names, copy)) || err_nomem(e);
}

static const char *parent_of(struct arena *a, const char *dir)
{
	const char *base = path_base(dir);

	if (!strcmp(base, ".") || !strcmp(base, ".."))
		return arena_printf(a, "%s/..", dir);
	if (base == dir)
		return arena_strdup(a, ".");
	if (base == dir + 1)
		return arena_strdup(a, "/");
	return arena_strndup(a, dir, (size_t)(base - dir) - 1);
}

static bool is_other(const char *path)
{
	return str_starts(str_of(path_base(path)), "discover");
}

static bool take_file(struct folder *f, const char *name)
{
	struct side *s = f->s;
	struct str n = str_of(name);
	const char *path;

	if (!str_ends(n, ".csv") && !str_ends(n, ".json") && !str_ends(n, ".yaml") &&
		!str_ends(n, ".yml"))
		return true;
	path = arena_printf(&s->b->scratch, "%s/%s", f->path, name);
	if (!path)
		return false;
	if (str_ends(n, "agent_info.csv"))
		return VEC_PUSH(&s->agent_info, path);
	if (str_ends(n, "kernel_trace.csv"))
		return VEC_PUSH(&s->kernel_trace, path);
	if (str_ends(n, "_results.json"))
		return VEC_PUSH(&s->results, path);
	if (str_starts(n, "input") && !str_ends(n, ".csv") && !str_ends(n, ".json"))
		return VEC_PUSH(&s->inputs, path);
	return true;
}

/* If a folder has its own captures, its side files belong to those. */
static bool belongs_to_captures(const struct folder *f)
{
	for (size_t i = 0; i < f->names.n; i++)
		if (str_starts(str_of(f->names.v[i]), "ui_output_") ||
			!strcmp(f->names.v[i], "filenames.json"))
			return true;
	return false;
}

/* False: no names. An unreadable folder becomes a note; *ok is false only when out of memory. */
static bool list_folder(struct folder *f, bool *ok)
{
	struct incore_error e = {0};
	bool done = dir_each_in(import_fence(f->s->b->options), f->path, add_name, f, &e);

	if (!done && err_is(&e, "no-memory"))
		*ok = false;
	else if (!done)
		*ok = trace_note(f->s->b->trace, NOTE_MISSING, "unreadable-folder", f->path,
			INCORE_NO_OFFSET, 1, "cannot look for side files: %s",
			e.message ? e.message : "unreadable");
	incore_error_clear(&e);
	return done;
}

static bool search_folder(struct side *s, const char *path)
{
	struct folder f = {.s = s, .path = path};
	bool ok = true;

	if (!list_folder(&f, &ok) || belongs_to_captures(&f))
		goto out;
	for (size_t i = 0; ok && i < f.names.n; i++)
		ok = take_file(&f, f.names.v[i]);
out:
	VEC_FREE(&f.names);
	return ok;
}

static bool search_parent(struct side *s)
{
	struct arena *a = &s->b->scratch;
	struct folder f = {.s = s, .path = parent_of(a, s->b->dir)};
	const char *stats = arena_printf(a, "stats_%s.csv", path_base(s->b->dir));
	unsigned n_folders = 0, n_asked = 0;
	struct stat st;
	bool ok = f.path && stats;

	s->dir = f.path;
	/* if a fence allows only the capture itself, there are no files beside it */
	if (ok && file_stat_in(import_fence(s->b->options), f.path, &st) == EXDEV)
		return true;
	if (!ok || !list_folder(&f, &ok))
		goto out;
	for (size_t i = 0; ok && i < f.names.n; i++) {
		const char *name = f.names.v[i], *path;

		ok = take_file(&f, name);
		if (!ok || str_starts(str_of(name), "ui_output_"))
			continue;
		path = arena_printf(a, "%s/%s", f.path, name);
		if (!path)
			ok = false;
		else if (!strcmp(name, stats))
			s->stats = path;
		else if (!strchr(name, '.') && n_asked++ < MAX_STATS &&
			 file_is_dir_in(import_fence(s->b->options), path) &&
			 n_folders++ < MAX_FOLDERS)
			ok = search_folder(s, path);
	}
out:
	VEC_FREE(&f.names);
	return ok;
}

/* --- input*.yaml --- */

static bool add_counter(struct side *s, struct str name)
{
	const char *copy;

	name = str_trim(name);
	if (name.n > 1 && (name.p[0] == '"' || name.p[0] == '\''))
		name = str_sub(name, 1, name.n - 2);
	if (!name.n)
		return true;
	copy = arena_strndup(&s->b->scratch, name.p, name.n);
	return copy && VEC_PUSH(&s->pmc, copy);
}

/* Reads the number after a key; it may be quoted or hexadecimal. */
static void take_yaml_value(struct str text, const char *key, int64_t *to)
{
	ptrdiff_t at = str_find(text, key);
	struct str rest;
	uint64_t v;

	if (at < 0)
		return;
	rest = str_sub(text, (size_t)at + strlen(key), text.n);
	for (size_t i = 0; i < rest.n; i++)
		if (rest.p[i] == ',' || rest.p[i] == '}')
			rest.n = i;
	rest = str_trim(rest);
	if (rest.n > 1 && (rest.p[0] == '"' || rest.p[0] == '\''))
		rest = str_sub(rest, 1, rest.n - 2);
	if (str_to_u64(rest, &v) && v < 65536)
		*to = (int64_t)v;
}

static bool take_yaml_line(struct side *s, struct str line, bool *in_pmc)
{
	struct str text = str_trim(line), rest, part;

	if (!text.n || text.p[0] == '#')
		return true;
	take_yaml_value(text, "att_target_cu:", &s->yaml_cu);
	take_yaml_value(text, "att_simd_select:", &s->yaml_simds);
	if (line.p[0] != ' ' && line.p[0] != '\t' && line.p[0] != '-')
		*in_pmc = str_starts(line, "pmc:");
	else if (*in_pmc && text.p[0] == '-')
		return add_counter(s, str_sub(text, 1, text.n));
	if (!*in_pmc || !str_starts(line, "pmc:"))
		return true;
	rest = str_trim(str_sub(line, 4, line.n));
	if (rest.n >= 2 && rest.p[0] == '[' && rest.p[rest.n - 1] == ']')
		rest = str_sub(rest, 1, rest.n - 2);
	while (str_cut(&rest, ",", &part))
		if (!add_counter(s, part))
			return false;
	return true;
}

bool ui_input_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct str text = {in.p, in.n}, line;
	bool in_pmc = false;

	if (b->side->pmc.n) /* one file is enough */
		return true;
	while (str_cut(&text, "\n", &line))
		if (line.n && !take_yaml_line(b->side, line, &in_pmc))
			return err_nomem(e);
	return true;
}

/* --- filling the trace --- */

static bool read_each(struct side *s, bool is_other_pass, struct incore_error *e)
{
	struct ui_build *b = s->b;

	for (size_t i = 0; i < s->kernel_trace.n; i++) {
		const char *path = s->kernel_trace.v[i], *base = path_base(path);

		if (is_other(path) != is_other_pass)
			continue;
		s->is_other_run =
			is_other(path) || (s->run && strncmp(base, s->run, strlen(s->run)) != 0);
		if (!ui_optional_path(b, path, ui_kernel_trace_parse, e))
			return false;
	}
	return true;
}

static bool read_files(struct side *s, struct incore_error *e)
{
	struct ui_build *b = s->b;

	for (size_t i = 0; i < s->results.n; i++)
		if (!ui_optional_path(b, s->results.v[i], ui_results_parse, e))
			return false;
	if (!read_each(s, false, e) || !read_each(s, true, e))
		return false;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < s->agent_info.n && !s->machine.is_known; i++)
			if (is_other(s->agent_info.v[i]) == (pass == 1) &&
				!ui_optional_path(b, s->agent_info.v[i], ui_agent_info_parse, e))
				return false;
	for (size_t i = 0; i < s->inputs.n; i++)
		if (!ui_optional_path(b, s->inputs.v[i], ui_input_parse, e))
			return false;
	return !s->stats || ui_optional_path(b, s->stats, ui_stats_parse, e);
}

/* Major of "gfx950" is 9, of "gfx1100" 11: two digits or letters follow it. */
static unsigned arch_major(const char *arch)
{
	size_t n = strlen(arch);
	uint64_t v;

	if (n < 6 || strncmp(arch, "gfx", 3) != 0 ||
		!ui_decimal((struct str){arch + 3, n - 5}, &v) || v > 99)
		return 0;
	return (unsigned)v;
}

static bool state_machine(struct side *s)
{
	struct trace *t = s->b->trace;
	const struct side_machine *m = &s->machine;

	if (m->is_known && m->arch && t->meta.gfx_major && arch_major(m->arch) != t->meta.gfx_major)
		return trace_note(t, NOTE_CONTRADICTORY, "other-machine", NULL, INCORE_NO_OFFSET, 1,
			"%s names %s, but the capture is of gfx%u: not used", m->source, m->arch,
			t->meta.gfx_major);
	if (m->is_known) {
		t->meta.machine = m->m;
		if (m->arch) {
			t->arch_from = (struct table_name){IMPORT_SIDE_FILES, t->meta.arch};
			t->meta.arch = m->arch;
			t->meta.arch_source = m->source;
		}
	}
	if (t->meta.machine.wave_size == NO_VALUE && t->meta.gfx_major == 9)
		t->meta.machine.wave_size = 64; /* the only size it has */
	return true;
}

/* Workgroups and waves of the whole grid; left unknown if a number is missing or implausible. */
static void count_waves(struct trace_launch *l, int64_t wave_size)
{
	int64_t groups = 1, items = 1;

	for (int i = 0; i < 3; i++) {
		int64_t size = l->workgroup[i], grid = l->grid[i];

		if (size <= 0 || grid <= 0 || grid > INT64_MAX - size ||
			__builtin_mul_overflow(groups, (grid + size - 1) / size, &groups) ||
			__builtin_mul_overflow(items, size, &items))
			return;
	}
	l->workgroups = groups;
	if (wave_size <= 0 || items > INT64_MAX - wave_size ||
		__builtin_mul_overflow(groups, (items + wave_size - 1) / wave_size, &l->waves))
		l->waves = NO_VALUE;
}

static void state_launch(struct side *s)
{
	struct trace_meta *m = &s->b->trace->meta;
	int64_t agent = m->launch.agent, dispatch = m->launch.dispatch;

	if (s->launch.is_known)
		m->launch = s->launch.l;
	else if (s->symbol.is_known)
		m->launch = s->symbol.l;
	m->launch.agent = agent;
	m->launch.dispatch = dispatch;
	m->launch.command = s->command;
	count_waves(&m->launch, m->machine.wave_size);
	if (m->target_cu == NO_VALUE)
		m->target_cu = s->yaml_cu;
}

static int compare_ids(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static bool note_traced(struct side *s)
{
	struct strbuf text = {0};
	bool ok;

	if (s->traced.n < 2)
		return true;
	SORT(s->traced.v, s->traced.n, compare_ids);
	for (size_t i = 0; i < s->traced.n && i < 32; i++)
		sb_printf(&text, "%s%lld", i ? ", " : "", (long long)s->traced.v[i]);
	if (s->traced.n > 32)
		sb_printf(&text, " and %zu more", s->traced.n - 32);
	ok = !text.failed &&
	     trace_note(s->b->trace, NOTE_INFO, "traced-dispatches", NULL, INCORE_NO_OFFSET,
		     s->traced.n, "the run traced %zu dispatches on this agent: %s", s->traced.n,
		     text.p);
	sb_free(&text);
	return ok;
}

static bool note_pmc(struct side *s)
{
	struct strbuf text = {0};
	bool ok;

	if (!s->pmc.n)
		return true;
	for (size_t i = 0; i < s->pmc.n && i < 8; i++)
		sb_printf(&text, "%s%s", i ? ", " : "", s->pmc.v[i]);
	if (s->pmc.n > 8)
		sb_printf(&text, " and %zu more", s->pmc.n - 8);
	ok = !text.failed &&
	     trace_note(s->b->trace, NOTE_INFO, "pmc-outside-jobs", NULL, INCORE_NO_OFFSET,
		     s->pmc.n,
		     "the input file asks for %zu counters outside its jobs, where rocprofv3 ignores them: %s",
		     s->pmc.n, text.p);
	sb_free(&text);
	return ok;
}

/* gfx9 traces all four SIMDs by default; one setting means a mask there, later one SIMD. */
static bool note_simds(struct side *s)
{
	struct trace *t = s->b->trace;
	int64_t v = s->yaml_simds;
	uint64_t mask = t->meta.gfx_major >= 10 ? UINT64_C(1) << (v & 3) : (uint64_t)v & 15;

	if (v == NO_VALUE || !mask || mask == 15)
		return true;
	return trace_note(t, NOTE_INFO, "traced-simds", NULL, INCORE_NO_OFFSET, mask,
		"the capture was to trace instructions of SIMDs by mask 0x%llx only",
		(unsigned long long)mask);
}

bool ui_side_files_read(struct ui_build *b, struct incore_error *e)
{
	struct side s = {.b = b,
		.machine = side_no_machine(),
		.launch = side_no_launch(),
		.symbol = side_no_launch(),
		.yaml_cu = NO_VALUE,
		.yaml_simds = NO_VALUE};
	bool ok;

	b->side = &s;
	ok = search_parent(&s) || err_nomem(e);
	ok = ok && read_files(&s, e);
	if (ok) {
		ok = state_machine(&s) || err_nomem(e);
		state_launch(&s);
	}
	if (ok && (!note_traced(&s) || !note_pmc(&s) || !note_simds(&s)))
		ok = err_nomem(e);
	b->side = NULL;
	VEC_FREE(&s.agent_info);
	VEC_FREE(&s.kernel_trace);
	VEC_FREE(&s.results);
	VEC_FREE(&s.inputs);
	VEC_FREE(&s.traced);
	VEC_FREE(&s.pmc);
	return ok;
}
