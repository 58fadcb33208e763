/* SPDX-License-Identifier: Apache-2.0 */
/* why.c: sums the parts of causes by row and by wave, independently of the number of workers. */
#include "analysis/why/why.h"

#include "analysis/why/why_internal.h"
#include "base/mem.h"
#include "base/search.h"

const char *why_word_name(enum why_word w)
{
	static const char *const names[WHY_WORDS] = {"register", "own-pipe", "other-wave",
		"other-simd", "queue", "wake", "fetch", "hazard-padding", "launch", "tail",
		"unknown"};

	return (unsigned)w < WHY_WORDS ? names[w] : "unknown";
}

const char *why_sure_name(enum why_sure s)
{
	static const char *const names[WHY_SURES] = {"certain", "likely", "weak", "none"};

	return (unsigned)s < WHY_SURES ? names[s] : "none";
}

bool why_splits(enum cause_kind k)
{
	return k == CAUSE_PIPE_STALL || (k >= CAUSE_NOP_PADDING && k <= CAUSE_TAIL);
}

struct why *why_new(const struct trace *t, const struct busy *busy, const struct causes *causes,
	struct incore_error *e)
{
	struct why *w = mem_zalloc(1, sizeof(*w));

	if (w) {
		w->trace = t;
		w->busy = busy;
		w->causes = causes;
		w->code = why_code_new(t);
		w->tracks = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*w->tracks));
		if (w->code && w->tracks)
			return w;
	}
	why_free(w);
	return err_nomem_null(e);
}

void why_free(struct why *w)
{
	if (!w)
		return;
	mem_free(w->code);
	mem_free(w->tracks);
	mem_free(w->cells);
	mem_free(w);
}

static bool same_verdict(const struct why_cell *a, const struct why_cell *b)
{
	return a->kind == b->kind && a->inst_class == b->inst_class && a->word == b->word &&
	       a->sure == b->sure;
}

void why_gather_add(struct why_gather *g, const struct why_cell *c)
{
	uint64_t *at = u64_map_at(&g->index, (uint64_t)c->code << 32 | c->of), i;

	for (i = at ? *at : 0; i && !same_verdict(&g->cells.v[i - 1], c);
		i = g->cells.v[i - 1].next)
		;
	if (i) {
		struct why_cell *to = &g->cells.v[i - 1];

		to->cyc += c->cyc;
		to->hidden_cyc += c->hidden_cyc;
		to->hits += c->hits;
		to->latency_cyc += c->latency_cyc;
	} else if (at && VEC_PUSH(&g->cells, *c)) {
		g->cells.v[g->cells.n - 1].next = (uint32_t)*at;
		*at = g->cells.n;
	} else {
		g->has_failed = true;
	}
}

/* --- all compute units ---------------------------------------------------------------------- */

struct units {
	struct why *why;
	struct selection selection;
	struct progress *progress;
	VEC(track_idx) first; /* first and end track of each unit with a selected wave */
	struct why_gather *gathers;
};

static bool same_unit(const struct trace *t, track_idx a, track_idx b)
{
	for (int k = 0; k < TRACK_LEVELS && t->levels[k]; k++) {
		if (strcmp(t->levels[k], "simd") == 0)
			return t->tracks[a].clock == t->tracks[b].clock;
		if (t->tracks[a].coord[k] != t->tracks[b].coord[k])
			return false;
	}
	return false;
}

/* Tracks are sorted by coordinates, so the waves of a compute unit are adjacent. */
static bool find_units(struct units *u, struct incore_error *e)
{
	const struct trace *t = u->why->trace;

	for (track_idx i = 0, end; i < t->n_tracks; i = end) {
		bool is_wanted = false;

		for (end = i; end < t->n_tracks && (end == i || same_unit(t, i, end)); end++)
			is_wanted |= selection_has(&u->selection, t, &t->tracks[end]);
		if (is_wanted && (!VEC_PUSH(&u->first, i) || !VEC_PUSH(&u->first, end)))
			return err_nomem(e);
	}
	return true;
}

static bool run_unit(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct units *u = ctx;
	const track_idx unit[2] = {u->first.v[2 * item], u->first.v[2 * item + 1]};

	progress_add(u->progress, 1);
	if (progress_is_cancelled(u->progress))
		return err_set(e, INCORE_FAILED, "cancelled", "cancelled");
	return why_sweep_unit(u->why, &u->selection, unit, &u->gathers[worker], e);
}

ORDER(by_place, struct why_cell,
	UP(code) UP(kind) UP(inst_class) DOWN(cyc) UP(word) UP(sure) UP(of))

static bool finish(struct why *w, struct why_gather *g, struct incore_error *e)
{
	if (g->has_failed)
		return err_nomem(e);
	w->cells = g->cells.v;
	w->n_cells = (uint32_t)g->cells.n;
	g->cells.v = NULL;
	g->cells.n = g->cells.cap = 0;
	SORT(w->cells, w->n_cells, by_place);
	EACH (const struct why_track, k, w->tracks, w->trace->n_tracks) {
		uint64_t parts = 0;

		if (!k->is_selected)
			continue;
		w->n_waves++;
		w->lump_cyc += k->lump_cyc;
		for (unsigned i = 0; i < WHY_WORDS; i++) {
			parts += k->cyc[i];
			w->cyc[i] += k->cyc[i];
			w->hidden_cyc[i] += k->hidden_cyc[i];
		}
		w->residue_cyc +=
			(int64_t)(parts > k->lump_cyc ? parts - k->lump_cyc : k->lump_cyc - parts);
	}
	return true;
}

static bool merge_gathers(struct units *u, unsigned n, struct incore_error *e)
{
	for (unsigned i = 1; i < n; i++) {
		EACH (const struct why_cell, c, u->gathers[i].cells.v, u->gathers[i].cells.n)
			why_gather_add(&u->gathers[0], c);
		u->gathers[0].has_failed |= u->gathers[i].has_failed;
	}
	return finish(u->why, &u->gathers[0], e);
}

/* Both passes read every wave; one that only the first could read would be missing from the
 * parts. */
static bool is_same_capture(const struct why *w, struct incore_error *e)
{
	uint64_t cyc = 0;

	EACH (const struct cause, c, w->causes->v, w->causes->n)
		cyc += why_splits(c->kind) ? c->cyc : 0;
	return cyc == w->lump_cyc ||
	       err_set(e, INCORE_BAD_INPUT, "unreadable",
		       "a wave was read once and could not be read again: the capture changed meanwhile");
}

bool why_run(struct why *w, const struct walk_options *o, struct incore_error *e)
{
	struct units u = {.why = w, .progress = o->progress};
	unsigned n = o->pool ? pool_size(o->pool) : 1;
	bool ok;

	if (o->selection)
		u.selection = *o->selection; /* its sets are borrowed */
	u.selection.origin_cyc = trace_origin(w->trace);
	u.selection.has_origin = true;
	u.gathers = mem_zalloc(n, sizeof(*u.gathers));
	ok = (u.gathers || err_nomem(e)) && find_units(&u, e);
	if (ok) {
		progress_begin(o->progress, "units", u.first.n / 2);
		ok = pool_run(o->pool, u.first.n / 2, 1, run_unit, &u, e);
		progress_end(o->progress);
	}
	ok = ok && merge_gathers(&u, n, e) && is_same_capture(w, e);
	for (unsigned i = 0; u.gathers && i < n; i++) {
		VEC_FREE(&u.gathers[i].cells);
		u64_map_deinit(&u.gathers[i].index);
	}
	mem_free(u.gathers);
	VEC_FREE(&u.first);
	return ok;
}
