/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif.c: runs all compute units under all plans and sums up the results. Divisions: the critical
 * path; all units.
 */
#include "analysis/whatif/whatif.h"

#include "analysis/pipes/pipe_sweep.h"
#include "analysis/whatif/whatif_internal.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "trace/kind.h"

/* --- the critical path ------------------------------------------------------------------------ */

/*
 * The critical path of a timeline. It goes back from the wave that ends last: a wait
 * leads to the issue of its producer, a barrier to the wave that came last, a wave's begin to the
 * wave whose slot it took over. Each cycle of the unit's span is in one part.
 */

struct whatif_walker {
	const struct retime *r;
	const struct unit *u;
	const struct whatif_plan *p;
	struct path_sums *out;
	struct u64_map index; /* part and row -> position + 1 */
	bool has_failed;
};

static void whatif_give(struct whatif_walker *w, enum whatif_part part, code_idx code, uint64_t cyc)
{
	uint64_t *at = cyc ? u64_map_at(&w->index, (uint64_t)part << 32 | code) : NULL;

	if (!cyc)
		return;
	if (at && !*at && VEC_PUSH(&w->out->v, (struct whatif_limit){(uint8_t)part, code, 0, 0}))
		*at = w->out->v.n;
	if (at && *at)
		w->out->v.v[*at - 1].after_cyc += cyc;
	else
		w->has_failed = true;
}

/* The end of whatever precedes record i in its wave. */
static uint64_t end_before(const struct whatif_walker *w, uint32_t i)
{
	uint32_t wave = w->u->records.v[i].wave;

	return i > w->u->waves.v[wave].first ? w->r->end[i - 1] : w->r->begin[wave];
}

static uint64_t ready_of(const struct whatif_walker *w, uint32_t i)
{
	uint64_t end = end_before(w, i);

	return plan_row(w->p, w->u->records.v[i].code)->is_removed
		       ? end
		       : end + w->u->records.v[i].gap_cyc;
}

/* Attributes the time from the issue of a plain record back to the end of the previous one. */
static void give_stall(struct whatif_walker *w, uint32_t i)
{
	const struct unit_record *r = &w->u->records.v[i];
	uint64_t ready = ready_of(w, i), issue = w->r->issue[i], base = ready;
	uint64_t rest = r->rest_cyc > 0 ? (uint64_t)r->rest_cyc : 0;

	if (r->kind == RECORD_PLAIN && r->back) {
		uint32_t k = i - r->back;
		uint64_t until =
			w->r->issue[k] + plan_cycles(w->p, w->u->records.v[k].code, r->hold_cyc);

		base = until > base ? until : base;
		base = base < issue ? base : issue;
	}
	rest = rest < issue - base ? rest : issue - base;
	whatif_give(w, PART_OTHER, r->code, issue - base - rest);
	whatif_give(w, PART_STALL, r->code, rest);
	whatif_give(w, PART_OWN, r->code, base - ready);
	whatif_give(w, PART_GAP, r->code, ready - end_before(w, i));
}

/* The path has reached the end of record i (or its issue, for a producer): returns the previous
 * record on the path, maybe of another wave; NO_RECORD: the beginning of its wave. */
static uint32_t pass(struct whatif_walker *w, uint32_t i, bool *is_issue)
{
	const struct unit_record *r = &w->u->records.v[i];
	uint32_t by = w->r->by[i];

	if (r->kind != RECORD_DRAIN && !*is_issue)
		whatif_give(w, PART_ISSUE, r->code, w->r->end[i] - w->r->issue[i]);
	*is_issue = false;
	if (by != NO_RECORD && r->kind == RECORD_BARRIER) {
		uint64_t arrival = ready_of(w, by);

		whatif_give(w, PART_BARRIER, r->code, w->r->issue[i] - arrival);
		whatif_give(w, PART_GAP, w->u->records.v[by].code, arrival - end_before(w, by));
		return by;
	}
	if (by != NO_RECORD) {
		bool is_drain = r->kind == RECORD_DRAIN;

		*is_issue = true;
		whatif_give(w, is_drain ? PART_DRAIN : PART_LATENCY, w->u->records.v[by].code,
			(is_drain ? w->r->end[i] : w->r->issue[i]) - w->r->issue[by]);
		return by + 1; /* continues at `by` */
	}
	if (r->kind == RECORD_DRAIN)
		whatif_give(w, PART_DRAIN, r->code, w->r->end[i] - w->r->issue[i]);
	give_stall(w, i);
	return i;
}

static void walk_wave(struct whatif_walker *w, uint32_t *wave)
{
	uint32_t i = w->u->waves.v[*wave].first + w->u->waves.v[*wave].n;
	bool is_issue = false;

	whatif_give(w, PART_START, NO_CODE,
		w->u->waves.v[*wave].tail_cyc > 0 ? (uint64_t)w->u->waves.v[*wave].tail_cyc : 0);
	while (i > w->u->waves.v[*wave].first) {
		i = pass(w, i - 1, &is_issue);
		if (i < w->u->records.n && !is_issue)
			*wave = w->u->records.v[i].wave;
	}
}

static bool retime_path(const struct retime *r, const struct unit *u, const struct whatif_plan *p,
	struct path_sums *out)
{
	struct whatif_walker w = {.r = r, .u = u, .p = p, .out = out};
	uint32_t wave = 0;

	for (uint32_t i = 1; i < u->waves.n; i++)
		if (r->wave_end[i] > r->wave_end[wave])
			wave = i;
	while (u->waves.n) {
		uint64_t begin;
		uint32_t before;

		walk_wave(&w, &wave);
		begin = r->begin[wave];
		before = r->after[wave];
		if (before == NO_RECORD) {
			whatif_give(&w, PART_START, NO_CODE, begin - r->first_cyc);
			break;
		}
		whatif_give(&w, PART_START, NO_CODE,
			begin > r->wave_end[before] ? begin - r->wave_end[before] : 0);
		wave = before;
	}
	u64_map_deinit(&w.index);
	return !w.has_failed;
}

/* --- all units -------------------------------------------------------------------------------- */

const char *whatif_part_name(enum whatif_part p)
{
	static const char *const names[WHATIF_PARTS] = {"issue", "latency", "barrier", "own-pipe",
		"other-wave", "stall", "gap", "drain", "start"};

	return (unsigned)p < WHATIF_PARTS ? names[p] : "stall";
}

void whatif_result_deinit(struct whatif_result *r)
{
	VEC_FREE(&r->untrue);
	VEC_FREE(&r->spans);
	VEC_FREE(&r->limits);
	*r = (struct whatif_result){0};
}

/* --- units ---------------------------------------------------------------------------------- */

struct job {
	struct unit_tables tables;
	const struct whatif_plan *const *plans;
	size_t n_plans;
	struct whatif_plan *same;  /* a plan that changes nothing */
	VEC(track_idx) units;	   /* first and end track of each */
	struct whatif_span *spans; /* by unit, then by plan */
	uint64_t *n_executed;	   /* executions of changed rows, in that order, too */
	struct path_sums *before;  /* by unit: components of its time */
	struct path_sums *after;   /* by unit, then by plan; empty if nothing is changed */
	uint8_t *is_untrue;	   /* by track */
	struct progress *progress;
};

static bool same_unit(const struct unit_tables *x, track_idx a, track_idx b)
{
	const struct track *p = &x->trace->tracks[a], *q = &x->trace->tracks[b];

	return p->clock == q->clock &&
	       memcmp(p->coord, q->coord, (size_t)x->simd_level * sizeof(p->coord[0])) == 0;
}

static bool find_units(struct job *j, const struct selection *s, struct incore_error *e)
{
	const struct trace *t = j->tables.trace;

	for (track_idx i = 0, end; i < t->n_tracks; i = end) {
		bool is_wanted = false;

		for (end = i; end < t->n_tracks && same_unit(&j->tables, i, end); end++)
			is_wanted |= !s || selection_has(s, t, &t->tracks[end]);
		if (is_wanted && (!VEC_PUSH(&j->units, i) || !VEC_PUSH(&j->units, end)))
			return err_nomem(e);
	}
	return true;
}

static bool is_within(uint64_t a, uint64_t b, uint64_t per_mille)
{
	uint64_t d = a > b ? a - b : b - a;

	return d * 1000 <= b * per_mille;
}

static void compare_waves(
	struct job *j, const struct unit *u, const struct retime *same, struct whatif_span *out)
{
	out->n_waves = (uint32_t)u->waves.n;
	out->n_unread = u->n_unread;
	for (size_t i = 0; i < u->waves.n; i++) {
		const struct unit_wave *w = &u->waves.v[i];
		bool is_true = is_within(same->wave_end[i] - same->begin[i], w->end - w->begin, 10);

		out->n_true += is_true;
		j->is_untrue[w->track] = !is_true;
	}
}

/* The measured length, shifted by the change of the replay. */
static uint64_t moved(uint64_t measured, uint64_t same, uint64_t changed)
{
	return changed >= same || measured + changed > same ? measured + changed - same : 0;
}

static uint64_t mixed(uint64_t likely, uint64_t least, double coupling)
{
	double d = (double)likely + ((double)least - (double)likely) * coupling;

	return d > 0 ? (uint64_t)(d + 0.5) : 0;
}

/* All runs of a unit; those of the plans use the length of the unchanged run. */
struct asking {
	const struct unit *u;
	struct retime r;
	uint64_t same[3];
};

static bool run_one(struct asking *x, const struct whatif_plan *p, unsigned bound,
	struct path_sums *path, struct incore_error *e)
{
	return retime_run(&x->r, x->u, p, (enum retime_bound)bound, e) &&
	       (bound != RETIME_LIKELY || retime_path(&x->r, x->u, p, path) || err_nomem(e));
}

/* Requests that go, or get smaller, leave room in a full queue; those that only come at another time
 * do not. */
static bool eases_memory(const struct trace *t, const struct whatif_plan *p)
{
	for (code_idx i = 0; i < t->n_code; i++) {
		enum inst_class c = (enum inst_class)t->code[i].inst_class;

		if (c >= CLASS_VMEM_LOAD && c <= CLASS_VMEM_TO_LDS &&
			(p->rows[i].is_removed || p->rows[i].faster_milli != WHATIF_PLAIN))
			return true;
	}
	return false;
}

static bool ask_plan(struct asking *x, const struct whatif_plan *p, struct whatif_span *s,
	uint64_t *n_executed, struct path_sums *path, struct incore_error *e)
{
	uint64_t after[3];

	for (unsigned b = 0; b < 3; b++) {
		if (!run_one(x, p, b, path, e))
			return false;
		after[b] = moved(s->before_cyc, x->same[b], retime_span(&x->r));
		*n_executed = x->r.n_executed;
	}
	if (x->u->fullness > s->coupling && !eases_memory(p->trace, p))
		s->coupling = x->u->fullness;
	s->after_cyc = mixed(after[RETIME_LIKELY], after[RETIME_LEAST], s->coupling);
	s->low_cyc = s->high_cyc = s->after_cyc;
	for (unsigned b = 0; b < 3; b++) {
		s->low_cyc = after[b] < s->low_cyc ? after[b] : s->low_cyc;
		s->high_cyc = after[b] > s->high_cyc ? after[b] : s->high_cyc;
	}
	return true;
}

static bool ask_same(
	struct job *j, size_t item, struct asking *x, struct whatif_span *s, struct incore_error *e)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (unsigned b = 0; b < 3; b++) {
		if (!run_one(x, j->same, b, &j->before[item], e))
			return false;
		if (b == RETIME_LIKELY)
			compare_waves(j, x->u, &x->r, s);
		x->same[b] = retime_span(&x->r);
	}
	EACH (const struct unit_wave, w, x->u->waves.v, x->u->waves.n) {
		first = w->begin < first ? w->begin : first;
		last = w->end > last ? w->end : last;
	}
	s->before_cyc = last > first ? last - first : 0;
	s->after_cyc = s->low_cyc = s->high_cyc = s->before_cyc;
	s->coupling = x->u->coupling;
	return true;
}

static bool changes_nothing(const struct whatif_plan *p)
{
	return !p->n_rows && !p->waves;
}

static bool ask_unit(struct job *j, size_t item, const struct unit *u, struct incore_error *e)
{
	struct whatif_span s = {.first = j->units.v[2 * item], .end = j->units.v[2 * item + 1]};
	struct asking x = {.u = u};
	bool ok = ask_same(j, item, &x, &s, e);

	for (size_t i = 0; ok && i < j->n_plans; i++) {
		size_t k = item * j->n_plans + i;

		j->spans[k] = s;
		ok = changes_nothing(j->plans[i]) ||
		     ask_plan(&x, j->plans[i], &j->spans[k], &j->n_executed[k], &j->after[k], e);
	}
	retime_deinit(&x.r);
	return ok;
}

static bool run_unit(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct job *j = ctx;
	struct unit u = {0};
	struct waits w = {0};
	bool ok;

	(void)worker;
	progress_add(j->progress, 1);
	if (progress_is_cancelled(j->progress))
		return err_set(e, INCORE_FAILED, "cancelled", "cancelled");
	ok = unit_load(&u, &j->tables, &j->units.v[2 * item], &w, e) && ask_unit(j, item, &u, e);
	waits_deinit(&w);
	unit_deinit(&u);
	return ok;
}

/* --- the path of the longest unit ----------------------------------------------------------- */

ORDER(by_place, struct whatif_limit, UP(part) UP(code))

int whatif_by_after(const void *pa, const void *pb)
{
	const struct whatif_limit *a = pa, *b = pb;

	DOWN(after_cyc) DOWN(before_cyc) UP(part) UP(code) return 0;
}

/* Joins both lists. */
bool whatif_join_paths(
	const struct path_sums *before, const struct path_sums *after, struct whatif_result *out)
{
	size_t n = 0;

	EACH (const struct whatif_limit, x, before->v.v, before->v.n)
		if (!VEC_PUSH(
			    &out->limits, (struct whatif_limit){x->part, x->code, x->after_cyc, 0}))
			return false;
	EACH (const struct whatif_limit, x, after->v.v, after->v.n)
		if (!VEC_PUSH(&out->limits, *x))
			return false;
	SORT(out->limits.v, out->limits.n, by_place);
	for (size_t i = 0; i < out->limits.n; i++) {
		struct whatif_limit *to = n ? &out->limits.v[n - 1] : NULL, x = out->limits.v[i];

		if (to && to->part == x.part && to->code == x.code) {
			to->before_cyc += x.before_cyc;
			to->after_cyc += x.after_cyc;
		} else {
			out->limits.v[n++] = x;
		}
	}
	out->limits.n = n;
	SORT(out->limits.v, n, whatif_by_after);
	return true;
}

static bool join_paths(
	const struct job *j, size_t item, struct whatif_result *out, struct incore_error *e)
{
	const struct path_sums *before = &j->before[item];

	for (size_t i = 0; i < j->n_plans; i++) {
		const struct path_sums *after =
			changes_nothing(j->plans[i]) ? before : &j->after[item * j->n_plans + i];

		if (!whatif_join_paths(before, after, &out[i]))
			return err_nomem(e);
	}
	return true;
}

/* --- results -------------------------------------------------------------------------------- */

void whatif_widen(struct whatif_result *r, unsigned gain_percent)
{
	uint64_t gain = r->after_cyc > r->before_cyc ? r->after_cyc - r->before_cyc
						     : r->before_cyc - r->after_cyc;
	uint64_t error = r->before_cyc / 100 + gain * gain_percent / 100;

	r->low_cyc = r->low_cyc > error ? r->low_cyc - error : 0;
	r->high_cyc += error;
}

void whatif_judge(struct whatif_result *r)
{
	r->does_nothing =
		is_within(r->low_cyc, r->before_cyc, 1) && is_within(r->high_cyc, r->before_cyc, 1);
}

#define REPLAY_ERROR_GAIN 2u /* per cent of the gain */

static bool sum_plan(const struct job *j, size_t plan, struct whatif_result *out)
{
	size_t n = j->units.n / 2;

	for (size_t i = 0; i < n; i++) {
		const struct whatif_span *s = &j->spans[i * j->n_plans + plan];

		if (!VEC_PUSH(&out->spans, *s))
			return false;
		out->n_waves += s->n_waves;
		out->n_true += s->n_true;
		out->n_unread += s->n_unread;
		out->n_executed += j->n_executed[i * j->n_plans + plan];
		out->before_cyc = s->before_cyc > out->before_cyc ? s->before_cyc : out->before_cyc;
		out->after_cyc = s->after_cyc > out->after_cyc ? s->after_cyc : out->after_cyc;
		out->low_cyc = s->low_cyc > out->low_cyc ? s->low_cyc : out->low_cyc;
		out->high_cyc = s->high_cyc > out->high_cyc ? s->high_cyc : out->high_cyc;
	}
	for (track_idx i = 0; i < j->tables.trace->n_tracks; i++)
		if (j->is_untrue[i] && !VEC_PUSH(&out->untrue, i))
			return false;
	whatif_judge(out);
	if (out->n_executed || j->plans[plan]->waves)
		whatif_widen(out, REPLAY_ERROR_GAIN);
	return true;
}

static bool sum_all(struct job *j, struct whatif_result *out, struct incore_error *e)
{
	size_t longest = 0;

	for (size_t i = 1; i < j->units.n / 2; i++)
		if (j->spans[i * j->n_plans].before_cyc > j->spans[longest * j->n_plans].before_cyc)
			longest = i;
	for (size_t i = 0; i < j->n_plans; i++)
		if (!sum_plan(j, i, &out[i]))
			return err_nomem(e);
	return !j->units.n || join_paths(j, longest, out, e);
}

static bool run_units(struct job *j, const struct walk_options *o, struct whatif_result *out,
	struct incore_error *e)
{
	size_t n = j->units.n / 2;
	bool ok;

	j->spans = mem_zalloc(n * j->n_plans + 1, sizeof(*j->spans));
	j->n_executed = mem_zalloc(n * j->n_plans + 1, sizeof(*j->n_executed));
	j->before = mem_zalloc(n + 1, sizeof(*j->before));
	j->after = mem_zalloc(n * j->n_plans + 1, sizeof(*j->after));
	j->is_untrue = mem_zalloc((size_t)j->tables.trace->n_tracks + 1, 1);
	if (!j->spans || !j->n_executed || !j->before || !j->after || !j->is_untrue)
		return err_nomem(e);
	progress_begin(o->progress, "units", n);
	ok = pool_run(o->pool, n, 1, run_unit, j, e);
	progress_end(o->progress);
	return ok && sum_all(j, out, e);
}

static bool run_waves(struct job *j, const struct walk_options *o, struct whatif_result *out,
	struct incore_error *e)
{
	struct unit_tables *x = &j->tables;
	bool ok;

	x->waits = wait_tables_new(x->trace, e);
	if (!x->waits)
		return false;
	x->code = why_code_new(x->trace);
	x->chip = why_chip_of(x->trace);
	j->same = x->code ? whatif_plan_new(x->trace, e) : NULL;
	ok = (x->code || err_nomem(e)) && j->same && find_units(j, o->selection, e) &&
	     run_units(j, o, out, e);
	whatif_plan_free(j->same);
	mem_free(x->code);
	wait_tables_free(x->waits);
	return ok;
}

static int simd_level(const struct trace *t)
{
	for (int k = 0; k + 1 < TRACK_LEVELS && t->levels[k]; k++)
		if (strcmp(t->levels[k], "simd") == 0 && t->levels[k + 1])
			return k;
	return -1;
}

static bool no_answer(struct whatif_result *out, size_t n, const char *why)
{
	for (size_t i = 0; i < n; i++) {
		out[i].method = WHATIF_NONE;
		out[i].why = why;
	}
	return true;
}

static void free_paths(struct path_sums *v, size_t n)
{
	EACH (struct path_sums, p, v, n)
		VEC_FREE(&p->v);
	mem_free(v);
}

bool whatif_run_each(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	const struct walk_options *o, struct whatif_result *out, struct incore_error *e)
{
	struct job j = {.plans = plans, .n_plans = n, .progress = o->progress};
	bool ok;

	if (trace_kind(t) == KIND_SAMPLES)
		return whatif_samples(t, plans, n, out, e);
	if (!t->n_tracks)
		return no_answer(out, n, "the capture has neither waves nor samples");
	if (trace_kind(t) == KIND_PIPES)
		return whatif_pipes(t, plans, n, o, out, e);
	j.tables.trace = t;
	j.tables.simd_level = simd_level(t);
	j.tables.slot_level = j.tables.simd_level + 1;
	if (!t->meta.gfx_major || j.tables.simd_level < 0)
		return no_answer(out, n, "the capture has no waves on SIMDs");
	ok = run_waves(&j, o, out, e);
	free_paths(j.before, j.units.n / 2);
	free_paths(j.after, j.units.n / 2 * n);
	VEC_FREE(&j.units);
	mem_free(j.spans);
	mem_free(j.n_executed);
	mem_free(j.is_untrue);
	return ok;
}
