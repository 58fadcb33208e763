/* SPDX-License-Identifier: Apache-2.0 */
/* waves.c: the wave table and statistics over waves: durations, categories, imbalance. */
#include "analysis/waves/waves.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "trace/account.h"

struct waves_gather {
	struct wave_category categories[256];
	uint64_t bucket[BUCKET_COUNT];
	uint64_t n_waves, n_instructions, n_not_ended;
	int64_t residue_cyc;
};

static const char *const grouping_names[WAVES_GROUPINGS] = {"se", "simd", "slot", "order", "phase"};

const char *wave_grouping_name(enum wave_grouping g)
{
	return (unsigned)g < WAVES_GROUPINGS ? grouping_names[g] : "unknown";
}

struct waves *waves_new(const struct trace *t, uint32_t n_bins, struct incore_error *e)
{
	struct waves *w = mem_zalloc(1, sizeof(*w));

	if (!w)
		return err_nomem_null(e);
	arena_init(&w->arena);
	w->trace = t;
	w->rows = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*w->rows));
	if (!w->rows) {
		err_nomem(e);
		waves_free(w);
		return NULL;
	}
	w->states = states_new(t, n_bins, e);
	w->clusters = w->states ? clusters_new(t, e) : NULL;
	w->barriers = w->clusters ? barriers_new(t, e) : NULL;
	if (!w->barriers) {
		waves_free(w);
		return NULL;
	}
	return w;
}

void waves_free(struct waves *w)
{
	if (!w)
		return;
	states_free(w->states);
	clusters_free(w->clusters);
	barriers_free(w->barriers);
	mem_free(w->rows);
	arena_deinit(&w->arena);
	mem_free(w);
}

/* Pieces of a wave, by the class of their record. */
struct by_class {
	uint64_t stall[CLASS_COUNT], issue[CLASS_COUNT];
};

static void waves_add_record(
	struct wave_row *r, struct by_class *sums, struct waves_gather *g, const struct account *a)
{
	const struct track_data *d = a->d;
	enum inst_class k = d->inst_class[a->i];

	r->bucket[BUCKET_IDLE] += a->gap_cyc + a->tail_cyc;
	sums->stall[k] += a->stall_cyc;
	sums->issue[k] += a->issue_cyc;
	r->ends_cyc += a->tail_cyc + (a->i == 0 ? a->gap_cyc : 0);
	if (a->is_hit) {
		struct wave_category *c = &g->categories[d->tag[a->i]];

		r->instructions++;
		r->latency += d->dur_cyc[a->i];
		r->stall += d->stall_cyc[a->i];
		r->barriers += k == CLASS_BARRIER;
		c->n++;
		c->latency += d->dur_cyc[a->i];
		c->stall += d->stall_cyc[a->i];
	}
}

static void take_classes(struct wave_row *r, const struct by_class *sums)
{
	for (unsigned k = 0; k < CLASS_COUNT; k++) {
		r->bucket[class_stall_bucket(k)] += sums->stall[k];
		r->bucket[class_issue_bucket(k)] += sums->issue[k];
	}
	r->barrier_cyc = sums->stall[CLASS_BARRIER];
	r->nop_cyc = sums->stall[CLASS_NOP];
}

static bool waves_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct waves *all = self;
	struct waves_gather *g = mine;
	const struct track_data *d = w->data;
	struct wave_row r = {.is_seen = true};
	struct by_class sums = {0};
	struct account a;

	(void)e;
	account_begin(&a, w->data, w->from_cyc, w->to_cyc);
	if (d->n == 0)
		r.bucket[BUCKET_IDLE] = r.ends_cyc = a.tail_cyc;
	while (account_next(&a))
		waves_add_record(&r, &sums, g, &a);
	take_classes(&r, &sums);
	r.duration_cyc = account_duration(&a);
	r.has_end = d->n > 0 && d->inst_class[d->n - 1] == CLASS_DRAIN;
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		g->bucket[b] += r.bucket[b];
	g->n_waves++;
	g->n_instructions += r.instructions;
	g->n_not_ended += !r.has_end;
	g->residue_cyc += account_residue(&a);
	all->rows[w->idx] = r;
	return true;
}

static bool waves_merge(void *self, void *mine, struct incore_error *e)
{
	struct waves *w = self;
	const struct waves_gather *g = mine;

	(void)e;
	for (unsigned i = 0; i < 256; i++) {
		w->categories[i].n += g->categories[i].n;
		w->categories[i].latency += g->categories[i].latency;
		w->categories[i].stall += g->categories[i].stall;
	}
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		w->bucket[b] += g->bucket[b];
	w->n_waves += g->n_waves;
	w->n_instructions += g->n_instructions;
	w->n_not_ended += g->n_not_ended;
	w->residue_cyc += g->residue_cyc;
	return true;
}

struct collector waves_collector(struct waves *w)
{
	return (struct collector){
		w, sizeof(struct waves_gather), NULL, waves_track, waves_merge, NULL};
}

/* Sorts v. */
static struct duration_stats waves_stats_of(uint64_t *v, uint64_t n)
{
	struct duration_stats s = {.n = n};
	double square = 0;

	if (n == 0)
		return s;
	SORT(v, n, compare_u64);
	s.min = v[0];
	s.p5 = quantile_u64(v, n, 5);
	s.p25 = quantile_u64(v, n, 25);
	s.median = v[n / 2];
	s.p75 = quantile_u64(v, n, 75);
	s.p95 = quantile_u64(v, n, 95);
	s.p99 = quantile_u64(v, n, 99);
	s.max = v[n - 1];
	for (uint64_t i = 0; i < n; i++)
		s.sum += v[i];
	s.mean = (double)s.sum / (double)n;
	for (uint64_t i = 0; i < n; i++)
		square += ((double)v[i] - s.mean) * ((double)v[i] - s.mean);
	s.deviation = sqrt(square / (double)n);
	return s;
}

static int waves_level_of(const struct trace *t, const char *name)
{
	for (int i = 0; i < TRACK_LEVELS && t->levels[i]; i++)
		if (strcmp(t->levels[i], name) == 0)
			return i;
	return -1;
}

bool wave_group_is_later(const struct waves *w, const struct wave_group *g)
{
	int level = waves_level_of(w->trace, "wave");

	return level >= 0 && w->trace->tracks[g->first].coord[level] > 0;
}

/* Tracks are in the order of their coordinates, the wave number last. */
static bool is_same_slot(const struct trace *t, track_idx a, track_idx b)
{
	int level = waves_level_of(t, "wave");

	if (level < 0)
		return false;
	for (int i = 0; i < level; i++)
		if (t->tracks[a].coord[i] != t->tracks[b].coord[i])
			return false;
	return true;
}

enum wave_phase wave_phase_of(const struct trace *t, track_idx i)
{
	if (i == 0 || !is_same_slot(t, i - 1, i))
		return WAVE_FIRST;
	return i + 1 < t->n_tracks && is_same_slot(t, i, i + 1) ? WAVE_STEADY : WAVE_TAIL;
}

const char *wave_phase_name(enum wave_phase p)
{
	static const char *const names[] = {"first", "steady", "tail"};

	return names[p];
}

/* The part of a wave's coordinates used by a grouping, as a sortable key of three numbers. */
struct waves_place {
	uint32_t key[3];
	track_idx idx;
};

static struct waves_place waves_place_of(const struct waves *w, enum wave_grouping g, track_idx i)
{
	static const char *const levels[WAVES_GROUPINGS][3] = {[WAVES_BY_SE] = {"se"},
		[WAVES_BY_SIMD] = {"se", "cu", "simd"},
		[WAVES_BY_SLOT] = {"slot"},
		[WAVES_BY_ORDER] = {"wave"}};
	const struct track *k = &w->trace->tracks[i];
	struct waves_place p = {.idx = i};

	for (unsigned n = 0; n < 3 && levels[g][n]; n++) {
		int level = waves_level_of(w->trace, levels[g][n]);

		p.key[n] = level >= 0 ? k->coord[level] : 0;
	}
	if (g == WAVES_BY_ORDER)
		p.key[0] = p.key[0] > 0;
	if (g == WAVES_BY_PHASE)
		p.key[0] = wave_phase_of(w->trace, i);
	return p;
}

static int compare_places(const void *a, const void *b)
{
	const struct waves_place *x = a, *y = b;

	for (unsigned i = 0; i < 3; i++)
		RETURN_UNLESS_EQUAL(x->key[i], y->key[i]);
	return COMPARE(x->idx, y->idx);
}

static bool same_place(const struct waves_place *a, const struct waves_place *b)
{
	return memcmp(a->key, b->key, sizeof(a->key)) == 0;
}

static void waves_add_wave(struct wave_group *g, const struct waves *w, track_idx i)
{
	const struct states_wave *s = &w->states->waves[i];

	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		g->bucket[b] += w->rows[i].bucket[b];
	for (unsigned k = 0; k < STATE_COUNT; k++)
		g->states.cyc[k] += s->cyc[k];
	g->states.segments += s->segments;
}

/* `places` and `values` have room for all waves. */
static bool waves_make_groups(
	struct waves *w, enum wave_grouping g, struct waves_place *places, uint64_t *values)
{
	uint32_t n = 0, count = 0;

	for (track_idx i = 0; i < w->trace->n_tracks; i++)
		if (w->rows[i].is_seen)
			places[n++] = waves_place_of(w, g, i);
	SORT(places, n, compare_places);
	for (uint32_t i = 0; i < n; i++)
		count += i == 0 || !same_place(&places[i], &places[i - 1]);
	w->groups[g] = arena_zalloc(&w->arena, (size_t)count + 1, sizeof(**w->groups));
	if (!w->groups[g])
		return false;
	for (uint32_t i = 0, end; i < n; i = end) {
		struct wave_group *out = &w->groups[g][w->n_groups[g]++];

		out->first = places[i].idx;
		for (end = i; end < n && same_place(&places[end], &places[i]); end++) {
			values[end - i] = w->rows[places[end].idx].duration_cyc;
			waves_add_wave(out, w, places[end].idx);
		}
		out->duration = waves_stats_of(values, end - i);
	}
	return true;
}

bool waves_finish(struct waves *w, struct incore_error *e)
{
	size_t room = (size_t)w->trace->n_tracks + 1;
	struct waves_place *places = mem_zalloc(room, sizeof(*places));
	uint64_t *values = mem_zalloc(room, sizeof(*values));
	uint64_t n = 0;
	bool ok = places && values;

	for (track_idx i = 0; ok && i < w->trace->n_tracks; i++)
		if (w->rows[i].is_seen)
			values[n++] = w->rows[i].duration_cyc;
	if (ok)
		w->duration = waves_stats_of(values, n);
	for (unsigned g = 0; ok && g < WAVES_GROUPINGS; g++)
		ok = waves_make_groups(w, g, places, values);
	mem_free(places);
	mem_free(values);
	if (!ok)
		return err_nomem(e);
	return clusters_finish(w->clusters, e) && barriers_finish(w->barriers, e);
}

bool waves_collect(struct waves *w, const struct walk_options *o, struct walk_result *r,
	struct incore_error *e)
{
	struct collector table = waves_collector(w), states = states_collector(w->states),
			 clusters = clusters_collector(w->clusters),
			 barriers = barriers_collector(w->barriers);
	const struct collector *list[] = {&table, &states, &clusters, &barriers};

	if (!walk_tracks(w->trace, o, list, 4, r, e))
		return false;
	if (waves_finish(w, e))
		return true;
	walk_result_deinit(r);
	return false;
}

static void explain(struct state_explained *x, const uint64_t cyc[], unsigned n)
{
	x->n_parts = n;
	for (unsigned i = 0; i < n; i++) {
		x->parts[i].cyc = cyc[i];
		x->records += cyc[i];
	}
}

uint32_t waves_explain(const struct waves *w, struct state_explained out[STATES_EXPLAINED])
{
	uint64_t b[BUCKET_COUNT] = {0}, nop = 0, ends = 0, n = 0;

	for (track_idx i = 0; i < w->trace->n_tracks; i++) {
		const struct wave_row *r = &w->rows[i];

		if (!r->is_seen || !w->states->waves[i].segments)
			continue;
		for (unsigned k = 0; k < BUCKET_COUNT; k++)
			b[k] += r->bucket[k];
		nop += r->nop_cyc;
		ends += r->ends_cyc;
		n++;
	}
	if (n == 0)
		return 0;
	out[0] = (struct state_explained){STATE_EXEC, w->states->all.cyc[STATE_EXEC], 0,
		{{"issue", BUCKET_ISSUE, 0}, {"gaps between instructions", BUCKET_IDLE, 0}}, 0};
	out[1] = (struct state_explained){STATE_STALL, w->states->all.cyc[STATE_STALL], 0,
		{{"stalls other than s_nop", BUCKET_STALL, 0}}, 0};
	out[2] = (struct state_explained){STATE_WAIT, w->states->all.cyc[STATE_WAIT], 0,
		{{"waits and barriers", BUCKET_WAIT, 0}, {"s_nop", BUCKET_STALL, 0},
			{"end of the program", BUCKET_DRAIN, 0}},
		0};
	out[3] = (struct state_explained){STATE_IDLE, w->states->all.cyc[STATE_IDLE], 0,
		{{"before the first and after the last instruction", BUCKET_IDLE, 0}}, 0};
	explain(&out[0], (uint64_t[]){b[BUCKET_ISSUE], b[BUCKET_IDLE] - ends}, 2);
	explain(&out[1], (uint64_t[]){b[BUCKET_STALL] - nop}, 1);
	explain(&out[2], (uint64_t[]){b[BUCKET_WAIT], nop, b[BUCKET_DRAIN]}, 3);
	explain(&out[3], &ends, 1);
	return STATES_EXPLAINED;
}

struct sort_key {
	uint64_t value;
	track_idx idx;
};

ORDER(compare_keys, struct sort_key, DOWN(value) UP(idx))

static uint64_t waves_sort_value(const struct waves *w, enum wave_sort by, track_idx i)
{
	static const enum bucket buckets[] = {[WAVES_SORT_ISSUE] = BUCKET_ISSUE,
		[WAVES_SORT_WAIT] = BUCKET_WAIT,
		[WAVES_SORT_STALL] = BUCKET_STALL,
		[WAVES_SORT_IDLE] = BUCKET_IDLE,
		[WAVES_SORT_DRAIN] = BUCKET_DRAIN};
	const struct wave_row *r = &w->rows[i];
	const struct track *k = &w->trace->tracks[i];

	switch (by) {
	case WAVES_SORT_WAVE:
		return 0;
	case WAVES_SORT_BEGIN: /* earliest first */
		return UINT64_MAX / 2 - (uint64_t)trace_aligned(w->trace, k->clock, k->begin_cyc);
	case WAVES_SORT_DURATION:
		return r->duration_cyc;
	case WAVES_SORT_INSTRUCTIONS:
		return r->instructions;
	default:
		return r->bucket[buckets[by]];
	}
}

bool waves_sorted(const struct waves *w, enum wave_sort by, struct arena *a, track_idx **out,
	uint32_t *n, struct incore_error *e)
{
	size_t room = (size_t)w->trace->n_tracks + 1;
	struct sort_key *keys = mem_zalloc(room, sizeof(*keys));
	track_idx *list = arena_zalloc(a, room, sizeof(*list));
	uint32_t count = 0;

	if (!keys || !list) {
		mem_free(keys);
		return err_nomem(e);
	}
	for (track_idx i = 0; i < w->trace->n_tracks; i++)
		if (w->rows[i].is_seen)
			keys[count++] = (struct sort_key){waves_sort_value(w, by, i), i};
	SORT(keys, count, compare_keys);
	for (uint32_t i = 0; i < count; i++)
		list[i] = keys[i].idx;
	mem_free(keys);
	*out = list;
	*n = count;
	return true;
}
