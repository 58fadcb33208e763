/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c: one parallel pass over the selected tracks, feeding collectors. */
#include "analysis/walk.h"

#include <stdatomic.h>

#include "base/vec.h"

struct walk_worker {
	struct track_data data;
	void **mine; /* one state per collector */
	uint64_t n_unknown_code;
};

struct walk_walk {
	const struct trace *t;
	const struct walk_options *o;
	const struct collector *const *collectors;
	size_t n_collectors;
	unsigned want;
	struct selection selection; /* shallow copy with the origin filled in */
	VEC(track_idx) items;
	struct walk_worker *workers;
	unsigned n_workers;
	_Atomic(struct incore_error *) *failures; /* slot per item */
};

/* Keeps the failure of one track; the walk goes on. */
static bool keep_failure(struct walk_walk *k, size_t item, struct incore_error *why)
{
	struct incore_error *kept = mem_zalloc(1, sizeof(*kept));

	if (!kept) {
		incore_error_clear(why);
		return false;
	}
	err_move(kept, why);
	atomic_store(&k->failures[item], kept);
	return true;
}

static bool walk_one(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct walk_walk *k = ctx;
	struct walk_worker *me = &k->workers[worker];
	track_idx idx = k->items.v[item];
	struct walk_track w = {.trace = k->t, .idx = idx, .track = &k->t->tracks[idx]};
	const struct waits *shared = NULL;
	struct incore_error why = {0};

	w.waits = &shared;
	progress_add(k->o->progress, 1);
	if (progress_is_cancelled(k->o->progress))
		return err_set(e, INCORE_FAILED, "cancelled", "cancelled");
	if (!trace_load_track(k->t, idx, k->want, &me->data, &why)) {
		if (track_error_is_fatal(&why)) {
			err_move(e, &why);
			return false;
		}
		return keep_failure(k, item, &why) || err_nomem(e);
	}
	me->n_unknown_code += me->data.n_unknown_code;
	w.data = &me->data;
	selection_window(&k->selection, k->t, w.track, &w.from_cyc, &w.to_cyc);
	for (size_t i = 0; i < k->n_collectors; i++)
		if (!k->collectors[i]->track(k->collectors[i]->self, me->mine[i], &w, e))
			return false;
	return true;
}

static bool choose_items(struct walk_walk *k, struct incore_error *e)
{
	if (k->o->selection) {
		k->selection = *k->o->selection;
		k->selection.origin_cyc = trace_origin(k->t);
		k->selection.has_origin = true;
	}
	for (track_idx i = 0; i < k->t->n_tracks; i++)
		if (selection_has(&k->selection, k->t, &k->t->tracks[i]) && !VEC_PUSH(&k->items, i))
			return err_nomem(e);
	k->failures = mem_zalloc(k->items.n + 1, sizeof(*k->failures));
	return k->failures || err_nomem(e);
}

static bool make_workers(struct walk_walk *k, struct incore_error *e)
{
	k->n_workers = k->o->pool ? pool_size(k->o->pool) : 1;
	k->workers = mem_zalloc(k->n_workers, sizeof(*k->workers));
	if (!k->workers)
		return err_nomem(e);
	EACH (struct walk_worker, me, k->workers, k->n_workers) {
		me->mine = mem_zalloc(k->n_collectors + 1, sizeof(*me->mine));
		if (!me->mine)
			return err_nomem(e);
		for (size_t i = 0; i < k->n_collectors; i++) {
			const struct collector *c = k->collectors[i];

			me->mine[i] = mem_zalloc(1, c->worker_bytes + 1);
			if (!me->mine[i] ||
				(c->worker_init && !c->worker_init(c->self, me->mine[i])))
				return err_nomem(e);
		}
	}
	return true;
}

static void free_workers(struct walk_walk *k)
{
	for (unsigned n = 0; k->workers && n < k->n_workers; n++) {
		struct walk_worker *me = &k->workers[n];

		for (size_t i = 0; me->mine && i < k->n_collectors; i++) {
			const struct collector *c = k->collectors[i];

			if (me->mine[i] && c->worker_deinit)
				c->worker_deinit(c->self, me->mine[i]);
			mem_free(me->mine[i]);
		}
		mem_free(me->mine);
		track_data_deinit(&me->data);
	}
	mem_free(k->workers);
	for (size_t i = 0; k->failures && i < k->items.n; i++) {
		struct incore_error *f = atomic_load(&k->failures[i]);

		if (f)
			incore_error_clear(f);
		mem_free(f);
	}
	mem_free(k->failures);
	VEC_FREE(&k->items);
}

/* "damaged-wave-file" for each track that could not be read, in track order. */
static bool report_failures(struct walk_walk *k, struct walk_result *out, struct incore_error *e)
{
	out->notes = arena_zalloc(&out->arena, WALK_MAX_NOTES, sizeof(*out->notes));
	if (!out->notes)
		return err_nomem(e);
	for (size_t i = 0; i < k->items.n; i++) {
		const struct incore_error *f = atomic_load(&k->failures[i]);
		struct strbuf text = {0};
		struct note *n = &out->notes[out->n_notes];

		if (!f)
			continue;
		out->n_failed++;
		out->n_outside += err_is(f, "link-outside");
		if (f->code && !strcmp(f->code, "not-found"))
			continue; /* the import has already noted missing files */
		if (out->n_notes == WALK_MAX_NOTES) {
			out->n_notes_dropped++;
			continue;
		}
		err_format(f, &text);
		*n = (struct note){.kind = NOTE_DAMAGED, .code = "damaged-wave-file", .count = 1};
		if (err_is(f, "link-outside")) {
			n->kind = NOTE_MISSING;
			n->code = "link-outside";
		}
		n->message = arena_strdup(&out->arena, text.p ? text.p : "could not be read");
		n->path = k->t->tracks[k->items.v[i]].name;
		n->offset = f->offset;
		sb_free(&text);
		if (!n->message)
			return err_nomem(e);
		out->n_notes++;
	}
	return true;
}

static bool merge_all(struct walk_walk *k, struct walk_result *out, struct incore_error *e)
{
	for (unsigned n = 0; n < k->n_workers; n++) {
		out->n_unknown_code += k->workers[n].n_unknown_code;
		for (size_t i = 0; i < k->n_collectors; i++)
			if (k->collectors[i]->merge &&
				!k->collectors[i]->merge(
					k->collectors[i]->self, k->workers[n].mine[i], e))
				return false;
	}
	return report_failures(k, out, e);
}

static bool run_items(struct walk_walk *k, struct incore_error *e)
{
	if (k->o->pool)
		return pool_run(k->o->pool, k->items.n, 1, walk_one, k, e);
	for (size_t i = 0; i < k->items.n; i++)
		if (!walk_one(k, i, 0, e))
			return false;
	return true;
}

bool walk_tracks(const struct trace *t, const struct walk_options *o,
	const struct collector *const *collectors, size_t n_collectors, struct walk_result *out,
	struct incore_error *e)
{
	struct walk_walk k = {
		.t = t, .o = o, .collectors = collectors, .n_collectors = n_collectors};
	bool ok = false;
	unsigned no_slices = TRACK_NO_SLICES;

	*out = (struct walk_result){0};
	arena_init(&out->arena);
	for (size_t i = 0; i < n_collectors; i++) {
		k.want |= collectors[i]->want & ~(unsigned)TRACK_NO_SLICES;
		no_slices &= collectors[i]->want;
	}
	k.want |= n_collectors ? no_slices : 0;
	if (!choose_items(&k, e) || !make_workers(&k, e))
		goto out;
	out->n_tracks = (uint32_t)k.items.n;
	progress_begin(o->progress, "waves", k.items.n);
	ok = run_items(&k, e);
	progress_end(o->progress);
	ok = ok && merge_all(&k, out, e);
out:
	free_workers(&k);
	if (!ok)
		walk_result_deinit(out);
	return ok;
}

void walk_result_deinit(struct walk_result *r)
{
	arena_deinit(&r->arena);
	*r = (struct walk_result){0};
}
