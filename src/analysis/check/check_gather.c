/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_gather.c: one pass over the tracks collects what the rules of check need: totals per code
 * row, how each wave ends, whether each record follows from the one before, which rows it ran, the
 * state series, the stored wait lists.
 */
#include "analysis/check/check_internal.h"
#include "analysis/pipes/pipes.h"
#include "analysis/waves/waits.h"
#include "base/hash.h"
#include "base/mem.h"
#include "isa/amd.h"

#define NO_TARGET UINT64_MAX

struct gather_worker {
	struct code_totals *rows;
	uint32_t *epoch; /* by code index: the last track of this worker that ran it */
	uint32_t now;
	struct series_print states[STATE_COUNT];
	uint64_t state_cyc[STATE_COUNT];
	uint32_t n_read;
	uint64_t n_unknown_code;
	struct waits waits;
};

/*
 * Does the state series of the producer equal the one from our timelines? Both are lists of (time,
 * change of the number of waves). Instead of sorting millions of changes we compare a fingerprint:
 * the sum over all changes of change * H(time) mod 2^128, H a fixed hash to 128 bits. It is linear:
 * changes at one time may be merged or split, and tracks may come in any order, without altering
 * it. Equal series have equal sums; different ones agree by chance only (2^-128 for a random H).
 */
void series_add(struct series_print *p, uint64_t time_cyc, int64_t change)
{
	p->lo += (uint64_t)change * hash_mix64(time_cyc + 0x9e3779b97f4a7c15u);
	p->hi += (uint64_t)change * hash_mix64(time_cyc ^ 0xc2b2ae3d27d4eb4fu);
}

static bool is_free_flow(struct str text)
{
	static const char *const any[] = {
		"s_setpc",
		"s_swappc",
		"s_rfe",
		"s_cbranch_g_fork",
		"s_cbranch_i_fork",
		"s_cbranch_join",
		"s_trap",
		"s_endpgm",
		"s_sendmsghalt",
	};

	for (size_t i = 0; i < sizeof(any) / sizeof(*any); i++)
		if (str_starts(text, any[i]))
			return true;
	return false;
}

static bool prepare_flow(struct check_gather *g, struct arena *a, const struct trace *t)
{
	g->ends_flow = arena_zalloc(a, t->n_code + 1, sizeof(*g->ends_flow));
	g->targets = arena_zalloc(a, t->n_code + 1, sizeof(*g->targets));
	g->is_untraced = arena_zalloc(a, t->n_code + 1, sizeof(*g->is_untraced));
	if (!g->ends_flow || !g->targets || !g->is_untraced)
		return false;
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		struct str text = {r->text, r->text_len};

		g->n_instructions += !r->is_label;
		g->ends_flow[i] = is_free_flow(text);
		g->is_untraced[i] = r->is_label || amd_is_untraced(t->meta.gfx_major, text);
		if (!amd_branch_target(text, r->address, &g->targets[i]))
			g->targets[i] = NO_TARGET;
	}
	return true;
}

bool gather_new(struct check *c, struct incore_error *e)
{
	const struct trace *t = c->trace;
	struct check_gather *g = arena_zalloc(&c->arena, 1, sizeof(*g));

	if (!g)
		return err_nomem(e);
	c->gather = g;
	g->tracks = arena_zalloc(&c->arena, (size_t)t->n_tracks + 1, sizeof(*g->tracks));
	g->rows = arena_zalloc(&c->arena, (size_t)t->n_code + 1, sizeof(*g->rows));
	if (!g->tracks || !g->rows || !prepare_flow(g, &c->arena, t))
		return err_nomem(e);
	g->wait_tables = wait_tables_new(t, e);
	return g->wait_tables != NULL;
}

void gather_free(struct check_gather *g)
{
	if (g && g->wait_tables)
		wait_tables_free(g->wait_tables);
}

static void worker_deinit(void *self, void *mine)
{
	struct gather_worker *w = mine;

	(void)self;
	mem_free(w->rows);
	mem_free(w->epoch);
	waits_deinit(&w->waits);
}

static bool worker_init(void *self, void *mine)
{
	const struct check *c = self;
	size_t n = (size_t)c->trace->n_code + 1;
	struct gather_worker *w = mine;

	w->rows = mem_zalloc(n, sizeof(*w->rows));
	w->epoch = mem_zalloc(n, sizeof(*w->epoch));
	return w->rows && w->epoch;
}

/* The producer's own rule for its totals: a record of unknown pc neither counts nor moves time. */
static void add_records(struct gather_worker *w, struct track_facts *f, const struct walk_track *k)
{
	const struct track_data *d = k->data;
	uint64_t prev = d->begin_cyc;

	w->now++;
	for (uint32_t i = 0; i < d->n; i++) {
		code_idx code = d->code[i];
		uint64_t start = d->start_cyc[i], end = start + d->dur_cyc[i];
		struct code_totals *r;

		if (code == NO_CODE)
			continue;
		r = &w->rows[code];
		r->hit++;
		r->latency += d->dur_cyc[i];
		r->stall += d->stall_cyc[i];
		r->idle += start > prev ? start - prev : 0;
		prev = end > prev ? end : prev;
		f->latency += d->dur_cyc[i];
		f->stall += d->stall_cyc[i];
		if (w->epoch[code] != w->now) {
			w->epoch[code] = w->now;
			f->n_rows++;
			f->set[0] += hash_mix64((uint64_t)code + 1);
			f->set[1] += hash_mix64(~(uint64_t)code);
		}
	}
}

static bool follows(const struct check_gather *g, const struct walk_track *k, uint32_t i)
{
	const struct track_data *d = k->data;
	const struct trace *t = k->trace;
	code_idx a = d->code[i - 1], b = d->code[i];

	if (a == NO_CODE || b == NO_CODE || g->ends_flow[a])
		return true;
	if (d->tag[i - 1] == AMD_CATEGORY_CONTEXT || d->tag[i] == AMD_CATEGORY_CONTEXT)
		return true;
	if (d->tag[i - 1] == AMD_CATEGORY_JUMP) {
		/* rows without a record may lie between the target and the next record */
		while (b && t->code[b].address != g->targets[a] && g->is_untraced[b - 1])
			b--;
		return g->targets[a] == NO_TARGET ||
		       (t->code[b].address == g->targets[a] &&
			       t->code[b].code_object == t->code[a].code_object);
	}
	if (b <= a)
		return false;
	for (a++; a < b && g->is_untraced[a];)
		a++;
	return a == b;
}

static void check_flow(
	const struct check_gather *g, struct track_facts *f, const struct walk_track *k)
{
	if (k->trace->meta.vendor != VENDOR_AMD)
		return;
	for (uint32_t i = 1; i < k->data->n; i++)
		f->n_breaks += !follows(g, k, i);
}

static bool is_ended(const struct walk_track *k)
{
	const struct track_data *d = k->data;

	if (k->trace->meta.vendor != VENDOR_AMD || !d->n)
		return k->trace->meta.vendor != VENDOR_AMD;
	/* without code a final message is the only sign of s_endpgm */
	return d->inst_class[d->n - 1] == CLASS_DRAIN ||
	       (d->code[d->n - 1] == NO_CODE && d->tag[d->n - 1] == AMD_CATEGORY_MESSAGE);
}

static void check_file(struct track_facts *f, const struct walk_track *k)
{
	const struct track_data *d = k->data;

	if (!is_ended(k))
		f->flaws |= FLAW_CUT;
	if (d->begin_cyc != k->track->begin_cyc || d->end_cyc != k->track->end_cyc)
		f->flaws |= FLAW_TIMES;
	if (memcmp(d->coord_file, k->track->coord, sizeof(d->coord_file)) != 0)
		f->flaws |= FLAW_COORDS;
	if (d->stated_slices != d->n)
		f->flaws |= FLAW_COUNT;
}

static void add_states(struct gather_worker *w, const struct walk_track *k)
{
	const struct track_data *d = k->data;
	uint64_t at = d->begin_cyc;

	for (uint32_t i = 0; i < d->n_states; i++) {
		unsigned s = d->state[i];
		uint64_t end = at + d->state_dur_cyc[i];

		if (s < STATE_COUNT) {
			series_add(&w->states[s], at, 1);
			series_add(&w->states[s], end, -1);
			w->state_cyc[s] += d->state_dur_cyc[i];
		}
		at = end;
	}
}

static bool check_waits(const struct check_gather *g, struct gather_worker *w,
	struct track_facts *f, const struct walk_track *k, struct incore_error *e)
{
	if (!waits_of(&w->waits, g->wait_tables, k, WAITS_VIEWER, e))
		return false;
	if (!k->data->n_stated_waits && w->waits.stated.n)
		f->flaws |= FLAW_UNSTATED;
	else if (!waits_equal_stated(&w->waits, k->data))
		f->flaws |= FLAW_WAITS;
	return true;
}

static bool gather_track(void *self, void *mine, const struct walk_track *k, struct incore_error *e)
{
	struct check *c = self;
	struct gather_worker *w = mine;
	struct track_facts *f = &c->gather->tracks[k->idx];

	f->is_read = true;
	w->n_read++;
	w->n_unknown_code += k->data->n_unknown_code;
	add_records(w, f, k);
	check_flow(c->gather, f, k);
	check_file(f, k);
	add_states(w, k);
	return check_waits(c->gather, w, f, k, e);
}

static bool gather_merge(void *self, void *mine, struct incore_error *e)
{
	struct check *c = self;
	struct check_gather *g = c->gather;
	const struct gather_worker *w = mine;

	(void)e;
	for (code_idx i = 0; i < c->trace->n_code; i++) {
		g->rows[i].hit += w->rows[i].hit;
		g->rows[i].latency += w->rows[i].latency;
		g->rows[i].stall += w->rows[i].stall;
		g->rows[i].idle += w->rows[i].idle;
	}
	for (unsigned s = 0; s < STATE_COUNT; s++) {
		g->states[s].lo += w->states[s].lo;
		g->states[s].hi += w->states[s].hi;
		g->state_cyc[s] += w->state_cyc[s];
	}
	g->n_read += w->n_read;
	g->n_unknown_code += w->n_unknown_code;
	return true;
}

struct collector check_collector(struct check *c)
{
	if (c->pipes)
		return pipes_collector(c->pipes);
	return (struct collector){
		.self = c,
		.want = TRACK_STATES | TRACK_STATED_WAITS,
		.worker_bytes = sizeof(struct gather_worker),
		.worker_init = worker_init,
		.track = gather_track,
		.merge = gather_merge,
		.worker_deinit = worker_deinit,
	};
}
