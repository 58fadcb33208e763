/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c: creating, sharing and querying the trace itself.
 *
 * Parts: the content of one track; the trace itself; is it sound?
 */
#include "trace/trace.h"

#include <stdarg.h>

#include "base/map_guard.h"
#include "base/mem.h"
#include "base/search.h"
#include "trace/notes.h"
#include "trace/trace_text.h"

/* --- the content of one track ----------------------------------------------------------------- */

/* The buffer that holds one track's content, reused from track to track. */

/* New capacity, growing by half, so that tracks of increasing length do not reallocate each time.
 */
static uint32_t grown(uint32_t cap, uint32_t need)
{
	uint64_t want = (uint64_t)cap + cap / 2;

	if (want < need)
		want = need;
	if (want < 64)
		want = 64;
	return want > UINT32_MAX ? UINT32_MAX : (uint32_t)want;
}

static bool resize(void **p, uint32_t n, size_t size)
{
	void *q = mem_resize(*p, n, size);

	if (!q)
		return false;
	*p = q;
	return true;
}

bool track_data_reserve(struct track_data *d, uint32_t n_slices)
{
	uint32_t cap;

	if (n_slices <= d->cap)
		return true;
	cap = grown(d->cap, n_slices);
	if (!resize((void **)&d->start_cyc, cap, sizeof(*d->start_cyc)) ||
		!resize((void **)&d->dur_cyc, cap, sizeof(*d->dur_cyc)) ||
		!resize((void **)&d->stall_cyc, cap, sizeof(*d->stall_cyc)) ||
		!resize((void **)&d->code, cap, sizeof(*d->code)) ||
		!resize((void **)&d->inst_class, cap, sizeof(*d->inst_class)) ||
		!resize((void **)&d->tag, cap, sizeof(*d->tag)))
		return false;
	d->cap = cap;
	return true;
}

bool track_data_reserve_numbers(struct track_data *d)
{
	if (d->cap <= d->numbers_cap)
		return true;
	if (!resize((void **)&d->number, d->cap, sizeof(*d->number)))
		return false;
	d->numbers_cap = d->cap;
	return true;
}

bool track_data_reserve_states(struct track_data *d, uint32_t n)
{
	uint32_t cap;

	if (n <= d->states_cap)
		return true;
	cap = grown(d->states_cap, n);
	if (!resize((void **)&d->state, cap, sizeof(*d->state)) ||
		!resize((void **)&d->state_dur_cyc, cap, sizeof(*d->state_dur_cyc)))
		return false;
	d->states_cap = cap;
	return true;
}

bool track_data_reserve_stated(struct track_data *d, uint32_t n_waits, uint32_t n_producers)
{
	uint32_t cap;

	if (n_waits > d->stated_waits_cap) {
		cap = grown(d->stated_waits_cap, n_waits);
		if (!resize((void **)&d->stated_waits, cap, sizeof(*d->stated_waits)))
			return false;
		d->stated_waits_cap = cap;
	}
	if (n_producers > d->stated_producers_cap) {
		cap = grown(d->stated_producers_cap, n_producers);
		if (!resize((void **)&d->stated_producers, cap, sizeof(*d->stated_producers)))
			return false;
		d->stated_producers_cap = cap;
	}
	return true;
}

void track_data_reset(struct track_data *d)
{
	d->n = 0;
	d->is_part = false;
	d->n_states = 0;
	d->n_stated_waits = 0;
	d->n_stated_producers = 0;
	d->n_unknown_code = 0;
	d->begin_cyc = 0;
	d->end_cyc = 0;
	d->stated_slices = 0;
	memset(d->coord_file, 0, sizeof(d->coord_file));
}

void *track_scratch(struct track_data *d, size_t size, void (*drop)(void *scratch))
{
	if (!d->loader_scratch || d->loader_free != drop) {
		if (d->loader_scratch && d->loader_free)
			d->loader_free(d->loader_scratch);
		d->loader_scratch = mem_zalloc(1, size);
		d->loader_free = drop;
	}
	return d->loader_scratch;
}

void track_data_deinit(struct track_data *d)
{
	if (d->loader_scratch && d->loader_free)
		d->loader_free(d->loader_scratch);
	mem_free(d->start_cyc);
	mem_free(d->dur_cyc);
	mem_free(d->stall_cyc);
	mem_free(d->code);
	mem_free(d->inst_class);
	mem_free(d->tag);
	mem_free(d->number);
	mem_free(d->state);
	mem_free(d->state_dur_cyc);
	mem_free(d->stated_waits);
	mem_free(d->stated_producers);
	*d = (struct track_data){0};
}

/* --- the trace itself ------------------------------------------------------------------------- */

const char *const evidence_words[] = {
	[EVIDENCE_UNKNOWN] = "unknown",
	[EVIDENCE_HARDWARE_TRACE] = "hardware-trace",
	[EVIDENCE_HARDWARE_SAMPLE] = "hardware-sample",
	[EVIDENCE_VENDOR_SIMULATOR] = "vendor-simulator",
	[EVIDENCE_ESTIMATE] = "estimate",
	[EVIDENCE_SYNTHETIC] = "synthetic",
	[EVIDENCE_INSTRUMENTED] = "instrumented",
	NULL,
};
#define N_EVIDENCE (sizeof(evidence_words) / sizeof(evidence_words[0]) - 1)

const char *evidence_name(enum evidence ev)
{
	return (unsigned)ev < N_EVIDENCE ? evidence_words[ev] : "unknown";
}

enum evidence evidence_of(struct str name)
{
	for (unsigned i = EVIDENCE_HARDWARE_TRACE; i < N_EVIDENCE; i++)
		if (str_is(name, evidence_words[i]))
			return (enum evidence)i;
	return EVIDENCE_UNKNOWN;
}

const char *const vendor_words[] = {
	[VENDOR_UNKNOWN] = "unknown",
	[VENDOR_AMD] = "amd",
	[VENDOR_ASCEND] = "ascend",
	[VENDOR_NVIDIA] = "nvidia",
	NULL,
};

const char *vendor_name(enum vendor v)
{
	return (unsigned)v <= VENDOR_NVIDIA ? vendor_words[v] : "unknown";
}

const char *const state_words[] = {
	[STATE_EMPTY] = "EMPTY",
	[STATE_IDLE] = "IDLE",
	[STATE_EXEC] = "EXEC",
	[STATE_WAIT] = "WAIT",
	[STATE_STALL] = "STALL",
	NULL,
};

const char *const code_link_words[] = {
	[CODE_LINK_WRITE] = "scoreboard-write",
	[CODE_LINK_READ] = "scoreboard-read",
	[CODE_LINK_COUNT] = "count",
	[CODE_LINK_GROUP] = "group",
	[CODE_LINK_BULK] = "bulk",
	[CODE_LINK_WGMMA] = "wgmma",
	[CODE_LINK_MBARRIER] = "mbarrier",
	[CODE_LINK_BARRIER] = "barrier",
	[CODE_LINK_STALL] = "stall-count",
	[CODE_LINK_REGISTER] = "register",
	[CODE_LINK_JUMP] = "jump",
	[CODE_LINK_GOTO] = "goto",
	[CODE_LINK_END] = "end",
	NULL,
};

const char *const amd_stall_reasons[AMD_STALL_REASONS] = {"none", "fetch", "alu-dependency",
	"waitcnt", "internal", "barrier", "arbiter", "pipe", "other-wait", "sleep"};

bool trace_has_amd_reasons(const struct trace *t)
{
	for (uint32_t i = 0; i < AMD_STALL_REASONS && t->n_reasons == AMD_STALL_REASONS; i++)
		if (strcmp(t->reasons[i], amd_stall_reasons[i]) != 0)
			return false;
	return t->n_reasons == AMD_STALL_REASONS;
}

struct trace_launch trace_no_launch(void)
{
	struct trace_launch l = {0};

	l.agent = l.dispatch = l.kernel_id = NO_VALUE;
	l.launch_index = l.launch_count = NO_VALUE;
	l.vgprs = l.accum_vgprs = l.sgprs = NO_VALUE;
	l.lds_bytes = l.scratch_bytes = NO_VALUE;
	for (int i = 0; i < 3; i++)
		l.workgroup[i] = l.grid[i] = NO_VALUE;
	l.workgroups = l.waves = NO_VALUE;
	l.start_ns = l.end_ns = NO_VALUE;
	return l;
}

struct trace *trace_new(void)
{
	struct trace *t = mem_zalloc(1, sizeof(*t));
	struct trace_machine *m;

	if (!t)
		return NULL;
	arena_init(&t->arena);
	t->meta.clock_quantum = 1;
	t->meta.target_cu = NO_VALUE;
	m = &t->meta.machine;
	m->simds = m->cus = m->ses = m->xccs = NO_VALUE;
	m->max_waves_per_simd = m->lds_bytes_per_cu = NO_VALUE;
	m->wave_size = m->max_clock_mhz = NO_VALUE;
	t->meta.launch = trace_no_launch();
	t->reference_clock = NO_CLOCK;
	return t;
}

static void trace_text_free(struct trace_text *x)
{
	if (!x)
		return;
	for (uint32_t i = 0; x->of_track && i < x->n_tracks; i++)
		mem_free(x->of_track[i]);
	mem_free(x->of_track);
	VEC_FREE(&x->slices);
	VEC_FREE(&x->heads);
	VEC_FREE(&x->lone_heads);
	VEC_FREE(&x->counters);
	mem_free(x);
}

void trace_free(struct trace *t)
{
	if (!t || __atomic_fetch_sub(&t->n_shares, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	if (t->loader.close)
		t->loader.close(t->loader_ctx);
	trace_text_free(t->text);
	arena_deinit(&t->arena);
	mem_free(t);
}

void trace_share(struct trace *t)
{
	__atomic_fetch_add(&t->n_shares, 1, __ATOMIC_ACQ_REL);
}

void trace_keep_tracks(struct trace *t)
{
	if (t->loader.keep && !__atomic_load_n(&t->n_shares, __ATOMIC_ACQUIRE))
		t->loader.keep(t);
}

bool trace_load_track(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	const struct track_lender *lender = __atomic_load_n(&t->lender, __ATOMIC_ACQUIRE);
	bool ok;

	track_data_reset(d);
	if (i >= t->n_tracks || !t->loader.load)
		return err_set(e, INCORE_BAD_INPUT, "no-track", "no content for track %u", i);
	d->begin_cyc = t->tracks[i].begin_cyc;
	d->end_cyc = t->tracks[i].end_cyc;
	memcpy(d->coord_file, t->tracks[i].coord, sizeof(d->coord_file));
	if (lender && lender->load(lender, t, i, want, d))
		return true;
	ok = t->loader.load(t, i, want, d, e);
	return (!t->read_from || map_guard_check(t->read_from, t->read_at, e)) && ok;
}

bool track_error_is_fatal(const struct incore_error *e)
{
	return e->status != INCORE_BAD_INPUT || err_is(e, "changed-file");
}

double trace_clock_mhz(const struct trace *t)
{
	if (t->meta.clock_hz_den == 0)
		return 0;
	return (double)t->meta.clock_hz_num / (double)t->meta.clock_hz_den / 1e6;
}

uint32_t trace_cache_cyc(const struct trace *t, track_idx track, uint32_t slice)
{
	const struct head_cost *h = t->heads;
	uint32_t lo = 0, hi = t->n_heads;

	BISECT(lo, hi, i, h[i].track < track || (h[i].track == track && h[i].slice < slice));
	return lo < t->n_heads && h[lo].track == track && h[lo].slice == slice ? h[lo].cache_cyc
									       : 0;
}

uint64_t trace_moved_bytes(const struct trace *t, track_idx track, uint32_t slice)
{
	const struct slice_bytes *v = t->moved;
	uint32_t lo = 0, hi = t->n_moved;

	BISECT(lo, hi, i, v[i].track < track || (v[i].track == track && v[i].slice < slice));
	return lo < t->n_moved && v[lo].track == track && v[lo].slice == slice ? v[lo].bytes : 0;
}

bool trace_make_samples(struct trace *t, const char *const *reasons, uint32_t n)
{
	t->samples = arena_zalloc(&t->arena, (size_t)t->n_code + 1, sizeof(*t->samples));
	t->reason_counts = arena_zalloc(
		&t->arena, ((size_t)t->n_code + 1) * (n ? n : 1), sizeof(*t->reason_counts));
	t->reasons = reasons;
	t->n_reasons = n;
	return t->samples && t->reason_counts;
}

const struct code_link *trace_links_of(const struct trace *t, code_idx row, uint32_t *n)
{
	uint32_t lo = 0, hi = t->n_code_links, end;

	BISECT(lo, hi, i, t->code_links[i].row < row);
	for (end = lo; end < t->n_code_links && t->code_links[end].row == row;)
		end++;
	*n = end - lo;
	return *n ? t->code_links + lo : t->code_links;
}

const struct named_table *trace_find_table(const struct trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_tables; i++)
		if (strcmp(t->tables[i].name, name) == 0)
			return &t->tables[i];
	return NULL;
}

const char *named_table_cell(const struct named_table *k, uint32_t row, const char *column)
{
	for (uint32_t c = 0; row < k->n_rows && c < k->n_cols; c++)
		if (strcmp(k->cols[c], column) == 0)
			return k->cells[(size_t)row * k->n_cols + c];
	return NULL;
}

bool trace_put_frame(const struct trace *t, const struct frame *f, struct strbuf *out)
{
	const char *path = f->source < t->n_sources ? t->sources[f->source].path : NULL;

	return sb_printf(out, "%s:%u", path ? path : "?", f->line);
}

/* The array doubles at each power of two from 8 on; readers that fill notes themselves must do the
 * same.
 */
static bool notes_grow(struct trace *t)
{
	uint32_t n = t->n_notes, cap = n < 8 ? 8 : n * 2;
	struct note *v;

	if (n != 0 && (n < 8 || (n & (n - 1)) != 0))
		return true;
	if (n > UINT32_MAX / 2)
		return false;
	v = arena_alloc(&t->arena, (size_t)cap * sizeof(*v));
	if (!v)
		return false;
	if (n)
		memcpy(v, t->notes, n * sizeof(*v));
	t->notes = v;
	return true;
}

static PRINTF_LIKE(3, 0) bool put_note(struct trace *t, struct note n, const char *fmt, va_list ap)
{
	const char *path = n.path;
	struct strbuf text = {0};

	sb_vprintf(&text, fmt, ap);
	n.weight = note_kind_weight(n.kind);
	n.tables = t->reading;
	n.code = arena_strdup(&t->arena, n.code);
	n.path = path ? arena_strdup(&t->arena, path) : NULL;
	n.message = text.failed ? NULL : arena_strndup(&t->arena, text.p ? text.p : "", text.n);
	sb_free(&text);
	if (!n.code || !n.message || (path && !n.path) || !notes_grow(t))
		return false;
	t->notes[t->n_notes++] = n;
	return true;
}

bool trace_note_as(struct trace *t, enum note_kind kind, const char *code, const char *path,
	uint64_t offset, uint64_t count, const char *fmt, ...)
{
	struct note n = {
		.kind = kind, .code = code, .path = path, .offset = offset, .count = count};
	bool ok;
	va_list ap;

	va_start(ap, fmt);
	ok = put_note(t, n, fmt, ap);
	va_end(ap);
	return ok;
}

bool trace_note(struct trace *t, const char *code, const char *path, uint64_t offset,
	uint64_t count, const char *fmt, ...)
{
	const struct note_entry *row = note_row(code);
	struct note n = {.kind = row ? row->kind : NOTE_DAMAGED,
		.code = code,
		.path = path,
		.offset = offset,
		.count = count};
	bool ok;
	va_list ap;

	va_start(ap, fmt);
	ok = put_note(t, n, fmt, ap);
	va_end(ap);
	return ok;
}

/* --- is it sound? ----------------------------------------------------------------------------- */

/*
 * Checks the invariants that every analysis relies on: indices in range, tables sorted, names set.
 * An importer that fails here has a bug or passed on an unchecked number of its input.
 */

static bool trace_bad(struct incore_error *e, const char *table, uint64_t i, const char *what)
{
	return err_set(e, INCORE_BAD_INPUT, "bad-trace", "%s %llu: %s", table,
		(unsigned long long)i, what);
}

static bool clock_ok(const struct trace *t, clock_idx c)
{
	return c < t->n_clocks || c == NO_CLOCK;
}

static bool seal_code(const struct trace *t, struct incore_error *e)
{
	for (uint32_t i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];

		if (!r->text || !r->source)
			return trace_bad(e, "code row", i, "no text");
		if (r->inst_class >= CLASS_COUNT)
			return trace_bad(e, "code row", i, "unknown class");
		if (r->opcode >= t->n_opcodes && !r->is_label)
			return trace_bad(e, "code row", i, "opcode out of range");
		if (r->first_frame > t->n_frames || r->n_frames > t->n_frames - r->first_frame)
			return trace_bad(e, "code row", i, "frames out of range");
	}
	for (uint32_t i = 0; i < t->n_frames; i++)
		if (t->frames[i].source >= t->n_sources && t->frames[i].source != NO_SOURCE)
			return trace_bad(e, "frame", i, "source out of range");
	for (uint32_t i = 0; i < t->n_sources; i++)
		if (!t->sources[i].path)
			return trace_bad(e, "source", i, "no path");
	for (uint32_t i = 0; i < t->n_opcodes; i++)
		if (!t->opcodes[i])
			return trace_bad(e, "opcode", i, "no name");
	return true;
}

static bool seal_samples(const struct trace *t, struct incore_error *e)
{
	if (t->samples && t->n_reasons && (!t->reasons || !t->reason_counts))
		return trace_bad(e, "samples", 0, "reasons without counts");
	for (uint32_t i = 0; i < t->n_reasons; i++)
		if (!t->reasons[i])
			return trace_bad(e, "stall reason", i, "no name");
	for (uint32_t i = 0; i < t->n_metrics; i++) {
		const struct code_metric *m = &t->metrics[i];

		if (!m->name || (m->n && (!m->row || !m->value)))
			return trace_bad(e, "metric", i, "no name or no values");
		for (uint32_t k = 0; k < m->n; k++)
			if (m->row[k] >= t->n_code || (k && m->row[k] <= m->row[k - 1]))
				return trace_bad(e, "metric", i, "its rows do not rise");
	}
	for (uint32_t i = 0; i < t->n_code_links; i++) {
		const struct code_link *l = &t->code_links[i];

		if (l->row >= t->n_code || l->to >= t->n_code || l->kind >= CODE_LINK_KINDS ||
			(l->reason >= t->n_reasons && l->reason != NO_REASON))
			return trace_bad(e, "code link", i, "out of range");
		if (i && l->row < l[-1].row)
			return trace_bad(e, "code link", i, "not sorted");
	}
	return true;
}

static int coord_cmp(const struct track *a, const struct track *b)
{
	for (int i = 0; i < TRACK_LEVELS; i++)
		if (a->coord[i] != b->coord[i])
			return a->coord[i] < b->coord[i] ? -1 : 1;
	return 0;
}

static bool seal_tracks(const struct trace *t, struct incore_error *e)
{
	if (t->n_tracks && (!t->levels[0] || !t->loader.load))
		return trace_bad(e, "tracks", t->n_tracks, "no levels or no loader");
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		const struct track *k = &t->tracks[i];

		if (!k->name)
			return trace_bad(e, "track", i, "no name");
		if (!clock_ok(t, k->clock))
			return trace_bad(e, "track", i, "clock out of range");
		if (k->begin_cyc > k->end_cyc)
			return trace_bad(e, "track", i, "ends before it begins");
		if (i && coord_cmp(&t->tracks[i - 1], k) > 0)
			return trace_bad(e, "track", i, "not sorted");
	}
	return true;
}

static bool seal_occupancy(const struct trace *t, struct incore_error *e)
{
	for (uint32_t i = 0; i < t->n_occupancy; i++) {
		const struct occupancy_event *o = &t->occupancy[i];

		if (!clock_ok(t, o->clock))
			return trace_bad(e, "occupancy event", i, "clock out of range");
		if (i && (o->clock < o[-1].clock ||
				 (o->clock == o[-1].clock && o->time_cyc < o[-1].time_cyc)))
			return trace_bad(e, "occupancy event", i, "not sorted");
	}
	for (uint32_t i = 0; i < t->n_kernel_names; i++) {
		if (!t->kernel_names[i].name)
			return trace_bad(e, "kernel", i, "no name");
		if (i && t->kernel_names[i].id <= t->kernel_names[i - 1].id)
			return trace_bad(e, "kernel", i, "ids not rising");
	}
	for (uint32_t i = 0; i < t->n_dispatch_events; i++)
		if (!clock_ok(t, t->dispatch_events[i].clock))
			return trace_bad(e, "dispatch event", i, "clock out of range");
	return true;
}

static bool seal_side(const struct trace *t, struct incore_error *e)
{
	for (uint32_t i = 0; i < t->n_counters; i++)
		if (!t->counters[i].name || !clock_ok(t, t->counters[i].clock))
			return trace_bad(e, "counter", i, "no name or clock out of range");
	for (uint32_t i = 0; i < t->n_counter_names; i++)
		if (!t->counter_names[i])
			return trace_bad(e, "counter", i, "no name");
	for (uint32_t i = 0; i < t->n_markers; i++)
		if (!clock_ok(t, t->markers[i].clock))
			return trace_bad(e, "marker", i, "clock out of range");
	for (uint32_t i = 0; i < t->n_other_issues; i++)
		if (!clock_ok(t, t->other_issues[i].clock))
			return trace_bad(e, "issue record", i, "clock out of range");
	for (uint32_t i = 0; i < t->n_links; i++)
		if (t->links[i].from_track >= t->n_tracks || t->links[i].to_track >= t->n_tracks)
			return trace_bad(e, "link", i, "track out of range");
	for (uint32_t i = 0; i < t->n_heads; i++)
		if (t->heads[i].track >= t->n_tracks)
			return trace_bad(e, "head cost", i, "track out of range");
	for (uint32_t i = 0; i < t->n_moved; i++)
		if (t->moved[i].track >= t->n_tracks)
			return trace_bad(e, "moved bytes", i, "track out of range");
	for (uint32_t i = 0; i < t->n_tables; i++) {
		const struct named_table *k = &t->tables[i];

		if (!k->name || !k->origin || (k->n_cols && !k->cols) ||
			(k->n_cols && k->n_rows && !k->cells))
			return trace_bad(e, "table", i, "no name or no content");
		for (uint32_t c = 0; c < k->n_cols; c++)
			if (!k->cols[c])
				return trace_bad(e, "table", i, "a column has no name");
	}
	for (uint32_t i = 0; i < t->n_notes; i++) {
		if (!t->notes[i].code || !t->notes[i].message)
			return trace_bad(e, "note", i, "no text");
		t->notes[i].weight = note_kind_weight(t->notes[i].kind);
	}
	return true;
}

bool trace_seal(struct trace *t, struct incore_error *e)
{
	if (!t->meta.format || !t->meta.origin)
		return trace_bad(e, "meta", 0, "no format or no origin");
	if (t->reference_clock >= t->n_clocks && t->reference_clock != NO_CLOCK)
		return trace_bad(e, "reference clock", t->reference_clock, "out of range");
	return seal_code(t, e) && seal_samples(t, e) && seal_tracks(t, e) && seal_occupancy(t, e) &&
	       seal_side(t, e);
}
