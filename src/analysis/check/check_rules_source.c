/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rules_source.c: are source lines worth reading? They may be unmapped, partly mapped,
 * collapsed onto one line, or of another text than was compiled. None of this changes the verdict
 * on the cycles.
 */
#include "analysis/check/check_internal.h"
#include "analysis/code/source_lines.h"
#include "base/file_fence.h"

struct mapping {
	uint32_t rows, mapped;
	uint64_t latency, mapped_latency;
	bool has_snapshots;
};

static void count_mapping(const struct check *c, struct mapping *m)
{
	const struct trace *t = c->trace;

	for (code_idx i = 0; i < t->n_code; i++) {
		if (t->code[i].is_label)
			continue;
		m->rows++;
		m->latency += c->gather->rows[i].latency;
		if (!t->code[i].source || !t->code[i].source[0])
			continue;
		m->mapped++;
		m->mapped_latency += c->gather->rows[i].latency;
	}
	for (source_idx i = 0; i < t->n_sources; i++)
		m->has_snapshots |= t->sources[i].snapshot != NULL;
}

static void say_no_source(struct check *c, const struct mapping *m)
{
	struct finding *f = check_add(c, "no-source", SEVERITY_WARNING, VERDICT_OK);

	finding_say(c, f, "none of %u instructions is mapped to a source line", m->rows);
	fact_int(f, "mapped_rows", 0);
	fact_int(f, "rows", m->rows);
	finding_advise(c, f,
		"build with -g or -gline-tables-only; FlyDSL: FLYDSL_DEBUG_ENABLE_DEBUG_INFO=1 and an empty FLYDSL_RUNTIME_CACHE_DIR");
}

void rule_source_map(struct check *c)
{
	struct mapping m = {0};
	struct finding *f;

	count_mapping(c, &m);
	if (!m.rows || m.mapped == m.rows)
		return;
	if (!m.mapped && !m.has_snapshots) {
		say_no_source(c, &m);
		return;
	}
	f = check_add(c, "source-partial", SEVERITY_INFO, VERDICT_OK);
	finding_say(c, f,
		"%u of %u instructions are mapped to source; the others carry %.1f %% of latency",
		m.mapped, m.rows,
		m.latency ? 100.0 * (double)(m.latency - m.mapped_latency) / (double)m.latency : 0);
	fact_int(f, "mapped_rows", m.mapped);
	fact_int(f, "rows", m.rows);
	fact_int(f, "unmapped_latency", (int64_t)(m.latency - m.mapped_latency));
	fact_int(f, "latency", (int64_t)m.latency);
	finding_advise(c, f, "read the unmapped part with `incore isa`");
}

static void say_collapsed(struct check *c, const struct source_lines *s)
{
	struct finding *f = check_add(c, "source-collapsed", SEVERITY_WARNING, VERDICT_OK);
	const struct source_line *l = &s->lines[s->collapse_line];
	struct strbuf line = {0};

	source_line_put(s, l, &line);
	finding_say(c, f,
		"the line table is %s: %s holds %.1f %% of mapped latency and %u of %u executed rows",
		s->collapse == COLLAPSE_PARTLY ? "partly collapsed" : "collapsed",
		check_text(c, &line), 100 * s->collapse_latency_share, l->exclusive.executed_rows,
		s->mapped.executed_rows);
	fact_text(c, f, "line", "%s", check_text(c, &line));
	fact_text(c, f, "degree", "%s", collapse_name(s->collapse));
	fact_real(f, "latency_share", s->collapse_latency_share, 6);
	fact_int(f, "executed_rows_on_line", l->exclusive.executed_rows);
	fact_int(f, "executed_mapped_rows", s->mapped.executed_rows);
	fact_real(f, "effective_lines", s->granularity[WEIGHT_LATENCY].effective_lines, 2);
	fact_int(f, "distinct_lines", s->distinct_lines);
	finding_advise(c, f,
		"do not act on single lines; read ISA regions and loops (`incore isa`), or improve the compiler's line info");
	sb_free(&line);
}

void rule_collapsed(struct check *c)
{
	struct source_lines s = {0};

	if (!source_lines_compute(&s, c->trace, c->gather->rows, NULL))
		c->is_nomem = true;
	else if ((s.collapse == COLLAPSE_YES || s.collapse == COLLAPSE_PARTLY) &&
		 s.collapse_line < s.n_lines)
		say_collapsed(c, &s);
	source_lines_deinit(&s);
}

/* Counts for the user's files, or for those of toolkits. */
struct stale {
	uint32_t n_files;
	uint32_t n_missing; /* files without a copy in the capture */
	uint32_t n_short;   /* rows beyond the end of the copy */
	uint32_t n_changed; /* user files only: copies that differ from the file on this machine */
	const char *first;
};

/*
 * Does the file belong to a compiler or toolkit? Only the recorded path decides, so that the answer
 * is the same on every machine.
 */
static bool is_of_toolkit(const char *path)
{
	static const char *const places[] = {"/usr/include/", "/usr/lib/", "/lib/clang/",
		"/usr/local/cuda/", "/usr/local/cuda-", "/opt/cuda/", "/opt/nvidia/",
		"/targets/x86_64-linux/include/", "/targets/sbsa-linux/include/", "/opt/rocm/",
		"/opt/rocm-", "/usr/local/Ascend/", "/ascend-toolkit/"};

	for (size_t i = 0; path && i < sizeof(places) / sizeof(*places); i++)
		if (strstr(path, places[i]))
			return true;
	return false;
}

static void stale_on_disk(const struct trace *t, struct stale *users)
{
	const struct file_fence *fence = file_fence_of_named(t->fence);
	struct file_data d = {0};

	EACH (const struct source_file, s, t->sources, t->n_sources) {
		struct incore_error ignored = {0};

		if (!s->text || !s->path || is_of_toolkit(s->path) ||
			file_size_in(fence, s->path) < 0)
			continue;
		if (!file_load_in(fence, &d, s->path, &ignored)) {
			incore_error_clear(&ignored);
			continue;
		}
		if (d.size == s->text_len && memcmp(d.data, s->text, d.size) == 0)
			continue;
		users->n_changed++;
		users->first = users->first ? users->first : s->path;
	}
	file_unload(&d);
}

static void find_stale(struct check *c, struct stale *users, struct stale *toolkits)
{
	const struct trace *t = c->trace;
	uint8_t *seen = arena_zalloc(&c->arena, (size_t)t->n_sources + 1, 1);

	c->is_nomem |= !seen;
	for (code_idx i = 0; seen && i < t->n_code; i++)
		for (uint32_t k = 0; !t->code[i].is_label && k < t->code[i].n_frames; k++) {
			const struct frame *f = &t->frames[t->code[i].first_frame + k];
			const struct source_file *s;
			struct stale *x;
			bool is_missing, is_short;

			if (f->source >= t->n_sources)
				continue;
			s = &t->sources[f->source];
			x = is_of_toolkit(s->path) ? toolkits : users;
			is_missing = !s->snapshot && !seen[f->source];
			is_short = s->snapshot && s->n_lines && f->line > s->n_lines;
			x->n_files += !seen[f->source];
			x->n_missing += is_missing;
			x->n_short += is_short;
			if (!x->first && (is_missing || is_short || x == toolkits))
				x->first = s->path;
			seen[f->source] = 1;
		}
	if (c->ctx && c->ctx->has_disk)
		stale_on_disk(t, users);
}

/* "2 files without a copy in the capture, 1 copy unlike the file on this machine" */
static void put_stale(const struct stale *x, struct strbuf *b)
{
	const struct {
		uint32_t n;
		const char *one, *many;
	} part[] = {
		{x->n_missing, "file without a copy in the capture",
			"files without a copy in the capture"},
		{x->n_short, "row beyond the end of its copy", "rows beyond the end of their copy"},
		{x->n_changed, "copy unlike the file on this machine",
			"copies unlike the files on this machine"},
	};

	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
		if (part[i].n)
			sb_printf(b, "%s%u %s", b->n ? ", " : "", part[i].n,
				part[i].n == 1 ? part[i].one : part[i].many);
}

static void say_stale(struct check *c, const struct stale *x)
{
	struct finding *f = check_add(c, "stale-source", SEVERITY_WARNING, VERDICT_OK);
	struct strbuf b = {0};

	put_stale(x, &b);
	finding_say(c, f, "source may not be what was compiled: %s (first: %s)", check_text(c, &b),
		x->first ? x->first : "?");
	fact_int(f, "files_without_snapshot", x->n_missing);
	fact_int(f, "rows_beyond_end", x->n_short);
	fact_int(f, "changed_files", x->n_changed);
	fact_text(c, f, "first", "%s", x->first ? x->first : "?");
	finding_advise(
		c, f, "check out the revision that was captured before reading source lines");
	sb_free(&b);
}

static void say_toolkit(struct check *c, const struct stale *x, uint32_t n_files)
{
	struct finding *f = check_add(c, "toolkit-source", SEVERITY_INFO, VERDICT_OK);
	struct strbuf b = {0};

	put_stale(x, &b);
	finding_say(c, f,
		"%u of %u source files %s to a toolkit and %s not compared with this machine's%s%s (first: %s)",
		x->n_files, n_files, x->n_files == 1 ? "belongs" : "belong",
		x->n_files == 1 ? "is" : "are", b.n ? "; " : "", b.n ? check_text(c, &b) : "",
		x->first);
	fact_int(f, "files", x->n_files);
	fact_int(f, "files_without_snapshot", x->n_missing);
	fact_int(f, "rows_beyond_end", x->n_short);
	fact_text(c, f, "first", "%s", x->first);
	finding_advise(c, f,
		"their lines are those of the toolkit that compiled the kernel; read the line of your own file that calls them");
	sb_free(&b);
}

void rule_stale(struct check *c)
{
	struct stale users = {0}, toolkits = {0};

	find_stale(c, &users, &toolkits);
	if (users.n_missing || users.n_short || users.n_changed)
		say_stale(c, &users);
	if (toolkits.n_files)
		say_toolkit(c, &toolkits, users.n_files + toolkits.n_files);
}
