/* SPDX-License-Identifier: Apache-2.0 */
/*
 * * check_rules_waves.c: do wave files, manifest and occupancy describe the same waves? On the CU
 * with instruction detail every start and end event belongs to exactly one wave file, and vice
 * versa. Divisions: totals; work; sources; waves.
 */
#include "analysis/check/check_internal.h"
#include "analysis/code/source_lines.h"
#include "analysis/occupancy/limits.h"
#include "analysis/occupancy/occupancy.h"
#include "analysis/waves/states.h"
#include "base/file.h"
#include "base/file_fence.h"
#include "base/search.h"

/* --- totals ----------------------------------------------------------------------------------- */

static void add_totals(struct code_totals *to, const struct code_totals *r)
{
	to->hit += r->hit;
	to->latency += r->latency;
	to->stall += r->stall;
	to->idle += r->idle;
}

void rule_totals(struct check *c)
{
	const struct trace *t = c->trace;
	struct code_totals stated = {0}, ours = {0};
	uint32_t n = 0;
	code_idx first = NO_CODE;
	struct finding *f;

	if (!t->has_stated_totals || check_is_sampled(c))
		return;
	for (code_idx i = 0; i < t->n_code; i++) {
		add_totals(&stated, &t->code[i].stated);
		add_totals(&ours, &c->gather->rows[i]);
		if (!code_totals_differ(&t->code[i].stated, &c->gather->rows[i]))
			continue;
		n++;
		first = first == NO_CODE ? i : first;
	}
	if (!n)
		return;
	f = check_add(c, "inconsistent-totals");
	finding_say(c, f,
		"stated totals of %u of %u rows differ from those of the waves; the recomputed ones are shown",
		n, c->gather->n_instructions);
	fact_int(f, "rows_that_differ", n);
	fact_int(f, "rows", c->gather->n_instructions);
	fact_int(f, "first_row", t->code[first].number);
	fact_int(f, "stated_hit", (int64_t)stated.hit);
	fact_int(f, "hit", (int64_t)ours.hit);
	fact_int(f, "stated_latency", (int64_t)stated.latency);
	fact_int(f, "latency", (int64_t)ours.latency);
	fact_int(f, "stated_stall", (int64_t)stated.stall);
	fact_int(f, "stall", (int64_t)ours.stall);
	fact_int(f, "stated_idle", (int64_t)stated.idle);
	fact_int(f, "idle", (int64_t)ours.idle);
	finding_advise(c, f,
		"waves are missing or files of two captures are mixed; trust neither until it is explained");
}

/* The stated series of one state as changes. */
static struct series_print stated_print(const struct stated_series *s)
{
	struct series_print p = {0};
	int64_t before = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		series_add(&p, s->time_cyc[i], (int64_t)s->count[i] - before);
		before = s->count[i];
	}
	return p;
}

void rule_states(struct check *c)
{
	const struct trace *t = c->trace;
	const struct check_gather *g = c->gather;
	struct series_print stated[STATE_COUNT] = {{0}};
	struct strbuf list = {0};
	unsigned n = 0;
	struct finding *f;

	if (!t->n_stated_series)
		return;
	for (uint32_t i = 0; i < t->n_stated_series; i++)
		if (t->stated_series[i].state < STATE_COUNT) {
			struct series_print p = stated_print(&t->stated_series[i]);

			stated[t->stated_series[i].state].lo += p.lo;
			stated[t->stated_series[i].state].hi += p.hi;
		}
	for (unsigned s = 0; s < STATE_COUNT; s++)
		if (stated[s].lo != g->states[s].lo || stated[s].hi != g->states[s].hi)
			sb_printf(&list, "%s%s", n++ ? ", " : "", state_name((enum wave_state)s));
	f = n ? check_add(c, "inconsistent-states") : NULL;
	if (f) {
		finding_say(c, f,
			"the stated series of waves in state %s differ from the waves' own timelines",
			check_text(c, &list));
		fact_text(c, f, "states", "%s", check_text(c, &list));
		fact_int(f, "series", t->n_stated_series);
	}
	sb_free(&list);
}

void rule_waits(struct check *c)
{
	const struct trace *t = c->trace;
	uint64_t n_wrong = 0, n_unstated = 0, n = 0;
	track_idx first = 0;
	struct finding *f;

	for (track_idx i = 0; i < t->n_tracks; i++) {
		unsigned flaws = c->gather->tracks[i].flaws;

		n += c->gather->tracks[i].is_read;
		n_unstated += (flaws & FLAW_UNSTATED) != 0;
		if (flaws & FLAW_WAITS && !n_wrong++)
			first = i;
	}
	/* a format without wait lists cannot state wrong ones */
	if (!n_wrong)
		return;
	f = check_add(c, "inconsistent-waits");
	finding_say(c, f,
		"stored wait lists of %llu of %llu waves are not those of their records (first: %s)",
		(unsigned long long)n_wrong, (unsigned long long)n, t->tracks[first].name);
	fact_int(f, "waves_that_differ", (int64_t)n_wrong);
	fact_int(f, "waves", (int64_t)n);
	fact_int(f, "waves_without_list", (int64_t)n_unstated);
}

/* --- work ------------------------------------------------------------------------------------- */

/*
 * Did the traced waves do the kernel's work, and are they enough? Early exits,
 * matrix code that never ran, an underfilled machine, coverage, sample size.
 */

/* Waves that ran exactly the same set of rows. */
struct path_group {
	uint64_t set[2];
	uint32_t waves, n_rows;
	uint64_t latency;
};

static int by_set(const void *pa, const void *pb)
{
	const struct path_group *a = pa, *b = pb;

	for (int i = 0; i < 2; i++)
		if (a->set[i] != b->set[i])
			return a->set[i] < b->set[i] ? -1 : 1;
	return 0;
}

/* Groups in order of their fingerprint; *n of them. NULL on lack of memory. */
static struct path_group *group_paths(struct check *c, uint32_t *n)
{
	const struct trace *t = c->trace;
	struct path_group *v = arena_zalloc(&c->arena, (size_t)t->n_tracks + 1, sizeof(*v));
	uint32_t used = 0, out = 0;

	if (!v)
		return NULL;
	EACH (const struct track_facts, f, c->gather->tracks, t->n_tracks) {
		if (f->is_read)
			v[used++] = (struct path_group){
				{f->set[0], f->set[1]}, 1, f->n_rows, f->latency};
	}
	SORT(v, used, by_set);
	for (uint32_t i = 0; i < used; i++) {
		if (out && by_set(&v[out - 1], &v[i]) == 0) {
			v[out - 1].waves++;
			v[out - 1].latency += v[i].latency;
		} else {
			v[out++] = v[i];
		}
	}
	*n = out;
	return v;
}

struct idlers {
	uint64_t waves, all_waves, latency, all_latency;
	uint32_t n_rows; /* rows of their largest cluster */
};

static void find_idlers(struct check *c, struct idlers *x)
{
	uint32_t n = 0;
	const struct path_group *v = group_paths(c, &n);

	c->is_nomem |= !v;
	for (uint32_t i = 0; v && i < n; i++) {
		x->all_waves += v[i].waves;
		x->all_latency += v[i].latency;
		if ((uint64_t)v[i].n_rows * 20 >= c->gather->n_instructions)
			continue;
		x->waves += v[i].waves;
		x->latency += v[i].latency;
		x->n_rows = v[i].n_rows > x->n_rows ? v[i].n_rows : x->n_rows;
	}
}

void rule_early_exit(struct check *c)
{
	struct idlers x = {0};
	struct finding *f;
	bool is_all;
	double share;

	find_idlers(c, &x);
	if (!x.waves)
		return;
	is_all = x.waves == x.all_waves;
	share = x.all_latency ? 100.0 * (double)x.latency / (double)x.all_latency : 0;
	f = check_add_as(c, "early-exit", is_all ? WEIGHT_ERROR : WEIGHT_WARNING,
		is_all ? VERDICT_UNUSABLE : VERDICT_SUSPECT);
	if (is_all)
		finding_say(c, f,
			"the capture has no working wave: all %llu leave early, after at most %u of %u instruction rows",
			(unsigned long long)x.waves, x.n_rows, c->gather->n_instructions);
	else
		finding_say(c, f,
			"%llu of %llu waves do no work (at most %u of %u instruction rows); they carry %.1f %% of latency",
			(unsigned long long)x.waves, (unsigned long long)x.all_waves, x.n_rows,
			c->gather->n_instructions, share);
	fact_int(f, "idle_waves", (int64_t)x.waves);
	fact_int(f, "waves", (int64_t)x.all_waves);
	fact_int(f, "executed_rows", x.n_rows);
	fact_int(f, "instruction_rows", c->gather->n_instructions);
	fact_int(f, "latency", (int64_t)x.latency);
	fact_real(f, "latency_pct", share, 1);
	if (is_all)
		finding_advise(c, f,
			"capture a launch whose grid gives every wave work, or another launch (--kernel-iteration-range)");
}

void rule_matrix(struct check *c)
{
	const struct trace *t = c->trace;
	uint64_t n_rows = 0, hits = 0;
	struct finding *f;

	for (code_idx i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label && t->code[i].inst_class == CLASS_MATRIX) {
			n_rows++;
			hits += c->gather->rows[i].hit;
			if (t->samples)
				hits += t->samples[i].issued + t->samples[i].stalled;
		}
	if (!n_rows || hits)
		return;
	f = check_add(c, "no-matrix-work");
	finding_say(
		c, f, "0 of %llu matrix instructions were executed", (unsigned long long)n_rows);
	fact_int(f, "matrix_rows", (int64_t)n_rows);
	fact_int(f, "matrix_hits", 0);
}

static void say_underfilled(
	struct check *c, struct finding *f, const struct occupancy *o, const struct limits *l)
{
	double below = 100 * occupancy_below_half(o);
	struct strbuf b = {0};

	if (o->peak_per_simd == 1)
		finding_say(c, f,
			"never more than 1 wave per SIMD: every stall is exposed, nothing can hide it");
	else
		finding_say(c, f,
			"fewer than half of the peak of %llu waves ran for %.1f %% of the span: a long tail or late start",
			(unsigned long long)o->all.peak, below);
	fact_int(f, "peak_waves_per_simd", (int64_t)o->peak_per_simd);
	fact_int(f, "peak_waves", (int64_t)o->all.peak);
	fact_real(f, "below_half_peak_pct", below, 1);
	fact_int(f, "span_cycles", (int64_t)o->span_cyc);
	if (o->peak_per_simd > 1) {
		finding_advise(
			c, f, "the tail is in every total; `incore advise` says what to change");
	} else if (l->is_known && l->predicted > 1) {
		fact_int(f, "limit_waves_per_simd", (int64_t)l->predicted);
		finding_advise(c, f,
			"the kernel's resources allow up to %llu waves per SIMD (see `incore occupancy`); `incore advise` says what to change",
			(unsigned long long)l->predicted);
	} else if (l->is_known && limits_put_sentence(l, &b) && b.n) {
		fact_text(c, f, "limiter", "%s", limit_name(l->limiter));
		finding_advise(c, f, "%s; see `incore occupancy`", b.p);
	}
	sb_free(&b);
}

void rule_underfilled(struct check *c)
{
	struct occupancy o = {0};
	struct limits l = {0};

	if (!c->trace->n_occupancy)
		return;
	if (!occupancy_compute(&o, c->trace, &(struct occupancy_options){0}, NULL)) {
		c->is_nomem = true;
	} else if (o.peak_per_simd == 1 || occupancy_below_half(&o) > 0.30) {
		limits_compute(c->trace, &l);
		say_underfilled(c, check_add(c, "underfilled"), &o, &l);
	}
	occupancy_deinit(&o);
}

void rule_coverage(struct check *c)
{
	const struct trace *t = c->trace;
	int64_t whole = t->meta.launch.waves;
	bool is_launch = whole != NO_VALUE && whole > 0;
	uint32_t n = c->gather->n_read;
	struct finding *f;

	if (!is_launch) {
		whole = 0;
		for (uint32_t i = 0; i < t->n_occupancy; i++)
			whole += t->occupancy[i].is_start;
	}
	if (!n || whole <= (int64_t)n)
		return;
	f = check_add(c, "partial-coverage");
	finding_say(c, f, "instruction detail covers %u of %lld waves %s (%.2f %%)", n,
		(long long)whole, is_launch ? "launched" : "started on the traced shader engines",
		100.0 * n / (double)whole);
	fact_int(f, "waves", n);
	fact_int(f, is_launch ? "launched_waves" : "started_waves", whole);
	fact_real(f, "share", n / (double)whole, 6);
}

void rule_short(struct check *c)
{
	const struct trace *t = c->trace;
	uint32_t n = c->gather->n_read, n_cus = 0, per_cu;
	struct finding *f;

	if (check_is_sampled(c))
		return;
	/* tracks are sorted by (se, cu, ...): a new pair is a new target CU */
	for (track_idx i = 0; i < t->n_tracks; i++)
		n_cus += i == 0 || t->tracks[i].coord[0] != t->tracks[i - 1].coord[0] ||
			 t->tracks[i].coord[1] != t->tracks[i - 1].coord[1];
	/* gfx9 traces all four SIMDs of a CU, later generations only one */
	per_cu = t->meta.vendor != VENDOR_AMD ? 0 : t->meta.gfx_major == 9 ? 4 : 1;
	if (n >= 8 && n >= n_cus * per_cu)
		return;
	f = check_add(c, "short-sample");
	finding_say(c, f, "only %u wave%s on %u traced SIMDs: too few for statistics", n, plural(n),
		n_cus * per_cu);
	fact_int(f, "waves", n);
	fact_int(f, "simds", (int64_t)n_cus * per_cu);
}

/* --- sources ---------------------------------------------------------------------------------- */

/*
 * Are source lines worth reading? They may be unmapped, partly mapped,
 * collapsed onto one line, or of another text than was compiled. None of this changes the verdict
 * on the cycles.
 */

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
	struct finding *f = check_add(c, "no-source");

	finding_say(c, f, "none of %u instructions is mapped to a source line", m->rows);
	fact_int(f, "mapped_rows", 0);
	fact_int(f, "rows", m->rows);
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
	f = check_add(c, "source-partial");
	finding_say(c, f,
		"%u of %u instructions are mapped to source; the others carry %.1f %% of latency",
		m.mapped, m.rows,
		m.latency ? 100.0 * (double)(m.latency - m.mapped_latency) / (double)m.latency : 0);
	fact_int(f, "mapped_rows", m.mapped);
	fact_int(f, "rows", m.rows);
	fact_int(f, "unmapped_latency", (int64_t)(m.latency - m.mapped_latency));
	fact_int(f, "latency", (int64_t)m.latency);
}

static void say_collapsed(struct check *c, const struct source_lines *s)
{
	struct finding *f = check_add(c, "source-collapsed");
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
	struct finding *f = check_add(c, "stale-source");
	struct strbuf b = {0};

	put_stale(x, &b);
	finding_say(c, f, "source may not be what was compiled: %s (first: %s)", check_text(c, &b),
		x->first ? x->first : "?");
	fact_int(f, "files_without_snapshot", x->n_missing);
	fact_int(f, "rows_beyond_end", x->n_short);
	fact_int(f, "changed_files", x->n_changed);
	fact_text(c, f, "first", "%s", x->first ? x->first : "?");
	sb_free(&b);
}

static void say_toolkit(struct check *c, const struct stale *x, uint32_t n_files)
{
	struct finding *f = check_add(c, "toolkit-source");
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

/* --- waves ------------------------------------------------------------------------------------ */

/* One stay of a wave in a slot of the target CU, from occupancy or from a track. */
struct stay {
	clock_idx clock;
	uint32_t simd, slot;
	uint64_t begin_cyc, end_cyc;
	bool has_end;
	track_idx track; /* NO_TRACK: from occupancy */
};

ORDER(by_place, struct stay, UP(clock) UP(simd) UP(slot) UP(begin_cyc) UP(track))

/* Orders stays by place and begin; equal ones belong together. */
static int join_cmp(const struct stay *a, const struct stay *b)
{
	struct stay x = *a, y = *b;

	x.track = y.track = 0;
	return by_place(&x, &y);
}

struct stays {
	struct stay *v;
	uint32_t n;
};

static uint64_t slot_key(const struct occupancy_event *o)
{
	return (uint64_t)o->clock << 16 | (uint64_t)o->simd << 8 | o->slot;
}

/* Pairs each start with the next end of its slot; events come sorted by time in each clock. */
static bool stays_of_occupancy(struct check *c, struct stays *out)
{
	const struct trace *t = c->trace;
	struct u64_map open = {0};
	int64_t cu = check_target_cu(c);
	bool ok = false;

	out->v = arena_zalloc(&c->arena, (size_t)t->n_occupancy + 1, sizeof(*out->v));
	if (!out->v)
		return false;
	EACH (const struct occupancy_event, o, t->occupancy, t->n_occupancy) {
		uint64_t *at;

		if (o->cu != cu)
			continue;
		at = u64_map_at(&open, slot_key(o));
		if (!at)
			goto out;
		if (o->is_start) {
			out->v[out->n++] = (struct stay){.clock = o->clock,
				.simd = o->simd,
				.slot = o->slot,
				.begin_cyc = o->time_cyc,
				.track = NO_TRACK};
			*at = out->n;
		} else if (*at) {
			out->v[*at - 1].end_cyc = o->time_cyc;
			out->v[*at - 1].has_end = true;
			*at = 0;
		}
	}
	ok = true;
out:
	u64_map_deinit(&open);
	SORT(out->v, out->n, by_place);
	return ok;
}

static bool stays_of_tracks(struct check *c, struct stays *out)
{
	const struct trace *t = c->trace;

	out->v = arena_zalloc(&c->arena, (size_t)t->n_tracks + 1, sizeof(*out->v));
	if (!out->v)
		return false;
	for (track_idx i = 0; i < t->n_tracks; i++)
		out->v[out->n++] = (struct stay){.clock = t->tracks[i].clock,
			.simd = t->tracks[i].coord[2],
			.slot = t->tracks[i].coord[3],
			.begin_cyc = t->tracks[i].begin_cyc,
			.end_cyc = t->tracks[i].end_cyc,
			.has_end = true,
			.track = i};
	SORT(out->v, out->n, by_place);
	return true;
}

struct join {
	uint64_t starts, lone_starts; /* on the target CU; those without a wave file */
	uint64_t lone_waves;	      /* wave files without a start */
	uint64_t other_ends;	      /* matched, but with another end */
	track_idx first_lone, first_other;
	struct stay first_start; /* first of lone_starts */
};

/* Newer decoders end a gfx9 wave with its last issue cycle: one quantum after the event. */
static bool same_end(const struct trace *t, uint64_t event_cyc, uint64_t wave_cyc)
{
	return event_cyc == wave_cyc ||
	       (t->meta.clock_quantum > 1 && wave_cyc == event_cyc + t->meta.clock_quantum);
}

/* Removes starts for which no wave is expected: on SIMDs that were not to be traced, and in shader
 * engines without any wave (a separate finding). gfx9 traces all SIMDs unless configured otherwise;
 * later generations trace one, known from its waves. */
static void keep_expected(struct check *c, struct stays *starts, const uint8_t *seen)
{
	uint64_t asked = check_notes(c, "traced-simds");
	uint32_t n = 0;

	for (uint32_t i = 0; i < starts->n; i++) {
		const struct stay *s = &starts->v[i];
		uint64_t mask = asked ? asked : seen[s->clock];

		if (!asked && c->trace->meta.gfx_major < 10)
			mask = UINT64_MAX;
		if (seen[s->clock] && s->simd < 64 && mask >> s->simd & 1)
			starts->v[n++] = *s;
	}
	starts->n = n;
}

static void join_waves(struct check *c, struct join *j)
{
	struct stays a = {0}, b = {0};
	uint8_t *seen = check_seen_simds(c);
	uint32_t i = 0, k = 0;

	if (!c->trace->n_occupancy || c->trace->meta.vendor != VENDOR_AMD)
		return;
	if (!seen || !stays_of_occupancy(c, &a) || !stays_of_tracks(c, &b)) {
		c->is_nomem = true;
		return;
	}
	keep_expected(c, &a, seen);
	j->starts = a.n;
	while (i < a.n || k < b.n) {
		int cmp = i == a.n ? 1 : k == b.n ? -1 : join_cmp(&a.v[i], &b.v[k]);

		if (cmp < 0) {
			if (!j->lone_starts++)
				j->first_start = a.v[i];
			i++;
		} else if (cmp > 0) {
			if (!j->lone_waves++)
				j->first_lone = b.v[k].track;
			k++;
		} else {
			if (a.v[i].has_end && !same_end(c->trace, a.v[i].end_cyc, b.v[k].end_cyc) &&
				!j->other_ends++)
				j->first_other = b.v[k].track;
			i++;
			k++;
		}
	}
}

/* Names the files of a note code: the part of its messages after the colon. */
static void waves_put_names(const struct check *c, const char *code, struct strbuf *out)
{
	EACH (const struct note, x, c->trace->notes, c->trace->n_notes) {
		const char *names;

		if (!str_is(str_of(x->code), code))
			continue;
		names = x->message ? strstr(x->message, ": ") : NULL;
		if (names)
			sb_printf(out, "%s%s", out->n ? ", " : "", names + 2);
		else if (x->path)
			sb_printf(out, "%s%s", out->n ? ", " : "", path_base(x->path));
	}
}

static void check_rules_waves_say_missing(struct check *c, uint64_t n_absent, const struct join *j)
{
	struct finding *f = check_add(c, "missing-wave");
	struct strbuf names = {0};

	waves_put_names(c, "missing-wave-file", &names);
	if (n_absent)
		finding_say(c, f, "%llu listed wave file%s not there%s%s",
			(unsigned long long)n_absent, n_absent > 1 ? "s are" : " is",
			names.n ? ": " : "", check_text(c, &names));
	else
		finding_say(c, f,
			"%llu of %llu waves that started on the target CU have no wave file",
			(unsigned long long)j->lone_starts, (unsigned long long)j->starts);
	fact_int(f, "absent_files", (int64_t)n_absent);
	fact_int(f, "target_cu_starts", (int64_t)j->starts);
	fact_int(f, "starts_without_file", (int64_t)j->lone_starts);
	if (j->lone_starts)
		fact_text(c, f, "first_start", "SE%u SIMD %u slot %u cycle %llu",
			c->trace->clocks[j->first_start.clock].id, j->first_start.simd,
			j->first_start.slot, (unsigned long long)j->first_start.begin_cyc);
	sb_free(&names);
}

static void say_unlisted(struct check *c, uint64_t n_stray, const struct join *j)
{
	struct finding *f = check_add(c, "unlisted-wave");
	struct strbuf names = {0};

	waves_put_names(c, "unlisted-wave-file", &names);
	if (n_stray)
		finding_say(c, f, "%llu wave file%s not in the manifest and left out%s%s",
			(unsigned long long)n_stray, n_stray > 1 ? "s are" : " is",
			names.n ? ": " : "", check_text(c, &names));
	else
		finding_say(c, f, "%llu %s no start event on the target CU (first: %s)",
			(unsigned long long)j->lone_waves,
			j->lone_waves == 1 ? "wave has" : "waves have",
			c->trace->tracks[j->first_lone].name);
	fact_int(f, "unlisted_files", (int64_t)n_stray);
	fact_int(f, "waves_without_start", (int64_t)j->lone_waves);
	fact_int(f, "target_cu_starts", (int64_t)j->starts);
	sb_free(&names);
}

struct flaws {
	uint64_t times, coords, counts;
	track_idx first;
};

static uint64_t count_flaws(const struct check *c, struct flaws *x)
{
	const unsigned mask = FLAW_TIMES | FLAW_COORDS | FLAW_COUNT;
	uint64_t n = 0;

	for (track_idx i = 0; i < c->trace->n_tracks; i++) {
		unsigned f = c->gather->tracks[i].flaws;

		if (!(f & mask))
			continue;
		if (!n++)
			x->first = i;
		x->times += (f & FLAW_TIMES) != 0;
		x->coords += (f & FLAW_COORDS) != 0;
		x->counts += (f & FLAW_COUNT) != 0;
	}
	return n;
}

static void say_contradictions(struct check *c, const struct join *j)
{
	struct flaws x = {0};
	uint64_t n = count_flaws(c, &x);
	struct finding *f;

	if (!n && !j->other_ends)
		return;
	f = check_add(c, "inconsistent-waves");
	finding_say(c, f,
		"%llu waves contradict the manifest and %llu end at another time than occupancy says (first: %s)",
		(unsigned long long)n, (unsigned long long)j->other_ends,
		c->trace->tracks[n ? x.first : j->first_other].name);
	fact_int(f, "other_times", (int64_t)x.times);
	fact_int(f, "other_coordinates", (int64_t)x.coords);
	fact_int(f, "other_record_counts", (int64_t)x.counts);
	fact_int(f, "other_ends_in_occupancy", (int64_t)j->other_ends);
}

void rule_wave_files(struct check *c)
{
	struct join j = {0};
	uint64_t n_absent = check_notes(c, "missing-wave-file");
	uint64_t n_stray = check_notes(c, "unlisted-wave-file");
	uint64_t n_bare = check_notes(c, "waves-without-detail");

	if (check_is_sampled(c))
		return;
	join_waves(c, &j);
	/* starts that the import knows to have no instructions are not missing */
	j.lone_starts = j.lone_starts > n_bare ? j.lone_starts - n_bare : 0;
	if (n_absent || j.lone_starts)
		check_rules_waves_say_missing(c, n_absent, &j);
	if (n_stray || j.lone_waves)
		say_unlisted(c, n_stray, &j);
	say_contradictions(c, &j);
}
