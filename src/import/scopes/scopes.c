/* SPDX-License-Identifier: Apache-2.0 */
/* scopes.c: a file that incore/cuda.h wrote, as a trace: warps are tracks, scopes slices. */
#include "import/scopes/scopes.h"

#include "base/search.h"

#define HEAD "{\"incore_scopes\":"
#define MOST_SMS 65536u
#define MOST_CLOCK (UINT64_C(1) << 60)

static int scopes_sniff(const struct probe *p)
{
	return !p->is_dir && p->head_size > sizeof(HEAD) &&
			       memcmp(p->head, HEAD, sizeof(HEAD) - 1) == 0
		       ? 100
		       : 0;
}

static uint64_t record_u64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static uint32_t record_u32(const uint8_t *p)
{
	return (uint32_t)(record_u64(p) & UINT32_MAX);
}

static struct scope_warp warp_at(const uint8_t *p, uint64_t at, uint32_t ring)
{
	struct scope_warp k = {.sm = record_u32(p),
		.slot = record_u32(p + 4),
		.block = record_u32(p + 8),
		.warp = record_u32(p + 12),
		.begin_clock = record_u64(p + 16),
		.begin_ns = record_u64(p + 24),
		.end_clock = record_u64(p + 32),
		.end_ns = record_u64(p + 40),
		.n_events = record_u32(p + 48),
		.at = at};

	k.n_kept = k.n_events < ring ? k.n_events : ring;
	return k;
}

ORDER(by_place, struct scope_warp,
	UP(sm) UP(slot % 4) UP(slot) UP(begin_clock) UP(block) UP(warp) UP(at))

struct warps {
	VEC(struct scope_warp) v;
	uint64_t n_lost_events, n_unfinished;
};

static bool add_warp(
	struct scope_file *f, struct scope_warp k, struct warps *w, struct incore_error *e)
{
	if (k.sm >= MOST_SMS || k.begin_clock >= MOST_CLOCK || k.end_clock >= MOST_CLOCK)
		return err_file(
			e, "bad-value", f->path, k.at, "SM or clock of a warp is out of range");
	if (k.end_clock < k.begin_clock) { /* the warp or the kernel did not end */
		k.end_clock = k.begin_clock;
		k.end_ns = 0;
		w->n_unfinished++;
	}
	if (k.sm >= f->n_sms)
		f->n_sms = k.sm + 1;
	w->n_lost_events += k.n_events - k.n_kept;
	return VEC_PUSH(&w->v, k) || err_nomem(e);
}

/* Indexes the warps up to the end of the file. */
static bool index_warps(
	struct scope_file *f, size_t at, struct trace *t, struct warps *w, struct incore_error *e)
{
	uint32_t n = f->head.n_warps;

	for (uint32_t i = 0; i < n; i++) {
		struct scope_warp k;
		bool is_whole = f->file.size - at >= SCOPE_RECORD_BYTES;

		if (is_whole) {
			k = warp_at(f->file.data + at, at, f->head.ring);
			is_whole = (f->file.size - at - SCOPE_RECORD_BYTES) / SCOPE_EVENT_BYTES >=
				   k.n_kept;
		}
		if (!is_whole)
			return trace_note(t, NOTE_TRUNCATED, "scopes-cut", f->path, at, n - i,
				       "the file ends before the last of its warps") ||
			       err_nomem(e);
		if (!add_warp(f, k, w, e))
			return false;
		at += SCOPE_RECORD_BYTES + (size_t)k.n_kept * SCOPE_EVENT_BYTES;
	}
	if (at != f->file.size)
		return trace_note(t, NOTE_CONTRADICTORY, "scopes-more", f->path, at,
			       f->file.size - at, "bytes follow the last warp") ||
		       err_nomem(e);
	return true;
}

/* Sorts the warps in track order and numbers the warps of a slot. */
static bool place_warps(struct scope_file *f, struct trace *t, struct warps *w)
{
	SORT(w->v.v, w->v.n, by_place);
	for (size_t i = 1; i < w->v.n; i++)
		if (w->v.v[i].sm == w->v.v[i - 1].sm && w->v.v[i].slot == w->v.v[i - 1].slot)
			w->v.v[i].run = w->v.v[i - 1].run + 1;
	f->warps = arena_memdup(&t->arena, w->v.v, (w->v.n + 1) * sizeof(*w->v.v));
	f->offset_cyc = arena_zalloc(&t->arena, (size_t)f->n_sms + 1, sizeof(*f->offset_cyc));
	t->n_tracks = (uint32_t)w->v.n;
	return f->warps && f->offset_cyc;
}

static void put_shape(struct trace_launch *l, const struct scope_head *h)
{
	l->workgroups = l->waves = 1;
	for (int i = 0; i < 3; i++) {
		l->workgroup[i] = h->block[i];
		l->grid[i] = (int64_t)h->block[i] * h->grid[i];
	}
	if (h->grid[0] > INT32_MAX || h->grid[1] > UINT16_MAX || h->grid[2] > UINT16_MAX ||
		h->block[0] > 1024 || h->block[1] > 1024 || h->block[2] > 64) {
		l->workgroups = l->waves = NO_VALUE; /* implausible launch: nothing is multiplied */
		return;
	}
	l->workgroups = (int64_t)h->grid[0] * h->grid[1] * h->grid[2];
	l->waves = ((int64_t)h->block[0] * h->block[1] * h->block[2] + 31) / 32;
	l->waves = l->workgroups < INT64_MAX / 4096 ? l->workgroups * l->waves : NO_VALUE;
}

static bool put_meta(const struct scope_file *f, struct trace *t)
{
	struct trace_meta *m = &t->meta;

	m->vendor = VENDOR_NVIDIA;
	m->evidence = EVIDENCE_INSTRUMENTED;
	m->format_version = "1";
	m->kernel = f->head.kernel;
	m->arch = arena_printf(&t->arena, "sm_%u", f->head.arch);
	m->arch_source = "compute capability of the device";
	m->clock_quantum = 1;
	m->machine.product = f->head.device;
	m->machine.cus = f->head.sms;
	m->machine.wave_size = 32;
	m->machine.max_clock_mhz = f->head.clock_khz / 1000;
	put_shape(&m->launch, &f->head);
	t->levels[0] = "gpu";
	t->levels[1] = "sm";
	t->levels[2] = "sub";
	t->levels[3] = "slot";
	t->levels[4] = "warp";
	t->clocks = arena_zalloc(&t->arena, 1, sizeof(*t->clocks));
	if (!t->clocks || !m->arch)
		return false;
	t->n_clocks = 1;
	t->clocks[0].is_aligned = true;
	t->reference_clock = 0;
	return true;
}

static bool note_losses(const struct scope_file *f, const struct warps *w, struct trace *t)
{
	if (f->head.n_lost_warps &&
		!trace_note(t, NOTE_LOST, "warps-lost", f->path, INCORE_NO_OFFSET,
			f->head.n_lost_warps,
			"warps came when every ring was taken: open with room for more"))
		return false;
	if (w->n_unfinished &&
		!trace_note(t, NOTE_DAMAGED, "warps-unfinished", f->path, INCORE_NO_OFFSET,
			w->n_unfinished, "warps did not finish: only their start is known"))
		return false;
	return !w->n_lost_events ||
	       trace_note(t, NOTE_LOST, "events-lost", f->path, INCORE_NO_OFFSET, w->n_lost_events,
		       "events were overwritten by later ones of their warp: open with longer rings");
}

static bool build(struct scope_file *f, struct trace *t, struct incore_error *e)
{
	struct warps w = {0};
	size_t at = 0;
	bool ok = scopes_read_head(f, t, &at, e);

	if (ok && !f->head.ring)
		ok = err_file(e, "bad-value", f->path, 0, "its rings are empty");
	ok = ok && index_warps(f, at, t, &w, e);
	if (ok && !(VEC_RESERVE(&w.v, w.v.n + 1) && place_warps(f, t, &w) && put_meta(f, t) &&
			  note_losses(f, &w, t)))
		ok = err_nomem(e);
	VEC_FREE(&w.v);
	ok = ok && scopes_align(f, t, e);
	if (ok) {
		t->clocks[0].hz_num = t->meta.clock_hz_num;
		t->clocks[0].hz_den = t->meta.clock_hz_den;
	}
	return ok && scopes_build(f, t, e);
}

static bool scopes_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct scope_file *f = arena_zalloc(&t->arena, 1, sizeof(*f));

	if (!f)
		return err_nomem(e);
	f->path = t->meta.origin;
	if (!import_load(o, &f->file, path, e))
		return false;
	if (build(f, t, e))
		return true;
	if (!t->loader.close) /* else the trace owns it already */
		file_unload(&f->file);
	return false;
}

const struct import_ops import_scopes = {
	.name = "scopes",
	.summary = "what a CUDA kernel recorded about itself with incore/cuda.h (.scopes)",
	.looks_for = "a file that incore/cuda.h wrote",
	.sniff = scopes_sniff,
	.read = scopes_read,
	.lost = import_lost_noted, /* noted while reading */
};
