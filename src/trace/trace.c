/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c: creating, sharing and querying the trace itself. */
#include "trace/trace.h"

#include <stdarg.h>

#include "base/map_guard.h"
#include "base/mem.h"
#include "base/search.h"
#include "trace/trace_text.h"

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

bool trace_note(struct trace *t, enum note_kind kind, const char *code, const char *path,
	uint64_t offset, uint64_t count, const char *fmt, ...)
{
	struct note n = {.kind = kind,
		.weight = note_kind_weight(kind),
		.offset = offset,
		.count = count,
		.tables = t->reading};
	struct strbuf text = {0};
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&text, fmt, ap);
	va_end(ap);
	n.code = arena_strdup(&t->arena, code);
	n.path = path ? arena_strdup(&t->arena, path) : NULL;
	n.message = text.failed ? NULL : arena_strndup(&t->arena, text.p ? text.p : "", text.n);
	sb_free(&text);
	if (!n.code || !n.message || (path && !n.path) || !notes_grow(t))
		return false;
	t->notes[t->n_notes++] = n;
	return true;
}
