/* SPDX-License-Identifier: Apache-2.0 */
/* to_trace.c: converts timed slices to tracks. */
#include "base/search.h"
#include "model/engine/to_trace_internal.h"
#include "trace/mem_tracks.h"

struct maker {
	struct trace *t;
	const struct opstream_set *set;
	const struct timed *timed;
	struct timed_rows rows;
	struct mem_tracks *content;
	struct incore_error *e;
	uint32_t *track_of; /* by lane: + 1 */
	uint32_t **place;   /* by lane: where slice i went */
	VEC(struct slice_bytes) moved;
};

/* --- order --- */

/* While slices are sorted, their stall is their number in the lane. */
ORDER(slice_cmp, struct track_slice, UP(start) UP(dur) UP(code) UP(stall))

/* Only sets are slightly out of order, so insertion sort is nearly linear. */
static void sort_slices(struct track_slice *v, size_t n)
{
	size_t moves = 0;

	for (size_t i = 1; i < n; i++) {
		struct track_slice r = v[i];
		size_t k = i;

		for (; k > 0 && slice_cmp(&r, &v[k - 1]) < 0; k--)
			v[k] = v[k - 1];
		v[k] = r;
		moves += i - k;
		if (moves > 16 * n) {
			SORT(v, n, slice_cmp);
			return;
		}
	}
}

/* --- tracks --- */

static bool fill_track(struct maker *m, uint32_t core, unsigned pipe, track_idx k)
{
	const struct timed_core *c = &m->timed->cores.v[core];
	const struct timed_lane *l = &c->lanes[pipe];
	uint32_t lane = core * ENGINE_PIPES + pipe;
	struct track_slice *v = mem_tracks_add(m->content, l->slices.n);

	m->place[lane] = mem_alloc(l->slices.n * sizeof(uint32_t) + 1);
	if (!v || !m->place[lane])
		return false;
	for (uint32_t i = 0; i < l->slices.n; i++) {
		const struct timed_slice *s = &l->slices.v[i];
		code_idx code = rows_of(&m->rows, c->stream, s, pipe);

		if (code == NO_CODE)
			return false;
		v[i] = (struct track_slice){s->start, s->dur, i, code,
			m->rows.code.v[code].inst_class, (uint8_t)model_lane(pipe), 0};
	}
	sort_slices(v, l->slices.n);
	for (uint32_t i = 0; i < l->slices.n; i++) {
		const struct timed_slice *s = &l->slices.v[v[i].stall];
		uint64_t bytes = rows_bytes(&m->rows, c->stream, s);

		m->place[lane][v[i].stall] = i;
		v[i].stall = s->stall;
		if (bytes && !VEC_PUSH(&m->moved, (struct slice_bytes){k, i, bytes}))
			return false;
	}
	m->t->tracks[k].n_slices = (uint32_t)l->slices.n;
	m->track_of[lane] = k + 1;
	return true;
}

static unsigned unit_of(const struct opstream *s)
{
	return s->core == CORE_AIC ? 0 : 1 + (s->lane & 1);
}

static uint64_t end_of(const struct timed_core *c)
{
	uint64_t end = c->end_cyc;

	for (unsigned p = 0; p < ENGINE_PIPES; p++)
		EACH (const struct timed_slice, s, c->lanes[p].slices.v, c->lanes[p].slices.n) {
			end = s->start + s->dur > end ? s->start + s->dur : end;
		}
	return end;
}

static bool add_track(struct maker *m, uint32_t core, unsigned pipe, uint64_t end)
{
	const struct timed_core *c = &m->timed->cores.v[core];
	const struct opstream *s = &m->set->v.v[c->stream];
	struct track *k = &m->t->tracks[m->t->n_tracks];
	char buf[16];

	*k = (struct track){.coord = {s->block_idx, unit_of(s), model_lane(pipe)},
		.clock = m->t->n_clocks - 1,
		.end_cyc = end,
		.kernel_id = UINT32_MAX,
		.workgroup = NO_VALUE};
	k->name = arena_printf(&m->t->arena, "core%u.%s%u/%s", s->block_idx,
		s->core == CORE_AIC ? "cubecore" : "veccore", s->core == CORE_AIC ? 0 : s->lane & 1,
		ascend_pipe_name(model_lane(pipe), buf));
	return k->name && fill_track(m, core, pipe, m->t->n_tracks++);
}

struct order {
	uint32_t core, block, unit;
};

ORDER(order_cmp, struct order, UP(block) UP(unit) UP(core))

/* Adds the pipes of a core in the order of their lanes, so that tracks are sorted. */
static bool add_core(struct maker *m, uint32_t core)
{
	static const uint8_t pipes[] = {OPP_S, OPP_MTE1, OPP_M, OPP_FIX, OPP_MTE2, OPP_V, OPP_MTE3};
	const struct timed_core *c = &m->timed->cores.v[core];
	uint64_t end = end_of(c);

	for (unsigned i = 0; i < sizeof(pipes); i++)
		if (c->lanes[pipes[i]].slices.n && !add_track(m, core, pipes[i], end))
			return false;
	return true;
}

static bool is_repeated(const struct order *a, const struct order *b)
{
	return a->block == b->block && a->unit == b->unit;
}

static bool add_cores(struct maker *m, struct order *o, size_t n)
{
	struct trace *t = m->t;

	for (size_t i = 0; i < n; i++)
		o[i] = (struct order){(uint32_t)i, m->timed->cores.v[i].block,
			unit_of(&m->set->v.v[m->timed->cores.v[i].stream])};
	SORT(o, n, order_cmp);
	for (size_t i = 0; i < n; i++) {
		if (i && is_repeated(&o[i - 1], &o[i]))
			return err_set(m->e, INCORE_BAD_INPUT, "bad-opstream",
				"two streams are the same core instance of block %u", o[i].block);
		if (i == 0 || o[i - 1].block != o[i].block)
			t->clocks[t->n_clocks++] = (struct clock_domain){.id = o[i].block,
				.is_aligned = true,
				.hz_num = t->meta.clock_hz_num,
				.hz_den = t->meta.clock_hz_den};
		if (!add_core(m, o[i].core))
			return err_nomem(m->e);
	}
	t->reference_clock = t->n_clocks ? 0 : NO_CLOCK;
	return true;
}

static bool make_tracks(struct maker *m)
{
	struct trace *t = m->t;
	size_t n = m->timed->cores.n, lanes = n * ENGINE_PIPES;
	struct order *o = mem_zalloc(n + 1, sizeof(*o));
	bool ok;

	t->tracks = arena_zalloc(&t->arena, lanes + 1, sizeof(*t->tracks));
	t->clocks = arena_zalloc(&t->arena, n + 1, sizeof(*t->clocks));
	m->track_of = mem_zalloc(lanes + 1, sizeof(*m->track_of));
	m->place = mem_zalloc(lanes + 1, sizeof(*m->place));
	m->content = mem_tracks_new(t);
	ok = o && m->content && t->tracks && t->clocks && m->track_of && m->place;
	ok = ok ? add_cores(m, o, n) : err_nomem(m->e);
	mem_free(o);
	return ok;
}

/* --- links and head costs --- */

ORDER(link_cmp, struct link, UP(to_track) UP(to_slice) UP(from_track) UP(from_slice))

static bool put_links(struct maker *m)
{
	struct trace *t = m->t;
	size_t n = m->timed->links.n;

	t->links = arena_zalloc(&t->arena, n + 1, sizeof(*t->links));
	if (!t->links || n > UINT32_MAX)
		return err_nomem(m->e);
	EACH (const struct timed_link, l, m->timed->links.v, n) {
		t->links[t->n_links++] = (struct link){.from_track = m->track_of[l->from_lane] - 1,
			.to_track = m->track_of[l->to_lane] - 1,
			.from_slice = m->place[l->from_lane][l->from_slice],
			.to_slice = m->place[l->to_lane][l->to_slice],
			.kind = (enum link_kind)l->kind};
	}
	SORT(t->links, n, link_cmp);
	return true;
}

/* An issue is only ever delayed by the queue. */
static bool put_heads(struct maker *m)
{
	struct trace *t = m->t;
	VEC(struct head_cost) v = {0};
	bool ok = true;

	for (track_idx k = 0; ok && k < t->n_tracks; k++)
		for (uint32_t i = 0; ok && i < t->tracks[k].n_slices; i++)
			if (mem_tracks_at(t, k)[i].stall)
				ok = VEC_PUSH(&v, (struct head_cost){k, i, 0});
	if (ok && v.n) {
		t->heads = arena_memdup(&t->arena, v.v, v.n * sizeof(*v.v));
		t->n_heads = (uint32_t)v.n;
		ok = t->heads != NULL;
	}
	VEC_FREE(&v);
	return ok || err_nomem(m->e);
}

static bool put_moved(struct maker *m)
{
	struct trace *t = m->t;

	if (!m->moved.n)
		return true;
	t->moved = arena_memdup(&t->arena, m->moved.v, m->moved.n * sizeof(*m->moved.v));
	t->n_moved = (uint32_t)m->moved.n;
	return (t->moved && m->moved.n <= UINT32_MAX) || err_nomem(m->e);
}

/* --- all --- */

static bool put_meta(struct trace *t, const struct opstream_set *set, const struct profile *p)
{
	const struct opstream *s = set->v.n ? &set->v.v[0] : NULL;
	struct trace_meta *m = &t->meta;
	const char *kernel = s ? opstream_str(s, s->kernel) : "";

	m->vendor = VENDOR_ASCEND;
	m->evidence = EVIDENCE_ESTIMATE;
	m->format = "opstream";
	m->format_version = "1";
	m->origin = arena_strdup(&t->arena, *kernel ? kernel : "op stream");
	m->kernel = arena_strdup(&t->arena, *kernel ? kernel : "kernel");
	m->arch = arena_strdup(&t->arena, p->soc);
	m->arch_source = m->clock_source = arena_printf(&t->arena, "profile %s", p->name);
	m->clock_hz_num = (uint64_t)p->k[K_CLOCK_MHZ].e4 * (1000000 / PROF_ONE);
	m->clock_hz_den = 1;
	m->clock_quantum = 1;
	if (s)
		m->launch.workgroups = s->block_num;
	t->levels[0] = "core";
	t->levels[1] = "unit";
	t->levels[2] = "pipe";
	return m->origin && m->kernel && m->arch && m->arch_source;
}

bool timed_to_trace(const struct opstream_set *set, const struct timed *timed,
	const struct profile *p, struct trace **out, struct incore_error *e)
{
	struct maker m = {.t = trace_new(), .set = set, .timed = timed, .e = e};
	bool ok = m.t && rows_init(&m.rows, m.t, set) && put_meta(m.t, set, p);

	ok = ok ? make_tracks(&m) && put_links(&m) && put_heads(&m) && put_moved(&m) &&
			     rows_finish(&m.rows, e)
		: err_nomem(e);
	if (ok && !model_labels_put(m.t, set, timed, p))
		ok = err_nomem(e);
	ok = ok && trace_seal(m.t, e);
	for (size_t i = 0; m.place && i < timed->cores.n * ENGINE_PIPES; i++)
		mem_free(m.place[i]);
	mem_free(m.place);
	mem_free(m.track_of);
	VEC_FREE(&m.moved);
	if (m.rows.set)
		rows_deinit(&m.rows);
	if (ok)
		*out = m.t;
	else
		trace_free(m.t);
	return ok;
}
