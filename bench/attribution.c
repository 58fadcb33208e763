/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribution.c: how often is a wait blamed on the right instruction when there are samples alone?
 * A capture with a timeline is sampled (a period, a skid), four methods name the producers of the
 * samples at waits from those samples and the code, and the producers that the timeline itself gives
 * say who was right. docs/attribution.md has the methods, the measures and the results.
 *
 * The samples are drawn: phases come from the seed, the period, the skid and the wave's place alone, so
 * the same captures give the same table.
 * Prints CSV, one line a capture, period, skid and method; attribution.py makes the tables.
 * usage: attribution [--seed N] NAME=CAPTURE...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution.h"
#include "base/search.h"
#include "import/import.h"

#define TOP 5u

static const char *const method_names[] = {"incore", "back-slice", "counter-class", "stated-lists"};

struct score {
	double attributed, right, class_attributed, class_right, all;
	bool is_top1;
	unsigned top5;
};

static void fail(const char *what, const struct incore_error *e)
{
	fprintf(stderr, "attribution: %s: %s\n", what, e && e->message ? e->message : "failed");
	exit(1);
}

void must(bool ok)
{
	if (!ok)
		fail("memory", NULL);
}

/* --- the truth ------------------------------------------------------------------------------- */

static uint32_t intern_truth(struct run *r, const struct truth *x)
{
	uint64_t h = 1469598103934665603u;
	uint64_t *at;

	for (uint32_t i = 0; i < x->n; i++)
		h = (h ^ x->row[i]) * 1099511628211u;
	must((at = u64_map_at(&r->truth_of, h)) != NULL);
	if (!*at) {
		must(VEC_PUSH(&r->truths, *x));
		*at = r->truths.n;
	}
	return (uint32_t)(*at - 1);
}

static void add_true(struct truth *x, code_idx row)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->row[i] == row)
			return;
	if (x->n < MOST_TRUE)
		x->row[x->n++] = row;
}

/* In order: the youngest that was consumed released the wait. Otherwise any of them may have. */
static struct truth truth_of(
	const struct waits *w, const struct wait_event *ev, const struct track_data *d)
{
	struct truth x = {0};

	for (uint32_t s = ev->first_side; s < ev->first_side + ev->n_sides; s++) {
		const struct wait_side *side = &w->sides.v[s];
		uint32_t first =
			side->resolution == WAIT_EXACT ? side->first + side->n - 1 : side->first;

		for (uint32_t k = first; k < side->first + side->n; k++)
			add_true(&x, d->code[w->producers.v[k].slice]);
	}
	SORT(x.row, x.n, compare_u32);
	return x;
}

static void count_truth(struct run *r, const struct truth *x, uint64_t cyc)
{
	r->wait_cyc += cyc;
	r->exact_cyc += x->n == 1 ? cyc : 0;
	for (uint32_t i = 0; i < x->n; i++)
		r->true_cyc[x->row[i]] += cyc / x->n;
}

/* --- sampling -------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static unsigned reason_of(uint8_t inst_class)
{
	return inst_class == CLASS_WAIT	     ? REASON_WAITCNT
	       : inst_class == CLASS_BARRIER ? REASON_BARRIER
	       : inst_class == CLASS_SLEEP   ? REASON_SLEEP
					     : REASON_PIPE;
}

static void add_sampled(struct run *r, code_idx row, uint32_t truth)
{
	uint64_t *at = u64_map_at(&r->sampled_at, (uint64_t)row << 32 | truth);

	must(at != NULL);
	if (!*at) {
		must(VEC_PUSH(&r->sampled, (struct sampled){row, truth, 0}));
		*at = r->sampled.n;
	}
	r->sampled.v[*at - 1].n++;
}

/* The sampler found instruction i in its stall, in its issue, or before it began. */
static void take_sample(struct run *r, const struct track_data *d, uint32_t i, uint64_t time,
	unsigned skid, const uint32_t *truth)
{
	uint32_t told = i + skid < d->n ? i + skid : d->n - 1;
	code_idx row = d->code[told];
	unsigned reason = time < d->start_cyc[i] ? REASON_OTHER : reason_of(d->inst_class[i]);

	if (row >= r->t->n_code)
		return;
	if (time >= d->start_cyc[i] + d->stall_cyc[i]) {
		r->s.samples[row].issued++;
		return;
	}
	r->s.samples[row].stalled++;
	r->s.reason_counts[(size_t)row * AMD_STALL_REASONS + reason].all++;
	if (reason == REASON_WAITCNT && truth[i])
		add_sampled(r, row, truth[i] - 1);
}

static void sample_track(struct run *r, track_idx track, const struct track_data *d,
	uint64_t period, unsigned skid, const uint32_t *truth)
{
	uint64_t phase = mix(r->seed ^ mix((uint64_t)track << 20 | period << 2 | skid)) % period;
	uint64_t time = d->n ? d->start_cyc[0] + phase : 0;
	uint32_t i = 0;

	while (i < d->n) {
		if (d->start_cyc[i] + d->dur_cyc[i] <= time) {
			i++;
			continue;
		}
		take_sample(r, d, i, time, skid, truth);
		time += period;
	}
}

static void resolve_track(struct run *r, struct waits *w, const struct walk_track *k,
	bool is_counted, uint32_t *truth)
{
	struct incore_error e = {0};

	if (!waits_resolve(w, r->tables, k, 0, &e))
		fail("waits", &e);
	for (size_t i = 0; i < w->events.n; i++) {
		const struct wait_event *ev = &w->events.v[i];
		struct truth x = truth_of(w, ev, k->data);

		if (!x.n)
			continue;
		truth[ev->slice] = intern_truth(r, &x) + 1;
		if (is_counted)
			count_truth(r, &x, k->data->stall_cyc[ev->slice]);
	}
}

static void add_stated(struct run *r, const struct track_data *d)
{
	for (uint32_t i = 0; i < d->n_stated_waits; i++)
		for (uint32_t k = 0; k < d->stated_waits[i].n; k++) {
			code_idx p = d->stated_producers[d->stated_waits[i].first + k];
			code_idx wait = d->stated_waits[i].wait;
			uint64_t *at = u64_map_at(&r->stated_at, (uint64_t)wait << 32 | p);

			must(at != NULL);
			if (!*at) {
				must(VEC_PUSH(&r->stated, (struct code_link){wait, p, 0, 0}));
				*at = r->stated.n;
			}
			r->stated.v[*at - 1].reason++;
		}
}

/* One pass over the timeline for one period and skid; the first one also counts the truth. */
static void sample_trace(struct run *r, uint64_t period, unsigned skid, bool is_first)
{
	struct waits w = {0};
	struct track_data d = {0};
	uint32_t *truth = NULL;
	struct incore_error e = {0};

	r->sampled.n = 0;
	u64_map_deinit(&r->sampled_at);
	r->s.sampling.period_cyc = period;
	memset(r->s.samples, 0, r->t->n_code * sizeof(*r->s.samples));
	memset(r->s.reason_counts, 0,
		(size_t)r->t->n_code * AMD_STALL_REASONS * sizeof(*r->s.reason_counts));
	for (track_idx i = 0; i < r->t->n_tracks; i++) {
		struct walk_track k = {r->t, i, &r->t->tracks[i], &d, 0, UINT64_MAX};

		if (!trace_load_track(r->t, i, is_first ? TRACK_STATED_WAITS : 0, &d, &e)) {
			incore_error_clear(&e);
			continue;
		}
		mem_free(truth);
		truth = mem_zalloc((size_t)d.n + 1, sizeof(*truth));
		must(truth != NULL);
		resolve_track(r, &w, &k, is_first, truth);
		if (is_first)
			add_stated(r, &d);
		sample_track(r, i, &d, period, skid, truth);
	}
	waits_deinit(&w);
	track_data_deinit(&d);
	mem_free(truth);
}

/* --- scores ---------------------------------------------------------------------------------- */

/* NO_CODE: is the kind right? */
static bool is_true(const struct run *r, const struct truth *x, code_idx row, uint8_t producer)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (row == NO_CODE ? r->tables->amd.row[x->row[i]].producer == producer
				   : x->row[i] == row)
			return true;
	return false;
}

static void score_row(const struct run *r, const struct sampled *s, const struct named *x,
	struct score *to, double *blamed)
{
	const struct truth *truth = &r->truths.v[s->truth];

	to->all += (double)s->n;
	for (uint32_t i = 0; i < x->n; i++) {
		double n = x->share[i] * (double)s->n;

		to->class_attributed += n;
		to->class_right += is_true(r, truth, NO_CODE, x->producer[i]) ? n : 0;
		if (x->row[i] == NO_CODE)
			continue;
		to->attributed += n;
		to->right += is_true(r, truth, x->row[i], 0) ? n : 0;
		blamed[x->row[i]] += n;
	}
}

/* The costliest k rows, largest first; how many there are. */
static unsigned top_of(const double *cost, uint32_t n, code_idx *top)
{
	unsigned k = 0;

	for (; k < TOP; k++) {
		code_idx best = NO_CODE;

		for (code_idx i = 0; i < n; i++) {
			bool is_taken = false;

			for (unsigned j = 0; j < k; j++)
				is_taken |= top[j] == i;
			if (!is_taken && cost[i] > 0 && (best == NO_CODE || cost[i] > cost[best]))
				best = i;
		}
		if (best == NO_CODE)
			break;
		top[k] = best;
	}
	return k;
}

static void score_tops(const struct run *r, const double *blamed, struct score *to, unsigned *most)
{
	code_idx mine[TOP], right[TOP];
	double *cost = mem_zalloc((size_t)r->t->n_code + 1, sizeof(*cost));
	unsigned n_mine, n_right;

	must(cost != NULL);
	for (code_idx i = 0; i < r->t->n_code; i++)
		cost[i] = (double)r->true_cyc[i];
	n_right = top_of(cost, r->t->n_code, right);
	n_mine = top_of(blamed, r->t->n_code, mine);
	to->is_top1 = n_mine && n_right && mine[0] == right[0];
	for (unsigned i = 0; i < n_mine; i++)
		for (unsigned k = 0; k < n_right; k++)
			to->top5 += mine[i] == right[k];
	*most = n_right;
	mem_free(cost);
}

static void score_all(struct run *r, const char *name, uint64_t period, unsigned skid)
{
	double *blamed = mem_zalloc((size_t)r->t->n_code + 1, sizeof(*blamed));
	struct incore_error e = {0};

	must(blamed != NULL);
	r->ours = producers_new(&r->s, PRODUCERS_EDGES, &e);
	if (!r->ours || !samples_fill_producers(r->ours, &e))
		fail(name, &e);
	for (unsigned m = 0; m < METHODS; m++) {
		struct score to = {0};
		struct named x;
		unsigned most;

		memset(blamed, 0, r->t->n_code * sizeof(*blamed));
		for (size_t i = 0; i < r->sampled.n; i++) {
			name_row(r, (enum method)m, r->sampled.v[i].row, &x);
			score_row(r, &r->sampled.v[i], &x, &to, blamed);
		}
		score_tops(r, blamed, &to, &most);
		printf("%s,%" PRIu64 ",%u,%s,%.0f,%.3f,%.3f,%.3f,%.3f,%d,%u,%u,%" PRIu64 ",%" PRIu64
		       "\n",
			name, period, skid, method_names[m], to.all, to.attributed, to.right,
			to.class_attributed, to.class_right, to.is_top1, to.top5, most, r->wait_cyc,
			r->exact_cyc);
	}
	producers_free(r->ours);
	mem_free(blamed);
}

/* --- a capture ------------------------------------------------------------------------------- */

static void prepare(struct run *r, const char *name)
{
	const struct trace *t = r->t;
	struct incore_error e = {0};

	arena_init(&r->arena);
	r->s = *t;
	r->s.n_tracks = 0;
	r->s.n_reasons = AMD_STALL_REASONS;
	r->s.reasons = amd_stall_reasons;
	r->s.meta.evidence = EVIDENCE_HARDWARE_SAMPLE;
	r->s.samples = arena_zalloc(&r->arena, (size_t)t->n_code + 1, sizeof(*r->s.samples));
	r->s.reason_counts = arena_zalloc(&r->arena, ((size_t)t->n_code + 1) * AMD_STALL_REASONS,
		sizeof(*r->s.reason_counts));
	r->s.code = arena_zalloc(&r->arena, (size_t)t->n_code + 1, sizeof(*r->s.code));
	r->true_cyc = arena_zalloc(&r->arena, (size_t)t->n_code + 1, sizeof(*r->true_cyc));
	r->operands = arena_zalloc(&r->arena, (size_t)t->n_code + 1, sizeof(*r->operands));
	must(r->s.samples && r->s.reason_counts && r->s.code && r->true_cyc && r->operands);
	for (code_idx i = 0; i < t->n_code; i++) { /* a sampler counts no executions */
		r->s.code[i] = t->code[i];
		r->s.code[i].stated = (struct code_totals){0};
		amd_operands_row(t->meta.gfx_major,
			(struct str){t->code[i].text, t->code[i].text_len}, &r->operands[i]);
	}
	r->tables = wait_tables_new(t, &e);
	if (!r->tables || !cfg_build(&r->g, t, &e))
		fail(name, &e);
}

static void release(struct run *r)
{
	arena_deinit(&r->arena);
	wait_tables_free(r->tables);
	cfg_deinit(&r->g);
	u64_map_deinit(&r->truth_of);
	u64_map_deinit(&r->sampled_at);
	u64_map_deinit(&r->stated_at);
	VEC_FREE(&r->truths);
	VEC_FREE(&r->sampled);
	VEC_FREE(&r->stated);
}

static void measure(const char *name, const char *path, uint64_t seed)
{
	struct run r = {.seed = seed};
	struct capture_list l = {0};
	struct import_options o = {.want = IMPORT_SIDE_FILES | IMPORT_KEEP_TRACKS};
	struct incore_error e = {0};
	struct trace *t = NULL;

	if (!import_find(path, NULL, &l, &e) || !import_read(capture_choose(&l), &o, &t, &e))
		fail(path, &e);
	r.t = t;
	prepare(&r, name);
	for (uint64_t period = 64; period <= 16384; period *= 4)
		for (unsigned skid = 0; skid < 4; skid++) {
			sample_trace(&r, period, skid, period == 64 && skid == 0);
			score_all(&r, name, period, skid);
		}
	release(&r);
	trace_free(t);
	capture_list_deinit(&l);
}

int main(int argc, char **argv)
{
	uint64_t seed = 1;

	printf("capture,period,skid,method,samples,attributed,right,class_attributed,class_right,top1,top5,"
	       "top5_of,wait_cycles,exact_cycles\n");
	for (int i = 1; i < argc; i++) {
		char *eq = strchr(argv[i], '=');

		if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
			seed = strtoull(argv[++i], NULL, 10);
			continue;
		}
		if (!eq) {
			fprintf(stderr, "usage: attribution [--seed N] NAME=CAPTURE...\n");
			return 2;
		}
		*eq = 0;
		measure(argv[i], eq + 1, seed);
	}
	return 0;
}
